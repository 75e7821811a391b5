"""The types of the API's parameters and bodies, and the checks of every request."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Self

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import UnauthorizedError
from aws_lambda_powertools.event_handler.middlewares.openapi_validation import OpenAPIRequestValidationMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Path, Query
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from slackwater.app.dates import parse_time
from slackwater.app.findings.findings import LONGEST_WHY
from slackwater.model.listing import MAX_PAGE, FindingOrder
from slackwater.model.nearest import did_you_mean
from slackwater.model.policy import ACCOUNT
from slackwater.model.tracking import LONGEST_SNOOZE, SERVICE, Status
from slackwater.model.verdicts import Severity

REGION: Final = "^[a-z]{2}(-[a-z]+)+-[0-9]+$"
DETECTOR: Final = "^[a-z0-9]+(-[a-z0-9]+)+$"
ID: Final = "^[A-Za-z0-9_-]+$"
JSON: Final = "application/json"

Id = Annotated[str, Path(description="Its id", max_length=80, pattern=ID)]
Ids = Annotated[
    str | None,
    Query(
        description="Ids of findings, with commas between them; all that may be, where none is named",
        max_length=2_000,
        pattern="^[A-Za-z0-9_-]{1,80}(,[A-Za-z0-9_-]{1,80})*$",
    ),
]
Limit = Annotated[int, Query(description="How many at most", ge=1, le=MAX_PAGE)]
Cursor = Annotated[str | None, Query(description="Where to go on: the cursor of the page before", max_length=1_024)]

StatusFilter = Annotated[Status, Query(description="What became of it")]
DetectorFilter = Annotated[str | None, Query(description="The detector that found it", pattern=DETECTOR, max_length=64)]
AccountFilter = Annotated[str | None, Query(description="The account it is in", pattern="^[0-9]{12}$")]
RegionFilter = Annotated[str | None, Query(description="The region it is in", pattern=REGION, max_length=32)]
SeverityFilter = Annotated[Severity | None, Query(description="How severe it is")]
Minimum = Annotated[
    str | None,
    Query(
        description="What it saves at least, in USD a month; unknown savings are left out",
        pattern=r"^[0-9]{1,9}(\.[0-9]{1,2})?$",
    ),
]
Order = Annotated[FindingOrder, Query(description="What comes first; a minus is the greatest, or the newest")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="What you call this request: the same caller and key are one audit, however often they ask",
        pattern="^[A-Za-z0-9_-]{1,64}$",
    ),
]

Why = Annotated[str, StringConstraints(max_length=LONGEST_WHY), AfterValidator(str.strip)]


def _until(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("not a text")  # noqa: TRY004 -- pydantic turns it into a validation error
    return parse_time(value)


Until = Annotated[datetime, BeforeValidator(_until), WithJsonSchema({"type": "string", "format": "date-time"})]


OF_OTHERS: Final = ("arn:", "slack:")
"""Prefixes of callers that AWS or Slack has identified. A name from a token must not have one."""


class Request(BaseModel):
    """A request body. Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Snooze(Request):
    """Hides a finding from the open ones: until a time, or for a number of days."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["until"], "properties": {"until": {"type": "string"}}},
                {"required": ["days"], "properties": {"days": {"type": "integer"}}},
            ]
        }
    )

    until: Until | None = Field(default=None, description="A time to come, at most 366 days away")
    days: int | None = Field(default=None, ge=1, le=LONGEST_SNOOZE.days)
    why: Why = ""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.until is None) == (self.days is None):
            raise ValueError("say either until when or for how many days")
        return self


class Dismiss(Request):
    """Records that nobody will act on a finding, and why: until a time, or for good."""

    why: Annotated[
        str, StringConstraints(min_length=1, max_length=LONGEST_WHY, pattern=r"\S"), AfterValidator(str.strip)
    ]
    until: Until | None = Field(default=None, description="A time to come; for good without it")


class Reopen(Request):
    """Opens a finding again."""

    why: Why = ""


class Approve(Request):
    """Approves the clean-up of a finding in the state in which the caller saw it."""

    fingerprint: Annotated[str, StringConstraints(min_length=1, max_length=128)] = Field(
        description="The finding's, as it was seen: of another one the approval is refused"
    )


class Run(Request):
    """Names the findings to clean up. Without ids, these are all that may be cleaned up."""

    findings: list[Annotated[str, StringConstraints(pattern=ID, max_length=80)]] = Field(
        default=[], max_length=100, description="Their ids"
    )


class Because(Request):
    """The reason."""

    why: Why = ""


class Adopt(Request):
    """Names the backup to adopt, and the reason."""

    backup: Annotated[str, StringConstraints(min_length=1, max_length=256)] = Field(
        description="Its id, or its ARN if it is a recovery point"
    )
    why: Annotated[Why, StringConstraints(min_length=1)]
    places: list[Annotated[str, StringConstraints(pattern=ID, max_length=64)]] = Field(
        default=[],
        max_length=2,
        description="Where to restore it: the zone of a volume, the subnets of an FSx file system",
    )
    region: Annotated[str, StringConstraints(pattern=REGION, max_length=32)] | None = Field(
        default=None, description="Where it is; without it, every region of the account is looked at"
    )


class Start(Request):
    """Says what to audit. What is left out follows the policy."""

    regions: list[Annotated[str, StringConstraints(pattern=REGION, max_length=32)]] = Field(default=[], max_length=64)
    detectors: list[Annotated[str, StringConstraints(pattern=DETECTOR, max_length=64)]] = Field(
        default=[], max_length=64
    )
    accounts: list[Annotated[str, StringConstraints(pattern=ACCOUNT)]] = Field(
        default=[], max_length=1_000, description="Of the organization's accounts that the policy names"
    )
    retry_of: Annotated[str, StringConstraints(pattern=ID, max_length=80)] | None = Field(
        default=None, description="An audit, of which what was not seen whole is audited again; alone"
    )

    @model_validator(mode="after")
    def _alone(self) -> Self:
        if self.retry_of and (self.regions or self.detectors or self.accounts):
            raise ValueError("retry_of uses that audit's regions, detectors and accounts; leave these out")
        return self


JUST_REOPEN: Final = Reopen()
RUN_ALL: Final = Run()
NO_REASON: Final = Because()
POLICY_DEFAULTS: Final = Start()

SnoozeBody = Annotated[Snooze, Body()]
DismissBody = Annotated[Dismiss, Body()]
ReopenBody = Annotated[Reopen, Body()]
ApproveBody = Annotated[Approve, Body()]
RunBody = Annotated[Run, Body()]
ReasonBody = Annotated[Because, Body()]
StartBody = Annotated[Start, Body()]
AdoptBody = Annotated[Adopt, Body()]


def caller(event: APIGatewayProxyEventV2) -> str:
    """Return who sent a request: the ARN that signed it, or the verified e-mail address or else the subject of its
    token. API Gateway has checked the signature or the token.

    Raises:
        UnauthorizedError: There is no caller, which means that the route has no authorizer. Or the caller has the name
            of the service itself, or a token claims a name that only AWS or Slack can give.
    """
    authorizer = event.request_context.authorizer
    claims = authorizer.jwt_claim
    email = claims.get("email") if str(claims.get("email_verified")).lower() == "true" else None
    signed = str(authorizer.iam.user_arn or "").strip()
    who = signed or str(email or claims.get("sub") or "").strip()
    if who and who != SERVICE and (signed or not who.startswith(OF_OTHERS)):
        return who
    raise UnauthorizedError("Sign the request with AWS Signature Version 4, or send a token if the API takes tokens.")


def invalid(where: Sequence[str], what: str) -> RequestValidationError:
    """Return the error for an invalid part of a request."""
    return RequestValidationError([{"loc": tuple(where), "msg": what, "type": "value_error"}])


type Next = Callable[[APIGatewayHttpResolver], Response[Any]]


def known_caller(app: APIGatewayHttpResolver, next_middleware: Next) -> Response[Any]:
    """Refuse a request without a valid caller."""
    caller(app.current_event)
    return next_middleware(app)


def json_object(app: APIGatewayHttpResolver, next_middleware: Next) -> Response[Any]:
    """Refuse a body that is not a JSON object. Powertools also accepts forms, and the first element of an array."""
    event = app.current_event
    if app.context["_route"].dependant.body_params and event.body:
        media_type = event.headers.get("content-type", JSON)
        if media_type.partition(";")[0].strip().lower() != JSON:
            raise RequestUnsupportedContentType(f"The body must be {JSON}, and is {media_type}.", [])
        event.raw_event["headers"] = event.headers | {"content-type": JSON}  # Powertools compares it in lower case
        try:
            body = event.json_body
        except ValueError as error:  # not JSON, or not even text
            raise invalid(["body"], f"is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise invalid(["body"], "is not a JSON object")
    return next_middleware(app)


def known_parameters(app: APIGatewayHttpResolver, next_middleware: Next) -> Response[Any]:
    """Refuse unknown query parameters, because a misspelt filter would otherwise have no effect."""
    valid = {field.alias for field in app.context["_route"].dependant.query_params}
    if unknown := [name for name in app.current_event.query_string_parameters if name not in valid]:
        name = unknown[0]
        raise invalid(["query", name], f"no such parameter; {did_you_mean(name, valid, 'GET /openapi.json')}")
    return next_middleware(app)


def as_sent(app: APIGatewayHttpResolver, next_middleware: Next) -> Response[Any]:
    """Pass the body on as it was sent. The use case validates it, and suggests the nearest valid value."""
    if not app.current_event.body:
        raise invalid(["body"], "is needed: a JSON object of inputs")
    app.context["_route_args"] = {"body": app.current_event.json_body}
    return next_middleware(app)


CHECKS: Final = (
    known_caller,
    json_object,
    known_parameters,
    OpenAPIRequestValidationMiddleware(),  # type: ignore[no-untyped-call]
)
"""The checks of most routes, in order. They replace Powertools' `enable_validation`, which would validate before them.
"""
CHECKS_AS_SENT: Final = (known_caller, json_object, known_parameters, as_sent)
"""The checks of a route whose use case validates the body itself. The type of the body is for the document only."""
