"""FSx file systems with far more throughput capacity than they use.

## What it finds
An OpenZFS or ONTAP file system on SSD that a smaller file server could carry. In the busiest minute of the last 35
days, the network, the processors and the disks of the smaller one would be less than half busy, each by its own column
of AWS's table. A file system whose burst credits fell below 90 % is not flagged.

## Why it matters
AWS bills throughput capacity from the first MB/s on, used or not. In several Availability Zones it is the most
expensive part of a file system. People buy it for a migration, or to speed up a slow export, which it does not
("Sharing WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
- A smaller file server has less memory. These metrics do not show how much more is then read from the disks.
- A quarterly load needs more than 35 days. Set a longer `window_days`.
- Windows, Lustre, Intelligent-Tiering and the second generation of ONTAP are not judged.

## What to do
Lower the throughput capacity at a quiet hour and watch the same metrics for a week. You can raise it the same way.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Final

from slackwater.model.detector import Detector, Seen, limit, unless_decided
from slackwater.model.metrics import Metric
from slackwater.model.resources import FsxFileSystem
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx as formulas
from slackwater.performance.fsx import FileServer
from slackwater.rules import examples, fsx
from slackwater.rules.examples import Cases, Metrics, days, days_ago
from slackwater.rules.fsx import CPU, NETWORK, SERVER_DISK_IOPS, SERVER_DISK_THROUGHPUT

INTERVAL = "In several Availability Zones, FSx needs at least 6 hours between two changes of throughput or IOPS."
SERVER: Final = (CPU, SERVER_DISK_THROUGHPUT, SERVER_DISK_IOPS)
BALANCES: Final = tuple(
    Metric("AWS/FSx", f"FileServerDisk{kind}Balance", "Minimum", "percent") for kind in ("Throughput", "Iops")
)
CAPACITY: Final[Mapping[Metric, Callable[[FileServer], int]]] = {
    NETWORK: attrgetter("network_mb_s"),
    CPU: attrgetter("throughput_mb_s"),
    SERVER_DISK_THROUGHPUT: attrgetter("throughput_mb_s"),
    SERVER_DISK_IOPS: attrgetter("disk_iops"),
}
"""What each metric is a percentage of. Assumed for CPU: it scales with throughput capacity, as AWS lists no CPUs."""


class SurplusThroughputLimits(fsx.UtilizationLimits):
    """How busy the smaller file server may be."""

    balance_percent: float = limit(90, unit="percent", gt=0, le=100, why="below it, the work uses burst credits")


def judge(file_system: FsxFileSystem, seen: Seen, limits: SurplusThroughputLimits) -> Verdict:
    """Flag a file system that a smaller file server would carry at less than half its capacity."""
    table, server = formulas.deployment(file_system), formulas.file_server(file_system)
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if file_system.storage_type != "SSD":
        return Fine(f"file servers of {file_system.storage_type} are not judged")
    if table is None or server is None:
        return Fine("the table of sizes for its type, deployment type and throughput capacity is not built in")
    present = server.throughput_mb_s
    smaller = [one for one in table.file_servers if one.throughput_mb_s < present and not one.least_gib]
    if not smaller:
        return Fine("there is no smaller one")

    recorded = unless_decided(fsx.utilization(file_system, seen, limits, NETWORK))
    peaks = {NETWORK: max(recorded.series[0].present)}
    if _load(smaller[-1], server, peaks)[0] >= limits.busy_percent:
        return _too_small(smaller[-1], server, peaks)
    bursts = present < table.bursts_below_mb_s
    rest = unless_decided(fsx.utilization(file_system, seen, limits, *SERVER, *(BALANCES if bursts else ())))
    peaks |= zip(SERVER, (max(one.present) for one in rest.series), strict=False)
    balance = min((min(one.present) for one in rest.series[len(SERVER) :]), default=100.0)
    if balance < limits.balance_percent:
        return Fine(f"it uses burst credits, which fell to {balance:.0f} %")
    fitting = next((one for one in smaller if _load(one, server, peaks)[0] < limits.busy_percent), None)
    if fitting is None:
        return _too_small(smaller[-1], server, peaks)

    least, recorded_days = fitting.throughput_mb_s, min(recorded.days, rest.days)
    percent, busiest = _load(fitting, server, peaks)
    label, proposed = "Busiest minute of the network, per day", 100 / _on(fitting, server, NETWORK, 1)
    summary = f"Lower throughput from {present:,} to {least:,} MB/s. At least {100 - percent:.0f} % of that is unused."
    risk = "Storage and IOPS stay. A smaller file server has less memory for its cache, so watch its disks for a week."
    lower = fsx.set_throughput(file_system, least, action="lower-throughput-capacity", summary=summary, risk=risk)
    return Flagged(
        summary=(
            f"{present:,} MB/s provisioned, {max(peaks.values()):.0f} % used in the busiest minute of {recorded_days}"
            f" days: {least:,} MB/s would be at most {percent:.0f} % busy"
        ),
        confidence="high" if recorded.whole and rest.whole else "medium",
        evidence=(
            Evidence("Throughput capacity", present, "MB/s"),
            Evidence(f"Busiest minute ({busiest.name})", round(peaks[busiest], 1), "percent"),
            fsx.utilization_chart(label, recorded.series[0], f"{present:,} MB/s", f"{least:,} MB/s", proposed),
            *([Evidence("Lowest burst credits", round(balance, 1), "percent")] if bursts else []),
        ),
        advice=(replace(lower, joint=fsx.joint(file_system, {"ThroughputCapacity": least})),),
        fingerprint_inputs=(present, least),
        caveats=(fsx.ONTAP_INTERVAL if file_system.file_system_type == "ONTAP" else INTERVAL,),
    )


def _on(smaller: FileServer, server: FileServer, metric: Metric, percent: float) -> float:
    """Convert `percent` of a file server to percent of a smaller one."""
    return percent * CAPACITY[metric](server) / CAPACITY[metric](smaller)


def _load(smaller: FileServer, server: FileServer, peaks: Mapping[Metric, float]) -> tuple[float, Metric]:
    """Return how busy a smaller file server would be, in percent, and the metric that decides."""
    loads = ((_on(smaller, server, metric, percent), metric) for metric, percent in peaks.items())
    return max(loads, key=lambda load: load[0])


def _too_small(smaller: FileServer, server: FileServer, peaks: Mapping[Metric, float]) -> Fine:
    _, busiest = _load(smaller, server, peaks)
    return Fine(f"{busiest.name} was {peaks[busiest]:.0f} %: {smaller.throughput_mb_s:,} MB/s are not enough")


def busy(network: float, *, cpu: float = 8, disks: float = 9, balance: float | None = 100) -> Metrics:
    """Return metrics that are this busy every day, in percent, with this balance of burst credits."""
    return {NETWORK: network, CPU: cpu, **dict.fromkeys(SERVER[1:], disks), **dict.fromkeys(BALANCES, balance)}


quiet = Cases(examples.fsx(throughput_mb_s=640), busy(6))
ontap = Cases(examples.fsx(throughput_mb_s=1_024, file_system_type="ONTAP"), busy(24))
NOT_512 = "was 24 %: 512 MB/s are not enough"
unread = Cases(quiet.resource)

DETECTOR = Detector(
    title="FSx file server far larger than its work",
    kind="waste",
    resource=FsxFileSystem,
    limits=SurplusThroughputLimits,
    judge=judge,
    cases=(
        quiet("640 MB/s, 9 % busy at most", Flagged, "160 MB/s would be at most 36 % busy"),
        quiet("a quarter of it is used", Flagged, "320 MB/s would be at most 48 %", metrics=busy(24)),
        quiet("recorded for three weeks", Flagged, "minute of 21 days", metrics={NETWORK: [6.0] * 22}),
        quiet("a monthly job at full speed", Fine, "was 92 %", metrics={NETWORK: days(6.0, {15: 92.0})}),
        quiet("its processors are half busy", Fine, "CPUUtilization", metrics=busy(6, cpu=55)),
        quiet("half of it is not enough", Fine, "320 MB/s are not enough", metrics=busy(26)),
        quiet("on burst credits", Fine, "burst credits", metrics=busy(6, balance=40)),
        ontap("ONTAP, whose next smaller file server has less than half the network", Fine, NOT_512),
        quiet("a day without a point", Unknown, "no data on 1 of 35 days", metrics={NETWORK: days(6.0, {6: None})}),
        quiet("its burst credits are not published", Unknown, "Balance", metrics=busy(6, balance=None)),
        quiet("ten days old", Fine, "younger than 15 days", created_at=days_ago(10)),
        unread("the smallest file server", Fine, "no smaller one", throughput_mb_s=160),
        unread("Windows", Fine, "not built in", file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2"),
        unread("Intelligent-Tiering", Fine, "INTELLIGENT_TIERING", storage_type="INTELLIGENT_TIERING", storage_gib=0),
        unread("being updated", Fine, "updating", state="UPDATING"),
    ),
)
