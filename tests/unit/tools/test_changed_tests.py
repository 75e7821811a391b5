"""The tests that `make test-changed` selects for a change."""

import pytest

from changed_tests import DEMO, EVERY_DETECTOR, ONE_RESOURCE, imported, module_of, touched

SOURCES = {
    "tests/unit/engine/test_plan.py": "from slackwater.engine.plan import query_of\n",
    "tests/unit/engine/test_merge.py": "from slackwater.engine import merge\nimport world\n",
    "tests/contract/test_far.py": "from slackwater.app.audit.scan import Audit\n",
    "tests/world.py": "from slackwater.model.resources import Volume\n",
    "tools/openapi.py": "import json\n",
    "layers/core/src/slackwater/app/audit/scan.py": "from slackwater.engine import evaluation\n",
}


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("layers/core/src/slackwater/engine/plan.py", ["tests/unit/engine/test_plan.py"]),
        ("layers/core/src/slackwater/engine/merge.py", ["tests/unit/engine/test_merge.py"]),
        ("layers/core/src/slackwater/model/resources.py", ["tests/unit/engine/test_merge.py"]),
        ("tests/world.py", ["tests/unit/engine/test_merge.py"]),
        ("tests/contract/test_far.py", ["tests/contract/test_far.py"]),
        ("layers/core/src/slackwater/detectors/efs_idle.py", [EVERY_DETECTOR, *DEMO, ONE_RESOURCE]),
        ("layers/core/src/slackwater/engine/evaluation.py", ["tests/contract/test_far.py"]),
        ("layers/core/src/slackwater/engine/never_tested.py", []),
        ("tests/unit/cli/conftest.py", ["tests/unit/cli"]),
        ("simulator/src/slackwater_simulator/fleets/demo_labels.py", [*DEMO]),
        ("template-cleanup.yaml", ["tests/template"]),
        ("README.md", []),
    ],
)
def test_a_change_touches_the_tests_with_the_fewest_imports_between(path: str, tests: list[str]) -> None:
    assert list(touched([path], {name: imported(source) for name, source in SOURCES.items()})) == tests


def test_every_way_to_import_is_seen() -> None:
    assert {"a", "b.c", "b.c.d", "e"} <= imported("import a, e\ndef f():\n    from b.c import d\n")


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("cli/src/slackwater_cli/__main__.py", "slackwater_cli.__main__"),
        ("layers/core/src/slackwater/views/report/__init__.py", "slackwater.views.report"),
        ("functions/scan/app.py", None),
        ("tests/data.json", None),
    ],
)
def test_a_file_is_imported_under_its_path_below_a_root(path: str, module: str | None) -> None:
    assert module_of(path) == module
