"""What clean-up's roles allow, by IAM's rules: which role can delete, and what, with and without the tag.

Each denied request has an allowed counterpart. These tests cannot prove that AWS supports the policies' condition keys
for these actions. The Service Authorization Reference documents that.
"""

import json
import re
from typing import Any

import pytest

from slackwater.aws.store import cleanups as cleanup_store
from slackwater.aws.store import findings as finding_store
from slackwater.aws.store import installation, outbox
from slackwater.model import object_keys, ownership
from slackwater.model.cleanup import ACT_AFTER, BACKUP_OF, CLEANUP_TAG, EXPIRES_AT, INSTALLATION, RESTORED_FROM, TOKEN
from slackwater.wiring import permissions
from support.iam import Context, all_allowed, allowed, listed

FUNCTIONS = ["watch", "back_up", "delete", "change", "restore", "sweep", "run"]
ROLES = {"back_up": "BackUpRole"} | {one: f"{one.title()}Role" for one in FUNCTIONS if one != "back_up"}

REGION, ACCOUNT = "ap-northeast-1", "123456789012"
VOLUME = f"arn:aws:ec2:{REGION}:{ACCOUNT}:volume/vol-1"
SNAPSHOT = f"arn:aws:ec2:{REGION}::snapshot/snap-1"
INTERFACE = f"arn:aws:ec2:{REGION}:{ACCOUNT}:network-interface/eni-1"
EFS = f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-1"
ACCESS_POINT = f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:access-point/fsap-1"
FSX = f"arn:aws:fsx:{REGION}:{ACCOUNT}:file-system/fs-2"
FSX_VOLUME = f"arn:aws:fsx:{REGION}:{ACCOUNT}:volume/fs-2/fsvol-1"
MACHINE = f"arn:aws:fsx:{REGION}:{ACCOUNT}:storage-virtual-machine/fs-2/svm-1"
FSX_BACKUP = f"arn:aws:fsx:{REGION}:{ACCOUNT}:backup/backup-1"
POINT = f"arn:aws:backup:{REGION}:{ACCOUNT}:recovery-point:1"
VAULT = f"arn:aws:backup:{REGION}:{ACCOUNT}:backup-vault:Default"
EVERYTHING = (VOLUME, SNAPSHOT, INTERFACE, EFS, ACCESS_POINT, FSX, FSX_VOLUME, MACHINE, FSX_BACKUP, POINT, VAULT)

WITH_CLEANUP_TAG: Context = {f"aws:ResourceTag/{CLEANUP_TAG}": "5d1c0b7a9e3f42d8"}
OURS: Context = {f"aws:ResourceTag/{BACKUP_OF}": VOLUME}
MADE_AS_OURS: Context = {f"aws:RequestTag/{BACKUP_OF}": VOLUME}
RESTORED: Context = {f"aws:RequestTag/{RESTORED_FROM}": "snap-1"}

DELETES = {
    "ec2:DeleteVolume": VOLUME,
    "elasticfilesystem:DeleteAccessPoint": ACCESS_POINT,
    "elasticfilesystem:DeleteFileSystem": EFS,
    "elasticfilesystem:DeleteMountTarget": EFS,
    "fsx:DeleteFileSystem": FSX,
}
CHANGES = {
    "ec2:ModifyVolume": VOLUME,
    "elasticfilesystem:PutLifecycleConfiguration": EFS,
    "elasticfilesystem:UpdateFileSystem": EFS,
}
SWEEPS = {"backup:DeleteRecoveryPoint": POINT, "ec2:DeleteSnapshot": SNAPSHOT, "fsx:DeleteBackup": FSX_BACKUP}
TAGGED = {
    "ec2:CreateTags": (VOLUME,),
    "ec2:DeleteTags": (VOLUME,),
    "elasticfilesystem:TagResource": (EFS, ACCESS_POINT),
    "elasticfilesystem:UntagResource": (EFS, ACCESS_POINT),
    "fsx:TagResource": (FSX,),
    "fsx:UntagResource": (FSX, FSX_VOLUME, MACHINE),
}

