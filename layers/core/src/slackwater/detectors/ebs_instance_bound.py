"""Instances with volumes that are provisioned faster than the instance can ever be.

## What it finds
A running instance with volumes of provisioned performance (gp3 above 3,000 IOPS or 125 MiB/s, io1 and io2 IOPS) above
its own EBS maximum, in IOPS or in throughput. For one volume above the maximum the configuration is enough. Several
volumes must exceed it together, and their busiest minutes of 35 days must show that each needs less.

## Why it matters
An m5.large reaches 566 MiB/s for half an hour a day, and 77 MiB/s otherwise. AWS bills 1,000 for a gp3 volume of 1,000.

## When it is wrong
- You are about to enlarge the instance or to move the volume.
- A job that is rarer than once in 35 days may want more than the busiest minute that several volumes keep.
- EC2 publishes the limits of the default bandwidth weighting only. With another one, a quarter more counts.

## What to do
Lower the settings online to what the instance reaches: nothing gets slower. If you want that speed, use a larger
instance of the family. ebs-surplus-iops and ebs-surplus-throughput check later whether less is enough.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit
from slackwater.model.money import difference, size_class
from slackwater.model.resources import Instance, InstanceType, Record, Volume
from slackwater.model.units import MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.performance.ebs import Allowance
from slackwater.rules import ebs, ebs_peaks, ec2, examples
from slackwater.rules.ebs_peaks import Look, Measure
from slackwater.rules.examples import Cases, peaks
from slackwater.rules.series import baseline_and_burst

WEIGHTED: Final = 1.25
"""The largest factor of a weighting for EBS (Amazon EBS User Guide, "Configurable instance bandwidth weighting")."""


class BoundLimits(Limits):
    """How far beyond the instance counts, and what volumes that share it keep."""

    beyond_percent: float = limit(10, unit="percent", ge=0, le=400, why="250 MiB/s on a T3 with 249 is no mistake")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above each busiest minute")


@dataclass(frozen=True, slots=True)
class Kind:
    """IOPS or throughput. Volumes pay for each separately, and instances limit each separately."""

    measure: Measure

    def of(self, volume: Volume) -> int:
        """Return how much of it a volume is set to."""
        return (volume.iops if self is IOPS else volume.throughput_mib_s) or 0

    def lowered(self, volume: Volume, to: float) -> Volume:
        """Return the same volume with at most this much of it."""
        value = min(ceil(to), self.of(volume))
        return replace(volume, iops=value) if self is IOPS else replace(volume, throughput_mib_s=value)

    def least(self, volume: Volume, most: Allowance) -> int:
        """Return what a volume keeps: the included amount, or the IOPS that its reachable throughput requires."""
        if self is THROUGHPUT:
            return formulas.GP3_INCLUDED_MIB_S
        included = formulas.included_mib_s(volume.volume_type, IOPS.of(volume))
        return formulas.least_iops(volume.volume_type, volume.throughput_mib_s or min(included, most.mib_s))

    def is_billed(self, volume: Volume) -> bool:
        """Return whether AWS bills any of it."""
        free = formulas.GP3_INCLUDED_IOPS if self is IOPS else formulas.GP3_INCLUDED_MIB_S
        return self.of(volume) > (free if volume.volume_type == "gp3" else 0)


IOPS: Final = Kind(ebs_peaks.CONSUMED)
THROUGHPUT: Final = Kind(ebs_peaks.BYTES)
KINDS: Final = (THROUGHPUT, IOPS)  # throughput first: it decides how few IOPS are enough

type Looks = Mapping[tuple[Kind, str], Look]
"""The busiest minutes by kind and volume id."""
type Pair = tuple[Volume, Volume]
"""A volume as it is now, and as proposed."""


@dataclass(frozen=True, slots=True)
class Host:
    """The instance and its type."""

    instance: Instance
    type_: InstanceType

    def most(self, volume_type: str) -> Allowance | None:
        """Return the most that it can reach with volumes of a type; None if EC2 does not publish it."""
        limits = formulas.instance_limits(self.type_, volume_type)
        return None if limits is None else self.weighted(limits.burst)

    def weighted(self, allowance: Allowance) -> Allowance:
        """Return the allowance with the bandwidth weighting, which changes bytes but not IOPS."""
        weight = 1 if self.instance.bandwidth_weighting in {"default", "vpc-1"} else WEIGHTED
        return replace(allowance, bytes_per_s=allowance.bytes_per_s * weight)


def judge(instance: Instance, seen: Seen, limits: BoundLimits) -> Verdict:
    """Flag an instance whose volumes pay for more than it can ever reach."""
    volumes = [one for one in seen.fleet.volumes_of(instance.id) if _is_provisioned(one)]
    if not volumes:
        return Fine("none of its volumes has provisioned performance")
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    type_ = seen.fleet.get(InstanceType, instance.instance_type)
    if type_ is None or (most := Host(instance, type_).most("gp3")) is None:
        return Unknown(f"EC2 publishes no EBS limits of {instance.instance_type}")

    host = Host(instance, type_)
    each = {one.id: host.most(one.volume_type) or most for one in volumes}
    alone = [_lowered_alone(one, each[one.id], limits) for one in volumes]
    paid = {kind: [one for one in alone if kind.is_billed(one)] for kind in KINDS}
    # A single volume is lowered already, and keeps the IOPS that its throughput requires.
    kinds = [kind for kind in KINDS if len(paid[kind]) > 1 and _are_beyond(paid[kind], kind, most, limits)]
    in_turns = "its volumes take turns: each needs what it pays for, but not at once"
    by_itself: Verdict = Fine(in_turns if kinds else "it can reach what its volumes pay for")
    if alone != volumes:
        by_itself = _flag(host, list(zip(volumes, alone, strict=True)), each, seen, {})
    if not kinds:
        return by_itself
    window = ebs_peaks.PeakLimits()
    looks = {(kind, one.id): Look(one, kind.measure, seen, window, type_) for kind in kinds for one in paid[kind]}
    seen.read(*(need for look in looks.values() for need in look.needs))
    if gaps := [f"{look.volume.id}: {look.unknown.reason}" for look in looks.values() if look.unknown]:
        return by_itself if alone != volumes else Unknown(f"its volumes may take turns: {gaps[0]}")
    shared = alone
    for kind in kinds:
        shared = _shared(shared, kind, most, looks, limits)
    if shared == alone:
        return by_itself
    return _flag(host, list(zip(volumes, shared, strict=True)), dict.fromkeys(each, most), seen, looks)


def _is_provisioned(volume: Volume) -> bool:
    """Return whether AWS bills a volume for more than its size, and at most one instance has it."""
    is_one = len(volume.attachments) < 2 and volume.volume_type in {"gp3", "io1", "io2"}
    return is_one and any(kind.is_billed(volume) for kind in KINDS)


def _are_beyond(volumes: Sequence[Volume], kind: Kind, most: Allowance, limits: BoundLimits) -> bool:
    """Return whether volumes together have far more than the instance reaches."""
    return sum(map(kind.of, volumes)) > most.of(kind.measure.unit) * (1 + limits.beyond_percent / 100)


def _lowered_alone(volume: Volume, most: Allowance, limits: BoundLimits) -> Volume:
    """Return one volume with no more than the instance reaches while all other volumes are idle."""
    for kind in KINDS:
        if _are_beyond([volume], kind, most, limits):
            volume = kind.lowered(volume, max(kind.least(volume, most), most.of(kind.measure.unit)))
    return volume


def _shared(volumes: list[Volume], kind: Kind, most: Allowance, looks: Looks, limits: BoundLimits) -> list[Volume]:
    """Return several volumes with no more than the instance reaches with all of them at once.

    Each keeps its busiest minute. The rest is shared in proportion to what else they have. If their busiest minutes
    together exceed the instance's maximum, they must run at different times, and stay as they are.
    """
    has, busy, keeps = {one.id: kind.of(one) for one in volumes if kind.is_billed(one)}, 0, dict[str, int]()
    for one in (one for one in volumes if one.id in has):
        needs = min(has[one.id], formulas.with_headroom(looks[kind, one.id].most, limits.headroom_percent))
        busy, keeps[one.id] = busy + needs, max(needs, min(has[one.id], kind.least(one, most)))
    above = sum(has.values()) - sum(keeps.values())
    if busy > most.of(kind.measure.unit) or not above:
        return volumes
    share = max(0.0, (most.of(kind.measure.unit) - sum(keeps.values())) / above)
    to = {id_: int(keep + (has[id_] - keep) * share) for id_, keep in keeps.items() if keep}
    return [kind.lowered(one, to[one.id]) if one.id in to else one for one in volumes]


def _words(volume: Volume) -> str:
    """Return `4,000 IOPS and 567 MiB/s`."""
    return " and ".join(f"{kind.of(volume):,} {kind.measure.unit}" for kind in (IOPS, THROUGHPUT) if kind.of(volume))


def _flag(host: Host, pairs: Sequence[Pair], most: Mapping[str, Allowance], seen: Seen, looks: Looks) -> Flagged:
    """Flag the host. `most` is by volume id. `looks` is empty if the configuration alone decides."""
    before, changed = [was for was, _ in pairs], [(was, will) for was, will in pairs if was != will]
    volumes = [was for was, _ in changed]
    saved = {kind: sum(kind.of(was) - kind.of(will) for was, will in changed) for kind in KINDS}
    sentences = []
    for kind in filter(saved.get, KINDS):
        lowered = [was for was, will in changed if kind.of(was) != kind.of(will)]
        where = lowered[0].name if len(lowered) == 1 else f"{len(lowered)} volumes"
        sentences.append(
            f"{sum(map(kind.of, lowered)):,} {kind.measure.unit} provisioned on {where}, but {host.type_.id} reaches"
            f" at most {min(most[one.id].of(kind.measure.unit) for one in lowered):,.0f}: {saved[kind]:,} are never"
            f" usable{' at once' if looks else ''}"
        )
    busiest = ", ".join(f"{look.most:,.0f} {kind.measure.unit} of {volume}" for (kind, volume), look in looks.items())
    managed = (f"{one.id} is managed by {one.managed_by}: change it there." for one in volumes if one.managed_by)
    keeps = f"Each keeps its busiest minute ({busiest}). Less may be enough, and a rarer job may want more."
    return Flagged(
        summary="; ".join(sentences),
        confidence="medium" if looks else "high",
        evidence=(
            *(Evidence(f"Provisioned on {one.name}", _words(one), "words") for one in volumes),
            *ebs.carried(host.type_),
            *(_chart(kind, before, looks, host) for kind in KINDS if saved[kind] and any(kind is k for k, _ in looks)),
        ),
        advice=_options(host, before, changed, seen),
        fingerprint_inputs=(
            host.type_.id,
            *sorted(one.id for one in volumes),
            *(size_class(saved[one]) for one in KINDS),
        ),
        caveats=(*([keeps] if looks else ()), *managed),
        covers=tuple(volume.id for volume in volumes),
    )


def _chart(kind: Kind, volumes: Sequence[Volume], looks: Looks, host: Host) -> Evidence:
    """Return evidence: the sum of the volumes' busiest minutes of each day."""
    billed = [one for one in volumes if (kind, one.id) in looks]
    together = ebs_peaks.added([looks[kind, one.id].by_day for one in billed])
    limits = formulas.instance_limits(host.type_, "gp3") or formulas.UNBOUND
    levels = (host.weighted(one).of(kind.measure.unit) for one in (limits.baseline, limits.burst))
    lines = (Line("Provisioned", sum(map(kind.of, billed))), *baseline_and_burst(*levels))
    label, value = "Sum of their busiest minutes, per day", round(max(together.present, default=0), 1)
    return Evidence(label, value, kind.measure.unit, together, lines=lines)


