"""The estimates reproduce the figures of the field reports."""

import pytest

from published_figures import Figure, Verdict, figures, usage_csv, verdicts

FIGURES, VERDICTS = figures(), verdicts()


@pytest.mark.parametrize("figure", FIGURES, ids=lambda one: f"{one.report[:12]}: {one.what}")
def test_a_published_figure_comes_out_within_its_tolerance(figure: Figure) -> None:
    assert figure.holds, f"{figure.published} published, {figure.ours} ours: {figure.difference:+.2%}"


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda one: one.what)
def test_a_published_conclusion_comes_out_the_same(verdict: Verdict) -> None:
    assert verdict.ours == verdict.published


def test_every_report_is_there() -> None:
    assert len({one.report for one in FIGURES}) == 5
    assert len(FIGURES) >= 50


def test_a_figure_that_is_off_does_not_hold() -> None:
    of = {"report": "", "what": "", "unit": ""}
    assert not Figure(published=100, ours=104, tolerance=0.03, **of).holds
    assert Figure(published=100, ours=103, tolerance=0.03, **of).holds
    assert not Figure(published=100, ours=100.001, tolerance=0, **of).holds
    assert not Figure(published=100, ours=301, tolerance=None, **of).holds


def test_the_run_is_as_long_and_leaves_as_much_as_published() -> None:
    last = usage_csv(ramp=True).split()[-1]
    minute, gib = map(float, last.split(","))

    assert minute == pytest.approx(54 + 59 / 60, abs=0.001)
    assert gib == pytest.approx(32.04, abs=0.01)
