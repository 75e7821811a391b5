"""Instances that need more network than their baseline, day after day, and live on credits.

## What it finds
An instance of a type that bursts (peak above baseline), whose traffic in one direction stayed above its baseline for half an
hour on end, on at least five of the last 14 days. In and out count apart: each has its own allowance and its own credits. Where
the credits are gone already, `ec2-network-throttled` speaks instead.

## Why it matters
What is above the baseline comes from network credits, and no metric shows how many are left. A job that grows, or a second one
beside it, ends in hours at the baseline: 8 MB/s on a t3.micro ("Your network I/O credits are zero!", 2023-12-06). Bursting is
best effort, too: a busy host may not grant it even while there are credits.

## When it is wrong
A load that has always fitted into its credits and does not grow needs nothing: the finding says how many minutes of burst the
deepest draw was worth, and AWS says that bursts usually last 5 to 60. Peaks shorter than five minutes do not show in
CloudWatch, and shorter than half an hour they are not flagged. Points from before the last start do not count: the type may
have been another. Where hours without points could hide what is missing of the five days, the answer is unknown.

## What to do
Before the credits are gone: take the smallest type whose baseline carries the load, or a type without burst; take the traffic
off the instance (an interface endpoint, or a gateway endpoint for clients inside the VPC); or spread the transfer over more
hours. The CloudWatch agent's ENA counters tell the day on which it is too late.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil, isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Instance, InstanceType, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import network
from slackwater.rules import ec2_network
from slackwater.rules.ec2_network import IN, OUT, Direction, Traffic

FULL_DAY: Final = 0.8
"""Of a day: traffic that takes longer at the baseline leaves no room for a retry."""


class OverBaselineLimits(Limits):
    """What counts as living on credits."""

    window_days: int = limit(14, unit="days", ge=7, le=60, why="two weekly rhythms; five-minute points are kept 63 days")
    above_days: int = limit(5, unit="days", ge=2, le=60, why="a habit: a weekly job, or an incident, has fewer")
    above_minutes: int = limit(
        30, unit="minutes", ge=30, le=1440, why="on end; shorter peaks are what credits are for, and they come back"
    )
    screen_percent: float = limit(
        25, unit="percent", gt=0, le=26, why="of an hour at baseline; half an hour above it leaves more in one of two hours"
    )


@dataclass(frozen=True, slots=True)
class Over:
    """One direction's time above the baseline."""

    direction: Direction
    traffic: Series
    runs: list[range]
    days: int
    drawn_s: float
    """Seconds at the peak that would use as many credits as the deepest draw."""

    @property
    def longest(self) -> range:
        """The longest time above it."""
        return max(self.runs, key=len)

    @property
    def highest_bytes_per_s(self) -> float:
        """The busiest five minutes of those times."""
        values = (self.traffic.values[i] for run in self.runs for i in run)
        return max(value for value in values if not isnan(value)) / self.traffic.period_s


def judge(instance: Instance, seen: Seen, limits: OverBaselineLimits) -> Verdict:
    """Flag an instance that is above its baseline for long on many days."""
    found = ec2_network.traffic(instance, seen, days=limits.window_days, screen_percent=limits.screen_percent)
    if not isinstance(found, Traffic):
        return found
    ways = [_over(way, traffic, found, limits) for way, traffic in found.by_five_minutes.items()]
    if over := [way for way in ways if way.days >= limits.above_days]:
        return _flag(instance, found.instance_type, over, limits)
    above = {way.direction: way.days for way in ways}
    for direction, by_hour in found.by_hour.items():
        series = found.by_five_minutes.get(direction, by_hour)
        dark = _dark_days(series, at_least_s=max(series.period_s, limits.above_minutes * MINUTE_S))
        if dark and dark + above.get(direction, 0) >= limits.above_days:
            days = f"{dark} of {limits.window_days} days"
            return Unknown(f"{direction.traffic.name} lacks points on {days}: it may have been above its baseline")
    if not ways:
        return Fine("no hour came near its baseline")
    most = max(way.days for way in ways)
    return Fine(f"it was above its baseline for {limits.above_minutes} minutes on end on {most} of {limits.window_days} days")


def _over(direction: Direction, traffic: Series, found: Traffic, limits: OverBaselineLimits) -> Over:
    runs = network.runs_above(traffic, found.baseline_gbps, min_points=ceil(limits.above_minutes * MINUTE_S / FIVE_MINUTES_S))
    kind = found.instance_type
    drawn_s = network.drawn_s(traffic, network.baseline(kind), network.peak(kind))
    return Over(direction, traffic, runs, min(_days(runs, traffic), limits.window_days), drawn_s)


