"""Whether an EFS file system was used since its clean-up began."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

import pytest

from slackwater.engine.efs_use import (
    BY_THE_MINUTE,
    CLIENTS,
    METADATA_WRITTEN,
    METERED,
    STORED,
    WRITTEN,
    began,
    period,
    question,
    unknown,
    use,
)
from slackwater.engine.plan import MAX_POINTS
from slackwater.model.cleanup import Backup, Cleanup, Subject, Tagging
from slackwater.model.metrics import Metric, Series
from slackwater.model.tracking import TrackedResource
from slackwater.rules.efs import TOTAL

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
BEGAN: Final = datetime(2026, 11, 20, 10, tzinfo=UTC)
BACKED_UP: Final = BEGAN + 2 * HOUR
FENCED: Final = BEGAN + 3 * HOUR
NOW: Final = BEGAN + 4 * HOUR
FILES: Final = TrackedResource(
    arn="arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-1", id="fs-1", type="efs-file-system",
    name="files", account="123456789012", region="eu-west-1",
)  # fmt: skip
CLEANUP: Final = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="efs-idle", resource=FILES, owner=None, fingerprint="abc",
    setting=None, requested_by="ada", started_at=BEGAN - 9 * DAY, promised_monthly_usd=Decimal(1), revision=1,
    stage="working", begun_at=BEGAN, backed_up_at=BACKED_UP,
    backups=(Backup(subject=Subject(id="fs-1", size_bytes=1), token="t", asked_at=BEGAN + MINUTE,
                    expires_at=BEGAN + 90 * DAY),),
)  # fmt: skip
DURING: Final = period(CLEANUP, BEGAN, NOW)
START: Final = BEGAN - HOUR
MINUTES: Final = 5 * 60


def answered(**points: dict[int, float]) -> dict[Metric, Series]:
    """Return what CloudWatch answers.

    Counters are zero each minute, and StorageBytes has a value every 15 minutes. `points` replaces values of counters,
    by minutes after `START`.
    """
    start_s = int(START.timestamp())
    counted = {
        metric: Series.of(start_s, 60, [points.get(metric.name, {}).get(n, 0.0) for n in range(MINUTES)])
        for metric in (CLIENTS, WRITTEN, METADATA_WRITTEN, METERED)
    }
    return {**counted, STORED: Series.of(start_s, 300, [6144.0 if n % 3 == 0 else None for n in range(MINUTES // 5)])}


def without(metric: Metric, first: int, last: int) -> dict[Metric, Series]:
    """Return the same without a metric's points between two times, in minutes after `START`."""
    all_of_it = answered()
    series = all_of_it[metric]
    step = series.period_s // 60
    values = [None if first <= n * step < last else value for n, value in enumerate(series.optional())]
    return {**all_of_it, metric: Series.of(series.start_s, series.period_s, values)}


class TestUse:
    def test_zeros_are_no_use(self) -> None:
        assert use(answered(), DURING) is None

    def test_missing_points_are_no_use(self) -> None:
        assert use(without(CLIENTS, 0, MINUTES), DURING) is None

    @pytest.mark.parametrize("metric", [CLIENTS, WRITTEN, METADATA_WRITTEN])
    @pytest.mark.parametrize("minute", [0, 90, 239, MINUTES - 1], ids=["the hour before", "the backup", "later", "now"])
    def test_a_client_or_a_byte_written_is_use_at_any_time(self, metric: Metric, minute: int) -> None:
        why = use(answered(**{metric.name: {minute: 1.0}}), DURING)

        assert why
        assert f"at {START + minute * MINUTE:%Y-%m-%d %H:%M} UTC" in why

    @pytest.mark.parametrize(
        ("minute", "is_use"), [(59, True), (60, False), (120, False), (179, False), (180, True), (250, True)]
    )
    def test_what_is_read_is_use_except_while_the_backup_is_made(self, minute: int, is_use: bool) -> None:
        assert (use(answered(MeteredIOBytes={minute: 1024.0}), DURING) is not None) is is_use

    def test_without_a_backup_all_that_is_read_is_use(self) -> None:
        scratch = period(replace(CLEANUP, backups=(), scratch=True), BEGAN, NOW)

        assert use(answered(MeteredIOBytes={120: 1024.0}), scratch)

    def test_until_the_backup_is_verified_its_end_is_now(self) -> None:
        assert period(replace(CLEANUP, backed_up_at=None), BEGAN, NOW).backup_end == NOW

    def test_use_before_the_period_does_not_count(self) -> None:
        late = replace(DURING, start=START + 30 * MINUTE)

        assert use(answered(ClientConnections={29: 1.0}), late) is None
        assert use(answered(ClientConnections={30: 1.0}), late)


