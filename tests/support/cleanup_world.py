"""A simulated account with resources to clean up, and the clean-up functions that work on it.

The use cases and adapters are real, the stores are in memory, and the state machine is as deployed.
"""

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final

from slackwater.app.cleanup.back_up import BackUp
from slackwater.app.cleanup.case import Cases
from slackwater.app.cleanup.change import Change
from slackwater.app.cleanup.cleanups import Cleanups
from slackwater.app.cleanup.delete import Delete
from slackwater.app.cleanup.news import CleanupNews
from slackwater.app.cleanup.recheck import Rechecker
from slackwater.app.cleanup.restore import Restore
from slackwater.app.cleanup.sweep import Sweep
from slackwater.app.cleanup.watch import Watch
from slackwater.app.findings.findings import Findings
from slackwater.app.policy.file import parse_policy
from slackwater.app.slack.delivery import Delivery
from slackwater.aws.cleanup.ebs.cleanup import EbsChanger, EbsRemover, EbsWatcher
from slackwater.aws.cleanup.ebs.restore import EbsRestorer
from slackwater.aws.cleanup.ebs.snapshots import EbsBackupTaker, EbsSweeper
from slackwater.aws.cleanup.efs.change import EfsChanger
from slackwater.aws.cleanup.efs.cleanup import ACCESS_POINT, EfsRemover, EfsWatcher
from slackwater.aws.cleanup.efs.recovery_points import EfsBackupTaker, EfsSweeper
from slackwater.aws.cleanup.efs.restore import EfsRestorer
from slackwater.aws.cleanup.fsx.backups import FsxBackupTaker, FsxSweeper
from slackwater.aws.cleanup.fsx.cleanup import FsxRemover, FsxWatcher
from slackwater.aws.cleanup.fsx.restore import FsxRestorer
from slackwater.aws.cleanup.keys import KmsKeys
from slackwater.aws.cleanup.permissions import SimulatedPermissions
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint, RetrySettings
from slackwater.aws.inventory.one import OneInventory
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.table import Item, Put
from slackwater.engine.registry import registry
from slackwater.model.cleanup import ActorNote, Cleanup, Control, left_by
from slackwater.model.listing import Page
from slackwater.model.object_keys import target_scan
from slackwater.model.policy import Policy
from slackwater.model.posts import Post, Sent
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Target, Volume
from slackwater.model.tracking import Decision, LedgerEntry, TrackedFinding, Write
from slackwater.ports.errors import AwsError
from slackwater.ports.executions import ExecutionState
from slackwater.views.api import to_json as service_json
from slackwater.views.scan import to_json as scan_json
from slackwater.wiring.scan import audit
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, MIB, Activity, Fleet, instant
from support.asl import Execution, definition
from support.slack_world import Bucket, MemoryOutbox

NOW: Final = "2026-11-16T09:00:00Z"
ACCOUNT: Final = "123456789012"
REGION: Final = "ap-northeast-1"
APPROVER: Final = f"arn:aws:iam::{ACCOUNT}:user/ada"
VAULT: Final = "Default"
ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/backup"
DELETE_ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/delete"
INSTALLATION: Final = "5f0c0de5f0c0de5f0c0de5f0c0de0001"

POLICY: Final = f"""
[detectors.efs-abandoned]
enabled = true
tag = "Job"

[cleanup]
accounts = ["{ACCOUNT}"]
regions = ["{REGION}"]
grace_days = 2
warn_days = [2, 1]
resource_types = ["ebs-volume", "efs-file-system", "fsx-file-system"]
detectors = ["ebs-unattached", "efs-idle", "efs-orphaned", "efs-abandoned", "fsx-idle", "ebs-outdated-type",
  "efs-throughput-mismatch"]
approver_identities = ["{APPROVER}"]
"""


def _volume(build: Builder) -> None:
    volume = build.volume("left-behind", 100, created=build.ago(200), used=((build.ago(199), build.ago(60)),))
    build.detached(volume.id, build.id("i", "gone"), build.ago(60))
    build.instance("somebody", "m5.large")


def _efs(build: Builder) -> None:
    build.file_system("old-media", standard_bytes=30 * GIB, access_points=2)


