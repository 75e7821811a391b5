"""EC2 T instances that pay for surplus CPU credits week after week.

## What it finds
A running T instance in unlimited mode that AWS charged for surplus CPU credits last week and in at least three of the
last five weeks, or on each of the last 14 days, for 20 vCPU-hours a month or more. If fewer weeks have points, each
needs a charge, and 14 days need points.

## Why it matters
T3, T3a and T4g are unlimited by default. AWS bills what they use beyond their baseline by the vCPU-hour, on a line that
names no instance. From an average of about 45 % (t3.large against m6i.large), a fixed processor costs less.

## When it is wrong
- A load that is about to end needs no other type.
- An instance that a schedule stops every evening is not flagged. Charges before the last start are left out.

## What to do
First check that no process loops. Then take the option that saves most: the general type with a fixed processor, a
larger size, or `standard` mode if the work may wait.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, amount, ec2_cpu_credits, ec2_hour, hours
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import cpu, network
from slackwater.rules import ec2, examples
from slackwater.rules.examples import Cases, days, days_ago

CHARGED = Metric("AWS/EC2", "CPUSurplusCreditsCharged", "Sum", "credits")
BALANCE = Metric("AWS/EC2", "CPUCreditBalance", "Minimum", "credits")
CPU = Metric("AWS/EC2", "CPUUtilization", "Average", "percent")


class SurchargedLimits(Limits):
    """When a surcharge is regular and worth a change."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="five weeks cover a month and keep weekdays together")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="two whole weekly rhythms")
    charged_weeks: int = limit(3, unit="weeks", ge=1, le=60, why="two may be one incident over a weekend")
    least_vcpu_hours: float = limit(20, unit="vCPU hours", ge=0, why="a month: a dollar, as a launch may cost")
    fits_percent: float = limit(80, unit="percent", gt=0, le=100, why="of the earned credits; standard mode is enough")


class Surcharge(NamedTuple):
    """The credits that AWS charged by day, and those that the instance uses (None if unknown) and earns an hour."""

    instance: Instance
    kind: InstanceType
    days: Series
    used: float | None
    earned: float

    def monthly(self, credits_by_day: Sequence[float]) -> Change:
        """Return these daily credits as a change of the monthly bill."""
        return Change(ec2_cpu_credits(self.kind.family), amount(cpu.vcpu_hours_per_month(credits_by_day)))


def judge(instance: Instance, seen: Seen, limits: SurchargedLimits) -> Verdict:
    """Flag a T instance that regularly pays for surplus credits."""
    kind = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if not network.has_cpu_credits(instance.instance_type):
        return Fine(f"{instance.instance_type} has no CPU credits")
    if kind is None:
        return Unknown(f"its type {instance.instance_type} is not in the inventory")
    if seen.is_younger(instance.launched_at, days=limits.least_days):
        return Fine(f"it was started less than {limits.least_days} days ago")

    (charged,) = seen.read(*ec2.daily(instance, limits.window_days, CHARGED))
    whole = seen.finished(charged, instance.launched_at)
    if not whole.present:
        (balance,) = seen.read(*ec2.daily(instance, limits.window_days, BALANCE))
        if seen.finished(balance, instance.launched_at).present:
            return Fine("CloudWatch has its CPU credits but no surplus: it is in standard mode")
        return Unknown("CPUSurplusCreditsCharged and CPUCreditBalance have no data since it was started")
    newest = whole.newest(limits.least_days)
    if _why_fine(whole, limits) and all(day > 0 for day in newest.values):
        whole = newest
    if reason := _why_fine(whole, limits):
        missing = f"{newest.missing} of {limits.least_days} days"
        return Unknown(f"CPUSurplusCreditsCharged has no data on {missing}") if newest.missing else Fine(reason)

    (percents,) = seen.read(*ec2.daily(instance, limits.window_days, CPU))
    percents = percents.between(whole.start_s, whole.end_s)
    used = cpu.used_per_hour(fmean(percents.present), kind.vcpus) if percents.present else None
    return _flag(Surcharge(instance, kind, whole, used, cpu.earned_per_hour(kind.id)), percents, seen, limits)


