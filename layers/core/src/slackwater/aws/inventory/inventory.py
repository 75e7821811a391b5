"""Reads what one account holds in one region: only the kinds asked for, services side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import reason
from slackwater.aws.inventory import cloudtrail as inventory_cloudtrail
from slackwater.aws.inventory import cloudwatch as inventory_cloudwatch
from slackwater.aws.inventory import ec2 as inventory_ec2
from slackwater.aws.inventory import efs as inventory_efs
from slackwater.aws.inventory import fsx as inventory_fsx
from slackwater.aws.inventory import optimizer as inventory_optimizer
from slackwater.aws.inventory import types as inventory_types
from slackwater.aws.inventory.snapshot import BATCH, PART_RECORDS, SnapshotError, SnapshotWriter
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
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.records import ReadRecord
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.ports.inventory import InventorySnapshot


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of record is read: the IAM action, and every kind that must have been read before.

    It `heeds` kinds that tell whether there can be any, and goes without them where they are not read, or could not be.
    What is `slow` is few records, none of which another reader needs: whoever needs none of them does not wait for
    them.
    """

    action: str
    read: Callable[[AwsSession, Target, Earlier], Iterator[ReadRecord[Record]]]
    after: tuple[type[Record], ...] = ()
    heeds: tuple[type[Record], ...] = ()
    slow: bool = False


