"""Requests of people about clean-ups, with fakes for the stores and the state machine."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.cleanup.cleanups import (
    Approved,
    CapError,
    Cleanups,
    NotApproverError,
    NotEnabledError,
    StoppedError,
    not_undoable,
)
from slackwater.app.findings.findings import (
    BadDecisionError,
    ChangedError,
    ConflictError,
    DecidedError,
    Findings,
    NotAllowedError,
    NotFoundError,
)
from slackwater.app.policy.file import PolicyError
from slackwater.engine.savings import Savings, realised, savings
from slackwater.model.cleanup import (
    ENDED,
    ONTAP_STAYS,
    ActorNote,
    Backup,
    Begun,
    Cleanup,
    Control,
    Observed,
    Removal,
    Restored,
    Subject,
    SubResource,
    Tagging,
)
from slackwater.model.listing import FindingQuery, Page
from slackwater.model.object_keys import target_scan
from slackwater.model.policy import CleanupSection, OwnersSection, Policy, SlackSection, UnattendedTag
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import (
    SERVICE,
    Decision,
    FindingRecord,
    LedgerEntry,
    TrackedFinding,
    TrackedResource,
    Write,
)
from slackwater.ports.errors import UnreachableError

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
DAY = timedelta(days=1)
ADA = "arn:aws:sts::123456789012:assumed-role/Ops/ada"
JOE = "arn:aws:sts::123456789012:assumed-role/Dev/joe"
ALLOWED = CleanupSection(
    accounts=["123456789012"],
    regions=["eu-west-1"],
    resource_types=["ebs-volume", "efs-file-system"],
    detectors=["ebs-unattached", "ebs-idle", "efs-abandoned"],
    approvers=["U0ADA"],
    approver_identities=["arn:aws:sts::123456789012:assumed-role/Ops"],
)
GP3 = VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)


def finding(id_: str = "f-1", status: str = "open", usd: str | None = "10.00", **changes: Any) -> TrackedFinding:
    """Return a finding about its own volume. `changes` replace fields of the finding record."""
    resource = TrackedResource(
        arn=f"arn:{id_}",
        id=f"vol-{id_}",
        type="ebs-volume",
        name=f"scratch-{id_}",
        account="123456789012",
        region="eu-west-1",
    )
    values: dict[str, Any] = {
        "id": id_, "detector": "ebs-unattached", "kind": "waste", "severity": "medium", "confidence": "high",
        "owner": "data", "summary": "on no instance", "fingerprint": "abc", "deletes": True, "resource": resource,
    }  # fmt: skip
    seen = FindingRecord(monthly_savings_usd=usd and Decimal(usd), **values | changes)
    decision = None
    if status == "approved":
        decision = Decision(
            status="approved", who=ADA, why="", at=NOW - DAY, until=NOW + 40 * DAY, fingerprint=seen.fingerprint,
            setting=seen.setting,
        )  # fmt: skip
    return TrackedFinding(
        sighting=seen, status=status, decision=decision, opened_at=NOW - 9 * DAY, last_seen_at=NOW - DAY,
        resolved_at=None, audit_id="monday", revision=1,
    )  # fmt: skip


def approved(id_: str = "f-1", **changes: Any) -> TrackedFinding:
    return finding(id_, "approved", **changes)


def abandoned(id_: str = "f-1", status: str = "open") -> TrackedFinding:
    one = finding(id_, status, detector="efs-abandoned")
    resource = replace(one.sighting.resource, type="efs-file-system")
    return replace(one, sighting=replace(one.sighting, resource=resource))


def cleanup(id_: str = "f-1", **changes: Any) -> Cleanup:
    seen = finding(id_).sighting
    return replace(
        Cleanup(
            finding_id=id_, attempt=1, execution=f"{id_}-1", detector=seen.detector, resource=seen.resource, owner=None,
            fingerprint="abc", setting=None, requested_by=ADA, started_at=NOW - DAY, promised_monthly_usd=Decimal(10),
            revision=3,
        ),
        **changes,
    )  # fmt: skip


@dataclass
class FindingStore:
    findings: dict[str, TrackedFinding] = field(default_factory=dict)
    entries: list[LedgerEntry] = field(default_factory=list)

    def get(self, id: str) -> TrackedFinding | None:
        return self.findings.get(id)

    def write(self, write: Write) -> bool:
        known = self.findings[write.finding.id]
        if known.revision != write.expects:
            return False
        self.findings[known.id] = write.finding
        if write.entry:
            self.entries.append(write.entry)
        return True

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        """Return two findings a page, so that a caller who wants all must follow the cursor."""
        fit = [
            one
            for one in self.findings.values()
            if one.status == query.status and query.detector in {None, one.sighting.detector}
        ]
        start = int(query.cursor or 0)
        return Page(items=tuple(fit[start : start + 2]), cursor=str(start + 2) if start + 2 < len(fit) else None)

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        return iter(one for one in self.entries if one.evidence.id == id)


@dataclass
class CleanupStore:
    """A CleanupStore in memory.

    Functions in `rivals` and `rival_runs` run right before the next write of their kind.
    """

    cleanups: dict[str, Cleanup] = field(default_factory=dict)
    switch: Control = field(default_factory=Control)
    rivals: "list[Callable[[CleanupStore], None]]" = field(default_factory=list)
    rival_runs: "list[Callable[[CleanupStore], None]]" = field(default_factory=list)
    writes: int = 0

    def get(self, finding_id: str) -> Cleanup | None:
        return self.cleanups.get(finding_id)

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        if self.rivals:
            self.rivals.pop(0)(self)
        known = self.cleanups.get(cleanup.finding_id)
        others = {
            one.resource.arn for one in self.cleanups.values() if not one.ended and one.finding_id != cleanup.finding_id
        }
        if cleanup.revision != (known.revision if known else 0) + 1 or (
            not cleanup.ended and cleanup.resource.arn in others
        ):
            return False
        self.cleanups[cleanup.finding_id] = cleanup
        self.writes += 1
        return True

    def holder(self, arn: str) -> str | None:
        return next(
            (one.finding_id for one in self.cleanups.values() if not one.ended and one.resource.arn == arn), None
        )

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        return Page(items=tuple(self.cleanups.values())[:limit], cursor=cursor)

    def control(self) -> Control:
        return self.switch

    def write_control(self, control: Control) -> bool:
        if self.rival_runs:
            self.rival_runs.pop(0)(self)
        if control.revision != self.switch.revision + 1:
            return False
        self.switch = control
        return True


@dataclass
class Starter:
    """Executions by name. Each name starts once. The next `down` calls fail."""

    started: dict[str, str] = field(default_factory=dict)
    undone: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    down: int = 0
    ended: set[str] = field(default_factory=set)
    silent: bool = False

    def state(self, execution: str, *, undo: bool = False) -> str:
        if self.silent:
            raise UnreachableError("nobody says")
        if execution in self.ended:
            return "ended"
        return "running" if execution in (self.undone if undo else self.started) else "none"

    def start(self, finding_id: str, execution: str) -> None:
        self._call()
        self.started.setdefault(execution, finding_id)

    def undo(self, finding_id: str, execution: str) -> None:
        self._call()
        self.undone.setdefault(execution, finding_id)

    def _call(self) -> None:
        self.calls += 1
        if self.down:
            self.down -= 1
            raise UnreachableError("nothing answers")


class World:
    """Everything that the use cases need."""

    def __init__(
        self, *findings: TrackedFinding, cleanup: CleanupSection = ALLOWED, enabled: bool = True, own: str | None = None
    ) -> None:
        self.findings = FindingStore({one.id: one for one in findings})
        self.store = CleanupStore()
        self.starter = Starter()
        self.cleanup = cleanup
        self.complete = True
        self.kept = True
        self.tags: dict[str, str] | None = {}
        self.recommendations: list[dict[str, Any]] = []
        self.deciders: list[str] = []
        self.broken: Exception | None = None
        self.breaches: list[tuple[str, int, CleanupSection]] = []
        self.reads: list[str] = []
        self.policies_read = 0
        self.managed_tags: list[str] = []
        self.use = Cleanups(
            store=self.store,
            findings=Findings(store=self.findings, documents=self),
            starter=self.starter if enabled else None,
            policy=self._policy,
            account=own,
            breached=lambda why, wanted, policy: self.breaches.append((why, wanted, policy.cleanup)),
        )

    def _policy(self) -> Policy:
        if self.broken:
            raise self.broken
        self.policies_read += 1
        owners = OwnersSection(managed_tags=self.managed_tags)
        return Policy(limits={}, cleanup=self.cleanup, slack=SlackSection(deciders=self.deciders), owners=owners)

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        assert key == target_scan("monday", "123456789012", "eu-west-1")
        self.reads.append(key)
        document = {
            "scan": {"targets": [{"account": "123456789012", "region": "eu-west-1", "complete": self.complete}]},
            "findings": [
                {
                    "id": one.id,
                    "resource": {"tags": self.tags},
                    "monthly_savings_usd": str(one.sighting.monthly_savings_usd),
                    "recommendations": self.recommendations,
                }
                for one in self.findings.findings.values()
            ],
        }
        return (json.dumps(document), "1") if self.kept else None

    def run(self, *ids: str, who: str = ADA) -> dict[str, tuple[str, str]]:
        return {one.finding.id: (one.state, one.why) for one in self.use.run(ids or None, who=who, now=NOW)}

    def plan(self, *ids: str) -> dict[str, tuple[str, str]]:
        return {one.finding.id: (one.state, one.why) for one in self.use.plan(ids or None, now=NOW).candidates}

    def approve(self, id_: str = "f-1", who: str = ADA, fingerprint: str | None = None) -> Approved:
        return self.use.approve(id_, who=who, fingerprint=fingerprint, now=NOW)


# -- Running


OWN = "210987654321"
NOT_HERE = f"clean-up works only in account {OWN}, where Slackwater is deployed"


def test_what_is_in_another_account_is_not_begun_whatever_the_policy_names() -> None:
    world = World(approved(), own=OWN)

    assert world.plan("f-1") == world.run("f-1") == world.run() == {"f-1": ("refused", NOT_HERE)}
    assert (world.store.cleanups, world.starter.calls) == ({}, 0)


def test_another_account_is_the_reason_that_no_policy_helps_against() -> None:
    world = World(finding(), own=OWN, cleanup=CleanupSection())

    assert world.plan("f-1") == {"f-1": ("refused", NOT_HERE)}


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("fingerprint", [None, "abc"])
def test_what_is_in_another_account_is_not_approved(fingerprint: str | None, enabled: bool) -> None:
    world = World(finding(), own=OWN, enabled=enabled)

    with pytest.raises(NotAllowedError, match=NOT_HERE):
        world.approve(fingerprint=fingerprint)

    assert (world.findings.findings["f-1"].status, world.findings.entries) == ("open", [])


def test_ontap_is_not_approved_and_the_plan_says_so() -> None:
    """The findings of older versions say that ONTAP file systems may be deleted."""
    world = World(finding(detector="fsx-idle", summary="FSx for NetApp ONTAP, 1,024 GiB", deletes=True))

    with pytest.raises(NotAllowedError, match=f"^{ONTAP_STAYS}$"):
        world.approve()

    assert world.plan("f-1") == world.run("f-1") == {"f-1": ("refused", ONTAP_STAYS)}
    assert (world.findings.findings["f-1"].status, world.findings.entries) == ("open", [])
    assert (world.store.cleanups, world.starter.calls) == ({}, 0)


def test_what_is_in_the_own_account_is_approved_and_begun() -> None:
    approval = World(finding(), own="123456789012").approve()

    assert approval.finding.status == "approved"
    assert approval.candidate
    assert approval.candidate.state == "begun"


@pytest.mark.parametrize(
    ("tags", "managed_tags", "owner"),
    [
        ({"aws:elasticmapreduce:job-flow-id": "j-1"}, [], "Amazon EMR cluster j-1"),
        ({"ManagedBy": "terraform"}, ["ManagedBy=terraform"], "the program that its tag ManagedBy=terraform names"),
    ],
)
def test_what_another_service_manages_is_never_begun(tags: dict[str, str], managed_tags: list[str], owner: str) -> None:
    """This also holds if the tag was added to the policy after the audit, so that an approval was possible."""
    world = World(finding())
    world.tags, world.managed_tags = tags, managed_tags
    approval = world.approve()

    why = f"{owner} manages it: change it there"
    assert approval.candidate
    assert (approval.candidate.state, approval.candidate.why) == ("refused", why)
    assert world.plan() == world.run() == {"f-1": ("refused", why)}
    assert (world.store.cleanups, world.starter.calls) == ({}, 0)

    world.tags = {"ManagedBy": "jane"}
    assert world.plan() == {"f-1": ("ready", "")}


@pytest.mark.parametrize("enabled", [True, False])
def test_an_approval_reads_the_policy_once(enabled: bool) -> None:
    world = World(finding(), enabled=enabled)

    world.approve()

    assert world.policies_read == 1


def test_an_approval_that_the_policy_does_not_allow_reads_it_once() -> None:
    world = World(finding())

    with pytest.raises(NotApproverError):
        world.approve(who="slack:U0EVE")

    assert world.policies_read == 1


def test_a_target_is_read_once_for_all_of_its_findings() -> None:
    world = World(approved("f-1"), approved("f-2"), approved("f-3"))

    world.plan()

    assert len(world.reads) == 1


def test_a_run_puts_what_is_approved_on_record_and_starts_it_and_nothing_else() -> None:
    world = World(
        approved("f-1"), approved("f-2", usd=None), finding("f-3"), approved("f-4", setting=GP3), approved("f-5")
    )

    assert world.run() == dict.fromkeys(("f-1", "f-2", "f-4", "f-5"), ("begun", ""))

    assert world.starter.started == {f"{id_}-1": id_ for id_ in ("f-1", "f-2", "f-4", "f-5")}
    first = world.findings.findings["f-1"].sighting
    assert world.store.cleanups["f-1"] == Cleanup(
        finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached", resource=first.resource,
        owner="data", fingerprint="abc", setting=None, requested_by=ADA, started_at=NOW,
        promised_monthly_usd=Decimal("10.00"), approved_by=ADA, revision=1,
    )  # fmt: skip
    assert world.store.cleanups["f-4"].setting == GP3
    assert world.store.cleanups["f-2"].promised_monthly_usd is None
    assert world.store.switch.begun == tuple(
        Begun(finding_id=id_, at=NOW, monthly_usd=usd)
        for id_, usd in (("f-1", Decimal("10.00")), ("f-2", None), ("f-4", Decimal("10.00")), ("f-5", Decimal("10.00")))
    )


def test_a_run_of_some_begins_only_those() -> None:
    world = World(approved("f-1"), approved("f-2"))

    assert world.run("f-2", "f-2") == {"f-2": ("begun", "")}
    with pytest.raises(NotFoundError, match="f-9"):
        world.run("f-1", "f-9")
    assert [*world.store.cleanups] == ["f-2"]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (finding(), "nobody has approved it. To approve it: `slackwater cleanup approve f-1`"),
        (finding(status="resolved"), "the finding is resolved"),
        (finding(status="cleaning"), "the finding is cleaning"),
        (finding(status="failed"), "the finding is failed: run `slackwater findings reopen f-1` first"),
        (
            approved(deletes=False),
            (
                "Slackwater cannot carry out this finding's recommendation: do it yourself. For details: "
                "`slackwater findings show f-1`"
            ),
        ),
        (approved(detector="fsx-idle", summary="FSx for NetApp ONTAP, 1,024 GiB"), ONTAP_STAYS),
        (approved(confidence="low"), "the finding's confidence is low"),
        (approved(detector="efs-idle"), "the policy's cleanup.detectors does not name efs-idle"),
        (
            replace(approved(), decision=replace(approved().decision, until=NOW)),
            "the approval expired at 2026-11-16 09:07 UTC. To renew it: `slackwater cleanup approve f-1`",
        ),
        (
            replace(approved(), decision=replace(approved().decision, fingerprint="old")),
            "it has changed since it was approved: run `slackwater findings reopen f-1`, then approve it again",
        ),
        (
            replace(approved(setting=GP3), decision=replace(approved().decision, setting=replace(GP3, iops=4000))),
            "it has changed since it was approved: run `slackwater findings reopen f-1`, then approve it again",
        ),
        (
            replace(approved(), decision=replace(approved().decision, who=JOE)),
            (
                f"the policy no longer names {JOE}, who approved it: run `slackwater findings reopen f-1`, "
                "then approve it again"
            ),
        ),
        (
            replace(
                finding(status="snoozed"), decision=Decision(status="snoozed", who=JOE, why="", at=NOW, until=None)
            ),
            f"the finding is snoozed by {JOE}",
        ),
    ],
)  # fmt: skip
def test_what_may_not_be_begun_is_listed_with_the_reason(one: TrackedFinding, why: str) -> None:
    world = World(one)

    assert world.plan("f-1") == world.run("f-1") == {"f-1": ("refused", why)}
    assert (world.store.cleanups, world.starter.calls, world.store.switch) == ({}, 0, Control())


def test_nothing_is_built_on_an_audit_that_did_not_see_everything_or_is_not_kept() -> None:
    world = World(approved())
    world.complete = False
    assert world.run() == {"f-1": ("refused", "audit monday is incomplete in eu-west-1: run a complete one first")}
    world.kept = False
    assert world.run() == {"f-1": ("refused", "the results of audit monday have expired: run a new audit")}
    assert world.starter.calls == 0


def test_a_resource_is_in_one_clean_up_at_a_time() -> None:
    one, other = approved("f-1"), approved("f-2")
    same = replace(other, sighting=replace(other.sighting, resource=one.sighting.resource, detector="ebs-idle"))
    world = World(one, same)

    assert world.run()["f-2"] == ("refused", "the clean-up of finding f-1 starts first, on the same resource")
    held = ("refused", "the clean-up of finding f-1 is working on the same resource")
    assert world.plan("f-2")["f-2"] == world.run("f-2")["f-2"] == held
    assert [one.finding_id for one in world.store.switch.begun] == ["f-1"]
    assert [*world.starter.started] == ["f-1-1"]


def test_a_clean_up_that_somebody_else_starts_at_the_same_time_is_not_started_twice() -> None:
    one, other = approved("f-1"), approved("f-2")
    same = replace(other, sighting=replace(other.sighting, resource=one.sighting.resource))
    world = World(one, same)
    held = cleanup("f-2", resource=one.sighting.resource, revision=1)
    world.store.rivals.append(lambda store: store.cleanups.update({"f-2": held}))

    assert world.run("f-1") == {"f-1": ("refused", "the clean-up of finding f-2 is working on the same resource")}

    world = World(one)
    world.store.rivals.append(lambda store: store.cleanups.update({"f-1": cleanup(revision=1)}))
    assert world.run("f-1") == {"f-1": ("refused", "another run started it first")}
    assert world.starter.calls == 0


# -- The cap


def section(**changes: Any) -> CleanupSection:
    return ALLOWED.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"most_resources": 2},
            "3 clean-ups in 24 hours: the policy's cleanup.most_resources allows 2",
        ),
        (
            {"most_monthly_usd": 29.99},
            "30.00 USD a month of clean-ups in 24 hours: the policy's cleanup.most_monthly_usd allows 29.99",
        ),
    ],
)
def test_over_the_cap_by_one_nothing_at_all_is_begun(changes: dict[str, Any], why: str) -> None:
    world = World(*(approved(f"f-{n}") for n in range(3)), cleanup=section(**changes))

    with pytest.raises(CapError, match=f"^no clean-up started: {why}$"):
        world.run()

    assert (world.store.cleanups, world.starter.calls, world.store.switch) == ({}, 0, Control())
    assert world.breaches == [(why, 3, world.cleanup)]
    plan = world.use.plan(now=NOW)
    assert (plan.over_cap, [one.state for one in plan.candidates]) == (why, ["ready"] * 3)


@pytest.mark.parametrize("changes", [{"most_resources": 3}, {"most_monthly_usd": 30}])
def test_at_the_cap_all_of_it_is_begun(changes: dict[str, Any]) -> None:
    world = World(*(approved(f"f-{n}") for n in range(3)), cleanup=section(**changes))

    assert {state for state, _ in world.run().values()} == {"begun"}
    assert world.breaches == []


def test_many_small_runs_are_one_large_one() -> None:
    world = World(approved("f-1"), approved("f-2"), approved("f-3"), cleanup=section(most_resources=2))
    world.run("f-1")
    world.run("f-2")

    with pytest.raises(CapError, match=r"3 clean-ups in 24 hours \(2 of them started already\)"):
        world.run("f-3")

    later = world.use.run(["f-3"], who=ADA, now=NOW + DAY)
    assert [one.state for one in later] == ["begun"]
    assert [one.finding_id for one in world.store.switch.begun] == ["f-3"]


def test_two_runs_at_once_cannot_both_pass_under_the_cap() -> None:
    world = World(approved("f-1"), approved("f-2"), cleanup=section(most_resources=1))
    world.store.rival_runs.append(lambda _: world.run("f-2"))

    with pytest.raises(CapError, match=r"2 clean-ups in 24 hours \(1 of them started already\)"):
        world.run("f-1")

    assert [*world.starter.started] == ["f-2-1"]


def test_two_runs_of_the_same_at_once_begin_it_once() -> None:
    world = World(approved("f-1"), cleanup=section(most_resources=1))
    world.store.rival_runs.append(lambda _: world.run("f-1"))

    assert world.run("f-1") == {"f-1": ("begun", "")}

    assert [*world.starter.started] == ["f-1-1"]
    assert world.store.cleanups["f-1"].revision == 1


def test_a_run_that_keeps_losing_races_starts_nothing() -> None:
    world = World(approved())

    def rival(store: CleanupStore) -> None:
        store.switch = replace(store.switch, revision=store.switch.revision + 1)

    world.store.rival_runs = [rival] * 4

    with pytest.raises(ConflictError, match="no clean-up started: other requests"):
        world.run()
    assert (world.store.cleanups, world.starter.calls) == ({}, 0)


def test_an_empty_run_counts_for_nothing() -> None:
    world = World(finding())

    assert world.run() == {}
    assert world.store.switch == Control()


# -- Starting again after a failure


def test_what_was_not_started_is_on_record_and_the_next_run_starts_it_under_the_same_name() -> None:
    world = World(approved("f-1"), approved("f-2"))
    world.starter.down = 1

    came = world.run()

    assert came["f-1"] == (
        "failed",
        "AWS did not confirm the start. If it did not start, the next run starts it: nothing answers",
    )
    assert came["f-2"] == ("begun", "")
    world.store.cleanups["f-2"] = replace(world.store.cleanups["f-2"], stage="waiting")
    assert world.plan()["f-1"][0] == "ready"
    assert world.run()["f-1"] == ("begun", "")
    assert world.starter.started == {"f-1-1": "f-1", "f-2-1": "f-2"}
    assert world.store.writes == 2
    assert [one.finding_id for one in world.store.switch.begun] == ["f-2", "f-1"]


@pytest.mark.parametrize(("stage", "words"), [("waiting", "waiting"), ("working", "running"), ("undoing", "undoing")])
def test_what_is_under_way_is_not_begun_again(stage, words: str) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage)

    assert world.run() == {
        "f-1": (
            "under-way",
            f"its clean-up started at 2026-11-15 09:07 UTC, and its stage is now: {words}",
        )
    }
    assert (world.starter.calls, world.store.writes) == (0, 0)


def test_a_tagged_resource_has_the_time_after_which_clean_up_may_act() -> None:
    world = World(approved())
    acts = NOW + 29 * DAY
    world.store.cleanups["f-1"] = cleanup(stage="waiting", marked=Tagging(at=NOW - DAY, act_after=acts))

    (one,) = world.use.plan(now=NOW).candidates

    assert (one.state, one.acts_after) == ("under-way", acts)
    assert one.why == "the resource is tagged. Slackwater can delete it after 2026-12-15 09:07 UTC"


def test_after_one_has_ended_the_next_attempt_has_a_name_of_its_own() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="undone", attempt=4, execution="f-1-4", ended_at=NOW - 9 * DAY)

    assert world.run() == {"f-1": ("begun", "")}

    begun = world.store.cleanups["f-1"]
    assert (begun.attempt, begun.execution, begun.revision, begun.stage) == (5, "f-1-5", 4, "starting")


HALF = (Removal(part=SubResource(kind="mount-target", id="fsmt-1", arn=None), asked_at=NOW),)


@pytest.mark.parametrize(
    ("stage", "changes", "state"),
    [
        ("failed", {"removals": HALF}, "refused"),
        ("called-off", {"removals": HALF, "ended_at": NOW - 9 * DAY}, "refused"),
        ("called-off", {"removals": HALF, "ended_at": NOW - 9 * DAY, "restored": Restored(state="running")}, "refused"),
        ("called-off", {"removals": HALF, "ended_at": NOW - 9 * DAY, "restored": Restored(state="done")}, "begun"),
        ("failed", {}, "begun"),
        ("done", {"changed_at": NOW}, "begun"),
    ],
)
def test_a_clean_up_that_ended_half_done_has_to_be_undone_before_another(stage, changes, state) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage, **changes)

    came, why = world.run()["f-1"]

    assert came == state
    if state == "refused":
        assert (
            why == "its last clean-up ended after it had deleted or changed a part of it. Undo that first: "
            "`slackwater cleanup undo f-1`"
        )


def test_an_approval_is_good_for_one_clean_up() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="called-off", ended_at=NOW - timedelta(hours=1), why="it was used")

    state, why = world.run()["f-1"]

    assert state == "refused"
    assert why.startswith(
        "the approved clean-up was cancelled at 2026-11-16 08:07 UTC (it was used): run `slackwater findings reopen"
    )
    world.store.cleanups["f-1"] = cleanup(stage="called-off", ended_at=NOW - 2 * DAY, why="it was used")
    assert world.run() == {"f-1": ("begun", "")}


@pytest.mark.parametrize("field_", ["stopped", "undone"])
def test_what_a_person_stopped_or_undid_needs_an_approval_of_its_own(field_: str) -> None:
    note = ActorNote(who=JOE, why="", at=NOW - timedelta(hours=1))
    world = World(approved("f-1"), abandoned("f-2"), cleanup=section(unattended=[UnattendedTag(tag="Job")]))
    world.tags = {"Job": "encode"}
    for id_ in ("f-1", "f-2"):
        world.store.cleanups[id_] = cleanup(id_, stage="undone", ended_at=NOW, **{field_: note})

    came = world.run()

    assert came["f-1"][0] == came["f-2"][0] == "refused"
    assert came["f-1"][1].startswith(f"{JOE} stopped or undid it at 2026-11-16 08:07 UTC, after the approval")
    assert came["f-2"][1] == f"{JOE} stopped or undid it at 2026-11-16 08:07 UTC, so it needs an approval now"
    again = world.findings.findings["f-1"]
    world.findings.findings["f-1"] = replace(again, decision=replace(again.decision, at=NOW))
    assert world.run("f-1") == {"f-1": ("begun", "")}


# -- Unattended clean-ups, without an approval


def test_what_the_policy_lets_go_unattended_is_begun_without_an_approval() -> None:
    rule = UnattendedTag(tag="Job=encode", grace_hours=6)
    world = World(
        abandoned("f-1"), abandoned("f-2"), abandoned("f-3"), finding("f-4"), cleanup=section(unattended=[rule])
    )
    world.tags = {"Job": "encode"}

    came = world.use.run(who=SERVICE, now=NOW)

    assert [(one.finding.id, one.state, one.acts_after) for one in came] == [
        (f"f-{n}", "begun", NOW + timedelta(hours=6)) for n in (1, 2, 3)
    ]
    begun = world.store.cleanups["f-1"]
    assert (begun.unattended, begun.scratch, begun.approved_by, begun.requested_by) == (True, False, None, SERVICE)


@pytest.mark.parametrize("tags", [{"Job": "report"}, {}, None])
def test_without_the_tag_it_needs_one(tags) -> None:
    world = World(abandoned(), cleanup=section(unattended=[UnattendedTag(tag="Job=encode")]))
    world.tags = tags

    assert world.run(who=SERVICE) == {
        "f-1": ("refused", "nobody has approved it. To approve it: `slackwater cleanup approve f-1`")
    }


def test_data_are_scratch_only_where_the_policy_says_so() -> None:
    rule = UnattendedTag(tag="Job", its_data_is_scratch_and_needs_no_backup=True)
    world = World(abandoned(), cleanup=section(unattended=[rule]))
    world.tags = {"Job": "encode"}

    (one,) = world.use.run(who=SERVICE, now=NOW)

    assert (one.scratch, one.backup_monthly_usd, world.store.cleanups["f-1"].scratch) == (True, Decimal(0), True)


def test_no_other_detectors_findings_go_unattended() -> None:
    world = World(finding(), cleanup=section(unattended=[UnattendedTag(tag="Job")]))
    world.tags = {"Job": "encode"}

    assert world.run("f-1")["f-1"][0] == "refused"


# -- Planning


def test_a_plan_begins_nothing_and_says_what_it_would_save_and_when() -> None:
    world = World(approved("f-1"), approved("f-2", setting=GP3))
    world.recommendations = [
        {"action": "snapshot-and-delete", "monthly_savings_usd": "10.00"},
        {"action": "keep-as-snapshot", "monthly_savings_usd": "4.50"},
    ]

    plan = world.use.plan(now=NOW)

    deletes, changes = plan.candidates
    assert (deletes.state, deletes.acts_after, deletes.backup_monthly_usd) == ("ready", NOW + 30 * DAY, Decimal("5.50"))
    assert deletes.net_monthly_usd == Decimal("4.50")
    assert (changes.acts_after, changes.backup_monthly_usd, changes.net_monthly_usd) == (
        NOW,
        Decimal(0),
        Decimal("10.00"),
    )
    assert (plan.enabled, plan.stopped, plan.over_cap) == (True, None, None)
    assert (world.store.cleanups, world.store.switch, world.starter.calls) == ({}, Control(), 0)


def test_what_a_backup_costs_is_unknown_where_the_audit_did_not_price_it() -> None:
    world = World(approved("f-1"), approved("f-2", usd=None))
    world.recommendations = [{"action": "keep-as-snapshot", "monthly_savings_usd": None}]

    assert [(one.backup_monthly_usd, one.net_monthly_usd) for one in world.use.plan(now=NOW).candidates] == [
        (None, None)
    ] * 2


def test_a_plan_needs_no_state_machine_and_no_permission_and_reports_what_is_missing() -> None:
    world = World(approved(), enabled=False)
    world.store.switch = Control(stopped=ActorNote(who=ADA, why="", at=NOW))

    plan = world.use.plan(now=NOW)

    assert (plan.enabled, plan.stopped.who, [one.state for one in plan.candidates]) == (False, ADA, ["ready"])
    with pytest.raises(NotFoundError):
        world.use.plan(["f-9"], now=NOW)


# -- Permissions


@pytest.mark.parametrize("who", [JOE, "slack:U0JOE", "arn:aws:sts::123456789012:assumed-role/Ops2/ada", "ada"])
def test_people_that_the_policy_does_not_name_can_do_nothing(who: str) -> None:
    world = World(finding("f-1"), approved("f-2"))
    world.store.cleanups["f-3"] = cleanup("f-3", stage="waiting")
    world.store.cleanups["f-4"] = cleanup("f-4", stage="done", removals=HALF)
    before = dict(world.store.cleanups)

    for refused in (
        lambda: world.approve("f-1", who=who),
        lambda: world.run(who=who),
        lambda: world.use.stop("f-3", who=who, now=NOW),
        lambda: world.use.undo("f-4", who=who, now=NOW),
        lambda: world.use.stop_all(who=who, now=NOW),
        lambda: world.use.resume(who=who),
    ):
        with pytest.raises(NotAllowedError, match=r"policy's cleanup\.approver"):
            refused()

    assert (world.store.cleanups, world.store.switch, world.starter.calls) == (before, Control(), 0)
    assert world.findings.findings["f-1"].status == "open"


def test_members_of_slack_are_named_as_such() -> None:
    world = World(finding())

    assert world.approve(who="slack:U0ADA").candidate.state == "begun"
    with pytest.raises(NotAllowedError, match=r"cleanup\.approvers does not name U0JOE"):
        world.approve(who="slack:U0JOE")


# -- Approving


def test_an_approval_is_stored_and_its_clean_up_begun() -> None:
    world = World(finding())

    came = world.approve(fingerprint="abc")

    assert (came.finding.status, came.finding.decision.who, came.finding.decision.fingerprint) == (
        "approved",
        ADA,
        "abc",
    )
    assert came.finding.decision.until == NOW + (30 + 7) * DAY
    assert came.candidate.state == "begun"
    assert world.store.cleanups["f-1"].approved_by == ADA
    assert [entry.happening for entry in world.findings.entries] == ["approved"]


def test_an_approval_of_a_change_waits_for_no_grace_and_names_the_setting() -> None:
    world = World(finding(setting=GP3, deletes=False))

    decision = world.approve().finding.decision

    assert (decision.until, decision.setting) == (NOW + 7 * DAY, GP3)


def test_an_approval_of_a_tagged_resource_lasts_from_the_day_clean_up_may_act() -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = cleanup(stage="waiting", marked=Tagging(at=NOW - 20 * DAY, act_after=NOW + 10 * DAY))

    came = world.approve()

    assert came.finding.decision.until == NOW + 17 * DAY
    assert (came.candidate.state, world.starter.calls) == ("under-way", 0)


def test_the_tag_of_an_ended_clean_up_counts_for_nothing() -> None:
    world = World(finding())
    marked = Tagging(at=NOW - 90 * DAY, act_after=NOW - 60 * DAY)
    world.store.cleanups["f-1"] = cleanup(stage="called-off", marked=marked, ended_at=NOW - 9 * DAY)

    assert world.approve().finding.decision.until == NOW + 37 * DAY


def test_what_is_not_what_was_seen_is_not_approved() -> None:
    world = World(finding())

    with pytest.raises(ChangedError):
        world.approve(fingerprint="old")
    assert world.findings.findings["f-1"].status == "open"


def test_if_nothing_can_be_started_the_approval_is_valid_and_the_answer_says_why() -> None:
    world = World(finding(), cleanup=section(most_monthly_usd=1))
    came = world.approve()
    assert (came.finding.status, came.candidate.state) == ("approved", "refused")
    assert came.candidate.why.startswith("no clean-up started: 10.00 USD a month of clean-ups in 24 hours")
    assert world.breaches

    world = World(finding())
    world.store.switch = Control(stopped=ActorNote(who=JOE, why="moving house", at=NOW))
    assert world.approve().candidate.why == (
        f"no clean-up started: {JOE} stopped all clean-ups at 2026-11-16 09:07 UTC: moving house;"
        " `slackwater cleanup stop --all --lift` allows them again"
    )
    assert world.starter.calls == 0


def test_approved_again_by_the_same_person_it_is_begun_if_it_was_not() -> None:
    world = World(finding())
    world.starter.down = 1
    assert world.approve().candidate.state == "failed"

    assert world.approve().candidate.state == "begun"

    assert [entry.happening for entry in world.findings.entries] == ["approved"]
    with pytest.raises(DecidedError):
        world.approve(who="slack:U0ADA")


def test_where_clean_up_is_not_enabled_an_approval_is_only_stored() -> None:
    world = World(finding(), enabled=False)

    came = world.approve()

    assert (came.finding.status, came.candidate, world.store.cleanups) == ("approved", None, {})
    for asked in (world.run, lambda: world.use.undo("f-1", who=ADA, now=NOW)):
        with pytest.raises(NotEnabledError, match="CleanupEnabled=true"):
            asked()


# -- Stopping


def test_deciders_may_stop_clean_ups_but_not_resume_them() -> None:
    world = World(approved())
    world.deciders = ["U0JOE"]
    world.store.cleanups["f-1"] = cleanup(stage="waiting")

    assert world.use.stop("f-1", who="slack:U0JOE", now=NOW).stopped == ActorNote(who="slack:U0JOE", why="", at=NOW)
    assert world.use.stop_all(who="slack:U0JOE", now=NOW).who == "slack:U0JOE"
    for refused in (lambda: world.use.resume(who="slack:U0JOE"), lambda: world.run(who="slack:U0JOE")):
        with pytest.raises(NotAllowedError, match=r"cleanup\.approvers does not name U0JOE"):
            refused()
    with pytest.raises(NotAllowedError, match=r"cleanup\.approvers and slack\.deciders do not name U0EVE"):
        world.use.stop_all(who="slack:U0EVE", now=NOW)
    with pytest.raises(NotAllowedError, match=r"cleanup\.approver_identities does not name U0JOE"):
        world.use.stop_all(who="U0JOE", now=NOW)  # the identity in a token is never a Slack member


@pytest.mark.parametrize("error", [PolicyError([]), UnreachableError("s3")])
def test_a_policy_that_cannot_be_read_keeps_nobody_from_stopping_and_lets_nobody_go_on(error) -> None:
    world = World(approved())
    world.broken = error
    world.store.cleanups["f-1"] = cleanup(stage="waiting")
    world.store.cleanups["f-2"] = cleanup("f-2", stage="done", removals=HALF)

    assert world.use.stop("f-1", who=JOE, now=NOW).stopped.who == JOE
    assert world.use.stop_all(who=JOE, now=NOW).who == JOE
    for refused in (
        lambda: world.use.resume(who=ADA),
        lambda: world.use.undo("f-2", who=ADA, now=NOW),
    ):
        with pytest.raises(type(error)):
            refused()
    assert world.store.switch.stopped


def test_stopped_all_nothing_begins_until_somebody_lets_it() -> None:
    world = World(approved())
    note = world.use.stop_all(who=ADA, why=" moving house ", now=NOW)
    assert note == ActorNote(who=ADA, why="moving house", at=NOW)
    assert world.use.stop_all(who="slack:U0ADA", now=NOW + DAY) == note

    with pytest.raises(StoppedError, match="moving house"):
        world.run()
    with pytest.raises(StoppedError):
        world.run(who=SERVICE)

    assert (world.store.cleanups, world.starter.calls) == ({}, 0)
    assert world.use.resume(who="slack:U0ADA") == note
    assert world.use.resume(who=ADA) is None
    assert world.run() == {"f-1": ("begun", "")}


def test_what_was_counted_stays_counted_when_all_are_stopped_and_let_go_on() -> None:
    world = World(approved())
    world.run()
    counted = world.store.switch.begun

    world.use.stop_all(who=ADA, now=NOW)
    world.use.resume(who=ADA)

    assert (world.store.switch.begun, world.store.switch.stopped) == (counted, None)


def test_a_run_that_somebody_stops_all_in_the_midst_of_begins_nothing() -> None:
    world = World(approved())
    world.store.rival_runs.append(lambda _: world.use.stop_all(who=ADA, now=NOW))

    with pytest.raises(StoppedError):
        world.run()
    assert (world.store.cleanups, world.starter.calls) == ({}, 0)


@pytest.mark.parametrize("stage", ["starting", "waiting", "working"])
def test_one_is_stopped_whatever_it_does_and_stays_as_it_is(stage) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage)
    world.starter.started = {} if stage == "starting" else {"f-1-1": "f-1"}

    stopped = world.use.stop("f-1", who=ADA, why="wait", now=NOW)
    again = world.use.stop("f-1", who=ADA, why="again", now=NOW + DAY)

    assert stopped == again == world.store.cleanups["f-1"]
    assert (stopped.stage, stopped.stopped, stopped.revision) == (stage, ActorNote(who=ADA, why="wait", at=NOW), 4)
    # Maybe it was never started. It is started now, so that it can cancel itself.
    assert world.starter.started == {"f-1-1": "f-1"}
    assert world.starter.calls == (stage == "starting")


@pytest.mark.parametrize("stage", ["starting", "waiting", "working"])
def test_what_no_execution_works_on_any_more_is_called_off_by_another(stage) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage)
    world.starter.started, world.starter.ended = {"f-1-1": "f-1"}, {"f-1-1"}

    stopped = world.use.stop("f-1", who=ADA, now=NOW)
    assert stopped == world.store.cleanups["f-1"] == world.use.stop("f-1", who=ADA, now=NOW)
    assert (stopped.execution, stopped.revision) == ("f-1-1-stop-1", 5)
    assert world.starter.started == {"f-1-1": "f-1", "f-1-1-stop-1": "f-1"}

    world.starter.ended.add("f-1-1-stop-1")
    assert world.use.stop("f-1", who=ADA, now=NOW).execution == "f-1-1-stop-2"


def test_what_was_put_on_record_and_not_started_is_started_when_somebody_stops_it_again() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="working")
    world.starter.started, world.starter.ended, world.starter.down = {"f-1-1": "f-1"}, {"f-1-1"}, 1
    with pytest.raises(UnreachableError):
        world.use.stop("f-1", who=ADA, now=NOW)

    assert world.use.stop("f-1", who=ADA, now=NOW).execution == "f-1-1-stop-1"
    assert "f-1-1-stop-1" in world.starter.started


@pytest.mark.parametrize("stage", ["starting", "waiting"])
def test_who_may_not_see_whether_an_execution_works_stops_it_all_the_same(stage) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage)
    world.starter.silent = True

    assert world.use.stop("f-1", who=ADA, now=NOW).stopped
    assert world.starter.started == ({"f-1-1": "f-1"} if stage == "starting" else {})


def test_a_clean_up_that_ends_while_it_is_stopped_keeps_its_end() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="working")
    world.starter.ended = {"f-1-1"}

    def fails(store: CleanupStore) -> None:
        known = store.cleanups["f-1"]
        store.cleanups["f-1"] = replace(known, stage="failed", revision=known.revision + 1)

    world.store.rivals = [lambda _: None, fails]
    assert world.use.stop("f-1", who=ADA, now=NOW).stage == "failed"
    assert world.starter.calls == 0


@pytest.mark.parametrize("stage", [*ENDED, "undoing"])
def test_what_has_ended_or_is_undone_cannot_be_stopped(stage) -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage=stage)

    with pytest.raises(ConflictError, match=r"has ended|is being undone"):
        world.use.stop("f-1", who=ADA, now=NOW)
    with pytest.raises(NotFoundError):
        world.use.stop("f-2", who=ADA, now=NOW)
    assert world.store.writes == 0


def test_a_step_that_runs_meanwhile_does_not_revert_the_stop() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="waiting")

    def step(store: CleanupStore) -> None:
        store.cleanups["f-1"] = replace(store.cleanups["f-1"], stage="working", revision=4)

    world.store.rivals.append(step)

    stopped = world.use.stop("f-1", who=ADA, now=NOW)

    assert (stopped.stage, stopped.stopped.who, stopped.revision) == ("working", ADA, 5)


def test_a_reason_that_cannot_be_kept_is_refused() -> None:
    world = World(approved())
    world.store.cleanups["f-1"] = cleanup(stage="waiting")

    for why in ("x" * 1_001, "\udc80"):
        with pytest.raises(BadDecisionError, match="why"):
            world.use.stop("f-1", who=ADA, why=why, now=NOW)
        with pytest.raises(BadDecisionError, match="why"):
            world.use.stop_all(who=ADA, why=why, now=NOW)
    assert world.store.cleanups["f-1"].stopped is None


# -- Undoing


@pytest.mark.parametrize(
    "ended",
    [
        cleanup(stage="done", removals=HALF),
        cleanup(stage="failed", removals=HALF),
        cleanup(stage="called-off", removals=HALF),
        cleanup(stage="done", setting=GP3, was=GP3, changed_at=NOW),
        cleanup(stage="failed", setting=GP3, was=GP3),
        cleanup(stage="failed", scratch=True, removals=HALF),
    ],
)
def test_what_deleted_or_changed_something_is_undone_by_an_execution_of_its_own(ended: Cleanup) -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = replace(
        ended, ended_at=NOW - DAY, restored=Restored(state="failed", id="new", job="j", why="no")
    )

    undoing = world.use.undo("f-1", who=ADA, why="they came back", now=NOW)

    assert undoing == world.store.cleanups["f-1"]
    assert (undoing.stage, undoing.ended_at, undoing.revision) == ("undoing", None, 4)
    assert undoing.undone == ActorNote(who=ADA, why="they came back", at=NOW)
    assert (undoing.execution, undoing.undo_execution) == ("f-1-1", "f-1-1-undo-1")
    assert undoing.restored == Restored(state="failed", id="new", job="j", why="no")
    assert world.starter.undone == {"f-1-1-undo-1": "f-1"}
    assert world.starter.started == {}


def test_an_undo_whose_execution_has_ended_without_a_word_is_followed_by_another() -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = cleanup(stage="done", removals=HALF)
    world.use.undo("f-1", who=ADA, now=NOW)
    assert world.use.undo("f-1", who=ADA, now=NOW).undo_execution == "f-1-1-undo-1"

    world.starter.ended.add("f-1-1-undo-1")
    again = world.use.undo("f-1", who=ADA, why="again", now=NOW)
    assert (again.undo_execution, again.undone.why) == ("f-1-1-undo-2", "again")
    world.starter.silent = True
    assert world.use.undo("f-1", who=ADA, now=NOW).undo_execution == "f-1-1-undo-2"


def test_after_a_stop_an_undo_has_a_name_of_its_own() -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = cleanup(stage="called-off", execution="f-1-1-stop-1", removals=HALF)

    assert world.use.undo("f-1", who=ADA, now=NOW).undo_execution == "f-1-1-stop-1-undo-1"


VERIFIED = Backup(
    subject=Subject(id="vol-f-1", size_bytes=1),
    token="t",
    asked_at=NOW,
    expires_at=NOW + DAY,
    state="verified",
    id="snap-1",
)


@pytest.mark.parametrize(
    "gone",
    [
        cleanup(stage="done", backups=(VERIFIED,)),
        cleanup(stage="failed", backups=(VERIFIED,), undone=ActorNote(who=ADA, why="", at=NOW)),
    ],
)
def test_what_its_owner_deleted_is_undone_as_often_as_it_takes(gone: Cleanup) -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = gone

    assert not_undoable(gone) is None
    assert world.use.undo("f-1", who=ADA, now=NOW).stage == "undoing"


def test_what_was_called_off_is_restored_where_it_is_gone_since_and_does_not_stand_in_the_way() -> None:
    off = cleanup(stage="called-off", backups=(VERIFIED,), ended_at=NOW - DAY)
    world = World(approved())
    world.store.cleanups["f-1"] = off

    assert "restores it" in (not_undoable(off) or "")
    assert "Undo that first" not in world.plan("f-1")["f-1"][1]
    assert world.use.undo("f-1", who=ADA, now=NOW).stage == "undoing"


def test_an_undo_that_was_not_started_is_started_again_and_a_failed_one_is_another() -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = cleanup(stage="done", removals=HALF)
    world.starter.down = 1
    with pytest.raises(UnreachableError):
        world.use.undo("f-1", who=ADA, now=NOW)

    assert world.use.undo("f-1", who=ADA, now=NOW).undo_execution == "f-1-1-undo-1"
    assert world.store.writes == 1
    world.store.cleanups["f-1"] = replace(world.store.cleanups["f-1"], stage="failed")
    world.use.undo("f-1", who=ADA, now=NOW)

    assert [*world.starter.undone] == ["f-1-1-undo-1", "f-1-1-undo-2"]


OF_VOLUMES = tuple(
    Backup(
        subject=Subject(id=f"fsvol-{n}", size_bytes=7),
        token=f"t-{n}",
        asked_at=NOW,
        expires_at=NOW + DAY,
        id=f"backup-{n}",
    )
    for n in range(12)
)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (cleanup(stage="starting"), "it has not ended. To stop it: `slackwater cleanup stop f-1`"),
        (cleanup(stage="waiting"), "it has not ended. To stop it: `slackwater cleanup stop f-1`"),
        (cleanup(stage="working", removals=HALF), "it has not ended. To stop it: `slackwater cleanup stop f-1`"),
        (
            cleanup(stage="waiting", stopped=ActorNote(who=JOE, why="", at=NOW)),
            (
                "it is stopped, and Slackwater cancels it within a day. "
                "If it does not, run `slackwater cleanup stop f-1` again"
            ),
        ),
        (cleanup(stage="undone", removals=HALF), "it is already undone"),
        (cleanup(stage="failed"), "it did not delete or change anything"),
        (cleanup(stage="called-off", was=GP3, setting=GP3), "it did not delete or change anything"),
        (
            cleanup(stage="called-off", removals=HALF, restored=Restored(state="done")),
            "the deleted sub-resources are already restored",
        ),
        (
            cleanup(stage="done", removals=HALF, recorded={"system": {"FileSystemType": "ONTAP"}}),
            "Slackwater does not restore FSx for ONTAP file systems",
        ),
        (
            cleanup(stage="done", removals=HALF, recorded={"system": {"FileSystemType": "ONTAP"}}, backups=OF_VOLUMES),
            "Slackwater does not restore FSx for ONTAP file systems; "
            "aws fsx create-volume-from-backup restores a volume from "
            + ", ".join(f"backup-{n} of fsvol-{n} until 2026-11-17" for n in range(10))
            + ", and 2 more",
        ),
        (
            cleanup(stage="done", removals=HALF, scratch=True),
            "the policy declared its data scratch, so Slackwater made no backup",
        ),
    ],
)
def test_what_cannot_be_undone_says_why(one: Cleanup, why: str) -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = one

    with pytest.raises(ConflictError, match=f"^the clean-up of finding f-1 cannot be undone: {why}$"):
        world.use.undo("f-1", who=ADA, now=NOW)

    assert (not_undoable(one), world.starter.calls, world.store.writes) == (why, 0, 0)
    with pytest.raises(NotFoundError):
        world.use.undo("f-2", who=ADA, now=NOW)


def test_what_another_clean_up_has_is_not_undone_meanwhile() -> None:
    world = World(finding())
    world.store.cleanups["f-1"] = cleanup(stage="done", removals=HALF)
    world.store.cleanups["f-2"] = cleanup("f-2", resource=cleanup().resource, stage="waiting")

    with pytest.raises(ConflictError, match="the clean-up of finding f-2 is working on the same resource"):
        world.use.undo("f-1", who=ADA, now=NOW)
    assert world.starter.calls == 0


# -- Reading


def test_a_story_is_the_clean_up_with_its_findings_ledger() -> None:
    world = World(finding())
    world.approve()

    story = world.use.shown("f-1", now=NOW)

    assert story.cleanup == world.store.cleanups["f-1"]
    assert [entry.happening for entry in story.ledger] == ["approved"]
    assert (story.finding.status, story.realised_monthly_usd) == ("approved", None)
    assert story.not_undoable
    with pytest.raises(NotFoundError, match="no clean-up of finding f-2"):
        world.use.shown("f-2", now=NOW)


# -- Savings


def kept(until: datetime = NOW + DAY, state: str = "verified") -> tuple[Backup, ...]:
    subject = Subject(id="vol-1", size_bytes=7)
    return (Backup(subject=subject, token="t", asked_at=NOW, expires_at=until, state=state),)


def seen(left: str | None) -> Observed:
    return Observed(audit_id="a", at=NOW, left_monthly_usd=None if left is None else Decimal(left))


@pytest.mark.parametrize(
    ("one", "usd"),
    [
        (cleanup(stage="done", observed=seen("0"), backups=kept(), backup_monthly_usd=Decimal("1.5")), Decimal("8.5")),
        (cleanup(stage="done", observed=seen("0"), backups=kept(NOW), backup_monthly_usd=Decimal("1.5")), Decimal(10)),
        (cleanup(stage="done", observed=seen("0"), backups=kept(NOW)), Decimal(10)),
        (cleanup(stage="done", observed=seen("0"), backups=kept()), None),
        (cleanup(stage="done", observed=seen("0"), backups=kept(state="failed")), Decimal(10)),
        (cleanup(stage="done", observed=seen("4")), Decimal(6)),
        (cleanup(stage="done", observed=seen(None)), None),
        (cleanup(stage="done"), None),
        (cleanup(stage="done", observed=seen("0"), promised_monthly_usd=None), None),
        (cleanup(stage="undone", observed=seen("0")), Decimal(0)),
        (cleanup(stage="called-off"), Decimal(0)),
        (cleanup(stage="failed", observed=seen("0")), None),
        (cleanup(stage="working", observed=seen("0")), None),
    ],
)
def test_what_is_realised_is_what_audits_show_less_the_backup_while_it_is_kept(
    one: Cleanup, usd: Decimal | None
) -> None:
    assert realised(one, NOW) == usd


def test_sums_cover_ended_clean_ups_and_count_the_unknown_ones() -> None:
    shown = [
        cleanup(stage="done", observed=seen("0")),
        cleanup(stage="done"),
        cleanup(stage="done", promised_monthly_usd=None, observed=seen("0")),
        cleanup(stage="undone"),
        cleanup(stage="waiting"),
        cleanup(stage="called-off"),
        cleanup(stage="failed"),
    ]

    assert savings(shown, NOW) == Savings(promised_monthly_usd=Decimal(30), realised_monthly_usd=Decimal(10), unknown=2)