def _why_fine(whole: Series, limits: SurchargedLimits) -> str:
    """Return why the charges are not regular; empty if they are."""
    recorded = len(whole.present)
    if len(whole) < limits.least_days:
        return f"it has run for {len(whole)} whole days"
    ends = range(whole.end_s, whole.start_s + 7 * DAY_S - 1, -7 * DAY_S)  # of whole weeks, newest first
    weeks = [whole.between(end_s - 7 * DAY_S, end_s).present for end_s in ends]
    if not sum(weeks[0]):
        return f"AWS charged no surplus credits{' last week' if sum(whole.present) else ''}"
    known = [sum(week) > 0 for week in weeks if week]
    often, throughout = sum(known), all(known) and recorded >= limits.least_days
    if often < limits.charged_weeks and not throughout:
        return f"AWS charged surplus credits in {often} of {len(known)} weeks, and {recorded} days have points"
    if (vcpu_hours := cpu.vcpu_hours_per_month(whole.present)) < limits.least_vcpu_hours:
        return f"AWS charges {vcpu_hours:.1f} vCPU-hours a month"
    return ""


def _flag(surcharge: Surcharge, percents: Series, seen: Seen, limits: SurchargedLimits) -> Flagged:
    kind, by_day = surcharge.kind, surcharge.days.over(cpu.CREDITS_PER_VCPU_HOUR)
    recorded, in_all = len(by_day.present), sum(by_day.present)
    monthly = cpu.vcpu_hours_per_month(surcharge.days.present)
    baseline = cpu.baseline_percent(surcharge.earned, kind.vcpus)
    used, load = "", Evidence("Mean CPU", "unknown", "words")
    if percents.present:
        mean = fmean(percents.present)
        used = f": its CPU averages {mean:.0f} %, and the baseline of {kind.id} is {baseline:g} %"
        levels = Line("Baseline", round(baseline, 2)), Line("Fits", round(baseline * limits.fits_percent / 100, 2))
        load = Evidence("Mean CPU", round(mean, 1), "percent", percents, lines=levels)
    price = "Priced for Linux On-Demand. Windows costs more. Reserved Instances and Savings Plans change the sum."
    if lifecycle := surcharge.instance.lifecycle:
        price = f"It is {lifecycle}, so the price of its hours is unknown. AWS advises standard mode for Spot."
    xen = f"{kind.id} runs on Xen. Another family needs the ENA and NVMe drivers in its image first."
    return Flagged(
        summary=f"{monthly:,.0f} vCPU-hours a month of surplus CPU credits ({in_all:,.0f} in {recorded} days){used}",
        confidence="high" if recorded >= limits.window_days and percents.present else "medium",
        evidence=(
            Evidence("Surplus credits charged, per day", round(in_all, 1), "vCPU-hours", by_day),
            Evidence("Days with points", recorded, "days"),
            load,
            Evidence(f"Baseline of {kind.id}", round(baseline, 1), "percent"),
        ),
        advice=(*_other_types(surcharge, seen), _standard(surcharge, baseline, limits)),
        fingerprint_inputs=(kind.id,),
        caveats=(price, xen) if kind.hypervisor == "xen" else (price,),
        cheapest_first=True,
    )


def _other_types(surcharge: Surcharge, seen: Seen) -> Iterator[Advice]:
    """Recommend a general type with as many vCPUs, and the smallest of the family whose baseline carries the mean."""
    instance, this, charged, used, earned = surcharge
    types, found = seen.fleet.all(InstanceType), list[tuple[str, str, Sequence[float]]]()
    general = network.general_family(this.id)
    if enough := [(one.vcpus, one.id) for one in types if one.family == general and one.vcpus >= this.vcpus]:
        _, fixed = min(enough)
        summary = f"Change it to {fixed}: as many vCPUs, no less memory, and no surcharge at any load."
        found.append((fixed, summary, charged.present))
    sizes = [one.id for one in types if one.family == this.family and one.id in cpu.EARNED_PER_HOUR]
    family = [(cpu.earned_per_hour(id_), id_) for id_ in sizes]
    if used is not None and (more := [one for one in family if one[0] > earned and one[0] >= used]):
        earns, larger = min(more)
        now = f"It earns {earns:g} CPU credits an hour instead of {earned:g}, so its baseline carries the mean load."
        found.append((larger, f"Change it to {larger}. {now}", cpu.saved_by_earning(charged.present, earns - earned)))
    for to, summary, saved in found:
        prices = Change(ec2_hour(this.id), hours()), Change(ec2_hour(to), -hours())
        yield ec2.change_type(instance, to, summary, (surcharge.monthly(saved), *prices))


