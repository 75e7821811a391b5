"""Sends the deployed endpoint a request like Slack's, to check that it exists and has the signing secret."""

import json
import urllib.request
from datetime import datetime
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

from slackwater.ports.slack import DeliveryUnknownError

TIMEOUT_S: Final = 10

NOTHING: Final = {"type": "block_actions", "user": {"id": "USLACKWATER"}, "actions": [], "view": {}}
"""A choice in a form that is not submitted yet. The endpoint does nothing for it, whatever the user."""


def check_endpoint(url: str, signing_secret: str, now: datetime) -> int:
    """Return the HTTP status that the endpoint returns for a signed request that asks for nothing.

    Each request has a different body, because the endpoint refuses one that it has received before.

    Raises:
        DeliveryUnknownError: The endpoint did not answer.
    """
    body = urlencode({"payload": json.dumps(NOTHING | {"trigger_id": now.isoformat()})})
    stamp = str(int(now.timestamp()))
    signature = SignatureVerifier(signing_secret).generate_signature(timestamp=stamp, body=body)
    request = urllib.request.Request(  # noqa: S310 -- the URL is an output of the stack
        url,
        data=body.encode(),
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature or "",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except (OSError, HTTPException) as error:
        raise DeliveryUnknownError(f"no answer: {error}") from error
