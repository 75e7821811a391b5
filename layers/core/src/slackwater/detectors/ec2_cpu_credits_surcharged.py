"""T instances that pay for surplus CPU credits week after week.

## What it finds
A running T instance in unlimited mode that was charged for surplus CPU credits last week, and in at least three of the last
five weeks, for 20 vCPU-hours a month or more. Where fewer weeks have points, in every one that has, if there are points on 14
days; or else on each of the last 14 days, which then count alone. A launch, or an incident of a few days, is none of it.

## Why it matters
A T type is cheap as long as its CPU stays at its baseline on average, and T3, T3a and T4g are unlimited unless somebody says
otherwise. What they use beyond it is charged by the vCPU-hour, on a line of the bill that names no instance. From a mean of
about 45 % on (t3.large against m6i.large) a type with a fixed processor costs less.

## When it is wrong
A load that is about to end needs no other type. Where every other size would cost more than the surcharge, the surcharge is
the cheapest way to run it, and the finding is counted, not listed. The charge of a day without a point is taken for that of
the others. An instance that a schedule stops every evening has never run for 14 days on end, and is not seen: what was charged
before its last start may have been charged as another type.
Prices are for Linux on demand: Windows' surplus credits cost more, and a Reserved Instance or Savings Plan changes the sum.

## What to do
Take the way that saves most: the general type with a fixed processor, the next size whose baseline carries the mean load, or
`standard` mode where the work may take longer. First look whether the load is meant: a process that loops costs the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import isnan
from statistics import fmean
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, amount, ec2_cpu_credits, ec2_hour, hours
from slackwater.model.resources import Instance, InstanceType, Target
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import cpu, network
from slackwater.rules.ec2 import change_type

CHARGED = Metric("AWS/EC2", "CPUSurplusCreditsCharged", "Sum", "credits")
BALANCE = Metric("AWS/EC2", "CPUCreditBalance", "Minimum", "credits")
CPU = Metric("AWS/EC2", "CPUUtilization", "Average", "percent")

DAYS_A_MONTH: Final = 365 / 12
A_WEEK: Final = 7


class SurchargedLimits(Limits):
    """When a surcharge is a habit, and worth a change."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="five weeks: they cover a month, and weekdays stay weekdays")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="two weekly rhythms have to be there, whole")
    charged_weeks: int = limit(3, unit="weeks", ge=1, le=60, why="two may be one incident over a weekend; three are a habit")
    least_vcpu_hours: float = limit(
        20, unit="vCPU hours", ge=0, why="a month: a dollar, which a launch or a busy evening may cost"
    )
    fits_percent: float = limit(
        80, unit="percent", gt=0, le=100, why="of the credits it earns; standard mode then gets the work done, only later"
    )


@dataclass(frozen=True, slots=True)
class Surcharge:
    """What was charged, and why. `earned` and `used` are CPU credits an hour."""

    days: Series
    """Charged credits by day."""
    mean_percent: float | None
    """CPU utilisation, where it is known."""
    percents: Series
    """The same by day."""
    earned: float
    used: float | None

    @property
    def charged(self) -> float:
        """Credits."""
        return sum(self.days.present)

    def monthly(self, charged: float) -> float:
        """Credits of these days as vCPU-hours a month."""
        return _monthly(charged, self.days)


