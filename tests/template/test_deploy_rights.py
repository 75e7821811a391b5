"""iam/ holds exactly the permissions that deploying and scanning need."""

import json
from pathlib import Path

import pytest

import deploy_rights
from slackwater.aws.inventory import permission_checks

ROOT = Path(__file__).parents[2]
DEPLOY, SCAN = (json.loads((ROOT / f"iam/{name}.json").read_text()) for name in ("deploy", "scan"))


def test_the_rights_to_deploy_are_what_the_templates_resources_need() -> None:
    assert deploy_rights.policy() == DEPLOY, "run `make docs`"


def test_they_fit_into_a_managed_policy_of_iam() -> None:
    assert len(json.dumps(DEPLOY, separators=(",", ":"))) <= 6144


def test_roles_policies_and_buckets_of_others_are_out_of_reach() -> None:
    (iam, s3) = (one for one in DEPLOY["Statement"] if one["Sid"] in ("DeployIam", "DeployS3"))

    assert all("slackwater-" in resource for resource in [*iam["Resource"], *s3["Resource"]])
    assert not any(
        one.startswith(("iam:", "s3:"))
        for other in DEPLOY["Statement"]
        if other not in (iam, s3)
        for one in other["Action"]
    )


def test_a_property_that_is_not_used_yet_asks_for_its_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in deploy_rights.TEMPLATES:
        (tmp_path / name).write_text((ROOT / name).read_text().replace("Tracing:", "VpcConfig:"))
    before = deploy_rights.actions()
    monkeypatch.setattr(deploy_rights, "ROOT", tmp_path)

    assert {"ec2:DescribeSubnets", "ec2:DescribeVpcs"} <= deploy_rights.actions() - before


def test_the_rights_of_a_scan_are_what_the_code_calls() -> None:
    (statement,) = SCAN["Statement"]

    assert statement["Action"] == sorted(permission_checks.ACTIONS)
