"""The built artefacts on Lambda's own runtime, with an interpreter that has nothing but its client and boto3."""

from __future__ import annotations

import json
import time

import pytest

from lambda_emulator import CLEANUP_FUNCTIONS, FUNCTIONS, LAYER, deployed, emulated
from local_aws import ROOT
from slack_server import signed

EXAMPLE = "5d1c0b7a9e3f42d8"
"""The finding that the API's events are about."""

EVENTS = sorted((ROOT / "events").glob("*.json"))


ALL = (*FUNCTIONS, *CLEANUP_FUNCTIONS)


def handler(event_file):
    """Which function an event of events/ is for: its name begins with the function's."""
    begins = event_file.stem.replace("_", "")
    return next(name for name in ALL if begins.startswith(name.removesuffix("Function").lower()))


IN_ORDER = sorted(EVENTS, key=lambda file: (ALL.index(handler(file)), file.name))
"""An audit's scan needs its plan, and its end the scan."""


@pytest.mark.parametrize("event", IN_ORDER, ids=lambda file: file.stem)
def test_every_handler_answers_its_event(service, template, event):
    if handler(event) in CLEANUP_FUNCTIONS:
        service.enable_cleanup()
    with deployed(service.aws, template, handler(event)) as function:
        text = event.read_text()
        if EXAMPLE in text:
            text = text.replace(EXAMPLE, next(iter(service.findings())))
        payload = json.loads(text)
        if handler(event) == "AcknowledgeFunction":
            payload["headers"] |= signed(service.slack.signing_secret, payload["body"].encode(), time.time())
        answer = function.invoke(payload)
        if handler(event) in CLEANUP_FUNCTIONS and EXAMPLE in event.read_text():
            assert answer["errorType"] == "NotMineError", answer  # no such clean-up: it has asked the table, and does nothing
            return
        assert "errorType" not in answer, answer
        assert answer.get("statusCode", 200) < 400, answer
        assert not answer.get("batchItemFailures"), answer
        service.say(f"{event.name} on the real runtime, started in {function.init_ms:.0f} ms: {json.dumps(answer)[:100]}")


def test_what_nobody_declared_is_not_there(service, template, tmp_path):
    (tmp_path / "app.py").write_text("import rich\n\n\ndef handler(event, context):\n    return rich.__name__\n")
    with emulated(
        tmp_path, template.parent / LAYER, service.aws.environment(), service.aws.home / "undeclared.log"
    ) as function:
        assert function.invoke({})["errorType"] == "Runtime.ImportModuleError"
    service.say("a function that imports what is in no requirements fails to start, as it would on Lambda")