def judge(instance: Instance, seen: Seen, limits: SurchargedLimits) -> Verdict:
    """Flag a T instance whose surplus credits are charged as a habit."""
    instance_type = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if not network.has_cpu_credits(instance.instance_type):
        return Fine(f"{instance.instance_type} has no CPU credits")
    if instance_type is None:
        return Unknown(f"EC2 says nothing about {instance.instance_type}")
    if seen.age(instance.launched_at) < timedelta(days=limits.least_days):
        return Fine(f"it was started less than {limits.least_days} days ago")

    charged, balance, used = (
        metric.need(("InstanceId", instance.id), period_s=DAY_S, days=limits.window_days) for metric in (CHARGED, BALANCE, CPU)
    )
    if lacking := seen.lacking([charged]):
        return Ask(lacking)
    days = seen.finished(seen[charged], instance.launched_at)
    if not days.present:
        if lacking := seen.lacking([balance]):
            return Ask(lacking)
        if seen.finished(seen[balance], instance.launched_at).present:
            return Fine("its CPU credits are published, and no surplus: it is in standard mode")
        return Unknown("CPUSurplusCreditsCharged and CPUCreditBalance have no point since it was started")
    newest = days.since(days.end_s - limits.least_days * DAY_S)
    if _innocent(days, limits) and all(day > 0 for day in newest.values):
        days = newest
    if reason := _innocent(days, limits):
        missing = sum(map(isnan, days.values[-limits.least_days :]))
        if missing:
            return Unknown(f"CPUSurplusCreditsCharged has no point on {missing} of {limits.least_days} days")
        return Fine(reason)

    if lacking := seen.lacking([used]):
        return Ask(lacking)
    percents = seen[used].between(days.start_s, days.end_s)
    mean = fmean(percents.present) if percents.present else None
    surcharge = Surcharge(
        days=days,
        mean_percent=mean,
        percents=percents,
        earned=cpu.earned_per_hour(instance_type.id),
        used=None if mean is None else cpu.used_per_hour(mean, instance_type.vcpus),
    )
    return _flag(instance, instance_type, surcharge, seen, limits)


def _monthly(charged: float, days: Series) -> float:
    """Credits of these days as vCPU-hours a month; a day without a point counts as one like the others."""
    return charged / cpu.CREDITS_PER_VCPU_HOUR / len(days.present) * DAYS_A_MONTH


def _innocent(days: Series, limits: SurchargedLimits) -> str:
    """Why this is no habit; nothing where it is one."""
    if len(days) < limits.least_days:
        return f"it has run for {len(days)} whole days"
    if not (charged := sum(days.present)):
        return "it was charged for no surplus credits"
    weeks = [days.between(end - A_WEEK * DAY_S, end).present for end in _ends_of_weeks(days)]
    if not sum(weeks[0]):
        return "it was charged for no surplus credits last week"
    known = [week for week in weeks if week]
    often, watched = sum(sum(week) > 0 for week in known), len(days.present)
    throughout = often == len(known) and watched >= limits.least_days
    if often < limits.charged_weeks and not throughout:
        return f"it was charged for surplus credits in {often} of {len(known)} weeks, and has points on {watched} days"
    if (vcpu_hours := _monthly(charged, days)) < limits.least_vcpu_hours:
        return f"it is charged for {vcpu_hours:.1f} vCPU-hours a month"
    return ""


def _ends_of_weeks(days: Series) -> Sequence[int]:
    """When each whole week ends, the last one first."""
    return range(days.end_s, days.start_s + A_WEEK * DAY_S - 1, -A_WEEK * DAY_S)


