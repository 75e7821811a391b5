"""Settings of a resource that Slackwater can change in place and change back."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSetting:
    """The performance of an EBS volume, in ModifyVolume's terms. None if its type does not let you choose it."""

    kind: Literal["volume"] = "volume"
    volume_type: str
    iops: int | None
    throughput_mib_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsThroughputSetting:
    """The throughput mode of an EFS file system: "bursting", "elastic", or "provisioned" with MiB/s."""

    kind: Literal["efs-throughput"] = "efs-throughput"
    mode: str
    provisioned_mib_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EfsLifecycleSetting:
    """When an EFS file system moves files between classes, in EFS's words (`AFTER_30_DAYS`). None means never."""

    kind: Literal["efs-lifecycle"] = "efs-lifecycle"
    transition_to_ia: str | None
    transition_to_archive: str | None = None
    transition_to_primary: str | None = None


type Setting = VolumeSetting | EfsThroughputSetting | EfsLifecycleSetting


def in_words(setting: Setting) -> str:
    """Return a setting for people: `gp3, 3,000 IOPS, 125 MiB/s`; `elastic throughput`."""
    match setting:
        case VolumeSetting():
            rates = ((setting.iops, "IOPS"), (setting.throughput_mib_s, "MiB/s"))
            return ", ".join([setting.volume_type, *(f"{rate:,} {unit}" for rate, unit in rates if rate is not None)])
        case EfsThroughputSetting():
            of = "" if setting.provisioned_mib_s is None else f" of {setting.provisioned_mib_s:g} MiB/s"
            return f"{setting.mode} throughput{of}"
        case EfsLifecycleSetting():
            moves = (
                ("to Infrequent Access", setting.transition_to_ia),
                ("to Archive", setting.transition_to_archive),
                ("back to Standard", setting.transition_to_primary),
            )
            parts = [f"{where} {when.replace('_', ' ').lower()}" for where, when in moves if when]
            return f"tiering {', '.join(parts)}" if parts else "no tiering"
