"""Why the current state of a resource stops its clean-up."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.cleanup.recheck import objection
from slackwater.model.cleanup import CLEANUP_TAG, Backup, Cleanup, CurrentState, Subject, SubResource, Tagging
from slackwater.model.policy import OwnersSection, Policy
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.tracking import TrackedResource

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
FILES = TrackedResource(
    arn="arn:fs-1", id="fs-1", type="efs-file-system", name="media", account="123456789012", region="eu-west-1"
)
EMR, CSI = {"aws:elasticmapreduce:job-flow-id": "j-1"}, {"efs.csi.aws.com/cluster": "true"}


DELETION = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="efs-idle", resource=FILES, owner=None, fingerprint="abc",
    setting=None, requested_by="ada", started_at=NOW, promised_monthly_usd=Decimal(1), revision=1,
)  # fmt: skip
CHANGE = replace(DELETION, setting=EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS"))
PARTS = (
    SubResource(kind="access-point", id="fsap-1", arn=None),
    SubResource(kind="file-system", id="fs-1", arn=None),
)


def objection_to(
    tags: Mapping[str, str], child: Mapping[str, str], *, deletes: bool, managed_tags: list[str] | None = None
) -> Any:
    look = CurrentState(born_at=NOW, tags=tags, parts=PARTS, held=None, size_bytes=0, children={"fsap-1": child})
    policy = Policy(limits={}, owners=OwnersSection(managed_tags=managed_tags or []))
    return objection(DELETION if deletes else CHANGE, look, policy, NOW)


@pytest.mark.parametrize("deletes", [True, False])
def test_what_another_service_manages_is_neither_deleted_nor_changed(deletes: bool) -> None:
    terraform = {"Terraform": "yes"}

    assert objection_to({}, {}, deletes=deletes) is None
    assert objection_to(EMR, {}, deletes=deletes) == "Amazon EMR cluster j-1 manages it: change it there"
    assert objection_to(terraform, {}, deletes=deletes) is None
    assert objection_to(terraform, {}, deletes=deletes, managed_tags=["terraform"]) == (
        "the program that its tag terraform names manages it: change it there"
    )


def test_what_has_something_on_it_that_another_service_manages_is_not_deleted() -> None:
    says = "{} manages fsap-1, which depends on it: change it there"

    assert objection_to({}, CSI, deletes=True) == says.format("Kubernetes")
    assert objection_to({}, {"x": "y"}, deletes=True, managed_tags=["x=y"]) == says.format(
        "the program that its tag x=y names"
    )
    assert objection_to({}, CSI, deletes=False) is None, (
        "a setting of the file system leaves its access points as they are"
    )


TAGGED = replace(
    DELETION,
    born_at=NOW,
    parts=PARTS,
    marked=Tagging(at=NOW, act_after=NOW, tagged=True),
    backups=(Backup(subject=Subject(id="fs-1", size_bytes=10), token="f-1-1-1", asked_at=NOW, expires_at=NOW),),
)
AS_FOUND = CurrentState(
    born_at=NOW, tags={CLEANUP_TAG: "f-1"}, parts=PARTS, held=None, size_bytes=10, children={"fsap-1": {}}
)
KEPT = {"keep": ""}
NEW = SubResource(kind="mount-target", id="fsmt-9", arn=None)
FOR_BOTH: dict[str, dict[str, Any]] = {
    "it is a different resource with the same id": {"born_at": NOW + timedelta(seconds=1)},
    "a tag protects it": {"tags": {CLEANUP_TAG: "f-1", **KEPT}},
    "or Slackwater could not read its tags": {"tags": None},
    "a tag protects fsap-1": {"children": {"fsap-1": KEPT}},
    "somebody removed its tag": {"tags": {}},
}
FOR_DELETIONS: dict[str, dict[str, Any]] = {
    "it is attached": {"held": "it is attached"},
    "something new depends on it: fsmt-9": {"parts": (NEW, *PARTS)},
    "something new depends on it: fsvol-9": {"children": {"fsap-1": {}, "fsvol-9": {}}},
    "it has 11 bytes, but had 10 when Slackwater made its backup": {"size_bytes": 11},
}


def checked(cleanup: Cleanup, **changes: Any) -> Any:
    return objection(cleanup, replace(AS_FOUND, **changes), Policy(limits={}), NOW)


@pytest.mark.parametrize(("why", "changes"), [*FOR_BOTH.items(), *FOR_DELETIONS.items()])
def test_nothing_is_deleted_that_is_not_as_it_was_found(why: str, changes: dict[str, Any]) -> None:
    assert checked(TAGGED) is None
    assert why in checked(TAGGED, **changes)


def test_the_tag_of_another_clean_up_does_not_count() -> None:
    assert "somebody removed its tag" in checked(TAGGED, tags={CLEANUP_TAG: "f-2"})


@pytest.mark.parametrize(("why", "changes"), FOR_BOTH.items())
def test_nothing_is_changed_that_is_not_as_it_was_found(why: str, changes: dict[str, Any]) -> None:
    changing = replace(TAGGED, setting=CHANGE.setting, backups=())

    assert checked(changing) is None
    assert why in checked(changing, **changes)
