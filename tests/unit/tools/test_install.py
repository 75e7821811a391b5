"""Installation needs only the released wheel: no clone, git, make, Node, or settings of the user."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import release

ROOT = Path(__file__).parents[3]
ALWAYS = f"{sys.version_info[0]}.{sys.version_info[1]}"
"""The Python version that runs the tests. It must be tested; other versions are tested if they are installed."""
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_EC2_METADATA_DISABLED": "true"}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("install")]


def interpreter(version: str) -> Path | None:
    """Return a Python of this version with venv, or None.

    It checks each candidate, because a version manager's shim may be on the PATH without that version.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    name = f"python{version}"
    places = [Path(sys.base_prefix) / "bin", *map(Path, os.get_exec_path()), *pyenv.glob(f"versions/{version}.*/bin")]
    for candidate in (place / name for place in places if (place / name).exists()):
        check = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != tuple(map(int, '{version}'.split('.'))))"
        if subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def index() -> dict[str, str]:
    """Return the package index of this machine, for a pip without the user's settings."""
    script = f'source "{ROOT}/tools/pip_settings.sh"; echo "$index"; echo "$certificates"'
    output = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: value for name, value in zip(("PIP_INDEX_URL", "PIP_CERT"), output, strict=True) if value}


@dataclass(frozen=True)
class Installation:
    """An empty home directory with a virtual environment. Nothing else is on the PATH."""

    home: Path

    def run(self, command: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment until it ends."""
        return subprocess.run(
            [self.home / "env/bin" / command, *arguments],
            cwd=self.home,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def must(self, command: str, *arguments: str | Path, **environment: str) -> str:
        """Run a command, which must succeed, and return its output."""
        done = self.run(command, *arguments, **environment)
        assert done.returncode == 0, f"{command} {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def environment(self, **more: str) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": str(self.home / "env/bin"), "COLUMNS": "80", **more}

    @contextmanager
    def simulator(self) -> Iterator[str]:
        """Run the simulator, and yield its URL."""
        command = [self.home / "env/bin/slackwater-simulator", "--port", "0", "--exit-with-stdin"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, cwd=self.home, env=self.environment(), text=True, **pipes) as process:
            try:
                yield json.loads(process.stdout.readline())["url"]
            finally:
                process.stdin.close()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.build_twice("HEAD", tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module", params=["3.12", "3.13"])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    version: str = request.param
    python = interpreter(version)
    if python is None and version == ALWAYS:
        pytest.fail(f"Python {version} with venv and pip is needed to test the installation")
    if python is None:
        pytest.skip(f"Python {version} is not on this machine: the installation is not tested with it")
    home = Installation(tmp_path_factory.mktemp("home"))
    nothing = {"HOME": str(home.home), "PATH": ""}
    subprocess.run([python, "-m", "venv", home.home / "env"], env=nothing, check=True)
    wanted = f"slackwater[demo] @ {wheel.as_uri()}#sha256={release.sha256(wheel)}"
    home.must("pip", "install", "--quiet", "--disable-pip-version-check", wanted, **index())
    return home


def test_nothing_else_is_within_reach(installed: Installation) -> None:
    assert [name for name in ("git", "make", "node", "uv", "sam") if shutil.which(name, path=str(installed.home))] == []
    assert not any((installed.home / name).exists() for name in ("Makefile", ".git", "layers"))
    where = installed.must("python", "-c", "import slackwater, slackwater_cli; print(slackwater.__path__[0])")
    assert where.startswith(str(installed.home))


def test_it_says_its_version(installed: Installation) -> None:
    assert installed.must("slackwater", "--version") == "slackwater 0.1.0\n"


def test_the_demo_runs(installed: Installation) -> None:
    installed.must("slackwater", "demo")

    assert json.loads((installed.home / "demo-output/findings.json").read_text())["totals"]["findings"] > 0


def test_a_scan_runs(installed: Installation) -> None:
    with installed.simulator() as url:
        where = {"AWS_ENDPOINT_URL": url, "AWS_REGION": "ap-northeast-1", **KEYS}
        scan = json.loads(installed.must("slackwater", "scan", "--format", "json", **where))

    assert scan["scan"]["complete"]
    assert scan["totals"]["findings"] > 0


def test_an_estimate_runs(installed: Installation) -> None:
    asked = ("--used", "30GiB", "--allocated", "60GiB", "--hours", "1h", "--efs", "one-zone")
    output = installed.must("slackwater", "estimate", "efs-vs-ebs", *asked, "--offline", "--format", "json")

    assert json.loads(output)["schema"] == "slackwater.estimate/1"


def test_a_wheel_that_is_not_the_released_one_is_refused(installed: Installation, wheel: Path) -> None:
    wrong = f"slackwater @ {wheel.as_uri()}#sha256={'0' * 64}"
    refused = installed.run("pip", "install", "--no-deps", "--force-reinstall", wrong)

    assert refused.returncode != 0
    assert "DO NOT MATCH THE HASHES" in refused.stderr


def test_an_older_python_says_at_once_what_is_wrong(wheel: Path, tmp_path: Path) -> None:
    python = interpreter("3.11")
    if python is None:
        pytest.skip("Python 3.11 is not on this machine")
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    refused = Installation(tmp_path).run("pip", "install", "--no-deps", str(wheel))

    assert refused.returncode != 0
    assert "requires a different Python: 3.11" in refused.stderr
    assert "not in '>=3.12'" in refused.stderr
