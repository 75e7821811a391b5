"""The built artefacts on Lambda's own runtime. The interpreter has only the runtime's client and an older boto3."""

import importlib.util
import json
import re
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import botocore
import pytest

from lambda_emulator import CLEANUP_FUNCTIONS, FUNCTIONS, LAYER, deployed, emulated
from local_aws import REGION, ROOT
from slackwater.aws.client.services import SERVICES
from support.slack_server import signed

EXAMPLE = "5d1c0b7a9e3f42d8"
"""The finding that the API's events are for."""

EVENTS = sorted((ROOT / "events").glob("*.json"))


ALL = (*FUNCTIONS, *CLEANUP_FUNCTIONS)


def handler(event_file):
    """Return the function that an event of events/ is for. The file's name begins with the function's."""
    begins = event_file.stem.replace("_", "")
    return next(name for name in ALL if begins.startswith(name.removesuffix("Function").lower()))


IN_ORDER = sorted(EVENTS, key=lambda file: (ALL.index(handler(file)), file.name))
"""The events in order, because an audit's scan needs its plan, and its publish needs the scan."""


@pytest.mark.parametrize("event", IN_ORDER, ids=lambda file: file.stem)
def test_every_handler_answers_its_event(service, template, event):
    if handler(event) in CLEANUP_FUNCTIONS:
        service.enable_cleanup()
    with deployed(service.aws, template, handler(event)) as function:
        text = event.read_text()
        if EXAMPLE in text:
            text = text.replace(EXAMPLE, next(iter(service.findings())))
        payload = json.loads(text)
        if handler(event) == "AcknowledgeFunction":
            payload["headers"] |= signed(service.slack.signing_secret, payload["body"].encode(), time.time())
        answer = function.invoke(payload)
        if handler(event) in CLEANUP_FUNCTIONS and EXAMPLE in event.read_text():
            assert answer["errorType"] == "NotMineError", (
                answer
            )  # the function reads the table, finds no such clean-up, and does nothing
            return
        assert "errorType" not in answer, answer
        assert answer.get("statusCode", 200) < 400, answer
        assert not answer.get("batchItemFailures"), answer
        versions = [line["botocore"] for line in logged(function.log) if "botocore" in line]
        assert versions == [botocore.__version__]
        service.say(
            f"{event.name} on the real runtime, started in {function.init_ms:.0f} ms: {json.dumps(answer)[:100]}"
        )


def test_what_nobody_declared_is_not_there(service, template, tmp_path):
    (tmp_path / "app.py").write_text("import rich\n\n\ndef handler(event, context):\n    return rich.__name__\n")
    with emulated(
        tmp_path, template.parent / LAYER, service.aws.environment(), service.aws.home / "undeclared.log"
    ) as function:
        assert function.invoke({})["errorType"] == "Runtime.ImportModuleError"
    service.say("a function that imports what is in no requirements fails to start, as it would on Lambda")


def logged(log):
    """Return the structured lines of a function's log."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


# -- The SDK in the layer ----------------------------------------------------------------------------------------------

SDK_FUNCTION = Path(__file__).parent / "sdk_function"
SDK = ("boto3", "botocore", "s3transfer", "urllib3")
OF_THE_RUNTIME = "1.40.4"
"""The version of boto3 and botocore in the emulated runtime: tools/requirements/lambda-runtime.in."""
MOST_MIB = 16
UNCHECKED_HASH = 0b01
"""The flags of bytecode that Python does not compare with its source (PEP 552)."""
NEWS, SHUT = "1" * 12, "2" * 12

ANSWERS = {
    "DescribeFileSystems": {
        "FileSystems": [
            {
                "FileSystemId": "fs-0123456789abcdef0",
                "NetworkType": "DUAL",
                "OpenZFSConfiguration": {"EndpointIpv6AddressRange": "fd00:ec2::/48"},
            }
        ]
    },
    "ListRoots": {"Roots": [{"Id": "r-ab12", "Name": "Root"}]},
    "ListAccountsForParent": {
        "Accounts": [
            {"Id": NEWS, "Name": "news", "State": "ACTIVE"},
            {"Id": SHUT, "Name": "shut", "State": "SUSPENDED"},
        ]
    },
    "ListOrganizationalUnitsForParent": {"OrganizationalUnits": []},
    "GetMetricData": {
        "MetricDataResults": [{"Id": "q0", "Timestamps": [60.0], "Values": [7.5], "StatusCode": "Complete"}]
    },
}
METRICS_XML = """<GetMetricDataResponse><GetMetricDataResult><MetricDataResults><member><Id>q0</Id>
<Values><member>7.5</member></Values></member></MetricDataResults></GetMetricDataResult></GetMetricDataResponse>"""


class Aws(BaseHTTPRequestHandler):
    """FSx, AWS Organizations and CloudWatch as they answer today. `asked` holds each action's content type."""

    asked: dict[str, str]

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        action = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        text = json.dumps(ANSWERS[action]) if action else METRICS_XML
        self.asked[action or parse_qs(body)["Action"][0]] = self.headers["Content-Type"]
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Content-Type"] if action else "text/xml")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def asked(tmp_path):
    """Return a function that runs `sdk_function` against stubs of AWS.

    It returns the answer and the sent content types.
    """

    def ask(layer, what):
        sent = {}
        with ThreadingHTTPServer(("127.0.0.1", 0), type("Aws", (Aws,), {"asked": sent})) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            environment = {
                "PATH": "/usr/bin:/bin", "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": "any",
                "AWS_SECRET_ACCESS_KEY": "any", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
            }  # fmt: skip
            with emulated(SDK_FUNCTION, layer, environment, tmp_path / "function.log") as function:
                answer = function.invoke({"ask": what})
            server.shutdown()
        assert "errorType" not in answer, answer
        return answer, sent

    return ask


