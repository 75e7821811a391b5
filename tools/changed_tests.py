"""Print the tests that a change touches, one argument for pytest a line: what `make test-changed` runs.

A test file is touched if it changed, or if it imports a changed module: directly, or through a helper in tests/ or tools/.
After a change of a detector, all tests of detectors are run. Other files, such as the templates, have fixed tests (OTHERS).
This is a quick look and no proof: a change far down can break tests that import it only indirectly.

Usage: changed_tests.py [BASE]    everything that differs from BASE (HEAD), uncommitted and new files included
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOTS = ("layers/core/src", "cli/src", "simulator/src", "tests", "tools", "bench")
"""Folders from which modules are imported."""
OTHERS: Mapping[str, tuple[str, ...]] = {
    "template": ("tests/template",),
    "statemachines/": ("tests/template",),
    "functions/": ("tests/contract/test_functions.py", "tests/contract/test_run_function.py"),
    "events/": ("tests/contract/test_functions.py", "tests/contract/test_api.py"),
    "requirements.txt": ("tests/unit/test_lock.py",),
    "layers/core/requirements.txt": ("tests/unit/test_lock.py",),
}
"""What begins so is tested there."""
DETECTORS = "slackwater.detectors."
EVERY_DETECTOR = "tests/unit/detectors"


def module_of(path: str) -> str | None:
    """The dotted name under which a file is imported; None if it is no module."""
    for root in ROOTS:
        if path.startswith(f"{root}/") and path.endswith(".py"):
            name = path.removeprefix(f"{root}/").removesuffix(".py").replace("/", ".")
            return name.removesuffix(".__init__")
    return None


def imported(source: str) -> set[str]:
    """Every module that a source text names in an import; for `from a import b` both `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def touched(changed: Iterable[str], sources: Mapping[str, str]) -> Iterator[str]:
    """The arguments for pytest, given the changed paths and the texts of all Python files in tests/ and tools/, by path."""
    changed = set(changed)
    modules = {module for path in changed if (module := module_of(path))}
    imports = {path: imported(source) for path, source in sources.items()}
    helpers = {path: module for path in sources if not Path(path).name.startswith("test_") and (module := module_of(path))}
    while new := {module for path, module in helpers.items() if imports[path] & modules} - modules:
        modules |= new
    yield from sorted(
        path for path in sources if Path(path).name.startswith("test_") and (path in changed or imports[path] & modules)
    )
    for start, tests in OTHERS.items():
        if any(path.startswith(start) for path in changed):
            yield from tests
    if any(module.startswith(DETECTORS) for module in modules):
        yield EVERY_DETECTOR


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout.splitlines()


def main(base: str = "HEAD") -> None:
    """Print the touched tests of the checkout."""
    changed = {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}
    files = [path for folder in ("tests", "tools") for path in sorted(Path(folder).rglob("*.py")) if "e2e" not in path.parts]
    found = touched(changed, {path.as_posix(): path.read_text("utf-8") for path in files if "node_modules" not in path.parts})
    for argument in dict.fromkeys(found):
        if Path(argument).exists():
            print(argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
