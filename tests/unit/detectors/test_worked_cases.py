"""Every worked case of every detector ends as expected, and the detectors follow the project's rules."""

import re
import sys

import pytest

from slackwater.engine.cases import words
from slackwater.engine.registry import documentation, registry
from slackwater.model.verdicts import Fine, Flagged, Unknown
from support.worked_cases import played

CASES = [
    pytest.param(id_, number, id=f"{id_}: {case.title}")
    for id_, detector in registry().items()
    for number, case in enumerate(detector.cases)
]


@pytest.mark.parametrize(("id_", "number"), CASES)
def test_the_worked_example_ends_as_it_says(id_: str, number: int) -> None:
    case, verdict = played(id_)[number].case, played(id_)[number].verdict
    got, wanted, text = type(verdict).__name__, case.expect.__name__, words(verdict)

    assert got == wanted, f"{case.title}: {got} ({text}), and {wanted} was expected"
    assert case.says in text, f"{case.title}: {text!r} does not say {case.says!r}"


@pytest.mark.parametrize("id_", registry())
def test_a_detector_has_a_flagged_a_fine_and_if_possible_an_unknown_case(id_: str) -> None:
    detector = registry()[id_]
    can_be_unknown = hasattr(sys.modules[detector.judge.__module__], "Unknown") or bool(detector.reads)

    assert {Flagged, Fine} | ({Unknown} if can_be_unknown else set()) <= {case.expect for case in detector.cases}


@pytest.mark.parametrize("id_", registry())
def test_a_page_has_the_four_headings_in_order(id_: str) -> None:
    headings = re.findall(r"^## (.+)$", documentation(id_), re.MULTILINE)

    assert headings == ["What it finds", "Why it matters", "When it is wrong", "What to do"]


@pytest.mark.parametrize("id_", registry())
def test_a_limit_says_its_unit_and_its_reason_and_has_bounds(id_: str) -> None:
    for name, field in registry()[id_].limits.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict), f"{name}: make it with limit(...)"
        unit = str(extra["unit"])
        ending = (
            unit.lower().replace("/", "_per_").replace("mib_per_s", "mib_s").replace(" ", "_").replace("%", "percent")
        )
        assert field.description, f"{name}: say why="
        assert name.endswith(ending), f"{name}: it must end in its unit, {ending}"
        assert field.metadata, f"{name}: give it a bound (ge=, gt=, le=, lt=)"


@pytest.mark.parametrize("id_", registry())
def test_every_metric_that_the_cases_give_is_asked_for(id_: str) -> None:
    given = {key for one in played(id_) for key in one.case.metrics}
    asked = {(query.metric, query.period_s) for one in played(id_) for query in one.queries}

    assert given <= asked, f"no case asks for {given - asked}: a misspelt metric or another period?"


@pytest.mark.parametrize("id_", registry())
def test_an_id_names_a_symptom_of_a_known_kind(id_: str) -> None:
    kind, _, symptom = id_.partition("-")

    assert kind in {"efs", "ebs", "ec2", "fsx"}
    assert symptom
    assert not re.match(r"(no|not|use|avoid|delete|prefer|fix)-", symptom)
