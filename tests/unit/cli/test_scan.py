"""`slackwater scan`, from its options to its exit status."""

import csv
import json
import os
import re
import socket
import stat
import tempfile
import threading
import time
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from slackwater.views.scan import to_json as scan_json
from slackwater_cli.commands.scan import status
from slackwater_cli.exits import ExitStatus
from slackwater_simulator import Simulator, hostile_fleet

QUIET = ("--detector", "efs-idle")
"""One detector, so that a scan is quick."""


def test_a_complete_scan_leaves_with_0_and_only_the_document_on_standard_output(scan) -> None:
    done = scan("--format", "json")

    document = json.loads(done.out)
    Draft202012Validator(scan_json.schema()).validate(document)
    assert (done.status, document["scan"]["complete"]) == (0, True)
    assert {finding["detector"] for finding in document["findings"]} >= {
        "efs-idle",
        "ebs-unattached",
        "fsx-sync-export",
    }
    assert f"${Decimal(document['totals']['waste_monthly_savings_usd']):,.0f} a month (" in done.err


def test_every_request_is_in_the_document(scan, account) -> None:
    document = json.loads(scan("--format", "json").out)

    assert document["scan"]["usage"]["api_calls"] == {
        k: n for k, n in account.calls.items() if not k.startswith("sts:")
    } | {"sts:GetCallerIdentity": 1}
    assert document["scan"]["usage"]["metrics_requested"] == account.metrics_requested


def test_the_table_is_plain_text_when_nobody_looks(scan) -> None:
    done = scan(*QUIET)

    assert done.status == 0
    assert "\x1b" not in done.out
    assert " with high confidence) in 5 findings." in done.out.splitlines()[0]
    assert done.err == ""


