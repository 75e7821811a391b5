"""EFS throughput: what a file system moved, and the ways from one throughput mode to another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isnan
from typing import Final

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, difference
from slackwater.model.quantities import binary_rate_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.settings import EfsThroughputSetting
from slackwater.model.units import DAY_S, HOUR_S, HOURS_PER_MONTH, MIB
from slackwater.model.verdicts import Advice, Unknown
from slackwater.performance import efs
from slackwater.performance.efs import EfsMode, Load, Moved

METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
PERMITTED = Metric("AWS/EFS", "PermittedThroughput", "Average", "bytes a second")
READ = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
READS = Metric("AWS/EFS", "DataReadIOBytes", "SampleCount", "operations")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")
WRITES = Metric("AWS/EFS", "DataWriteIOBytes", "SampleCount", "operations")
METADATA = Metric("AWS/EFS", "MetadataIOBytes", "Sum", "bytes")
METADATA_OPERATIONS = Metric("AWS/EFS", "MetadataIOBytes", "SampleCount", "operations")
METADATA_READ = Metric("AWS/EFS", "MetadataReadIOBytes", "Sum", "bytes")

LOOK_BACK_DAYS: Final = 36
"""By the day, as far as a job by the calendar may be silent: 35 days lie between two first Mondays, and it may start late."""

HOURLY_DAYS: Final = 16
"""By the hour: two weeks, and a day on each side to compare."""

DAYS_A_MONTH: Final = HOURS_PER_MONTH / 24

GENERAL_PURPOSE: Final = "generalPurpose"
"""The performance mode that Elastic throughput needs."""

WAIT: Final = (
    "Within 24 hours of a change to Provisioned, or of its amount, AWS refuses to leave it or to lower it (TooManyRequests);"
    " raising it is always allowed. EFS does not say when the last change was."
)
NO_DUMMY_DATA: Final = (
    "Dummy data is no way out, although it raises the baseline: a MiB/s more takes 20 GiB in Standard, which is billed every"
    " month and has to be written at the very rate that is too slow; lifecycle may move it to where it earns nothing."
)


def need(file_system: EfsFileSystem, metric: Metric, period_s: int, days: float) -> Need:
    """A metric of the whole file system."""
    return metric.need(("FileSystemId", file_system.id), period_s=period_s, days=days)


@dataclass(frozen=True, slots=True)
class Month:
    """What moved in a month. `metadata_read_share` is of its bytes; None where CloudWatch does not tell reads from writes."""

    read: Moved
    written: Moved
    metadata: Moved
    metadata_read_share: float | None

    @property
    def elastic_at_least(self) -> tuple[Change, ...]:
        """What Elastic throughput bills for it, if all operations are alike."""
        share = 1.0 if self.metadata_read_share is None else self.metadata_read_share
        metadata = self.metadata.billed_at_least
        return efs.elastic_units(
            self.read.billed_at_least + metadata * share, self.written.billed_at_least + metadata * (1 - share)
        )

    @property
    def elastic_at_most(self) -> tuple[Change, ...]:
        """The same, whatever their sizes; writes are dearer than reads."""
        share = self.metadata_read_share or 0.0
        metadata = self.metadata.billed_at_most
        return efs.elastic_units(
            self.read.billed_at_most + metadata * share, self.written.billed_at_most + metadata * (1 - share)
        )

    def load(self, peak_metered_bytes_per_s: float) -> Load:
        """The month with a peak of so much metered, its reads, writes and operations mixed as in the month."""
        read = self.read.size_bytes + self.metadata.size_bytes * (self.metadata_read_share or 0.0)
        moved = self.read.size_bytes + self.written.size_bytes + self.metadata.size_bytes
        operations = self.read.operations + self.written.operations + self.metadata.operations
        peak = peak_metered_bytes_per_s / (efs.metered_bytes(moved - read, read) / moved) if moved else 0.0
        return Load(
            read_bytes=read,
            write_bytes=moved - read,
            month_s=HOURS_PER_MONTH * HOUR_S,
            peak_bytes_per_s=peak,
            operations_per_s=peak * operations / moved if moved else 0.0,
        )


def month_needs(file_system: EfsFileSystem) -> tuple[Need, ...]:
    """The metrics that `month` reads, by the day."""
    metrics = (READ, READS, WRITTEN, WRITES, METADATA, METADATA_OPERATIONS, METADATA_READ)
    return tuple(need(file_system, metric, DAY_S, LOOK_BACK_DAYS) for metric in metrics)


def month(file_system: EfsFileSystem, seen: Seen, demanded_days: int, mean_of_days: int = LOOK_BACK_DAYS) -> Month | Unknown:
    """What moved in a month, by the mean of the newest days; `demanded_days` of them have to be there."""
    finished = (seen.finished(seen[one], file_system.created_at) for one in month_needs(file_system))
    series = [one.since(one.end_s - mean_of_days * DAY_S) for one in finished]
    for one, metric in zip(series[:-1], (READ, READS, WRITTEN, WRITES, METADATA, METADATA_OPERATIONS), strict=True):
        if missing := _lacks(one, demanded_days):
            return Unknown(f"{metric.name} has no point on {missing} of the last {demanded_days} days")
    read, reads, written, writes, metadata, operations, metadata_read = map(_a_month, series)
    told_apart = metadata > 0 and not _lacks(series[-1], demanded_days)
    return Month(
        Moved(read, reads if read else 0.0),  # a minute without any is a sample too
        Moved(written, writes if written else 0.0),
        Moved(metadata, operations if metadata else 0.0, efs.LEAST_METADATA_BYTES),
        min(1.0, metadata_read / metadata) if told_apart else None,
    )


def _lacks(days: Series, demanded: int) -> int:
    """How many of the newest days have no point; a younger file system has fewer."""
    return sum(map(isnan, days.values[-demanded:])) if days.present else demanded


def _a_month(days: Series) -> float:
    present = days.present
    return sum(present) / len(present) * DAYS_A_MONTH if present else 0.0


def changed(
    file_system: EfsFileSystem,
    mode: EfsMode,
    provisioned_mib_s: int | None = None,
    *,
    elastic_before: tuple[Change, ...] = (),
    elastic_after: tuple[Change, ...] = (),
) -> tuple[Change, ...]:
    """What is paid for no more, and what comes in its place, in another mode or with another amount."""
    after = replace(file_system, throughput_mode=mode, provisioned_mib_s=provisioned_mib_s)
    return difference((*efs.monthly_units(file_system), *elastic_before), (*efs.monthly_units(after), *elastic_after))


def setting(mode: EfsMode, provisioned_mib_s: int | None = None) -> EfsThroughputSetting:
    """A mode, with an amount where it is "provisioned"."""
    return EfsThroughputSetting(mode=mode, provisioned_mib_s=provisioned_mib_s)


def command(file_system: EfsFileSystem, to: EfsThroughputSetting) -> str:
    """Change to a mode, or to another amount."""
    amount = "" if to.provisioned_mib_s is None else f" --provisioned-throughput-in-mibps {to.provisioned_mib_s:g}"
    return (
        f"aws efs update-file-system --file-system-id {file_system.id} --region {file_system.target.region}"
        f" --throughput-mode {to.mode}{amount}"
    )


def more_throughput(
    file_system: EfsFileSystem, limit_bytes_per_s: float, times: float, *, reached_bytes_per_s: float = 0
) -> tuple[Advice, ...]:
    """The ways out where a limit hides the demand: Provisioned in steps, and Elastic.

    The first step goes to so many times the limit, or to what was reached in the busiest hour where that is more.
    """
    _, most = efs.PROVISIONED_MIB_S
    step = min(most, ceil(max(times * limit_bytes_per_s, reached_bytes_per_s) / MIB))
    reached = reached_bytes_per_s > times * limit_bytes_per_s
    what = (
        "the busiest hour of the week, while there were credits, and a fifth more" if reached else f"{times:g} times the limit"
    )
    no_burst = " It has no burst: what was faster on credits waits then." if efs.bursts(file_system) else ""
    steps = Advice(
        action="raise-provisioned-in-steps",
        summary=(
            f"Provision {step:,} MiB/s, {what}, and go on so while what is metered stays at the limit: the"
            " demand shows when it no longer does. Priced is the first step."
        ),
        changes=changed(file_system, "provisioned", step),
        risk=f"Paid by the hour, used or not; what was raised too far can be lowered after 24 hours.{no_burst}",
        reversible=True,
        command=command(file_system, setting("provisioned", step)),
    )
    elastic = Advice(
        action="change-to-elastic",
        summary="Change to Elastic: no size to choose, and no limit that binds. What it costs, by the GiB, nobody can know.",
        changes=None,
        risk=(
            "The bill follows the demand, which the limit hides: it was seen to rise fourteenfold when the limit went. Look at"
            " MeteredIOBytes after an hour and after a day."
        ),
        reversible=True,
        command=command(file_system, setting("elastic")),
    )
    return (steps, elastic) if file_system.performance_mode == GENERAL_PURPOSE else (steps,)


def managed_caveats(file_system: EfsFileSystem) -> tuple[str, ...]:
    """Where a program made it, and would set it back."""
    owner = file_system.managed_by
    return (f"It is managed by {owner}: change it there.",) if owner else ()


def mode_words(file_system: EfsFileSystem) -> str:
    """`bursting throughput`, `64 MiB/s provisioned`, `elastic throughput`."""
    if file_system.throughput_mode == "provisioned" and file_system.provisioned_mib_s:
        return f"{binary_rate_words(file_system.provisioned_mib_s * MIB)} provisioned"
    return f"{file_system.throughput_mode} throughput"
