"""EC2 instances that need more than their network baseline on many days.

## What it finds
An instance of a type that bursts (its peak is above its baseline). The traffic in one direction stayed above the
baseline for half an hour without a break, on at least five of the last 14 days. Each direction has its own allowance
and credits. Once the credits are used up, `ec2-network-throttled` reports the instance instead.

## Why it matters
Traffic above the baseline uses network credits, and no metric shows how many are left. When they are gone, a t3.micro
falls to 8 MB/s for hours ("Your network I/O credits are zero!", 2023-12-06).

## When it is wrong
- A load that does not grow and has always fitted into its credits needs no change. See its use in the evidence.
- CloudWatch hides peaks shorter than five minutes. Points before the last start are left out.
- If data is missing, and the missing hours could make it five days, the answer is unknown.

## What to do
Before the credits are gone, take the smallest type whose baseline carries the load, let the traffic bypass the instance
through a VPC endpoint, or spread it over more hours. The CloudWatch agent's ENA counters rise once they are gone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil, isnan
from typing import NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Series
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import network
from slackwater.rules import ec2_network, examples
from slackwater.rules.ec2_network import DIRECTIONS, IN, OUT, QUARTER_HOUR_S, Direction, Traffic, days_above
from slackwater.rules.examples import Cases, Metrics, a_day, and_hourly, days_ago


class OverBaselineLimits(Limits):
    """When an instance counts as dependent on credits."""

    window_days: int = limit(14, unit="days", ge=7, le=60, why="two weekly rhythms; five-minute points last 63 days")
    above_days: int = limit(5, unit="days", ge=2, le=60, why="a weekly job or an incident has fewer")
    above_minutes: int = limit(30, unit="minutes", ge=30, le=1440, why="without a break; credits are for shorter peaks")
    screen_percent: float = limit(25, unit="percent", gt=0, le=26, why="of an hour at baseline; 30 minutes leave more")


class Over(NamedTuple):
    """The runs of one direction above the baseline, and how many days have one."""

    direction: Direction
    traffic: Series
    runs: Sequence[range]  # indexes into `traffic`
    days: int
    drawn_s: float  # the deepest draw of credits, as seconds of a burst at the peak


def judge(instance: Instance, seen: Seen, limits: OverBaselineLimits) -> Verdict:
    """Flag an instance that is above its baseline for long on many days."""
    found = unless_decided(ec2_network.traffic(instance, seen, limits.window_days, limits.screen_percent))
    window, hours = limits.window_days, found.read(HOUR_S, DIRECTIONS)
    busy = [way for way in found.near if days_above(hours[way], found.baseline_gbps, window) >= limits.above_days]
    quarters = found.read(QUARTER_HOUR_S, busy if found.calm else ())
    decided = [way for way, one in quarters.items() if _is_decided(one, found, limits)]
    closer = found.read(FIVE_MINUTES_S, [way for way in busy if way not in decided])
    kind, points = found.instance_type, ceil(limits.above_minutes * MINUTE_S / FIVE_MINUTES_S)
    ways = list[Over]()
    for way, traffic in closer.items():
        runs = network.runs_above(traffic, found.baseline_gbps, min_points=points)
        drawn_s = network.drawn_s(traffic, network.baseline(kind), network.peak(kind))
        ways.append(Over(way, traffic, runs, min(_days(runs, traffic), window), drawn_s))
    if over := [way for way in ways if way.days >= limits.above_days]:
        return _flag(instance, kind, over, limits)

    above = {way.direction: way.days for way in ways}
    for direction in (way for way in DIRECTIONS if way not in decided):
        series = closer.get(direction, hours[direction])
        dark = _dark_days(series, at_least_s=max(series.period_s, limits.above_minutes * MINUTE_S))
        if dark and dark + above.get(direction, 0) >= limits.above_days:
            days = f"{dark} of {limits.window_days} days"
            return Unknown(f"{direction.traffic.name} has no data on {days}, and may have been above the baseline")
    if not ways:
        return Fine(f"it was above its baseline for half an hour on fewer than {limits.above_days} days")
    days = f"{max(above.values())} of {limits.window_days} days"
    return Fine(f"it was above its baseline for {limits.above_minutes} minutes without a break on {days}")


def _is_decided(quarters: Series, found: Traffic, limits: OverBaselineLimits) -> bool:
    """Return whether too few days can be above the baseline or dark. The days of five-minute points begin nearby."""
    above = days_above(quarters, found.baseline_gbps, limits.window_days, if_missing=0)
    return above + _dark_days(quarters, at_least_s=QUARTER_HOUR_S, beside=2) < limits.above_days


def _days(runs: Sequence[range], traffic: Series) -> int:
    """Return how many days have a run. A run of several days counts for each.

    A day ends in the quietest hour of the window, including its neighbors, so that a nightly job does not count twice.
    """
    an_hour, a_day = HOUR_S // traffic.period_s, DAY_S // traffic.period_s
    busy = Counter(i // an_hour % 24 for run in runs for i in run)
    quiet = min(range(24), key=lambda hour: sum(busy[(hour + beside) % 24] for beside in (-1, 0, 1)))
    return len({(start - quiet * an_hour) // a_day for run in runs for start in range(run.start, run.stop, a_day)})


def _dark_days(series: Series, *, at_least_s: float, beside: int = 0) -> int:
    """Return how many days have a gap that is long enough to hide a run, or are so many points `beside` one."""
    a_day, dark, gap = DAY_S // series.period_s, set[int](), 0
    for i, value in enumerate(series.values):
        gap = gap + 1 if isnan(value) else 0
        if gap * series.period_s >= at_least_s:
            dark.update((len(series) - 1 - i + near) // a_day for near in range(-beside, beside + 1))
    return len(dark)


def _flag(instance: Instance, kind: InstanceType, over: Sequence[Over], limits: OverBaselineLimits) -> Flagged:
    worst = max(over, key=lambda way: way.drawn_s)
    traffic, longest, (least, most) = worst.traffic, max(worst.runs, key=len), network.BURST_MINUTES
    span = traffic.start_s + longest.start * traffic.period_s, traffic.start_s + longest.stop * traffic.period_s
    rates = [traffic.values[i] / traffic.period_s for run in worst.runs for i in run]
    highest = max(rate for rate in rates if not isnan(rate))
    baseline_mb_s = network.baseline(kind) / 1e6
    words, differs = " and ".join(way.direction.word for way in over), ec2_network.may_differ(instance, kind)
    label = f"Network {worst.direction.word} around the longest time above the baseline"
    draw = f"Deepest draw, as a burst at its peak (usually {least} to {most} minutes)"
    other = f"{kind.id} has several network cards or a changed bandwidth weighting, so its baseline may differ."
    return Flagged(
        summary=(
            f"{worst.days} of {limits.window_days} days above its network baseline of {baseline_mb_s:,.1f} MB/s"
            f" ({words}) for {limits.above_minutes} minutes without a break, up to {highest / 1e6:,.0f} MB/s"
        ),
        severity="medium" if worst.drawn_s >= least * MINUTE_S else "low",
        confidence="low" if differs else "medium",
        evidence=(
            *ec2_network.chart(label, highest / 1e6, traffic, span, kind),
            Evidence("Days above it", worst.days, "days"),
            Evidence("Longest time above it", round((span[1] - span[0]) / HOUR_S, 2), "hours"),
            Evidence(draw, round(worst.drawn_s / MINUTE_S, 1), "minutes"),
        ),
        advice=tuple(_slower(worst, kind)),
        fingerprint_inputs=(kind.id, words),
        caveats=(
            other if differs else "CloudWatch hides peaks shorter than five minutes, so it may need more than this.",
            "No metric shows how many credits are left. Bursting is best effort: a busy host may not grant it.",
        ),
        remedies=(ec2_network.options(instance, traffic, highest, "Before the credits are gone"),),
    )


def _slower(way: Over, kind: InstanceType) -> Iterator[Advice]:
    """Recommend to spread the load if the traffic of each day fits into a day at the baseline."""
    baseline, a_day = network.baseline(kind), DAY_S // way.traffic.period_s
    days = (way.traffic.values[i : i + a_day] for i in range(0, len(way.traffic), a_day))
    needed_s = max(sum(value for value in day if not isnan(value)) for day in days) / baseline
    if needed_s <= 0.8 * DAY_S:  # a longer time leaves no room for a retry
        yield Advice(
            action="let-it-take-longer",
            summary=(
                f"If it can wait, start earlier or finish later: at {int(baseline / 1e6):,} MB/s, the busiest day's"
                f" traffic takes {needed_s / HOUR_S:,.1f} hours and no credits."
            ),
            changes=(),
            risk="It is slower all the time, not only after the credits are gone.",
            reversible=True,
        )


UPLOADER = examples.instance(id="i-0dddddddddddddddd", tags={"Name": "uploader"}, launched_at=days_ago(100))


def points(days: int, *rates: tuple[float, int], every: int = 1) -> list[float | None]:
    """Return two weeks of almost no traffic, with the (MB/s, minutes) in this order on `days` of the last days."""
    busy = a_day(1e6, *((mb_s * 1e6 * FIVE_MINUTES_S, minutes) for mb_s, minutes in rates))
    return [v for ago in range(14, 0, -1) for v in (busy if ago <= days * every and ago % every == 0 else a_day(1e6))]


def moved(days: int, *rates: tuple[float, int], every: int = 1, inward: bool = False) -> Metrics:
    """Return the same as metrics, outbound or both ways."""
    sent, received = (and_hourly(way.traffic, points(days, *rates, every=every), 3) for way in (OUT, IN))
    return {**sent, **received} if inward else sent


DAILY, TWO_DAYS = moved(14, (250, 60)), moved(2, (250, 60))
EVERY_HOUR = moved(14, *((400, 10), (1, 50)) * 24)
TWO_THIRDS = moved(14, (62, 600), inward=True)
TWICE = moved(7, (250, 60), inward=True)
FOUR_DAYS = points(4, (250, 30))
A_DAY_DARK = and_hourly(OUT.traffic, [*FOUR_DAYS[:288], *[None] * 288, *FOUR_DAYS[576:]])
A_WEEK_DARK = {(OUT.traffic, HOUR_S): [None] * 7 * 24 + [1e6] * 7 * 24}

uploads = Cases(UPLOADER, {(way.traffic, HOUR_S): 1e6 for way in (IN, OUT)}, records=examples.BURSTING, days=14)
bare = Cases(UPLOADER, records=examples.BURSTING)

DETECTOR = Detector(
    title="EC2 instance that needs more than its network baseline",
    kind="risk",
    resource=Instance,
    limits=OverBaselineLimits,
    reads=(InstanceType,),
    judge=judge,
    cases=(
        uploads("an hour at 250 MB/s every day, on a baseline of 94", Flagged, "14 of 14 days above", metrics=DAILY),
        uploads("half an hour on five days", Flagged, "5 of 14 days", metrics=moved(5, (250, 30))),
        uploads("in and out alike: a proxy moves every byte twice", Flagged, "(in and out)", metrics=TWICE),
        uploads("half an hour on four days", Fine, "on 4 of 14 days", metrics=moved(4, (250, 30))),
        uploads("a long job, every third day", Fine, "on 4 of 14 days", metrics=moved(4, (250, 400), every=3)),
        uploads("25 minutes every day", Fine, "on 0 of 14 days", metrics=moved(14, (250, 25))),
        uploads("ten minutes of every hour: the credits come back", Fine, metrics=EVERY_HOUR),
        uploads("at its baseline for hours, and never above it", Fine, metrics=moved(14, (95, 600))),
        uploads("two thirds of the baseline each way: the directions do not add up", Fine, metrics=TWO_THIRDS),
        uploads("above it until it became another type", Fine, "on 4 of", launched_at=days_ago(4), metrics=DAILY),
        uploads("four days above it, and a day without points", Unknown, "NetworkOut has no", metrics=A_DAY_DARK),
        uploads("hardly any traffic: settled by the hour", Fine, "fewer than 5 days"),
        uploads("an hour at 250 MB/s on two days: settled by the hour", Fine, "fewer than 5 days", metrics=TWO_DAYS),
        uploads("a week without a point", Unknown, "on 7 of 14 days", metrics=A_WEEK_DARK),
        bare("a type without burst", Fine, "no burst", instance_type="m6i.8xlarge"),
        bare("no metrics", Unknown, "no data"),
        bare("a type that EC2 says nothing about", Unknown, "m1.small", instance_type="m1.small"),
        bare("stopped", Fine, "stopped", state="stopped"),
    ),
)
