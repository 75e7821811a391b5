"""How a command ends: the exit status, and the errors that choose it."""

from __future__ import annotations

from enum import IntEnum

from typer import TyperException

from slackwater.app.audit.request import AuditRequestError
from slackwater.app.estimates.estimates import EstimateError
from slackwater.app.findings.findings import BadDecisionError, ConflictError, NotAllowedError, NotFoundError
from slackwater.app.policy.file import PolicyError
from slackwater.app.recording.file import RecordingError
from slackwater.ports.errors import AwsError


class ExitStatus(IntEnum):
    """What the shell is told."""

    COMPLETE = 0
    FAIL_ON_MET = 1
    WRONG_USAGE = 2
    INCOMPLETE = 3
    NO_ACCESS = 4
    OUR_ERROR = 70
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    TERMINATED = 143


class UsageError(Exception):
    """Options that make no sense; the message says which would."""


class OutputClosedError(Exception):
    """Whoever read our standard output has had enough."""


def status_of(error: Exception) -> ExitStatus:
    """The exit status for an error that ended a command."""
    match error:
        case UsageError() | PolicyError() | AuditRequestError() | EstimateError() | RecordingError() | TyperException():
            return ExitStatus.WRONG_USAGE
        case NotFoundError() | BadDecisionError() | ConflictError():
            return ExitStatus.WRONG_USAGE
        case AwsError() | NotAllowedError():
            return ExitStatus.NO_ACCESS
        case OutputClosedError():
            return ExitStatus.OUTPUT_CLOSED
        case _:
            return ExitStatus.OUR_ERROR