def test_a_function_uses_the_layers_sdk_and_not_the_older_one_of_the_runtime(template, asked):
    answer, sent = asked(template.parent / LAYER, "answers")

    assert (answer["boto3"], answer["botocore"]) == (locked("boto3"), locked("botocore"))
    assert (answer["network_type"], answer["ipv6_range"]) == ("DUAL", "fd00:ec2::/48")
    assert (answer["accounts"], answer["unknown"]) == ([NEWS], [])
    assert answer["left_out"] == ["1 account is left out: SUSPENDED in AWS Organizations"]
    assert (sent["GetMetricData"], answer["values"]) == ("application/x-amz-json-1.0", [7.5])


def test_the_runtimes_own_sdk_would_lose_them(template, asked, tmp_path):
    """Without this, the test above would prove nothing."""
    (tmp_path / "python").mkdir()
    for package in (template.parent / LAYER / "python").iterdir():
        if package.name not in SDK:
            (tmp_path / "python" / package.name).symlink_to(package)
    answer, sent = asked(tmp_path, "answers")

    assert (answer["boto3"], answer["botocore"]) == (OF_THE_RUNTIME, OF_THE_RUNTIME)
    assert (answer["network_type"], answer["ipv6_range"]) == (None, None)
    assert answer["unknown"] == [NEWS, SHUT]
    assert sent["GetMetricData"].startswith("application/x-www-form-urlencoded")


def test_the_trimmed_sdk_does_what_the_whole_one_does(template, asked):
    spec = importlib.util.spec_from_file_location("sdk_function", SDK_FUNCTION / "app.py")
    whole = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(whole)
    here = whole.handler({"ask": "clients"}, None)
    answer, _ = asked(template.parent / LAYER, "clients")

    assert {*answer.pop("services")} == SERVICES < {*here.pop("services")}
    assert answer == here


def locked(package):
    """Return a package's version in the layer's lock file."""
    return re.search(rf"^{package}==(\S+)", (ROOT / "layers/core/requirements.txt").read_text(), re.MULTILINE)[1]


def test_the_layer_has_the_licence_of_each_of_its_packages(template):
    layer = template.parent / LAYER
    folders = {folder.name.partition("-")[0]: folder for folder in layer.glob("python/*.dist-info")}
    licensed = {name for name, folder in folders.items() if [*folder.rglob("LICENSE*")]}
    noticed = {name for name, folder in folders.items() if [*folder.glob("NOTICE*")]}

    assert licensed == {*folders} > {"boto3", "botocore"}
    assert noticed == {"boto3", "botocore", "s3transfer"}
    assert (layer / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "botocore" in (layer / "NOTICE").read_text()


def test_all_of_the_layer_is_compiled_and_its_bytecode_is_trusted_unchecked(template):
    packages = template.parent / LAYER / "python"
    compiled = [*packages.rglob("__pycache__/*.pyc")]

    assert len(compiled) == len([*packages.rglob("*.py")])
    assert {int.from_bytes(file.read_bytes()[4:8], "little") for file in compiled} == {UNCHECKED_HASH}


def test_the_layer_is_small(template, tmp_path):
    layer = template.parent / LAYER
    zipped_mib = Path(shutil.make_archive(tmp_path / "layer", "zip", layer)).stat().st_size / 1024**2
    whole_mib = sum(file.stat().st_size for file in layer.rglob("*") if file.is_file()) / 1024**2
    print(f"\n          the layer: {zipped_mib:.1f} MiB zipped, {whole_mib:.1f} MiB unzipped", end="", flush=True)

    assert zipped_mib <= MOST_MIB