MANAGED_KEYS = [*ownership.RESTORED, *(key for one in ownership.MANAGERS for key in one.keys)]
MANAGED_VALUES = [
    (key, value) for one in ownership.MANAGERS for key, values in (one.values or {}).items() for value in values
]

NOT_TAGGED: list[Context] = [
    {},
    {f"aws:ResourceTag/{CLEANUP_TAG}": ""},
    {f"aws:RequestTag/{CLEANUP_TAG}": "5d1c0b7a9e3f42d8"},
    {f"aws:ResourceTag/{ACT_AFTER}": "2026-12-16T09:00:00Z"},
    {"aws:ResourceTag/marked": "5d1c0b7a9e3f42d8", "aws:ResourceTag/keep": "true"},
    OURS,
]


@pytest.fixture(scope="session")
def may(cleanup: Any) -> Any:
    """Return each function's policy statements."""
    return {function: statements(cleanup, role) for function, role in ROLES.items()}


def statements(stack: Any, role: str) -> list[dict[str, Any]]:
    return [one for policy in stack[role].get("Policies", []) for one in policy["PolicyDocument"]["Statement"]]


def actions(stack: Any, role: str) -> set[str]:
    return {action for statement in statements(stack, role) for action in listed(statement["Action"])}


# -- Permissions that the code uses


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_what_the_adapters_use_no_more_and_no_less(cleanup: Any, function: str) -> None:
    by_lambda_itself = {"sqs:SendMessage"} if function in {"watch", "sweep", "run"} else set()

    assert actions(cleanup, ROLES[function]) == getattr(permissions, function.upper()) | by_lambda_itself


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_a_role_of_its_own_for_lambda_alone_with_nothing_else_in_it(
    cleanup: Any, function: str
) -> None:
    name = ROLES[function].removesuffix("Role")
    role = cleanup[ROLES[function]]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]

    assert cleanup[f"{name}Function"]["Role"] == f"{name}Role.Arn"
    assert set(role) == {"AssumeRolePolicyDocument", "ManagedPolicyArns", "Policies"}
    assert role["ManagedPolicyArns"] == ["TelemetryPolicy"]
    assert (trust["Effect"], trust["Principal"]) == ("Allow", {"Service": "lambda.amazonaws.com"})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_allowed_on_everything_only_looks(may: Any, function: str) -> None:
    wide = {action for one in may[function] if "*" in listed(one["Resource"]) for action in listed(one["Action"])}

    assert [one for one in sorted(wide) if not re.match(r"[\w-]+:(Describe|Get|List|Lookup)[A-Z]", one)] == []


def test_no_role_names_an_action_by_a_pattern(cleanup: Any, deploy: Any) -> None:
    for stack in (cleanup, deploy(SlackSecretArn="secret", CleanupEnabled="true")):
        assert [one for role in stack.of("AWS::IAM::Role") for one in actions(stack, role) if "*" in one] == []


# -- Roles that delete


@pytest.mark.parametrize("action", DELETES)
def test_the_delete_role_can_delete_tagged_resources(may: Any, action: str) -> None:
    assert allowed(may["delete"], action, DELETES[action], WITH_CLEANUP_TAG)


def test_the_delete_role_has_the_conditions_that_the_table_of_managers_asks_for(may: Any) -> None:
    """IAM compares whole tag keys, so the table's patterns cannot become conditions."""
    (statement,) = [one for one in may["delete"] if "ec2:DeleteVolume" in listed(one["Action"])]
    asked = statement["Condition"]
    not_these = {(key, value) for key, values in asked["StringNotEquals"].items() for value in values}

    assert set(asked) == {"StringLike", "Null", "StringNotEquals"}
    assert asked["StringLike"] == {f"aws:ResourceTag/{CLEANUP_TAG}": "?*"}
    assert asked["Null"] == {f"aws:ResourceTag/{key}": "true" for key in (*MANAGED_KEYS, "keep")}
    assert not_these == {(f"aws:ResourceTag/{key}", value) for key, value in MANAGED_VALUES}


