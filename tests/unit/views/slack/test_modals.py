"""The dismissal form."""

import json
import subprocess
import sys

from slackwater.app.findings.findings import LONGEST_WHY
from slackwater.views.slack import modals


def test_the_form_asks_why_and_until_when(limits) -> None:
    view = modals.dismissal(
        "20261116T090000Z-5f3c2a1b.0.0", "5a0dbee770fdbb7e", "https://hooks.slack.com/actions/T0/1/a"
    )

    assert limits.of_view(view) == []
    assert json.loads(view["private_metadata"]) == {
        "post": "20261116T090000Z-5f3c2a1b.0.0",
        "finding": "5a0dbee770fdbb7e",
        "response_url": "https://hooks.slack.com/actions/T0/1/a",
    }
    why, until = (block for block in view["blocks"] if block["type"] == "input")
    assert (why["block_id"], why["element"]["action_id"], why["element"]["max_length"]) == ("why", "why", LONGEST_WHY)
    assert "optional" not in why
    assert [one["value"] for one in until["element"]["options"]] == ["for-good", "30", "90", "365"]
    assert until["element"]["initial_option"]["value"] == "for-good"


def test_the_longest_ids_fit(limits) -> None:
    assert limits.of_view(modals.dismissal("p" * 200, "f" * 54, "https://hooks.slack.com/" + "a" * 500)) == []


def test_the_form_is_made_without_pydantic() -> None:
    code = "import sys, slackwater.views.slack.modals; sys.exit('pydantic' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