def _options(host: Host, volumes: Sequence[Volume], changed: Sequence[Pair], seen: Seen) -> tuple[Advice, ...]:
    before, after = ([u for one in side for u in formulas.monthly_units(one)] for side in zip(*changed, strict=True))
    lower = Advice(
        action="lower-to-what-the-instance-carries",
        summary=f"Set {'; '.join(f'{will.name} to {_words(will)}' for _, will in changed)}.",
        changes=difference(before, after),
        risk=f"A larger instance is not faster until you raise them again. {ebs.ONLINE}",
        reversible=True,
        command=" && ".join(ebs.modify_command(will) for _, will in changed),
    )
    needed = Allowance(sum(map(THROUGHPUT.of, volumes)) * MIB, sum(map(IOPS.of, volumes)))
    when, what = "If you want that speed", "all that is provisioned"
    larger = ec2.larger(host.instance, needed, seen, when=when, what=what)
    return (lower, larger) if larger else (lower,)


WORKER = examples.instance(id="i-0fffffffffffffff0", tags={"Name": "worker"})
TYPES = (
    examples.M5_LARGE,
    *examples.ebs_types(
        ("m5.4xlarge", (4_750, 4_750), (18_750, 18_750)),
        ("m5.12xlarge", (9_500, 9_500), (40_000, 40_000)),
        ("t3.micro", (87, 2_085), (500, 11_800)),
    ),
    examples.instance_type("i3.16xlarge", hypervisor="xen", ebs_mbps=(14_000, 14_000), ebs_iops=(65_000, 65_000)),
    examples.instance_type("t2.micro"),
)


