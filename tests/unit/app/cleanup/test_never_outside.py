"""No delete call names a resource that the rules protect, for any policy, fleet and people.

The tests take the steps in order, with fakes of AWS, for every volume of a fleet, even if a run would not begin its
clean-up. They check the ids in delete calls against a second implementation of the rules.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.app.audit.scan import Audit, Sources
from slackwater.app.cleanup.back_up import BackUp
from slackwater.app.cleanup.case import Answer, Cases, NotMineError, UnsafeError
from slackwater.app.cleanup.delete import Delete
from slackwater.app.cleanup.news import CleanupNews
from slackwater.app.cleanup.recheck import NotSeenError, Rechecker
from slackwater.app.cleanup.watch import Watch
from slackwater.engine.plan import MetricCall
from slackwater.engine.registry import registry
from slackwater.model.cleanup import (
    BACKUP_OF,
    CLEANUP_TAG,
    ActorNote,
    Backup,
    Cleanup,
    Copy,
    CurrentState,
    Subject,
    SubResource,
)
from slackwater.model.detector import CASE_NOW
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Series
from slackwater.model.money import Price, PriceItem, PriceTable
from slackwater.model.object_keys import target_scan
from slackwater.model.policy import CleanupSection, Policy
from slackwater.model.posts import Sent
from slackwater.model.resources import Attachment, AttachmentEvent, Record, Target, Volume
from slackwater.model.tracking import Decision, FindingRecord, Status, TrackedFinding, TrackedResource
from slackwater.model.units import GIB
from slackwater.ports.metrics import MetricAnswer
from support.cleanup_world import MemoryCleanups, MemoryFindings
from support.effort import effort
from support.slack_world import Bucket, MemoryOutbox

ACCOUNTS, REGIONS = ("123456789012", "210987654321"), ("us-east-1", "eu-west-1")
WHO = ("slack:U0123ABCDEF", "arn:aws:iam::123456789012:user/eve")


@dataclass
class Aws:
    """A fake of AWS: volumes, their events and backups, and the ids of what was backed up and deleted."""

    volumes: dict[str, Volume]
    events: dict[str, AttachmentEvent]
    backups: dict[str, Copy]
    backed_up: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    concurrency: int = 1

    # Methods of a watcher
    def look(self, resource: TrackedResource) -> CurrentState | None:
        volume = self.volumes.get(resource.id)
        if volume is None:
            return None
        held = "it is attached" if volume.attachments else None
        part = SubResource(kind="volume", id=volume.id, arn=volume.arn)
        return CurrentState(
            born_at=volume.created_at, tags=volume.tags, parts=(part,), held=held, size_bytes=volume.size_gib * GIB
        )

    def add_tags(self, resource: TrackedResource, look: CurrentState, tags: Mapping[str, str]) -> None:
        volume = self.volumes[resource.id]
        self.volumes[resource.id] = replace(volume, tags={**(volume.tags or {}), **tags})

    def remove_tags(self, resource: TrackedResource, keys: Collection[str]) -> None:
        if volume := self.volumes.get(resource.id):
            kept = {key: value for key, value in (volume.tags or {}).items() if key not in keys}
            self.volumes[resource.id] = replace(volume, tags=None if volume.tags is None else kept)

    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        return {}

    def removal_actions(self, resource: TrackedResource, look: CurrentState) -> Mapping[str, Collection[str]]:
        return {resource.arn: ["ec2:DeleteVolume"]}

    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> list[str]:
        return []

    # Methods of a backup taker
    def subject(self, resource: TrackedResource) -> Subject:
        return Subject(id=resource.id, size_bytes=self.volumes[resource.id].size_gib * GIB)

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        self.backed_up.append(resource.id)
        return self._copy(resource, backup)

    def copies(self, resource: TrackedResource, backup: Backup) -> list[Copy]:
        return [self._copy(resource, backup)]

    def _copy(self, resource: TrackedResource, backup: Backup) -> Copy:
        size = self.volumes[resource.id].size_gib * GIB
        made = Copy(
            id=f"snap-{resource.id}", of=resource.id, state="complete", size_bytes=size, made_at=backup.asked_at
        )
        of = {BACKUP_OF: resource.arn}
        return replace(self.backups.get(resource.id, made), made_at=backup.asked_at, token=backup.token, tags=of)

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        raise AssertionError("it has no expiry")

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        return None

    # Methods of a remover
    def remove(self, resource: TrackedResource, part: SubResource, final_tags: Mapping[str, str] | None = None) -> None:
        self.deleted.append(part.id)
        del self.volumes[part.id]

    # Methods that an audit uses to read
    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        here = [one for one in self.volumes.values() if one.target == target]
        return Fleet([*here, *self.events.values()]), []

    def fetch(self, call: MetricCall) -> MetricAnswer:
        return MetricAnswer({q: Series.of(q.window.start_s, q.period_s, [None] * q.points) for q in call.queries}, {})

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        return dict.fromkeys(items, Price(Decimal("0.08"), "a test", date(2026, 9, 1))), []

    def api_calls(self) -> Mapping[str, int]:
        return {}

    def metrics_requested(self) -> int:
        return 0

    def datapoints(self) -> int:
        return 0


def some[T](*of: T) -> st.SearchStrategy[list[T]]:
    return st.lists(st.sampled_from(of), unique=True, max_size=len(of))


mostly = st.sampled_from([True] * 5 + [False])
tags = st.sampled_from(
    [{}] * 6
    + [{"keep": ""}, {"Keep": "x"}, {"keep-until": "2999-01-01"}, {"keep-until": "soon"}, {"CSIVolumeName": "pvc"}]
    + [
        {"aws:cloudformation:stack-name": "s"},
        {"aws:autoscaling:groupName": "g"},
        {"aws:backup:source-resource": "r"},
        None,
    ]
)


@st.composite
def policies(draw: st.DrawFn) -> CleanupSection:
    every = draw(mostly)
    return CleanupSection(
        accounts=list(ACCOUNTS) if every else draw(some(*ACCOUNTS)),
        regions=list(REGIONS) if every else draw(some(*REGIONS)),
        resource_types=["ebs-volume"] if every else draw(some("ebs-volume", "efs-file-system")),
        detectors=["ebs-unattached"] if every else draw(some("ebs-unattached", "ebs-idle")),
        approvers=draw(some("U0123ABCDEF")),
        approver_identities=draw(some(WHO[1])),
        grace_days=1,
    )


@st.composite
def volumes(draw: st.DrawFn) -> tuple[Volume, AttachmentEvent | None]:
    n = draw(st.integers(0, 10_000))
    target = Target(draw(st.sampled_from(ACCOUNTS)), draw(st.sampled_from(REGIONS)))
    attached = not draw(mostly)
    found = Volume(
        id=f"vol-{n}",
        arn=f"arn:aws:ec2:{target.region}:{target.account}:volume/vol-{n}",
        target=target,
        tags=draw(tags),
        volume_type="gp3",
        size_gib=draw(st.integers(20, 500)),
        iops=3_000,
        throughput_mib_s=125,
        state="in-use" if attached else "available",
        created_at=CASE_NOW - timedelta(days=200),
        availability_zone="a",
        multi_attach=False,
        attachments=(Attachment(instance_id="i-1", device="/dev/sdf", attached_at=None),) if attached else (),
    )
    days, name = draw(st.sampled_from([40, 40, 60, 2])), draw(st.sampled_from(["DetachVolume"] * 4 + ["AttachVolume"]))
    event = AttachmentEvent(id=found.id, at=CASE_NOW - timedelta(days=days), instance_id="i-9", event_name=name)
    return found, event if draw(mostly) else None


@st.composite
def decisions(draw: st.DrawFn) -> tuple[Status, Decision | None]:
    status: Status = draw(st.sampled_from(["approved"] * 6 + ["open", "snoozed", "dismissed", "resolved", "failed"]))
    if status != "approved":
        return status, None
    days = draw(st.sampled_from([30, 30, 30, 1]))
    right = draw(mostly)
    decision = Decision(
        status="approved",
        who=draw(st.sampled_from(WHO)),
        why="",
        at=CASE_NOW,
        until=CASE_NOW + timedelta(days=days),
        fingerprint="as it is" if right else "another",
    )
    return status, decision


cases = st.lists(
    st.tuples(volumes(), decisions(), mostly, mostly, st.sampled_from(["ebs-unattached"] * 4 + ["ebs-idle"])),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one[0][0].id,
)


@settings(max_examples=effort(400, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases, policies(), mostly)
def test_nothing_outside_the_rails_is_ever_deleted(some_cases: Any, section: CleanupSection, running: bool) -> None:
    cleaned(some_cases, section, running=running)


TARGET = Target(ACCOUNTS[0], REGIONS[0])
VOLUME = Volume(
    id="vol-1", arn="arn:aws:ec2:x:y:volume/vol-1", target=TARGET, tags={}, volume_type="gp3", size_gib=100, iops=3_000,
    throughput_mib_s=125, state="available", created_at=CASE_NOW - timedelta(days=200), availability_zone="a",
    multi_attach=False,
)  # fmt: skip
DETACHED = AttachmentEvent(id="vol-1", at=CASE_NOW - timedelta(days=40), instance_id="i-9", event_name="DetachVolume")
APPROVED = Decision(
    status="approved", who=WHO[0], why="", at=CASE_NOW, until=CASE_NOW + timedelta(days=30), fingerprint="as it is"
)
ALLOWED = CleanupSection(
    accounts=[ACCOUNTS[0]], regions=[REGIONS[0]], resource_types=["ebs-volume"], detectors=["ebs-unattached"],
    approvers=["U0123ABCDEF"], grace_days=1,
)  # fmt: skip
HOST = Attachment(instance_id="i-1", device="/dev/sdf", attached_at=None)


OUTDATED = "as it was"
"""The fingerprint of an approved finding that the recheck no longer finds."""


def cleaned_if(
    volume: Volume = VOLUME,
    decision: Decision = APPROVED,
    status: Status = "approved",
    section: CleanupSection = ALLOWED,
    *,
    complete: bool = True,
    backed_up: bool = True,
    running: bool = True,
) -> Aws:
    """Run the clean-up of one volume. It may be deleted unless an argument differs from its default."""
    case = ((volume, DETACHED), (status, decision), complete, backed_up, "ebs-unattached")
    return cleaned([case], section, running=running)


def test_and_something_within_them_is() -> None:
    """Positive control: the same steps delete a volume that may be deleted."""
    aws = cleaned_if()
    assert (aws.backed_up, aws.deleted) == (["vol-1"], ["vol-1"])


def test_without_its_backup_it_is_kept() -> None:
    aws = cleaned_if(backed_up=False)
    assert (aws.backed_up, aws.deleted) == (["vol-1"], [])


@pytest.mark.parametrize(
    "differs",
    [
        pytest.param({"decision": replace(APPROVED, fingerprint="another")}, id="another finding was approved"),
        pytest.param({"decision": replace(APPROVED, fingerprint=OUTDATED)}, id="it has changed since it was approved"),
        pytest.param({"decision": replace(APPROVED, who="slack:U0EVE")}, id="somebody approved who may not"),
        pytest.param({"decision": replace(APPROVED, until=CASE_NOW + timedelta(days=1))}, id="the approval lapsed"),
        pytest.param({"status": "open"}, id="nobody approved it"),
        pytest.param({"complete": False}, id="the audit was incomplete"),
        pytest.param({"running": False}, id="everything was stopped"),
        pytest.param({"volume": replace(VOLUME, tags={"keep": ""})}, id="a tag keeps it"),
        pytest.param({"volume": replace(VOLUME, tags=None)}, id="its tags are unreadable"),
        pytest.param({"volume": replace(VOLUME, tags={"aws:backup:source-resource": "r"})}, id="it was restored"),
        pytest.param({"volume": replace(VOLUME, state="in-use", attachments=(HOST,))}, id="it is attached"),
        pytest.param(
            {
                "volume": replace(VOLUME, target=Target(ACCOUNTS[1], REGIONS[0])),
                "section": ALLOWED.model_copy(update={"accounts": [*ACCOUNTS]}),
            },
            id="it is in another account than the installation",
        ),
    ],
)
def test_one_difference_is_enough_to_leave_it_alone(differs: dict[str, Any]) -> None:
    """Random cases seldom differ in only one thing, so one check could hide that another is broken."""
    aws = cleaned_if(**differs)
    assert (aws.backed_up, aws.deleted) == ([], [])


def cleaned(some_cases: Any, section: CleanupSection, *, running: bool) -> Aws:
    """Run every step for every volume, and return what was backed up and deleted."""
    limits = {"ebs-unattached": registry()["ebs-unattached"].limits()}
    policy = Policy(limits=limits, cleanup=section)
    found = {volume.id: (volume, event) for (volume, event), *_ in some_cases}
    aws = Aws(
        {id_: volume for id_, (volume, _) in found.items()},
        {id_: event for id_, (_, event) in found.items() if event},
        {},
    )
    now = [CASE_NOW]
    findings, documents = MemoryFindings(), Bucket()
    store, outbox = MemoryCleanups(findings), MemoryOutbox()
    kind = {"ebs-volume": aws}

    def audit(policy: Policy, inventory: Any) -> Audit:
        return Audit(
            registry=registry(), policy=policy, sources=lambda _: Sources(inventory, aws), prices=aws, meter=aws,
            clock=lambda: CASE_NOW, progress=lambda *_: None,
        )  # fmt: skip

    rechecker = Rechecker(
        watchers=kind, inventory=lambda resource: _One(aws, resource.id), audit=audit, clock=lambda: CASE_NOW
    )
    clean = Cases(store=store, findings=findings, clock=lambda: now[0])
    watch = Watch(
        account=ACCOUNTS[0], cases=clean, documents=documents, policy=lambda: policy, rechecker=rechecker,
        watchers=kind, permissions=aws, backup_monthly_usd=lambda *_: None,
        news=CleanupNews(outbox=outbox, clock=lambda: now[0]),
    )  # fmt: skip
    back_up = BackUp(cases=clean, policy=lambda: policy, backup_takers=kind, keys=aws, installation=lambda: "here")
    delete = Delete(
        cases=clean, policy=lambda: policy, rechecker=rechecker, backup_takers=kind, removers=kind, keys=aws
    )
    if not running:
        store.control_ = replace(store.control_, stopped=ActorNote(who="x", why="", at=CASE_NOW))
    allowed = set()
    for (volume, event), (status, decided), complete, backed_up, detector in some_cases:
        resource = TrackedResource(
            arn=volume.arn, id=volume.id, type="ebs-volume", name=volume.id, account=volume.target.account,
            region=volume.target.region,
        )  # fmt: skip
        scan = audit(policy, _One(aws, volume.id)).scan_target(volume.target, CASE_NOW)
        same = next((one for one in scan.findings if one.resource.id == volume.id), None)
        fingerprint, decision = fingerprint_and_decision(same.fingerprint if same else "none", decided)
        id_ = same.id if same else f"f-{volume.id}"
        sighting = FindingRecord(
            id=id_, detector=detector, kind="waste", severity="low", confidence="high", resource=resource, owner=None,
            summary="", monthly_savings_usd=Decimal(9), fingerprint=fingerprint, deletes=True,
        )  # fmt: skip
        findings.findings[id_] = TrackedFinding(
            sighting=sighting, status=status, decision=decision, opened_at=CASE_NOW, last_seen_at=CASE_NOW,
            resolved_at=None, audit_id=f"a-{id_}", revision=1,
        )  # fmt: skip
        targets = [{"account": resource.account, "region": resource.region, "complete": complete}]
        documents.write(
            target_scan(f"a-{id_}", resource.account, resource.region),
            json.dumps({"scan": {"targets": targets}, "findings": []}),
        )
        if not backed_up:
            size = volume.size_gib * GIB
            aws.backups[volume.id] = Copy(id="snap", of=volume.id, state="failed", size_bytes=size, made_at=CASE_NOW)
        cleanup = Cleanup(
            finding_id=id_, attempt=1, execution=f"{id_}-1", detector=detector, resource=resource, owner=None,
            fingerprint=fingerprint, setting=None, requested_by="x", started_at=CASE_NOW, promised_monthly_usd=None,
            revision=1,
        )  # fmt: skip
        if not store.write(cleanup):
            continue
        now[0] = CASE_NOW
        for step in ("load", "recheck", "mark"):
            taken(partial(watch.step, step, id_, f"{id_}-1"))
        deliver(outbox, CASE_NOW)
        now[0] = CASE_NOW + timedelta(days=2)
        for step in ("grace", "approval", "begin", "preflight"):
            taken(partial(watch.step, step, id_, f"{id_}-1"))
        for backing in ("start", "look", "verify"):
            taken(partial(back_up.step, backing, id_, f"{id_}-1"))
        taken(partial(delete.delete, id_, f"{id_}-1"))
        if may_go(volume, event, status, decision, section, complete=complete, backed_up=backed_up, detector=detector):
            allowed.add(volume.id)
    wrong = {*aws.deleted} - (allowed if running else set())
    assert not wrong, [case for case in some_cases if case[0][0].id in wrong]
    return aws


def fingerprint_and_decision(found: str, decided: Decision | None) -> tuple[str, Decision | None]:
    """Return the stored finding's fingerprint and decision.

    By default, the decision is for the finding that the scan made.
    """
    if decided and decided.fingerprint == "as it is":
        return found, replace(decided, fingerprint=found)
    if decided and decided.fingerprint == OUTDATED:
        return OUTDATED, decided
    return found, decided


def deliver(outbox: MemoryOutbox, at: datetime) -> None:
    """Mark every message as sent to Slack."""
    for post in outbox.posts.values():
        outbox.posts[post.id] = replace(post, state="sent", sent=Sent(channel="C1", ts="1.1"), sent_at=at)


def taken(step: Any) -> Answer | None:
    """Run a step, even if the step before it said to stop."""
    try:
        answer: Answer = step()
    except (NotMineError, NotSeenError, UnsafeError):
        return None
    return answer


def may_go(
    volume: Volume,
    event: AttachmentEvent | None,
    status: Status,
    decision: Decision | None,
    section: CleanupSection,
    *,
    complete: bool,
    backed_up: bool,
    detector: str,
) -> bool:
    """Return whether the rules allow the deletion. This is a second, independent implementation."""
    original = {key.lower() for key in volume.tags or {} if key != CLEANUP_TAG}
    return (
        volume.target.account in {*section.accounts} & {ACCOUNTS[0]}
        and volume.target.region in section.regions
        and "ebs-volume" in section.resource_types
        and detector in section.detectors
        and detector == "ebs-unattached"
        and complete
        and backed_up
        and volume.tags is not None
        and not original
        and not volume.attachments
        and event is not None
        and event.event_name == "DetachVolume"
        and CASE_NOW - event.at >= timedelta(days=32)
        and status == "approved"
        and decision is not None
        and decision.fingerprint not in {"another", "as it is", OUTDATED}
        and decision.until is not None
        and decision.until > CASE_NOW + timedelta(days=2)
        and (
            decision.who.removeprefix("slack:") in section.approvers
            if decision.who.startswith("slack:")
            else decision.who in section.approver_identities
        )
    )


@dataclass
class _One:
    """An inventory with one volume."""

    aws: Aws
    id: str

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        volume, event = self.aws.volumes.get(self.id), self.aws.events.get(self.id)
        return Fleet([one for one in (volume, event) if one]), []