def _flag(
    instance: Instance, instance_type: InstanceType, surcharge: Surcharge, seen: Seen, limits: SurchargedLimits
) -> Flagged:
    days, mean, vcpu_hours = surcharge.days, surcharge.mean_percent, surcharge.charged / cpu.CREDITS_PER_VCPU_HOUR
    by_day = [None if v is None else v / cpu.CREDITS_PER_VCPU_HOUR for v in days.optional()]
    baseline = surcharge.earned / instance_type.vcpus / 60 * 100
    averages = (
        "" if mean is None else f": its CPU averages {mean:.0f} %, and the baseline of {instance_type.id} is {baseline:g} %"
    )
    caveats = [
        "Priced for Linux on demand: Windows' surplus credits cost more; Reserved Instances and Savings Plans change the sum.",
        "What it has borrowed and not paid back, a day's earnings at most, is charged when it stops or leaves unlimited mode.",
    ]
    if instance.lifecycle:
        caveats.append(f"It is {instance.lifecycle}: what its hours cost is not known. AWS advises standard mode for Spot.")
    if instance_type.hypervisor == "xen":
        caveats.append(f"{instance_type.id} runs on Xen: another family needs the ENA and NVMe drivers in its image first.")
    return Flagged(
        summary=(
            f"{surcharge.monthly(surcharge.charged):,.0f} vCPU-hours a month of surplus CPU credits are charged"
            f" ({vcpu_hours:,.0f} in {len(days.present)} days){averages}"
        ),
        confidence="high" if len(days.present) >= limits.window_days and mean is not None else "medium",
        evidence=(
            Evidence(
                label="Surplus credits charged by day",
                value=round(vcpu_hours, 1),
                unit="vCPU-hours",
                series=Series.of(days.start_s, days.period_s, by_day),
            ),
            Evidence(label="Days watched", value=len(days) - days.missing, unit="days"),
            Evidence(label="Mean CPU", value="not known", unit="words")
            if mean is None
            else Evidence(
                label="Mean CPU",
                value=round(mean, 1),
                unit="percent",
                series=surcharge.percents,
                lines=(Line("Baseline", round(baseline, 2)), Line("Fits", round(baseline * limits.fits_percent / 100, 2))),
            ),
            Evidence(label=f"Baseline of {instance_type.id}", value=round(baseline, 1), unit="percent"),
        ),
        advice=(
            *_other_types(instance, instance_type, surcharge, seen),
            _standard(instance, surcharge, baseline, limits),
        ),
        gist=(instance_type.id,),
        caveats=tuple(caveats),
        cheapest_first=True,
    )


def _other_types(instance: Instance, this: InstanceType, surcharge: Surcharge, seen: Seen) -> list[Advice]:
    """The general type with as many vCPUs; and the smallest of the family whose baseline carries the mean load, if known."""
    types, found = seen.fleet.all(InstanceType), []
    general = network.general_family(this.id)
    enough = [one for one in types if one.family == general and one.vcpus >= this.vcpus]
    if fixed := min(enough, key=lambda one: (one.vcpus, one.id), default=None):
        summary = f"{fixed.id} has a fixed processor: as many vCPUs, no less memory, and no surcharge at any load."
        found.append(change_type(instance, fixed.id, summary, _instead(instance, fixed, surcharge.monthly(surcharge.charged))))
    more = [
        one
        for one in types
        if one.family == this.family and cpu.earned_per_hour(one.id) > surcharge.earned
        if surcharge.used is not None and cpu.earned_per_hour(one.id) >= surcharge.used
    ]
    if larger := min(more, key=lambda one: (cpu.earned_per_hour(one.id), one.id), default=None):
        earns = cpu.earned_per_hour(larger.id)
        saved = cpu.saved_by_earning(surcharge.days.present, earns - surcharge.earned)
        summary = (
            f"{larger.id} earns {earns:g} CPU credits an hour, {surcharge.earned:g} now: its baseline carries the mean load."
        )
        found.append(change_type(instance, larger.id, summary, _instead(instance, larger, surcharge.monthly(saved))))
    return found


def _instead(instance: Instance, other: InstanceType, saved_vcpu_hours: float) -> tuple[Change, ...] | None:
    """What another type saves and costs a month; nobody knows of what is not on demand."""
    if instance.lifecycle:
        return None
    return (
        _credits(instance, saved_vcpu_hours),
        Change(ec2_hour(instance.instance_type), hours()),
        Change(ec2_hour(other.id), -hours()),
    )


def _credits(instance: Instance, vcpu_hours: float) -> Change:
    return Change(ec2_cpu_credits(instance.instance_type.partition(".")[0]), amount(vcpu_hours))


