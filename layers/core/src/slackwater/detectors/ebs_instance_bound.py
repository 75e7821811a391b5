"""Instances whose volumes are set faster than the instance can ever be.

## What it finds
A running instance that carries volumes with paid performance (gp3 above 3,000 IOPS or 125 MiB/s, io1 and io2 IOPS), of which a
part lies beyond the instance's own EBS maximum: paid for, and never usable. IOPS and throughput are looked at apart. One volume
set above the maximum is seen from the configuration alone; several that only together lie above it are flagged where their
busiest minutes show that none of them needs its setting while the others rest.

## Why it matters
A volume is only as fast as its instance ("The performance of EBS-optimised instances", 2017-07-10). An m5.large carries 566
MiB/s for half an hour a day, and 77 else; a gp3 set to 1,000 MiB/s on it is billed for 1,000.

## When it is wrong
The instance is about to become larger, or the volume about to move. What every gp3 includes costs nothing and is no trouble,
whatever the instance carries, and neither is a type whose baseline is lower: the maximum counts. A volume of several instances
(Multi-Attach) is left out. A bandwidth weighting for EBS carries up to a quarter more: that much is allowed for.

## What to do
Lower the settings to what the instance carries: online, and nothing gets slower. Or, if that speed is wanted, take a larger
instance of the family. Less than the maximum may do as well: the detectors of surplus IOPS and throughput see it then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric
from slackwater.model.money import Change, difference, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import DAY_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.performance.ebs import Allowance
from slackwater.rules import ec2 as larger_instance
from slackwater.rules.ebs import ONLINE, managed_caveats, modify_command
from slackwater.rules.ebs_peaks import BYTES, CONSUMED, Look, Measure, PeakLimits, added, carried
from slackwater.rules.series import baseline_and_burst

WEIGHTED: Final = 1.25
"""What a bandwidth weighting for EBS gives at most (Amazon EBS User Guide, "Configurable instance bandwidth weighting")."""


class BoundLimits(Limits):
    """How far beyond the instance counts, and what volumes that share it keep."""

    beyond_percent: float = limit(10, unit="percent", ge=0, le=400, why="250 MiB/s on a T3, which carries 249, is no mistake")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute of each of several")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a volume is set to; `mib_s` is None where its type has no throughput of its own."""

    volume: Volume
    iops: int
    mib_s: int | None

    @property
    def words(self) -> str:
        """`4,000 IOPS and 567 MiB/s`."""
        return f"{self.iops:,} IOPS" + (f" and {self.mib_s:,} MiB/s" if self.mib_s else "")


@dataclass(frozen=True, slots=True)
class Kind:
    """IOPS or throughput: both are set, billed and limited apart."""

    measure: Measure

    @property
    def unit(self) -> str:
        """As EBS states it."""
        return self.measure.unit

    def set_on(self, setting: Setting) -> int:
        """How much of it a volume is set to."""
        return setting.iops if self is IOPS else setting.mib_s or 0

    def lowered(self, setting: Setting, to: float) -> Setting:
        """The same volume with so much of it, or with as much as it had where that is less."""
        value = min(ceil(to), self.set_on(setting))
        return replace(setting, iops=value) if self is IOPS else replace(setting, mib_s=value)

    def carried(self, allowance: Allowance) -> float:
        """How much of it an instance lets through."""
        return allowance.iops if self is IOPS else allowance.bytes_per_s / MIB

    def least(self, setting: Setting, most: Allowance) -> int:
        """What a volume keeps of it: what costs nothing, and the IOPS that its throughput takes, as far as that is carried."""
        if self is THROUGHPUT:
            return ebs.GP3_INCLUDED_MIB_S
        type_, of_iops = setting.volume.volume_type, ebs.included_mib_s(setting.volume.volume_type, setting.iops)
        return ebs.least_iops(type_, setting.mib_s or min(of_iops, THROUGHPUT.carried(most)))

    def paid(self, setting: Setting) -> bool:
        """Whether some of it is billed."""
        free = ebs.GP3_INCLUDED_IOPS if self is IOPS else ebs.GP3_INCLUDED_MIB_S
        return self.set_on(setting) > (free if setting.volume.volume_type == "gp3" else 0)


IOPS: Final = Kind(CONSUMED)
THROUGHPUT: Final = Kind(BYTES)
KINDS: Final = (THROUGHPUT, IOPS)
"""Throughput first: how few IOPS will do depends on it."""


type Changed = Sequence[tuple[Setting, Setting]]
"""Volumes as they are set, and as they would be."""
type Used = Mapping[tuple[Kind, str], float]
"""The busiest minute of a volume, where that counts."""