@pytest.mark.parametrize("action", DELETES)
def test_the_delete_role_cannot_delete_what_another_service_manages(may: Any, action: str) -> None:
    for key, value in [*((key, "x") for key in MANAGED_KEYS), *MANAGED_VALUES]:
        assert not allowed(
            may["delete"], action, DELETES[action], {**WITH_CLEANUP_TAG, f"aws:ResourceTag/{key}": value}
        ), key
    assert allowed(may["delete"], action, DELETES[action], {**WITH_CLEANUP_TAG, "aws:ResourceTag/CreatedBy": "jane"})


def test_the_delete_roles_policies_fit_into_iams_limit(may: Any) -> None:
    """10,240 characters of inline policies, without white space (IAM User Guide, "IAM and AWS STS quotas")."""
    assert len(re.sub(r"\s", "", json.dumps(may["delete"]))) < 10_240 * 0.8


@pytest.mark.parametrize("context", NOT_TAGGED, ids=str)
@pytest.mark.parametrize("action", DELETES)
def test_the_delete_role_cannot_delete_what_does_not(may: Any, action: str, context: Context) -> None:
    assert not allowed(may["delete"], action, DELETES[action], context)


def test_the_delete_role_deletes_these_and_no_others(may: Any) -> None:
    named = {action for one in may["delete"] for action in listed(one["Action"]) if is_destructive(action)}

    assert named == {*DELETES, "ec2:DeleteNetworkInterface"}
    for action, own in DELETES.items():
        kinds = {arn for arn in EVERYTHING if allowed(may["delete"], action, arn, WITH_CLEANUP_TAG)}
        assert own in kinds
        assert not kinds & {SNAPSHOT, INTERFACE, FSX_BACKUP, POINT, VAULT}


@pytest.mark.parametrize("action", DELETES)
def test_nothing_of_another_account_can_be_deleted(may: Any, action: str) -> None:
    assert not allowed(may["delete"], action, DELETES[action].replace(ACCOUNT, "210987654321"), WITH_CLEANUP_TAG)


def test_a_network_interface_can_only_be_deleted_by_way_of_aws(may: Any) -> None:
    """The interface has no clean-up tag. Only an AWS service can delete it, but no direct call to EC2."""
    assert allowed(may["delete"], "ec2:DeleteNetworkInterface", INTERFACE, {"aws:ViaAWSService": "true"})
    assert not allowed(may["delete"], "ec2:DeleteNetworkInterface", INTERFACE, {"aws:ViaAWSService": "false"})
    assert not allowed(may["delete"], "ec2:DeleteNetworkInterface", INTERFACE, WITH_CLEANUP_TAG)


def is_destructive(action: str) -> bool:
    """Return whether an action's name says that it deletes, detaches or stops something."""
    return (
        re.match(r"[\w-]+:(Batch)?(Delete|Detach|Terminate|Stop|Remove|Disassociate|Revoke|Cancel|Purge)", action)
        is not None
    )


def test_nobody_else_deletes(cleanup: Any, deploy: Any) -> None:
    found = {
        role: {action for action in actions(stack, role) if is_destructive(action)}
        for stack in (cleanup, deploy(SlackSecretArn="secret", CleanupEnabled="true"))
        for role in stack.of("AWS::IAM::Role")
    }

    assert {role: named for role, named in found.items() if named} == {
        "DeleteRole": {*DELETES, "ec2:DeleteNetworkInterface"},
        "SweepRole": set(SWEEPS),
        "WatchRole": {"ec2:DeleteTags"},
        "AcknowledgeRole": {"dynamodb:DeleteItem"},  # its own items, by their keys
        "AuditRole": {"logs:DeleteLogDelivery"},  # Step Functions needs it for its logs
        "CleanupRole": {"logs:DeleteLogDelivery"},
    }


