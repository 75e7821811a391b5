"""`slackwater slack`, against a server that behaves as Slack does."""

import json
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import boto3
import pytest
import yaml

from slackwater.app.slack.acknowledge import Acknowledger
from slackwater.app.slack.check import SCOPES
from slackwater.model import object_keys
from slackwater.slack import endpoint_check
from slackwater.wiring.scan import clock
from slackwater_cli.commands import slack as command
from support.slack_server import Fault, SlackServer

ROOT = Path(__file__).parents[3]
HOME = "eu-west-1"
POLICY = """
[slack]
channel = "C0DEFAULT"
fallback_channel = "C0FALLBACK"
deciders = ["U0ADA"]
auditors = ["U0ADA"]
"""


@pytest.fixture
def slack(monkeypatch):
    with SlackServer() as running:
        monkeypatch.setenv("SLACK_API_URL", running.url)
        yield running


@pytest.fixture
def endpoint_checks(monkeypatch) -> list[tuple[str, str]]:
    """Replace the endpoint check by one that returns 200. Return the list of its calls: URL and signing secret."""
    heard: list[tuple[str, str]] = []
    monkeypatch.setattr(endpoint_check, "check_endpoint", lambda url, secret, now: heard.append((url, secret)) or 200)
    return heard


@pytest.fixture
def deployed(service, slack, endpoint_checks):
    """Return a function that deploys the service with this secret and policy."""

    def deploy(secret: str | None = None, policy: str = POLICY) -> Any:
        made = boto3.client("secretsmanager", HOME).create_secret(
            Name="slackwater/slack", SecretString=secret or slack.secret()
        )
        service.outputs["slackwater"]["SlackSecretArn"] = made["ARN"]
        boto3.client("s3", HOME).put_object(Bucket="slackwater-bucket", Key=object_keys.POLICY, Body=policy.encode())
        return service

    return deploy


def lines_of(done: Any) -> dict[str, tuple[str, str]]:
    """Return the state and text of each step."""
    lines = [line.split(maxsplit=1) for line in done.out.splitlines()]
    return {rest[: command.WIDTH].strip(): (state, rest[command.WIDTH :]) for state, rest in lines}


def states(done: Any) -> dict[str, str]:
    return {what: state for what, (state, _) in lines_of(done).items()}


# -- The manifest


def test_the_manifest_is_printed_with_the_address_of_the_deployed_api(run, service) -> None:
    done = run("slack", "manifest")
    printed = yaml.safe_load(done.out)

    assert done.status == 0
    (slash,) = printed["features"]["slash_commands"]
    assert slash["command"] == "/slackwater"
    assert slash["url"] == printed["settings"]["interactivity"]["request_url"] == "https://api.invalid/slack/events"
    assert "API.execute-api" not in done.out
    assert "From a manifest" in done.err


def test_the_manifest_is_the_repositorys_and_asks_for_no_more_than_is_used() -> None:
    text = (ROOT / "slack-app-manifest.yaml").read_text()
    manifest = yaml.safe_load(text)

    assert (ROOT / "cli/src/slackwater_cli/slack-app-manifest.yaml").read_text() == text
    assert manifest["oauth_config"]["scopes"] == {"bot": list(SCOPES)}
    assert "event_subscriptions" not in manifest["settings"]
    # Slack's limits.
    assert len(manifest["display_information"]["name"]) <= 35
    assert len(manifest["display_information"]["description"]) <= 140
    assert text.count(command.PLACEHOLDER + command.EVENTS) == 2


def test_the_address_is_the_route_of_the_template(resources_of_the_template: dict[str, Any]) -> None:
    assert resources_of_the_template["SlackRoute"]["Properties"]["RouteKey"] == f"POST {command.EVENTS}"


@pytest.fixture
def resources_of_the_template() -> dict[str, Any]:
    from samcli.yamlhelper import yaml_parse

    resources: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())["Resources"]
    return resources


# -- `slackwater slack test`


def test_where_all_is_set_up_a_message_arrives_and_is_found_again(run, deployed, slack, endpoint_checks) -> None:
    deployed()
    done = run("slack", "test")

    assert done.status == 0
    assert set(states(done).values()) == {"good"}
    assert [*lines_of(done)] == [
        "secret", "bot token", "scopes", "endpoint", "channel C0DEFAULT", "channel C0FALLBACK", "message",
        "found again",
    ]  # fmt: skip
    assert "slackwater of the workspace Test" in lines_of(done)["bot token"][1]
    (posted,) = slack.channels["C0DEFAULT"].seen()
    assert "This is a test" in posted.text
    assert slack.channels["C0FALLBACK"].seen() == []
    assert endpoint_checks == [("https://api.invalid/slack/events", slack.signing_secret)]


