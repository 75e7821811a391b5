"""The command line, run in this process against a simulated account."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from slackwater_cli.__main__ import main
from slackwater_simulator import Simulator, demo_fleet

NOW = "2026-11-16T09:07:00Z"
REGION = "ap-northeast-1"


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it said where."""

    status: int
    out: str
    err: str


type Run = Callable[..., Result]


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    with Simulator(demo_fleet()) as running:
        yield running


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to be in, and an environment that leads to no AWS account."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_ENDPOINT_URL", "SLACKWATER_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def account(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A healthy simulated account, to which the environment leads."""
    simulator.reset()
    simulator.faults.unthrottle("cloudtrail:LookupEvents")
    monkeypatch.setenv("AWS_ENDPOINT_URL", simulator.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASIMULATED0000000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "simulated")
    return simulator


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line."""

    def run_it(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        said = capsys.readouterr()
        return Result(int(left.value.code or 0), said.out, said.err)

    return run_it


@pytest.fixture
def scan(account: Simulator, run: Run) -> Run:
    """Run `scan` in the account's region, as of its now."""
    return lambda *arguments: run("scan", "--region", REGION, "--now", NOW, *arguments)
