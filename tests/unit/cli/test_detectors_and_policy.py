"""`slackwater detectors`, `slackwater policy`, the generated pages."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.offline import configured_region, packaged_regions
from slackwater.aws.client.regions import known_regions
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.engine.registry import documentation, registry
from slackwater.views.docs.detector_page import render_page
from slackwater_cli import VERSION


@pytest.mark.parametrize("arguments", [("detectors",), ("detectors", "list")])
def test_detectors_are_listed(arguments: tuple[str, ...], run) -> None:
    done = run(*arguments)

    assert done.status == 0
    for id_, detector in registry().items():
        assert any(line.startswith(id_) and detector.kind in line for line in done.out.splitlines())


def test_a_detector_among_the_commands_is_not_a_misspelt_command(run) -> None:
    done = run("detectors", "efs-cold-data")

    assert done.err == "Error: efs-cold-data is a detector: use `slackwater detectors show efs-cold-data`\n"
    assert done.status == 2
    assert run("detectors", "efs").err == "Error: No such command 'efs'. Try `slackwater detectors --help`.\n"


def test_a_detector_shows_its_page_with_its_worked_cases(run) -> None:
    assert run("detectors", "show", "efs-idle").out == render_page(
        "efs-idle", registry()["efs-idle"], documentation("efs-idle"), cases=True
    )


def test_an_unknown_detector_is_wrong_usage(run) -> None:
    done = run("detectors", "show", "efs-idel")

    assert (done.status, done.out) == (2, "")
    assert "did you mean efs-idle?" in done.err


def test_a_valid_policy_is_confirmed_without_calling_aws(run, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nowhere / "mine.toml").write_text(
        "[detectors.efs-idle]\nenabled = false\n[scan]\nregions = ['eu-west-1']\n", "utf-8"
    )
    monkeypatch.setenv("AWS_PROFILE", "nobody")

    done = run("policy", "check", "mine.toml")

    assert done.status == 0
    of = len(registry())
    assert (
        done.out == f"mine.toml: valid; {of - 2} of {of} detectors are enabled (disabled: efs-abandoned, efs-idle).\n"
    )


def test_with_a_tag_of_jobs_all_detectors_are_on(run, nowhere: Path) -> None:
    (nowhere / "mine.toml").write_text("[detectors.efs-abandoned]\ntag = 'Job'\n", "utf-8")

    assert (
        run("policy", "check", "mine.toml").out
        == f"mine.toml: valid; {len(registry())} of {len(registry())} detectors are enabled.\n"
    )


def test_a_wrong_policy_leaves_with_2_and_one_line_for_each_problem(run, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text("[detectors.efs-idel]\n[scan]\nregion = 1\n", "utf-8")

    done = run("policy", "check")

    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines() == [
        "Error: slackwater.toml:1: detectors.efs-idel: no such detector; did you mean efs-idle?",
        "Error: slackwater.toml:3: scan.region: no such key; did you mean regions?",
    ]


def test_a_policy_with_an_unknown_region_is_wrong(run, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text("[scan]\nregions = ['eu-wset-1']\n", "utf-8")

    assert run("policy", "check").status == 2


def test_a_role_whose_trust_policy_nobody_can_look_up_is_doubtful_as_one_person(run, nowhere: Path) -> None:
    session = "arn:aws:sts::123456789012:assumed-role/Ops/ada"
    (nowhere / "slackwater.toml").write_text(f'[api]\ndeciders = ["{session}"]\n', "utf-8")

    done = run("policy", "check")

    assert done.status == 0
    assert (
        "api.deciders[1]: does not identify one person: "
        "anyone who can assume Ops chooses the session name, unless its trust" in done.err
    )


@pytest.mark.parametrize(
    ("condition", "warned"), [({}, True), ({"StringEquals": {"sts:RoleSessionName": "ada"}}, False)]
)
def test_a_session_is_one_person_where_the_roles_trust_policy_pins_its_name(
    run, nowhere: Path, monkeypatch: pytest.MonkeyPatch, condition: dict[str, Any], warned: bool
) -> None:
    trust = {
        "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole", "Condition": condition}
        ]
    }
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIADUMMY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dummy")
    monkeypatch.setattr("slackwater.aws.client.identity.identity", lambda _: SimpleNamespace(account="123456789012"))
    monkeypatch.setattr("slackwater.aws.deployment.trust.trust_policy", lambda _, role: {"Ops": trust}[role])
    session = "arn:aws:sts::123456789012:assumed-role/Ops/ada"
    (nowhere / "slackwater.toml").write_text(f'[api]\ndeciders = ["{session}"]\n', "utf-8")

    done = run("policy", "check")

    assert ("anyone who can assume Ops chooses the session name" in done.out + done.err) is warned


def test_a_policy_check_says_that_it_waits_for_aws_and_stops_asking_what_gives_no_answer(
    run, nowhere: Path, hangs_up, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slackwater_cli.slow.SLOW_S", 0)
    for name, value in (("ACCESS_KEY_ID", "AKIADUMMY"), ("SECRET_ACCESS_KEY", "dummy"), ("ENDPOINT_URL", hangs_up.url)):
        monkeypatch.setenv(f"AWS_{name}", value)
    sessions = [f"arn:aws:sts::123456789012:assumed-role/{role}/ada" for role in ("Ops", "Dev")]
    (nowhere / "slackwater.toml").write_text(f"[api]\ndeciders = {json.dumps(sessions)}\n", "utf-8")

    done = run("policy", "check")

    shown = done.err.splitlines()
    assert done.status == 0
    assert shown[0] == f"Waiting for AWS at {hangs_up.url} to read the trust policy of Ops …"
    assert [line.split(": ")[:3] for line in shown[1:]] == [
        ["Warning", "slackwater.toml:2", f"api.deciders[{n}]"] for n in (1, 2)
    ]
    assert hangs_up.connections == 2, "two attempts for the first role, none for the second"


def test_a_valid_policy_is_shown_with_its_warnings(run, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text("[cleanup]\nregions = ['eu-west-1']\n[detectors.efs-idle]\n", "utf-8")

    done = run("policy", "check")

    assert (done.status, done.out.split(";")[0]) == (0, "slackwater.toml: valid")
    assert done.err == (
        "Warning: slackwater.toml:1: cleanup: nobody can approve anything until you set accounts, resource_types, "
        "detectors, approvers or approver_identities\n"
    )


def test_the_policys_schema_is_json_schema(run) -> None:
    schema = json.loads(run("policy", "schema").out)

    Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) >= {"detectors", "scan", "exempt", "prices", "owners"}


def test_the_version_is_shown(run) -> None:
    done = run("--version")

    assert (done.status, done.out.split()[0]) == (0, "slackwater")


def test_the_docs_hold_a_page_for_each_detector_and_one_that_leads_there(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "slackwater_cli.docs", str(tmp_path / "docs")], check=True)

    assert {path.name for path in (tmp_path / "docs").iterdir()} == {
        "README.md",
        "cases.md",
        *(f"{id_}.md" for id_ in registry()),
    }
    assert (tmp_path / "docs/efs-idle.md").read_text("utf-8").startswith("# efs-idle\n")


@pytest.mark.parametrize("group", ["", "detectors", "findings", "audits", "policy"])
def test_summaries_of_commands_fit_80_columns(group: str, run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    output = run(*group.split(), "--help").out

    assert "Commands:" in output
    assert "..." not in output.partition("Commands:")[2]


@pytest.mark.parametrize(
    "command", ["findings list", "findings snooze", "findings dismiss", "findings reopen", "policy push"]
)
def test_help_says_with_which_status_a_command_leaves(command: str, run) -> None:
    assert "\n  Exit status:\n  0 " in run(*command.split(), "--help").out


def test_a_policy_check_for_programs_has_problems_and_warnings(run, nowhere: Path) -> None:
    policy = nowhere / "slackwater.toml"
    policy.write_text("[detectors.efs-idel]\n", "utf-8")
    wrong = run("policy", "check", "--format", "json")
    policy.write_text("[cleanup]\nregions = ['eu-west-1']\n", "utf-8")
    good, strict = (run("policy", "check", "--format", "json", *more) for more in ((), ("--strict",)))

    (problem,) = json.loads(wrong.out)["problems"]
    assert (wrong.status, problem["line"], problem["key"]) == (2, 1, "detectors.efs-idel")
    assert (good.status, json.loads(good.out)["valid"], strict.status) == (0, True, 2)
    assert json.loads(good.out)["warnings"]


def test_a_strict_policy_check_does_not_call_good_what_it_refuses(run, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text("[cleanup]\nregions = ['eu-west-1']\n", "utf-8")
    plain, strict = run("policy", "check"), run("policy", "check", "--strict")

    assert (plain.status, strict.status) == (0, 2)
    assert "slackwater.toml: valid; " in plain.out
    assert "slackwater.toml: refused by --strict, because of " in strict.out


def test_a_detectors_page_has_no_html_entities(run) -> None:
    assert not [id_ for id_ in registry() if "&lt;" in run("detectors", "show", id_).out]


def test_every_command_has_the_usual_options(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    short, long = run("-h"), run("--help")
    assert short.out == long.out
    assert run("-V").out == run("--version").out
    assert "did you mean" in run("scna").err.lower()
    assert run("scna").err.startswith("Error: ")
    assert "--quiet" in run("cleanup", "plan", "-h").out
    groups = ([], ["cleanup"], ["findings"], ["audits"], ["policy"], ["slack"], ["detectors"], ["recording"])
    pages = [run(*group, "--help").out for group in groups]
    assert max(len(line) for page in pages for line in page.splitlines()) <= 80
    assert not [line for page in pages for line in page.splitlines()[1:] if line.endswith("...")]


def test_the_version_is_the_distributions() -> None:
    assert version("slackwater") == VERSION


def test_regions_are_those_of_botocore_though_it_is_not_imported() -> None:
    endpoint = Endpoint("http://127.0.0.1:0", "", "")

    assert packaged_regions() == known_regions(AwsSession(meter=CallMeter(), endpoint=endpoint))


@pytest.mark.parametrize(
    ("environment", "region"),
    [
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, "eu-west-2"),
        ({}, "eu-west-3"),
        ({"AWS_PROFILE": "other"}, "eu-north-1"),
        ({"AWS_PROFILE": "nobody"}, None),
    ],
)
def test_the_configured_region_is_the_one_botocore_finds(
    environment: dict[str, str], region: str | None, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / "config").write_text("[default]\nregion = eu-west-3\n[profile other]\nregion = eu-north-1\n", "utf-8")
    for name, value in ({"AWS_CONFIG_FILE": str(nowhere / "config")} | environment).items():
        monkeypatch.setenv(name, value)

    assert configured_region() == region
    if region:
        assert AwsSession(meter=CallMeter()).region == region


def test_an_offline_estimate_does_not_import_botocore() -> None:
    code = (
        "import sys; from slackwater_cli.__main__ import main\n"
        "try: main(['estimate', 'efs-credits', '--offline', '--region', 'us-east-1', '--write-per-day', '10GiB'])\n"
        "except SystemExit as left: sys.exit(left.code or ('botocore.session' in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["scna"]])
def test_help_and_mistakes_import_neither_the_sdk_nor_what_reads_options(arguments: list[str]) -> None:
    code = (
        "import sys; from slackwater_cli.__main__ import main\n"
        f"try: main({arguments})\n"
        "except SystemExit: sys.exit(bool({'botocore', 'rich.console', 'slackwater.engine.registry', "
        "'pydantic'} & {*sys.modules}))"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
