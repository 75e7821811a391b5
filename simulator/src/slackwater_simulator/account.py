"""One account as its services see it: resources by Region, metrics, and pages rendered once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from .resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume
from .telemetry import Telemetry


class _Placed(Protocol):
    @property
    def region(self) -> str: ...


def _by_region[T: _Placed](items: Iterable[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(item.region, []).append(item)
    return found


@dataclass(eq=False)
class Account:
    """A fleet, indexed."""

    fleet: Fleet
    metrics_requested: int = 0
    datapoints: int = 0
    _pages: dict[object, bytes] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The account's number."""
        return self.fleet.account

    @cached_property
    def telemetry(self) -> Telemetry:
        """Its metrics."""
        return Telemetry(self.fleet)

    @cached_property
    def volumes(self) -> dict[str, list[Volume]]:
        """EBS volumes by Region."""
        return _by_region(self.fleet.volumes)

    @cached_property
    def instances(self) -> dict[str, list[Instance]]:
        """Instances by Region."""
        return _by_region(self.fleet.instances)

    @cached_property
    def efs(self) -> dict[str, list[ElasticFileSystem]]:
        """EFS file systems by Region."""
        return _by_region(self.fleet.efs)

    @cached_property
    def fsx(self) -> dict[str, list[FsxFileSystem]]:
        """FSx file systems by Region."""
        return _by_region(self.fleet.fsx)

    @cached_property
    def fsx_volumes(self) -> dict[str, list[FsxVolume]]:
        """FSx volumes by Region."""
        return _by_region(self.fleet.fsx_volumes)

    def page(self, key: object, render: Callable[[], bytes]) -> bytes:
        """The bytes of a page, rendered when first asked for."""
        if key not in self._pages:
            self._pages[key] = render()
        return self._pages[key]


def cut[T](items: Sequence[T], offset: int, size: int) -> tuple[Sequence[T], int | None]:
    """One page, and the offset of the next if there is one."""
    following = offset + size
    return items[offset:following], following if following < len(items) else None
