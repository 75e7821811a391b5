"""Reads what one account holds in one region: only the kinds asked for, services side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from slackwater.aws import (
    inventory_cloudtrail,
    inventory_cloudwatch,
    inventory_ec2,
    inventory_efs,
    inventory_fsx,
    inventory_optimizer,
    inventory_types,
)
from slackwater.aws.errors import reason
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
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
    from slackwater.aws.session import AwsSession


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of record is read: the IAM action, and every kind that must have been read before."""

    action: str
    read: Callable[[AwsSession, Target, Fleet], Iterator[Record]]
    after: tuple[type[Record], ...] = ()


READERS: Final[Mapping[type[Record], Reader]] = {
    Volume: Reader("ec2:DescribeVolumes", inventory_ec2.volumes),
    Instance: Reader("ec2:DescribeInstances", inventory_ec2.instances),
    EfsFileSystem: Reader("elasticfilesystem:DescribeFileSystems", inventory_efs.file_systems),
    FsxFileSystem: Reader("fsx:DescribeFileSystems", inventory_fsx.file_systems),
    FsxVolume: Reader("fsx:DescribeVolumes", inventory_fsx.volumes),
    EfsLifecycle: Reader("elasticfilesystem:DescribeLifecycleConfiguration", inventory_efs.lifecycles, after=(EfsFileSystem,)),
    EfsMountTarget: Reader("elasticfilesystem:DescribeMountTargets", inventory_efs.mount_targets, after=(EfsFileSystem,)),
    DiskMetric: Reader("cloudwatch:ListMetrics", inventory_cloudwatch.disk_metrics, after=(Instance,)),
    InstanceType: Reader("ec2:DescribeInstanceTypes", inventory_types.instance_types, after=(Instance,)),
    EfsReplication: Reader(
        "elasticfilesystem:DescribeReplicationConfigurations", inventory_efs.replications, after=(EfsFileSystem,)
    ),
    AttachmentEvent: Reader("cloudtrail:LookupEvents", inventory_cloudtrail.attachment_events, after=(Volume,)),
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
"""Every kind there is, each after those it needs."""

ACTIONS: Final = frozenset(reader.action for reader in READERS.values())


@dataclass(slots=True)
class _Read:
    """What came of one kind: the records read before it ended or failed, and why it failed."""

    records: list[Record] = field(default_factory=list)
    failure: str | None = None


class AwsInventory:
    """The inventory of one session's account."""

    def __init__(self, session: AwsSession, readers: Mapping[type[Record], Reader] = READERS) -> None:
        """Makes no call. Other readers may read less; each after those it needs."""
        self._session = session
        self._readers = readers

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Every record of these kinds, and of those they build on. A kind that fails is a gap, and unreadable in the fleet."""
        needed = with_foundations(required, self._readers)
        wanted = needed | with_foundations(optional, self._readers)
        futures: dict[type[Record], Future[_Read]] = {}
        with ThreadPoolExecutor(len(self._readers)) as pool:
            for kind, reader in self._readers.items():
                if kind in wanted:
                    futures[kind] = pool.submit(self._read, reader, target, [futures[k] for k in reader.after])
        done = {kind: future.result() for kind, future in futures.items()}
        failures = {kind: read.failure for kind, read in done.items() if read.failure is not None}
        gaps = dict.fromkeys(
            Gap(target.account, target.region, self._readers[kind].action, failure, optional=kind not in needed)
            for kind, failure in failures.items()
        )
        return Fleet(_records(done.values()), failures), list(gaps)  # once where two kinds share an action

    def _read(self, reader: Reader, target: Target, before: Iterable[Future[_Read]]) -> _Read:
        read = _Read()
        try:
            fleet = Fleet(_records(future.result() for future in before))
            # One by one, so that what came before a failure is kept.
            for record in reader.read(self._session, target, fleet):
                read.records.append(record)
        except Exception as error:  # noqa: BLE001 -- whatever broke, the rest of the inventory must still be read
            read.failure = reason(error)
        return read


def _records(reads: Iterable[_Read]) -> Iterator[Record]:
    return (record for read in reads for record in read.records)


def with_foundations(kinds: Iterable[type[Record]], readers: Mapping[type[Record], Reader] = READERS) -> set[type[Record]]:
    """These kinds, and those that must be read before them."""
    found = set[type[Record]]()
    for kind in kinds:
        found |= {kind} | with_foundations(readers[kind].after, readers)
    return found