def _orphaned(build: Builder) -> None:
    build.file_system("never-mounted", zones="", standard_bytes=5 * GIB, access_points=1)


def _abandoned(build: Builder) -> None:
    build.file_system("encode-7", zones="a", days=3, standard_bytes=20 * GIB, tags={"Job": "encode"})


def _openzfs(build: Builder) -> None:
    zfs = build.openzfs("quiet-zfs", storage_gib=128, deployment="SINGLE_AZ_1", throughput=64)
    build.export(zfs, "projects")


def _dated(build: Builder) -> None:
    server = build.instance("database", "m5.large")
    work = Activity(shape=build.shapes.shape("trickle", 1), read=2.0 * MIB, write=2.0 * MIB)
    build.volume("dated", 500, on=server, type="gp2", activity=work)


def _provisioned(build: Builder) -> None:
    work = Activity(shape=build.shapes.shape("trickle", 2), read=1.0 * MIB, write=1.0 * MIB)
    build.file_system("too-fast", standard_bytes=200 * GIB, mode="provisioned", provisioned_mibps=200.0, activity=work)


KINDS: Final[dict[str, tuple[Callable[[Builder], None], str, str]]] = {
    "ebs": (_volume, "ebs-unattached", "left-behind"),
    "efs": (_efs, "efs-idle", "old-media"),
    "efs-orphaned": (_orphaned, "efs-orphaned", "never-mounted"),
    "efs-abandoned": (_abandoned, "efs-abandoned", "encode-7"),
    "openzfs": (_openzfs, "fsx-idle", "quiet-zfs"),
    "gp3": (_dated, "ebs-outdated-type", "dated"),
    "efs-throughput": (_provisioned, "efs-throughput-mismatch", "too-fast"),
}
"""Kinds of resources to clean up: the function that builds one, the detector that finds it, and its name."""
DELETED: Final = ("ebs", "efs", "efs-orphaned", "efs-abandoned", "openzfs")
CHANGED: Final = ("gp3", "efs-throughput")


def fleet(*kinds: str) -> Fleet:
    """Return a fleet with one resource of each of these kinds, or of all kinds if none is given."""
    build = Builder(instant(NOW), REGION)
    for kind in kinds or KINDS:
        KINDS[kind][0](build)
    return build.fleet(ACCOUNT)


MOST_ITEM_BYTES: Final = 400 * 1024
MOST_ITEMS, MOST_TRANSACTION_BYTES = 100, 4 * 1024 * 1024
"""Limits of one DynamoDB item and of one transaction (Amazon DynamoDB Developer Guide, "Quotas")."""


class Measured:
    """A table that stores nothing, and refuses writes that are too large for DynamoDB."""

    def read(self, keys: Any) -> dict[str, Item]:
        return {}

    def put(self, *puts: Put) -> bool:
        sizes = [item_bytes(one.item) for one in puts]
        if max(sizes) > MOST_ITEM_BYTES:
            raise AwsError(
                f"ValidationException: Item size has exceeded the maximum allowed size ({max(sizes):,} bytes)"
            )
        if len(sizes) > MOST_ITEMS or sum(sizes) > MOST_TRANSACTION_BYTES:
            raise AwsError(f"ValidationException: a transaction of {len(sizes)} items and {sum(sizes):,} bytes")
        return True


def item_bytes(item: Item) -> int:
    """Return the size of an item as DynamoDB counts it: the names and values of its attributes, in bytes."""
    return sum(len(name.encode()) + sum(len(value.encode()) for value in one.values()) for name, one in item.items())


@dataclass
class MemoryFindings:
    """A FindingStore in a dictionary."""

    findings: dict[str, TrackedFinding] = field(default_factory=dict)
    entries: list[LedgerEntry] = field(default_factory=list)

    def get(self, id: str) -> TrackedFinding | None:
        return self.findings.get(id)

    def unresolved(self, account: str, region: str) -> Iterator[TrackedFinding]:
        return iter([one for one in self.findings.values() if one.status != "resolved"])

    def fits(self, write: Write) -> bool:
        stored = self.findings.get(write.finding.id)
        return (stored.revision if stored else 0) == write.expects

    def write(self, write: Write) -> bool:
        if not self.fits(write):
            return False
        self.findings[write.finding.id] = write.finding
        if write.entry:
            self.entries.append(write.entry)
        return True

    def list(self, query: Any) -> Page[TrackedFinding]:
        return Page(items=tuple(one for one in self.findings.values() if one.status == query.status), cursor=None)

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        return iter([entry for entry in self.entries if entry.evidence.id == id])


