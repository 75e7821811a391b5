"""The cases that are not on the detectors' pages end as they say."""

import pytest

from slackwater.engine.cases import play, words
from slackwater.model.detector import AnyDetector, Case
from support.further_cases import FURTHER


@pytest.mark.parametrize(
    ("detector", "case"), [pytest.param(detector, case, id=case.title) for detector, cases in FURTHER for case in cases]
)
def test_a_further_case_ends_as_it_says(detector: AnyDetector, case: Case) -> None:
    verdict = play(detector, case)

    assert isinstance(verdict, case.expect), words(verdict)
    assert case.says in words(verdict)
