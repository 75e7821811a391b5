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
from slackwater.aws.inventory.snapshot import BATCH, PART_RECORDS, Shelf, StockError
from slackwater.aws.inventory.validate import sound
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, Late, Rest
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
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.ports.inventory import InventorySnapshot


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of record is read: the IAM action, and every kind that must have been read before.

    It `heeds` kinds that tell whether there can be any, and goes without them where they are not read, or could not be.
    What is `slow` is few records, none of which another reader needs: whoever needs none of them does not wait for them.
    """

    action: str
    read: Callable[[AwsSession, Target, Earlier], Iterator[Record]]
    after: tuple[type[Record], ...] = ()
    heeds: tuple[type[Record], ...] = ()
    slow: bool = False


READERS: Final[Mapping[type[Record], Reader]] = {
    Volume: Reader("ec2:DescribeVolumes", inventory_ec2.volumes),
    Instance: Reader("ec2:DescribeInstances", inventory_ec2.instances),
    EfsFileSystem: Reader("elasticfilesystem:DescribeFileSystems", inventory_efs.file_systems),
    FsxFileSystem: Reader("fsx:DescribeFileSystems", inventory_fsx.file_systems),
    FsxVolume: Reader("fsx:DescribeVolumes", inventory_fsx.volumes, heeds=(FsxFileSystem,)),
    EfsLifecycle: Reader("elasticfilesystem:DescribeLifecycleConfiguration", inventory_efs.lifecycles, after=(EfsFileSystem,)),
    EfsMountTarget: Reader("elasticfilesystem:DescribeMountTargets", inventory_efs.mount_targets, after=(EfsFileSystem,)),
    DiskMetric: Reader("cloudwatch:ListMetrics", inventory_cloudwatch.disk_metrics, after=(Instance,)),
    InstanceType: Reader("ec2:DescribeInstanceTypes", inventory_types.instance_types, after=(Instance,)),
    EfsReplication: Reader(
        "elasticfilesystem:DescribeReplicationConfigurations", inventory_efs.replications, after=(EfsFileSystem,)
    ),
    AttachmentEvent: Reader("cloudtrail:LookupEvents", inventory_cloudtrail.attachment_events, after=(Volume,), slow=True),
    AgentMetric: Reader("cloudwatch:ListMetrics", inventory_cloudwatch.agent_metrics, after=(Instance, InstanceType)),
    OptimizerEnrollment: Reader("compute-optimizer:GetEnrollmentStatus", inventory_optimizer.enrollment, after=(Volume,)),
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

NOT_READ: Final[Future[str | None]] = Future()
NOT_READ.set_result("no detector that is on needs it")

ACTIONS: Final = frozenset(reader.action for reader in READERS.values())


class AwsInventory:
    """The inventory of one session's account."""

    def __init__(
        self, session: AwsSession, readers: Mapping[type[Record], Reader] = READERS, part_records: int = PART_RECORDS
    ) -> None:
        """Makes no call. Other readers may read less; each after those it needs. `part_records` is how large a part gets."""
        self._session = session
        self._readers = readers
        self._part_records = part_records

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """All that `stock` lists, in memory at once."""
        snapshot = self._stock(target, required, optional, Shelf(sys.maxsize))
        return snapshot.fleet(1).whole(), [*snapshot.gaps]

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """Every record of these kinds, and of those they build on. A kind that fails is a gap, and unreadable in every part.

        Raises:
            StockError: there is no room for so many.
        """
        shelf = Shelf(self._part_records)
        try:
            return self._stock(target, required, optional, shelf)
        except BaseException:
            shelf.close()
            raise

    def _stock(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]], shelf: Shelf
    ) -> InventorySnapshot:
        needed = with_foundations(required, self._readers)
        wanted = needed | with_foundations(optional, self._readers)
        futures, slow = dict[type[Record], Future[str | None]](), dict[type[Record], Future[str | None]]()
        late = list[Record]()
        pool = ThreadPoolExecutor(len(self._readers))
        for kind, reader in self._readers.items():
            if kind in wanted:
                before = {earlier: futures.get(earlier, NOT_READ) for earlier in (*reader.after, *reader.heeds)}
                of_its_pace, put = (slow, late.extend) if reader.slow else (futures, shelf.add)
                of_its_pace[kind] = pool.submit(self._read, reader, target, before, shelf, put)
        pool.shutdown(wait=False)
        wait(futures.values())

        def gaps(failures: Mapping[type[Record], str]) -> list[Gap]:
            found = (
                Gap(target.account, target.region, self._readers[kind].action, failure, optional=kind not in needed)
                for kind, failure in failures.items()
            )
            return list(dict.fromkeys(found))  # once where two kinds share an action

        def rest() -> Late:
            failures = _failures(slow)
            return Late(late, failures, gaps(failures))

        failures = _failures(futures)
        return shelf.snapshot(failures, gaps(failures), Rest(frozenset(slow), rest) if slow else None)

    def _read(
        self,
        reader: Reader,
        target: Target,
        before: Mapping[type[Record], Future[str | None]],
        shelf: Shelf,
        put: Callable[[Sequence[Record]], None],
    ) -> str | None:
        """Put the records of one kind where they belong, those read before it failed too; why it failed."""
        try:
            earlier = shelf.earlier(_failures(before))
            _hand_over(map(sound, reader.read(self._session, target, earlier)), put)
        except StockError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever broke, the rest of the inventory must still be read
            return reason(error)
        return None


def _failures(futures: Mapping[type[Record], Future[str | None]]) -> dict[type[Record], str]:
    """Waits for all."""
    return {kind: why for kind, future in futures.items() if (why := future.result()) is not None}


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


def with_foundations(kinds: Iterable[type[Record]], readers: Mapping[type[Record], Reader] = READERS) -> set[type[Record]]:
    """These kinds, and those that must be read before them."""
    found = set[type[Record]]()
    for kind in kinds:
        found |= {kind} | with_foundations(readers[kind].after, readers)
    return found