def volume(name: str, iops: int = 3_000, mib_s: int | None = 125, type_: str = "gp3") -> Volume:
    """Return a volume of the worker."""
    made = examples.volume(WORKER, id=f"vol-{name}", tags={"Name": name}, iops=iops, volume_type=type_)
    return replace(made, throughput_mib_s=mib_s)


def on(*volumes: Volume) -> tuple[Record, ...]:
    """Return these volumes and all types."""
    return (*TYPES, *volumes)


DATA, LOG, SHARED = volume("data", 4_000, 1_000), volume("log", 3_000, 500), volume("shared", 32_000, None, "io2")
ON_TWO = replace(SHARED, attachments=(SHARED.attachments[0], replace(SHARED.attachments[0], instance_id="i-2")))
UNEQUAL, EQUAL = on(DATA, LOG), on(volume("data", 3_000, 500), LOG)
BUSY, CALM = peaks(read_mib_s=225, written_mib_s=225), peaks(read_mib_s=30, written_mib_s=30)
IO1, IO2, FASTER = volume("db", 64_000, None, "io1"), volume("db", 32_000, None, "io2"), volume("data", 4_000, 500)
INCLUDED = [volume(name) for name in "abcdefgh"]
SIX, OVER_LIMIT = INCLUDED[:6], "spool, but m5.large reaches at most 566: 433 are"

