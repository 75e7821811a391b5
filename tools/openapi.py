"""Write the API's OpenAPI document: `python tools/openapi.py FILE`."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
NOWHERE = {
    "TABLE_NAME": "table",
    "BUCKET_NAME": "bucket",
    "RETENTION_DAYS": "1",
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:audit",
    "POWERTOOLS_SERVICE_NAME": "slackwater",
}
"""The environment variables that are needed to import the function. The import makes no calls."""


def text() -> str:
    """Return the document as a caller with IAM authentication receives it."""
    event = json.loads((ROOT / "events/serve-openapi.json").read_text(encoding="utf-8"))
    context = SimpleNamespace(function_name="", memory_limit_in_mb=0, aws_request_id="", invoked_function_arn="")
    spec = importlib.util.spec_from_file_location("serve", ROOT / "functions/serve/app.py")
    module = importlib.util.module_from_spec(spec)
    with patch.dict(os.environ, NOWHERE, clear=True):
        spec.loader.exec_module(module)
        document = json.loads(module.handler(event, context)["body"])
    document["servers"] = [{"url": "https://{api}.execute-api.{region}.amazonaws.com"}]
    document["servers"][0]["variables"] = {"api": {"default": "a1b2c3d4e5"}, "region": {"default": "us-east-1"}}
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/openapi.py FILE")
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