def test_the_scan_role_can_delete_nothing_tagged_or_not(deploy: Any) -> None:
    scan = statements(deploy(), "ScanRole")

    for action in {**DELETES, **SWEEPS, **CHANGES, "ec2:DeleteNetworkInterface": INTERFACE, "ec2:DetachVolume": VOLUME}:
        assert not any(allowed(scan, action, arn, WITH_CLEANUP_TAG | OURS) for arn in EVERYTHING), action
    assert allowed(scan, "ec2:DescribeVolumes", "*")


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one != "delete"])
def test_no_other_function_can_delete_tagged_resources(may: Any, function: str) -> None:
    everything: Context = {**WITH_CLEANUP_TAG, **MADE_AS_OURS, **RESTORED, "aws:ViaAWSService": "true"}

    assert [one for one, arn in DELETES.items() if allowed(may[function], one, arn, everything)] == []
    assert not allowed(may[function], "ec2:DeleteNetworkInterface", INTERFACE, everything)


def test_only_aws_itself_is_handed_the_role_for_backups_and_it_has_aws_own_policies(cleanup: Any, may: Any) -> None:
    role = cleanup["BackupServiceRole"]
    passed = [one for function in FUNCTIONS for one in may[function] if "iam:PassRole" in listed(one["Action"])]

    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "backup.amazonaws.com"}
    assert set(role) == {"AssumeRolePolicyDocument", "ManagedPolicyArns"}
    assert [arn.rpartition("/")[2] for arn in role["ManagedPolicyArns"]] == [
        "AWSBackupServiceRolePolicyForBackup",
        "AWSBackupServiceRolePolicyForRestores",
    ]
    for one in passed:
        assert allowed([one], "iam:PassRole", "BackupServiceRole.Arn", {"iam:PassedToService": "backup.amazonaws.com"})
        assert not allowed(
            [one], "iam:PassRole", "BackupServiceRole.Arn", {"iam:PassedToService": "lambda.amazonaws.com"}
        )
        assert not allowed([one], "iam:PassRole", "DeleteRole.Arn", {"iam:PassedToService": "backup.amazonaws.com"})
    assert {function for function in FUNCTIONS if "iam:PassRole" in str(may[function])} == {"back_up", "restore"}


# -- The clean-up tag


@pytest.mark.parametrize("action", TAGGED)
def test_the_watch_role_adds_and_removes_the_cleanup_tag_and_no_other(may: Any, action: str) -> None:
    for arn in TAGGED[action]:
        for keys in ([CLEANUP_TAG], [ACT_AFTER], [CLEANUP_TAG, ACT_AFTER]):
            assert allowed(may["watch"], action, arn, {"aws:TagKeys": keys}), (arn, keys)
        for keys in (["keep"], [CLEANUP_TAG, "keep"], [BACKUP_OF], ["Name"]):
            assert not allowed(may["watch"], action, arn, {"aws:TagKeys": keys}), (arn, keys)
        assert not allowed(may["watch"], action, arn), "without keys, it would take off all"


@pytest.mark.parametrize("action", TAGGED)
def test_the_watch_role_tags_only_types_that_can_be_cleaned_up(may: Any, action: str) -> None:
    others = [SNAPSHOT, INTERFACE, FSX_BACKUP, POINT, VOLUME.replace("volume/vol", "instance/i")]

    assert not any(allowed(may["watch"], action, arn, {"aws:TagKeys": [CLEANUP_TAG]}) for arn in others)


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one != "watch"])
def test_no_other_role_can_add_the_cleanup_tag(may: Any, function: str) -> None:
    """A role that could tag existing resources could decide by itself what it may delete."""
    tagging = (
        "ec2:CreateTags", "ec2:CreateVolume", "elasticfilesystem:CreateAccessPoint", "elasticfilesystem:TagResource",
        "fsx:CreateFileSystemFromBackup", "fsx:TagResource", "backup:TagResource",
    )  # fmt: skip
    asked: Context = {
        "ec2:CreateAction": "CreateVolume",
        **WITH_CLEANUP_TAG,
        **RESTORED,
        f"aws:ResourceTag/{RESTORED_FROM}": "fs-1",
    }

    for mark in (
        CLEANUP_TAG,
        CLEANUP_TAG.title(),
        CLEANUP_TAG.upper(),
    ):  # IAM treats them as the same tag, because condition keys ignore case
        marking = {"aws:TagKeys": ["Name", mark], f"aws:RequestTag/{mark}": "1", **asked}
        assert allowed(may["delete"], "ec2:DeleteVolume", VOLUME, {f"aws:ResourceTag/{mark}": "1"})
        assert not any(allowed(may[function], action, arn, marking) for action in tagging for arn in EVERYTHING)
    if function == "restore":
        naming = {"aws:TagKeys": ["Name"], **asked}
        for action, arn in (
            ("ec2:CreateTags", VOLUME),
            ("elasticfilesystem:TagResource", EFS),
            ("fsx:TagResource", FSX),
        ):
            assert allowed(may[function], action, arn, naming)


