"""Every worked example of every detector is a test, and the detectors keep the house rules."""

import re
import sys

import pytest

from slackwater.engine.cases import play, words
from slackwater.engine.registry import documentation, registry
from slackwater.model.detector import AnyDetector, Case
from slackwater.model.verdicts import Fine, Flagged, Unknown

CASES = [
    pytest.param(detector, case, id=f"{id_}: {case.title}") for id_, detector in registry().items() for case in detector.cases
]


@pytest.mark.parametrize(("detector", "case"), CASES)
def test_the_worked_example_ends_as_it_says(detector: AnyDetector, case: Case) -> None:
    verdict = play(detector, case)

    assert type(verdict) is case.expect, words(verdict)
    assert case.says in words(verdict)


@pytest.mark.parametrize("id_", registry())
def test_a_detector_has_a_hit_a_miss_and_an_unknown_if_it_can_be_in_doubt(id_: str) -> None:
    detector = registry()[id_]
    can_doubt = hasattr(sys.modules[detector.judge.__module__], "Unknown") or bool(detector.reads)

    assert {Flagged, Fine} | ({Unknown} if can_doubt else set()) <= {case.expect for case in detector.cases}


@pytest.mark.parametrize("id_", registry())
def test_a_page_has_the_four_headings_in_order(id_: str) -> None:
    headings = re.findall(r"^## (.+)$", documentation(id_), re.MULTILINE)

    assert headings == ["What it finds", "Why it matters", "When it is wrong", "What to do"]


@pytest.mark.parametrize("id_", registry())
def test_a_limit_says_its_unit_and_its_reason_and_ends_in_its_unit(id_: str) -> None:
    for name, field in registry()[id_].limits.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict), name
        unit = str(extra["unit"])
        assert field.description, name
        assert name.endswith(
            unit.lower().replace("/", "_per_").replace("mib_per_s", "mib_s").replace(" ", "_").replace("%", "percent")
        ), (
            name,
            unit,
        )


@pytest.mark.parametrize("id_", registry())
def test_an_id_names_a_symptom_of_a_known_kind(id_: str) -> None:
    kind, _, symptom = id_.partition("-")

    assert kind in {"efs", "ebs", "ec2", "fsx"}
    assert symptom
    assert not re.match(r"(no|not|use|avoid|delete|prefer|fix)-", symptom)