@dataclass
class MemoryCleanups:
    """A CleanupStore in a dictionary. `before_write` may raise, to simulate a crash."""

    findings: MemoryFindings
    cleanups: dict[str, Cleanup] = field(default_factory=dict)
    holds: dict[str, str] = field(default_factory=dict)
    control_: Control = field(default_factory=Control)
    before_write: Callable[[], None] = lambda: None
    after_write: Callable[[], None] = lambda: None

    def get(self, finding_id: str) -> Cleanup | None:
        return self.cleanups.get(finding_id)

    def whole(self, cleanup: Cleanup) -> Cleanup:
        return cleanup

    def unchanged(self, cleanup: Cleanup) -> bool:
        return self.cleanups.get(cleanup.finding_id) == cleanup and not self.control_.stopped

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        self.before_write()
        measured: Any = Measured()
        DynamoCleanups(measured).write(cleanup, finding)
        stored, mine = self.cleanups.get(cleanup.finding_id), cleanup.finding_id
        if (stored.revision if stored else 0) != cleanup.revision - 1 or (finding and not self.findings.fits(finding)):
            return False
        if any(self.holds.get(place, mine) != mine for place in cleanup.holds):
            return False
        self.cleanups[cleanup.finding_id] = cleanup
        self.holds = {
            place: holder for place, holder in self.holds.items() if place not in cleanup.held or holder != mine
        }
        self.holds |= dict.fromkeys(cleanup.holds, mine)
        if finding:
            self.findings.write(finding)
        self.after_write()
        return True

    def holder(self, place: str) -> str | None:
        return self.holds.get(place)

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        return Page(items=tuple(self.cleanups.values()), cursor=None)

    def control(self) -> Control:
        return self.control_

    def write_control(self, control: Control) -> bool:
        if control.revision != self.control_.revision + 1:
            return False
        self.control_ = control
        return True


@dataclass
class MemoryStarter:
    """A CleanupStarter that lists what it started, as (finding, execution). The same name starts nothing twice.

    `running` returns whether an execution is still running.
    """

    started: list[tuple[str, str]] = field(default_factory=list)
    running: Callable[[str], bool] = lambda _: True

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        return "running" if self.running(execution) else "ended"

    def start(self, finding_id: str, execution: str) -> None:
        if (finding_id, execution) not in self.started:
            self.started.append((finding_id, execution))

    undo = start


@dataclass
class MemorySlack:
    """A bot's Channel that keeps its posts by id. If `down` is set, every call raises it.

    If `default` is None, there is no channel for posts that the policy does not route.
    """

    now: Callable[[], datetime]
    posted: dict[str, Post] = field(default_factory=dict)
    down: Exception | None = None
    default: str | None = "C0DEFAULT"
    can_read: bool = True

    def send(self, post: Post, thread: Sent | None) -> Sent:
        if self.down:
            raise self.down
        self.posted[post.id] = post
        return Sent(channel=post.channel, ts=f"{self.now().timestamp():.6f}")

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        if self.down:
            raise self.down
        return Sent(channel=post.channel, ts="1.0") if post.id in self.posted else None

    def update(self, sent: Sent, message: Any) -> None:
        raise NotImplementedError


