"""Choose which of these tests `make test` runs."""

from collections import defaultdict
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest

HERE: Final = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run one variant of a test that is parametrized by kind of resource, and mark the others `slow`.

    The test's name chooses the kind, so `make test` runs each kind in a third of these tests. The explorer's slice,
    which `make test` also runs, covers all kinds.
    """
    same = defaultdict(list)
    for item in items:
        callspec = getattr(item, "callspec", None)
        here = item.path.parent == HERE and item.path.name != "test_explorer.py"
        if here and callspec and "kind" in callspec.params and not item.get_closest_marker("slow"):
            others = {name: value for name, value in callspec.params.items() if name != "kind"}
            same[item.nodeid.partition("[")[0], repr(others)].append(item)
    for (name, _), variants in same.items():
        chosen = crc32(name.encode()) % len(variants)
        for variant in (*variants[:chosen], *variants[chosen + 1 :]):
            variant.add_marker(pytest.mark.slow)