def test_nothing_secret_is_printed(run, deployed, slack) -> None:
    deployed()
    for done in (run("slack", "test"), run("slack", "test", "--format", "json")):
        for secret in (slack.bot_token, slack.signing_secret):
            assert secret not in done.out + done.err


def test_a_channel_that_is_named_is_tried_instead_of_the_policys(run, deployed, slack) -> None:
    deployed(policy="")
    done = run("slack", "test", "--channel", "G0PRIVATE")

    assert done.status == 0
    assert len(slack.channels["G0PRIVATE"].seen()) == 1
    assert states(done)["slack.deciders"] == states(done)["slack.auditors"] == "note"


def test_a_stack_without_a_secret_says_how_to_give_it_one(run, service, slack) -> None:
    done = run("slack", "test")

    assert (done.status, states(done)) == (3, {"secret": "BAD"})
    assert "--parameter-overrides SlackSecretArn=…" in done.out
    assert "docs/slack.md" in done.err
    assert slack.calls == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not json", "is not JSON"),
        ('{"bot_token": "xoxb-1"}', "lacks signing_secret"),
        ('{"bot_token": "xoxp-1", "signing_secret": "0123456789"}', "bot_token in Slack's secret is not one"),
        ('{"other": 1}', "neither bot_token nor webhook_url"),
    ],
)
def test_a_secret_of_another_shape_names_the_key(run, deployed, slack, text: str, says: str) -> None:
    deployed(secret=text)
    done = run("slack", "test")

    assert (done.status, states(done)) == (3, {"secret": "BAD"})
    assert says in done.out
    assert slack.calls == []


def test_a_secret_that_may_not_be_read_is_no_access(run, deployed, service) -> None:
    deployed()
    service.outputs["slackwater"]["SlackSecretArn"] += "x"

    assert run("slack", "test").status == 4


def test_a_token_that_is_not_good_ends_it(run, deployed, slack) -> None:
    deployed(secret=json.dumps({"bot_token": "xoxb-another", "signing_secret": slack.signing_secret}))
    done = run("slack", "test")

    assert (done.status, states(done)) == (3, {"secret": "good", "bot token": "BAD"})
    assert "invalid_auth: the bot token is not good" in done.out


def test_missing_scopes_are_named_with_what_they_are_for(run, deployed, slack) -> None:
    slack.scopes = frozenset({"chat:write", "channels:history"})
    deployed()
    done = run("slack", "test")

    assert done.status == 3
    state, message = lines_of(done)["scopes"]
    assert state == "BAD"
    assert "commands (for /slackwater), groups:history" in message
    assert "install the app again" in message


@pytest.mark.parametrize(
    ("channel", "says"),
    [
        ("C0OUTSIDE", "not_in_channel: the bot is not in it: write /invite @Slackwater there"),
        ("C0NOWHERE", "channel_not_found: there is no such channel, or it is private and the bot is not in it"),
    ],
)
def test_a_channel_that_the_bot_is_not_in_is_named_and_nothing_posted_there(
    run, deployed, slack, channel, says
) -> None:
    deployed()
    done = run("slack", "test", "--channel", channel)

    assert (done.status, states(done)[f"channel {channel}"]) == (3, "BAD")
    assert says in done.out
    assert slack.called("chat.postMessage") == []


def test_every_channel_of_the_policy_is_checked_and_the_first_valid_one_gets_the_message(run, deployed, slack) -> None:
    deployed(
        policy=POLICY.replace("C0DEFAULT", "C0OUTSIDE") + '[[slack.routes]]\nchannel = "G0PRIVATE"\nowner = "ada"\n'
    )
    done = run("slack", "test")

    assert done.status == 3
    assert [states(done)[f"channel {id_}"] for id_ in ("C0OUTSIDE", "C0FALLBACK", "G0PRIVATE")] == [
        "BAD",
        "good",
        "good",
    ]
    assert len(slack.channels["C0FALLBACK"].seen()) == 1


def test_an_archived_channel_is_reported_when_the_message_is_refused(run, deployed, slack) -> None:
    deployed()
    done = run("slack", "test", "--channel", "C0ARCHIVED")

    assert done.status == 3
    assert "is_archived" in lines_of(done)["message"][1]


