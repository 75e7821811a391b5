"""FSx for OpenZFS and ONTAP file servers far larger than their busiest minute.

## What it finds
A file system whose throughput capacity could be a smaller one: at the next sizes down, the busiest minute of the last 35 days
would still be less than half of what the smaller file server carries, of its network, its processors and its disks alike, each
by its own column of AWS's table: half the throughput capacity of ONTAP may have less than half the network. The *peak* counts,
and of what a file server does in bursts nothing: where its burst credits fell below 90 % it lives on them.

## Why it matters
Throughput capacity is billed by the MB/s from the first one on, used or not, and in several Availability Zones it is the
dearest part of a file system. It is bought for a migration, or in the hope that a slow export becomes fast ("Sharing WordPress
content on FSx for OpenZFS", 2025-03: it did not).

## When it is wrong
A smaller file server has less memory: what its cache held is then read from the disks, which these metrics cannot foretell. A
quarterly load needs more than 35 days: lengthen `window_days`. Two weeks without a gap are enough to judge, with less
confidence. File systems whose table of sizes is not built in (Windows, Lustre, ONTAP of the second generation) are not judged,
nor is Intelligent-Tiering, which reads from what its file server caches.

## What to do
Lower the throughput capacity in a quiet hour, watch the same metrics for a week, and raise it again the same way if need be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Seen, limit
from slackwater.model.metrics import Metric
from slackwater.model.money import difference
from slackwater.model.resources import FsxFileSystem, Target
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import fsx
from slackwater.rules.fsx import Utilization, UtilizationLimits, peak, update, utilization

NETWORK = Metric("AWS/FSx", "NetworkThroughputUtilization", "Maximum", "percent")
DISK_IOPS = Metric("AWS/FSx", "FileServerDiskIopsUtilization", "Maximum", "percent")
SERVER: Final = (
    Metric("AWS/FSx", "CPUUtilization", "Maximum", "percent"),
    Metric("AWS/FSx", "FileServerDiskThroughputUtilization", "Maximum", "percent"),
    DISK_IOPS,
)
BALANCES: Final = tuple(
    Metric("AWS/FSx", name, "Minimum", "percent") for name in ("FileServerDiskThroughputBalance", "FileServerDiskIopsBalance")
)


class SurplusThroughputLimits(UtilizationLimits):
    """How busy the smaller file server may be."""

    balance_percent: float = limit(90, unit="percent", gt=0, le=100, why="below it, work is done on burst credits")


def judge(file_system: FsxFileSystem, seen: Seen, limits: SurplusThroughputLimits) -> Verdict:
    """Flag a file system that the busiest minute of the window would leave half idle on a smaller file server."""
    table, server = fsx.deployment(file_system), fsx.file_server(file_system)
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if table is None:
        return Fine(f"AWS's table of sizes for {file_system.file_system_type} {file_system.deployment_type} is not built in")
    if file_system.storage_type != "SSD":
        return Fine(f"file servers of {file_system.storage_type} are not judged")
    if server is None:
        return Fine(f"its {file_system.throughput_mb_s} MB/s are not in AWS's table of sizes")
    present = server.throughput_mb_s
    smaller = [one for one in table.file_servers if one.throughput_mb_s < present and not one.least_gib]
    if not smaller:
        return Fine("there is no smaller one")
    next_down = smaller[-1]

    seen_network = utilization(file_system, seen, limits, NETWORK)
    if not isinstance(seen_network, Utilization):
        return seen_network
    (network,) = seen_network.series
    if _on(next_down, server, NETWORK, peak(network)) >= limits.busy_percent:
        return Fine(f"its network was {peak(network):.0f} % busy: {next_down.throughput_mb_s:,} MB/s would be too little")
    bursts = present < table.bursts_below_mb_s
    rest = utilization(file_system, seen, limits, *SERVER, *(BALANCES if bursts else ()))
    if not isinstance(rest, Utilization):
        return rest
    peaks = {NETWORK: peak(network)}
    peaks |= {metric: peak(series) for metric, series in zip(SERVER, rest.series[: len(SERVER)], strict=True)}
    lowest = min((min(series.present) for series in rest.series[len(SERVER) :]), default=100.0)
    if lowest < limits.balance_percent:
        return Fine(f"it lives on burst credits, which fell to {lowest:.0f} %")
    loads = {one: _busiest(one, server, peaks) for one in smaller}
    fitting = [one for one, load in loads.items() if load.percent < limits.busy_percent]
    if not fitting:
        metric = loads[next_down].metric
        return Fine(f"{metric.name} was {peaks[metric]:.0f} %: {next_down.throughput_mb_s:,} MB/s would be too little")
    least, load = fitting[0].throughput_mb_s, loads[fitting[0]]
    days = min(seen_network.days, rest.days)
    before = fsx.monthly_units(file_system)
    after = fsx.monthly_units(replace(file_system, throughput_mb_s=least))
    caveats = [
        "Less memory means more reads from the disks, which these metrics cannot foretell.",
        "Two changes of throughput or IOPS lie 6 hours apart at least in several zones.",
    ]
    if owner := file_system.managed_by:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=(
            f"{present:,} MB/s provisioned, and its busiest minute of {days} days used {max(peaks.values()):.0f} % of it:"
            f" {least:,} MB/s would be {load.percent:.0f} % busy at most"
        ),
        confidence="high" if seen_network.whole and rest.whole else "medium",
        evidence=(
            Evidence(label="Throughput capacity", value=present, unit="MB/s"),
            Evidence(label=f"Busiest minute ({load.metric.name})", value=round(peaks[load.metric], 1), unit="percent"),
            Evidence(
                label="Network, busiest minute by day",
                value=round(peak(network), 1),
                unit="percent",
                series=network,
                scale=100,
                lines=(
                    Line(f"Provisioned ({present:,} MB/s)", 100),
                    Line(f"Proposed ({least:,} MB/s)", round(100 / _on(fitting[0], server, NETWORK, 1), 2)),
                ),
            ),
            *([Evidence(label="Burst credits at the least", value=round(lowest, 1), unit="percent")] if bursts else []),
        ),
        advice=(
            Advice(
                action="lower-throughput-capacity",
                summary=f"Set {least:,} MB/s: {load.percent:.0f} % busy at its busiest. Storage and IOPS stay.",
                changes=None if before is None or after is None else difference(before, after),
                risk=(
                    "It fails over while it changes."
                    if _has_standby(file_system)
                    else "It is down for minutes while it changes."
                )
                + " A smaller file server has less memory to cache with: watch its disks for a week.",
                reversible=True,
                command=update(file_system, f"ThroughputCapacity={least}"),
            ),
        ),
        gist=(present, least),
        caveats=tuple(caveats),
    )


class _Load(NamedTuple):
    """What a file server would be busiest with, percent."""

    percent: float
    metric: Metric


def _on(smaller: fsx.FileServer, server: fsx.FileServer, metric: Metric, percent: float) -> float:
    """What `percent` of a file server is of a smaller one, by the metric's own column of the table."""
    return percent * _whole(server, metric) / _whole(smaller, metric)


