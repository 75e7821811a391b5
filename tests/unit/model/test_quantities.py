"""Sizes, rates and durations: what is accepted, the errors for everything else, and how values are shown."""

import re
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from slackwater.model.quantities import (
    DURATION,
    RATE,
    SIZE,
    Duration,
    Quantity,
    Rate,
    Size,
    decimal_size_words,
    duration_words,
    own_size_words,
    rate_words,
    size_words,
)

KINDS = st.sampled_from([SIZE, RATE, DURATION])
NUMBERS = st.one_of(
    st.from_regex(r"[0-9]{1,15}(\.[0-9]{1,20})?", fullmatch=True), st.floats(0, 1e15, exclude_max=True).map(repr)
)


def accepts(quantity: Quantity, words: str) -> bool:
    try:
        quantity.read(words)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("quantity", "words", "amount"),
    [
        (SIZE, "30GiB", 32_212_254_720),
        (SIZE, "30 GiB", 32_212_254_720),
        (SIZE, "30.12GB", 30_120_000_000),
        (SIZE, "1TB", 10**12),
        (SIZE, "1TiB", 2**40),
        (SIZE, "2PB", 2 * 10**15),
        (SIZE, "2PiB", 2**51),
        (SIZE, "232303771648B", 232_303_771_648),
        (SIZE, "0B", 0),
        (RATE, "147Mbps", 18_375_000),
        (RATE, "100MiB/s", 104_857_600),
        (RATE, "160MB/s", 160_000_000),
        (RATE, "0.064Gbps", 8_000_000),
        (RATE, "4.1Gbps", 512_500_000),
        (RATE, "8bps", 1),
        (RATE, "50MBps", 50_000_000),
        (RATE, "2GBps", 2_000_000_000),
        (RATE, "3KiBps", 3_072),
        (RATE, "3MiBps", 3_145_728),
        (RATE, "3GiBps", 3_221_225_472),
        (DURATION, "1.5h", 5_400),
        (DURATION, "30min", 1_800),
        (DURATION, "2d", 172_800),
        (DURATION, "0.1s", 0.1),
        (DURATION, "1h30min", 5_400),
        (DURATION, "1h 30min", 5_400),
        (DURATION, "1 h 30 min", 5_400),
        (DURATION, "5min 27s", 327),
        (DURATION, "1d 2h 3min 4.5s", 93_784.5),
        (DURATION, "0.9833333333333333h", 3_539.99999999999988),
        (DURATION, "1e-05s", 1e-05),
        (SIZE, "2.5e+3 MB", 2_500_000_000),
        (SIZE, "9.99e14B", 9.99e14),
        (SIZE, "1e-09B", 1e-09),
        (SIZE, "9.9e-10B", 0),
        (SIZE, "1e-999B", 0),
    ],
)
def test_a_quantity_is_exactly_what_it_says(quantity: Quantity, words: str, amount: float) -> None:
    assert quantity.read(words) == amount


@settings(deadline=None)
@given(KINDS, NUMBERS, st.data())
def test_a_number_and_a_unit_are_their_product(quantity: Quantity, number: str, data: st.DataObject) -> None:
    units = {**quantity.units, **quantity.aliases}
    unit = data.draw(st.sampled_from(sorted(units)))

    exact = float(Fraction(number) * Fraction(units[unit]))
    assert quantity.read(f"{number}{unit}") == (exact if exact >= 1e-9 else 0)


@settings(deadline=None)
@given(KINDS, NUMBERS, st.data())
def test_more_of_a_unit_is_never_less(quantity: Quantity, number: str, data: st.DataObject) -> None:
    unit, other = (data.draw(st.sampled_from(sorted(quantity.units))) for _ in range(2))
    assume(quantity.units[unit] <= quantity.units[other])

    assert quantity.read(f"{number}{unit}") <= quantity.read(f"{number}{other}")


@settings(deadline=None)
@given(st.floats(0, 1e20))
def test_a_formatted_size_parses_back_within_half_a_percent(amount: float) -> None:
    assume(amount >= 1)
    for quantity, words in ((SIZE, size_words), (RATE, rate_words)):
        assert quantity.read(words(amount).replace(",", "")) == pytest.approx(amount, rel=0.0051)


def test_the_largest_size_that_parses_can_be_formatted() -> None:
    assert own_size_words(SIZE.read("999999999999999PiB")) == "1,125,899,906,842,623 PB"