def judge(instance: Instance, seen: Seen, limits: BoundLimits) -> Verdict:
    """Flag an instance whose volumes pay for more than it can ever carry."""
    settings = [setting for volume in seen.fleet.volumes_of(instance.id) if (setting := _setting(volume))]
    if not settings:
        return Fine("none of its volumes pays for IOPS or throughput of its own")
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    instance_type = seen.fleet.get(InstanceType, instance.instance_type)
    if instance_type is None or (most := _most(instance, instance_type, "gp3")) is None:
        return Unknown(f"EC2 publishes no EBS limits of {instance.instance_type}")

    each = {one.volume.id: _most(instance, instance_type, one.volume.volume_type) or most for one in settings}
    alone = [_lowered_alone(one, each[one.volume.id], limits) for one in settings]
    kinds = [kind for kind in KINDS if _are_beyond(_paying(alone, kind), kind, most, limits)]
    by_itself: Verdict = Fine("it carries what its volumes pay for")
    if alone != settings:
        by_itself = _flag(instance, instance_type, settings, alone, each, seen)
    elif kinds:
        by_itself = Fine("its volumes take turns: each needs what it pays for, though not all at once")
    if not kinds:
        return by_itself
    xen = instance_type.hypervisor == "xen"
    looks = {
        (kind, one.volume.id): Look(volume=one.volume, measure=kind.measure, seen=seen, limits=PeakLimits(), xen=xen)
        for kind in kinds
        for one in _paying(alone, kind)
    }
    if lacking := seen.lacking(need for look in looks.values() for need in look.needs):
        return Ask(lacking)
    for look in looks.values():
        if doubt := look.doubt:
            return by_itself if alone != settings else Unknown(f"its volumes may take turns: {look.volume.id}: {doubt.reason}")
    shared, used = alone, {key: look.most for key, look in looks.items()}
    for kind in kinds:
        shared = _shared(shared, kind, most, used, limits)
    if shared == alone:
        return by_itself
    pictures = {kind: _picture(kind, settings, looks, instance, instance_type) for kind in kinds}
    return _flag(instance, instance_type, settings, shared, dict.fromkeys(each, most), seen, used, pictures)


def _setting(volume: Volume) -> Setting | None:
    """What a volume pays for beside its size; of no concern where it pays nothing, or has several instances."""
    if len(volume.attachments) > 1 or volume.volume_type not in {"gp3", "io1", "io2"}:
        return None
    setting = Setting(volume, volume.iops or 0, volume.throughput_mib_s if volume.volume_type == "gp3" else None)
    return setting if any(kind.paid(setting) for kind in KINDS) else None


def _most(instance: Instance, instance_type: InstanceType, volume_type: str) -> Allowance | None:
    """What it lets through at most to volumes of a type. Its bandwidth weighting moves bytes, and leaves IOPS as they are."""
    limits = ebs.instance_limits(instance_type, volume_type)
    return None if limits is None else _weighted(instance, limits.burst)


def _weighted(instance: Instance, allowance: Allowance) -> Allowance:
    weight = 1 if instance.bandwidth_weighting in {"default", "vpc-1"} else WEIGHTED
    return replace(allowance, bytes_per_s=allowance.bytes_per_s * weight)


def _is_beyond(value: float, most: float, limits: BoundLimits) -> bool:
    return value > most * (1 + limits.beyond_percent / 100)


def _are_beyond(settings: Sequence[Setting], kind: Kind, most: Allowance, limits: BoundLimits) -> bool:
    """Several volumes together; one alone keeps what it has left for its throughput's sake."""
    return len(settings) > 1 and _is_beyond(sum(map(kind.set_on, settings)), kind.carried(most), limits)


def _paying(settings: Sequence[Setting], kind: Kind) -> list[Setting]:
    return [one for one in settings if kind.paid(one)]


def _lowered_alone(setting: Setting, most: Allowance, limits: BoundLimits) -> Setting:
    """One volume, with no more than the instance lets through to it while all others rest."""
    for kind in KINDS:
        if _is_beyond(kind.set_on(setting), kind.carried(most), limits):
            setting = kind.lowered(setting, max(kind.least(setting, most), kind.carried(most)))
    return setting


