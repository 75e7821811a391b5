"""Run Slackwater on this machine, with ministack instead of AWS, and the simulated account for what ministack lacks.

The product's templates are not changed for this. ministack runs the functions as processes that inherit its
environment, which has the URL of the simulated account. ministack enforces a function's role for all services that it
provides itself.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import boto3
import yaml
from botocore.session import Session
from samcli.yamlhelper import yaml_dump, yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

ROOT = Path(__file__).resolve().parents[1]
MINISTACK = (ROOT / ".tools/ministack/bin/python", ROOT / "tools/ministack_with_tags.py")
BIN = Path(sys.executable).parent

ACCOUNT = "123456789012"
REGION = "ap-northeast-1"
STACK = "slackwater"
ARTIFACT_BUCKET = "slackwater-artifacts"
AWS_CLI = ROOT / ".tools/aws-cli/bin/aws"
ROOT_KEYS = {"AWS_ACCESS_KEY_ID": ACCOUNT, "AWS_SECRET_ACCESS_KEY": "test"}
SIMULATED = ("EC2", "EFS", "FSX", "BACKUP", "CLOUDWATCH", "CLOUDTRAIL", "COMPUTE_OPTIMIZER", "PRICING")
SIMULATED_FOR_FUNCTIONS = (*SIMULATED, "IAM", "KMS", "ORGANIZATIONS", "STS")
"""Services that the simulator provides to functions.

