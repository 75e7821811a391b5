"""Print the tests that a change affects, one pytest argument a line. `make test-changed` runs them.

A test file is affected if it changed, or if it imports a changed module directly or through a helper in tests/. If no
test imports a module this way, tests that import it through one or two other modules are affected. A change of a
detector affects all tests of detectors and of the demo. Other files, such as the templates, have fixed tests (OTHERS).
This is a quick check: a change in a widely used module can also break tests that are not listed.

Usage: changed_tests.py [BASE]    everything that differs from BASE (HEAD), uncommitted and new files included
"""

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

ROOTS = ("layers/core/src", "cli/src", "simulator/src", "tests", "tools", "bench")
"""Folders from which modules are imported."""
DEMO = ("tests/unit/cli/test_demo.py", "tests/simulator/test_truth.py")
OTHERS: Mapping[str, tuple[str, ...]] = {
    "template": ("tests/template",),
    "statemachines/": ("tests/template",),
    "functions/": ("tests/contract/functions/test_functions.py", "tests/contract/functions/test_run_function.py"),
    "events/": ("tests/contract/functions/test_functions.py", "tests/contract/functions/test_api.py"),
    "iam/": ("tests/template/test_deploy_rights.py", "tests/unit/wiring/test_permissions.py"),
    "action.yml": ("tests/unit/tools/test_action.py",),
    ".github/workflows/": ("tests/unit/tools/test_action.py",),
    "simulator/src/slackwater_simulator/fleets/demo": DEMO,
    "simulator/src/slackwater_simulator/prices.py": DEMO,
    "requirements.txt": ("tests/unit/tools/test_lock.py",),
    "layers/core/requirements.txt": ("tests/unit/tools/test_lock.py",),
}
"""Tests of files whose path begins with the key."""
DETECTORS = "slackwater.detectors."
LEVELS = 3
"""Maximum number of imports from a test to a changed module."""
EVERY_DETECTOR = "tests/unit/detectors"
ONE_RESOURCE = "tests/contract/aws/inventory/test_one.py"


def module_of(path: str) -> str | None:
    """Return the dotted name under which a file is imported; None if it is not a module."""
    for root in ROOTS:
        if path.startswith(f"{root}/") and path.endswith(".py"):
            name = path.removeprefix(f"{root}/").removesuffix(".py").replace("/", ".")
            return name.removesuffix(".__init__")
    return None


def imported(source: str) -> set[str]:
    """Return every module that a source text imports; for `from a import b` both `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def touched(changed: Collection[str], imports: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the arguments for pytest. `changed` are paths; `imports` has the imports of all Python files by path."""
    for path in sorted(changed):
        yield from nearest(path, imports)
    if any(str(module_of(path)).startswith(DETECTORS) for path in changed):
        yield from (EVERY_DETECTOR, *DEMO, ONE_RESOURCE)


def nearest(path: str, imports: Mapping[str, Collection[str]]) -> list[str]:
    """Return the tests of a changed file.

    These are its fixed tests, the file itself, the folder of a conftest, or the test files with the fewest imports
    between.
    """
    if tests := [test for start, fixed in OTHERS.items() if path.startswith(start) for test in fixed]:
        return tests
    if Path(path).name == "conftest.py":
        return [Path(path).parent.as_posix()]
    if _is_test(path):
        return [path]
    modules = {module_of(path)} - {None}
    for _ in range(LEVELS):
        users = {user for user, names in imports.items() if modules & {*names}}
        if tests := [user for user in users if _is_test(user)]:
            helpers = {module_of(user) for user in users if user.startswith("tests/")}
            return sorted({*tests, *(user for user, names in imports.items() if helpers & {*names} and _is_test(user))})
        modules = {module_of(user) for user in users} - modules
    return []


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout.splitlines()


def main(base: str = "HEAD") -> None:
    """Print the affected tests of the checkout. Name changed code without tests on standard error."""
    changed = {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}
    paths = [Path(path) for path in _git("ls-files", "--cached", "--others", "--exclude-standard", "*.py")]
    read = [path for path in paths if path.exists() and "e2e" not in path.parts]
    imports = {path.as_posix(): imported(path.read_text("utf-8")) for path in read}
    for path in sorted(path for path in changed if path.endswith((".py", ".toml", "Makefile"))):
        if not [*touched([path], imports)]:
            print(f"{path}: no test imports it closely; run `make test`", file=sys.stderr)
    for argument in dict.fromkeys(touched(changed, imports)):
        if Path(argument).exists():
            print(argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
