"""Translates botocore's errors to errors whose messages say what to do."""

from collections.abc import Iterator, Sequence
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
"""Error codes with which a service rejects a call because the rate is too high."""


def code_of(error: boto.ClientError) -> str:
    """Return AWS's error code, or an empty string."""
    return error.response.get("Error", {}).get("Code", "")


def reason(error: BaseException) -> str:
    """Return one line for an access error: the error's code and message, without request ids."""
    if isinstance(error, boto.ClientError):
        details = error.response.get("Error", {})
        return reason_line(details.get("Code", "Unknown"), details.get("Message", ""))
    return reason_of(error)


def is_final(error: BaseException) -> bool:
    """Return whether a retry cannot help: access denied, invalid or missing credentials, or no connection."""
    if isinstance(error, boto.ClientError):
        return error.response.get("Error", {}).get("Code", "") in DENIED | EXPIRED | NOT_KNOWN
    return isinstance(
        error, boto.HTTPClientError | boto.ConnectionError | boto.NoCredentialsError | boto.CredentialRetrievalError
    )


def may_pass(error: BaseException) -> bool:
    """Return whether the same call may succeed later: throttled, no connection, or an error on AWS's side."""
    if isinstance(error, AwsError):
        return error.transient
    if isinstance(error, boto.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or error.response.get("Error", {}).get("Code", "") in THROTTLED
    return isinstance(error, boto.HTTPClientError | boto.ConnectionError)


@contextmanager
def remedies() -> Iterator[None]:
    """Raise botocore's errors as an AwsError that says what to do. Other errors pass unchanged."""
    try:
        yield
    except (boto.BotoCoreError, boto.ClientError, ResponseParserError, KeyError, ValueError) as error:
        raise translated(error) from error


def translated(error: Exception) -> AwsError:
    """Return the AwsError for an error of botocore. Its message says what to do."""
    found = _translated(error)
    found.transient = may_pass(error)
    return found


def as_aws_error(error: Exception) -> Exception:
    """Return the AwsError for a botocore error that an adapter did not translate. Return any other error unchanged."""
    return translated(error) if isinstance(error, boto.BotoCoreError | boto.ClientError) else error


type ErrorTypes = tuple[type[Exception], ...]

REMEDIES: Final[Sequence[tuple[ErrorTypes, type[AwsError], str]]] = (
    (
        (boto.ProfileNotFound,),
        NoCredentialsError,
        "{error}: `aws configure list-profiles` names those there are",
    ),
    (
        (boto.ConfigParseError, boto.InvalidConfigError, boto.PartialCredentialsError),
        NoCredentialsError,
        "The AWS configuration cannot be used: {error}",
    ),
    (
        (boto.NoCredentialsError,),
        NoCredentialsError,
        (
            "No AWS credentials found: run `aws configure` or `aws sso login`, name a profile with --profile, "
            "or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ),
    ),
    (
        (boto.UnauthorizedSSOTokenError, boto.TokenRetrievalError, boto.SSOTokenLoadError),
        ExpiredCredentialsError,
        "The sign-in has run out: run `aws sso login` again ({why})",
    ),
    (
        (boto.CredentialRetrievalError, boto.NoAuthTokenError),
        NoCredentialsError,
        "The credentials could not be fetched: {error}",
    ),
    (
        (boto.HTTPClientError, boto.ConnectionError),
        UnreachableError,
        "{why}: check the network, the proxy, the region and AWS_ENDPOINT_URL",
    ),
    (
        (boto.InvalidRegionError, boto.UnknownRegionError, boto.NoRegionError),
        UnreachableError,
        "{why}: name a region with --region or AWS_REGION",
    ),
    (
        (ValueError,),  # botocore raises it for an invalid setting
        AwsError,
        "An AWS setting cannot be used ({error}): check AWS_ENDPOINT_URL and the other AWS_ variables",
    ),
    (
        (ResponseParserError, KeyError),
        UnreachableError,
        "What answers does not speak as AWS does ({why}): check AWS_ENDPOINT_URL and the proxy",
    ),
)
"""For each type of botocore error, the error to raise and its message. The first matching type applies."""


def _translated(error: Exception) -> AwsError:
    why = reason(error)
    if isinstance(error, boto.ClientError):
        return _refused(error, why)
    for types, translation, message in REMEDIES:
        if isinstance(error, types):
            return translation(message.format(error=error, why=why))
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
            "The role may not be assumed: its trust policy must name the caller, and the external id must match "
            f"({why})"
        )
    if code in DENIED:
        return AccessDeniedError(f"Not allowed: the caller's policy lacks this action ({why})")
    return BusyError(why) if may_pass(error) else AwsError(why)