def _shared(settings: Sequence[Setting], kind: Kind, most: Allowance, used: Used, limits: BoundLimits) -> list[Setting]:
    """Several volumes, with no more than the instance lets through to all of them at once.

    Each keeps its busiest minute, and what is left is shared out in proportion to what else they have. Where their busiest
    minutes together take more than there is, they take turns, and stay as they are.
    """
    paying = _paying(settings, kind)
    busy = {
        one.volume.id: min(kind.set_on(one), ebs.with_headroom(used[kind, one.volume.id], limits.headroom_percent))
        for one in paying
    }
    keeps = {one.volume.id: max(busy[one.volume.id], min(kind.set_on(one), kind.least(one, most))) for one in paying}
    above, left = sum(map(kind.set_on, paying)) - sum(keeps.values()), kind.carried(most) - sum(keeps.values())
    if sum(busy.values()) > kind.carried(most) or not above:
        return [*settings]
    share = max(0.0, left / above)
    return [
        kind.lowered(one, int(keep + (kind.set_on(one) - keep) * share)) if (keep := keeps.get(one.volume.id)) else one
        for one in settings
    ]


def _picture(
    kind: Kind,
    settings: Sequence[Setting],
    looks: Mapping[tuple[Kind, str], Look],
    instance: Instance,
    instance_type: InstanceType,
) -> Evidence:
    """The busiest minutes of each day, as if they came at once, against what is set and what the instance lets through."""
    paying = [one for one in settings if (kind, one.volume.id) in looks]
    together = added([looks[kind, one.volume.id].by_day for one in paying])
    limits = ebs.instance_limits(instance_type, "gp3") or ebs.UNBOUND
    carries = (kind.carried(_weighted(instance, one)) for one in (limits.baseline, limits.burst))
    return Evidence(
        label="Their busiest minutes of a day, added",
        value=round(max(together.present, default=0), 1),
        unit=kind.unit,
        series=together,
        lines=(Line("Set", sum(map(kind.set_on, paying))), *baseline_and_burst(*carries)),
    )


def _flag(
    instance: Instance,
    instance_type: InstanceType,
    before: Sequence[Setting],
    after: Sequence[Setting],
    carries: Mapping[str, Allowance],
    seen: Seen,
    used: Used | None = None,
    pictures: Mapping[Kind, Evidence] | None = None,
) -> Flagged:
    changed = [(was, will) for was, will in zip(before, after, strict=True) if was != will]
    kinds = [kind for kind in KINDS if any(kind.set_on(was) != kind.set_on(will) for was, will in changed)]
    volumes = [was.volume for was, _ in changed]
    never = "never usable at once" if used else "never usable"
    return Flagged(
        summary="; ".join(_said(kind, changed, instance_type, carries, never) for kind in kinds),
        confidence="medium" if used else "high",
        evidence=(
            *(Evidence(label=f"Set on {was.volume.name}", value=was.words, unit="words") for was, _ in changed),
            *carried(instance_type),
            *(picture for kind, picture in (pictures or {}).items() if kind in kinds),
        ),
        advice=_ways_out(instance, instance_type, before, changed, seen),
        gist=(
            instance_type.id,
            *sorted(volume.id for volume in volumes),
            *(size_class(_saved(kind, changed)) for kind in KINDS),
        ),
        caveats=_caveats(instance, instance_type, volumes, used),
        covers=tuple(volume.id for volume in volumes),
    )


def _saved(kind: Kind, changed: Changed) -> int:
    return sum(kind.set_on(was) - kind.set_on(will) for was, will in changed)


def _said(kind: Kind, changed: Changed, instance_type: InstanceType, carries: Mapping[str, Allowance], never: str) -> str:
    lowered = [was for was, will in changed if kind.set_on(was) != kind.set_on(will)]
    most = min(kind.carried(carries[one.volume.id]) for one in lowered)
    where = lowered[0].volume.name if len(lowered) == 1 else f"{len(lowered)} volumes"
    return (
        f"{sum(map(kind.set_on, lowered)):,} {kind.unit} set on {where}, and {instance_type.id} carries {most:,.0f} at most:"
        f" {_saved(kind, changed):,} are paid for and {never}"
    )


def _ways_out(
    instance: Instance, instance_type: InstanceType, settings: Sequence[Setting], changed: Changed, seen: Seen
) -> tuple[Advice, ...]:
    lower = Advice(
        action="lower-to-what-the-instance-carries",
        summary=f"Set {'; '.join(f'{will.volume.name} to {will.words}' for _, will in changed)}.",
        changes=difference(
            [unit for was, _ in changed for unit in _units(was)], [unit for _, will in changed for unit in _units(will)]
        ),
        risk=f"A larger instance would not be used in full until they are raised again. {ONLINE}",
        reversible=True,
        command=" && ".join(modify_command(will.volume, _as_set(will)) for _, will in changed),
    )
    needed = Allowance(sum(one.mib_s or 0 for one in settings) * MIB, sum(one.iops for one in settings))
    larger = larger_instance.larger(
        instance, instance_type, needed, seen, when="If that speed is wanted", what="all that is set, for good"
    )
    return (lower, larger) if larger else (lower,)


