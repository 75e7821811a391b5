"""Fixtures that run the command line in this process against a simulated account."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest
from moto import mock_aws

from slackwater_cli.__main__ import main
from slackwater_simulator import Simulator, demo_fleet

NOW = "2026-11-16T09:07:00Z"
REGION = "ap-northeast-1"
HOME = "eu-west-1"
"""The region in which the service is deployed."""


@dataclass(frozen=True)
class Result:
    """The exit status of a command, and its text on standard output and standard error."""

    status: int
    out: str
    err: str


type Run = Callable[..., Result]


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    with Simulator(demo_fleet()) as running:
        yield running


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Change to an empty folder, and remove everything from the environment that leads to an AWS account."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_ENDPOINT_URL", "SLACKWATER_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("slackwater_cli.slow.SLOW_S", 60)  # a busy machine is slow, too
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def account(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """Return the simulated account without faults. The environment leads to it."""
    simulator.reset()
    simulator.faults.unthrottle("cloudtrail:LookupEvents")
    monkeypatch.setenv("AWS_ENDPOINT_URL", simulator.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASIMULATED0000000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "simulated")
    return simulator


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command line."""

    def run_it(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        output = capsys.readouterr()
        return Result(int(left.value.code or 0), output.out, output.err)

    return run_it


@pytest.fixture
def scan(account: Simulator, run: Run) -> Run:
    """Return a function that runs `scan` in the account's region, as of `NOW`."""
    return lambda *arguments: run("scan", "--region", REGION, "--now", NOW, *arguments)


class HangsUp:
    """A server that closes every connection and counts the connections."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}"
        self.connections = 0

    def serve(self) -> None:
        """Serve until the socket is shut down."""
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections += 1  # count before the client can see the end
                connection.close()


@pytest.fixture
def hangs_up() -> Iterator[HangsUp]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = HangsUp(server)
        thread = threading.Thread(target=there.serve)
        thread.start()
        yield there
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


class Stacks:
    """A local server for CloudFormation and Step Functions, without moto. `outputs` are stacks by name.

    If `refusal` is set, DescribeStacks fails with this error code.
    """

    def __init__(self) -> None:
        self.outputs: dict[str, dict[str, str]] = {}
        self.status = "CREATE_COMPLETE"
        self.started: list[dict[str, Any]] = []
        self.refusal: str | None = None

    def answer(self, target: str | None, body: str) -> tuple[int, str]:
        if target and target.endswith(".DescribeExecution"):
            return 200, json.dumps({"status": "RUNNING", "startDate": 1_794_819_600, **json.loads(body)})
        if target:
            self.started.append(json.loads(body))
            return 200, json.dumps({"executionArn": "arn:aws:states:::execution", "startDate": 1_794_819_600})
        name = parse_qs(body)["StackName"][0]
        if self.refusal:
            return (
                403,
                f"<ErrorResponse><Error><Code>{self.refusal}</Code><Message>User: x</Message></Error></ErrorResponse>",
            )
        if name not in self.outputs:
            output = f"<Code>ValidationError</Code><Message>Stack with id {name} does not exist</Message>"
            return 400, f"<ErrorResponse><Error>{output}</Error></ErrorResponse>"
        outputs = "".join(
            f"<member><OutputKey>{key}</OutputKey><OutputValue>{value}</OutputValue></member>"
            for key, value in self.outputs[name].items()
        )
        stack = f"<StackName>{name}</StackName><StackStatus>{self.status}</StackStatus><Outputs>{outputs}</Outputs>"
        result = f"<DescribeStacksResult><Stacks><member>{stack}</member></Stacks></DescribeStacksResult>"
        return 200, f"<DescribeStacksResponse>{result}</DescribeStacksResponse>"


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stacks]:
    """Run the server without stacks, and direct requests of all regions to it."""
    there = Stacks()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            status, answer = there.answer(self.headers.get("x-amz-target"), body)
            self.send_response(status)
            self.send_header("content-length", str(len(answer.encode())))
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        for service in ("CLOUDFORMATION", "SFN"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", f"http://127.0.0.1:{server.server_address[1]}")
        yield there
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def moto_clients() -> dict[str, Any]:
    """Return the cache of moto clients for all tests. Creating one takes a tenth of a second."""
    return {}


@pytest.fixture
def service(
    stacks: Stacks, moto_clients: dict[str, Any], table_properties: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stacks]:
    """Deploy the service without its functions: a stack, a table and a bucket."""
    for name, value in {"ACCESS_KEY_ID": "AKIADUMMY", "SECRET_ACCESS_KEY": "dummy", "REGION": HOME}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    stacks.outputs["slackwater"] = {
        "TableName": "findings-table",
        "BucketName": "slackwater-bucket",
        "RetentionDays": "400",
        "StateMachineArn": f"arn:aws:states:{HOME}:123456789012:stateMachine:audit",
        "ApiUrl": "https://api.invalid",
    }
    with mock_aws():
        if not moto_clients:
            moto_clients.update({name: boto3.client(name, HOME) for name in ("s3", "dynamodb")})
        s3 = moto_clients["s3"]
        s3.create_bucket(Bucket="slackwater-bucket", CreateBucketConfiguration={"LocationConstraint": HOME})
        s3.put_bucket_versioning(Bucket="slackwater-bucket", VersioningConfiguration={"Status": "Enabled"})
        moto_clients["dynamodb"].create_table(TableName="findings-table", **table_properties)
        yield stacks