def _standard(instance: Instance, surcharge: Surcharge, baseline: float, limits: SurchargedLimits) -> Advice:
    """Standard mode; it saves the surcharge only where the work still gets done."""
    fits = surcharge.used is not None and surcharge.used <= surcharge.earned * limits.fits_percent / 100
    owner = instance.managed_by
    uses = "nobody knows how much" if surcharge.used is None else f"{surcharge.used:.0f}"
    then = (
        "the work fits into the credits that it earns, and takes longer"
        if fits
        else f"but it uses {uses} of the {surcharge.earned:g} credits an hour that it earns, and may never catch up"
    )
    where = f" Change it in {owner}, which manages it." if owner else ""
    return Advice(
        action="standard-credits",
        summary=f"Standard mode, if slowness is fine: no surcharge; {then}.{where}",
        changes=(_credits(instance, surcharge.monthly(surcharge.charged)),) if fits else None,
        risk=f"It falls to its baseline of {baseline:g} % whenever its credits are gone; what it owes is charged at once.",
        reversible=True,
        command=None
        if owner
        else (
            f"aws ec2 modify-instance-credit-specification --region {instance.target.region}"
            f" --instance-credit-specification InstanceId={instance.id},CpuCredits=standard"
        ),
    )


_RENDERER = Instance(
    id="i-0eeeeeeeeeeeeeeee",
    arn="arn:aws:ec2:ap-northeast-1:123456789012:instance/i-0eeeeeeeeeeeeeeee",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "renderer"},
    instance_type="t3.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=200),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)


def _type(name: str, vcpus: int) -> InstanceType:
    return InstanceType(
        id=name,
        vcpus=vcpus,
        hypervisor="nitro",
        network_baseline_gbps=0.512,
        network_peak_gbps=5,
        network_cards=1,
        ebs_baseline_mbps=None,
        ebs_maximum_mbps=None,
        ebs_baseline_iops=None,
        ebs_maximum_iops=None,
        source="a worked example",
    )


_TYPES = (
    _type("t3.medium", 2),
    _type("t3.large", 2),
    _type("t3.xlarge", 4),
    _type("t3.2xlarge", 8),
    _type("m6i.large", 2),
    _type("m6i.xlarge", 4),
)


def _charged(*days: float | None) -> dict[tuple[Metric, int], list[float | None]]:
    """Credits by day; the last ones are given, today's follows."""
    return {(CHARGED, DAY_S): [*[0.0] * (35 - len(days)), *days, 0.0]}


def _mean(percent: float) -> dict[tuple[Metric, int], list[float | None]]:
    return {(CPU, DAY_S): [percent] * 36}


_ALWAYS = _charged(*[864.0] * 35)  # 60 % of two vCPUs, 30 % of which are earned
_SUNDAYS = _charged(*([1500.0, 0, 0, 0, 0, 0, 0] * 5))