class TestUnknown:
    def test_points_until_the_fence_and_one_after_it_are_enough(self) -> None:
        assert unknown(answered(), DURING, FENCED) is None

    def test_before_the_fence_nothing_is_known(self) -> None:
        assert unknown(answered(), DURING, None)

    def test_without_a_point_since_the_fence_cloudwatch_has_not_caught_up(self) -> None:
        why = unknown(without(STORED, 240, MINUTES), DURING, FENCED)

        assert why == "CloudWatch has published no StorageBytes since 2026-11-20 13:00 UTC"

    @pytest.mark.parametrize(("metric", "minutes", "is_unknown"), [
        (STORED, 30, False), (STORED, 45, True), (CLIENTS, 15, False), (CLIENTS, 16, True),
    ])  # fmt: skip
    def test_a_gap_of_points_before_the_fence_may_hide_use(
        self, metric: Metric, minutes: int, is_unknown: bool
    ) -> None:
        assert bool(unknown(without(metric, 90, 90 + minutes), DURING, FENCED)) is is_unknown

    def test_no_connections_at_all_are_no_gap_because_efs_may_publish_no_zeros(self) -> None:
        assert unknown(without(CLIENTS, 0, MINUTES), DURING, FENCED) is None

    def test_storage_that_was_never_published_is_a_gap(self) -> None:
        assert unknown(without(STORED, 0, 240), DURING, FENCED)


class TestQuestion:
    def test_it_asks_by_the_minute_up_to_now(self) -> None:
        asked = question("fs-1", START, NOW + 30 * timedelta(seconds=1))

        assert {one.period_s for one in asked.queries if one.metric is not STORED} == {60}
        assert (asked.window.start_s, asked.window.end_s) == (
            int(START.timestamp()),
            int((NOW + 5 * MINUTE).timestamp()),
        )
        assert {one.metric for one in asked.queries} == {CLIENTS, WRITTEN, METADATA_WRITTEN, METERED, STORED}
        assert [TOTAL in one.dimensions for one in asked.queries if one.metric is STORED] == [True]

    @pytest.mark.parametrize("since", [HOUR, BY_THE_MINUTE, BY_THE_MINUTE + MINUTE, 30 * DAY])
    def test_one_call_answers_it_and_cloudwatch_still_has_the_points(self, since: timedelta) -> None:
        asked = question("fs-1", NOW - since, NOW)

        assert sum(one.points for one in asked.queries) <= MAX_POINTS
        if since > BY_THE_MINUTE:
            assert {one.period_s for one in asked.queries} == {300}


class TestBegan:
    def test_the_record_says_it(self) -> None:
        assert began(CLEANUP) == BEGAN

    def test_of_an_older_record_it_is_when_the_first_backup_was_asked_for(self) -> None:
        assert began(replace(CLEANUP, begun_at=None)) == BEGAN + MINUTE

    def test_or_when_its_grace_was_over(self) -> None:
        marked = Tagging(at=BEGAN - 9 * DAY, act_after=BEGAN - DAY)

        assert began(replace(CLEANUP, begun_at=None, backups=(), marked=marked)) == BEGAN - DAY

    def test_before_it_works_it_has_not_begun(self) -> None:
        assert began(replace(CLEANUP, begun_at=None, stage="waiting")) is None