def _as_set(setting: Setting) -> VolumeSetting:
    return VolumeSetting(volume_type=setting.volume.volume_type, iops=setting.iops, throughput_mib_s=setting.mib_s)


def _units(setting: Setting) -> tuple[Change, ...]:
    return ebs.units(setting.volume.volume_type, setting.volume.size_gib, setting.iops, setting.mib_s or 0)


def _caveats(instance: Instance, instance_type: InstanceType, volumes: Sequence[Volume], used: Used | None) -> tuple[str, ...]:
    found = [
        f"Each keeps its busiest minute ({_busiest_words(used)}): more may be saved, and a rarer job may want more."
        if used
        else "It rests on the configuration alone: their busiest minutes may show that less will do, and save more."
    ]
    if ebs.can_burst(instance_type):
        found.append(f"{instance_type.id} holds its maximum for half an hour a day, and carries less for good.")
    if instance.bandwidth_weighting != "default":
        found.append(f"Its bandwidth weighting is {instance.bandwidth_weighting}: EC2 publishes the default's limits.")
    return (*found, *dict.fromkeys(caveat for volume in volumes for caveat in managed_caveats(volume)))


def _busiest_words(used: Used) -> str:
    return ", ".join(f"{most:,.0f} {kind.unit} of {volume}" for (kind, volume), most in used.items())


