"""What may be asked of an audit, and what it is called."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from slackwater.app.policy.file import LIST_DETECTORS, LIST_REGIONS
from slackwater.model.audits import AuditRequest
from slackwater.model.nearest import unknown

REQUEST: Final = TypeAdapter(AuditRequest)

LIST_ACCOUNTS: Final = "the policy's organization section"


class AuditRequestError(Exception):
    """An audit that cannot be: it names detectors or regions that nobody knows, one a line."""


def check_detectors(request: AuditRequest, valid: Iterable[str]) -> None:
    """Refuse detectors that there are not.

    Raises:
        AuditRequestError: with each of them.
    """
    _refuse_all_but(valid, request.detectors, "detector", LIST_DETECTORS)


def check_accounts(request: AuditRequest, valid: Iterable[str]) -> None:
    """Refuse accounts that the policy does not name.

    Raises:
        AuditRequestError: with each of them.
    """
    _refuse_all_but(valid, request.accounts, "account", LIST_ACCOUNTS)


def check_regions(request: AuditRequest, valid: Iterable[str]) -> None:
    """Refuse regions that there are not.

    Raises:
        AuditRequestError: with each of them.
    """
    _refuse_all_but(valid, request.regions, "region", LIST_REGIONS)


def request_of(value: object) -> AuditRequest:
    """A request that somebody made, for the record; one that is none was made by nobody known."""
    try:
        return REQUEST.validate_python(value)
    except ValidationError:
        return AuditRequest(requested_by="unknown")


def new_id(now: datetime) -> str:
    """An id of which later ones sort after earlier ones: `20261116T090700Z-1f0c22ab`."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"


def keyed_id(requested_by: str, key: str) -> str:
    """The one id for what this requester calls `key`."""
    return f"key-{hashlib.sha256(f'{requested_by}\n{key}'.encode()).hexdigest()[:32]}"


def _refuse_all_but(valid: Iterable[str], named: Iterable[str], noun: str, listed_by: str) -> None:
    if problems := unknown(noun, named, valid, listed_by):
        raise AuditRequestError("\n".join(problems))
