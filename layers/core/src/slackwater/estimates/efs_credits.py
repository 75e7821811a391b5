"""How long the burst credits of an EFS file system last: in footage that an encoder works on, in daily jobs, by the
clock.

Everything that is written costs credits, and everything that is read a third. Without credits a small file system has 1
MiB/s.
"""

from dataclasses import dataclass
from math import floor
from typing import Final

from pydantic import Field

from slackwater.model.estimates import Answer, Estimate, Figure, InputError, Inputs, Known, Result, of
from slackwater.model.quantities import Duration, Rate, Size, binary_rate_words, duration_words, size_words
from slackwater.model.units import DAY_S, GIB, HOUR_S, MIB, MINUTE_S
from slackwater.performance import efs

REPORT: Final = 'report "Can Amazon EFS replace EBS?" (2025-02-19)'
MOST_READINGS: Final = 1_000


class EfsCredits(Inputs):
    """An encoder's work on one file system in bursting mode, a job every day, or a steady rate."""

    input: Size | None = Field(default=None, description="Size of the input for one run")
    input_rate: Rate | None = Field(default=None, description="Bit rate of the input, instead of its size")
    duration: Duration = Field(
        default="1h", validate_default=True, description="Duration of the footage that one run encodes"
    )
    renditions: int = Field(
        default=1, ge=1, le=MOST_READINGS, description="Number of renditions (each reads the video stream)"
    )
    passes: int = Field(
        default=1, ge=1, le=MOST_READINGS, description="Number of passes per rendition (each reads the video stream)"
    )
    video_share: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="Share of the input that is the video stream (the rest is audio, read once)",
    )
    output_size: Size = Field(default="0B", validate_default=True, description="Total size of the outputs of one run")
    pass_log: Size = Field(
        default="0B",
        validate_default=True,
        description="Size of the pass logs of one run, written and read once",
    )
    stored: Size = Field(default="0B", validate_default=True, description="Data in Standard storage")
    metered_rate: Rate | None = Field(
        default=None, description="Constant metered rate (a read byte counts as a third of a written byte)"
    )
    write_per_day: Size = Field(default="0B", validate_default=True, description="Data that a daily job writes")
    read_per_day: Size = Field(default="0B", validate_default=True, description="Data that a daily job reads")


class Credits(Result):
    """What the work costs in credits, and how long they last. What was not asked is null, and so is never."""

    written_gib: Figure | None = of("Data written per run", "GiB", null="")
    read_gib: Figure | None = of("Data read per run", "GiB", null="")
    metered_gib: Figure | None = of("Burst credits used per run", "GiB", null="")
    footage_until_empty_hours: Figure | None = of("Footage until the credits run out", "h", null="")
    wall_until_empty_hours: Figure | None = of("Time until the credits run out", "h", null="")
    daily_metered_gib: Figure | None = of("Credits used by the daily job", "GiB", null="")
    daily_earned_gib: Figure | None = of("Credits earned per day", "GiB", null="")
    daily_earned_gib_at_worst: Figure | None = of("Credits earned per day, worst case", "GiB", null="")
    days_until_empty: int | None = of("Days until the credits run out", "d", null="")
    days_until_empty_at_worst: int | None = of("Days until they run out, worst case", "d", null="")
    initial_credits_bytes: int = of("Initial burst credits", "bytes")
    write_ceiling_mib_s: Figure = of("Write throughput with credits", "MiB/s")
    read_ceiling_mib_s: Figure = of("Read throughput with credits", "MiB/s")
    baseline_mib_s: Figure = of("Metered throughput without credits", "MiB/s")
    burst_minutes_a_day: Figure = of("Full burst earned per day, worst case", "min")
    refill_hours: Figure = of("Time to refill all credits without load", "h")
    refill_hours_at_worst: Figure | None = of("Time to refill, worst case", "h", null="never")


@dataclass(frozen=True, slots=True)
class _Job:
    """A daily job: what it is metered as, in bytes, and for how many days credits last.

    `days` assumes that credits are earned at the baseline, and `days_at_worst` by size alone. None means forever.
    """

    metered: float
    days: int | None
    days_at_worst: int | None


