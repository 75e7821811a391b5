"""EFS file systems under clean-up: their throughput and lifecycle changed in place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.efs_reading import existing, lifecycle, throughput
from slackwater.aws.errors import AwsError, BusyError, code_of, reason, remedies
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, Setting

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession
    from slackwater.model.tracking import TrackedResource

CHANGER_ACTIONS: Final = frozenset(
    {
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeLifecycleConfiguration",
        "elasticfilesystem:PutLifecycleConfiguration",
        "elasticfilesystem:UpdateFileSystem",
    }
)


class EfsChanger:
    """Changes the throughput and the lifecycle of file systems."""

    def __init__(self, reading: AwsSession, asking: AwsSession) -> None:
        """Makes no call."""
        self._reading = reading
        self._asking = asking

    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """The present setting of the same kind as `like`, and whether EFS is updating the file system.

        Raises:
            AwsError: AWS did not say, or there is no such file system.
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
        """Why EFS would not take it now; None where nothing is known against it.

        When the throughput was changed last, EFS does not tell: that it is too soon shows when it is asked.

        Raises:
            AwsError: AWS did not say, or there is no such file system.
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
            case EfsLifecycleSetting(transition_to_archive=str()) if mode != "elastic" or found.get("AvailabilityZoneName"):
                return "Archive takes elastic throughput, and more than one zone"
        return None

    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask AWS once.

        Raises:
            BusyError: the throughput was changed in the last 24 hours; nothing was changed now.
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        efs = self._asking.client("efs", resource.region)
        with remedies():
            try:
                match to:
                    case EfsThroughputSetting():
                        efs.update_file_system(FileSystemId=resource.id, **throughput(to.mode, to.provisioned_mib_s))
                    case EfsLifecycleSetting():
                        efs.put_lifecycle_configuration(FileSystemId=resource.id, LifecyclePolicies=_lifecycle_policies(to))
                    case _:
                        raise AwsError(f"{to.kind} is no setting of an EFS file system")
            except ClientError as error:
                if code_of(error) != "TooManyRequests":
                    raise
                raise BusyError(
                    f"EFS lets the throughput of {resource.id} be changed once in 24 hours: later ({reason(error)})"
                ) from error


def _lifecycle_setting(policies: Collection[Mapping[str, str]]) -> EfsLifecycleSetting:
    words = {name: word for one in policies for name, word in one.items()}
    return EfsLifecycleSetting(
        transition_to_ia=words.get("TransitionToIA"),
        transition_to_archive=words.get("TransitionToArchive"),
        transition_to_primary=words.get("TransitionToPrimaryStorageClass"),
    )


def _lifecycle_policies(setting: EfsLifecycleSetting) -> list[Any]:
    """EFS takes one transition a policy; with none at all, no file moves."""
    words = {
        "TransitionToIA": setting.transition_to_ia,
        "TransitionToArchive": setting.transition_to_archive,
        "TransitionToPrimaryStorageClass": setting.transition_to_primary,
    }
    return [{name: word} for name, word in words.items() if word]
