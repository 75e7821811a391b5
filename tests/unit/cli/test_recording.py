"""`slackwater scan --record` and `--replay`, and `slackwater recording show`."""

import json
import stat
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[2] / "fixtures" / "recordings" / "ordinary.recording"
DEMO = RECORDED.with_name("demo.recording")


def test_a_scan_is_recorded_and_replayed_without_an_account(
    run, account, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = "2026-11-16T09:07:00Z"
    only = ("--detector", "ebs-unattached", "--format", "json")
    live = run("scan", "--region", "ap-northeast-1", "--now", now, *only, "--record", "a.recording")
    file = nowhere / "a.recording"

    assert live.status == 0, live.err
    assert "Recorded in a.recording; `slackwater recording show a.recording` lists every string in it" in live.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    again = run("scan", "--replay", "a.recording", "--format", "json")
    assert again.status == 0, again.err
    was, now_is = json.loads(live.out), json.loads(again.out)
    assert [(one["monthly_savings_usd"], one["severity"]) for one in now_is["findings"]] == [
        (one["monthly_savings_usd"], one["severity"]) for one in was["findings"]
    ]
    assert was["findings"]
    assert was["scan"]["as_of"] == now_is["scan"]["as_of"]
    assert now_is["scan"]["usage"]["api_calls"] == {}
    assert not {one["resource"]["id"] for one in was["findings"]} & {
        one["resource"]["id"] for one in now_is["findings"]
    }


def test_what_another_question_needs_and_was_not_recorded_is_a_gap(run, account) -> None:
    run(
        *("scan", "--region", "ap-northeast-1", "--detector", "ebs-unattached", "--now", "2026-11-16T09:07:00Z"),
        "--record",
        "a",
    )

    done = run("scan", "--replay", "a", "--detector", "efs-idle", "--format", "json")

    assert done.status == 3
    gaps = json.loads(done.out)["scan"]["gaps"]
    assert {gap["reason"] for gap in gaps} == {"not recorded"}
    assert "elasticfilesystem:DescribeFileSystems" in {gap["what"] for gap in gaps}


@pytest.mark.parametrize(
    "option",
    [("--all-regions",), ("--now", "2026-11-16T09:00:00Z"), ("--record", "b"), ("--profile", "p")],
    ids=lambda one: one[0],
)
def test_what_is_of_an_account_does_not_go_with_a_replay(run, option: tuple[str, ...]) -> None:
    done = run("scan", "--replay", str(RECORDED), *option)

    assert done.status == 2
    assert f"{option[0]} does not go with --replay" in done.err


def test_a_region_that_was_not_recorded_is_refused_with_those_there_are(run) -> None:
    done = run("scan", "--replay", str(RECORDED), "--region", "eu-west-1")

    assert done.status == 2
    assert "ap-northeast-1" in done.err


def test_another_policy_is_tried_on_a_recording(run, nowhere: Path) -> None:
    (nowhere / "mine.toml").write_text("[scan]\nminimum_monthly_savings_usd = 1000000\n")

    plain = run("scan", "--replay", str(DEMO), "--format", "json")
    done = run("scan", "--replay", str(DEMO), "--policy", "mine.toml", "--format", "json")

    findings, fewer = (json.loads(one.out)["findings"] for one in (plain, done))
    assert any(one["kind"] == "waste" for one in findings)
    assert not any(one["kind"] == "waste" and one["monthly_savings_usd"] for one in fewer)


@pytest.mark.parametrize("command", [("scan", "--replay"), ("recording", "show")])
def test_a_file_that_is_no_recording_is_refused(run, nowhere: Path, command: tuple[str, ...]) -> None:
    (nowhere / "notes.txt").write_text("hello")

    done = run(*command, "notes.txt")

    assert done.status == 2
    assert "notes.txt cannot be read as a recording" in done.err


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(run, account) -> None:
    done = run("scan", "--region", "ap-northeast-1", "--record", "no/such/folder/a")

    assert done.status == 2
    assert done.err.startswith("Error: --record no/such/folder/a: cannot be written: No such file")
    assert not any(call.startswith("ec2:") for call in account.calls)


def test_show_lists_every_string_that_remains(run) -> None:
    done = run("recording", "show", str(RECORDED))

    assert done.status == 0
    assert done.out.splitlines()[0].endswith("metric data points.")
    assert "  gp3\n" in done.out
    assert "Placeholders (" in done.out
