"""The form that asks why a finding is dismissed.

This module must not import pydantic, because Slack waits for the form with a short timeout.
"""

import json
from typing import Final

from slackwater.views.slack.blocks import Element, lines, menu, option, plain

DISMISSAL: Final = "dismissal"
"""The form's `callback_id`, which Slack sends back with it."""

WHY, UNTIL = "why", "until"
"""The fields: both `block_id` and `action_id`."""

LONGEST_WHY: Final = 1_000
"""Maximum characters of the reason."""

FOR_GOOD: Final = "for-good"
TERMS: Final = {FOR_GOOD: "For good", "30": "For 30 days", "90": "For 90 days", "365": "For a year"}
"""How long a dismissal holds: values and labels. A value is a number of days, or `FOR_GOOD`."""


def dismissal(post_id: str, finding_id: str, response_url: str = "") -> Element:
    """Return the form for `views.open`. Its `private_metadata` is JSON with `post`, `finding` and `response_url`."""
    metadata = {"post": post_id, "finding": finding_id, "response_url": response_url}
    until = {**menu(UNTIL, "Until", TERMS), "initial_option": option(FOR_GOOD, TERMS[FOR_GOOD])}
    why = {"type": "plain_text_input", "action_id": WHY, "multiline": True, "min_length": 1, "max_length": LONGEST_WHY}
    return {
        "type": "modal",
        "callback_id": DISMISSAL,
        "private_metadata": json.dumps(metadata),
        "title": plain("Dismiss a finding"),
        "submit": plain("Dismiss"),
        "close": plain("Cancel"),
        "blocks": [
            lines("Slackwater does not report it again until then. Everyone can see who dismissed it and why."),
            {"type": "input", "block_id": WHY, "label": plain("Why"), "element": why},
            {"type": "input", "block_id": UNTIL, "label": plain("Until"), "element": until},
        ],
    }
