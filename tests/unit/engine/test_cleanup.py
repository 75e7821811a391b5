"""Safety checks that need no AWS. Each case would be cleaned up without its check."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.engine.cleanup import (
    account_blocker,
    act_after,
    approval_blocker,
    cap_blocker,
    change_blocker,
    cleanup_blocker,
    identity_error,
    look_next,
    may_approve,
    merge_recorded,
    recent,
    restored_blocker,
    unattended,
    verification_error,
    warning_due,
)
from slackwater.model.cleanup import BACKUP_OF, ONTAP_STAYS, Backup, Begun, Control, Copy, Subject, Tagging
from slackwater.model.fleet import Fleet
from slackwater.model.policy import CleanupSection, UnattendedTag
from slackwater.model.resources import (
    Attachment,
    EfsFileSystem,
    EfsReplication,
    FsxFileSystem,
    Instance,
    Target,
    Volume,
)
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import FindingRecord, TrackedResource

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
ACCOUNT, REGION = "123456789012", "ap-northeast-1"
HERE = Target(ACCOUNT, REGION)
APPROVER = f"arn:aws:iam::{ACCOUNT}:user/ada"
ALLOWING = CleanupSection(
    accounts=[ACCOUNT],
    regions=[REGION],
    resource_types=["efs-file-system"],
    detectors=["efs-abandoned"],
    approver_identities=[APPROVER],
)
SEEN = FindingRecord(
    id="f1",
    detector="efs-abandoned",
    kind="waste",
    severity="low",
    confidence="high",
    resource=TrackedResource(
        arn=f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-1",
        id="fs-1",
        type="efs-file-system",
        name="encode-7",
        account=ACCOUNT,
        region=REGION,
    ),
    owner=None,
    summary="",
    monthly_savings_usd=Decimal(9),
    fingerprint="p1",
    deletes=True,
)
VOLUME = Volume(
    id="vol-1", arn="arn:aws:ec2:x", target=HERE, tags={}, volume_type="gp3", size_gib=100, iops=3000,
    throughput_mib_s=125, state="available", created_at=NOW - timedelta(days=90), availability_zone="a",
    multi_attach=False,
)  # fmt: skip
ATTACHED = replace(
    VOLUME, state="in-use", attachments=(Attachment(instance_id="i-1", device="/dev/sdf", attached_at=NOW),)
)
SERVER = Instance(
    id="i-1", arn="arn:aws:ec2:y", target=HERE, tags={}, instance_type="m5.large", state="stopped", launched_at=NOW,
    stopped_at=None, detailed_monitoring=False, root_device="/dev/xvda",
)  # fmt: skip
FILES = EfsFileSystem(
    id="fs-1", arn="arn:aws:elasticfilesystem:x", target=HERE, tags={}, state="available", created_at=NOW,
    throughput_mode="bursting", provisioned_mib_s=None, performance_mode="generalPurpose", availability_zone=None,
    stored_bytes={"Standard": 1, "IA": 0, "Archive": 0}, mount_targets=1, is_replica=False,
)  # fmt: skip
NAS = FsxFileSystem(
    id="fs-9", arn="arn:aws:fsx:x", target=HERE, tags={}, file_system_type="ONTAP", deployment_type="SINGLE_AZ_1",
    state="AVAILABLE", created_at=NOW, storage_type="SSD", storage_gib=1024, throughput_mb_s=128, iops=3072,
    iops_mode="AUTOMATIC",
)  # fmt: skip


class TestAllowLists:
    def test_an_empty_policy_allows_nothing(self) -> None:
        assert cleanup_blocker(SEEN, CleanupSection())

    def test_what_is_named_in_all_four_lists_is_allowed(self) -> None:
        assert approval_blocker(SEEN, ALLOWING) is None

    @pytest.mark.parametrize("key", ["accounts", "regions", "resource_types", "detectors"])
    def test_each_list_must_name_it(self, key: str) -> None:
        assert key in (cleanup_blocker(SEEN, ALLOWING.model_copy(update={key: []})) or "")

    def test_nobody_may_approve_where_nobody_is_named(self) -> None:
        nobody = ALLOWING.model_copy(update={"approver_identities": []})
        assert "approvers" in (approval_blocker(SEEN, nobody) or "")
        assert cleanup_blocker(SEEN, nobody) is None

    def test_it_works_in_its_own_account_only_where_that_is_known(self) -> None:
        assert "only in account 210987654321" in (account_blocker("123456789012", "210987654321") or "")
        assert account_blocker("123456789012", "123456789012") is None
        assert account_blocker("123456789012", None) is None

    def test_advice_that_no_program_may_follow_is_not_allowed(self) -> None:
        assert cleanup_blocker(replace(SEEN, deletes=False), ALLOWING)
        changes = replace(
            SEEN, deletes=False, setting=VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)
        )
        assert cleanup_blocker(changes, ALLOWING) is None

    @pytest.mark.parametrize("section", [ALLOWING, CleanupSection()])
    @pytest.mark.parametrize("deletes", [True, False])
    def test_ontap_is_refused_with_its_own_reason_whatever_the_policy_names(
        self, section: CleanupSection, *, deletes: bool
    ) -> None:
        named = section.model_copy(update={"detectors": ["fsx-idle"], "resource_types": ["fsx-file-system"]})
        resource = replace(SEEN.resource, type="fsx-file-system")
        idle = replace(
            SEEN, detector="fsx-idle", resource=resource, deletes=deletes, summary="FSx for NetApp ONTAP, 1,024 GiB"
        )
        assert approval_blocker(idle, named) == cleanup_blocker(idle, named) == ONTAP_STAYS
        openzfs = replace(idle, deletes=True, summary="FSx for OpenZFS, 1,024 GiB")
        assert (cleanup_blocker(openzfs, named) is None) is bool(section.accounts)

    def test_low_confidence_is_not_enough(self) -> None:
        assert cleanup_blocker(replace(SEEN, confidence="low"), ALLOWING)

    @given(
        st.lists(st.sampled_from([ACCOUNT, "1", "2"])),
        st.lists(st.sampled_from([REGION, "eu-west-1"])),
        st.lists(st.sampled_from(["efs-file-system", "ebs-volume"])),
        st.lists(st.sampled_from(["efs-abandoned", "efs-idle"])),
    )
    def test_whatever_the_lists(self, accounts: Any, regions: Any, kinds: Any, detectors: Any) -> None:
        section = ALLOWING.model_copy(
            update={"accounts": accounts, "regions": regions, "resource_types": kinds, "detectors": detectors}
        )
        everywhere = (
            ACCOUNT in accounts and REGION in regions and "efs-file-system" in kinds and "efs-abandoned" in detectors
        )
        assert (cleanup_blocker(SEEN, section) is None) is everywhere


class TestApprovers:
    def test_slack_users_are_named_by_their_id(self) -> None:
        section = CleanupSection(approvers=["U0123ABCDEF"])
        assert may_approve("slack:U0123ABCDEF", section)
        assert not may_approve("slack:U0123ABCDEG", section)
        assert not may_approve("U0123ABCDEF", section)

    def test_a_role_is_named_whole_or_one_session_of_it(self) -> None:
        role = f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin"
        assert may_approve(f"{role}/ada", CleanupSection(approver_identities=[role]))
        assert may_approve(f"{role}/ada", CleanupSection(approver_identities=[f"{role}/ada"]))
        assert not may_approve(f"{role}/eve", CleanupSection(approver_identities=[f"{role}/ada"]))
        assert not may_approve(f"{role}istrator/ada", CleanupSection(approver_identities=[role]))

    def test_a_user_is_not_taken_for_a_path_that_ends_as_it_does(self) -> None:
        section = CleanupSection(approver_identities=[f"arn:aws:iam::{ACCOUNT}:user"])
        assert not may_approve(APPROVER, section)


class TestUnattended:
    def test_only_for_the_tag_that_the_policy_names(self) -> None:
        section = ALLOWING.model_copy(update={"unattended": [UnattendedTag(tag="Job=encode")]})
        assert unattended(SEEN, {"Job": "encode"}, section)
        assert not unattended(SEEN, {"Job": "render"}, section)
        assert not unattended(SEEN, {}, section)
        assert not unattended(SEEN, None, section)

    def test_a_tag_without_a_value_is_any_value(self) -> None:
        assert unattended(SEEN, {"Job": "x"}, ALLOWING.model_copy(update={"unattended": [UnattendedTag(tag="Job")]}))

    def test_never_for_another_detector(self) -> None:
        section = ALLOWING.model_copy(update={"unattended": [UnattendedTag(tag="Job")], "detectors": ["efs-idle"]})
        assert not unattended(replace(SEEN, detector="efs-idle"), {"Job": "x"}, section)

    def test_only_within_the_allow_lists(self) -> None:
        section = ALLOWING.model_copy(update={"unattended": [UnattendedTag(tag="Job")], "regions": []})
        assert not unattended(SEEN, {"Job": "x"}, section)

    def test_a_backup_is_made_unless_the_policy_says_so_in_so_many_words(self) -> None:
        assert not UnattendedTag(tag="Job").its_data_is_scratch_and_needs_no_backup


class TestNever:
    def test_an_unattached_volume_may_be_deleted(self) -> None:
        assert change_blocker(VOLUME, Fleet([VOLUME]), deletes=True) is None

    @pytest.mark.parametrize(
        ("resource", "others", "says"),
        [
            (ATTACHED, [SERVER], "attached"),
            (replace(ATTACHED, attachments=(replace(ATTACHED.attachments[0], device="/dev/xvda"),)), [SERVER], "root"),
            (ATTACHED, [], "root"),
            (replace(VOLUME, tags=None), [], "tags"),
            (replace(VOLUME, tags={"CSIVolumeName": "pvc-1"}), [], "Kubernetes"),
            (replace(VOLUME, tags={"kubernetes.io/cluster/x": "owned"}), [], "Kubernetes"),
            (replace(VOLUME, tags={"aws:autoscaling:groupName": "web"}), [], "Auto Scaling"),
            (replace(VOLUME, tags={"aws:cloudformation:stack-name": "shop"}), [], "CloudFormation"),
            (
                replace(VOLUME, tags={"aws:elasticmapreduce:job-flow-id": "j-1"}),
                [],
                "Amazon EMR cluster j-1 manages it",
            ),
            (replace(VOLUME, manager="eks.amazonaws.com"), [], "eks.amazonaws.com manages it"),
            (replace(VOLUME, tags={"aws:backup:source-resource": "x"}), [], "AWS Backup restored"),
            (replace(VOLUME, tags={"slackwater:restored-from": "x"}), [], "Slackwater restored"),
            (replace(FILES, is_replica=True), [], "replication"),
            (FILES, [EfsReplication(id="fs-1", role="source", status="ENABLED")], "replication"),
            (FILES, [EfsReplication(id="fs-1", role="destination", status="PAUSED")], "replication"),
            (NAS, [], ONTAP_STAYS),
        ],
    )
    def test_these_are_never_deleted(self, resource: Any, others: list[Any], says: str) -> None:
        assert says in (change_blocker(resource, Fleet([resource, *others]), deletes=True) or "")

    def test_the_like_that_may_be(self) -> None:
        assert (
            change_blocker(FILES, Fleet([EfsReplication(id="fs-2", role="source", status="ENABLED")]), deletes=True)
            is None
        )
        assert change_blocker(replace(NAS, file_system_type="OPENZFS"), Fleet(()), deletes=True) is None

    def test_a_setting_of_an_attached_volume_may_be_changed_but_not_behind_a_program(self) -> None:
        assert change_blocker(ATTACHED, Fleet([ATTACHED, SERVER]), deletes=False) is None
        assert change_blocker(
            replace(ATTACHED, tags={"aws:cloudformation:stack-name": "shop"}), Fleet(()), deletes=False
        )
        assert change_blocker(replace(ATTACHED, manager="eks.amazonaws.com"), Fleet(()), deletes=False)
        assert (
            change_blocker(replace(ATTACHED, tags={"aws:backup:source-resource": "x"}), Fleet(()), deletes=False)
            is None
        )


def begun(n: int, usd: int | None = 10, ago: timedelta = timedelta(0)) -> Begun:
    return Begun(finding_id=f"f{n}", at=NOW - ago, monthly_usd=None if usd is None else Decimal(usd))


class TestCap:
    SECTION = CleanupSection(most_resources=3, most_monthly_usd=100)

    def test_to_the_last_one_it_may(self) -> None:
        assert cap_blocker([begun(n) for n in range(3)], Control(), self.SECTION, NOW) is None

    def test_one_more_and_nothing_may(self) -> None:
        assert "4 clean-ups" in (cap_blocker([begun(n) for n in range(4)], Control(), self.SECTION, NOW) or "")

    def test_to_the_last_dollar(self) -> None:
        assert cap_blocker([begun(1, 100)], Control(), self.SECTION, NOW) is None
        assert "101.00 USD" in (cap_blocker([begun(1, 101)], Control(), self.SECTION, NOW) or "")

    def test_many_small_runs_are_one_large_one(self) -> None:
        control = Control(begun=(begun(1), begun(2, ago=timedelta(hours=23)), begun(3)))
        assert "3 of them" in (cap_blocker([begun(4)], control, self.SECTION, NOW) or "")

    def test_a_day_later_it_may_again(self) -> None:
        control = Control(begun=tuple(begun(n, ago=timedelta(hours=24)) for n in range(3)))
        assert cap_blocker([begun(4)], control, self.SECTION, NOW) is None
        assert recent(control.begun, NOW) == ()

    def test_the_same_one_again_counts_once(self) -> None:
        assert cap_blocker([begun(1), begun(2), begun(3)], Control(begun=(begun(1),)), self.SECTION, NOW) is None

    def test_what_has_no_price_counts_by_number(self) -> None:
        assert cap_blocker([begun(n, None) for n in range(3)], Control(), self.SECTION, NOW) is None
        assert cap_blocker([begun(n, None) for n in range(4)], Control(), self.SECTION, NOW)


class TestWaiting:
    SECTION = CleanupSection()
    TAGGING = Tagging(at=NOW, act_after=NOW + timedelta(days=30))

    def test_a_deletion_waits_for_the_grace(self) -> None:
        assert act_after(NOW, self.SECTION, None, deletes=True) == NOW + timedelta(days=30)
        assert act_after(NOW, self.SECTION, UnattendedTag(tag="Job", grace_hours=6), deletes=True) == NOW + timedelta(
            hours=6
        )

    def test_a_change_does_not(self) -> None:
        assert act_after(NOW, self.SECTION, None, deletes=False) == NOW

    @pytest.mark.parametrize(
        ("day", "due"), [(0, None), (22.9, None), (23, 7), (28.9, 7), (29, 1), (29.9, 1), (30, None)]
    )
    def test_warnings(self, day: float, due: int | None) -> None:
        assert warning_due(self.TAGGING, self.SECTION, NOW + timedelta(days=day)) == due

    def test_a_warning_is_given_once(self) -> None:
        assert warning_due(replace(self.TAGGING, warned_days=(7,)), self.SECTION, NOW + timedelta(days=25)) is None

    def test_it_is_looked_at_daily_and_when_something_is_due(self) -> None:
        assert look_next(self.TAGGING, self.SECTION, NOW) == NOW + timedelta(days=1)
        assert look_next(self.TAGGING, self.SECTION, NOW + timedelta(days=22.5)) == NOW + timedelta(days=23)
        assert look_next(self.TAGGING, self.SECTION, NOW + timedelta(days=29.5)) == NOW + timedelta(days=30)


class TestVerified:
    SUBJECT = Subject(id="vol-1", size_bytes=100)
    COPY = Copy(id="snap-1", of="vol-1", state="complete", size_bytes=100, made_at=NOW)

    def test_a_whole_copy_of_it(self) -> None:
        assert verification_error(self.COPY, self.SUBJECT, metered=False) is None

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"state": "running"}, "running"),
            ({"state": "failed", "why": "no key"}, "no key"),
            ({"of": "vol-2"}, "vol-2"),
            ({"size_bytes": None}, "size"),
            ({"size_bytes": 99}, "99"),
            ({"size_bytes": 101}, "101"),
        ],
    )
    def test_what_is_not(self, change: dict[str, Any], says: str) -> None:
        assert says in (verification_error(replace(self.COPY, **change), self.SUBJECT, metered=False) or "")

    def test_metered_sizes_differ_a_little(self) -> None:
        files = Subject(id="vol-1", size_bytes=100 * 1024**3)
        assert verification_error(replace(self.COPY, size_bytes=90 * 1024**3), files, metered=True) is None
        assert verification_error(replace(self.COPY, size_bytes=200 * 1024**3), files, metered=True) is None
        assert verification_error(replace(self.COPY, size_bytes=89 * 1024**3), files, metered=True)
        assert verification_error(replace(self.COPY, size_bytes=0, incremental=True), files, metered=True) is None
        assert verification_error(
            replace(self.COPY, size_bytes=0, incremental=True, state="failed"), files, metered=True
        )

    def test_an_empty_file_system_is_metered_and_has_nothing_to_bring_back(self) -> None:
        empty = Subject(id="vol-1", size_bytes=6 * 1024)
        assert verification_error(replace(self.COPY, size_bytes=0), empty, metered=True) is None
        assert verification_error(replace(self.COPY, size_bytes=0, of="vol-2"), empty, metered=True)
        assert verification_error(replace(self.COPY, size_bytes=0), empty, metered=False)


@pytest.mark.parametrize("tag", ["slackwater:restored-from", "aws:backup:source-resource"])
def test_no_rule_lets_what_was_restored_go_without_an_approval(tag: str) -> None:
    rule = UnattendedTag(tag="Job")
    policy = ALLOWING.model_copy(update={"unattended": [rule]})

    assert unattended(SEEN, {"Job": "encode"}, policy) == rule
    assert unattended(SEEN, {"Job": "encode", tag: "fs-2"}, policy) is None
    assert restored_blocker({tag: "fs-2"})
    assert restored_blocker({"Job": "encode"}) is restored_blocker(None) is None


RECORDED: dict[str, Any] = {
    "policy": "wide",
    "access_points": [{"id": "fsap-1"}, {"id": "fsap-2"}],
    "mount_targets": [{"id": "fsmt-1", "security_groups": ["wide"]}, {"id": "fsmt-2", "security_groups": ["wide"]}],
}


class TestRecordedAnew:
    def test_what_the_clean_up_took_off_is_kept_and_the_rest_is_as_it_is_now(self) -> None:
        newest = {
            "policy": "narrow",
            "access_points": [],
            "mount_targets": [{"id": "fsmt-2", "security_groups": ["narrow"]}],
        }

        assert merge_recorded(RECORDED, newest, {"fsap-1", "fsap-2", "fsmt-1"}) == {
            "policy": "narrow",
            "access_points": [{"id": "fsap-1"}, {"id": "fsap-2"}],
            "mount_targets": [
                {"id": "fsmt-1", "security_groups": ["wide"]},
                {"id": "fsmt-2", "security_groups": ["narrow"]},
            ],
        }

    def test_what_somebody_else_took_off_stays_away(self) -> None:
        newest = {"policy": None, "access_points": [{"id": "fsap-2"}], "mount_targets": []}

        assert merge_recorded(RECORDED, newest, ()) == newest

    def test_what_was_asked_to_go_and_is_still_there_is_as_it_is_now(self) -> None:
        newest = {**RECORDED, "mount_targets": [{"id": "fsmt-1", "security_groups": ["narrow"]}]}

        assert merge_recorded(RECORDED, newest, {"fsmt-1"})["mount_targets"] == newest["mount_targets"]

    def test_the_first_record_and_lists_of_words_are_as_they_are_now(self) -> None:
        newest = {"system": {"Tags": {}}, "security_group_ids": ["sg-2"], "children": [{"id": "fsvol-1"}]}

        assert merge_recorded(None, newest, {"fsvol-1"}) == newest
        assert merge_recorded({"security_group_ids": ["sg-1"]}, newest, ()) == newest


class TestProven:
    ARN = "arn:aws:ec2:eu-west-1:123456789012:volume/vol-1"
    BACKUP = Backup(
        subject=Subject(id="vol-1", size_bytes=100), token="7f3a", asked_at=NOW, expires_at=NOW, installation="here"
    )
    COPY = Copy(
        id="snap-1", of="vol-1", state="complete", size_bytes=100, made_at=NOW, token="7f3a", tags={BACKUP_OF: ARN}
    )  # fmt: skip

    def test_what_was_asked_for(self) -> None:
        assert identity_error(self.COPY, self.BACKUP, self.ARN) is None

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"token": None}, "token"),
            ({"token": "7f3"}, "token"),
            ({"copied": True}, "copy of another"),
            ({"of": "vol-ffffffff"}, "not of vol-1"),
            ({"tags": {}}, "does not name"),
            ({"tags": {BACKUP_OF: "arn:aws:ec2:eu-west-1:123456789012:volume/vol-2"}}, "does not name"),
            ({"made_at": NOW - timedelta(minutes=1, seconds=1)}, "before Slackwater requested it"),
        ],
    )
    def test_what_only_looks_like_it(self, change: dict[str, Any], says: str) -> None:
        assert says in (identity_error(replace(self.COPY, **change), self.BACKUP, self.ARN) or "")

    def test_clocks_may_differ_by_a_minute(self) -> None:
        assert identity_error(replace(self.COPY, made_at=NOW - timedelta(minutes=1)), self.BACKUP, self.ARN) is None

    def test_what_an_older_version_asked_for_had_no_token_of_its_own(self) -> None:
        assert "older version" in (identity_error(self.COPY, replace(self.BACKUP, installation=None), self.ARN) or "")
