"""Lists the resources of one account in one region. Reads only the requested kinds, and services in parallel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import reason
from slackwater.aws.client.parallel import AT_ONCE
from slackwater.aws.inventory import cloudtrail as inventory_cloudtrail
from slackwater.aws.inventory import cloudwatch as inventory_cloudwatch
from slackwater.aws.inventory import ec2 as inventory_ec2
from slackwater.aws.inventory import efs as inventory_efs
from slackwater.aws.inventory import fsx as inventory_fsx
from slackwater.aws.inventory import optimizer as inventory_optimizer
from slackwater.aws.inventory import types as inventory_types
from slackwater.aws.inventory.snapshot import BATCH, PART_RECORDS, SnapshotError, SnapshotWriter, open_snapshot
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, Late, Rest, UnreadableRecord
from slackwater.model.resources import (
    AgentMetric,
    AttachmentEvent,
    DiskMetric,
    EfsFileSystem,
    EfsLifecycle,
    EfsMountTarget,
    EfsReplication,
    FsxFileSystem,
    FsxVolume,
    IdleRecommendation,
    Instance,
    InstanceType,
    OptimizerEnrollment,
    Record,
    Target,
    Volume,
    VolumeRecommendation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.records import ReadRecord
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.ports.inventory import InventorySnapshot


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read one kind of record.

    Attributes:
        action: The IAM action.
        read: Reads the records.
        after: Kinds that must be read before.
        hinted_by: Kinds that show whether there can be any records. They are ignored if they are not read, or cannot be
            read.
        slow: Whether it takes long. Such a kind has small records, and no other reader needs them. So callers that do
            not need it do not wait for it.
        on_demand: Whether it makes a call for each resource. Such a kind is read only for the resources of which a
            detector needs it, and no other reader needs it.
    """

    action: str
    read: Callable[[AwsSession, Target, Earlier], Iterator[ReadRecord[Record]]]
    after: tuple[type[Record], ...] = ()
    hinted_by: tuple[type[Record], ...] = ()
    slow: bool = False
    on_demand: bool = False


READERS: Final[Mapping[type[Record], Reader]] = {
    Volume: Reader("ec2:DescribeVolumes", inventory_ec2.volumes),
    Instance: Reader("ec2:DescribeInstances", inventory_ec2.instances),
    EfsFileSystem: Reader("elasticfilesystem:DescribeFileSystems", inventory_efs.file_systems),
    FsxFileSystem: Reader("fsx:DescribeFileSystems", inventory_fsx.file_systems),
    FsxVolume: Reader("fsx:DescribeVolumes", inventory_fsx.volumes, hinted_by=(FsxFileSystem,)),
    EfsLifecycle: Reader(
        "elasticfilesystem:DescribeLifecycleConfiguration", inventory_efs.lifecycles, (EfsFileSystem,), on_demand=True
    ),
    EfsMountTarget: Reader(
        "elasticfilesystem:DescribeMountTargets", inventory_efs.mount_targets, after=(EfsFileSystem,), slow=True
    ),
    DiskMetric: Reader("cloudwatch:ListMetrics", inventory_cloudwatch.disk_metrics, after=(Instance,)),
    InstanceType: Reader("ec2:DescribeInstanceTypes", inventory_types.instance_types, after=(Instance,)),
    EfsReplication: Reader(
        "elasticfilesystem:DescribeReplicationConfigurations", inventory_efs.replications, after=(EfsFileSystem,)
    ),
    AttachmentEvent: Reader(
        "cloudtrail:LookupEvents", inventory_cloudtrail.attachment_events, after=(Volume,), slow=True
    ),
    AgentMetric: Reader("cloudwatch:ListMetrics", inventory_cloudwatch.agent_metrics, after=(Instance, InstanceType)),
    OptimizerEnrollment: Reader(
        "compute-optimizer:GetEnrollmentStatus", inventory_optimizer.enrollment, after=(Volume,)
    ),
    VolumeRecommendation: Reader(
        "compute-optimizer:GetEBSVolumeRecommendations",
        inventory_optimizer.volume_recommendations,
        after=(Volume, OptimizerEnrollment),
    ),
    IdleRecommendation: Reader(
        "compute-optimizer:GetIdleRecommendations",
        inventory_optimizer.idle_recommendations,
        after=(Volume, OptimizerEnrollment),
    ),
}
"""All kinds, each after those in its `after` and `hinted_by`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What could not be read of one kind: why it is missing or incomplete, if it is, and single unreadable records."""

    failure: str | None = None
    broken: tuple[UnreadableRecord, ...] = ()