@settings(deadline=None)
@given(st.floats(0.001, 999 * 86_400))
def test_a_formatted_duration_can_be_parsed(seconds: float) -> None:
    assert DURATION.read(duration_words(seconds)) == pytest.approx(seconds, rel=0.06)


@pytest.mark.parametrize(
    ("quantity", "words", "problem"),
    [
        (SIZE, "30", "a size needs a unit: 30B, 30KB, 30MB, 30GB, 30TB, 30PB, 30KiB, 30MiB, 30GiB, 30TiB, 30PiB"),
        (RATE, "1.5", "a rate needs a unit: 1.5B/s, 1.5KB/s, "),
        (DURATION, "90", "a duration needs a unit: 90s, 90min, 90h, 90d"),
        (SIZE, "30GIB", "no unit 'GIB' of a size; did you mean GiB?"),
        (SIZE, "30Gi", "no unit 'Gi' of a size; did you mean GiB?"),
        (RATE, "100MiB", "no unit 'MiB' of a rate; did you mean MiB/s?"),
        (RATE, "100mbps", "no unit 'mbps' of a rate; Mbps are bits, MB/s bytes"),
        (RATE, "50Mb/s", "no unit 'Mb/s' of a rate; Mbps are bits, MB/s bytes"),
        (RATE, "50Mb", "no unit 'Mb' of a rate; Mbps are bits, MB/s bytes"),
        (RATE, "50Mbit/s", "no unit 'Mbit/s' of a rate; Mbps are bits, MB/s bytes"),
        (RATE, "50kBps", "no unit 'kBps' of a rate; kbps are bits, KB/s bytes"),
        (RATE, "50gb/s", "no unit 'gb/s' of a rate; Gbps are bits, GB/s bytes"),
        (RATE, "50MB", "no unit 'MB' of a rate; did you mean MB/s?"),
        (RATE, "50M", "no unit 'M' of a rate; there are B/s, KB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, "),
        (DURATION, "5mins", "no unit 'mins' of a duration; did you mean min?"),
        (DURATION, "5y", "no unit 'y' of a duration; there are s, min, h, d"),
        (SIZE, "-1GiB", "a size cannot be negative"),
        (RATE, "-1MB/s", "a rate cannot be negative"),
        (SIZE, "1e400", "1e400 is no plain number"),
        (SIZE, "1e15B", "1e15 is no plain number below 10^15"),
        (SIZE, "10e14B", "10e14 is no plain number below 10^15"),
        (SIZE, "inf", "not a size, such as 30GiB"),
        (SIZE, "nanB", "not a size, such as 30GiB"),
        (SIZE, "", "not a size, such as 30GiB"),
        (RATE, " ", "not a rate, such as 100MiB/s"),
        (SIZE, " 30GiB", "not a size, such as 30GiB"),
        (SIZE, "30GiB ", "not a size, such as 30GiB"),
        (SIZE, "30GiB\n", "not a size, such as 30GiB"),
        (SIZE, "30  GiB", "not a size, such as 30GiB"),
        (SIZE, "30\u00a0GiB", "not a size, such as 30GiB"),
        (SIZE, "３０GiB", "not a size, such as 30GiB"),
        (SIZE, "1,000GiB", "1,000 is no plain number below 10^15, such as 1500, 0.983 or 1e-05"),
        (SIZE, "1 000 GiB", "1 000 is no plain number"),
        (SIZE, "1h30min", "no unit 'h' of a size; there are B, KB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB"),
        (SIZE, "1GiB 5MiB", "not a size, such as 30GiB"),
        (DURATION, "1h 30", "a duration needs a unit: 30s, 30min, 30h, 30d"),
        (DURATION, "1h 30mins", "no unit 'mins' of a duration; did you mean min?"),
        (DURATION, "1h  30min", "not a duration, such as 30min"),
        (DURATION, "1s" * 5, "not a duration, such as 30min"),
        (SIZE, "1" * 16 + "B", "1111111111111111 is no plain number below 10^15"),
        (SIZE, f"0.{'1' * 101}B", f"0.{'1' * 101} is no plain number"),
        (RATE, "1.5.5MB/s", "1.5.5 is no plain number"),
        (DURATION, "1.h", "1. is no plain number"),
        (DURATION, ".5h", "not a duration, such as 30min"),
        (SIZE, 30, "a size is a text with a unit, such as '30GiB'"),
        (RATE, 1.5, "a rate is a text with a unit, such as '100MiB/s'"),
        (DURATION, True, "a duration is a text with a unit, such as '30min'"),
        (DURATION, None, "a duration is a text with a unit, such as '30min'"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_would_be_one(quantity: Quantity, words: object, problem: str) -> None:
    with pytest.raises(ValueError) as refused:
        quantity.read(words)

    assert str(refused.value).startswith(problem)


@settings(deadline=None)
@given(KINDS, st.data())
def test_the_pattern_takes_nothing_that_is_not_read(quantity: Quantity, data: st.DataObject) -> None:
    words = data.draw(st.from_regex(quantity.pattern, fullmatch=True))

    assert quantity.read(words) >= 0


UNITS = sorted({*SIZE.units, *RATE.units, *RATE.aliases, *DURATION.units, "GIB", "b", "m", ""})
NEARLY = st.builds(
    "".join, st.lists(st.one_of(NUMBERS, st.sampled_from([*UNITS, " ", ".", "-", "e", ",", "\n", "３"])), max_size=6)
)


@settings(deadline=None)
@given(KINDS, st.one_of(NEARLY, st.text(max_size=12)))
def test_the_pattern_takes_a_text_if_and_only_if_it_is_read(quantity: Quantity, words: str) -> None:
    assert accepts(quantity, words) == bool(re.fullmatch(quantity.pattern, words))


class Asked(BaseModel):
    size: Size
    rate: Rate
    duration: Duration


def test_a_model_reads_them_and_its_schema_says_how_they_are_written() -> None:
    asked = Asked.model_validate({"size": "1KiB", "rate": "8kbps", "duration": "1min"})

    assert (asked.size, asked.rate, asked.duration) == (1024, 1000, 60)
    with pytest.raises(ValidationError, match="a size is a text with a unit"):
        Asked.model_validate({"size": 1024, "rate": "8kbps", "duration": "1min"})
    properties = Asked.model_json_schema()["properties"]
    assert properties["size"] == {"type": "string", "pattern": SIZE.pattern, "examples": ["30GiB"], "title": "Size"}
    assert all(accepts(quantity, quantity.example) for quantity in (SIZE, RATE, DURATION))


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1,023 B"),
        (1023.6, "1 KiB"),
        (2**20 - 1, "1 MiB"),
        (32_341_103_738, "30.1 GiB"),
        (232_303_771_648, "216 GiB"),
        (99.94 * 2**30, "99.9 GiB"),
        (99.96 * 2**30, "100 GiB"),
        (1000 * 2**30, "1,000 GiB"),
        (2_308_974_418_330, "2.1 TiB"),
        (5000 * 2**40, "4.88 PiB"),
    ],
)
def test_a_size_in_words(size_bytes: float, words: str) -> None:
    assert size_words(size_bytes) == words


@pytest.mark.parametrize(
    ("typed", "decimal", "own"),
    [
        ("5TB", "5 TB", "5 TB"),
        ("5TiB", "5.5 TB", "5 TiB"),
        ("400GiB", "429 GB", "400 GiB"),
        ("2PB", "2 PB", "2 PB"),
        ("1500MB", "1.5 GB", "1.5 GB"),
        ("1000TiB", "1.1 PB", "1,000 TiB"),
        ("232303771648B", "232 GB", "232 GB"),
        ("0B", "0 B", "0 B"),
    ],
)
def test_a_size_in_decimal_units_and_in_those_that_it_was_typed_in(typed: str, decimal: str, own: str) -> None:
    assert decimal_size_words(SIZE.read(typed)) == decimal
    assert own_size_words(SIZE.read(typed)) == own


@pytest.mark.parametrize(
    ("bytes_per_s", "words"),
    [
        (0, "0 B/s"),
        (999.4, "999 B/s"),
        (999.95, "1 KB/s"),
        (8e6, "8 MB/s"),
        (62.5e6, "62.5 MB/s"),
        (167_772_160, "168 MB/s"),
        (999.95e6, "1 GB/s"),
        (1_562_500_000, "1.56 GB/s"),
        (2.5e12, "2.5 TB/s"),
    ],
)
def test_a_rate_in_words(bytes_per_s: float, words: str) -> None:
    assert rate_words(bytes_per_s) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.0004, "under 1 ms"),
        (0.25, "0.25 s"),
        (4.2, "4.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.99, "1 min"),
        (61, "1 min 1 s"),
        (836, "13 min 56 s"),
        (3599.7, "1 h"),
        (3600, "1 h"),
        (24_900, "6 h 55 min"),
        (86_399, "1 d"),
        (125_000, "1 d 11 h"),
        (1e8, "1,157 d 10 h"),
    ],
)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