DETECTOR = Detector(
    title="EC2 T instance charged for surplus CPU credits",
    kind="waste",
    resource=Instance,
    limits=SurchargedLimits,
    reads=(InstanceType,),
    judge=judge,
    cases=(
        Case(
            title="a t3.large whose CPU averages 60 %",
            resource=_RENDERER,
            records=_TYPES,
            metrics={**_ALWAYS, **_mean(60)},
            expect=Flagged,
            says="438 vCPU-hours a month of surplus CPU credits are charged (504 in 35 days): its CPU averages 60 %, and the"
            " baseline of t3.large is 30 %",
        ),
        Case(
            title="a day a week far above its baseline, and little on the others",
            resource=_RENDERER,
            records=_TYPES,
            metrics={**_SUNDAYS, **_mean(20)},
            expect=Flagged,
            says="averages 20 %",
        ),
        Case(
            title="charged every day since it was made 20 days ago",
            resource=replace(_RENDERER, launched_at=CASE_NOW - timedelta(days=20)),
            records=_TYPES,
            metrics={**_charged(*[864.0] * 19), **_mean(60)},
            expect=Flagged,
            says="(274 in 19 days)",
        ),
        Case(
            title="charged on each of the only 14 days that have a point",
            resource=_RENDERER,
            records=_TYPES,
            metrics={(CHARGED, DAY_S): [*[864.0] * 14, 0.0], **_mean(60)},
            expect=Flagged,
            says="438 vCPU-hours a month of surplus CPU credits are charged (202 in 14 days)",
        ),
        Case(
            title="charged on each of the last 14 days, and never before",
            resource=_RENDERER,
            records=_TYPES,
            metrics={**_charged(*[864.0] * 14), **_mean(60)},
            expect=Flagged,
            says="438 vCPU-hours a month of surplus CPU credits are charged (202 in 14 days)",
        ),
        Case(
            title="charged every day, with ten days of four weeks ago missing",
            resource=_RENDERER,
            records=_TYPES,
            metrics={**_charged(*[864.0] * 5, *[None] * 10, *[864.0] * 20), **_mean(60)},
            expect=Flagged,
            says="438 vCPU-hours a month of surplus CPU credits are charged (360 in 25 days)",
        ),
        Case(
            title="nobody knows its mean CPU",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_ALWAYS,
            expect=Flagged,
            says="(504 in 35 days)",
        ),
        Case(
            title="never charged: it pays back what it borrows",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(0.0),
            expect=Fine,
            says="no surplus credits",
        ),
        Case(
            title="a runaway process over a weekend",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(*[1900.0] * 4, *[0.0] * 5),
            expect=Fine,
            says="in 2 of 5 weeks",
        ),
        Case(
            title="charged last week, which is all that is known",
            resource=_RENDERER,
            records=_TYPES,
            metrics={(CHARGED, DAY_S): [*[1500.0] * 7, 0.0]},
            expect=Unknown,
            says="no point on 7 of 14 days",
        ),
        Case(
            title="a runaway process until yesterday",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(*[1900.0] * 4),
            expect=Fine,
            says="in 1 of 5 weeks",
        ),
        Case(
            title="charged every day, and mended ten days ago",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(*[864.0] * 25, *[0.0] * 10),
            expect=Fine,
            says="last week",
        ),
        Case(
            title="a few credits every week",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(*([150.0, 0, 0, 0, 0, 0, 0] * 5)),
            expect=Fine,
            says="10.9 vCPU-hours a month",
        ),
        Case(
            title="made three days ago: a launch starts without credits",
            resource=replace(_RENDERER, launched_at=CASE_NOW - timedelta(days=3)),
            records=_TYPES,
            metrics={},
            expect=Fine,
            says="started less than 14 days ago",
        ),
        Case(
            title="charged as another type, until it was started anew 16 days ago",
            resource=replace(_RENDERER, launched_at=CASE_NOW - timedelta(days=16)),
            records=_TYPES,
            metrics=_charged(*[864.0] * 19, *[0.0] * 16),
            expect=Fine,
            says="no surplus credits",
        ),
        Case(
            title="in standard mode: surplus is not published",
            resource=_RENDERER,
            records=_TYPES,
            metrics={(BALANCE, DAY_S): [500.0] * 36},
            expect=Fine,
            says="standard mode",
        ),
        Case(
            title="no metrics",
            resource=_RENDERER,
            records=_TYPES,
            expect=Unknown,
            says="CPUSurplusCreditsCharged and CPUCreditBalance",
        ),
        Case(
            title="five of the last days without a point",
            resource=_RENDERER,
            records=_TYPES,
            metrics=_charged(*[None] * 5),
            expect=Unknown,
            says="no point on 5 of 14 days",
        ),
        Case(
            title="a type without CPU credits",
            resource=replace(_RENDERER, instance_type="m6i.large"),
            records=_TYPES,
            expect=Fine,
            says="no CPU credits",
        ),
        Case(
            title="a type that EC2 says nothing about",
            resource=replace(_RENDERER, instance_type="t9.large"),
            records=_TYPES,
            expect=Unknown,
            says="t9.large",
        ),
        Case(title="stopped", resource=replace(_RENDERER, state="stopped"), records=_TYPES, expect=Fine, says="stopped"),
    ),
)
