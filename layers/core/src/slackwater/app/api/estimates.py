"""The API's estimates: one route for each kind, so that the OpenAPI document has its inputs and result."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Path

from slackwater.app.api.problems import Handler, route
from slackwater.app.api.requests import CHECKS_AS_SENT
from slackwater.engine.registry import estimates
from slackwater.model.estimates import AnyEstimate
from slackwater.views.estimates.document import EstimateDocument

type Answer = Callable[[str, Mapping[str, Any]], EstimateDocument[dict[str, Any]]]
"""Returns the document of a kind of estimate, for inputs as they were sent."""


def estimate_routes(api: APIGatewayHttpResolver) -> Callable[[Answer], Answer]:
    """Register a function for every kind of estimate, and for kinds that do not exist."""

    def decorate(answer: Answer) -> Answer:
        for kind, estimate in estimates().items():
            register = route(api.post, f"/estimates/{kind}", "The estimate, worked", 413, 415, checks=CHECKS_AS_SENT)
            register(_of_kind(kind, estimate, answer))

        def of_no_kind(kind: Annotated[str, Path()]) -> Any:
            return answer(kind, {})

        route(api.post, "/estimates/<kind>", "None", documented=False)(of_no_kind)
        return answer

    return decorate


def _of_kind(kind: str, estimate: AnyEstimate, answer: Answer) -> Handler:
    def of_kind(body: Mapping[str, Any]) -> EstimateDocument[dict[str, Any]]:
        return answer(kind, body)

    of_kind.__name__ = f"estimate_{kind.replace('-', '_')}"
    of_kind.__doc__ = estimate.title
    answered = EstimateDocument[estimate.result]  # type: ignore[name-defined]  # known at run time only
    of_kind.__annotations__ = {"body": Annotated[estimate.inputs, Body()], "return": answered}
    return of_kind
