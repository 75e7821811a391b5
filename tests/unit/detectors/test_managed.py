"""Findings about managed resources: each detector names the manager, and no command deletes the resource."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.ownership import MANAGERS, RESTORED
from slackwater.model.resources import AttachmentEvent
from slackwater.model.verdicts import Flagged

FLAGGED = [
    pytest.param(id_, case, id=f"{id_}: {case.title}")
    for id_, detector in registry().items()
    for case in detector.cases
    if case.expect is Flagged and case.resource.tags is not None
]
DELETES = re.compile(r"\b(delete|terminate|remove)-")
RESTORED_BY_AWS = "aws:backup:source-resource"
EMR = {"aws:elasticmapreduce:job-flow-id": "j-2AXXXXXXGAPLF"}


def flagged(detector_id: str, case: Case, tags: dict[str, str], manager: str | None = None) -> Flagged:
    """Return the detector's verdict on the same resource with more tags."""
    resource = replace(case.resource, tags={**(case.resource.tags or {}), **tags}, manager=manager)
    verdict = play(registry()[detector_id], replace(case, resource=resource))
    assert isinstance(verdict, Flagged)
    return verdict


def text_of(verdict: Flagged) -> str:
    return " ".join([*verdict.caveats, *(one.summary for one in verdict.advice)])


def nothing_deletes(verdict: Flagged) -> bool:
    return not any(one.deletes or DELETES.search(one.command or "") for one in verdict.advice)


@pytest.mark.parametrize(
    ("tags", "manager", "owner"), [(EMR, None, "Amazon EMR cluster j-2AXXXXXXGAPLF"), ({}, "eks", "eks")]
)
@pytest.mark.parametrize(("detector_id", "case"), FLAGGED)
def test_the_owner_is_named_and_no_program_may_do_anything(
    detector_id: str, case: Case, tags: dict[str, str], manager: str | None, owner: str
) -> None:
    verdict = flagged(detector_id, case, tags, manager)

    if case.resource.managed_by is None:  # otherwise the case has its own manager
        assert owner in text_of(verdict)
    assert nothing_deletes(verdict)
    assert not any(one.setting for one in verdict.advice)


@pytest.mark.parametrize(("detector_id", "case"), FLAGGED)
def test_what_was_restored_from_a_backup_is_not_deleted(detector_id: str, case: Case) -> None:
    assert nothing_deletes(flagged(detector_id, case, {RESTORED_BY_AWS: "arn:aws:ec2:::volume/vol-0"}))


@pytest.mark.parametrize("tag", sorted({*RESTORED, *(key for one in MANAGERS for key in one.keys)}))
def test_each_tag_of_the_table_takes_away_the_command_that_deletes(tag: str) -> None:
    """The volume was detached two months ago. Without the tag, it may be deleted."""
    (case,) = [one for one in registry()["ebs-unattached"].cases if one.title == "detached three weeks ago"]
    event = AttachmentEvent(
        id=case.resource.id, at=CASE_NOW - timedelta(days=60), instance_id=None, event_name="DetachVolume"
    )
    forgotten = replace(case, records=(event,))

    assert not nothing_deletes(flagged("ebs-unattached", forgotten, {}))
    assert nothing_deletes(flagged("ebs-unattached", forgotten, {tag: "x"}))


def test_advice_on_what_was_restored_says_who_restored_it() -> None:
    case = next(case for case in registry()["efs-orphaned"].cases if case.expect is Flagged)

    assert "AWS Backup restored it from a backup" in text_of(flagged("efs-orphaned", case, {RESTORED_BY_AWS: "arn"}))