@dataclass
class World:
    """All components, connected.

    `people` handles requests of persons about clean-ups. `starter` lists what they started.
    """

    simulator: Simulator
    policies: list[Policy | Exception]
    findings: MemoryFindings
    cleanups: MemoryCleanups
    outbox: MemoryOutbox
    slack: MemorySlack
    documents: Bucket
    functions: Mapping[str, Callable[[Mapping[str, Any]], Any]]
    sweep: Sweep
    now: Callable[[], datetime]
    people: Cleanups
    starter: MemoryStarter

    @property
    def policy(self) -> Policy:
        """Return the current policy. If it cannot be read, raise its error."""
        newest = self.policies[-1]
        if isinstance(newest, Exception):
            raise newest
        return newest

    def change_policy(self, policy: Policy | Exception) -> None:
        """Push another policy."""
        self.policies.append(policy)

    @property
    def account(self) -> Any:
        return self.simulator.account

    def finding(self, kind: str) -> TrackedFinding:
        """Return the current finding about the resource of this kind."""
        _, detector, name = KINDS[kind]
        found = [one for one in self.findings.findings.values() if one.sighting.detector == detector]
        return next(one for one in found if one.sighting.resource.name == name)

    def approve(self, finding: TrackedFinding, until: timedelta = timedelta(days=60)) -> None:
        """Approve the finding, as the approver."""
        now = self.now()
        decision = Decision(
            status="approved",
            who=APPROVER,
            why="",
            at=now,
            until=now + until,
            fingerprint=finding.sighting.fingerprint,
            setting=finding.sighting.setting,
        )
        stored = self.findings.findings[finding.id]
        self.findings.findings[finding.id] = replace(
            stored, status="approved", decision=decision, revision=stored.revision + 1
        )

    def begin(self, finding: TrackedFinding) -> Cleanup:
        """Store a new clean-up of the finding, as a run does."""
        before = self.cleanups.get(finding.id)
        attempt = before.attempt + 1 if before else 1
        seen = finding.sighting
        cleanup = Cleanup(
            finding_id=finding.id,
            attempt=attempt,
            execution=f"{finding.id}-{attempt}",
            detector=seen.detector,
            resource=seen.resource,
            owner=seen.owner,
            fingerprint=seen.fingerprint,
            setting=None if seen.deletes else seen.setting,
            requested_by=APPROVER,
            started_at=self.now(),
            promised_monthly_usd=seen.monthly_savings_usd,
            earlier=left_by(before),
            revision=(before.revision if before else 0) + 1,
        )
        assert self.cleanups.write(cleanup)
        return cleanup

    def ask_undo(self, finding: TrackedFinding) -> Cleanup:
        """Store a request to undo the clean-up, as a person's request does."""
        cleanup = self.cleanups.cleanups[finding.id]
        undoing = replace(
            cleanup,
            stage="undoing",
            undone=ActorNote(who=APPROVER, why="", at=self.now()),
            undo_execution=f"{cleanup.execution}-undo-1",
            ended_at=None,
            why="",
            revision=cleanup.revision + 1,
        )
        assert self.cleanups.write(undoing)
        return undoing

    def stop(self) -> None:
        """Stop all clean-ups, as a person does."""
        stopped = ActorNote(who=APPROVER, why="wait", at=self.now())
        control = self.cleanups.control_
        assert self.cleanups.write_control(replace(control, stopped=stopped, revision=control.revision + 1))

    def execution(self, finding: TrackedFinding) -> Execution:
        """Return a new execution: of the undo if it was requested, otherwise of the clean-up."""
        cleanup = self.cleanups.cleanups[finding.id]
        undoing = cleanup.stage == "undoing"
        return Execution(
            definition("undo" if undoing else "cleanup"),
            self.functions,
            {"finding_id": finding.id},
            name=cleanup.undo_execution or "" if undoing else cleanup.execution,
            clock=SimulatedClock(self.simulator),
        )

    def cleaned(self, kind: str) -> Execution:
        """Approve the clean-up, begin it, and run it to the end."""
        finding = self.finding(kind)
        self.approve(finding)
        self.begin(finding)
        return self.execution(finding).run()

    def undone(self, kind: str) -> Execution:
        """Request the undo, and run it to the end."""
        finding = self.finding(kind)
        self.ask_undo(finding)
        return self.execution(finding).run()

    def cleanup(self, kind: str) -> Cleanup:
        """Return the current state of the clean-up."""
        return self.cleanups.cleanups[self.finding(kind).id]

    def ledger_events(self, kind: str) -> list[str]:
        """Return the names of the finding's ledger events, in order."""
        return [entry.happening for entry in self.findings.ledger(self.finding(kind).id)]