def test_a_policy_that_names_no_channel_is_reported(run, deployed) -> None:
    deployed(policy="")
    done = run("slack", "test")

    assert (done.status, states(done)["channel"]) == (3, "BAD")
    assert "the policy names none" in done.out


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "it does not know this signing secret yet"),
        (404, "there is none: deploy with --parameter-overrides"),
        (503, "it answered 503: the log of AcknowledgeFunction"),
        (530, "it answered 530"),
    ],
)
def test_an_endpoint_that_does_not_accept_signed_requests_is_reported(
    run, deployed, monkeypatch, status: int, says: str
) -> None:
    deployed()
    monkeypatch.setattr(endpoint_check, "check_endpoint", lambda *_: status)
    done = run("slack", "test")

    assert (done.status, states(done)["endpoint"]) == (3, "BAD")
    assert says in done.out


def test_slack_that_is_busy_or_out_of_reach_is_reported(run, deployed, slack) -> None:
    deployed()
    slack.faults = [Fault("busy", retry_after_s=7)]
    assert "Slack is throttling: retry in 7 s" in run("slack", "test").out
    slack.faults = [Fault("reset")]
    done = run("slack", "test")
    assert (done.status, states(done)["bot token"]) == (3, "BAD")
    assert "Slack is out of reach" in done.out


def test_a_message_that_cannot_be_found_again_is_reported(run, deployed, slack) -> None:
    deployed()
    slack.lag_s = 3600
    done = run("slack", "test")

    assert (done.status, states(done)["message"], states(done)["found again"]) == (3, "good", "BAD")


def test_a_webhook_is_tried_too(run, deployed, slack, endpoint_checks) -> None:
    deployed(secret=slack.webhook_secret(), policy="")
    done = run("slack", "test")

    assert (done.status, states(done)) == (0, {"secret": "good", "message": "good"})
    assert "without threads and buttons" in done.out
    assert len(slack.channels["C0DEFAULT"].seen()) == 1
    assert endpoint_checks == []


def test_a_deleted_webhook_is_reported(run, deployed, slack) -> None:
    slack.webhook_channel = None
    deployed(secret=slack.webhook_secret())
    done = run("slack", "test")

    assert (done.status, states(done)["message"]) == (3, "BAD")
    assert "channel_not_found" in done.out


@pytest.mark.parametrize(
    ("channel", "says"), [("#storage", "is no channel's id; it looks like C0123ABCDEF"), ("U0ADA", "looks like")]
)
def test_a_channels_name_is_no_id(run, deployed, slack, channel: str, says: str) -> None:
    deployed()
    done = run("slack", "test", "--channel", channel)

    assert done.status == 2
    assert says in done.err
    assert slack.calls == []


def test_a_channel_makes_no_sense_with_a_webhook(run, deployed, slack) -> None:
    deployed(secret=slack.webhook_secret())
    done = run("slack", "test", "--channel", "C0DEFAULT")

    assert done.status == 2
    assert slack.channels["C0DEFAULT"].seen() == []


def test_programs_get_json(run, deployed) -> None:
    deployed()
    done = run("slack", "test", "--format", "json")
    document = json.loads(done.out)

    assert (done.status, document["ready"]) == (0, True)
    assert {"what": "channel C0DEFAULT", "state": "good", "said": "the bot is in it"} in document["steps"]


# -- The endpoint's answer to its check


def test_the_endpoint_accepts_the_endpoint_check_and_does_nothing(monkeypatch) -> None:
    sent: list[Any] = []

    class Answered:
        status = 200

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

    def urlopen(request: Any, timeout: float) -> Answered:
        sent.append(request)
        return Answered()

    from slackwater.slack import endpoint_check as check_endpoint
    from slackwater.slack.signature import check

    monkeypatch.setattr(check_endpoint.urllib.request, "urlopen", urlopen)
    now = clock()
    assert check_endpoint.check_endpoint("https://api.invalid/slack/events", "the signing secret", now) == 200

    class Guard:
        def take(self, id: str, by: str) -> bool:
            return True

        def release(self, id: str, by: str) -> None: ...

    def endpoint(secret: str) -> Any:
        acknowledger = Acknowledger(
            signing_secret=lambda: secret,
            check=check,
            guard=Guard(),
            hand_over=sent.append,
            open_modal=lambda *_: None,
            clock=lambda: now,
        )
        event = {"headers": dict(sent[0].header_items()), "body": sent[0].data.decode(), "isBase64Encoded": False}
        return acknowledger.acknowledge(event)

    assert urlsplit(sent[0].full_url).path == command.EVENTS
    assert endpoint("the signing secret").status == 200
    assert endpoint("another").status == 401
    assert len(sent) == 1  # the request was not handed over