def _whole(server: fsx.FileServer, metric: Metric) -> int:
    """What a metric is a percentage of; processors are taken to follow the throughput capacity."""
    return {NETWORK: server.network_mb_s, DISK_IOPS: server.disk_iops}.get(metric, server.throughput_mb_s)


def _busiest(smaller: fsx.FileServer, server: fsx.FileServer, peaks: Mapping[Metric, float]) -> _Load:
    loads = (_Load(_on(smaller, server, metric, percent), metric) for metric, percent in peaks.items())
    return max(loads, key=lambda load: load.percent)


def _has_standby(file_system: FsxFileSystem) -> bool:
    """Only OpenZFS in a single zone without high availability has none."""
    return file_system.file_system_type == "ONTAP" or file_system.deployment_type not in ("SINGLE_AZ_1", "SINGLE_AZ_2")


_SHARE = FsxFileSystem(
    id="fs-0123456789abcdef0",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:file-system/fs-0123456789abcdef0",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "renders"},
    file_system_type="OPENZFS",
    deployment_type="MULTI_AZ_1",
    state="AVAILABLE",
    created_at=CASE_NOW - timedelta(days=250),
    storage_type="SSD",
    storage_gib=1_024,
    throughput_mb_s=640,
    iops=3_072,
    iops_mode="AUTOMATIC",
)
_DAYS = 36