NOT_READ: Final[Future[Outcome]] = Future()
NOT_READ.set_result(Outcome("no detector that is on needs it"))

MOST_NAMED: Final = 5
"""Number of records that a gap names. It counts the others with the same reason."""

ACTIONS: Final = frozenset(reader.action for reader in READERS.values())


class AwsInventory:
    """The inventory of a session's account."""

    def __init__(
        self, session: AwsSession, readers: Mapping[type[Record], Reader] = READERS, part_records: int = PART_RECORDS
    ) -> None:
        """Make no call.

        Args:
            session: The session of the account.
            readers: The readers, each after those that it needs. Others than the default can read less.
            part_records: Approximate number of records in a chunk.
        """
        self._session = session
        self._readers = readers
        self._part_records = part_records

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Return everything that `snapshot` lists, in memory, and the gaps."""
        snapshot = self._snapshot(target, required, optional, SnapshotWriter(sys.maxsize))
        return snapshot.fleet(1).whole(), [*snapshot.gaps]

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """Return every record of these kinds, and of the kinds that they need.

        A kind whose call fails is a gap, and is unreadable in every chunk.

        Raises:
            SnapshotError: The snapshot file cannot be written.
        """
        writer = SnapshotWriter(self._part_records)
        try:
            return self._snapshot(target, required, optional, writer)
        except BaseException:
            writer.close()
            raise

    def open(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]], file: Path
    ) -> InventorySnapshot:
        """Open a snapshot of these kinds that another process stored in a file. See `open_snapshot`."""
        return open_snapshot(file, self._rest(target, *self._kinds(required, optional), {}, []))

    def _kinds(
        self, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[set[type[Record]], set[type[Record]]]:
        """Return the required kinds and all kinds, with those that they need."""
        needed = with_foundations(required, self._readers)
        return needed, needed | with_foundations(optional, self._readers)

    def _snapshot(
        self,
        target: Target,
        required: Collection[type[Record]],
        optional: Collection[type[Record]],
        writer: SnapshotWriter,
    ) -> InventorySnapshot:
        needed, wanted = self._kinds(required, optional)
        futures, slow = dict[type[Record], Future[Outcome]](), dict[type[Record], Future[Outcome]]()
        late = list[Record]()
        pool = ThreadPoolExecutor(len(self._readers))
        for kind, reader in self._readers.items():
            if kind in wanted and not reader.on_demand:
                before = {earlier: futures.get(earlier, NOT_READ) for earlier in (*reader.after, *reader.hinted_by)}
                outcomes_of_kind, put = (slow, late.extend) if reader.slow else (futures, writer.add)
                outcomes_of_kind[kind] = pool.submit(self._read, reader, target, partial(_after, before, writer), put)
        pool.shutdown(wait=False)
        wait(futures.values())

        outcomes = _outcomes(futures)
        return writer.snapshot(
            _failures(outcomes),
            self._gaps(target, needed, outcomes),
            self._rest(target, needed, wanted, slow, late),
            self._rest(target, needed, wanted, {}, []),
            _broken(outcomes),
        )

    def _gaps(
        self, target: Target, needed: Collection[type[Record]], outcomes: Mapping[type[Record], Outcome]
    ) -> list[Gap]:
        found = (
            Gap(target.account, target.region, self._readers[kind].action, reason, optional=kind not in needed)
            for kind, outcome in outcomes.items()
            for reason in _reasons(outcome)
        )
        return list(dict.fromkeys(found))  # once if two kinds share an action

    def _rest(
        self,
        target: Target,
        needed: Collection[type[Record]],
        wanted: Collection[type[Record]],
        slow: Mapping[type[Record], Future[Outcome]],
        records: list[Record],
    ) -> Rest:
        """Return how to read kinds on demand, and to wait for them and for slow ones. All are added to `records`."""
        on_demand = frozenset(kind for kind in wanted if self._readers[kind].on_demand)
        begun = {kind: [future] for kind, future in slow.items()} | {kind: [] for kind in on_demand}
        pool = ThreadPoolExecutor(AT_ONCE)

        def read(kind: type[Record], fleet: Fleet) -> Outcome:
            if any(one.done() and one.result().failure for one in begun[kind]):  # the next call would fail, too
                return Outcome()
            return self._read(self._readers[kind], target, lambda: fleet, records.extend)

        def begin(kind: type[Record], fleet: Fleet) -> None:
            begun[kind].append(pool.submit(read, kind, fleet))

        def wait_for_all() -> Late:
            outcomes = {kind: _joined([one.result() for one in futures]) for kind, futures in begun.items()}
            return Late(records, _failures(outcomes), self._gaps(target, needed, outcomes), _broken(outcomes))

        return Rest(frozenset(slow), wait_for_all, on_demand, begin)

    def _read(
        self, reader: Reader, target: Target, earlier: Callable[[], Earlier], put: Callable[[Sequence[Record]], None]
    ) -> Outcome:
        """Store the records of one kind, including those read before a failure. Return what could not be read."""
        broken = list[UnreadableRecord]()
        try:
            _hand_over(_usable(reader.read(self._session, target, earlier()), broken), put)
        except SnapshotError:
            raise
        except Exception as error:  # noqa: BLE001 -- the other kinds must still be read
            return Outcome(reason(error), tuple(broken))
        return Outcome(None, tuple(broken))


def _after(before: Mapping[type[Record], Future[Outcome]], writer: SnapshotWriter) -> Earlier:
    """Wait for kinds that must be read before, and return their records."""
    return writer.earlier({kind: why for kind, one in _outcomes(before).items() if (why := _first_reason(one))})


def _outcomes(futures: Mapping[type[Record], Future[Outcome]]) -> dict[type[Record], Outcome]:
    """Wait for all, and return their results."""
    return {kind: future.result() for kind, future in futures.items()}


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a kind that was read in several steps: the first failure, and all unreadable records."""
    failure = next((one.failure for one in outcomes if one.failure is not None), None)
    return Outcome(failure, tuple(dict.fromkeys(broken for one in outcomes for broken in one.broken)))


