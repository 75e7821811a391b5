"""What can go wrong between here and AWS, in words that say what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from slackwater.ports.errors import (
    AccessDeniedError,
    AwsError,
    BusyError,
    ExpiredCredentialsError,
    NoCredentialsError,
    UnreachableError,
    reason_line,
    reason_of,
)

DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"})
EXPIRED: Final = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
NOT_KNOWN: Final = frozenset(
    {
        "AuthFailure",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)

THROTTLED: Final = frozenset(
    {
        "EC2ThrottledException",
        "ExecutionLimitExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "Throttling",
        "ThrottledException",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
"""By these a service says that it was asked too fast."""


def code_of(error: boto.ClientError) -> str:
    """AWS's name of an error."""
    return error.response.get("Error", {}).get("Code", "")


def reason(error: BaseException) -> str:
    """Return one line for a gap: the error's code and message, without request ids."""
    if isinstance(error, boto.ClientError):
        details = error.response.get("Error", {})
        return reason_line(details.get("Code", "Unknown"), details.get("Message", ""))
    return reason_of(error)


def is_final(error: BaseException) -> bool:
    """True where asking again cannot help: not allowed, not known, or nothing there."""
    if isinstance(error, boto.ClientError):
        return error.response.get("Error", {}).get("Code", "") in DENIED | EXPIRED | NOT_KNOWN
    return isinstance(
        error, boto.HTTPClientError | boto.ConnectionError | boto.NoCredentialsError | boto.CredentialRetrievalError
    )


def may_pass(error: BaseException) -> bool:
    """True where the same call may work a moment later: throttled, out of reach, or AWS's own fault."""
    if isinstance(error, AwsError):
        return error.transient
    if isinstance(error, boto.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or error.response.get("Error", {}).get("Code", "") in THROTTLED
    return isinstance(error, boto.HTTPClientError | boto.ConnectionError)


@contextmanager
def remedies() -> Iterator[None]:
    """Raise what botocore raises as an AwsError that says what to do. Other errors pass unchanged."""
    try:
        yield
    except (boto.BotoCoreError, boto.ClientError, ResponseParserError, KeyError, ValueError) as error:
        raise translated(error) from error


def translated(error: Exception) -> AwsError:
    """Return the AwsError that says what to do about an error of botocore."""
    found = _translated(error)
    found.transient = may_pass(error)
    return found


def as_aws_error(error: Exception) -> Exception:
    """Return the AwsError of an error that an adapter let pass untranslated; any other error as it is."""
    return translated(error) if isinstance(error, boto.BotoCoreError | boto.ClientError) else error


def _translated(error: Exception) -> AwsError:
    why = reason(error)
    match error:
        case boto.ClientError():
            return _refused(error, why)
        case boto.ProfileNotFound():
            return NoCredentialsError(f"{error}: `aws configure list-profiles` names those there are")
        case boto.ConfigParseError() | boto.InvalidConfigError() | boto.PartialCredentialsError():
            return NoCredentialsError(f"The AWS configuration cannot be used: {error}")
        case boto.NoCredentialsError():
            return NoCredentialsError(
                "No AWS credentials found: run `aws configure` or `aws sso login`, name a profile with --profile, "
                "or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        case boto.UnauthorizedSSOTokenError() | boto.TokenRetrievalError() | boto.SSOTokenLoadError():
            return ExpiredCredentialsError(f"The sign-in has run out: run `aws sso login` again ({why})")
        case boto.CredentialRetrievalError() | boto.NoAuthTokenError():
            return NoCredentialsError(f"The credentials could not be fetched: {error}")
        case boto.HTTPClientError() | boto.ConnectionError():
            return UnreachableError(f"{why}: check the network, the proxy, the region and AWS_ENDPOINT_URL")
        case boto.InvalidRegionError() | boto.UnknownRegionError() | boto.NoRegionError():
            return UnreachableError(f"{why}: name a region with --region or AWS_REGION")
        case ValueError():  # botocore's own way to refuse a setting
            return AwsError(
                f"An AWS setting cannot be used ({error}): check AWS_ENDPOINT_URL and the other AWS_ variables"
            )
        case ResponseParserError() | KeyError():
            return UnreachableError(
                f"What answers does not speak as AWS does ({why}): check AWS_ENDPOINT_URL and the proxy"
            )
        case _:
            return AwsError(why)


def _refused(error: boto.ClientError, why: str) -> AwsError:
    code = error.response.get("Error", {}).get("Code", "")
    if code in EXPIRED:
        return ExpiredCredentialsError(
            f"The credentials have expired: sign in again, for example by `aws sso login` ({why})"
        )
    if code in NOT_KNOWN:
        return NoCredentialsError(
            "AWS does not accept these credentials: check the profile or the keys, and the region, "
            f"which must be one of their partition (aws, aws-cn, aws-us-gov, …) and enabled ({why})"
        )
    if code in DENIED and error.operation_name == "AssumeRole":
        return AccessDeniedError(
            f"The role may not be assumed: its trust policy must name the caller, and the external id must match ({why})"
        )
    if code in DENIED:
        return AccessDeniedError(f"Not allowed: the caller's policy lacks this action ({why})")
    return BusyError(why) if may_pass(error) else AwsError(why)
