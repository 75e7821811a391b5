"""Runs a built function in the Lambda runtime interface emulator that aws-sam-cli ships.

The interpreter has only what Lambda's has: the runtime client and boto3. All other packages must come from the function
or its layer. Both come first on the path, as on Lambda, so that the function uses the layer's boto3.
"""

import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import samcli

from local_aws import ROOT, STACK, LocalAws, free_port, listening, process, until

RUNTIME = ROOT / ".tools/lambda-runtime/bin/python"
MACHINE = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}[os.uname().machine]
EMULATOR = Path(samcli.__file__).parent / "local/rapid" / f"aws-lambda-rie-{MACHINE}"

LAYER = "CoreLayer"
FUNCTIONS = (
    "PlanFunction",
    "ScanFunction",
    "PublishFunction",
    "NotifyFunction",
    "AnnounceFunction",
    "ServeFunction",
    "AcknowledgeFunction",
    "AnswerFunction",
)
"""Functions in the order in which an audit uses them, then those for people's requests."""
CLEANUP_FUNCTIONS = (
    "WatchFunction",
    "BackUpFunction",
    "DeleteFunction",
    "ChangeFunction",
    "RestoreFunction",
    "RunFunction",
    "SweepFunction",
)
"""Functions of the nested stack, if it is deployed."""

_INIT = re.compile(r"INIT REPORT\(durationMs: ([\d.]+)")


@dataclass
class Function:
    """A running function. Its first invocation starts it. Times are in ms, measured by the caller."""

    port: int
    log: Path

    def invoke(self, event: Any) -> Any:
        """Return the handler's response. As on Lambda, an exception or a timeout is in the response, too."""
        address = f"http://127.0.0.1:{self.port}/2015-03-31/functions/function/invocations"
        request = urllib.request.Request(address, data=json.dumps(event).encode())
        try:
            with urllib.request.urlopen(request) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as refused:
            return json.loads(refused.read() or b"null")

    def timed(self, event: Any) -> tuple[Any, float]:
        """Return the handler's response, and how long it took in ms."""
        start = time.perf_counter()
        answer = self.invoke(event)
        return answer, (time.perf_counter() - start) * 1000

    @property
    def init_ms(self) -> float:
        """How long the start took in ms, with interpreter and imports, as the emulator measured it."""
        found = _INIT.search(self.log.read_text())
        assert found, self.log.read_text()
        return float(found[1])


@contextmanager
def emulated(code: Path, layer: Path, environment: Mapping[str, str], log: Path) -> Iterator[Function]:
    """Run the function in a folder, with a layer, while the context lasts."""
    port, runtime_port = free_port(), free_port()
    environment = {
        **environment,
        "PYTHONPATH": f"{code}:{layer / 'python'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LAMBDA_TASK_ROOT": str(code),
        "AWS_LAMBDA_FUNCTION_NAME": code.name,
    }
    listen = [
        "--runtime-interface-emulator-address",
        f"127.0.0.1:{port}",
        "--runtime-api-address",
        f"127.0.0.1:{runtime_port}",
    ]
    with process([EMULATOR, *listen, RUNTIME, "-m", "awslambdaric", "app.handler"], log, cwd=code, env=environment):
        until("the emulator", lambda: listening(port))
        yield Function(port, log)


def deployed(aws: LocalAws, template: Path, name: str) -> AbstractContextManager[Function]:
    """Run a function of the templates, with its deployed environment variables and limits."""
    stack, code = STACK, template.parent
    if name in CLEANUP_FUNCTIONS:
        stack, code = aws.physical(STACK, "Cleanup"), code / "Cleanup"
    settings = aws.client("lambda").get_function_configuration(FunctionName=aws.physical(stack, name))
    environment = {
        **aws.environment(),
        **settings["Environment"]["Variables"],
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(settings["Timeout"]),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(settings["MemorySize"]),
    }
    return emulated(code / name, template.parent / LAYER, environment, aws.home / f"{name}.log")