def test_the_watch_role_asks_about_the_delete_role_and_no_other(may: Any) -> None:
    assert allowed(may["watch"], "iam:SimulatePrincipalPolicy", "DeleteRole.Arn")
    assert not allowed(may["watch"], "iam:SimulatePrincipalPolicy", "WatchRole.Arn")


# -- Backups


@pytest.mark.parametrize(
    ("action", "source", "backup"),
    [
        ("ec2:CreateSnapshot", VOLUME, SNAPSHOT),
        ("fsx:CreateBackup", FSX, FSX_BACKUP),
    ],
)
def test_only_tagged_resources_can_be_backed_up_and_the_backup_names_its_resource(
    may: Any, action: str, source: str, backup: str
) -> None:
    def asked(of: Context, tags: Context) -> bool:
        return all_allowed(may["back_up"], action, {source: {**of, **tags}, backup: tags})

    assert asked(WITH_CLEANUP_TAG, MADE_AS_OURS)
    assert not asked({}, MADE_AS_OURS)
    assert not asked(WITH_CLEANUP_TAG, {})
    assert not asked(WITH_CLEANUP_TAG, {f"aws:RequestTag/{CLEANUP_TAG}": "1"})


def test_a_snapshot_is_tagged_as_it_is_made(may: Any) -> None:
    assert allowed(may["back_up"], "ec2:CreateTags", SNAPSHOT, {**MADE_AS_OURS, "ec2:CreateAction": "CreateSnapshot"})
    assert not allowed(may["back_up"], "ec2:CreateTags", SNAPSHOT, MADE_AS_OURS)
    assert not allowed(may["back_up"], "ec2:CreateTags", SNAPSHOT, {"ec2:CreateAction": "CreateSnapshot"})
    assert not allowed(may["back_up"], "ec2:CreateTags", VOLUME, {**MADE_AS_OURS, "ec2:CreateAction": "CreateVolume"})


KEPT = {"backup:TagResource": POINT, "ec2:CreateTags": SNAPSHOT, "fsx:TagResource": FSX_BACKUP}


@pytest.mark.parametrize("action", KEPT)
def test_of_a_backup_of_ours_the_expiry_alone_is_changed_afterwards(may: Any, action: str) -> None:
    expiry = {"aws:TagKeys": [EXPIRES_AT]}

    assert allowed(may["back_up"], action, KEPT[action], {**OURS, **expiry})
    assert not allowed(may["back_up"], action, KEPT[action], expiry)
    assert not allowed(may["back_up"], action, KEPT[action], OURS), "without keys"
    for other in (BACKUP_OF, TOKEN, INSTALLATION, CLEANUP_TAG, "keep"):
        assert not allowed(may["back_up"], action, KEPT[action], {**OURS, "aws:TagKeys": [EXPIRES_AT, other]})
    assert not allowed(may["back_up"], action, VOLUME, {**OURS, **expiry})


def test_the_lifecycle_of_a_recovery_point_of_ours_is_changed_and_of_no_other(may: Any) -> None:
    assert allowed(may["back_up"], "backup:UpdateRecoveryPointLifecycle", POINT, OURS)
    assert not allowed(may["back_up"], "backup:UpdateRecoveryPointLifecycle", POINT)
    assert not allowed(may["back_up"], "backup:UpdateRecoveryPointLifecycle", VAULT, OURS)


@pytest.mark.parametrize("function", ["back_up", "delete"])
def test_who_verifies_a_backup_looks_at_keys_of_other_accounts_too_and_uses_none(may: Any, function: str) -> None:
    key = f"arn:aws:kms:{REGION}:210987654321:key/1"

    assert allowed(may[function], "kms:DescribeKey", key)
    assert not any(allowed(may[function], one, key) for one in ("kms:Decrypt", "kms:CreateGrant"))