def work(inputs: EfsCredits, known: Known) -> Answer[Credits]:
    """Calculate the credits of the footage, the steady rate and the daily job."""
    footage = _input_bytes(inputs)
    credits_bytes = efs.full_credits_bytes(inputs.stored)
    baseline = efs.baseline_bytes_per_s(inputs.stored)
    allowed = efs.allows("bursting", known.region, one_zone=False, standard_bytes=inputs.stored)
    written, read, metered, footage_h, wall_s = None, None, None, None, None
    if footage is not None:
        written = footage + inputs.output_size + inputs.pass_log
        video_reads = inputs.video_share * inputs.renditions * inputs.passes
        read = footage * (video_reads + 1 - inputs.video_share) + inputs.pass_log
        metered = efs.metered_bytes(written, read)
        footage_h = credits_bytes / metered * inputs.duration / HOUR_S if metered else None
    if inputs.metered_rate is not None:
        wall_s = efs.seconds_to_empty(credits_bytes, min(inputs.metered_rate, allowed.write), inputs.stored)
    job = _job(inputs, credits_bytes, allowed)
    earned = efs.earned_bytes_per_s(inputs.stored)
    result = Credits(
        written_gib=_gib(written),
        read_gib=_gib(read),
        metered_gib=_gib(metered),
        footage_until_empty_hours=footage_h,
        wall_until_empty_hours=None if wall_s is None else wall_s / HOUR_S,
        daily_metered_gib=job and job.metered / GIB,
        daily_earned_gib=job and baseline * DAY_S / GIB,
        daily_earned_gib_at_worst=job and earned * DAY_S / GIB,
        days_until_empty=job and job.days,
        days_until_empty_at_worst=job and job.days_at_worst,
        initial_credits_bytes=credits_bytes,
        baseline_mib_s=min(baseline, allowed.write) / MIB,
        write_ceiling_mib_s=allowed.write / MIB,
        read_ceiling_mib_s=allowed.read / MIB,
        burst_minutes_a_day=burst_s_a_day(inputs.stored, allowed.write) / MINUTE_S,
        refill_hours=credits_bytes / baseline / HOUR_S,
        refill_hours_at_worst=credits_bytes / earned / HOUR_S if earned else None,
    )
    return Answer(
        summary=_summary(inputs, result),
        result=result,
        assumptions=_assumptions(inputs, footage=footage is not None),
        sources=(
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EFS User Guide, "Amazon EFS quotas"',
            REPORT,
        ),
    )


def _input_bytes(inputs: EfsCredits) -> float | None:
    """Return the input's bytes for one duration; None if the question is only about a metered rate or a daily job."""
    if inputs.input is not None and inputs.input_rate is not None:
        raise InputError("input_rate", "give input or input-rate, not both")
    if not inputs.duration:
        raise InputError("duration", "no footage; such as 1h")
    if inputs.input is not None:
        return inputs.input
    if inputs.input_rate is not None:
        return inputs.input_rate * inputs.duration
    if inputs.metered_rate is None and not inputs.write_per_day + inputs.read_per_day:
        raise InputError(
            "input", "nothing uses credits: give input, input-rate, write-per-day, read-per-day or metered-rate"
        )
    unused = EfsCredits()
    for field in OF_FOOTAGE:
        if getattr(inputs, field) != getattr(unused, field):
            raise InputError(field, "is of footage, which needs input or input-rate; give input 0B if nothing is read")
    return None


OF_FOOTAGE: Final = ("duration", "renditions", "passes", "video_share", "output_size", "pass_log")


def burst_s_a_day(standard_bytes: float, ceiling_bytes_per_s: float) -> float:
    """Return how many seconds a day's credits last at this rate, which a Region may keep below the full burst."""
    return DAY_S * min(1.0, efs.earned_bytes_per_s(standard_bytes) / ceiling_bytes_per_s)


def days_carried(credits_bytes: float, daily_bytes: float, job_s: float, earned_bytes_per_s: float) -> int | None:
    """Return for how many days full credits carry a daily job that takes `job_s` seconds; None if they always do.

    On the day after these, the job has too few credits. The file system earns credits during the job and for the rest
    of the day. `daily_bytes` is what the job is metered as.
    """
    lost = daily_bytes - earned_bytes_per_s * DAY_S
    left = credits_bytes - (daily_bytes - earned_bytes_per_s * job_s)
    return max(0, floor(left / lost) + 1) if lost > 0 else None


def _job(inputs: EfsCredits, credits_bytes: int, allowed: efs.Allowance) -> _Job | None:
    """Return the daily job, running as fast as its credits allow; None if there is none."""
    metered = efs.metered_bytes(inputs.write_per_day, inputs.read_per_day)
    if not metered:
        return None
    job_s = allowed.used(inputs.read_per_day, inputs.write_per_day)
    if job_s > DAY_S:
        field = "write_per_day" if inputs.write_per_day else "read_per_day"
        most = size_words(getattr(inputs, field) * DAY_S / job_s)
        raise InputError(
            field, f"the daily job takes {duration_words(job_s)} even with credits; a day has time for {most}"
        )
    days, at_worst = (
        days_carried(credits_bytes, metered, job_s, earned)
        for earned in (efs.baseline_bytes_per_s(inputs.stored), efs.earned_bytes_per_s(inputs.stored))
    )
    return _Job(metered, days, at_worst)