bound = Cases(WORKER, records=on(volume("spool", 4_000, 1_000)))
xen = Cases(replace(WORKER, instance_type="i3.16xlarge"))
t3 = Cases(replace(WORKER, instance_type="t3.micro"))
weighted = Cases(replace(WORKER, bandwidth_weighting="ebs-1"))

DETECTOR = Detector(
    title="EBS volumes set faster than their instance can be",
    kind="waste",
    resource=Instance,
    limits=BoundLimits,
    reads=(InstanceType, Volume),
    judge=judge,
    outranks=("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-throughput"),
    cases=(
        bound("1,000 MiB/s on an instance that carries 566", Flagged, OVER_LIMIT),
        bound("32,000 IOPS on an instance that carries 18,750", Flagged, "at most 18,750: 13,250 are", records=on(IO2)),
        xen("an io1 of 64,000 IOPS on Xen, which carries 32,000 to one", Flagged, "32,000 are never", records=on(IO1)),
        bound("two volumes of 500 MiB/s each, never busy", Flagged, "434 are never", records=EQUAL, metrics=CALM),
        bound("1,000 and 500 MiB/s, never busy", Flagged, "934 are never usable at", records=UNEQUAL, metrics=CALM),
        bound("1,000 and 500 MiB/s, which take turns", Flagged, "566: 433 are never", records=UNEQUAL, metrics=BUSY),
        bound("1,000 and 500 MiB/s, without metrics", Flagged, "566: 433 are never usable", records=UNEQUAL),
        bound("two volumes of 500 MiB/s each, which take turns", Fine, "take turns", records=EQUAL, metrics=BUSY),
        bound("two volumes of 500 MiB/s each, without metrics", Unknown, "may take turns", records=EQUAL),
        t3("several volumes as every gp3 is, on a T3 that carries one of them", Fine, "none", records=on(*SIX)),
        bound("a faster volume among several as every gp3 is", Fine, "it can reach", records=on(FASTER, *INCLUDED)),
        bound("above the baseline, below the maximum", Fine, records=on(volume("data", 6_000, 500))),
        t3("250 MiB/s on a T3, which carries 249", Fine, records=on(volume("data", 3_000, 250))),
        weighted("700 MiB/s, with a bandwidth weighting for EBS", Fine, records=on(volume("data", 3_000, 700))),
        bound("a volume of two instances", Fine, "none of its volumes has", records=on(ON_TWO)),
        bound("stopped", Fine, "stopped", state="stopped"),
        bound("a type of which EC2 publishes nothing", Unknown, "t2.micro", instance_type="t2.micro"),
        bound("its volumes could not be read", Unknown, "denied", records=TYPES, unreadable={Volume: "denied"}),
    ),
)
