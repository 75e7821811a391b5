"""Checks audit requests, and creates ids of audits."""

import hashlib
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from slackwater.app.policy.names import LIST_DETECTORS, LIST_REGIONS
from slackwater.model.audits import AuditRequest
from slackwater.model.nearest import unknown

REQUEST: Final = TypeAdapter(AuditRequest)

LIST_ACCOUNTS: Final = "the policy's organization section"


class AuditRequestError(Exception):
    """A request names something that does not exist. The message has one problem a line."""


def check_detectors(request: AuditRequest, valid: Iterable[str]) -> None:
    """Check that the requested detectors exist.

    Raises:
        AuditRequestError: Names each detector that does not.
    """
    _refuse_all_but(valid, request.detectors, "detector", LIST_DETECTORS)


def check_accounts(request: AuditRequest, valid: Iterable[str]) -> None:
    """Check that the policy selects the requested accounts.

    Raises:
        AuditRequestError: Names each account that it does not select.
    """
    _refuse_all_but(valid, request.accounts, "account", LIST_ACCOUNTS)


def check_regions(request: AuditRequest, valid: Iterable[str]) -> None:
    """Check that the requested regions exist.

    Raises:
        AuditRequestError: Names each region that does not.
    """
    _refuse_all_but(valid, request.regions, "region", LIST_REGIONS)


def request_of(value: object) -> AuditRequest:
    """Return the value as a request for the record. If it is not a valid request, return one by "unknown"."""
    try:
        return REQUEST.validate_python(value)
    except ValidationError:
        return AuditRequest(requested_by="unknown")


def new_id(now: datetime) -> str:
    """Return an id that sorts by time: `20261116T090700Z-1f0c22ab`."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"


def keyed_id(requested_by: str, key: str) -> str:
    """Return the id of the audit that this requester names `key`."""
    return f"key-{hashlib.sha256(f'{requested_by}\n{key}'.encode()).hexdigest()[:32]}"


def _refuse_all_but(valid: Iterable[str], named: Iterable[str], noun: str, listed_by: str) -> None:
    if problems := unknown(noun, named, valid, listed_by):
        raise AuditRequestError("\n".join(problems))
