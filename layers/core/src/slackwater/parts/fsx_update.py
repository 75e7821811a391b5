"""The command that changes a setting of an OpenZFS or ONTAP file system; what it does not name stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slackwater.model.resources import FsxFileSystem

OPTIONS: Final[Mapping[str, str]] = {"OPENZFS": "--open-zfs-configuration", "ONTAP": "--ontap-configuration"}
"""Where `aws fsx update-file-system` takes the settings of a type."""


def update(file_system: FsxFileSystem, setting: str) -> str:
    """Sets `setting`, as the option takes it: `ThroughputCapacity=160`, or JSON in quotes."""
    return (
        f"aws fsx update-file-system --region {file_system.target.region} --file-system-id {file_system.id}"
        f" {OPTIONS[file_system.file_system_type]} {setting}"
    )
