"""Which metrics `efs-serial-small-writes` reads: five-minute points only if a writer may wait."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import batched

import pytest

from slackwater.detectors import efs_serial_small_writes
from slackwater.engine.plan import window_of
from slackwater.model.detector import CASE_NOW, MetricsNeededError, Seen
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Need, Series
from slackwater.model.units import FIVE_MINUTES_S, HOUR_S, KIB, MIB
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.rules import efs
from slackwater.rules.efs_throughput import LEAST_PERMITTED, METADATA_OPERATIONS, WRITES

DETECTOR = efs_serial_small_writes.DETECTOR
FILES = efs_serial_small_writes.SHARED.resource
POINTS = 17 * 288  # until `now`
LEVELS = {LEAST_PERMITTED: 100.0 * MIB, METADATA_OPERATIONS: 10.0 * HOUR_S}


def judged(
    rates: Sequence[float], now: datetime = CASE_NOW, metadata_per_s: float | None = 10
) -> tuple[Verdict, list[Need]]:
    """Return the verdict on these writes a second of 8 KiB, by five minutes until now, and what was read for it."""
    read: dict[Need, Series] = {}
    while True:
        try:
            return DETECTOR.verdict(FILES, Seen(now, Fleet([]), read), DETECTOR.limits()), list(read)
        except MetricsNeededError as error:
            read.update((need, series(need, rates, now, metadata_per_s)) for need in error.needs)


def series(need: Need, rates: Sequence[float], now: datetime, metadata_per_s: float | None) -> Series:
    """Return the points of a metric that follow from the rates."""
    window, now_s = window_of(need, now), int(now.timestamp())
    count = (window.end_s - window.start_s) // need.period_s
    if need.metric in {WRITES, efs.WRITTEN, efs.METERED}:
        size = 1 if need.metric == WRITES else 8 * KIB
        last = len(rates) - (now_s - window.end_s) // FIVE_MINUTES_S
        each = need.period_s // FIVE_MINUTES_S
        known = [rate * FIVE_MINUTES_S * size for rate in rates[last - count * each : last]]
        return Series.of(window.start_s, need.period_s, map(sum, batched(known, each, strict=True)))
    level = LEVELS.get(need.metric, 3.0)
    if need.metric == METADATA_OPERATIONS:
        return Series.of(window.start_s, HOUR_S, [metadata_per_s and metadata_per_s * HOUR_S] * count)
    return Series.of(window.start_s, need.period_s, [level] * count)


def is_closer(read: Sequence[Need]) -> bool:
    """Return whether five-minute points were read."""
    return any(need.period_s == FIVE_MINUTES_S for need in read)


@pytest.mark.parametrize(("per_s", "closer"), [(84, False), (85, True)])
def test_a_steady_rate_is_read_closer_only_if_a_run_in_it_may_have_enough_operations(
    per_s: float, closer: bool
) -> None:
    """Half a writer waits at 185 operations a second, 10 of them on metadata.

    A flat point of 175 writes a second may be in a run of 112, which may have a quarter of an hour of 84.3.
    """
    verdict, read = judged([per_s] * POINTS)

    assert isinstance(verdict, Fine)
    assert is_closer(read) == closer


def test_metadata_that_is_missing_may_be_enough_operations() -> None:
    verdict, read = judged([60.0] * POINTS, metadata_per_s=None)

    assert isinstance(verdict, Unknown)
    assert is_closer(read)


def test_a_quiet_file_system_is_read_by_the_hour_and_for_two_hours_by_quarters_of_an_hour() -> None:
    verdict, read = judged(([2.0] * 250 + [60.0] * 8 + [2.0] * 30) * 17)

    assert isinstance(verdict, Fine)
    assert [(need.metric, need.period_s, need.days * 24) for need in read] == [
        (WRITES, HOUR_S, 14 * 24),
        (METADATA_OPERATIONS, HOUR_S, 14 * 24),
        (WRITES, 3 * FIVE_MINUTES_S, 2),
    ]


@pytest.mark.parametrize("minutes", [0, 10, 25, 35, 45, 55])
def test_a_job_of_half_an_hour_is_found_wherever_its_hour_begins(minutes: int) -> None:
    """It makes 200 writes a second, just enough, until `now`. So up to 25 minutes of it are in the present hour."""
    quiet = [1.0] * (POINTS - 6)
    earlier = [*quiet[:-288], *[95.0, 1.0] * 6, *quiet[-276:]]  # busy enough that hours are looked at
    verdict, read = judged([*earlier, *[200.0] * 6], CASE_NOW + timedelta(minutes=minutes))

    assert isinstance(verdict, Flagged)
    assert is_closer(read)


def test_a_job_three_days_ago_is_found_if_its_metadata_is_what_makes_enough_operations() -> None:
    quiet = [1.0] * (POINTS - 6)
    verdict, read = judged([*quiet[:-864], *[110.0] * 6, *quiet[-864:]], metadata_per_s=80)

    assert isinstance(verdict, Flagged)
    assert {need.days * 24 for need in read if need.period_s == 3 * FIVE_MINUTES_S} == {2}