def test_a_file_system_is_backed_up_into_the_vault_of_the_parameter(deploy_cleanup: Any) -> None:
    back_up = statements(deploy_cleanup(BackupVaultName="ours"), "BackUpRole")

    assert allowed(back_up, "backup:StartBackupJob", VAULT.replace("Default", "ours"))
    assert not allowed(back_up, "backup:StartBackupJob", VAULT)


def test_who_deletes_begins_no_backup_but_the_final_one_of_fsx(may: Any) -> None:
    def final(of: Context, tags: Context) -> bool:
        backed_up = all_allowed(may["delete"], "fsx:CreateBackup", {FSX: {**of, **tags}, FSX_BACKUP: tags})
        deleted = all_allowed(may["delete"], "fsx:DeleteFileSystem", {FSX: {**of, **tags}, FSX_BACKUP: tags})
        return backed_up and deleted and allowed(may["delete"], "fsx:TagResource", FSX_BACKUP, tags)

    assert final(WITH_CLEANUP_TAG, MADE_AS_OURS)
    assert not final({}, MADE_AS_OURS)
    assert not final(WITH_CLEANUP_TAG, {})
    begins = (
        "ec2:CreateSnapshot", "backup:StartBackupJob", *SWEEPS, "ec2:CreateTags", "backup:TagResource",
        "backup:UpdateRecoveryPointLifecycle",
    )  # fmt: skip

    everything: Context = {
        **WITH_CLEANUP_TAG, **OURS, **MADE_AS_OURS, "ec2:CreateAction": "CreateSnapshot", "aws:TagKeys": [EXPIRES_AT],
    }  # fmt: skip
    assert not any(allowed(may["delete"], action, arn, everything) for action in begins for arn in EVERYTHING)


@pytest.mark.parametrize("action", SWEEPS)
def test_the_sweep_role_deletes_backups_of_ours_and_no_others(may: Any, action: str) -> None:
    assert allowed(may["sweep"], action, SWEEPS[action], OURS)
    for context in ({}, {f"aws:ResourceTag/{BACKUP_OF}": ""}, MADE_AS_OURS, WITH_CLEANUP_TAG):
        assert not allowed(may["sweep"], action, SWEEPS[action], context)


# -- Changes and restores


@pytest.mark.parametrize("action", CHANGES)
def test_the_change_role_changes_tagged_resources_and_nothing_else(may: Any, action: str) -> None:
    assert allowed(may["change"], action, CHANGES[action], WITH_CLEANUP_TAG)
    assert not any(allowed(may["change"], action, CHANGES[action], context) for context in NOT_TAGGED)


@pytest.mark.parametrize(
    ("action", "backup", "made"),
    [
        ("ec2:CreateVolume", SNAPSHOT, [VOLUME]),
        ("fsx:CreateFileSystemFromBackup", FSX_BACKUP, [FSX]),
    ],
)
def test_what_is_restored_is_from_a_backup_of_ours_and_says_so(
    may: Any, action: str, backup: str, made: list[str]
) -> None:
    def asked(of: Context, tags: Context) -> bool:
        return all_allowed(may["restore"], action, {backup: {**of, **tags}} | dict.fromkeys(made, tags))

    assert asked(OURS, RESTORED)
    assert not asked({}, RESTORED)
    assert not asked(OURS, {})


def test_a_file_system_is_restored_from_a_recovery_point_of_ours(may: Any) -> None:
    assert allowed(may["restore"], "backup:StartRestoreJob", POINT, OURS)
    assert not allowed(may["restore"], "backup:StartRestoreJob", POINT)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_role_may_do_more_to_volumes_and_machines_of_ontap_than_unmark_them(may: Any, function: str) -> None:
    everything: Context = {**WITH_CLEANUP_TAG, **OURS, **RESTORED, **MADE_AS_OURS, "aws:TagKeys": [CLEANUP_TAG]}
    actions = [
        *("fsx:CreateBackup", "fsx:CreateStorageVirtualMachine", "fsx:CreateVolumeFromBackup", "fsx:TagResource"),
        *("fsx:DeleteStorageVirtualMachine", "fsx:DeleteVolume"),
    ]

    assert not any(
        allowed(may[function], action, arn, everything) for action in actions for arn in (FSX_VOLUME, MACHINE)
    )
    assert not allowed(may[function], "fsx:CreateFileSystem", FSX, everything)


