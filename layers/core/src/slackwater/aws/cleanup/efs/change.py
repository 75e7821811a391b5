"""Changes the throughput and lifecycle of EFS file systems in place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs.reading import existing, lifecycle, throughput
from slackwater.aws.client.errors import code_of, reason, remedies
from slackwater.model.money import EFS_IA_READ, efs_storage
from slackwater.model.quantities import size_words
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, Setting
from slackwater.ports.errors import AwsError, BusyError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.money import PriceItem, PriceTable
    from slackwater.model.tracking import TrackedResource
    from slackwater.ports.prices import Prices

CHANGER_ACTIONS: Final = frozenset(
    {
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeLifecycleConfiguration",
        "elasticfilesystem:PutLifecycleConfiguration",
        "elasticfilesystem:UpdateFileSystem",
    }
)


COLDER: Final = (("IA", "Infrequent Access", "ValueInIA"), ("Archive", "Archive", "ValueInArchive"))
"""The names of storage classes in prices, in messages and in DescribeFileSystems."""
UNPRICED: Final = "a price that is not known here"


class EfsChanger:
    """Changes the throughput and the lifecycle of file systems."""

    def __init__(self, reading: AwsSession, asking: AwsSession, prices: Callable[[], Prices] | None = None) -> None:
        """Make no call. Without `prices`, messages have no prices."""
        self._reading = reading
        self._asking = asking
        self._prices = prices

    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """Return the current setting of the same kind as `like`, and whether EFS is updating the file system.

        Raises:
            AwsError: An EFS call failed, or the file system does not exist.
        """
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = existing(efs, resource.id)
            updating = found["LifeCycleState"] != "available"
            match like:
                case EfsThroughputSetting():
                    mode = found["ThroughputMode"]
                    provisioned = found["ProvisionedThroughputInMibps"] if mode == "provisioned" else None
                    return EfsThroughputSetting(mode=mode, provisioned_mib_s=provisioned), updating
                case EfsLifecycleSetting():
                    return _lifecycle_setting(lifecycle(efs, resource.id)), updating
        raise AwsError(f"{like.kind} is no setting of an EFS file system")

    def refusal(self, resource: TrackedResource, to: Setting) -> str | None:
        """Return why EFS would refuse the change now; None if nothing is known.

        EFS does not report when the throughput was last changed. So `change` may still fail because the last change is
        too recent.

        Raises:
            AwsError: The EFS call failed, or the file system does not exist.
        """
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = existing(efs, resource.id)
        if found["LifeCycleState"] != "available":
            return f"its state is {found['LifeCycleState']}"
        mode, archived = found["ThroughputMode"], found["SizeInBytes"].get("ValueInArchive", 0)
        match to:
            case EfsThroughputSetting(mode="elastic") if found["PerformanceMode"] == "maxIO":
                return "its performance mode maxIO does not go with elastic throughput"
            case EfsThroughputSetting(mode="bursting" | "provisioned") if archived:
                return f"{archived:,} bytes of it are in Archive, which takes elastic throughput"
            case EfsLifecycleSetting(transition_to_archive=str()) if mode != "elastic" or found.get(
                "AvailabilityZoneName"
            ):
                return "Archive takes elastic throughput, and more than one zone"
        return None

    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask EFS once to change the setting.

        Raises:
            BusyError: The throughput was changed in the last 24 hours. Nothing is changed.
            AwsError: EFS refused it, or it is unknown whether the request arrived.
        """
        efs = self._asking.client("efs", resource.region)
        with remedies():
            try:
                match to:
                    case EfsThroughputSetting():
                        efs.update_file_system(FileSystemId=resource.id, **throughput(to.mode, to.provisioned_mib_s))
                    case EfsLifecycleSetting():
                        efs.put_lifecycle_configuration(
                            FileSystemId=resource.id, LifecyclePolicies=_lifecycle_policies(to)
                        )
                    case _:
                        raise AwsError(f"{to.kind} is no setting of an EFS file system")
            except ClientError as error:
                if code_of(error) != "TooManyRequests":
                    raise
                raise BusyError(
                    f"EFS lets the throughput of {resource.id} be changed once in 24 hours: later ({reason(error)})"
                ) from error

    def left_behind(self, resource: TrackedResource, changed: Setting, was: Setting) -> Sequence[str]:
        """Return how much data stays in colder storage classes, because restoring a lifecycle moves none of it back.

        Raises:
            AwsError: The EFS call failed, or the file system does not exist.
        """
        if not isinstance(changed, EfsLifecycleSetting) or not isinstance(was, EfsLifecycleSetting):
            return ()
        efs = self._reading.client("efs", resource.region)
        with remedies():
            found = existing(efs, resource.id)
        sizes, one_zone = found["SizeInBytes"], "AvailabilityZoneName" in found
        elastic = found["ThroughputMode"] == "elastic"
        stored = {
            name: efs_storage("IA" if name == "IA" else "Archive", one_zone=one_zone, elastic=elastic)
            for name, _, _ in COLDER
        }
        table = self._prices().of([*stored.values(), EFS_IA_READ], resource.region)[0] if self._prices else {}
        read = {"IA": _usd(table, EFS_IA_READ)}
        moves = f"EFS moves {'a file' if was.transition_to_primary else 'none of it'} back to Standard"
        when = "when it is read" if was.transition_to_primary else "by itself"
        return [
            f"{size_words(sizes[value])} stay in {words}, at {_usd(table, stored[name])} a GiB-month and"
            f" {read.get(name, UNPRICED)} for each GiB that is read back: {moves} {when}"
            for name, words, value in COLDER
            if sizes.get(value)
        ]


def _usd(prices: PriceTable, item: PriceItem) -> str:
    price = prices.get(item)
    return f"${price.usd.normalize():f} (as of {price.as_of})" if price else UNPRICED


def _lifecycle_setting(policies: Collection[Mapping[str, str]]) -> EfsLifecycleSetting:
    words = {name: word for one in policies for name, word in one.items()}
    return EfsLifecycleSetting(
        transition_to_ia=words.get("TransitionToIA"),
        transition_to_archive=words.get("TransitionToArchive"),
        transition_to_primary=words.get("TransitionToPrimaryStorageClass"),
    )


def _lifecycle_policies(setting: EfsLifecycleSetting) -> list[Any]:
    """Return the policies in EFS's format, one transition per policy. With no policy, EFS moves no file."""
    words = {
        "TransitionToIA": setting.transition_to_ia,
        "TransitionToArchive": setting.transition_to_archive,
        "TransitionToPrimaryStorageClass": setting.transition_to_primary,
    }
    return [{name: word} for name, word in words.items() if word]
