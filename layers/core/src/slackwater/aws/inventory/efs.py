"""Reads EFS file systems, their replications, and some of their lifecycle policies and mount targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of
from slackwater.aws.client.pages import MARKER, pages
from slackwater.aws.client.parallel import parallel_map
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.records import BROKEN, ReadRecord, after_pause, named, one_by_one, records
from slackwater.aws.inventory.snapshot import is_any
from slackwater.model.resources import EfsFileSystem, EfsLifecycle, EfsMountTarget, EfsReplication, EfsStorageClass
from slackwater.model.units import GIB
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset(
    {
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeLifecycleConfiguration",
        "elasticfilesystem:DescribeMountTargets",
        "elasticfilesystem:DescribeReplicationConfigurations",
    }
)

MOUNT_TARGETS_PAGE: Final = 100
"""EFS's maximum page size. Its default is ten."""

PROVISIONED: Final = "ProvisionedThroughputInMibps"
NOT_FOUND: Final = "FileSystemNotFound"
GONE: Final = frozenset({"deleting", "deleted"})


def file_systems(session: AwsSession, target: Target, _: Earlier, **only: Any) -> Iterator[ReadRecord[EfsFileSystem]]:
    """Read every file system that is not being deleted, or the one that is named. EFS's page size is always 100."""
    call = session.client("efs", target.region).describe_file_systems

    def found(**parameters: Any) -> Iterator[Any]:
        return pages(call, "FileSystems", tokens=MARKER, **parameters)

    return records(
        EfsFileSystem,
        found(**only),
        partial(_file_system, target=target),
        id_of=named("FileSystemId"),
        again=after_pause(session, one_by_one(lambda id_: found(FileSystemId=id_), NOT_FOUND)),
        says_gone=True,
    )


def replications(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[EfsReplication]]:
    """Read both sides of every replication, with one call for the account instead of one for each file system."""
    if not is_any(before, EfsFileSystem):
        return
    call = session.client("efs", target.region).describe_replication_configurations
    sides = chain.from_iterable(map(_sides, pages(call, "Replications")))
    try:
        yield from records(EfsReplication, sides, _replication, id_of=named("FileSystemId"))
    except ClientError as error:
        if code_of(error) != "ReplicationNotFound":  # EFS's code if there is none
            raise


def _sides(found: Any) -> Iterator[Any]:
    """Yield the source of a replication and its destinations.

    If the response has no destinations, it yields one without an id.
    """
    destinations = found.get("Destinations") or [{}]
    yield {
        "FileSystemId": found.get("SourceFileSystemId"),
        "Status": destinations[0].get("Status", ""),
        "Role": "source",
    }
    for destination in destinations:
        yield {"Status": "", **destination, "Role": "destination"}


def _replication(side: Any) -> EfsReplication:
    return EfsReplication(id=side["FileSystemId"], role=side["Role"], status=side["Status"])


def lifecycles(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[EfsLifecycle]]:
    """Read the lifecycle policies of each file system with much data in Standard. Makes a call for each."""
    call = session.client("efs", target.region).describe_lifecycle_configuration
    least_bytes = EfsLifecycle.LEAST_STANDARD_GIB * GIB
    systems = (one for one in before.all(EfsFileSystem) if one.stored_bytes["Standard"] >= least_bytes)
    answers = parallel_map(lambda system: _of(system, call, "LifecyclePolicies"), systems)
    return records(EfsLifecycle, answers, _lifecycle, id_of=_system_of)


def _lifecycle(answer: _Answer) -> EfsLifecycle | None:
    if answer.items() is None:
        return None
    words = {name: word for policy in answer.items() or () for name, word in policy.items()}
    return EfsLifecycle(
        id=answer.system_id,
        transition_to_ia=words.get("TransitionToIA"),
        transition_to_archive=words.get("TransitionToArchive"),
        transition_to_primary=words.get("TransitionToPrimaryStorageClass"),
    )


