"""The API's OpenAPI 3.1 document."""

import json
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

TITLE: Final = "Slackwater"
VERSION: Final = "1"
DESCRIPTION: Final = (
    "Findings about idle AWS storage and throttled instances, decisions about them, the audits that find them, and "
    "estimates for resources that need not exist yet. Money is a string of US dollars, a time is RFC 3339 in UTC, and "
    "null means unknown or not there."
)
SIGNED: Final = {
    "type": "apiKey",
    "in": "header",
    "name": "Authorization",
    "description": "AWS Signature Version 4 for the service execute-api",
    "x-amazon-apigateway-authtype": "awsSigv4",
}
TOKEN: Final = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
POWERTOOLS_OWN: Final = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
"""Errors that Powertools documents. The service returns problem documents instead."""


def document(api: APIGatewayHttpResolver, event: APIGatewayProxyEventV2) -> dict[str, Any]:
    """Return the document for this caller: with the URL they called, and their kind of authentication."""
    context = event.request_context
    stage = "" if context.stage == "$default" else f"/{context.stage}"
    scheme = {"bearer": TOKEN} if context.authorizer.jwt_claim else {"sigv4": SIGNED}
    description: dict[str, Any] = json.loads(
        api.get_openapi_json_schema(title=TITLE, version=VERSION, description=DESCRIPTION)
    )
    description["servers"] = [{"url": f"https://{context.domain_name}{stage}"}]
    description["security"] = [{name: []} for name in scheme]
    description["components"]["securitySchemes"] = scheme
    for name in POWERTOOLS_OWN:
        del description["components"]["schemas"][name]
    for path in description["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _without_null(parameter["schema"])
    return description


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional parameter without null, which cannot be sent."""
    kinds: list[dict[str, Any]] = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return kinds[0] | {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
