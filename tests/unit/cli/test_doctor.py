"""`slackwater doctor`."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from slackwater.engine.registry import registry
from slackwater.model.access import Answer, Check, Examination, Need, Refusal
from slackwater_cli.doctor_table import draw_examination

REGION = "ap-northeast-1"


@pytest.fixture
def doctor(account, run):
    return lambda *arguments: run("doctor", "--region", REGION, *arguments)


def test_a_caller_who_may_read_everything_gets_a_confirmation(doctor) -> None:
    done = doctor()

    assert done.status == 0
    assert done.out.splitlines()[:3] == [
        "Ready: a scan would see everything required.",
        "Asked by arn:aws:iam::123456789012:user/simulated,",
        f"in account 123456789012 (partition aws), in 1 region: {REGION}.",
    ]
    assert "allowed      fsx:DescribeVolumes\n" in done.out
    assert "Statement" not in done.out
    assert "for about 0.00001 USD" in done.err


def test_without_credentials_the_metadata_service_is_asked_for_them_once(
    run, hangs_up, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", hangs_up.url)

    done = run("doctor", "--region", REGION)

    assert done.status == 4
    assert done.err.startswith("Checking your AWS credentials and permissions …\n")
    assert "Error: No AWS credentials found: " in done.err
    assert hangs_up.connections == 2, "one for a token, one for the role"


def test_what_is_required_and_denied_comes_first_with_whom_it_blinds_and_what_would_close_it(doctor, account) -> None:
    account.faults.deny("fsx:DescribeVolumes")
    account.faults.deny("cloudtrail:LookupEvents")

    done = doctor()

    assert done.status == 3
    assert done.out.startswith("NOT READY: a scan would be incomplete. Not allowed: 1 required action.\n")
    wanted = [
        "DENIED       fsx:DescribeVolumes\n             Required: without it fsx-sync-export cannot judge",
        "is not authorized to perform: fsx:DescribeVolumes",
        "DENIED       cloudtrail:LookupEvents\n             Optional: without it ebs-unattached can say less.\n",
        "allowed      cloudwatch:GetMetricData",
    ]
    assert sorted(wanted, key=done.out.index) == wanted
    statement = json.loads(done.out[done.out.index("{") :])
    assert statement["Action"] == ["cloudtrail:LookupEvents", "fsx:DescribeVolumes"]


def test_without_something_optional_a_scan_is_still_whole(doctor, account) -> None:
    account.faults.deny("pricing:GetProducts")

    done = doctor()

    assert done.status == 0
    assert done.out.startswith("Ready: a scan would see everything required, but not 1 optional action.\n")
    assert "without it prices come from the snapshot" in done.out


def test_json_has_the_same_content(doctor, account) -> None:
    account.faults.deny("fsx:DescribeVolumes")

    done = doctor("--format", "json", "--region", "us-east-1")
    document = json.loads(done.out)

    assert done.status == 3
    assert document["schema"] == "slackwater.doctor/1"
    assert document["caller"] == {
        "account": "123456789012",
        "arn": "arn:aws:iam::123456789012:user/simulated",
        "partition": "aws",
        "role": None,
    }
    assert document["regions"] == [REGION, "us-east-1"]
    assert document["ready"] is False
    refused = [check for check in document["checks"] if check["access"] == "denied"]
    assert [(check["action"], check["region"], check["optional"], check["blind"]) for check in refused] == [
        ("fsx:DescribeVolumes", REGION, False, ["fsx-sync-export"]),
        ("fsx:DescribeVolumes", "us-east-1", False, ["fsx-sync-export"]),
    ]
    assert document["statement"]["Action"] == ["fsx:DescribeVolumes"]


def test_what_the_policy_turns_off_needs_nothing(doctor, account, nowhere: Path) -> None:
    of_fsx = (id_ for id_ in registry() if id_.startswith("fsx-"))
    (nowhere / "mine.toml").write_text("".join(f"[detectors.{id_}]\nenabled = false\n" for id_ in of_fsx), "utf-8")
    account.faults.deny("fsx:DescribeVolumes")

    done = doctor("--policy", "mine.toml")

    assert done.status == 0
    assert "fsx:" not in done.out


def test_the_role_that_would_scan_is_the_one_that_is_asked(run, account, nowhere: Path) -> None:
    role = ("--role-arn", "arn:aws:iam::123456789012:role/slackwater-audit")

    stranger, auditor = (
        run("doctor", "--region", REGION, *role, *more) for more in ((), ("--external-id", "tide-table"))
    )

    assert (stranger.status, stranger.out) == (4, "")
    assert "may not be assumed" in stranger.err
    assert auditor.status == 0


@pytest.mark.parametrize(
    ("arn", "role"),
    [
        ("arn:aws:sts::123456789012:assumed-role/audit/slackwater", "audit"),
        ("arn:aws:iam::123456789012:user/team/somebody", None),
        ("arn:aws:iam::123456789012:root", None),
    ],
)
def test_the_role_is_shown_if_there_is_one(arn: str, role: str | None) -> None:
    seen = Examination(account="123456789012", arn=arn, partition="aws", regions=(REGION,), checks=())
    file = io.StringIO()

    draw_examination(seen, Console(file=file, width=200))

    assert seen.role == role
    assert (f", as role {role},\nin account" in file.getvalue()) == bool(role)


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        (None, "policy may close (AWS does not say what refused) what is denied:"),
        (Refusal("identity-based policy", explicit=False), "policy would close what is denied:"),
    ],
)
def test_a_statement_is_promised_to_help_where_aws_says_what_refused(refusal: Refusal | None, message: str) -> None:
    need = Need(action="fsx:DescribeVolumes", optional=False)
    check = Check(need=need, region=REGION, answer=Answer(access="denied", reason="no", refusal=refusal))
    seen = Examination(account="1", arn="", partition="aws", regions=(REGION,), checks=(check,))
    file = io.StringIO()

    draw_examination(seen, Console(file=file, width=200))

    assert message in file.getvalue()


def test_all_regions_that_are_enabled_are_asked(run, account) -> None:
    document = json.loads(run("doctor", "--all-regions", "--format", "json").out)

    assert {REGION, "us-east-1", "eu-west-1"} < set(document["regions"])


def test_a_region_that_differs_is_named(doctor, account, monkeypatch: pytest.MonkeyPatch) -> None:
    check = account.faults.check

    def only_here(call) -> None:
        if call.region == "eu-west-1" and call.action == "ec2:DescribeVolumes":
            account.faults.deny(call.action)
            try:
                check(call)
            finally:
                account.faults.clear()
        check(call)

    monkeypatch.setattr(account.faults, "check", only_here)

    done = doctor("--region", "eu-west-1")

    assert done.status == 3
    assert "DENIED       ec2:DescribeVolumes in eu-west-1\n" in done.out
    assert f"allowed      ec2:DescribeVolumes in {REGION}\n" in done.out


def test_the_output_does_not_explain_how_to_assume_a_role(run) -> None:
    done = run("doctor", "--region", REGION)

    assert (done.status, done.out) == (4, "")
    assert "No AWS credentials found" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--region", "eu-wset-1"),
        ("--external-id", "x"),
        ("--region", ""),
        ("--region", REGION, "--role-arn", ""),
        ("--format", "csv"),
        (),
    ],
)
def test_wrong_usage_asks_for_no_action(arguments: tuple[str, ...], run, account) -> None:
    done = run("doctor", *arguments)

    assert (done.status, done.out) == (2, "")
    assert set(account.calls) <= {"sts:GetCallerIdentity", "ec2:DescribeRegions"}