def _busy(
    network: float, *, cpu: float = 8, disks: float = 9, balance: float | None = 100, days: int = _DAYS
) -> dict[tuple[Metric, int], list[float | None]]:
    """So busy every day, and what was left of the credits."""
    return {
        (NETWORK, DAY_S): [network] * days,
        **{(metric, DAY_S): [cpu if metric.name == "CPUUtilization" else disks] * days for metric in SERVER},
        **{(metric, DAY_S): [balance] * days for metric in BALANCES},
    }


_QUIET = _busy(6)
_A_NIGHT: Mapping[tuple[Metric, int], Sequence[float | None]] = {**_QUIET, (NETWORK, DAY_S): [6.0] * 20 + [92.0] + [6.0] * 15}

DETECTOR = Detector(
    title="FSx file server far larger than its work",
    kind="waste",
    resource=FsxFileSystem,
    limits=SurplusThroughputLimits,
    judge=judge,
    cases=(
        Case(
            title="640 MB/s, 9 % busy at most",
            resource=_SHARE,
            metrics=_QUIET,
            expect=Flagged,
            says="160 MB/s would be 36 % busy",
        ),
        Case(title="a monthly job at full speed", resource=_SHARE, metrics=_A_NIGHT, expect=Fine, says="network was 92 %"),
        Case(
            title="its processors are half busy", resource=_SHARE, metrics=_busy(6, cpu=55), expect=Fine, says="CPUUtilization"
        ),
        Case(
            title="half would be too little",
            resource=_SHARE,
            metrics=_busy(26),
            expect=Fine,
            says="320 MB/s would be too little",
        ),
        Case(
            title="a quarter of it is used", resource=_SHARE, metrics=_busy(24), expect=Flagged, says="320 MB/s would be 48 %"
        ),
        Case(title="on burst credits", resource=_SHARE, metrics=_busy(6, balance=40), expect=Fine, says="burst credits"),
        Case(title="the smallest there is", resource=replace(_SHARE, throughput_mb_s=160), expect=Fine, says="no smaller one"),
        Case(
            title="Windows",
            resource=replace(_SHARE, file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2"),
            expect=Fine,
            says="not built in",
        ),
        Case(
            title="ten days old",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=10)),
            metrics=_QUIET,
            expect=Fine,
            says="younger than 15 days",
        ),
        Case(
            title="watched for three weeks",
            resource=_SHARE,
            metrics=_busy(6, days=22),
            expect=Flagged,
            says="busiest minute of 21 days",
        ),
        Case(
            title="ONTAP, whose next smaller file server has less than half the network",
            resource=replace(_SHARE, file_system_type="ONTAP", throughput_mb_s=1_024),
            metrics=_busy(24),
            expect=Fine,
            says="network was 24 % busy: 512 MB/s would be too little",
        ),
        Case(
            title="Intelligent-Tiering",
            resource=replace(_SHARE, storage_type="INTELLIGENT_TIERING", storage_gib=0),
            metrics=_QUIET,
            expect=Fine,
            says="INTELLIGENT_TIERING",
        ),
        Case(
            title="a day on which nobody watched",
            resource=_SHARE,
            metrics={**_QUIET, (NETWORK, DAY_S): [6.0] * 30 + [None] + [6.0] * 5},
            expect=Unknown,
            says="no point on 1 of 35 days",
        ),
        Case(title="nobody knows its credits", resource=_SHARE, metrics=_busy(6, balance=None), expect=Unknown, says="Balance"),
        Case(title="being updated", resource=replace(_SHARE, state="UPDATING"), expect=Fine, says="updating"),
    ),
)
