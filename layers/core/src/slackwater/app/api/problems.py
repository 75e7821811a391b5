"""Errors of the API as problem documents (RFC 9457), and their description in the OpenAPI document."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import ServiceError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError

from slackwater.app.api.requests import CHECKS
from slackwater.app.audit.limits import TooManyAuditsError
from slackwater.app.audit.request import AuditRequestError
from slackwater.app.estimates.estimates import EstimateError, UnknownKindError
from slackwater.app.findings.findings import BadDecisionError, ConflictError, NotAllowedError, NotFoundError
from slackwater.app.policy.file import PolicyError
from slackwater.app.telemetry import LOGGER
from slackwater.model.listing import BadCursorError
from slackwater.ports.errors import AwsError, reason_of
from slackwater.views.api.document import GatewayDocument, InvalidPartDocument, ProblemDocument

type Handler = Callable[..., Any]

PROBLEM_JSON: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5

MOST_ERRORS: Final = 20
LONGEST_PART: Final = 200
"""How many characters of a request a response repeats at most."""

UNFIT: Final = "The request cannot be granted as it is."

REASONS: Final[Mapping[int, str]] = {
    401: "The request is not signed, or its token is not good",
    403: "The caller may not do this",
    404: "There is none of this id, or none yet",
    409: "Not as things are, or somebody else has just changed them; `detail` says which",
    413: "The body is too long",
    415: "The body is not JSON",
    422: "The request cannot be granted as it is; `errors` says where, of the first 20 mistakes",
    429: "Too many requests",
    500: "A mistake of ours, logged under `instance`",
    503: "Something that the service needs is too busy or out of reach",
}
ALWAYS: Final = (401, 403, 422, 429, 500, 503)
FROM_GATEWAY: Final = frozenset({401, 403, 404, 413, 429, 500, 503})
"""Statuses that API Gateway itself may return, with a body of its own."""
FROM_SERVICE: Final = frozenset(REASONS) - {413, 429}


def route(  # noqa: PLR0913 -- each keyword is an option of the route
    register: Callable[..., Callable[[Handler], Handler]],
    path: str,
    answer: str,
    *problems: int,
    status: int = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
    checks: Sequence[Handler] = CHECKS,
    documented: bool = True,
) -> Callable[[Handler], Handler]:
    """Register a function for a path, with its checks. The OpenAPI document has its docstring and return type.

    Args:
        register: The resolver's method.
        path: The path.
        answer: The description of the response body in the document.
        *problems: Error statuses besides those of every route.
        status: The status of a successful response.
        headers: Response headers with their descriptions.
        checks: Run before the function.
        documented: Whether the document has the route.
    """
    good: dict[str, Any] = {"description": answer}
    if headers:
        good["headers"] = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
    responses = {int(status): good, **{code: _refusal(code) for code in sorted({*ALWAYS, *problems})}}

    def decorate(function: Handler) -> Handler:
        summary = (function.__doc__ or "").rstrip(".")
        registered = register(
            path,
            summary=summary,
            operation_id=function.__name__,
            responses=responses,
            include_in_schema=documented,
            middlewares=list(checks),
        )
        return registered(function)

    return decorate


def answer_problems(api: APIGatewayHttpResolver, as_aws_error: Callable[[Exception], Exception]) -> None:
    """Answer every error, and every unknown path, with a problem document.

    Args:
        api: The resolver of the API.
        as_aws_error: Returns the AwsError for an error of the AWS SDK, and any other error as it is.
    """

    def answer(raised: Exception) -> Response[str]:
        error = as_aws_error(raised)
        status, detail, errors = _describe(error)
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            LOGGER.exception("unexpected")
        elif status == HTTPStatus.SERVICE_UNAVAILABLE:
            LOGGER.warning("out of reach", reason=reason_of(error))
        problem: ProblemDocument = {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            "instance": f"urn:uuid:{api.lambda_context.aws_request_id}",
        }
        if errors:
            problem["errors"] = errors[:MOST_ERRORS]
        if isinstance(error, TooManyAuditsError):
            problem["running"] = list(error.running)
        headers = {"Retry-After": str(RETRY_AFTER_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        return Response(status, PROBLEM_JSON, json.dumps(problem), headers)

    api.exception_handler(Exception)(answer)


def _describe(error: Exception) -> tuple[int, str, list[InvalidPartDocument]]:
    """Return the status, the detail, and the invalid parts of the request."""
    for type_, status, detail_of in ANSWERS:
        if isinstance(error, type_):
            return status, detail_of(error), []
    if (invalid := _invalid_parts(error)) is not None:
        return 422, UNFIT, invalid
    if isinstance(error, ServiceError):
        return error.status_code, str(error.msg), []
    if isinstance(error, AwsError) and error.transient:
        return 503, "Something that the service needs is too busy or out of reach; try again.", []
    return 500, "A mistake of ours; it is logged under this instance.", []


def _invalid_parts(error: Exception) -> list[InvalidPartDocument] | None:
    """Return the invalid parts of the request that an error reports; None if it is about something else."""
    match error:
        case RequestValidationError():
            return [_part(one["loc"], one["msg"]) for one in error.errors()]
        case BadCursorError():
            return [_part(["query", "cursor"], "not a cursor of this very list")]
        case BadDecisionError():
            return [_part(["body", error.part], error.problem)]
        case AuditRequestError():
            return [_part(["body"], line) for line in str(error).splitlines()]
        case EstimateError():
            return [_part(["body", *filter(None, [field])], problem) for field, problem in error.problems]
        case _:
            return None


def _part(where: Iterable[str | int], problem: str) -> InvalidPartDocument:
    return {"where": _short(".".join(map(str, where))), "problem": _short(problem.removeprefix("Value error, "))}


def _short(words: str) -> str:
    return words if len(words) <= LONGEST_PART else f"{words[: LONGEST_PART - 1]}…"


ANSWERS: Final[Sequence[tuple[type[Exception], int, Callable[[Exception], str]]]] = (
    (NotAllowedError, 403, lambda error: f"The policy does not allow it: {error}."),
    (ConflictError, 409, str),
    (PolicyError, 409, lambda error: f"The policy cannot be used, so nobody may do this: {_short(str(error))}"),
    (NotFoundError, 404, str),
    (UnknownKindError, 404, lambda error: _short(str(error))),
    (RequestUnsupportedContentType, 415, lambda error: _short(str(error))),
)
"""The status and the detail for each error that is about the whole request."""


def _refusal(status: int) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if status in FROM_SERVICE:
        content[PROBLEM_JSON] = {"model": ProblemDocument}
    if status in FROM_GATEWAY:
        content["application/json"] = {"model": GatewayDocument}
    refusal: dict[str, Any] = {"description": REASONS[status], "content": content}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        refusal["headers"] = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}
    return refusal