def _standard(surcharge: Surcharge, baseline: float, limits: SurchargedLimits) -> Advice:
    """Recommend standard mode. Its saving is known only if the work fits into the credits."""
    instance, _, charged, used, earned = surcharge
    owner, fits = instance.managed_by, used is not None and used <= earned * limits.fits_percent / 100
    then = "The work fits into the earned credits, but takes longer."
    if used is None:
        then = f"The load is unknown. Above the {earned:g} credits an hour that the instance earns, it falls behind."
    elif not fits:
        then = f"The instance uses {used:.0f} credits an hour and earns {earned:g}, so it may never catch up."
    there = f" Change it in {owner}, which manages it." if owner else ""
    command = (
        f"aws ec2 modify-instance-credit-specification --region {instance.target.region}"
        f" --instance-credit-specification InstanceId={instance.id},CpuCredits=standard"
    )
    return Advice(
        action="standard-credits",
        summary=f"Set standard mode, which has no surcharge, if the work may be slower. {then}{there}",
        changes=(surcharge.monthly(charged.present),) if fits else None,
        risk=f"It falls to its baseline of {baseline:g} % when its credits are gone. AWS charges at once what it owes.",
        reversible=True,
        command=None if owner else command,
    )


VCPUS = {"t3.medium": 2, "t3.large": 2, "m6i.large": 2, "t3.xlarge": 4, "m6i.xlarge": 4, "t3.2xlarge": 8}
TYPES = tuple(examples.instance_type(name, vcpus=vcpus) for name, vcpus in VCPUS.items())
# 864 credits a day are 60 % of two vCPUs for a day, less the 30 % that the instance earns.
ON_SUNDAYS, A_FEW = ({CHARGED: [*[credits_, *[0.0] * 6] * 5, 0.0], CPU: [20.0] * 36} for credits_ in (1500.0, 150.0))
WEEKEND, UNTIL_NOW = ({CHARGED: days(0.0, {some: 1900.0})} for some in (range(6, 10), range(1, 5)))
FIXED, RESTARTED = ({CHARGED: days(864.0, {range(since): 0.0})} for since in (11, 17))
LAST_14, ONLY_14 = ({CHARGED: days(rest, {range(1, 15): 864.0})} for rest in (0.0, None))
DARK, ONLY_A_WEEK = {CHARGED: days(0.0, {range(1, 6): None})}, {CHARGED: days(None, {range(8): 1500.0})}

charged = Cases(examples.instance(instance_type="t3.large"), {CHARGED: 864.0, CPU: 60.0}, records=TYPES)

DETECTOR = Detector(
    title="EC2 T instance charged for surplus CPU credits",
    kind="waste",
    resource=Instance,
    limits=SurchargedLimits,
    reads=(InstanceType,),
    judge=judge,
    cases=(
        charged("a t3.large whose CPU averages 60 %", Flagged, "averages 60 %, and the baseline of t3.large is 30 %"),
        charged("a day a week far above its baseline, and little on the others", Flagged, "20 %", metrics=ON_SUNDAYS),
        charged("charged every day since it was made 20 days ago", Flagged, "274 in 19 days", launched_at=days_ago(20)),
        charged("charged on each of the only 14 days that have a point", Flagged, "(202 in 14 days)", metrics=ONLY_14),
        charged("charged on each of the last 14 days, and never before", Flagged, "(202 in 14 days)", metrics=LAST_14),
        charged("its mean CPU is unknown", Flagged, "438 vCPU-hours a month of", metrics={CPU: None}),
        charged("a runaway process over a weekend", Fine, "in 2 of 5 weeks", metrics=WEEKEND),
        charged("charged last week, and no data before", Unknown, "data on 7 of 14 days", metrics=ONLY_A_WEEK),
        charged("a runaway process until yesterday", Fine, "in 1 of 5 weeks", metrics=UNTIL_NOW),
        charged("charged every day, and fixed ten days ago", Fine, "last week", metrics=FIXED),
        charged("a few credits every week", Fine, "10.9 vCPU-hours a month", metrics=A_FEW),
        charged("made three days ago: a launch starts without credits", Fine, "less than 14", launched_at=days_ago(3)),
        charged("charged until it was started again", Fine, "no surplus", launched_at=days_ago(16), metrics=RESTARTED),
        charged("standard mode: no surplus", Fine, "in standard mode", metrics={CHARGED: None, BALANCE: 500.0}),
        charged("no metrics", Unknown, "CPUSurplusCreditsCharged and CPUCreditBalance", metrics={CHARGED: None}),
        charged("five of the last days without a point", Unknown, "data on 5 of 14 days", metrics=DARK),
        charged("a type without CPU credits", Fine, "no CPU credits", instance_type="m6i.large"),
        charged("a type that EC2 says nothing about", Unknown, "t9.large", instance_type="t9.large"),
        charged("stopped", Fine, "stopped", state="stopped"),
    ),
)
