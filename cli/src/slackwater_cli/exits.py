"""Exit statuses of commands, and the errors that lead to them."""

from enum import IntEnum

from slackwater.ports.errors import AwsError


class ExitStatus(IntEnum):
    """The exit status of a command."""

    COMPLETE = 0
    FAIL_ON_MET = 1
    WRONG_USAGE = 2
    INCOMPLETE = 3
    NO_ACCESS = 4
    INTERNAL_ERROR = 70
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    TERMINATED = 143


class UsageError(Exception):
    """An option is invalid, or options conflict. The message says how to fix it."""


class OutputClosedError(Exception):
    """The reader of standard output closed it."""


def status_of(error: Exception) -> ExitStatus:
    """Return the exit status for an error that ended a command."""
    from typer import TyperException

    match error:
        case UsageError() | TyperException():
            return ExitStatus.WRONG_USAGE
        case AwsError():
            return ExitStatus.NO_ACCESS
        case OutputClosedError():
            return ExitStatus.OUTPUT_CLOSED
        case _:
            return _status_of_use_case(error)


def _status_of_use_case(error: Exception) -> ExitStatus:
    """Return the exit status for a use-case error. The imports are local so that usage errors appear without delay."""
    from slackwater.app.audit.request import AuditRequestError
    from slackwater.app.estimates.estimates import EstimateError
    from slackwater.app.findings.findings import BadDecisionError, ConflictError, NotAllowedError, NotFoundError
    from slackwater.app.policy.file import PolicyError
    from slackwater.app.recording.file import RecordingError

    match error:
        case PolicyError() | AuditRequestError() | EstimateError() | RecordingError():
            return ExitStatus.WRONG_USAGE
        case NotFoundError() | BadDecisionError() | ConflictError():
            return ExitStatus.WRONG_USAGE
        case NotAllowedError():
            return ExitStatus.NO_ACCESS
        case _:
            return ExitStatus.INTERNAL_ERROR
