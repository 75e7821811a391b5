"""A detector's page."""

import pytest

from slackwater.engine.registry import documentation, registry
from slackwater.views.detector_page import render_index, render_page


@pytest.mark.parametrize("id", registry())
def test_a_page_says_everything_the_detector_knows(id: str) -> None:
    detector = registry()[id]
    page = render_page(id, detector, documentation(id))

    assert page.startswith(f"# {id}\n\n{documentation(id).splitlines()[0]}\n")
    assert documentation(id).partition("\n")[2].strip() in page
    assert page.count("\n|") >= len(detector.limits.model_fields) + len(detector.cases) + 4
    for name, field in detector.limits.model_fields.items():
        assert f"| `{name}` | {field.default:g} | {field.json_schema_extra['unit']} |" in page
        assert f"\n{name} = {field.default:g}\n" in page
    for case in detector.cases:
        assert f"| {case.expect.__name__.lower()} |" in page


def test_the_limits_bounds_are_told() -> None:
    page = render_page("efs-idle", registry()["efs-idle"], documentation("efs-idle"))

    assert "| `quiet_days` | 30 | days | ≥ 7, ≤ 450 |" in page


def test_the_index_leads_to_every_page() -> None:
    index = render_index(registry())

    assert all(f"[{id_}]({id_}.md)" in index for id_ in registry())