def mount_targets(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[EfsMountTarget]]:
    """Read the mount target of each Regional file system that has only one. Makes a call for each."""
    call = partial(session.client("efs", target.region).describe_mount_targets, MaxItems=MOUNT_TARGETS_PAGE)
    systems = (one for one in before.all(EfsFileSystem) if one.availability_zone is None and one.mount_targets == 1)
    answers = parallel_map(lambda system: _of(system, call, "MountTargets"), systems)
    found = ((answer, item) for answer in answers for item in answer.each())
    return records(
        EfsMountTarget,
        found,
        _mount_target,
        id_of=lambda one: named("MountTargetId")(one[1]),
        owners_of=lambda one: (one[0].system_id,),
    )


def _mount_target(found: tuple[_Answer, Any]) -> EfsMountTarget | None:
    answer, item = found
    if answer.failure:
        raise answer.failure
    if item["LifeCycleState"] in GONE:
        return None
    return EfsMountTarget(
        id=item["MountTargetId"],
        file_system_id=answer.system_id,
        availability_zone=item.get("AvailabilityZoneName"),
        subnet_id=item["SubnetId"],
        state=item["LifeCycleState"],
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """EFS's response about one file system: items, or why they cannot be read.

    If the file system was deleted in the meantime, it has neither.
    """

    system_id: str
    found: list[Any] | None = None
    failure: Exception | None = None

    def items(self) -> list[Any] | None:
        """Return the items, or None if the file system does not exist any more.

        Raises:
            Exception: The response cannot be read.
        """
        if self.failure:
            raise self.failure
        return self.found

    def each(self) -> list[Any]:
        """Return an entry for each item to read. A response that cannot be read is one unreadable entry."""
        return [{"MountTargetId": f"of {self.system_id}"}] if self.failure else self.found or []


def _system_of(answer: _Answer) -> str:
    return answer.system_id


def _of(system: EfsFileSystem, call: Callable[..., Mapping[str, Any]], key: str) -> _Answer:
    """Return everything under `key` for one file system. An unreadable response affects only that file system."""
    try:
        return _Answer(system.id, list(pages(call, key, tokens=MARKER, FileSystemId=system.id)))
    except ClientError as error:
        if code_of(error) != NOT_FOUND:
            raise
        return _Answer(system.id)
    except BROKEN as error:
        return _Answer(system.id, failure=error)


def _stored(size: Any) -> dict[EfsStorageClass, int]:
    """Return the bytes by storage class. If one class is missing, it gets the rest of the total.

    Raises:
        BrokenAnswerError: Two classes are missing, and the total has a rest for them.
    """
    sizes_bytes: dict[EfsStorageClass, int | None] = {
        name: size.get(f"ValueIn{name}") for name in ("Standard", "IA", "Archive")
    }
    if all(value is None for value in sizes_bytes.values()):  # responses from before there were storage classes
        return {"Standard": size["Value"], "IA": 0, "Archive": 0}
    missing = [name for name, value in sizes_bytes.items() if value is None]
    left = max(0, size["Value"] - sum(value or 0 for value in sizes_bytes.values())) if missing else 0
    if left and len(missing) > 1:
        raise BrokenAnswerError(f"{left} bytes are in {' or '.join(missing)}, and it does not say which")
    return {name: left if value is None else value for name, value in sizes_bytes.items()}


def _file_system(found: Any, target: Target) -> EfsFileSystem | None:
    if found["LifeCycleState"] in GONE:
        return None
    mode, protection = found["ThroughputMode"], found.get("FileSystemProtection", {})
    return EfsFileSystem(
        id=found["FileSystemId"],
        arn=found["FileSystemArn"],
        target=target,
        tags=tags_of(found["Tags"]) if "Tags" in found else None,  # EFS always returns them: if not, they are unknown
        state=found["LifeCycleState"],
        created_at=found["CreationTime"],
        throughput_mode=mode,
        provisioned_mib_s=found[PROVISIONED] if mode == "provisioned" else found.get(PROVISIONED),
        performance_mode=found["PerformanceMode"],
        availability_zone=found.get("AvailabilityZoneName"),
        stored_bytes=_stored(found["SizeInBytes"]),
        mount_targets=found["NumberOfMountTargets"],
        is_replica=protection.get("ReplicationOverwriteProtection") == "REPLICATING",
    )
