"""How long burst credits last: the runs in "Can Amazon EFS replace EBS?" (2025-02-19), and in hours."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.estimates.efs_credits import ESTIMATE, Credits, EfsCredits
from slackwater.model.estimates import Answer, InputError, Known

ENCODER: dict[str, Any] = {
    "duration": "30min", "renditions": 6, "passes": 2, "video_share": 0.9853, "output_size": "1.92GiB",
    "pass_log": "0.96GiB",
}  # fmt: skip


def answered(region: str = "ap-northeast-1", **inputs: Any) -> Answer[Credits]:
    return ESTIMATE.work(EfsCredits.model_validate(inputs), Known(region, (), {}))


def asked(region: str = "ap-northeast-1", **inputs: Any) -> Credits:
    return answered(region, **inputs).result


def test_the_published_run_uses_152_gib_of_credits() -> None:
    run = asked(input="30.12GiB", **ENCODER)

    assert run.written_gib == pytest.approx(33.0)
    assert run.read_gib == pytest.approx(357.53, abs=0.005)
    assert run.metered_gib == pytest.approx(152.18, abs=0.005)
    assert run.metered_gib == pytest.approx(150.10, rel=0.02)  # measured by CloudWatch


@pytest.mark.parametrize(("mbps", "hours"), [(50, 19 + 20 / 60), (147, 6 + 50 / 60), (503, 2)])
def test_the_published_footage_until_the_credits_are_gone(mbps: int, hours: float) -> None:
    assert asked(input_rate=f"{mbps}Mbps", **ENCODER).footage_until_empty_hours == pytest.approx(hours, rel=0.03)


def test_a_new_small_file_system_has_the_published_credits_and_ceilings() -> None:
    new = asked(input="1GiB")

    assert new.initial_credits_bytes == 2_308_974_418_330
    assert (new.write_ceiling_mib_s, new.read_ceiling_mib_s, new.baseline_mib_s) == (100, 300, 1)


def test_without_options_the_input_is_written_and_read_once() -> None:
    once = asked(input="3GiB")

    assert (once.written_gib, once.read_gib, once.metered_gib) == (3, 3, 4)
    assert once.footage_until_empty_hours == pytest.approx(2.1 * 1024 / 4)


def test_only_the_video_stream_is_read_by_each_rendition_and_pass() -> None:
    assert asked(input="10GiB", renditions=3, passes=2, video_share=0.9).read_gib == pytest.approx(9 * 6 + 1)
    assert asked(input="10GiB", renditions=3, passes=2, video_share=0).read_gib == 10


def test_a_size_for_half_an_hour_is_the_same_as_its_rate() -> None:
    by_rate, by_size = asked(input_rate="8Mbps", duration="30min"), asked(input="1.8GB", duration="30min")

    assert by_rate == by_size


@pytest.mark.parametrize(
    ("stored", "rate", "hours"),
    [("0B", "100MiB/s", 6.18), ("100GiB", "100MiB/s", 6.43), ("500GiB", "100MiB/s", 8.09), ("1TiB", "1GiB/s", 12.23)],
)
def test_by_the_clock_credits_drain_as_the_guides_formulas_say(stored: str, rate: str, hours: float) -> None:
    assert asked(stored=stored, metered_rate=rate).wall_until_empty_hours == pytest.approx(hours, abs=0.005)


def test_a_rate_within_the_baseline_never_empties_them() -> None:
    answer = answered(stored="1TiB", metered_rate="50MiB/s")

    assert answer.result.wall_until_empty_hours is None
    assert "never run out" in answer.summary
    assert answer.result.written_gib is answer.result.read_gib is answer.result.metered_gib is None
    assert answer.result.footage_until_empty_hours is None


def test_the_region_has_the_last_word_on_ceilings() -> None:
    tokyo, virginia = (
        asked(region, stored="40TiB", metered_rate="9GiB/s") for region in ("ap-northeast-1", "us-east-1")
    )

    assert (tokyo.write_ceiling_mib_s, tokyo.read_ceiling_mib_s) == (1024, 3 * 1024)
    assert (virginia.write_ceiling_mib_s, virginia.read_ceiling_mib_s) == (3 * 1024, 5 * 1024)
    assert tokyo.wall_until_empty_hours is None  # its baseline is above Tokyo's ceiling
    assert virginia.wall_until_empty_hours == pytest.approx(2.1 * 1024 * 1024 * 40 / (3 * 1024 - 2_000) / 3600)


def test_without_credits_it_is_no_faster_than_the_region_allows_either() -> None:
    answer = answered(stored="40TiB", metered_rate="1GiB/s")

    assert answer.result.baseline_mib_s == 1024
    assert answer.summary.endswith("Without credits, it writes at up to 1 GiB/s or reads at up to 3 GiB/s.")


def test_refilling_is_given_in_both_readings_of_the_guide() -> None:
    small, large = asked(stored="10GiB", metered_rate="1MiB/s"), asked(stored="100GiB", metered_rate="1MiB/s")

    assert small.refill_hours == pytest.approx(25.5 * 24, abs=1)
    assert small.refill_hours_at_worst == pytest.approx(small.refill_hours * 1024 / 500)
    assert large.refill_hours_at_worst == large.refill_hours
    assert asked(metered_rate="1MiB/s").refill_hours_at_worst is None


def test_a_burst_is_at_the_regions_ceiling_and_no_longer_than_a_day() -> None:
    assert asked(stored="40TiB", metered_rate="1MiB/s").burst_minutes_a_day == 24 * 60
    assert asked(stored="15TiB", metered_rate="1MiB/s").burst_minutes_a_day == pytest.approx(24 * 60 * 750 / 1024)


def test_a_nightly_copy_uses_what_a_day_earns_or_runs_dry_on_a_day() -> None:
    large, empty = answered(stored="500GiB", write_per_day="200GiB"), answered(write_per_day="200GiB")

    assert large.result.daily_metered_gib == 200
    assert large.result.daily_earned_gib == pytest.approx(500 * 50 * 86_400 / 2**20)
    assert large.result.days_until_empty is large.result.days_until_empty_at_worst is None
    assert "earns 2.01 TiB per day, so the credits recover every day." in large.summary
    assert empty.result.daily_earned_gib == pytest.approx(86_400 / 1024)
    assert empty.result.daily_earned_gib_at_worst == 0
    assert (empty.result.days_until_empty, empty.result.days_until_empty_at_worst) == (17, 10)
    assert (
        "run out on day 18. If it earns only for its size, 0 B per day, the credits run out on day 11." in empty.summary
    )


def test_what_a_daily_job_reads_counts_a_third() -> None:
    job = asked(read_per_day="300GiB", write_per_day="50GiB")

    assert job.daily_metered_gib == pytest.approx(150)
    assert asked(input="1GiB").daily_metered_gib is asked(input="1GiB").daily_earned_gib is None


def test_nothing_in_nothing_out_lasts_for_ever() -> None:
    answer = answered(input="0B")

    assert answer.result.metered_gib == 0
    assert answer.result.footage_until_empty_hours is None
    assert "never run out" in answer.summary


def test_the_summary_has_footage_and_clock_and_what_binds() -> None:
    inputs = answered(input_rate="147Mbps", metered_rate="1GiB/s", **ENCODER).summary

    assert "6 h 55 min" in inputs
    assert "At a constant metered rate of 100 MiB/s (its limit, below the 1 GiB/s that you gave), the" in inputs
    assert "the initial 2.1 TiB of burst credits last for 6 h 11 min." in inputs
    assert "Without credits, it writes at up to 1 MiB/s or reads at up to 3 MiB/s." in inputs


def test_exclusions_are_listed() -> None:
    footage, clock = answered(input="1GiB").assumptions, answered(metered_rate="1MiB/s").assumptions

    assert any("does not count credits that are earned" in one for one in footage)
    assert not any("rendition" in one for one in clock)


@pytest.mark.parametrize(
    ("inputs", "field", "remedy"),
    [
        ({}, "input", "give input, input-rate, write-per-day, read-per-day or metered-rate"),
        ({"input": "1GiB", "input_rate": "1Mbps"}, "input_rate", "give input or input-rate, not both"),
        ({"metered_rate": "1MiB/s", "duration": "2h"}, "duration", "needs input or input-rate"),
        ({"write_per_day": "1GiB", "renditions": 2}, "renditions", "needs input or input-rate"),
        ({"write_per_day": "10TiB"}, "write_per_day", "1 d 5 h even with credits; a day has time for 8.24 TiB"),
        ({"read_per_day": "25TiB"}, "read_per_day", "a day has time for 24.7 TiB"),
        ({"input": "1GiB", "duration": "0s"}, "duration", "1h"),
        ({"input_rate": "1Mbps", "duration": "0s"}, "duration", "1h"),
        ({"metered_rate": "1MiB/s", "output_size": "1GiB"}, "output_size", "0B"),
        ({"metered_rate": "1MiB/s", "pass_log": "1GiB"}, "pass_log", "0B"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(inputs: dict[str, str], field: str, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy) as caught:
        asked(**inputs)
    assert caught.value.field == field


GIBS = st.integers(0, 10**6)


@given(GIBS, GIBS, GIBS, GIBS, st.integers(1, 20), st.integers(1, 5), st.floats(0, 1))
@settings(deadline=None)
def test_more_bytes_never_use_fewer_credits_nor_last_longer(
    size: int, outputs: int, logs: int, more: int, renditions: int, passes: int, share: float
) -> None:
    def footage(size: int, outputs: int, logs: int, renditions: int) -> Credits:
        return asked(
            input=f"{size}GiB", output_size=f"{outputs}GiB", pass_log=f"{logs}GiB", renditions=renditions,
            passes=passes, video_share=share,
        )  # fmt: skip

    less = footage(size, outputs, logs, renditions)
    for other in (
        footage(size + more, outputs, logs, renditions),
        footage(size, outputs + more, logs, renditions),
        footage(size, outputs, logs + more, renditions),
        footage(size, outputs, logs, renditions + 1),
    ):
        assert less.metered_gib is not None
        assert other.metered_gib is not None
        assert other.metered_gib >= less.metered_gib * (1 - 1e-12)
        assert (other.footage_until_empty_hours or 1e99) <= (less.footage_until_empty_hours or 1e99) * (1 + 1e-12)


@given(st.integers(0, 10**5), st.integers(0, 10**4), st.integers(0, 10**4))
@settings(deadline=None)
def test_more_rate_never_takes_longer_to_empty_them(stored: int, rate: int, more: int) -> None:
    slow, fast = (
        asked(stored=f"{stored}GiB", metered_rate=f"{mib_s}MiB/s").wall_until_empty_hours
        for mib_s in (rate, rate + more)
    )

    assert slow is None or (fast is not None and fast <= slow)
