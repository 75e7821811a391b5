"""`slackwater cleanup`."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from slackwater.app.policy import stored as policies
from slackwater.aws.cleanup import adopted as cleanup_adopted
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.documents import S3Documents
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.table import Table
from slackwater.model import object_keys
from slackwater.model.cleanup import (
    BACKUP_OF,
    EXPIRES_AT,
    INSTALLATION,
    ActorNote,
    Backup,
    Cleanup,
    Copy,
    Observed,
    Removal,
    Restored,
    Subject,
    SubResource,
    Tagging,
)
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import SERVICE, FindingRecord, LedgerEntry, TrackedFinding, TrackedResource, Write
from slackwater.ports.errors import AccessDeniedError
from slackwater.wiring import service as wiring

HOME = "eu-west-1"
CALLER = "arn:aws:sts::123456789012:user/moto"
OPENED = datetime(2026, 11, 1, 6, 0, tzinfo=UTC)
MACHINES = {
    f"{name}StateMachineArn": f"arn:aws:states:{HOME}:123456789012:stateMachine:{name.lower()}"
    for name in ("Cleanup", "Undo")
}
POLICY = f"""
[cleanup]
accounts = ["123456789012"]
regions = ["{HOME}"]
resource_types = ["ebs-volume"]
detectors = ["ebs-unattached"]
approver_identities = ["{CALLER}"]
most_resources = 2
"""


def tracked(id: str, **changes: Any) -> TrackedFinding:
    resource = TrackedResource(
        arn=f"arn:aws:ec2:{HOME}:123456789012:volume/vol-{id}", id=f"vol-{id}", type="ebs-volume", name=f"scratch-{id}",
        account="123456789012", region=HOME,
    )  # fmt: skip
    values: dict[str, Any] = {
        "detector": "ebs-unattached", "kind": "waste", "severity": "medium", "confidence": "high", "owner": "data",
        "summary": "100 GiB on no instance", "fingerprint": "abc", "monthly_savings_usd": Decimal("12.30"),
        "deletes": True,
    }  # fmt: skip
    return TrackedFinding(
        sighting=FindingRecord(id=id, resource=resource, **values | changes), status="open", decision=None,
        opened_at=OPENED, last_seen_at=OPENED, resolved_at=None, audit_id="monday", revision=1,
    )  # fmt: skip


class Deployed:
    """A deployment with clean-up, two findings that may be cleaned up, and one that may not be."""

    def __init__(self, service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stack = service.outputs["slackwater"]
        self.stack |= MACHINES
        self.monkeypatch = monkeypatch
        table = Table(AwsSession(meter=CallMeter()), "findings-table")
        self.findings, self.cleanups = DynamoFindings(table), DynamoCleanups(table)
        shown = [tracked("a"), tracked("b"), tracked("c", detector="ebs-idle")]
        for finding in shown:
            entry = LedgerEntry(
                happening="opened", at=OPENED, who=SERVICE, was=None, now="open", why="new", revision=1,
                audit_id="monday", evidence=finding.sighting,
            )  # fmt: skip
            assert self.findings.write(Write(finding=finding, entry=entry, expects=0))
        advice = [
            {"action": "snapshot-and-delete", "monthly_savings_usd": "12.30"},
            {"action": "keep-as-snapshot", "monthly_savings_usd": "7.30"},
        ]
        self.put(
            object_keys.target_scan("monday", "123456789012", HOME),
            json.dumps({
                "scan": {"targets": [{"account": "123456789012", "region": HOME, "complete": True}]},
                "findings": [
                    {"id": one.id, "resource": {"tags": {}}, "monthly_savings_usd": "12.30", "recommendations": advice}
                    for one in shown
                ],
            }),
        )  # fmt: skip
        self.policy(POLICY)
        self.states = service.started

    def put(self, key: str, text: str) -> None:
        boto3.client("s3", HOME).put_object(Bucket="slackwater-bucket", Key=key, Body=text.encode())

    def policy(self, text: str) -> None:
        self.put(object_keys.POLICY, text)

    def started(self, machine: str = "cleanup") -> list[str]:
        arn = MACHINES[f"{machine.title()}StateMachineArn"]
        return sorted(one["name"] for one in self.states if one["stateMachineArn"] == arn)

    def ended(self, id_: str = "a", **changes: Any) -> Cleanup:
        """Store a clean-up with these changes, and return it."""
        seen = tracked(id_).sighting
        one = Cleanup(
            finding_id=id_, attempt=1, execution=f"{id_}-1", detector=seen.detector, resource=seen.resource,
            owner="data", fingerprint="abc", setting=None, requested_by=CALLER, started_at=OPENED,
            promised_monthly_usd=Decimal("12.30"), revision=1,
        )  # fmt: skip
        one = replace(one, **changes)
        assert self.cleanups.write(one)
        return one

    def at_a_terminal(self, answer: str) -> None:
        typed = StringIO(answer)
        terminal = SimpleNamespace(isatty=lambda: True, readline=typed.readline)
        self.monkeypatch.setattr("sys.stdin", terminal)


@pytest.fixture
def deployed(service, monkeypatch) -> Deployed:
    return Deployed(service, monkeypatch)


@pytest.fixture
def shown(run) -> Callable[..., Any]:
    """Return a function that runs a command and returns the JSON that it prints."""

    def run_it(*arguments: str) -> Any:
        done = run("cleanup", *arguments, "--format", "json")
        assert done.status == 0, done.err
        return json.loads(done.out)

    return run_it


GONE = (Removal(part=SubResource(kind="volume", id="vol-a", arn=None), asked_at=OPENED),)

# -- Approving


def test_an_approval_says_until_when_and_what_it_began(run, deployed) -> None:
    done = run("cleanup", "approve", "a", "--yes")

    assert done.status == 0
    assert done.out.startswith("a: approved until ")
    assert CALLER in done.out
    assert done.err.startswith("The clean-up has started. It tags the resource, and deletes it after 20")
    assert deployed.started() == ["a-1"]
    assert deployed.findings.get("a").decision.fingerprint == "abc"


@pytest.mark.parametrize("answer", ["y\n", "Yes\n"])
def test_a_person_is_shown_what_they_approve_and_asked(run, deployed, answer: str) -> None:
    deployed.at_a_terminal(answer)

    done = run("cleanup", "approve", "a")

    assert done.status == 0
    for output in (
        "scratch-a: delete",
        "vol-a (ebs-volume)",
        "made before the deletion, 5.00 USD a month",
        "12.30 USD a month, 7.30 after the cost of the backup",
    ):
        assert output in done.err
    assert "Approve this clean-up (delete)? [y/N]" in done.err
    assert deployed.started() == ["a-1"]


@pytest.mark.parametrize("asked", [True, False])
def test_an_approval_reads_and_parses_the_policy_once(run, deployed, asked: bool, monkeypatch) -> None:
    read, parsed = [], []
    its_read, its_parse = S3Documents.read, policies.parse_policy
    monkeypatch.setattr(
        S3Documents, "read", lambda self, key, version=None: [read.append(key), its_read(self, key, version)][1]
    )
    monkeypatch.setattr(
        policies, "parse_policy", lambda *given, **named: [parsed.append(given), its_parse(*given, **named)][1]
    )
    deployed.at_a_terminal("y\n")

    assert run("cleanup", "approve", "a", *([] if asked else ["--yes"])).status == 0

    assert (read.count(object_keys.POLICY), len(parsed)) == (1, 1)
    assert deployed.started() == ["a-1"]


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "yeah\n"])
def test_without_a_yes_nothing_is_approved(run, deployed, answer: str) -> None:
    deployed.at_a_terminal(answer)

    done = run("cleanup", "approve", "a")

    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("Not approved.\n")
    assert (deployed.findings.get("a").status, deployed.started()) == ("open", [])


def test_without_a_terminal_the_yes_option_is_required(run, deployed, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: False))

    done = run("cleanup", "approve", "a")

    assert (done.status, "add --yes" in done.err, deployed.started()) == (2, True, [])


def test_what_changed_between_the_question_and_the_answer_is_not_approved(run, deployed, monkeypatch) -> None:
    def readline() -> str:
        known = deployed.findings.get("a")
        changed = replace(known, sighting=replace(known.sighting, fingerprint="another"), revision=2)
        assert deployed.findings.write(Write(finding=changed, entry=None, expects=1))
        return "y\n"

    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True, readline=readline))

    done = run("cleanup", "approve", "a")

    assert (done.status, "has changed since" in done.err) == (2, True)
    assert (deployed.findings.get("a").status, deployed.started()) == ("open", [])


@pytest.mark.parametrize(
    ("policy", "id_", "says"),
    [
        (POLICY.replace(CALLER, "ada@example.com"), "a", f"cleanup.approver_identities does not name {CALLER}"),
        (POLICY, "c", "cleanup.detectors does not name ebs-idle"),
    ],
)
def test_what_the_policy_does_not_allow_is_no_access(run, deployed, policy: str, id_: str, says: str) -> None:
    deployed.policy(policy)

    done = run("cleanup", "approve", id_, "--yes")

    assert (done.status, says in done.err) == (4, True)
    assert deployed.started() == []


def test_without_clean_up_an_approval_is_kept_and_says_how_to_enable_it(run, deployed) -> None:
    for name in MACHINES:
        del deployed.stack[name]

    approved, ran = run("cleanup", "approve", "a", "--yes"), run("cleanup", "run")

    assert (approved.status, approved.out.startswith("a: approved")) == (0, True)
    assert "CleanupEnabled=true" in approved.err
    assert (ran.status, "CleanupEnabled=true" in ran.err) == (2, True)
    assert "Clean-up is not enabled" in run("cleanup", "plan").out


# -- Planning and running


def test_a_plan_shows_what_would_be_begun_and_why_the_rest_would_not(run, deployed) -> None:
    run("cleanup", "stop", "--all", "--why", "moving house")
    run("cleanup", "approve", "a", "--yes")

    output = run("cleanup", "plan", "a", "b").out
    words = " ".join(output.split())

    assert "A run now would start 1 clean-up, expected saving 12.30 USD a month, 7.30 while the backups are" in output
    assert re.search(r"Expected +After backup\n|Expected saving +After backup cost\n", output)
    assert re.search(r"^a .* 12\.30 +7\.30$", output, re.MULTILINE)
    assert f"{CALLER} stopped all clean-ups" in output
    assert "moving house. To allow them again: `slackwater cleanup stop --all --lift`." in words
    assert [line.split()[:3] for line in output.splitlines() if line.startswith("a ")] == [["a", "delete", "scratch-a"]]
    assert "Would not start" in output
    assert "nobody has approved it. To approve it: `slackwater cleanup approve b`" in output
    assert deployed.started() == []


def test_a_plan_says_what_is_starting_already(run, deployed) -> None:
    run("cleanup", "approve", "a", "--yes")

    output = run("cleanup", "plan").out
    words = " ".join(output.split())

    assert words.startswith("A run now would start no clean-ups. It would request 1 start again.")
    assert (
        "Starting, requested again by a run a scratch-a: delete it is starting: its last start has no result yet."
        in words
    )
    assert "Would start" not in output


def test_a_saving_with_a_backup_of_unknown_cost_is_called_less(run, deployed) -> None:
    deployed.put(
        object_keys.target_scan("monday", "123456789012", HOME),
        json.dumps({
            "scan": {"targets": [{"account": "123456789012", "region": HOME, "complete": True}]},
            "findings": [
                {"id": "a", "resource": {"tags": {}}, "monthly_savings_usd": "12.30", "recommendations": []}
            ],
        }),
    )  # fmt: skip
    run("cleanup", "stop", "--all")
    run("cleanup", "approve", "a", "--yes")

    output = run("cleanup", "plan").out

    assert "expected saving 12.30 USD a month, less while the backups are" in output
    assert re.search(r"^a .* 12\.30 +unknown$", output, re.MULTILINE)


@pytest.mark.parametrize("command", ["plan", "run"])
def test_without_an_approval_the_next_step_is_to_approve(run, deployed, command: str) -> None:
    done = run("cleanup", command)

    assert (done.status, " ".join(done.out.split())) == (
        0,
        "No approved clean-ups. Approve a finding: `slackwater findings list`, then `slackwater cleanup approve ID`.",
    )


def test_a_run_begins_what_is_approved(run, shown, deployed) -> None:
    run("cleanup", "stop", "--all")
    run("cleanup", "approve", "a", "--yes")
    stopped = run("cleanup", "run")
    assert (stopped.status, "no clean-up started" in stopped.err) == (2, True)
    lifted = run("cleanup", "stop", "--all", "--lift")
    assert (lifted.status, lifted.out) == (0, "Clean-ups can start again.\n")
    assert lifted.err.startswith(f"{CALLER} stopped them at ")

    done = run("cleanup", "run")

    assert (done.status, "Started 1 clean-up, expected saving 12.30 USD a month, 7.30 while" in done.out) == (0, True)
    assert deployed.started() == ["a-1"]
    assert json.loads(deployed.states[0]["input"]) == {"finding_id": "a"}
    assert [one["state"] for one in shown("run")["candidates"]] == ["begun"]
    assert run("cleanup", "stop", "--all", "--lift").err == "They were not stopped.\n"


def test_at_a_terminal_a_run_asks_before_it_requests_several_starts_again(run, deployed) -> None:
    for id_ in "ab":
        run("cleanup", "approve", id_, "--yes")
    deployed.at_a_terminal("no\n")

    done = run("cleanup", "run")

    assert "Start these 2 clean-ups? [y/N]" in done.err
    assert done.status == 2


@pytest.mark.parametrize("answer", ["\n", "no\n", "y\n"])
def test_at_a_terminal_a_run_of_more_than_one_is_shown_and_asked_about(run, deployed, answer: str) -> None:
    run("cleanup", "stop", "--all")
    for id_ in "ab":
        run("cleanup", "approve", id_, "--yes")
    run("cleanup", "stop", "--all", "--lift")
    deployed.at_a_terminal(answer)

    done = run("cleanup", "run")

    assert "A run now would start 2 clean-ups" in done.err
    assert "Start these 2 clean-ups? [y/N]" in done.err
    if answer == "y\n":
        assert (done.status, deployed.started()) == (0, ["a-1", "b-1"])
    else:
        assert (done.status, "No clean-up started." in done.err, deployed.started()) == (2, True, [])
        assert run("cleanup", "run", "--yes").status == 0
        assert deployed.started() == ["a-1", "b-1"]


def test_of_one_nobody_is_asked_nor_where_there_is_no_terminal(run, deployed) -> None:
    run("cleanup", "stop", "--all")
    for id_ in "ab":
        run("cleanup", "approve", id_, "--yes")
    run("cleanup", "stop", "--all", "--lift")

    assert (run("cleanup", "run").status, deployed.started()) == (0, ["a-1", "b-1"])
    deployed.at_a_terminal("")
    one = run("cleanup", "run", "a")
    assert (one.status, "[y/N]" in one.err) == (0, False)


def test_what_was_named_and_is_not_begun_shows_in_the_status(run, deployed) -> None:
    done = run("cleanup", "run", "b")

    assert (done.status, "Not started" in done.out, deployed.started()) == (3, True, [])
    assert run("cleanup", "run").status == 0
    assert run("cleanup", "run", "zz").status == 2


def test_over_the_cap_it_says_that_nothing_was_begun(run, deployed) -> None:
    deployed.policy(POLICY.replace("most_resources = 2", "most_resources = 1"))
    assert run("cleanup", "approve", "a", "--yes").status == 0

    second = run("cleanup", "approve", "b", "--yes")
    done = run("cleanup", "run")

    assert (
        second.status,
        "Approved, but not started: 2 clean-ups in 24 hours (1 of them started already)" in second.err,
    ) == (0, True)
    assert (done.status, done.out, "no clean-up started: 2 clean-ups" in done.err) == (2, "", True)
    assert "Over the cap, so a run would start nothing: 2 clean-ups" in run("cleanup", "plan").out
    assert deployed.started() == ["a-1"]


# -- Reading


def test_the_whole_story_of_one_resource_is_one_command(run, deployed) -> None:
    deployed.ended(
        stage="undone", why="vol-a came back as vol-new", approved_by="slack:U0ADA", born_at=OPENED, removals=GONE,
        ended_at=OPENED, marked=Tagging(at=OPENED, act_after=OPENED + timedelta(days=30)),
        backup_monthly_usd=Decimal("5.00"),
        backups=(
            Backup(
                subject=Subject(id="vol-a", size_bytes=100 << 30), token="a-1-0", asked_at=OPENED, state="verified",
                id="snap-1", size_bytes=100 << 30, expires_at=OPENED + timedelta(days=90),
            ),
        ),
        restored=Restored(state="done", id="vol-new", differences=("a new id", "it reads slowly at first")),
        undone=ActorNote(who=CALLER, why="they came back", at=OPENED),
        observed=Observed(audit_id="friday", at=OPENED, left_monthly_usd=Decimal(0)),
    )  # fmt: skip

    output = run("cleanup", "status", "a").out

    for words in (
        "scratch-a: delete, undone", "vol-a came back as vol-new", "slack:U0ADA", "2026-12-01 06:00 UTC",
        "Backup snap-1 of vol-a: verified, 107,374,182,400 bytes, expires 2027-01-30 06:00 UTC",
        "Asked AWS to delete: volume vol-a", "Restored as vol-new: done", "it reads slowly at first", "they came back",
        "12.30 USD a month", "5.00 USD a month while it is kept", "0.00 USD a month, as of audit friday",
        "It cannot be undone: it is already undone", "opened",
    ):  # fmt: skip
        assert words in output, words
    assert run("cleanup", "status", "b").err == "Error: there is no clean-up of finding b\n"
    assert run("cleanup", "status", "b").status == 2


def test_what_was_changed_says_from_what_to_what_and_how_to_undo_it(run, shown, deployed) -> None:
    setting = VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)
    was = VolumeSetting(volume_type="gp2", iops=None, throughput_mib_s=None)
    deployed.ended(stage="done", setting=setting, was=was, changed_at=OPENED, ended_at=OPENED)

    output, document = run("cleanup", "status", "a").out, shown("status", "a")

    assert "scratch-a: change to gp3, 3,000 IOPS, 125 MiB/s, done" in output
    assert "To undo it: slackwater cleanup undo a" in output
    assert (document["was"], document["undo"], document["realised_monthly_usd"]) == (
        "gp2",
        "slackwater cleanup undo a",
        None,
    )


def test_clean_ups_are_listed_the_newest_first_with_what_they_promised_and_saved(run, shown, deployed) -> None:
    assert run("cleanup", "status").out.startswith("No clean-ups yet")
    seen = Observed(audit_id="friday", at=OPENED, left_monthly_usd=Decimal("2.30"))
    deployed.ended("a", stage="done", observed=seen, ended_at=OPENED)
    deployed.ended("b", stage="done", ended_at=OPENED, started_at=OPENED + timedelta(days=1))

    lines = run("cleanup", "status").out.splitlines()

    assert lines[0] == "2 clean-ups: expected saving 24.60, actual saving 10.00 USD a month (1 unknown)"
    assert [line.split() for line in lines[3:]] == [
        ["b", "done", "delete", "scratch-b", "ebs-unattached", "2026-11-02", "06:00", "12.30", "unknown"],
        ["a", "done", "delete", "scratch-a", "ebs-unattached", "2026-11-01", "06:00", "12.30", "10.00"],
    ]
    first = shown("status", "--limit", "1")
    assert ([one["finding_id"] for one in first["cleanups"]], first["more"]) == (["b"], True)
    assert first["totals"] == {
        "cleanups": 2,
        "promised_monthly_usd": "24.60",
        "realised_monthly_usd": "10.00",
        "unknown": 1,
    }
    short = run("cleanup", "status", "--limit", "1").out
    assert short.startswith(
        "2 clean-ups: expected saving 24.60, actual saving 10.00 USD a month (1 unknown); 1 shown\n"
    )
    assert "There are older ones" in short


# -- Stopping and undoing


def test_one_is_stopped(run, deployed) -> None:
    deployed.ended(stage="waiting")

    done = run("cleanup", "stop", "a", "--why", "they came back")

    assert (done.status, done.out) == (0, "a: waiting, stop requested\n")
    stopped = deployed.cleanups.get("a").stopped
    assert (stopped.who, stopped.why) == (CALLER, "they came back")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Give an ID or --all"),
        (["a", "--all"], "Give an ID or --all"),
        (["a", "--lift"], "--lift needs --all"),
        (["a", "--why", "x" * 1_001], "--why: longer than 1000 characters"),
        (["b"], "there is no clean-up of finding b"),
    ],
)
def test_the_clean_up_to_stop_must_be_named(run, deployed, arguments: list[str], says: str) -> None:
    deployed.ended(stage="waiting")

    done = run("cleanup", "stop", *arguments)

    assert (done.status, says in done.err) == (2, True)
    assert deployed.cleanups.get("a").stopped is None
    assert deployed.cleanups.control().stopped is None


def test_what_was_deleted_is_undone(run, deployed) -> None:
    deployed.ended(stage="done", removals=GONE, ended_at=OPENED)

    done = run("cleanup", "undo", "a", "--why", "they came back")

    assert (done.status, done.out) == (0, "a: undoing\n")
    assert "slackwater cleanup status a" in done.err
    assert deployed.started("undo") == ["a-1-undo-1"]
    assert deployed.cleanups.get("a").undone.why == "they came back"


def test_a_stopped_clean_up_does_not_offer_to_stop_it(run, deployed) -> None:
    deployed.ended(stage="waiting")
    assert "To stop it:" in run("cleanup", "status", "a").out
    run("cleanup", "stop", "a")

    output = run("cleanup", "status", "a").out

    assert "Stopped" in output
    assert "To stop it:" not in output


def test_what_still_waits_is_stopped_and_not_undone(run, deployed) -> None:
    deployed.ended(stage="waiting")

    done = run("cleanup", "undo", "a")

    assert (done.status, "To stop it: `slackwater cleanup stop a`" in done.err) == (2, True)
    assert deployed.started("undo") == []


# -- Backups


class Listed:
    """A BackupLister with one snapshot, which another installation created."""

    needs_place = "the zone that the volume is to be in"

    def __init__(self, session: Any) -> None: ...

    def copies(self, account: str, region: str) -> Iterator[Copy]:
        tags = {BACKUP_OF: f"arn:aws:ec2:{region}:{account}:volume/vol-9", INSTALLATION: "another", EXPIRES_AT: "x"}
        yield Copy(
            id="snap-9", of="vol-9", state="complete", size_bytes=8 << 30, made_at=OPENED, tags=tags,
            expires_at=OPENED + timedelta(days=90),
        )  # fmt: skip

    def not_restorable(self, copy: Copy) -> None: ...

    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> dict[str, Any]:
        return {"availability_zone": places[0]}


class Denied(Listed):
    """A BackupLister without permission to list."""

    def copies(self, account: str, region: str) -> Iterator[Copy]:
        raise AccessDeniedError("UnauthorizedOperation: no")


@pytest.fixture
def listed(deployed, monkeypatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(cleanup_adopted, "EbsBackupLister", Listed)
    for name in ("EfsBackupLister", "FsxBackupLister"):
        monkeypatch.setattr(cleanup_adopted, name, type(name, (Listed,), {"copies": lambda *_: iter(())}))
    monkeypatch.setattr(wiring, "backup_prices", lambda session: lambda *_: Decimal("0.40"))
    return monkeypatch


def test_backups_are_listed_with_what_they_cost_and_who_made_them(run, shown, listed) -> None:
    output = run("cleanup", "backups", "--region", HOME).out.splitlines()
    (one,) = shown("backups", "--region", HOME)["backups"]

    assert output[0] == "1 backup: at most 0.40 USD a month"
    assert output[3].split("  ")[0] == "snap-9"
    assert "another installation" in " ".join(output)
    assert (one["id"], one["whose"], one["monthly_usd"], one["expires_at"]) == (
        "snap-9",
        "other",
        "0.40",
        "2027-01-30T06:00:00Z",
    )


def test_what_could_not_be_listed_shows_in_the_status(run, listed) -> None:
    listed.setattr(cleanup_adopted, "EbsBackupLister", Denied)

    done = run("cleanup", "backups", "--region", HOME)

    assert done.status == 3
    assert done.out.startswith(f"Could not list: ebs-volume in {HOME}: ")
    assert run("cleanup", "backups", "--region", "eu-west-99").status == 2


def test_a_backup_is_adopted_and_can_be_undone(run, deployed, listed) -> None:
    adopt = ("cleanup", "adopt", "snap-9", "--region", HOME, "--why", "their stack is gone")
    refused = run(*adopt)
    assert (refused.status, "--place: is needed: the zone" in refused.err) == (2, True)

    done = run(*adopt, "--place", f"{HOME}a")

    assert done.status == 0, done.err
    id_ = done.out.partition(":")[0]
    assert done.out == f"{id_}: adopted\n"
    assert run("cleanup", "undo", id_, "--why", "needed").status == 0
    assert deployed.started("undo") == [f"{id_}-1-undo-1"]
    deployed.policy(POLICY.replace("user/moto", "user/joe"))
    assert run(*adopt, "--place", f"{HOME}a").status == 4


def test_untrusted_text_cannot_move_the_cursor(run, deployed) -> None:
    deployed.ended(stage="failed", why="no\x1b[2J\r\nway", removals=GONE, ended_at=OPENED)

    for command in (("status", "a"), ("status",)):
        output = run("cleanup", *command).out
        assert "\x1b" not in output
        assert "\r" not in output
