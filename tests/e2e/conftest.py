"""Build Slackwater and deploy it to ministack and a simulated account (see tools/local_aws.py). `make e2e` runs it."""

import http.client
import json
import signal
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from bundle import bundle
from local_aws import ACCOUNT, REGION, ROOT, LocalAws, build, must, run, scratch, until
from support.slack_server import TEAM, SlackServer, signed

STARTED = time.monotonic()
STORY = ("test_service", "test_cleanup", "test_organization", "test_the_runtime", "test_undeploy")
"""The test modules in the order in which they use the one deployment."""

POLICY = f"""[scan]
regions = ["{REGION}", "us-east-1"]

[slack]
channel = "C0DEFAULT"
deciders = ["U0ADA"]
auditors = ["U0ADA"]

[[slack.routes]]
detector = "ebs-unattached"
channel = "G0PRIVATE"

[cleanup]
accounts = ["{ACCOUNT}"]
regions = ["{REGION}"]
resource_types = ["ebs-volume", "efs-file-system", "fsx-file-system"]
detectors = ["ebs-unattached", "efs-idle", "fsx-idle", "ebs-outdated-type"]
approvers = ["U0ADA"]
approver_identities = ["arn:aws:iam::{ACCOUNT}:user/ada", "arn:aws:iam::{ACCOUNT}:root"]
grace_days = 2
warn_days = [1]
"""


def pytest_configure() -> None:
    """Make SIGTERM raise KeyboardInterrupt, so that fixtures stop the processes that they started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by `STORY`."""
    items.sort(key=lambda item: STORY.index(item.path.stem))