def _failures(outcomes: Mapping[type[Record], Outcome]) -> dict[type[Record], str]:
    return {kind: one.failure for kind, one in outcomes.items() if one.failure is not None}


def _broken(outcomes: Mapping[type[Record], Outcome]) -> list[UnreadableRecord]:
    return [broken for one in outcomes.values() for broken in one.broken]


def _first_reason(outcome: Outcome) -> str | None:
    return next(_reasons(outcome), None)


def _reasons(outcome: Outcome) -> Iterator[str]:
    """Yield why the kind failed, and then each reason for unreadable records, with the ids of those records."""
    if outcome.failure is not None:
        yield outcome.failure
    by_reason: dict[str, list[str]] = {}
    for one in outcome.broken:
        by_reason.setdefault(one.reason, []).append(one.id or "one without an id")
    for why, ids in by_reason.items():
        more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
        yield f"{', '.join(sorted(ids)[:MOST_NAMED])}{more}: {why}"


def _usable(found: Iterable[ReadRecord[Record]], broken: list[UnreadableRecord]) -> Iterator[Record]:
    """Yield the records that could be read; append the others to `broken`."""
    for one in found:
        if isinstance(one, UnreadableRecord):
            broken.append(one)
        else:
            yield one


def _hand_over(records: Iterable[Record], put: Callable[[Sequence[Record]], None]) -> None:
    """Store records in batches, including those read before an error."""
    batch = list[Record]()
    try:
        for record in records:
            batch.append(record)
            if len(batch) == BATCH:
                full, batch = batch, []
                put(full)
    finally:
        put(batch)


def with_foundations(
    kinds: Iterable[type[Record]], readers: Mapping[type[Record], Reader] = READERS
) -> set[type[Record]]:
    """Return these kinds, and those that must be read before them."""
    found = set[type[Record]]()
    for kind in kinds:
        found |= {kind} | with_foundations(readers[kind].after, readers)
    return found