def _days(runs: list[range], traffic: Series) -> int:
    """How many days have a run; one that lasts for days counts for each.

    A day ends in the hour that is the quietest of the window, with the hours around it: a nightly job is no two days' job.
    """
    an_hour, a_day = HOUR_S // traffic.period_s, DAY_S // traffic.period_s
    busy = Counter(i // an_hour % 24 for run in runs for i in run)
    quiet = min(range(24), key=lambda hour: sum(busy[(hour + beside) % 24] for beside in (-1, 0, 1)))
    return len({(start - quiet * an_hour) // a_day for run in runs for start in range(run.start, run.stop, a_day)})


def _dark_days(series: Series, *, at_least_s: float) -> int:
    """Days with so much time on end without a point that they could be above the baseline and not show."""
    a_day, dark, gap = DAY_S // series.period_s, set[int](), 0
    for i, value in enumerate(series.values):
        gap = gap + 1 if isnan(value) else 0
        if gap * series.period_s >= at_least_s:
            dark.add((len(series) - 1 - i) // a_day)
    return len(dark)


def _flag(instance: Instance, instance_type: InstanceType, over: list[Over], limits: OverBaselineLimits) -> Flagged:
    worst = max(over, key=lambda way: way.drawn_s)
    longest, highest_mb_s = worst.longest, worst.highest_bytes_per_s / 1e6
    least, most = network.BURST_MINUTES
    differs = ec2_network.may_differ(instance, instance_type)
    start_s, period_s = worst.traffic.start_s, worst.traffic.period_s
    return Flagged(
        summary=(
            f"{' and '.join(way.direction.word for way in over)}: above its baseline of"
            f" {network.baseline(instance_type) / 1e6:,.1f} MB/s for {limits.above_minutes} minutes on end on"
            f" {worst.days} of {limits.window_days} days, up to {highest_mb_s:,.0f} MB/s: it lives on network credits"
        ),
        severity="medium" if worst.drawn_s >= least * MINUTE_S else "low",
        confidence="low" if differs else "medium",
        evidence=(
            ec2_network.chart(
                f"Network {worst.direction.word} around its longest time above the baseline",
                round(highest_mb_s, 2),
                worst.traffic,
                start_s + longest.start * period_s,
                start_s + longest.stop * period_s,
                instance_type,
            ),
            ec2_network.baseline_of(instance_type),
            Evidence(label="Days above it", value=worst.days, unit="days"),
            Evidence(label="Longest time above it", value=round(len(longest) * period_s / HOUR_S, 2), unit="hours"),
            Evidence(
                label=f"Deepest draw, as a burst at its peak (usually {least} to {most} minutes)",
                value=round(worst.drawn_s / MINUTE_S, 1),
                unit="minutes",
            ),
        ),
        advice=_slower(worst, instance_type),
        gist=(instance_type.id, " and ".join(way.direction.word for way in over)),
        caveats=_caveats(instance_type, differs=differs),
        remedies=(ec2_network.options(instance, worst.traffic, worst.highest_bytes_per_s, "Before the credits are gone"),),
    )


def _slower(way: Over, instance_type: InstanceType) -> tuple[Advice, ...]:
    """What can wait needs no credits, where a day's traffic fits into a day at the baseline."""
    baseline, a_day = network.baseline(instance_type), DAY_S // way.traffic.period_s
    days = (way.traffic.values[i : i + a_day] for i in range(0, len(way.traffic), a_day))
    needed_s = max(sum(value for value in day if not isnan(value)) for day in days) / baseline
    if needed_s > DAY_S * FULL_DAY:
        return ()
    return (
        Advice(
            action="let-it-take-longer",
            summary=(
                f"If it can wait, begin earlier or end later: held to {int(baseline / 1e6):,} MB/s, the busiest day's traffic"
                f" takes {needed_s / HOUR_S:,.1f} hours, and no credits."
            ),
            changes=(),
            risk="It is slower all the time, not only when the credits are gone.",
            reversible=True,
        ),
    )


def _caveats(instance_type: InstanceType, *, differs: bool) -> tuple[str, ...]:
    caveats = [
        "Bursting is best effort: a busy host may not grant it even while there are credits.",
        "Peaks shorter than five minutes do not show, so it may need more than this.",
        (
            "No metric says how many credits are left; the CloudWatch agent's ethtool_bw_*_allowance_exceeded rise once they"
            " are gone."
        ),
    ]
    if differs:
        caveats.append(
            f"{instance_type.id} has several network cards, or a changed bandwidth weighting: its baseline may be another."
        )
    return tuple(caveats)


_TARGET = Target("123456789012", "ap-northeast-1")
_UPLOADER = Instance(
    id="i-0dddddddddddddddd",
    arn="arn:aws:ec2:ap-northeast-1:123456789012:instance/i-0dddddddddddddddd",
    target=_TARGET,
    tags={"Name": "uploader"},
    instance_type="m5.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=100),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)


def _type(name: str, vcpus: int, baseline_gbps: float, peak_gbps: float) -> InstanceType:
    return InstanceType(
        id=name,
        vcpus=vcpus,
        hypervisor="nitro",
        network_baseline_gbps=baseline_gbps,
        network_peak_gbps=peak_gbps,
        network_cards=1,
        ebs_baseline_mbps=None,
        ebs_maximum_mbps=None,
        ebs_baseline_iops=None,
        ebs_maximum_iops=None,
        source="a worked example",
    )


_TYPES = (
    _type("m5.large", 2, 0.75, 10),  # 93.75 MB/s
    _type("m5.2xlarge", 8, 2.5, 10),
    _type("m6i.2xlarge", 8, 3.125, 12.5),
    _type("m6i.8xlarge", 32, 12.5, 12.5),
)


def _bytes(days: int, *rates: tuple[float | None, int], every: int = 1) -> list[float | None]:
    """14 days by five minutes, on the last `days` of which (MB/s, minutes) come one after the other; else next to nothing."""
    busy = [None if mb_s is None else mb_s * 1e6 * 300 for mb_s, minutes in rates for _ in range(minutes // 5)]
    day, quiet = [*busy, *[1e6] * (288 - len(busy))], [1e6] * 288
    return [v for ago in range(14, 0, -1) for v in (day if ago <= days * every and ago % every == 0 else quiet)]


def _traffic(way: Direction, by_five_minutes: list[float | None]) -> dict[tuple[Metric, int], list[float | None]]:
    """The same by the hour; an hour without any point has none."""
    hours = [by_five_minutes[i : i + 12] for i in range(0, len(by_five_minutes), 12)]
    by_hour = [None if all(v is None for v in hour) else sum(v or 0 for v in hour) for hour in hours]
    return {(way.traffic, FIVE_MINUTES_S): by_five_minutes, (way.traffic, HOUR_S): [*by_hour]}


_QUIET_IN = {(IN.traffic, HOUR_S): [1e6] * 14 * 24}

DETECTOR = Detector(
    title="EC2 instance that needs more than its network baseline",
    kind="risk",
    resource=Instance,
    limits=OverBaselineLimits,
    reads=(InstanceType,),
    judge=judge,
    cases=(
        Case(
            title="an hour at 250 MB/s every day, on a baseline of 94",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(14, (250, 60)))},
            expect=Flagged,
            says="out: above its baseline of 93.8 MB/s for 30 minutes on end on 14 of 14 days, up to 250 MB/s",
        ),
        Case(
            title="half an hour on five days",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(5, (250, 30)))},
            expect=Flagged,
            says="on 5 of 14 days",
        ),
        Case(
            title="in and out alike: a proxy moves every byte twice",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_traffic(IN, _bytes(7, (250, 60))), **_traffic(OUT, _bytes(7, (250, 60)))},
            expect=Flagged,
            says="in and out: above",
        ),
        Case(
            title="half an hour on four days",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(4, (250, 30)))},
            expect=Fine,
            says="on 4 of 14 days",
        ),
        Case(
            title="a long job, every third day",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(4, (250, 400), every=3))},
            expect=Fine,
            says="on 4 of 14 days",
        ),
        Case(
            title="25 minutes every day",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(14, (250, 25)))},
            expect=Fine,
            says="on 0 of 14 days",
        ),
        Case(
            title="ten minutes of every hour: the credits come back",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(14, *((400, 10), (1, 50)) * 24))},
            expect=Fine,
        ),
        Case(
            title="at its baseline for hours, and never above it",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(14, (95, 600)))},
            expect=Fine,
        ),
        Case(
            title="two thirds of the baseline each way: the directions do not add up",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_traffic(IN, _bytes(14, (62, 600))), **_traffic(OUT, _bytes(14, (62, 600)))},
            expect=Fine,
        ),
        Case(
            title="above it every day, until it was started as another type four days ago",
            resource=replace(_UPLOADER, launched_at=CASE_NOW - timedelta(days=4)),
            records=_TYPES,
            metrics={**_QUIET_IN, **_traffic(OUT, _bytes(14, (250, 60)))},
            expect=Fine,
            says="on 4 of 14 days",
        ),
        Case(
            title="four days above it, and a day whose hours nobody measured",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={
                **_QUIET_IN,
                **_traffic(OUT, [None if 288 <= i < 576 else v for i, v in enumerate(_bytes(4, (250, 30)))]),
            },
            expect=Unknown,
            says="NetworkOut lacks points on 1 of 14 days",
        ),
        Case(
            title="hardly any traffic: settled by the hour",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, (OUT.traffic, HOUR_S): [1e6] * 14 * 24},
            expect=Fine,
            says="no hour",
        ),
        Case(
            title="a week without a point",
            resource=_UPLOADER,
            records=_TYPES,
            metrics={**_QUIET_IN, (OUT.traffic, HOUR_S): [*[None] * 7 * 24, *[1e6] * 7 * 24]},
            expect=Unknown,
            says="on 7 of 14 days",
        ),
        Case(
            title="a type without burst",
            resource=replace(_UPLOADER, instance_type="m6i.8xlarge"),
            records=_TYPES,
            expect=Fine,
            says="no burst",
        ),
        Case(title="no metrics", resource=_UPLOADER, records=_TYPES, expect=Unknown, says="no point"),
        Case(
            title="a type that EC2 says nothing about",
            resource=replace(_UPLOADER, instance_type="m1.small"),
            records=_TYPES,
            expect=Unknown,
            says="m1.small",
        ),
        Case(title="stopped", resource=replace(_UPLOADER, state="stopped"), records=_TYPES, expect=Fine, says="stopped"),
    ),
)