def say(text: str) -> None:
    """Print a line with the time since the start."""
    print(f"\n  {time.monotonic() - STARTED:5.1f} s  {text}", end="", flush=True)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class Service:
    """The deployed service as its users see it."""

    aws: LocalAws
    slack: SlackServer
    bundle: Path
    policy: str = POLICY

    def __post_init__(self) -> None:
        self.host = urlsplit(self.aws.outputs["ApiUrl"]).netloc
        self.trust = ssl.create_default_context(cafile=self.aws.certificate)
        arn = f"arn:aws:execute-api:{REGION}:*:{self.host.partition('.')[0]}/*"
        self.ada, self.eve = (
            self._user(name, [{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": arn}])
            for name in ("ada", "eve")
        )
        self.bob = self._user("bob", [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}])
        self.states = self.aws.client("stepfunctions")
        self.queue = self._queue()

    def _user(self, name: str, statements: list[dict[str, str]]) -> Credentials:
        iam = self.aws.client("iam")
        iam.create_user(UserName=name)
        policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=policy)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return Credentials(key["AccessKeyId"], key["SecretAccessKey"])

    def _queue(self) -> str:
        """Create a queue that receives the service's events, as a user's automation would."""
        sqs, events = self.aws.client("sqs"), self.aws.client("events")
        url = sqs.create_queue(QueueName="automation")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        allow = {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": arn,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
        events.put_rule(Name="automation", EventPattern=json.dumps({"source": ["slackwater"]}))
        events.put_targets(Rule="automation", Targets=[{"Id": "queue", "Arn": arn}])
        return str(url)

    def say(self, text: str) -> None:
        """Print a line with the time since the start."""
        say(text)

    def call(self, method: str, path: str, body: Any = None, who: Credentials | None = None, **headers: str) -> Answer:
        """Send a request to the API, signed by `who`, or unsigned."""
        data = b"" if body is None else json.dumps(body).encode()
        sent = {"Host": self.host, **({"Content-Type": "application/json"} if data else {}), **headers}
        if who:
            request = AWSRequest(method, f"https://{self.host}{path}", data=data, headers=sent)
            SigV4Auth(who, "execute-api", REGION).add_auth(request)
            sent = dict(request.headers.items())
        status, named, text = self._sent(method, path, data, sent)
        return Answer(status, named, json.loads(text) if text else None)

    def _sent(self, method: str, path: str, data: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPSConnection("127.0.0.1", self.aws.port, timeout=60, context=self.trust)
        try:
            connection.request(method, path, body=data, headers=headers)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def from_slack(self, body: bytes, **headers: str) -> tuple[int, str]:
        """Send a request as Slack signs it, or with these headers. Return the status and the text of the answer."""
        sent = {"Host": self.host, **signed(self.slack.signing_secret, body, time.time()), **headers}
        status, _, text = self._sent("POST", "/slack/events", body, sent)
        return status, text.decode()

    def press(self, user: str, block: dict[str, Any], action_id: str, **action: Any) -> bytes:
        """Return what Slack sends when a user presses a button of this block. Answers go to the user's response URL."""
        action = {"action_id": action_id, "block_id": block["block_id"], **action}
        payload = {
            "type": "block_actions", "user": {"id": user, "team_id": TEAM}, "team": {"id": TEAM}, "actions": [action],
            "message": {}, "trigger_id": f"{time.time()}", "response_url": self.slack.response_url(user),
        }  # fmt: skip
        return urlencode({"payload": json.dumps(payload)}).encode()

    def get(self, path: str) -> Any:
        """Return what the API shows Ada."""
        answer = self.call("GET", path, who=self.ada)
        assert answer.status == 200, answer
        return answer.body

    def findings(self, status: str = "open") -> dict[str, Any]:
        """Return all findings of this status, by id."""
        found, cursor = {}, ""
        while True:
            page = self.get(f"/findings?status={status}&limit=10{cursor}")
            found.update({finding["id"]: finding for finding in page["findings"]})
            if page["cursor"] is None:
                return found
            cursor = f"&cursor={page['cursor']}"

    def cli(self, *arguments: str | Path) -> Any:
        """Run a `slackwater` command that succeeds, and return its output."""
        return must("slackwater", *arguments, environment=self.aws.environment())

    def cli_status(self, *arguments: str | Path) -> tuple[int, str]:
        """Run a `slackwater` command. Return its exit status and standard error."""
        ended = run("slackwater", *arguments, environment=self.aws.environment())
        return ended.returncode, ended.stderr

    def push(self, policy: str) -> None:
        """Run `slackwater policy push`."""
        file = self.aws.home / "slackwater.toml"
        file.write_text(policy)
        self.cli("policy", "push", file)

    def start(self, **request: Any) -> str:
        """Start an audit over the API and return its id."""
        answer = self.call("POST", "/audits", request, who=self.ada)
        assert answer.status == 202, answer
        return str(answer.body["id"])

    def executions(self, machine: str = "StateMachineArn") -> list[dict[str, Any]]:
        """Return all executions of a state machine, newest first."""
        return list(self.states.list_executions(stateMachineArn=self.aws.outputs[machine])["executions"])

    def running(self, audit_id: str) -> bool:
        """Return whether an audit still runs."""
        return bool(self._execution(audit_id)["status"] == "RUNNING")

    def _execution(self, audit_id: str) -> dict[str, Any]:
        arn = self.aws.outputs["StateMachineArn"].replace(":stateMachine:", ":execution:")
        return dict(self.states.describe_execution(executionArn=f"{arn}:{audit_id}"))

    def execution(self, audit_id: str) -> dict[str, Any]:
        """Wait until an audit has ended, and return its execution."""
        until(f"the end of {audit_id}", lambda: not self.running(audit_id))
        return self._execution(audit_id)

    def ended(self, audit_id: str) -> Any:
        """Wait until an audit has ended, and return it as the API shows it."""
        self.execution(audit_id)
        return self.get(f"/audits/{audit_id}")

    def bring_forward(self, name: str = "Schedule") -> datetime:
        """Let a deployed schedule, with its target and role, fire in three seconds instead of on Monday.

        Return that time.
        """
        turn = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=3)
        scheduler = self.aws.client("scheduler")
        (deployed,) = (one for one in scheduler.list_schedules()["Schedules"] if f"-{name}-" in one["Name"])
        target = scheduler.get_schedule(Name=deployed["Name"])["Target"]
        at = f"at({turn:%Y-%m-%dT%H:%M:%S})"
        scheduler.create_schedule(
            Name=f"{name}-now", ScheduleExpression=at, FlexibleTimeWindow={"Mode": "OFF"}, Target=target
        )
        return turn

    def audit(self, **request: Any) -> Any:
        """Run an audit over the API to its end."""
        return self.ended(self.start(**request))

    def enable_cleanup(self) -> None:
        """Deploy again with clean-up enabled, unless it is already."""
        if "CleanupStateMachineArn" not in self.aws.outputs:
            self.say("aws cloudformation deploy, with CleanupEnabled=true")
            self.deploy(CleanupEnabled="true")

    def deploy(self, **parameters: str) -> None:
        """Deploy again with these parameters and the current ones."""
        there = {"SlackSecretArn": self.aws.outputs["SlackSecretArn"]}
        if "CleanupStateMachineArn" in self.aws.outputs:
            there["CleanupEnabled"] = "true"
        self.aws.deploy(self.bundle, **there, **parameters)

    def keys(self, prefix: str) -> list[str]:
        """Return the bucket's keys under a prefix."""
        listed = self.aws.client("s3").list_objects_v2(Bucket=self.aws.outputs["BucketName"], Prefix=prefix)
        return [each["Key"] for each in listed.get("Contents", [])]

    def document(self, key: str) -> Any:
        """Return a JSON document of the bucket."""
        return json.loads(
            self.aws.client("s3").get_object(Bucket=self.aws.outputs["BucketName"], Key=key)["Body"].read()
        )

    def events(self, finished: Callable[[list[dict[str, Any]]], Any]) -> list[dict[str, Any]]:
        """Receive events from the queue until `finished` accepts them."""
        sqs, heard = self.aws.client("sqs"), []

        def listen() -> Any:
            for message in sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages", []):
                heard.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
            return finished(heard)

        until("events", listen)
        return heard


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    with scratch() as folder:
        yield folder


@pytest.fixture(scope="session")
def template(home: Path) -> Path:
    say("sam build")
    return build(home / "build")


def deployer(aws: LocalAws) -> dict[str, str]:
    """Return the keys of a user who has exactly the permissions of iam/deploy.json."""
    iam = aws.client("iam")
    iam.create_user(UserName="deployer")
    policy = (ROOT / "iam/deploy.json").read_text()
    iam.put_user_policy(UserName="deployer", PolicyName="deploy", PolicyDocument=policy)
    key = iam.create_access_key(UserName="deployer")["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


@pytest.fixture(scope="session")
def service(home: Path, template: Path) -> Iterator[Service]:
    packed = home / "bundle"
    bundle(template, packed)
    with SlackServer() as slack, LocalAws(home, slack.url) as aws:
        say(
            "aws s3 sync and aws cloudformation deploy of the bundle, to ministack with AUTH=true, "
            "with a secret for Slack"
        )
        aws.deploy(packed, deployer(aws), SlackSecretArn=aws.keep_secret("slackwater/slack", slack.secret()))
        yield Service(aws, slack, packed)
        if log := [line for line in (home / "ministack.log").read_text().splitlines() if "Traceback" in line]:
            say(f"ministack's log has {len(log)} tracebacks")
