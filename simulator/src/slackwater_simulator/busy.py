"""Add work to the metrics of resources from some time on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .ebs_metrics import ebs_track
from .efs_metrics import efs_track
from .fsx_metrics import fsx_names, fsx_track, fsx_volume_track
from .resources import KIB, MIB, ElasticFileSystem, FsxFileSystem, FsxVolume, Volume
from .series import FOREVER, MINUTE, MINUTELY, Series, Track

_OPERATIONS, _BYTES = 1_200.0, 1_200.0 * 64 * KIB
"""Reads and writes each, a minute: 20 operations of 64 KiB a second."""
_VOLUME = {
    "VolumeReadOps": _OPERATIONS,
    "VolumeWriteOps": _OPERATIONS,
    "VolumeReadBytes": _BYTES,
    "VolumeWriteBytes": _BYTES,
    "VolumeIdleTime": 58.0,
    "VolumeTotalReadTime": 1.0,
    "VolumeTotalWriteTime": 1.0,
    "VolumeQueueLength": 0.04,
}
_EFS = {
    "DataReadIOBytes": _BYTES,
    "DataWriteIOBytes": _BYTES,
    "MetadataIOBytes": 1.0 * MIB,
    "MetadataReadIOBytes": 0.5 * MIB,
    "MetadataWriteIOBytes": 0.5 * MIB,
    "MeteredIOBytes": _BYTES * 4 / 3 + MIB,
    "TotalIOBytes": _BYTES * 2 + MIB,
    "ClientConnections": 2.0,
}
_FSX = {
    "DataReadBytes": _BYTES,
    "DataWriteBytes": _BYTES,
    "DataReadOperations": _OPERATIONS,
    "DataWriteOperations": _OPERATIONS,
    "MetadataOperations": 60.0,
}
_IN_USE: dict[type, tuple[Callable[[Any, str], Track | None], dict[str, float]]] = {
    Volume: (ebs_track, _VOLUME),
    ElasticFileSystem: (efs_track, _EFS),
    FsxFileSystem: (fsx_track, _FSX),
    FsxVolume: (fsx_volume_track, _FSX),
}


def busy(resource: Any, since: int) -> Any:
    """Return the resource with work from `since` (epoch seconds) on, or from its creation if that is later."""
    track, values = _IN_USE[type(resource)]
    since = max(since, resource.created)
    if isinstance(resource, FsxFileSystem) and "ClientConnections" in fsx_names(resource):
        values = values | {"ClientConnections": 2.0}
    published = {name: _from(track(resource, name), since, value) for name, value in values.items()}
    changed = replace(resource, telemetry={**resource.telemetry, **published})
    if not isinstance(resource, Volume):
        return changed
    attached = any(until > since for _, until in resource.intervals)
    return replace(changed, used=resource.intervals if attached else (*resource.intervals, (since, FOREVER)))


_SERVICE = {name: value for name, value in _EFS.items() if name != "ClientConnections"}
_BACKUP = {
    "DataReadIOBytes": _BYTES,
    "MetadataIOBytes": 0.5 * MIB,
    "MetadataReadIOBytes": 0.5 * MIB,
    "MeteredIOBytes": _BYTES / 3 + 0.5 * MIB,
    "TotalIOBytes": _BYTES + 0.5 * MIB,
}
_WORK = {"client": _EFS, "service": _SERVICE, "backup": _BACKUP}


def worked(system: Any, since: int, until: int, how: str) -> Any:
    """Return the file system with added work in each minute from `since` to `until` (epoch seconds).

    A dark file system publishes none. AWS does not say whether it publishes AWS Backup's reads; the simulator does.
    """
    if system.voice == "dark":
        return system
    since, until = since // MINUTE * MINUTE, -(-until // MINUTE) * MINUTE
    more = {
        name: (*(efs_track(system, name) or ()), Series(MINUTELY, value, since=since, until=until, digits=4))
        for name, value in _WORK[how].items()
    }
    return replace(system, telemetry={**system.telemetry, **more})


def _from(track: Track | None, since: int, value: float) -> Track:
    """Return the track up to `since`, followed by this value every minute."""
    before = tuple(replace(series, until=min(series.until, since)) for series in track or () if series.since < since)
    return (*before, Series(MINUTELY, value, since=since, digits=4))