EFS_WRITES = {
    "elasticfilesystem:PutBackupPolicy",
    "elasticfilesystem:PutFileSystemPolicy",
    "elasticfilesystem:PutLifecycleConfiguration",
    "elasticfilesystem:TagResource",
    "elasticfilesystem:UpdateFileSystem",
    "elasticfilesystem:UpdateFileSystemProtection",
}


@pytest.mark.parametrize("action", sorted(EFS_WRITES))
def test_of_file_systems_only_those_that_carry_the_tag_of_a_restore_are_set_up(may: Any, action: str) -> None:
    restored: Context = {f"aws:ResourceTag/{RESTORED_FROM}": "fs-1", "aws:TagKeys": ["Name"]}

    assert allowed(may["restore"], action, EFS, restored)
    for context in ({}, WITH_CLEANUP_TAG, {f"aws:ResourceTag/{RESTORED_FROM}": ""}):
        assert not allowed(may["restore"], action, EFS, {**context, "aws:TagKeys": ["Name"]})


def test_the_tag_of_a_restore_comes_first_and_alone(may: Any) -> None:
    first: Context = {**RESTORED, "aws:TagKeys": [RESTORED_FROM]}

    assert allowed(may["restore"], "elasticfilesystem:TagResource", EFS, first)
    assert not allowed(
        may["restore"], "elasticfilesystem:TagResource", EFS, {**RESTORED, "aws:TagKeys": [RESTORED_FROM, "Name"]}
    )


def test_what_hung_on_a_file_system_that_was_not_deleted_is_put_back_without_any_tag(may: Any) -> None:
    for action in ("elasticfilesystem:CreateAccessPoint", "elasticfilesystem:CreateMountTarget"):
        assert allowed(may["restore"], action, EFS)
    assert allowed(may["restore"], "elasticfilesystem:TagResource", ACCESS_POINT, {"aws:TagKeys": ["Name"]})


def test_tags_are_put_on_volumes_as_they_are_made_and_on_route_tables_by_fsx(may: Any) -> None:
    route_table = f"arn:aws:ec2:{REGION}:{ACCOUNT}:route-table/rtb-1"
    by_fsx: Context = {"aws:RequestTag/AmazonFSx": "ManagedByAmazonFSx", "aws:CalledVia": ["fsx.amazonaws.com"]}

    assert allowed(may["restore"], "ec2:CreateTags", VOLUME, {"ec2:CreateAction": "CreateVolume"})
    assert not allowed(may["restore"], "ec2:CreateTags", VOLUME)
    assert allowed(may["restore"], "ec2:CreateTags", route_table, by_fsx)
    assert not allowed(
        may["restore"], "ec2:CreateTags", route_table, {**by_fsx, "aws:CalledVia": ["ec2.amazonaws.com"]}
    )
    assert not allowed(
        may["restore"], "ec2:CreateTags", route_table, {"aws:RequestTag/AmazonFSx": "ManagedByAmazonFSx"}
    )


def test_keys_are_used_by_way_of_ec2_and_fsx_and_kept_by_aws_alone(may: Any) -> None:
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
    by_ec2: Context = {"kms:ViaService": f"ec2.{REGION}.amazonaws.com"}

    assert allowed(may["restore"], "kms:Decrypt", key, by_ec2)
    assert not allowed(may["restore"], "kms:Decrypt", key)
    assert not allowed(may["restore"], "kms:Decrypt", key, {"kms:ViaService": f"s3.{REGION}.amazonaws.com"})
    assert allowed(may["restore"], "kms:CreateGrant", key, {**by_ec2, "kms:GrantIsForAWSResource": "true"})
    assert not allowed(may["restore"], "kms:CreateGrant", key, by_ec2)