Functions use IAM only to simulate what a role may do to tagged resources, and ministack has no tags of these. The
other accounts of the organization are simulated; the simulator recognizes callers there by the keys that it issued.
"""

PATIENCE_S = 90


def until[T](what: str, look: Callable[[], T], patience_s: float = PATIENCE_S) -> T:
    """Call `look` until it returns something true, and return that.

    Raises:
        TimeoutError: It does not within `patience_s` seconds.
    """
    end = time.monotonic() + patience_s
    while not (found := look()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {patience_s} s")
        time.sleep(0.1)
    return found


def free_port() -> int:
    """Return a port on which no process listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def listening(port: int) -> bool:
    """Return whether a process listens on a port."""
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def process(command: Sequence[str | Path], log: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a process while the context lasts. At the end, stop it and all its children."""
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, text=True, start_new_session=True, **options
        ) as running,
    ):
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(timeout=2)
            except subprocess.TimeoutExpired:
                running.kill()
            finally:  # also after a second Ctrl-C
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)


def run(*command: str | Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository's root, and return its result, even if it fails."""
    return subprocess.run(
        command, cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def must(*command: str | Path, environment: Mapping[str, str]) -> str:
    """Run a command, and return its output.

    Raises:
        RuntimeError: The command failed.
    """
    ended = run(*command, environment=environment)
    if ended.returncode:
        raise RuntimeError(f"{command} ended with {ended.returncode}\n{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}")
    return ended.stdout


def build(folder: Path) -> Path:
    """Run `sam build` for this machine's processor, and return the built template."""
    platform = f"{os.uname().machine}-manylinux_2_28"
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0", "SLACKWATER_LAYER_PLATFORM": platform}
    must(BIN / "sam", "build", "--build-dir", folder, environment=environment)
    return folder / "template.yaml"


def for_ministack(bundle: Path) -> Path:
    """Copy a bundle and adapt the copy to ministack: state machines inline, and the nested template without SAM types.

    ministack transforms only the main template, not those of nested stacks.
    """
    copy = bundle.with_name("ministack")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(bundle, copy)
    (nested,) = set(copy.glob("artifacts/*.yaml")) - set(copy.glob("artifacts/*.asl.yaml"))
    for template in (nested, copy / "template.yaml"):
        document = yaml_parse(template.read_text())
        for resource in document["Resources"].values():
            if resource["Type"] == "AWS::Serverless::StateMachine":
                key = resource["Properties"].pop("DefinitionUri")["Key"]["Fn::Sub"]
                definition = copy / key.removeprefix("${ArtifactPrefix}/")
                resource["Properties"]["Definition"] = yaml.safe_load(definition.read_text())
        if template == nested:
            session = boto3.Session(region_name=REGION)
            document = Translator({}, Parser(), boto_session=session).translate(document, {})
        template.write_text(yaml_dump(document))
    return copy


@dataclass
class LocalAws:
    """The local replacement for AWS. It runs while the context lasts.

    Attributes:
        home: A scratch folder. All files are written there.
        slack_api_url: URL that functions and the command line use instead of Slack's API.
    """

    home: Path
    slack_api_url: str = ""
    url: str = ""
    simulator: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack, repr=False)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self, stack: ExitStack) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:00Z")
        simulate = [
            sys.executable,
            "-m",
            "slackwater_simulator",
            "--fleet",
            "demo",
            "--members",
            "2",
            "--now",
            now,
            "--ticking",
            "--exit-with-stdin",
        ]
        log = self.home / "simulator.log"
        stack.enter_context(process(simulate, log, stdin=subprocess.PIPE))
        self.simulator = json.loads(until("the simulator", lambda: log.read_text().partition("\n")[0]))["url"]

        port = free_port()
        (self.home / "tmp").mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "XDG_CACHE_HOME": str(self.home / "tmp"),
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "AUTH": "true",
            "USE_SSL": "1",  # the bucket's policy requires TLS
            "AWS_CA_BUNDLE": self.certificate,
            "IOT_MTLS_ENABLED": "0",  # it would listen on every interface
            "SFN_WAIT_SCALE": "0",
            "SLACK_API_URL": self.slack_api_url,
            **{f"AWS_ENDPOINT_URL_{service}": self.simulator for service in SIMULATED_FOR_FUNCTIONS},
        }
        running = stack.enter_context(
            process(MINISTACK, self.home / "ministack.log", stdin=subprocess.DEVNULL, env=environment)
        )
        self.pid = running.pid
        self.url = f"https://127.0.0.1:{port}"
        until("ministack", lambda: listening(port))

    @property
    def certificate(self) -> str:
        """Path of the self-signed certificate that ministack creates for its connections."""
        return str(self.home / "tmp/ministack-tls/server.crt")

    @property
    def port(self) -> int:
        """The port on which ministack listens."""
        return int(self.url.rpartition(":")[2])

    def environment(self, keys: Mapping[str, str] = ROOT_KEYS) -> dict[str, str]:
        """Return environment variables for a client of this account, by default with root credentials."""
        return {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_CA_BUNDLE": self.certificate,
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
            "SLACK_API_URL": self.slack_api_url,
            **{f"AWS_ENDPOINT_URL_{service}": self.simulator for service in SIMULATED},
            **keys,
        }

    def client(self, service: str, token: str | None = None, **keys: str) -> Any:
        """Return a ministack client with these keys; without keys, with root credentials."""
        keys = keys or {name.lower(): value for name, value in ROOT_KEYS.items()}
        return Session().create_client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            verify=self.certificate,
            aws_session_token=token,
            **keys,
        )

    def as_role(self, name: str, service: str) -> Any:
        """Return a ministack client with the permissions of a function's role. ministack lets root assume it."""
        arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        lent = self.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        keys = {"aws_access_key_id": lent["AccessKeyId"], "aws_secret_access_key": lent["SecretAccessKey"]}
        return self.client(service, lent["SessionToken"], **keys)

    def keep_secret(self, name: str, text: str) -> str:
        """Store a secret in Secrets Manager, and return its ARN."""
        return str(self.client("secretsmanager").create_secret(Name=name, SecretString=text)["ARN"])

    def aws(self, *arguments: str | Path, keys: Mapping[str, str] = ROOT_KEYS) -> str:
        """Run an AWS CLI command that must succeed, and return its output."""
        return must(AWS_CLI, *arguments, environment=self.environment(keys))

    def deploy(self, bundle: Path, keys: Mapping[str, str] = ROOT_KEYS, **parameters: str) -> None:
        """Deploy a bundle with the commands of docs/install.md, from a folder without a clone.

        Afterwards `outputs` has the stack's outputs.
        """
        adapted = for_ministack(bundle)
        if ARTIFACT_BUCKET not in {bucket["Name"] for bucket in self.client("s3").list_buckets()["Buckets"]}:
            self.aws("s3", "mb", f"s3://{ARTIFACT_BUCKET}", keys=keys)
        uploads = f"s3://{ARTIFACT_BUCKET}/slackwater/artifacts"
        self.aws("s3", "sync", "--only-show-errors", adapted / "artifacts", uploads, keys=keys)
        overrides = [f"{name}={value}" for name, value in {"ArtifactBucket": ARTIFACT_BUCKET, **parameters}.items()]
        where = (
            "--template-file",
            adapted / "template.yaml",
            "--s3-bucket",
            ARTIFACT_BUCKET,
            "--s3-prefix",
            "slackwater",
        )
        rights = ("--capabilities", "CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
        command = ("cloudformation", "deploy", "--stack-name", STACK, "--no-fail-on-empty-changeset")
        self.aws(*command, *where, *rights, "--parameter-overrides", *overrides, keys=keys)
        (stack,) = self.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def physical(self, stack: str, name: str) -> str:
        """Return the physical id of a resource of a stack."""
        found = self.client("cloudformation").describe_stack_resource(StackName=stack, LogicalResourceId=name)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def change_cleanup(self, finding_id: str, change: Callable[[dict[str, Any]], bool]) -> bool:
        """Change the stored record of a clean-up between two of its steps. Return whether that worked.

        `change` edits the document and returns whether to store it.
        """
        dynamodb, table = self.client("dynamodb"), self.outputs["TableName"]
        key = {":pk": {"S": f"CLEANUP#{finding_id}"}}
        found = dynamodb.query(
            TableName=table, ConsistentRead=True, KeyConditionExpression="pk = :pk", ExpressionAttributeValues=key
        )["Items"]
        if not found:
            return False
        (stored,) = found
        document, revision = json.loads(stored["document"]["S"]), int(stored["revision"]["N"])
        if not change(document):
            return False
        document["revision"] = revision + 1
        item = stored | {"document": {"S": json.dumps(document)}, "revision": {"N": str(revision + 1)}}
        same = {"ConditionExpression": "revision = :was", "ExpressionAttributeValues": {":was": {"N": str(revision)}}}
        try:
            dynamodb.put_item(TableName=table, Item=item, **same)
        except dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def days_pass(self, finding_id: str, days: float) -> bool:
        """Move the tagging of a clean-up into the past. Return whether that worked: it must wait, and be warned of."""

        def earlier(document: dict[str, Any]) -> bool:
            tagging = document["marked"]
            if (
                document["stage"] != "waiting"
                or tagging is None
                or tagging["delivered_at"] is None
                or tagging["notice"]
            ):
                return False  # the days count from when Slack accepted the warning
            for name in ("at", "act_after", "delivered_at"):
                tagging[name] = (datetime.fromisoformat(tagging[name]) - timedelta(days=days)).isoformat()
            return True

        return self.change_cleanup(finding_id, earlier)

    def simulated(self, service: str) -> Any:
        """Return a client of the simulated account, with all permissions there."""
        keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
        return Session().create_client(service, region_name=REGION, endpoint_url=self.simulator, **keys)

    def simulator_says(self, what: str) -> Any:
        """Return the response of one of the simulator's own endpoints."""
        with urllib.request.urlopen(f"{self.simulator}/_simulator/{what}") as answer:
            return json.loads(answer.read())

    def simulate(self, what: str, **settings: Any) -> None:
        """Send a command to one of the simulator's own endpoints."""
        body = json.dumps(settings).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.simulator}/_simulator/{what}", data=body)).close()

    def faults(self, **settings: Any) -> None:
        """Replace the faults of the simulated account by these."""
        self.simulate("faults", clear=True, **settings)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a folder that is always deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="slackwater-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
