"""`slackwater demo`."""

import json
import re
from contextlib import chdir
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from slackwater.views.scan import to_json as scan_json
from slackwater_cli import simulated, verdicts
from slackwater_cli.simulated import Planted
from slackwater_cli.verdicts import compared
from slackwater_simulator import demo_fleet

PLANTED = demo_fleet().planted
ISSUES, CONTROLS = sum(len(case.issues) for case in PLANTED), sum(case.control_of is not None for case in PLANTED)


@dataclass(frozen=True)
class Demo:
    """The result of `slackwater demo`, and the folder in which it ran."""

    done: Any
    folder: Path


@pytest.fixture(scope="module")
def demo_once() -> dict[str, Demo]:
    """Return the cache for the result of the demo. It takes seconds, and the tests only read it."""
    return {}


@pytest.fixture
def shown(
    demo_once: dict[str, Demo], run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Demo:
    if not demo_once:
        folder = tmp_path_factory.mktemp("demo")
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        with chdir(folder):
            demo_once["demo"] = Demo(run("demo"), folder)
    return demo_once["demo"]


def test_the_demo_finds_what_was_planted_and_nothing_else(shown: Demo) -> None:
    done, nowhere = shown.done, shown.folder

    assert done.status == 0, done.out
    assert done.out.startswith("A SIMULATED account")
    assert "MISSED" not in done.out
    assert "FALSE ALARM" not in done.out
    judged = f"Self-check: found {ISSUES} of {ISSUES} planted issues; 0 false alarms on {CONTROLS} look-alikes."
    assert judged in done.out
    assert len((done.out + done.err).splitlines()) <= 45
    assert "On AWS, such a scan costs under $0.01." in " ".join(done.out.split())
    assert "\n  slackwater doctor && slackwater scan  your own account\n" in done.out
    assert {path.name for path in (nowhere / "demo-output").iterdir()} == {"findings.json", "report.html", "slack.json"}
    Draft202012Validator(scan_json.schema()).validate(
        json.loads((nowhere / "demo-output/findings.json").read_text("utf-8"))
    )
    page = (nowhere / "demo-output/report.html").read_text("utf-8")
    assert all(
        f'data-finding="{f["id"]}"' in page
        for f in json.loads((nowhere / "demo-output/findings.json").read_text("utf-8"))["findings"]
    )
    assert not (nowhere / "cache").exists(), "simulated prices must not be taken for real ones"


def test_at_80_columns_the_table_has_ids_of_detectors_and_fixes_that_can_be_read(
    run, monkeypatch: pytest.MonkeyPatch, nowhere: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("demo", "--output", str(nowhere)).out.splitlines()
    rows = [line for line in lines if re.match(r"(high|med|low|info)\*? ", line)]

    assert len(rows) == 20
    assert max(map(len, lines)) <= 80
    assert not [row for row in rows if row.endswith("…")], "a fix is cut off"
    ids = {row.split()[2] for row in rows}
    assert {"efs-throughput-mismatch", "efs-serial-small-writes", "fsx-surplus-throughput"} <= ids
    assert not [one for one in ids if "…" in one], "an id is cut off"
    assert [row.split()[2] for row in rows if row.startswith("med* ")] == ["ec2-network-over-baseline"], "not the risk"
    values = {" ".join(row.split()[-3:]) for row in rows if row.endswith(("IOPS", "B/s"))}
    assert values == {
        "set 320 MB/s", "set 792 IOPS", "set 2,688 IOPS", "set 9 MiB/s", "set 7 MiB/s"
    }  # fmt: skip
    assert sum(row.endswith("replace with EFS") for row in rows) == 2
    assert any(" home-directories " in row for row in rows), "a name of 16 characters is cut off"
    assert "  3 × efs-credits-draining: BurstCreditBalance has no data in 16 days" in lines, "examples are cut off"


def test_the_demo_shows_the_messages_as_they_would_be_sent(shown: Demo) -> None:
    nowhere = shown.folder
    doc, sent = (
        json.loads((nowhere / f"demo-output/{name}.json").read_text("utf-8")) for name in ("findings", "slack")
    )

    assert {one["channel"] for one in sent} == {"C0STORAGE"}
    assert [one["thread"] for one in sent] == [False, *[True] * (len(sent) - 1)]
    first, *thread = (json.dumps(one["message"]["blocks"]) for one in sent)
    assert f"{len(doc['findings'])} new findings: " in first
    notice, head, *_ = sent[0]["message"]["blocks"]
    assert "SIMULATED" in notice["elements"][0]["text"]
    assert "SIMULATED" in sent[0]["message"]["text"].partition("\n")[0]
    assert head["type"] == "header"
    assert "SIMULATED" not in "".join(thread)
    # Clean-up may delete none of the five most severe findings, so none has an Approve button.
    assert all(f'"{button}"' in first for button in ("snooze", "dismiss")), "a policy lets somebody decide"
    assert '"block_id": "20261116T090700Z-demo.0.0/report"' in first
    listed = [[f["id"] in one for f in doc["findings"]] for one in (first, *thread)]
    assert sum(listed[0]) == 5
    names = [f["resource"]["id"] for f in doc["findings"]]
    assert all(name in first or any(name in one for one in thread) for name in names)
    in_digest = [first.index(name) for name in names if name in first]
    assert in_digest[:4] == sorted(in_digest[:4]), "the gravest first, as in findings.json"


def test_terminal_report_and_slack_say_the_same_figure_first(shown: Demo) -> None:
    printed, nowhere = shown.done.out, shown.folder
    doc, sent = (
        json.loads((nowhere / f"demo-output/{name}.json").read_text("utf-8")) for name in ("findings", "slack")
    )
    page = (nowhere / "demo-output/report.html").read_text("utf-8")
    waste = doc["totals"]["by_kind"]["waste"]["monthly_savings_usd"]
    figure = f"{float(waste):,.2f}"
    _, head, about, *_ = sent[0]["message"]["blocks"]

    assert waste != doc["totals"]["monthly_savings_usd"], "another figure to be mistaken for it"
    assert f"${float(waste):,.0f} a month (" in printed
    assert doc["totals"]["waste_monthly_savings_usd"] == waste
    short = f"${float(waste) / 1_000:.1f}k a month"
    assert re.search(rf'<h1 id="sum">\s*<span class="big">Save {re.escape(short)}</span>', page)
    assert f"waste: ${figure} a month" in page
    assert f"<title>Slackwater: {len(doc['findings'])} findings, ${figure} a month</title>" in page
    assert f" findings: ${figure} a month can be saved" in head["text"]["text"]
    assert about["elements"][0]["text"].endswith(" · In 1 region of account 123456789012.")


def test_the_report_says_that_the_account_is_simulated_and_as_of_when_it_was_judged(shown: Demo) -> None:
    nowhere = shown.folder
    page = (nowhere / "demo-output/report.html").read_text("utf-8")
    text = (nowhere / "demo-output/findings.json").read_text("utf-8")

    assert '<p class="notice" role="note">A SIMULATED account' in page
    assert "as of 2026-11-16 09:07 UTC." in page
    assert json.loads(text)["scan"]["as_of"] == "2026-11-16T09:07:00Z"
    assert "SIMULATED" not in text


def test_the_users_own_aws_settings_do_not_matter(run, monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    (nowhere / "slackwater.toml").write_text("[detectors.efs-idle]\nenabled = false\n", "utf-8")

    assert run("demo", "--output", "elsewhere").status == 0
    assert (nowhere / "elsewhere/findings.json").exists()


def test_the_demo_shows_as_many_findings_in_detail_as_are_asked_for(run, nowhere: Path) -> None:
    output = run("demo", "--details", "--top", "2").out

    assert output.count("https://") == 2, "a link to the console for each finding"
    assert re.search(f"slackwater demo --details +all {ISSUES} findings", output)
    assert "What was planted" not in output
    assert f"found {ISSUES} of {ISSUES} planted issues" in output


def test_a_folder_that_cannot_be_made_is_wrong_usage(run, nowhere: Path) -> None:
    (nowhere / "file").touch()

    done = run("demo", "--output", "file")

    assert done.status == 2
    assert "--output file: cannot be made: File exists" in done.err


def test_without_the_extra_it_says_how_to_get_it(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "find_spec", lambda _: None)

    done = run("demo")

    assert done.status == 2
    assert "extra `demo`" in done.err


def test_without_the_extra_the_simulator_says_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulated, "find_spec", lambda _: None)

    with pytest.raises(SystemExit) as ended:
        simulated.main()

    assert ended.value.code == 2
    assert "Error: The simulated account needs numpy" in capsys.readouterr().err


def test_a_simulator_that_does_not_start_is_an_error(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "MODULE", "this")

    assert run("demo").status != 0


def test_the_simulated_account_ends_with_the_demo() -> None:
    with simulated.simulated_account() as account:
        assert account.now == datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
        assert account.planted()

    with pytest.raises(OSError, match="refused"):
        account.planted()


def planted(resource_id: str, *issues: str, control_of: str | None = None) -> Planted:
    return Planted(resource_id, f"name of {resource_id}", "a story", "why", issues, control_of)


def found(*pairs: tuple[str, str]) -> dict:
    return {"findings": [{"detector": detector, "resource": {"id": id_, "name": id_}} for detector, id_ in pairs]}


def outcomes(cases: list[Planted], document: dict) -> dict[tuple[str, str], str]:
    return {
        (one.detector, one.resource_id): one.outcome
        for one in compared(cases, document, {"efs-idle", "ebs-unattached"})
    }


def test_issues_are_found_or_missed_and_controls_are_silent_or_false_alarms() -> None:
    cases = [
        planted("a", "efs-idle"),
        planted("b", "efs-idle"),
        planted("c", control_of="efs-idle"),
        planted("d", control_of="efs-idle"),
    ]

    assert outcomes(cases, found(("efs-idle", "a"), ("efs-idle", "c"))) == {
        ("efs-idle", "a"): "found",
        ("efs-idle", "b"): "MISSED",
        ("efs-idle", "c"): "FALSE ALARM",
        ("efs-idle", "d"): "silent",
    }


def test_a_finding_that_nobody_planted_is_a_false_alarm() -> None:
    cases = [planted("a", "efs-idle")]

    assert outcomes(cases, found(("efs-idle", "a"), ("ebs-unattached", "a"), ("efs-idle", "z"))) == {
        ("efs-idle", "a"): "found",
        ("ebs-unattached", "a"): "FALSE ALARM",
        ("efs-idle", "z"): "FALSE ALARM",
    }


def test_issues_of_missing_detectors_are_not_counted() -> None:
    assert outcomes([planted("a", "efs-orphaned"), planted("b", control_of="efs-orphaned")], found()) == {}


def test_the_demo_leaves_with_1_if_anything_disagrees(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        verdicts, "compared", lambda *_: compared([planted("never-made", "efs-idle")], found(), {"efs-idle"})
    )

    done = run("demo")

    assert done.status == 1
    assert "MISSED" in done.out
    assert "found 0 of 1 planted issue" in done.out


def test_the_demo_shows_one_resource_in_detail(run, nowhere: Path) -> None:
    by_name = run("demo", "--resource", "feature-film")
    id_ = re.search(r"feature-film +(fs-\w+)", by_name.out)[1]

    assert by_name.status == 0
    assert by_name.out.count("https://") == 1, "a link to the console"
    assert "fsx-oversized" in by_name.out
    assert " findings; 10 performance" in " ".join(by_name.out.split()), "the headline stays"
    assert "planted" not in by_name.out
    assert run("demo", "--resource", id_).out == by_name.out


def test_the_demo_says_if_it_has_nothing_about_a_name(run, nowhere: Path) -> None:
    assert "The scan says nothing about a resource nothing.\n" in run("demo", "--resource", "nothing").out