# -- The table and the bucket

KEYS = {
    "finding": f"{finding_store.KIND}#1",
    "clean-up": f"{cleanup_store.KIND}#1",
    "hold": f"{cleanup_store.HOLD}#arn",
    "control": f"{cleanup_store.CONTROL}#",
    "post": f"{outbox.KIND}#1",
    "audit": "AUDIT#1",
    "installation": installation.KIND,
}
STORES = {
    "watch": {"finding", "clean-up", "hold", "post"},
    "back_up": {"finding", "clean-up", "hold", "installation"},
    "delete": {"finding", "clean-up", "hold"},
    "change": {"finding", "clean-up", "hold"},
    "restore": {"finding", "clean-up", "hold"},
    "sweep": {"finding", "clean-up", "hold"},
    "run": {"finding", "clean-up", "hold", "control", "post"},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_stores_items_of_its_kinds_and_no_others(may: Any, function: str) -> None:
    stored = {
        kind
        for kind, key in KEYS.items()
        if allowed(may[function], "dynamodb:PutItem", "Table.Arn", {"dynamodb:LeadingKeys": [key]})
    }

    assert stored == STORES[function]
    assert not allowed(
        may[function], "dynamodb:PutItem", "OtherTable.Arn", {"dynamodb:LeadingKeys": [KEYS["clean-up"]]}
    )


A_LIST = object_keys.cleanup_list("f00d", "parts", "5d1c")
READS = {
    "watch": {object_keys.POLICY, object_keys.target_scan("1", ACCOUNT, REGION), A_LIST},
    "back_up": {object_keys.POLICY},
    "delete": {object_keys.POLICY, A_LIST},
    "change": {object_keys.POLICY},
    "restore": {A_LIST},
    "run": {object_keys.POLICY, object_keys.target_scan("1", ACCOUNT, REGION)},
}
WRITES = {"watch": {A_LIST}, "delete": {A_LIST}, "restore": {A_LIST}}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_reads_and_writes_the_objects_that_it_needs(may: Any, function: str) -> None:
    keys = {object_keys.POLICY, object_keys.target_scan("1", ACCOUNT, REGION), A_LIST}

    assert {key for key in keys if allowed(may[function], "s3:GetObject", f"Bucket.Arn/{key}")} == READS.get(
        function, set()
    )
    assert {key for key in keys if allowed(may[function], "s3:PutObject", f"Bucket.Arn/{key}")} == WRITES.get(
        function, set()
    )


# -- Roles that are not a function's


def test_the_machines_take_the_steps_and_the_schedules_run_and_sweep(cleanup: Any) -> None:
    (steps, *_) = statements(cleanup, "CleanupRole")
    substitutions = [cleanup[one]["DefinitionSubstitutions"] for one in ("CleanupStateMachine", "UndoStateMachine")]
    named = {arn for one in substitutions for name, arn in one.items() if name.endswith("FunctionArn")}

    assert (steps["Action"], set(steps["Resource"])) == ("lambda:InvokeFunction", named)
    assert [(one["Action"], one["Resource"]) for one in statements(cleanup, "ScheduleRole")] == [
        ("lambda:InvokeFunction", ["RunFunction.Arn", "SweepFunction.Arn", "NotifyFunction.Arn"]),
        ("sqs:SendMessage", "ScheduleDeadLetters.Arn"),
    ]


@pytest.mark.parametrize(("role", "service"), [("CleanupRole", "states"), ("ScheduleRole", "scheduler")])
def test_a_role_is_for_one_service_of_this_account(cleanup: Any, role: str, service: str) -> None:
    (trust,) = cleanup[role]["AssumeRolePolicyDocument"]["Statement"]

    assert trust["Principal"] == {"Service": f"{service}.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}


def test_only_the_run_begins_clean_ups_and_none_of_them_an_undo(may: Any) -> None:
    for function in FUNCTIONS:
        assert allowed(may[function], "states:StartExecution", "CleanupStateMachine") == (function == "run")
        assert not allowed(may[function], "states:StartExecution", "UndoStateMachine")
