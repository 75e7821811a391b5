"""The documentation page of a detector."""

import pytest
from pydantic.fields import FieldInfo

from slackwater.engine.registry import documentation, registry
from slackwater.views.docs.detector_page import allowed_range, render_cases, render_index, render_page
from slackwater.views.text.markdown import text


def unit_of(field: FieldInfo) -> str:
    assert isinstance(field.json_schema_extra, dict)
    return str(field.json_schema_extra["unit"])


@pytest.mark.parametrize("id", registry())
def test_a_page_has_everything_that_the_detector_declares(id: str) -> None:
    detector = registry()[id]
    page = render_page(id, detector, documentation(id), cases=True)

    assert page.startswith(f"# {id}\n\n{documentation(id).splitlines()[0]}\n")
    assert documentation(id).partition("\n")[2].strip() in page
    assert page.count("\n|") >= len(detector.limits.model_fields) + len(detector.cases) + 4
    for name, field in detector.limits.model_fields.items():
        assert (
            f"| `{name}` | {'none, such as' if field.default is None else f'{field.default:g} {unit_of(field)} |'}"
            in page
        )
    for case in detector.cases:
        assert f"| {case.expect.__name__.lower()} |" in page


@pytest.mark.parametrize("id", registry())
def test_a_page_gives_the_ranges_and_in_a_terminal_no_link_to_a_file(id: str) -> None:
    detector = registry()[id]
    page = render_page(id, detector, documentation(id), cases=True)

    assert "](../" not in page
    for name, limit in detector.limits.model_json_schema().get("properties", {}).items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.split(" | ")[2].strip(" |") == text(allowed_range(limit))


def test_ranges_are_written_with_signs() -> None:
    assert allowed_range({"minimum": 7, "maximum": 450}) == "≥ 7, ≤ 450"
    assert allowed_range({"exclusiveMinimum": 0, "exclusiveMaximum": 1.5}) == "> 0, < 1.5"
    assert not allowed_range({})


@pytest.mark.parametrize("id", registry())
def test_a_page_of_the_docs_leads_to_its_cases(id: str) -> None:
    detector = registry()[id]
    page = render_page(id, detector, documentation(id))
    cases = render_cases(registry()).partition(f"\n## {id}\n")[2].partition("\n## ")[0]

    assert "Worked cases" not in page
    assert f"[{len(detector.cases)} worked cases](cases.md#{id})" in " ".join(page.split())
    assert cases.count("\n|") == len(detector.cases) + 2


def test_a_limit_without_a_default_is_shown_by_an_example() -> None:
    page = render_page("efs-abandoned", registry()["efs-abandoned"], documentation("efs-abandoned"), cases=True)

    assert '| `tag` | none, such as "Job" or "Job=encode" |' in page
    assert '(with `tag = "Job"`)' in page


def test_the_index_leads_to_every_page() -> None:
    index = render_index(registry())

    assert all(f"[{id_}]({id_}.md)" in index for id_ in registry())