_TARGET = Target("123456789012", "us-east-1")
_WORKER = Instance(
    id="i-0fffffffffffffff0",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0fffffffffffffff0",
    target=_TARGET,
    tags={"Name": "worker"},
    instance_type="m5.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)


def _type(name: str, mbps: tuple[float, float] | None, iops: tuple[int, int] | None = None) -> InstanceType:
    return InstanceType(
        id=name,
        vcpus=2,
        hypervisor="nitro",
        network_baseline_gbps=None,
        network_peak_gbps=None,
        network_cards=1,
        ebs_baseline_mbps=mbps[0] if mbps else None,
        ebs_maximum_mbps=mbps[1] if mbps else None,
        ebs_baseline_iops=iops[0] if iops else None,
        ebs_maximum_iops=iops[1] if iops else None,
        source="a worked example",
    )


_TYPES = (
    _type("m5.large", (650, 4_750), (3_600, 18_750)),
    _type("m5.4xlarge", (4_750, 4_750), (18_750, 18_750)),
    _type("m5.12xlarge", (9_500, 9_500), (40_000, 40_000)),
    _type("t3.micro", (87, 2_085), (500, 11_800)),
    replace(_type("i3.16xlarge", (14_000, 14_000), (65_000, 65_000)), hypervisor="xen"),
    _type("t2.micro", None),
)


def _volume(
    name: str, iops: int = 3_000, mib_s: int | None = 125, volume_type: str = "gp3", on: tuple[str, ...] = (_WORKER.id,)
) -> Volume:
    return Volume(
        id=f"vol-{name}",
        arn=f"arn:aws:ec2:us-east-1:123456789012:volume/vol-{name}",
        target=_TARGET,
        tags={"Name": name},
        volume_type=volume_type,
        size_gib=500,
        iops=iops,
        throughput_mib_s=mib_s,
        state="in-use",
        created_at=CASE_NOW - timedelta(days=200),
        availability_zone="us-east-1a",
        multi_attach=len(on) > 1,
        attachments=tuple(Attachment(instance_id=one, device="/dev/sdf", attached_at=None) for one in on),
    )


def _on(instance_type: str, **changes: str) -> Instance:
    return replace(_WORKER, instance_type=instance_type, **changes)  # type: ignore[arg-type]


_TWO = (*_TYPES, _volume("data", 3_000, 500), _volume("log", 3_000, 500))


def _busiest(mib_s: float) -> dict[tuple[Metric, int], list[float | None]]:
    """Of each volume alike, reads and writes together."""
    return {(part.peak, DAY_S): [mib_s / 2 * MIB * MINUTE_S] * 36 for part in BYTES.parts}


DETECTOR = Detector(
    title="EBS volumes set faster than their instance can be",
    kind="waste",
    resource=Instance,
    limits=BoundLimits,
    reads=(InstanceType, Volume),
    judge=judge,
    outranks=("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-throughput"),
    cases=(
        Case(
            title="1,000 MiB/s on an instance that carries 566",
            resource=_WORKER,
            records=(*_TYPES, _volume("spool", 4_000, 1_000)),
            expect=Flagged,
            says="1,000 MiB/s set on spool, and m5.large carries 566 at most: 433 are paid for and never usable",
        ),
        Case(
            title="32,000 IOPS on an instance that carries 18,750",
            resource=_WORKER,
            records=(*_TYPES, _volume("db", 32_000, None, "io2")),
            expect=Flagged,
            says="32,000 IOPS set on db, and m5.large carries 18,750 at most: 13,250",
        ),
        Case(
            title="an io1 of 64,000 IOPS on Xen, which carries 32,000 to one",
            resource=_on("i3.16xlarge"),
            records=(*_TYPES, _volume("db", 64_000, None, "io1")),
            expect=Flagged,
            says="32,000 are paid for",
        ),
        Case(
            title="two volumes of 500 MiB/s each, never busy",
            resource=_WORKER,
            records=_TWO,
            metrics=_busiest(60),
            expect=Flagged,
            says="1,000 MiB/s set on 2 volumes, and m5.large carries 566 at most: 434 are paid for and never usable at once",
        ),
        Case(
            title="1,000 and 500 MiB/s, never busy",
            resource=_WORKER,
            records=(*_TYPES, _volume("data", 4_000, 1_000), _volume("log", 3_000, 500)),
            metrics=_busiest(60),
            expect=Flagged,
            says="1,500 MiB/s set on 2 volumes, and m5.large carries 566 at most: 934 are paid for and never usable at once",
        ),
        Case(
            title="1,000 and 500 MiB/s, which take turns",
            resource=_WORKER,
            records=(*_TYPES, _volume("data", 4_000, 1_000), _volume("log", 3_000, 500)),
            metrics=_busiest(450),
            expect=Flagged,
            says="1,000 MiB/s set on data, and m5.large carries 566 at most: 433 are paid for and never usable",
        ),
        Case(
            title="1,000 and 500 MiB/s, and nobody knows what they do",
            resource=_WORKER,
            records=(*_TYPES, _volume("data", 4_000, 1_000), _volume("log", 3_000, 500)),
            expect=Flagged,
            says="433 are paid for and never usable",
        ),
        Case(
            title="two volumes of 500 MiB/s each, which take turns",
            resource=_WORKER,
            records=_TWO,
            metrics=_busiest(450),
            expect=Fine,
            says="take turns",
        ),
        Case(
            title="two volumes of 500 MiB/s each, and nobody knows what they do",
            resource=_WORKER,
            records=_TWO,
            expect=Unknown,
            says="may take turns",
        ),
        Case(
            title="several volumes as every gp3 is, on a T3 that carries one of them",
            resource=_on("t3.micro"),
            records=(*_TYPES, *(_volume(name) for name in "abcdef")),
            expect=Fine,
            says="none of its volumes pays",
        ),
        Case(
            title="a faster volume among several as every gp3 is",
            resource=_WORKER,
            records=(*_TYPES, _volume("data", 4_000, 500), *(_volume(name) for name in "abcdefgh")),
            expect=Fine,
            says="it carries what its volumes pay for",
        ),
        Case(
            title="above the baseline, below the maximum",
            resource=_WORKER,
            records=(*_TYPES, _volume("data", 6_000, 500)),
            expect=Fine,
        ),
        Case(
            title="250 MiB/s on a T3, which carries 249",
            resource=_on("t3.micro"),
            records=(*_TYPES, _volume("data", 3_000, 250)),
            expect=Fine,
        ),
        Case(
            title="700 MiB/s, with the bandwidth weighting that favours EBS",
            resource=_on("m5.large", bandwidth_weighting="ebs-1"),
            records=(*_TYPES, _volume("data", 3_000, 700)),
            expect=Fine,
        ),
        Case(
            title="a volume of two instances",
            resource=_WORKER,
            records=(*_TYPES, _volume("shared", 32_000, None, "io2", on=(_WORKER.id, "i-2"))),
            expect=Fine,
            says="none of its volumes pays",
        ),
        Case(
            title="stopped",
            resource=_on("m5.large", state="stopped"),
            records=(*_TYPES, _volume("spool", 4_000, 1_000)),
            expect=Fine,
            says="stopped",
        ),
        Case(
            title="a type of which EC2 publishes nothing",
            resource=_on("t2.micro"),
            records=(*_TYPES, _volume("spool", 4_000, 1_000)),
            expect=Unknown,
            says="t2.micro",
        ),
        Case(
            title="its volumes could not be read",
            resource=_WORKER,
            records=_TYPES,
            unreadable={Volume: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