@dataclass(frozen=True)
class SimulatedClock:
    """The clock of the simulated account, for an execution."""

    simulator: Simulator

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.simulator.account.now, UTC)

    def wait(self, seconds: float) -> None:
        self.simulator.advance(seconds)


READS: Final = ("Describe", "Get", "List", "Lookup", "Simulate", "Assume")


class Overheard(CallMeter):
    """Reports each request that changes something, as `before` or `after` and the operation's name."""

    def __init__(self) -> None:
        super().__init__()
        self.notify: Callable[[str], None] = lambda _: None

    def watch(self, session: Any) -> None:
        super().watch(session)
        session.register("before-send", lambda event_name, **_: self._notify("before", event_name))
        session.register("response-received", lambda event_name, **_: self._notify("after", event_name))

    def _notify(self, when: str, event_name: str) -> None:
        operation = event_name.rpartition(".")[2]
        if not operation.startswith(READS):
            self.notify(f"{when} {operation}")


@dataclass(frozen=True)
class Line:
    """The address at which each world's simulator listens in turn, and its sessions, which are slow to create."""

    port: int
    meter: Overheard
    patient: AwsSession
    once: AwsSession


@cache
def line() -> Line:
    """Return the address and sessions that all worlds of this process share."""
    with socket.socket() as unused_port:
        unused_port.bind(("127.0.0.1", 0))
        port, meter = int(unused_port.getsockname()[1]), Overheard()
    endpoint = Endpoint(f"http://127.0.0.1:{port}", "AKIADUMMY", "dummy")
    # A retry would wait in real time.
    session = AwsSession(
        meter=meter, endpoint=endpoint, home=REGION, retries=RetrySettings(1, 10, retry_mode="standard")
    )
    return Line(port, meter, session, AwsSession(meter=meter, endpoint=endpoint, home=REGION, retries=NO_RETRIES))


@contextmanager
def world(*kinds: str, policy: str = POLICY) -> Iterator[World]:
    """Run an account with resources of these kinds, after one audit."""
    with Simulator(fleet(*kinds), port=line().port) as simulator:
        simulator.faults.unthrottle("cloudtrail:LookupEvents")  # throttling would take real time
        try:
            yield wired(simulator, parse_policy(policy, "slackwater.toml", registry()))
        finally:
            line().meter.notify = lambda _: None


def as_it_is(name: str, port: Any) -> Any:
    """Return the port unchanged, without watching it."""
    return port


