"""Resources that came into use: work in their metrics from some moment on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .ebs_metrics import ebs_track
from .efs_metrics import efs_track
from .fsx_metrics import fsx_names, fsx_track, fsx_volume_track
from .resources import KIB, MIB, ElasticFileSystem, FsxFileSystem, FsxVolume, Volume
from .series import FOREVER, MINUTE, MINUTELY, Series, Track

_OPERATIONS, _BYTES = 1_200.0, 1_200.0 * 64 * KIB
"""Of each kind in a minute: 20 operations of 64 KiB a second."""
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
    """The same resource, in use from `since` (epoch seconds) on, or from its creation if that is later."""
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
    """The same file system, with so much more in its metrics for each minute from `since` to `until` (epoch seconds).

    One that is dark publishes nothing of it. AWS does not say whether what AWS Backup reads is published. Here it is.
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
    """A track as it was until `since`, and then this value every minute."""
    before = tuple(replace(series, until=min(series.until, since)) for series in track or () if series.since < since)
    return (*before, Series(MINUTELY, value, since=since, digits=4))