READERS: Final[Mapping[type[Record], Reader]] = {
    Volume: Reader("ec2:DescribeVolumes", inventory_ec2.volumes),
    Instance: Reader("ec2:DescribeInstances", inventory_ec2.instances),
    EfsFileSystem: Reader("elasticfilesystem:DescribeFileSystems", inventory_efs.file_systems),
    FsxFileSystem: Reader("fsx:DescribeFileSystems", inventory_fsx.file_systems),
    FsxVolume: Reader("fsx:DescribeVolumes", inventory_fsx.volumes, heeds=(FsxFileSystem,)),
    EfsLifecycle: Reader(
        "elasticfilesystem:DescribeLifecycleConfiguration", inventory_efs.lifecycles, after=(EfsFileSystem,)
    ),
    EfsMountTarget: Reader(
        "elasticfilesystem:DescribeMountTargets", inventory_efs.mount_targets, after=(EfsFileSystem,)
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
"""Every kind there is, each after those it needs or heeds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What could not be read of one kind: why it is missing or partial, if it is, and the single records."""

    failure: str | None = None
    broken: tuple[UnreadableRecord, ...] = ()


NOT_READ: Final[Future[Outcome]] = Future()
NOT_READ.set_result(Outcome("no detector that is on needs it"))

MOST_NAMED: Final = 5
"""Records that a gap names; it counts the others with the same reason."""

ACTIONS: Final = frozenset(reader.action for reader in READERS.values())


class AwsInventory:
    """The inventory of one session's account."""

    def __init__(
        self, session: AwsSession, readers: Mapping[type[Record], Reader] = READERS, part_records: int = PART_RECORDS
    ) -> None:
        """Makes no call.

        Other readers may read less; each after those it needs. `part_records` is how large a part gets.
        """
        self._session = session
        self._readers = readers
        self._part_records = part_records

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """All that `stock` lists, in memory at once."""
        snapshot = self._snapshot(target, required, optional, SnapshotWriter(sys.maxsize))
        return snapshot.fleet(1).whole(), [*snapshot.gaps]

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """Every record of these kinds, and of those they build on.

        A kind that fails is a gap, and unreadable in every part.

        Raises:
            SnapshotError: there is no room for so many.
        """
        writer = SnapshotWriter(self._part_records)
        try:
            return self._snapshot(target, required, optional, writer)
        except BaseException:
            writer.close()
            raise

    def _snapshot(
        self,
        target: Target,
        required: Collection[type[Record]],
        optional: Collection[type[Record]],
        writer: SnapshotWriter,
    ) -> InventorySnapshot:
        needed = with_foundations(required, self._readers)
        wanted = needed | with_foundations(optional, self._readers)
        futures, slow = dict[type[Record], Future[Outcome]](), dict[type[Record], Future[Outcome]]()
        late = list[Record]()
        pool = ThreadPoolExecutor(len(self._readers))
        for kind, reader in self._readers.items():
            if kind in wanted:
                before = {earlier: futures.get(earlier, NOT_READ) for earlier in (*reader.after, *reader.heeds)}
                outcomes_of_kind, put = (slow, late.extend) if reader.slow else (futures, writer.add)
                outcomes_of_kind[kind] = pool.submit(self._read, reader, target, before, writer, put)
        pool.shutdown(wait=False)
        wait(futures.values())

        def gaps(outcomes: Mapping[type[Record], Outcome]) -> list[Gap]:
            found = (
                Gap(target.account, target.region, self._readers[kind].action, reason, optional=kind not in needed)
                for kind, outcome in outcomes.items()
                for reason in _reasons(outcome)
            )
            return list(dict.fromkeys(found))  # once where two kinds share an action

        def rest() -> Late:
            outcomes = _outcomes(slow)
            return Late(late, _failures(outcomes), gaps(outcomes), _broken(outcomes))

        outcomes = _outcomes(futures)
        still = Rest(frozenset(slow), rest) if slow else None
        return writer.snapshot(_failures(outcomes), gaps(outcomes), still, _broken(outcomes))

    def _read(
        self,
        reader: Reader,
        target: Target,
        before: Mapping[type[Record], Future[Outcome]],
        writer: SnapshotWriter,
        put: Callable[[Sequence[Record]], None],
    ) -> Outcome:
        """Put the records of one kind where they belong, those read before it failed too; what could not be read."""
        broken = list[UnreadableRecord]()
        try:
            earlier = writer.earlier(
                {kind: why for kind, one in _outcomes(before).items() if (why := _first_reason(one))}
            )
            _hand_over(_usable(reader.read(self._session, target, earlier), broken), put)
        except SnapshotError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever broke, the rest of the inventory must still be read
            return Outcome(reason(error), tuple(broken))
        return Outcome(None, tuple(broken))


def _outcomes(futures: Mapping[type[Record], Future[Outcome]]) -> dict[type[Record], Outcome]:
    """Waits for all."""
    return {kind: future.result() for kind, future in futures.items()}


def _failures(outcomes: Mapping[type[Record], Outcome]) -> dict[type[Record], str]:
    return {kind: one.failure for kind, one in outcomes.items() if one.failure is not None}


def _broken(outcomes: Mapping[type[Record], Outcome]) -> list[UnreadableRecord]:
    return [broken for one in outcomes.values() for broken in one.broken]


def _first_reason(outcome: Outcome) -> str | None:
    return next(_reasons(outcome), None)


def _reasons(outcome: Outcome) -> Iterator[str]:
    """Why the kind failed; then each reason for which single records could not be read, with the records it is of."""
    if outcome.failure is not None:
        yield outcome.failure
    by_reason: dict[str, list[str]] = {}
    for one in outcome.broken:
        by_reason.setdefault(one.reason, []).append(one.id or "one without an id")
    for why, ids in by_reason.items():
        more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
        yield f"{', '.join(sorted(ids)[:MOST_NAMED])}{more}: {why}"


def _usable(found: Iterable[ReadRecord[Record]], broken: list[UnreadableRecord]) -> Iterator[Record]:
    """The records that can be used; the others go to `broken`."""
    for one in found:
        if isinstance(one, UnreadableRecord):
            broken.append(one)
        else:
            yield one


def _hand_over(records: Iterable[Record], put: Callable[[Sequence[Record]], None]) -> None:
    """A batch at a time; of records that break off, what came before."""
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
    """These kinds, and those that must be read before them."""
    found = set[type[Record]]()
    for kind in kinds:
        found |= {kind} | with_foundations(readers[kind].after, readers)
    return found
