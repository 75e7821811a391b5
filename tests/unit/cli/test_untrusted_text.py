"""Untrusted text (names, tags, reasons, AWS messages) cannot control the terminal or imitate Slackwater's lines."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.unit.cli.test_audits import SCAN, record
from tests.unit.cli.test_findings import EVIDENCE, tracked

from slackwater.model.access import Answer, Check, Examination, Need, Refusal
from slackwater.views.api import to_json as service_json
from slackwater.views.text.one_line import INVISIBLE
from slackwater_cli.audits_table import draw_audit, draw_audits
from slackwater_cli.doctor_table import draw_examination
from slackwater_cli.findings_table import draw_detail, draw_findings
from slackwater_cli.streams import rendered

UNTRUSTED = "a\x1b]0;x\x07b\nFORGED\u202ec\u200bd[bold]"
OURS = {"severity", "kind", "status", "state", "happening"}
"""Fields with one of a few fixed values."""


def by(untrusted: str, document: Any, key: str = "") -> Any:
    """Return the document with every free text replaced."""
    match document:
        case dict():
            return {name: by(untrusted, value, name) for name, value in document.items()}
        case list() | tuple():
            return [by(untrusted, one, key) for one in document]
        case str() if key not in OURS and not key.endswith(("_usd", "_at", "until")) and key != "at":
            return untrusted
        case _:
            return document


def findings(untrusted: str, console: Console) -> None:
    document = service_json.tracked_finding(tracked("a"))
    decision = {
        "status": "snoozed",
        "who": "",
        "why": "x",
        "at": "2026-11-16T09:00:00Z",
        "until": "2026-12-01T00:00:00Z",
    }
    entry = {"at": "2026-11-16T09:00:00Z", "happening": "opened", "who": "", "why": "", "evidence": document}
    finding: Any = by(untrusted, document | {"decision": decision})
    draw_findings([finding], "open", console, more=False)
    for evidence in (None, EVIDENCE):
        draw_detail(by(untrusted, document | {"decision": decision, "ledger": [entry], "finding": evidence}), console)


def audits(untrusted: str, console: Console) -> None:
    for state in ("incomplete", "failed"):
        audit = service_json.audit(record("a", state))  # type: ignore[arg-type]
        document = audit | {"regions": ["x"], "detectors": ["x"]}  # type: ignore[operator]
        draw_audits([by(untrusted, document)], None, console, more=False)
        draw_audit(
            by(untrusted, document | {**SCAN["scan"], "scan_url": "x", "scan_url_expires_at": "2026-11-16T09:00:00Z"}),
            console,
        )


def doctor(untrusted: str, console: Console) -> None:
    checks = tuple(
        Check(
            need=Need(action="x", optional=optional, blind=("one",)), region=untrusted,
            answer=Answer(access=access, reason=untrusted, refusal=refusal),
        )
        for access, optional, refusal in (
            ("denied", False, None), ("denied", True, Refusal(untrusted, explicit=True)), ("unreachable", True, None),
        )
    )  # fmt: skip
    arn = f"arn:aws:sts::123456789012:assumed-role/{untrusted}/x"
    draw_examination(Examination(account="1", arn=arn, partition="aws", regions=(untrusted,), checks=checks), console)


@pytest.mark.parametrize("draw", [findings, audits, doctor])
def test_untrusted_text_stays_text(draw: Callable[[str, Console], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater_cli.streams.FILE_WIDTH", 5_000)

    text = rendered(partial(draw, UNTRUSTED), to_terminal=False, widest=5_000)

    assert "FORGED" in text
    assert_harmless(text)
    assert text.count("FORGED") == text.count("[bold]")


@pytest.mark.parametrize(
    "arguments",
    [
        ("findings", "show", UNTRUSTED),
        ("audits", "show", UNTRUSTED),
        ("findings", "list", "--status", UNTRUSTED),
        ("policy", "check"),
    ],
)
def test_untrusted_text_stays_text_in_errors(arguments: tuple[str, ...], run, service, nowhere: Path) -> None:
    (nowhere / "slackwater.toml").write_text('"a\\u001b]0;x\\u0007b\\nFORGED\\u202ec" = 1\n', "utf-8")

    done = run(*arguments)

    assert (done.status, done.out) == (2, "")
    assert "FORGED" in done.err
    assert not INVISIBLE.search(done.err.replace("\n", ""))
    assert arguments[0] != "policy" or done.err.count("\n") == 1


def assert_harmless(text: str) -> None:
    lines = text.split("\n")
    assert [line for line in lines if INVISIBLE.search(line) or line.strip().startswith("FORGED")] == []