def test_the_inventory_of_a_scan_beside_it_is_left_alone(scan, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    another = tmp_path / "slackwater-another/stock.sqlite"
    another.parent.mkdir()
    another.touch()

    assert scan(*QUIET).status == 0
    assert another.exists()


@pytest.mark.parametrize(("level", "status"), [("high", 0), ("medium", 1), ("low", 1), ("info", 1)])
def test_fail_on_is_met_by_findings_at_least_as_severe(level: str, status: int, scan) -> None:
    assert scan(*QUIET, "--fail-on", level).status == status


def test_what_is_denied_makes_the_scan_incomplete_and_that_wins_over_fail_on(scan, account) -> None:
    account.faults.deny("fsx:DescribeVolumes")

    done = scan("--format", "json", "--fail-on", "low")

    document = json.loads(done.out)
    assert done.status == 3
    assert document["findings"]
    assert [(gap["what"], gap["optional"]) for gap in document["scan"]["gaps"]] == [("fsx:DescribeVolumes", False)]
    assert "INCOMPLETE" in done.err
    assert "fsx:DescribeVolumes: AccessDenied" in done.err


def test_a_quiet_scan_still_says_that_it_is_incomplete(scan, account) -> None:
    account.faults.deny("fsx:DescribeVolumes")

    done = scan("--quiet", "--format", "csv")

    assert done.status == 3
    assert done.err.startswith("INCOMPLETE: ")
    assert len(done.err.splitlines()) == 1


def test_metrics_over_the_limit_are_one_gap_and_optional_gaps_are_labelled(scan, account, nowhere) -> None:
    account.faults.deny("pricing:GetProducts")
    (nowhere / "low.toml").write_text("[scan]\nmost_metrics_usd = 0.0001\n")

    done = scan("--policy", "low.toml", "--format", "csv")

    assert done.status == 3
    assert (
        "; the ceiling of 0.0001 USD on metrics is reached (scan.most_metrics_usd in the policy raises it).\n"
        in done.err
    )
    (held,) = [line for line in done.err.splitlines() if "cloudwatch:GetMetricData" in line]
    assert held.startswith("  ap-northeast-1: cloudwatch:GetMetricData: scan.most_metrics_usd would be passed: ")
    assert " of 0.0001 USD were spent (" in held
    assert "  ap-northeast-1: pricing:GetProducts (optional): " in done.err


def test_the_table_shows_the_gap_itself(scan, account) -> None:
    account.faults.deny("elasticfilesystem:DescribeFileSystems")

    done = scan(*QUIET)

    assert done.status == 3
    assert done.out.splitlines()[0] == "INCOMPLETE: nothing can be said; 1 required call failed."
    assert "elasticfilesystem:DescribeFileSystems: AccessDeniedException" in done.out


def test_prices_that_may_not_be_read_are_a_gap_that_does_not_matter(scan, account) -> None:
    account.faults.deny("pricing:GetProducts")

    done = scan(*QUIET, "--format", "json")

    assert done.status == 0
    assert [gap["optional"] for gap in json.loads(done.out)["scan"]["gaps"]] == [True]


def test_csv_from_an_account_with_hostile_names_holds_no_formula(run, account, monkeypatch: pytest.MonkeyPatch) -> None:
    with Simulator(hostile_fleet()) as hostile:
        monkeypatch.setenv("AWS_ENDPOINT_URL", hostile.url)
        done = run("scan", "--region", "ap-northeast-1", "--now", "2026-11-16T09:07:00Z", "--format", "csv")

    rows = list(csv.DictReader(StringIO(done.out)))
    assert "'=cmd|'/c calc'!A1" in [row["name"] for row in rows]
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_markdown_is_written_to_standard_output(scan) -> None:
    assert scan(*QUIET, "--format", "markdown").out.startswith("# ")


def test_the_report_is_a_page_of_its_own(scan, nowhere: Path) -> None:
    done = scan(*QUIET, "--format", "html", "--output", "report.html")

    assert done.out == ""
    assert " a month" in done.err
    page = (nowhere / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert 'data-detector="efs-idle"' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "slack"], "--format 'slack': there are table, json, csv, html, markdown"),
        (["--top", "-1"], "--top"),
        (["--top", "5", "--format", "json"], "--top goes with --format table"),
        (["--output", ""], "--output: names no file; - is standard output"),
        (["--region", "atlantis"], "--region: no region 'atlantis'; aws ec2 describe-regions --all-regions lists them"),
        (["--external-id", "x"], "--external-id goes with --role-arn"),
        (["--role-arn", "arn:aws:iam::1:user/x"], "a role's ARN looks like"),
        (["--now", "2026-11-16T09:00:00"], "not a time with an offset"),
        (["--now", "2026-11-16"], "not a time with an offset"),
        (["--now", "2026-13-16T09:00:00Z"], "not a time with an offset"),
        (["--now", "0001-01-01T00:00:00Z"], "before there was any AWS"),
        (["--now", "9999-12-31T23:59:59-14:00"], "not a time with an offset"),
        (["--detector", "efs-idel"], "--detector: efs-idel: no such detector; did you mean efs-idle?"),
        (["--policy", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["--output", "no/such/folder/x"], "--output no/such/folder/x: cannot be written: No such file or directory"),
        (["--output", "."], "--output .: cannot be written: Is a directory"),
        (["--region", "us-esat-1"], "--region: no region 'us-esat-1'; did you mean us-east-1?"),
        (["--all-regions"], "--region and --all-regions exclude each other"),
        (["--fail-on", "severe"], "--fail-on 'severe': there are high, medium, low, info\n"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_usage_leaves_with_2_and_nothing_on_standard_output(
    arguments: list[str], message: str, scan, account
) -> None:
    done = scan(*arguments)

    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert not {action for action in account.calls if not action.startswith(("sts:", "ec2:DescribeRegions"))}


def test_a_time_in_the_future_is_reported(scan) -> None:
    assert "lies in the future" in scan(*QUIET, "--now", "2126-11-16T09:00:00Z").err


def test_a_time_with_an_offset_is_meant_as_it_is_written(scan) -> None:
    in_utc, in_tokyo = (
        scan(*QUIET, "--format", "json"),
        scan(*QUIET, "--format", "json", "--now", "2026-11-16T18:07:00+09:00"),
    )

    assert json.loads(in_utc.out)["findings"] == json.loads(in_tokyo.out)["findings"]


def test_without_credentials_it_leaves_with_4_and_says_what_to_do(run) -> None:
    done = run("scan", "--region", "us-east-1")

    assert (done.status, done.out) == (4, "")
    assert "aws configure" in done.err


def test_a_misspelt_region_is_reported_before_missing_credentials(run) -> None:
    done = run("scan", "--region", "us-esat-1")

    assert done.status == 2
    assert "did you mean us-east-1?" in done.err


def test_an_unknown_profile_leaves_with_4(run) -> None:
    done = run("scan", "--region", "us-east-1", "--profile", "nobody")

    assert done.status == 4
    assert "aws configure list-profiles" in done.err


def test_an_endpoint_where_nobody_is_leaves_with_4(scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    done = scan()

    assert done.status == 4
    assert "AWS_ENDPOINT_URL" in done.err


def test_an_expired_token_leaves_with_4_and_says_how_to_sign_in(scan, account) -> None:
    account.faults.error("sts:GetCallerIdentity", "ExpiredToken", 403)

    done = scan()

    assert done.status == 4
    assert "aws sso login" in done.err


def test_a_role_that_may_not_be_assumed_leaves_with_4(scan, account) -> None:
    account.faults.deny("sts:AssumeRole")

    done = scan("--role-arn", "arn:aws:iam::123456789012:role/Audit")

    assert done.status == 4
    assert "trust policy" in done.err


def test_an_error_of_ours_leaves_with_70_and_how_to_report_it(scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater_cli.run.scan_into", lambda *_, **__: {}["oops"])

    short = scan()
    monkeypatch.setenv("SLACKWATER_DEBUG", "1")
    long = scan()

    assert (short.status, long.status) == (70, 70)
    assert "KeyError: 'oops'" in short.err
    assert "SLACKWATER_DEBUG=1" in short.err
    assert "Traceback" not in short.err
    assert "Traceback" in long.err


def test_no_region_at_all_is_wrong_usage(run, account) -> None:
    done = run("scan")

    assert done.status == 2
    assert "--region" in done.err
    assert "AWS_REGION" in done.err


def scanned(text: str) -> list[str]:
    return [target["region"] for target in json.loads(text)["scan"]["targets"]]


def test_regions_come_from_the_options_else_the_policy_else_the_environment(
    run, account, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    common = ("scan", "--format", "json", *QUIET)
    assert scanned(run(*common).out) == ["us-west-2"]

    (nowhere / "slackwater.toml").write_text('[scan]\nregions = ["eu-west-1", "eu-central-1"]\n', "utf-8")
    by_policy = run(*common)
    assert scanned(by_policy.out) == ["eu-west-1", "eu-central-1"]
    assert by_policy.err.startswith("Policy: ./slackwater.toml\n")

    assert scanned(run(*common, "--region", "us-east-1", "--region", "us-east-1").out) == ["us-east-1"]


def test_an_organization_in_the_policy_is_reported_as_only_for_the_service(scan, nowhere: Path) -> None:
    policy = nowhere / "slackwater.toml"
    policy.write_text('[organization]\naccounts = ["444455556666"]\n', "utf-8")
    done = scan("--format", "json", *QUIET)
    (target,) = json.loads(done.out)["scan"]["targets"]
    assert done.status == 0
    assert (
        "\nThe policy's [organization] is for the deployed service: this looks at account"
        f" {target['account']} alone.\n" in done.err
    )

    policy.write_text("[organization]\n", "utf-8")
    assert "[organization]" not in scan(*QUIET).err


def test_all_regions_are_those_that_the_account_has_enabled(run, account) -> None:
    done = run("scan", "--all-regions", "--format", "json", *QUIET)

    assert done.status == 0
    assert {"ap-northeast-1", "us-east-1", "eu-west-1"} < set(scanned(done.out))
    assert account.calls["ec2:DescribeRegions"] == 1
    assert account.calls["sts:GetCallerIdentity"] == 1


def test_a_region_newer_than_this_version_is_asked_about(run, account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.aws.client.regions.enabled_regions", lambda _session: ["ap-planned-1"])

    assert scanned(run("scan", "--region", "ap-planned-1", "--format", "json", *QUIET).out) == ["ap-planned-1"]
    assert run("scan", "--region", "ap-planned-2").status == 2


def test_all_regions_without_the_right_to_list_them_leaves_with_4(run, account) -> None:
    account.faults.deny("ec2:DescribeRegions")

    assert run("scan", "--all-regions").status == 4


def test_an_unknown_region_in_the_policy_is_reported_with_its_line(scan, nowhere: Path) -> None:
    (nowhere / "mine.toml").write_text('[scan]\nregions = ["eu-wset-1"]\n', "utf-8")

    done = scan("--policy", "mine.toml")

    assert done.status == 2
    assert "mine.toml:2: scan.regions: no region 'eu-wset-1'; did you mean eu-west-1?" in done.err


def test_output_is_a_file_in_full_and_standard_output_stays_empty(scan, nowhere: Path) -> None:
    file = nowhere / "scan.json"
    file.write_text("old", "utf-8")
    file.chmod(0o640)

    done = scan(*QUIET, "--format", "json", "--output", "scan.json")

    assert (done.status, done.out) == (0, "")
    assert json.loads(file.read_text("utf-8"))["findings"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in nowhere.iterdir()] == ["scan.json"]


def test_a_table_in_a_file_is_plain(scan, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    scan(*QUIET, "--output", "scan.txt")

    assert " a month" in (nowhere / "scan.txt").read_text("utf-8")
    assert "\x1b" not in (nowhere / "scan.txt").read_text("utf-8")


def test_when_the_scan_cannot_be_made_the_old_file_stays_and_no_draft_is_left(scan, account, nowhere: Path) -> None:
    (nowhere / "scan.json").write_text("old", "utf-8")
    account.faults.error("sts:GetCallerIdentity", "ExpiredToken", 403)

    assert scan("--output", "scan.json").status == 4

    assert [path.name for path in nowhere.iterdir()] == ["scan.json"]
    assert (nowhere / "scan.json").read_text("utf-8") == "old"


def test_a_link_keeps_its_place_and_its_target_is_written(scan, nowhere: Path) -> None:
    (nowhere / "reports").mkdir()
    (nowhere / "latest").symlink_to("reports/today")

    scan(*QUIET, "--output", "latest")

    assert (nowhere / "latest").is_symlink()
    assert " a month" in (nowhere / "reports/today").read_text("utf-8")


def test_a_pipe_is_written_to_and_not_replaced(scan, nowhere: Path) -> None:
    os.mkfifo(nowhere / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((nowhere / "pipe").read_text("utf-8")), daemon=True)
    reader.start()

    assert scan(*QUIET, "--output", "pipe").status == 0

    assert (nowhere / "pipe").is_fifo()
    reader.join()
    assert " a month" in read[0]


def test_a_file_that_may_not_be_written_is_reported_before_the_scan(
    scan, account, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / "scan.json").touch()
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)

    done = scan("--output", "scan.json")

    assert done.status == 2
    assert "--output scan.json: cannot be written: Permission denied" in done.err
    assert account.calls == {}


def test_the_environments_detectors_are_the_policys(scan, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text("[detectors.efs-idle]\nenabled = false\n", "utf-8")

    document = json.loads(scan("--format", "json").out)

    assert "efs-idle" not in document["totals"]["by_detector"]
    assert "ebs-unattached" in document["totals"]["by_detector"]


def test_choices_may_be_written_in_any_case(scan) -> None:
    done = scan(*QUIET, "--format", "JSON", "--fail-on", "Low")

    assert json.loads(done.out)["findings"]
    assert done.status == 1


def test_a_dash_is_standard_output(scan, nowhere: Path) -> None:
    assert json.loads(scan(*QUIET, "--format", "json", "--output", "-").out)["findings"]
    assert list(nowhere.iterdir()) == []


def test_the_table_shows_as_many_findings_as_are_asked_for(scan) -> None:
    few, all_ = scan(*QUIET, "--top", "2").out, scan(*QUIET, "--top", "0").out

    assert len(re.findall(r"~?\$\S+ +efs-idle ", few)) == 2
    assert re.search("--top 0 +the other 3 findings", few)
    assert len(re.findall(r"~?\$\S+ +efs-idle ", all_)) == 5
    assert "--top 0" not in all_


def test_a_command_line_that_is_wrong_names_what_to_try(run) -> None:
    assert run("scan", "--json").err == "Error: No such option: --json. Try `slackwater scan --format json`.\n"
    assert run("scan", "--xyz").err == "Error: No such option: --xyz. Try `slackwater scan --help`.\n"


@pytest.mark.parametrize("group", [(), ("findings",)])
def test_without_a_command_the_help_is_no_error(group: tuple[str, ...], run) -> None:
    bare, asked = run(*group), run(*group, "--help")

    assert (bare.status, bare.out, bare.err.rstrip()) == (2, "", asked.out.rstrip())


def test_the_hints_at_the_end_repeat_what_was_asked_for(
    scan, run, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nowhere / "my rules.toml").write_text("", "utf-8")
    now, shown = "2026-11-16T09:07:00Z", ("--top", "0", "--format", "table")
    narrow = scan(*QUIET, "--policy", "my rules.toml", *shown).out
    monkeypatch.setenv("AWS_REGION", "ap-northeast-1")
    monkeypatch.setenv("COLUMNS", "120")
    wide = run("scan", "--now", now, *QUIET, *shown, "--details").out

    again = f"slackwater scan --region ap-northeast-1 --detector efs-idle --policy 'my rules.toml' --now {now}"
    assert narrow.partition("\nNext")[2].startswith(f": add to {again}\n  --details  ")
    html = f"slackwater scan --detector efs-idle --now {now} --format html -o report.html"
    assert wide.endswith(f"\nNext\n  {html}  a report\n")


def test_a_wrong_region_is_reported_with_all_other_mistakes(scan, nowhere: Path) -> None:
    (nowhere / "mine.toml").write_text('[scan]\nregions = ["eu-wset-1"]\n[detectors.efs-idel]\n', "utf-8")

    message = scan("--policy", "mine.toml", "--detector", "efs-idel").err

    assert [line.split(" ")[1] for line in message.splitlines()] == ["--detector:", "mine.toml:2:", "mine.toml:3:"]


def test_help_names_every_exit_status_on_a_line_of_its_own_and_no_type_of_a_flag(run) -> None:
    message = run("scan", "--help").out

    lines = [line.strip() for line in message.splitlines()]
    for number in (0, 1, 2, 3, 4, 70, 130):
        assert any(line.startswith(f"{number} ") for line in lines)
    assert "bool" not in message


def test_what_is_for_people_shows_the_worst_findings_and_says_how_many_more_there_are(
    scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slackwater.views.report.REPORT_FINDINGS", 3)

    all_, few, markdown = (
        scan(*QUIET, "--top", "0").out,
        scan(*QUIET, "--top", "1").out,
        scan(*QUIET, "--format", "markdown").out,
    )
    assert len(re.findall(r"~?\$\S+ +efs-idle ", all_)) == 3
    assert "--top 0" not in all_
    assert re.search("--format csv -o findings.csv +all 5 findings", all_)
    assert re.search("--top 0 +the worst 3 findings", few)
    assert "5 findings" in markdown
    assert "These are the 3 most severe." in markdown
    assert markdown.count("\n### ") == 3
    assert "3 of 5 findings are shown" in scan(*QUIET, "--format", "html").out
    assert len(scan(*QUIET, "--format", "csv").out.splitlines()) == 1 + 5
    assert len(json.loads(scan(*QUIET, "--format", "json").out)["findings"]) == 5


def test_regions_are_shown_in_the_order_in_which_they_are_named(scan, account) -> None:
    done = scan(*QUIET, "--region", "us-east-1", "--region", "eu-west-1", "--format", "json")

    targets = [target["region"] for target in json.loads(done.out)["scan"]["targets"]]
    assert targets[-2:] == ["us-east-1", "eu-west-1"]


def test_a_scan_whose_every_region_is_disabled_is_not_complete() -> None:
    target = {"account": "123456789012", "region": "eu-south-1", "complete": True}
    doc = {"scan": {"complete": True, "targets": [target | {"closed": True}]}, "findings": []}

    assert status(doc, None) is ExitStatus.INCOMPLETE
    assert status(doc | {"scan": {"complete": True, "targets": [target]}}, None) is ExitStatus.COMPLETE


def test_a_silent_endpoint_fails_soon_and_the_command_says_what_it_waits_for(
    scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slackwater_cli.slow.SLOW_S", 0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        begun = time.monotonic()
        done = scan()

    assert done.status == 4
    assert "Waiting for AWS STS in ap-northeast-1 at http://127.0.0.1:" in done.err
    assert time.monotonic() - begun < 30, "60 seconds are one attempt of a patient session"


def test_a_scan_shows_one_resource_in_detail(scan) -> None:
    done = scan(*QUIET, "--resource", "reports-2024")

    assert done.status == 0
    assert "efs-idle  severity medium" in done.out
    assert done.out.count("https://") == 1, "a link to the console"


def test_what_is_inconclusive_or_not_listed_for_a_resource_is_shown(scan, nowhere: Path) -> None:
    document = json.loads(scan("--format", "json").out)
    unknown = document["unknown"][0]
    (nowhere / "slackwater.toml").write_text("[scan]\nminimum_monthly_savings_usd = 100000\n", "utf-8")

    inconclusive = " ".join(scan("--resource", unknown["resource"]["id"]).out.split())
    assert f"Inconclusive: {unknown['detector']}: {unknown['reason']}" in inconclusive
    left_out = scan(*QUIET, "--resource", "reports-2024").out
    assert "Not listed: efs-idle: saves less than the policy's minimum" in left_out


def test_an_incomplete_scan_of_one_resource_says_what_it_could_not_read(scan, account) -> None:
    account.faults.deny("elasticfilesystem:DescribeFileSystems")
    done = scan(*QUIET, "--resource", "reports-2024")

    assert done.status == 3
    assert "The scan says nothing about a resource reports-2024 in what could be read." in done.out
    assert "elasticfilesystem:DescribeFileSystems" in done.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("reports-2024", "--format", "json"), "--resource goes with --format table"),
        (("reports-2024", "--details"), "leave out --details and --top"),
        (("reports-2024", "--top", "3"), "leave out --details and --top"),
        (("",), "--resource: names no resource"),
    ],
)
def test_one_resource_does_not_go_with(options: tuple[str, ...], says: str, scan) -> None:
    done = scan(*QUIET, "--resource", *options)

    assert (done.status, done.out) == (2, "")
    assert says in done.err
