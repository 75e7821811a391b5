"""Which advice a program may carry out after an approval: only deletions without doubt, and with a backup."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.resources import AttachmentEvent
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Flagged
from support.worked_cases import flagged

REMOVABLE = {"ebs-unattached", "efs-abandoned", "efs-idle", "efs-orphaned", "fsx-idle"}
UNATTACHED = ("ebs-unattached", "detached three weeks ago")
EFS = [("efs-idle", "a month of zeros"), ("efs-orphaned", "no mount target"), ("efs-abandoned", "six hours of zeros")]
FSX = [("fsx-idle", "a month of zeros")]
STACK = {"aws:cloudformation:stack-name": "shop"}


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def advised(detector_id: str, one: Case, resource: dict[str, Any] | None = None, **changes: Any) -> tuple[Advice, ...]:
    """Return the advice on a case with changes to its resource or to the case itself."""
    verdict = play(registry()[detector_id], replace(one, resource=replace(one.resource, **(resource or {})), **changes))
    assert isinstance(verdict, Flagged), verdict
    return verdict.advice


def deletes(detector_id: str, title: str, resource: dict[str, Any] | None = None, **changes: Any) -> list[bool]:
    return [advice.deletes for advice in advised(detector_id, case(detector_id, title), resource, **changes)]


def detached(days: int) -> tuple[AttachmentEvent, ...]:
    (event,) = case(*UNATTACHED).records
    assert isinstance(event, AttachmentEvent)
    return (replace(event, at=CASE_NOW - timedelta(days=days)),)


def test_only_worked_cases_without_uncertainty_may_be_deleted() -> None:
    may = {(id_, one.title) for id_, one, verdict in flagged() for advice in verdict.advice if advice.deletes}

    assert {id_ for id_, _ in may} <= REMOVABLE
    assert {*EFS, *FSX} <= may
    for id_, one, verdict in flagged():
        for advice in verdict.advice:
            where = (id_, one.title, advice.action)
            assert not advice.deletes or advice.reversible, where
            assert not advice.deletes or verdict.confidence != "low", where
            assert not advice.deletes or advice.action in {"back-up-and-delete", "snapshot-and-delete"}, where
            assert not re.search(r"\b(?:delete|terminate)-", advice.command or ""), where


@pytest.mark.parametrize(("days", "may"), [(31, False), (32, True)])
def test_an_unattached_volume_may_be_deleted_if_the_advice_deletes_it(days: int, may: bool) -> None:
    assert deletes(*UNATTACHED, records=detached(days)) == [may, False]
    for tags in (None, STACK):
        assert not any(deletes(*UNATTACHED, {"tags": tags}, records=detached(days)))


@pytest.mark.parametrize(("detector_id", "title"), [*EFS, *FSX])
def test_what_a_program_manages_or_may_be_protected_may_not_be_deleted(detector_id: str, title: str) -> None:
    tags = dict(case(detector_id, title).resource.tags or {})

    assert deletes(detector_id, title)[0]
    assert not any(deletes(detector_id, title)[1:])
    assert not any(deletes(detector_id, title, {"tags": tags | STACK}))
    if detector_id != "efs-abandoned":  # efs-abandoned requires a tag
        assert not any(deletes(detector_id, title, {"tags": None}))


@pytest.mark.parametrize(
    ("detector_id", "metric"), [("efs-idle", "MeteredIOBytes"), ("efs-abandoned", "MeteredIOBytes")]
)
def test_a_file_system_where_something_moved_may_not_be_deleted(detector_id: str, metric: str) -> None:
    one = dict(EFS)[detector_id]
    moved = {
        key: [5.0] * len(values) if key[0].name == metric else values
        for key, values in case(detector_id, one).metrics.items()
    }

    assert not any(deletes(detector_id, one, metrics=moved))


@pytest.mark.parametrize(
    "title", ["ONTAP, a month of zeros", "Windows, a month of zeros", "scratch Lustre, a month of zeros"]
)
def test_of_fsx_only_openzfs_may_be_deleted(title: str) -> None:
    assert not any(deletes("fsx-idle", title))
    assert not any(deletes("fsx-idle", title, {"deployment_type": "PERSISTENT_2"}))


@pytest.mark.parametrize(("detector_id", "title"), FSX)
def test_an_fsx_file_system_that_was_not_silent_for_a_month_may_not_be_deleted(detector_id: str, title: str) -> None:
    assert not any(deletes(detector_id, title, {"created_at": CASE_NOW - timedelta(days=14)}))
    unwatched = {
        key: [None] * 5 + list(values)[5:] if key[1] == DAY_S else values
        for key, values in case(detector_id, title).metrics.items()
    }
    assert not any(deletes(detector_id, title, metrics=unwatched))


def test_openzfs_whose_metadata_was_asked_for_may_not_be_deleted() -> None:
    assert not any(deletes("fsx-idle", "metadata operations without a client"))