def wired(
    simulator: Simulator,
    policy: Policy,
    sessions: Line | None = None,
    watched: Callable[[str, Any], Any] = as_it_is,
    cleanups_of: Callable[[MemoryFindings], MemoryCleanups] = MemoryCleanups,
    installation: str = INSTALLATION,
) -> World:
    """Return a world whose functions are wired as in an installation, except for the stores and the clock.

    `sessions` replaces the connection to the simulator. `watched` receives each store and the policy by name, and
    returns a replacement.
    """
    as_of = datetime.fromisoformat(NOW)

    def now() -> datetime:
        return datetime.fromtimestamp(simulator.account.now, UTC)

    sessions = sessions or line()
    session, once = sessions.patient, sessions.once
    watchers: Any = {
        Volume.KIND: EbsWatcher(session),
        EfsFileSystem.KIND: EfsWatcher(session),
        FsxFileSystem.KIND: FsxWatcher(session),
    }
    backup_takers: Any = {
        Volume.KIND: EbsBackupTaker(session, once),
        EfsFileSystem.KIND: EfsBackupTaker(session, once, vault=VAULT, role_arn=ROLE),
        FsxFileSystem.KIND: FsxBackupTaker(session, once),
    }
    findings, outbox, documents = MemoryFindings(), MemoryOutbox(), Bucket()
    cleanups = cleanups_of(findings)

    def of(inventory: Any, policy: Policy) -> Any:
        return audit(
            session,
            CallMeter(),
            registry=registry(),
            policy=policy,
            cache_dir=None,
            progress=lambda *_: None,
            inventory=inventory,
        )

    rechecker = Rechecker(
        watchers=watchers,
        inventory=lambda resource: OneInventory(session, resource),
        audit=lambda policy, inventory: of(inventory, policy),
        clock=now,
    )
    slack = MemorySlack(now)

    def notify(_: Any) -> dict[str, int]:
        delivery = Delivery(
            outbox=outbox, channel=slack, fallback=None, clock=now, sleep=lambda _: None, default=slack.default
        )
        notified = delivery.deliver(None)
        return {"waiting": notified.waiting, "wait_s": notified.wait_s}

    policies: list[Policy | Exception] = [policy]

    newest: Callable[[], Policy] = watched("policy", lambda: there.policy)
    record, tracked = watched("cleanups", cleanups), watched("findings", findings)
    cases = Cases(store=record, findings=tracked, clock=now)
    watch = Watch(
        account=ACCOUNT,
        cases=cases,
        documents=documents,
        policy=newest,
        rechecker=rechecker,
        watchers=watchers,
        permissions=SimulatedPermissions(session, DELETE_ROLE),
        backup_monthly_usd=lambda kind, region, size: Decimal("1.23"),
        news=CleanupNews(outbox=watched("outbox", outbox), clock=now),
    )
    back_up = BackUp(
        cases=cases,
        policy=newest,
        backup_takers=backup_takers,
        keys=KmsKeys(session),
        installation=lambda: installation,
    )
    delete = Delete(
        cases=cases,
        policy=newest,
        rechecker=rechecker,
        backup_takers=backup_takers,
        removers={
            Volume.KIND: EbsRemover(once),
            EfsFileSystem.KIND: EfsRemover(once),
            FsxFileSystem.KIND: FsxRemover(session, once),
        },
        keys=KmsKeys(session),
        sub_resource_watchers={ACCESS_POINT: EfsWatcher(session)},
    )
    change = Change(
        cases=cases,
        policy=newest,
        rechecker=rechecker,
        changers={Volume.KIND: EbsChanger(session, once, now), EfsFileSystem.KIND: EfsChanger(session, once)},
    )
    restore = Restore(
        cases=cases,
        restorers={
            Volume.KIND: EbsRestorer(session, once, now),
            EfsFileSystem.KIND: EfsRestorer(session, once, vault=VAULT, role_arn=ROLE, clock=now),
            FsxFileSystem.KIND: FsxRestorer(session, once),
        },
        backup_takers=backup_takers,
        keys=KmsKeys(session),
    )
    sweep = Sweep(
        cases=cases,
        sweepers={
            Volume.KIND: EbsSweeper(session, once),
            EfsFileSystem.KIND: EfsSweeper(session, once),
            FsxFileSystem.KIND: FsxSweeper(session, once),
        },
        installation=lambda: installation,
    )
    target = Target(ACCOUNT, REGION)
    scan = of(None, policy).run([target], as_of)
    document = scan_json.document(scan)
    documents.write(target_scan("audit-1", ACCOUNT, REGION), json.dumps(document))
    for found in document["findings"]:
        sighting = service_json.finding_record(found)
        findings.findings[sighting.id] = TrackedFinding(
            sighting=sighting,
            status="open",
            decision=None,
            opened_at=as_of,
            last_seen_at=as_of,
            resolved_at=None,
            audit_id="audit-1",
            revision=1,
        )
    starter = MemoryStarter()
    there: World = World(
        simulator=simulator,
        policies=policies,
        findings=findings,
        cleanups=cleanups,
        outbox=outbox,
        slack=slack,
        documents=documents,
        functions={
            "WatchFunction": lambda p: watch.step(p["step"], p["finding_id"], p["execution"], p.get("error")),
            "BackUpFunction": lambda p: back_up.step(p["step"], p["finding_id"], p["execution"]),
            "DeleteFunction": lambda p: delete.delete(p["finding_id"], p["execution"]),
            "ChangeFunction": lambda p: change.step(p["step"], p["finding_id"], p["execution"]),
            "RestoreFunction": lambda p: restore.restore(p["finding_id"], p["execution"]),
            "NotifyFunction": notify,
        },
        sweep=sweep,
        now=now,
        people=Cleanups(
            store=cleanups,
            findings=Findings(store=findings, documents=documents),
            starter=starter,
            policy=lambda: there.policy,
            account=ACCOUNT,
        ),
        starter=starter,
    )
    return there