def _summary(inputs: EfsCredits, result: Credits) -> str:
    held = size_words(result.initial_credits_bytes)
    words = []
    if result.metered_gib is not None:
        used = size_words(result.metered_gib * GIB)
        metered = f"{duration_words(inputs.duration)} of footage uses {used} of burst credits."
        if result.footage_until_empty_hours is None:
            words.append(f"{metered} The credits never run out.")
        else:
            words.append(
                f"{metered} The initial {held} last for {duration_words(result.footage_until_empty_hours * HOUR_S)} "
                "of footage."
            )
    if inputs.metered_rate is not None:
        rate = min(inputs.metered_rate, result.write_ceiling_mib_s * MIB)
        bound = (
            f" (its limit, below the {binary_rate_words(inputs.metered_rate)} that you gave)"
            if rate < inputs.metered_rate
            else ""
        )
        steady = f"At a constant metered rate of {binary_rate_words(rate)}{bound}"
        if result.wall_until_empty_hours is None:
            words.append(f"{steady}, the credits never run out: the rate does not exceed the baseline.")
        else:
            words.append(
                f"{steady}, the initial {held} of burst credits last for "
                f"{duration_words(result.wall_until_empty_hours * HOUR_S)}."
            )
    if result.daily_metered_gib is not None:
        words.append(_daily_words(inputs, result))
    read_at_rest = min(efs.READ_DISCOUNT * result.baseline_mib_s, result.read_ceiling_mib_s)
    write, read, rest, rest_read = (
        binary_rate_words(mib_s * MIB)
        for mib_s in (result.write_ceiling_mib_s, result.read_ceiling_mib_s, result.baseline_mib_s, read_at_rest)
    )
    words.append(
        f"With credits, the file system writes at up to {write} or reads at up to {read}. Without credits, it writes at"
        f" up to {rest} or reads at up to {rest_read}."
    )
    return " ".join(words)


def _daily_words(inputs: EfsCredits, result: Credits) -> str:
    parts = {"written": inputs.write_per_day, "read": inputs.read_per_day}
    moved = " and ".join(f"{size_words(size)} {done}" for done, size in parts.items() if size)
    used, earned, at_worst = (
        size_words((gib or 0) * GIB)
        for gib in (result.daily_metered_gib, result.daily_earned_gib, result.daily_earned_gib_at_worst)
    )
    last, last_at_worst = _last_words(result.days_until_empty), _last_words(result.days_until_empty_at_worst)
    words = f"{moved} per day uses {used} of burst credits. The file system earns {earned} per day, so {last}"
    if last != last_at_worst:
        words += f". If it earns only for its size, {at_worst} per day, {last_at_worst}"
    return f"{words}."


def _last_words(days: int | None) -> str:
    return "the credits recover every day" if days is None else f"the credits run out on day {days + 1:,}"


def _assumptions(inputs: EfsCredits, *, footage: bool) -> tuple[str, ...]:
    lines = [
        "rule: reading a byte uses a third of the credits that writing a byte uses.",
        (
            "assumed: the file system starts with the maximum credit balance, and always has"
            f" {size_words(inputs.stored)} in Standard storage. Infrequent Access and Archive earn no credits."
        ),
        (
            "assumed: the file system earns credits at its baseline throughput. Below 20 GiB, AWS documents the "
            "minimum "
            "of 1 MiB/s for throughput, but not for credits. So the estimate also shows the worst case: credits earned "
            "only for the stored size."
        ),
    ]
    if inputs.write_per_day or inputs.read_per_day:
        lines.append("assumed: the daily job runs as fast as credits allow, and nothing else uses credits.")
    if footage:
        lines += [
            (
                "assumed: the duration of footage does not count credits that are earned during the job, so the "
                "credits "
                "last somewhat longer."
            ),
            (
                f"assumed: each rendition ({inputs.renditions:,}) reads the whole video stream in each pass"
                f" ({inputs.passes:,}), without the client's cache. The audio is read once. Outputs are not read back."
            ),
            "assumed: outputs and pass logs grow with the duration of the footage, not with the input's bit rate.",
        ]
    return tuple(lines)


def _gib(size_bytes: float | None) -> float | None:
    return None if size_bytes is None else size_bytes / GIB


ESTIMATE = Estimate(
    title="How long the burst credits of an EFS file system last",
    inputs=EfsCredits,
    result=Credits,
    work=work,
)
