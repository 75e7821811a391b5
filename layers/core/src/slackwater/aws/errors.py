"""What can go wrong between here and AWS, in words that say what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

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

MAX_REASON: Final = 240
"""Characters of a reason: enough for the caller's ARN and the action, without the encoded policy that some services add."""

WHO_DENIES: Final = re.compile(r"(?:with an explicit deny in an?|because no) [a-z-][a-z -]* policy\b(?::? arn:\S+| allows)?")
"""The kind of policy that denies, as AWS names it behind long ARNs, and its own ARN: it must not be cut off."""


class AwsError(Exception):
    """Something that stands between here and AWS; the message says what, and the remedy."""


class NoCredentialsError(AwsError):
    """There are no credentials, or AWS does not accept them."""


class ExpiredCredentialsError(NoCredentialsError):
    """The credentials were good once."""


class AccessDeniedError(AwsError):
    """The credentials are good, and may not do this."""


class UnreachableError(AwsError):
    """Nothing answers, or nothing that speaks as AWS does."""


class BusyError(AwsError):
    """Asked again and again, it was throttled, or did a part only."""


class BrokenAnswerError(AwsError):
    """An answer that lacks what it must hold, or repeats itself: it must not be taken for an empty account."""


class FormatError(BrokenAnswerError):
    """A stored document of a format that this version does not read; the message names the document and the remedy."""


def code_of(error: boto.ClientError) -> str:
    """AWS's name of an error."""
    return error.response.get("Error", {}).get("Code", "")


def reason(error: BaseException) -> str:
    """One line for a gap: the error's code and message, without request ids."""
    if isinstance(error, boto.ClientError):
        details = error.response.get("Error", {})
        name, text = details.get("Code", "Unknown"), details.get("Message", "")
    elif isinstance(error, KeyError):
        name, text = "BrokenAnswer", f"it lacks {error}"
    elif isinstance(error, TypeError | AttributeError | ValueError):  # what botocore or a reader stumbled over
        name, text = "BrokenAnswer", f"it cannot be read ({error})"
    else:
        name, text = type(error).__name__, str(error)
    text = re.sub(r"\s*\(?Request ?ID:[^)]*\)?", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*Encoded authorization failure message:.*", "", text, flags=re.DOTALL)
    text = " ".join(text.split())
    line = f"{name}: {text}" if text else name
    if len(line) <= MAX_REASON:
        return line
    who = WHO_DENIES.search(line)
    tail = f"… {who[0]}" if who and who.end() >= MAX_REASON and len(who[0]) < MAX_REASON * 3 // 4 else "…"
    return line[: MAX_REASON - len(tail)] + tail


def is_final(error: BaseException) -> bool:
    """True where asking again cannot help: not allowed, not known, or nothing there."""
    if isinstance(error, boto.ClientError):
        return error.response.get("Error", {}).get("Code", "") in DENIED | EXPIRED | NOT_KNOWN
    return isinstance(
        error, boto.HTTPClientError | boto.ConnectionError | boto.NoCredentialsError | boto.CredentialRetrievalError
    )


def may_pass(error: BaseException) -> bool:
    """True where the same call may work a moment later: throttled, out of reach, or AWS's own fault."""
    if isinstance(error, AwsError) and error.__cause__:
        return may_pass(error.__cause__)
    if isinstance(error, boto.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return status >= 500 or error.response.get("Error", {}).get("Code", "") in THROTTLED
    return isinstance(error, BusyError | boto.HTTPClientError | boto.ConnectionError)


@contextmanager
def remedies() -> Iterator[None]:
    """Raise what botocore raises as an AwsError that says what to do. Other errors pass unchanged."""
    try:
        yield
    except (boto.BotoCoreError, boto.ClientError, ResponseParserError, KeyError, ValueError) as error:
        raise translated(error) from error


def translated(error: Exception) -> AwsError:
    """The AwsError that says what to do about an error of botocore's."""
    said = reason(error)
    match error:
        case boto.ClientError():
            return _refused(error, said)
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
            return ExpiredCredentialsError(f"The sign-in has run out: run `aws sso login` again ({said})")
        case boto.CredentialRetrievalError() | boto.NoAuthTokenError():
            return NoCredentialsError(f"The credentials could not be fetched: {error}")
        case boto.HTTPClientError() | boto.ConnectionError():
            return UnreachableError(f"{said}: check the network, the proxy, the region and AWS_ENDPOINT_URL")
        case boto.InvalidRegionError() | boto.UnknownRegionError() | boto.NoRegionError():
            return UnreachableError(f"{said}: name a region with --region or AWS_REGION")
        case ValueError():  # botocore's own way to refuse a setting
            return AwsError(f"An AWS setting cannot be used ({error}): check AWS_ENDPOINT_URL and the other AWS_ variables")
        case ResponseParserError() | KeyError():
            return UnreachableError(f"What answers does not speak as AWS does ({said}): check AWS_ENDPOINT_URL and the proxy")
        case _:
            return AwsError(said)


def _refused(error: boto.ClientError, said: str) -> AwsError:
    code = error.response.get("Error", {}).get("Code", "")
    if code in EXPIRED:
        return ExpiredCredentialsError(f"The credentials have expired: sign in again, for example by `aws sso login` ({said})")
    if code in NOT_KNOWN:
        return NoCredentialsError(
            "AWS does not accept these credentials: check the profile or the keys, and the region, "
            f"which must be one of their partition (aws, aws-cn, aws-us-gov, …) and enabled ({said})"
        )
    if code in DENIED and error.operation_name == "AssumeRole":
        return AccessDeniedError(
            f"The role may not be assumed: its trust policy must name the caller, and the external id must match ({said})"
        )
    if code in DENIED:
        return AccessDeniedError(f"Not allowed: the caller's policy lacks this action ({said})")
    return BusyError(said) if may_pass(error) else AwsError(said)
