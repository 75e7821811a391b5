"""The GitHub Action scans, fails when it should, and adds findings to the job's summary. Workflows are pinned."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater_cli.simulated import simulated_account

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step.get("id", step.get("name", "setup")): step for step in ACTION["runs"]["steps"]}
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@dataclass(frozen=True)
class Ended:
    status: int
    summary: str
    outputs: dict[str, str]
    log: str


def run(step: str, folder: Path, path: str, inputs: dict[str, str], **environment: str) -> Ended:
    """Run a bash step as GitHub's runner does, with its files."""
    given = {name: one["default"] for name, one in ACTION["inputs"].items()} | inputs
    assert given.keys() == ACTION["inputs"].keys()
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH")}
    for file in files.values():
        file.touch()
    values = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)
        for name, text in STEPS[step].get("env", {}).items()
    }
    assert not any("${{" in text for text in [*values.values(), STEPS[step]["run"]]), "inputs come by environment only"
    runner = {"RUNNER_TEMP": str(folder), "GITHUB_ACTION_PATH": str(ROOT), "HOME": str(folder), "PATH": path}
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]],
        cwd=folder,
        env={**runner, **{name: str(file) for name, file in files.items()}, **values, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return Ended(done.returncode, files["GITHUB_STEP_SUMMARY"].read_text(), outputs, done.stdout + done.stderr)


PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture(scope="module")
def account() -> Any:
    with simulated_account() as simulated:
        yield {
            "AWS_ENDPOINT_URL": simulated.url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "ap-northeast-1",
        }


@pytest.mark.parametrize(("fail_on", "status"), [("", 0), ("high", 1)])
def test_a_scan_leaves_its_findings_in_the_summary(tmp_path: Path, account: Any, fail_on: str, status: int) -> None:
    ended = run("scan", tmp_path, PATH, {"regions": "ap-northeast-1", "fail-on": fail_on}, **account)

    assert (ended.status, ended.outputs["status"]) == (status, str(status)), ended.log
    assert "efs-single-client" in ended.summary
    assert Path(ended.outputs["report"]).read_text() == ended.summary


def test_a_scan_that_did_not_start_says_so_and_fails(tmp_path: Path, account: Any) -> None:
    ended = run("scan", tmp_path, PATH, {"policy": "nowhere.toml"}, **account)

    assert ended.status == int(ended.outputs["status"]) == 2
    assert ended.summary == "Slackwater did not scan: exit status 2. The job's log says why.\n"
    assert "nowhere.toml" in ended.log


def test_a_summary_that_github_would_drop_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "slackwater").write_text(
        '#!/bin/bash\nwhile [ "$1" != --output ]; do shift; done\nyes "| a finding |" | head -c 2000000 > "$2"\n'
    )
    (tmp_path / "slackwater").chmod(0o755)
    ended = run("scan", tmp_path, f"{tmp_path}:{os.environ['PATH']}", {})

    assert ended.status == 0, ended.log
    assert 800_000 < len(ended.summary) < 2**20
    assert "cut off" in ended.summary.splitlines()[-1]


def test_what_an_input_says_is_never_run(tmp_path: Path, account: Any) -> None:
    run("scan", tmp_path, PATH, {"regions": "$(touch pwned)", "policy": "`touch pwned`"}, **account)

    assert not (tmp_path / "pwned").exists()


@pytest.mark.slow
def test_it_installs_itself(tmp_path: Path) -> None:
    script = f'source "{ROOT}/tools/pip_settings.sh"; echo "$index"; echo "$certificates"'
    output = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    index = {name: value for name, value in zip(("PIP_INDEX_URL", "PIP_CERT"), output, strict=True) if value}
    ended = run("Install Slackwater", tmp_path, PATH, {}, **index)

    assert ended.status == 0, ended.log
    (folder,) = (tmp_path / "GITHUB_PATH").read_text().splitlines()
    version = subprocess.run([f"{folder}/slackwater", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == "slackwater 0.1.0\n"


@pytest.mark.parametrize("file", [ROOT / "action.yml", *WORKFLOWS], ids=lambda file: file.name)
def test_other_actions_are_pinned_to_a_commit(file: Path) -> None:
    used = re.findall(r"uses: (.*)", file.read_text())

    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", one)] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_may_only_read_unless_a_job_says_why(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text())

    assert workflow["permissions"] == {"contents": "read"}
    writing = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert writing == ({"release": {"contents": "write"}} if file.name == "release.yml" else {})


def test_one_workflow_runs_ci_and_one_releases() -> None:
    runs = {
        file.stem: [
            step["run"]
            for job in yaml.safe_load(file.read_text())["jobs"].values()
            for step in job["steps"]
            if "run" in step
        ]
        for file in WORKFLOWS
    }

    assert runs["ci"][0] == ".ci/run"
    assert runs["release"][0] == "make release"
