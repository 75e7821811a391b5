"""`make local-service` leaves no addresses behind, and git ignores what the pages tell people to write."""

import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import local_service

ROOT = Path(__file__).parents[3]


def test_the_variables_are_deleted_at_the_end_and_the_policy_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = SimpleNamespace(
        keep_secret=lambda *_: "arn", deploy=lambda *_, **__: None, environment=lambda: {"AWS_ENDPOINT_URL": "http://x"}
    )
    found: list[str] = []

    def interrupted(slack: Any) -> None:
        found.append((tmp_path / "local-service.env").read_text())
        raise KeyboardInterrupt

    for name, fake in {
        "build": lambda _: tmp_path,
        "bundle": lambda *_: None,
        "scratch": lambda: nullcontext(tmp_path),
        "SlackServer": lambda: nullcontext(SimpleNamespace(url="http://slack", secret=dict)),
        "LocalAws": lambda *_: nullcontext(aws),
        "must": lambda *_, **__: "",
        "let_time_pass": lambda *_: None,
        "follow": interrupted,
    }.items():
        monkeypatch.setattr(local_service, name, fake)

    with pytest.raises(KeyboardInterrupt):
        local_service.main(tmp_path)

    assert "AWS_ENDPOINT_URL" in found[0]
    assert [one.name for one in tmp_path.iterdir()] == ["local-service.toml"]


def test_git_ignores_the_policy_that_the_pages_pull() -> None:
    done = subprocess.run(["git", "check-ignore", "--quiet", "deployed.toml"], cwd=ROOT, check=False)

    assert done.returncode == 0
