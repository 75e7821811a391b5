"""Slack channels by bot and by webhook, against a server that behaves like Slack, and the secret for them."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.deployment.secrets import Secret
from slackwater.model.posts import Message, Post, Sent
from slackwater.model.slack_secret import SlackSecret
from slackwater.ports.errors import AwsError
from slackwater.ports.slack import Channel, ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
from slackwater.slack.bot import BotChannel
from slackwater.slack.secret import SecretError, parse
from slackwater.slack.webhook import WebhookChannel, respond
from slackwater.wiring.service import slack_channel
from slackwater.wiring.settings import DeploymentSettings
from support.slack_server import Fault, Posted, SlackChannel, SlackServer

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
TIMEOUT_S = 0.2
SECTION = {"type": "section", "text": {"type": "plain_text", "text": "data (fs-1)"}}
POST = Post(
    id="audit-1.0.0", audit_id="audit-1", created_at=NOW - timedelta(hours=3), channel="C0DEFAULT", thread_of=None,
    message=Message(text="3 new", blocks=(SECTION,)), tried_at=NOW, state="sending", attempts=1,
)  # fmt: skip


@pytest.fixture
def slack(monkeypatch) -> Iterator[SlackServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with SlackServer(clock=NOW.timestamp) as running:
        yield running


@pytest.fixture
def bot(slack) -> BotChannel:
    return BotChannel(slack.bot_token, base_url=slack.url, timeout_s=TIMEOUT_S)


@pytest.fixture
def webhook(slack) -> WebhookChannel:
    return WebhookChannel(slack.webhook_url, timeout_s=TIMEOUT_S)


def messages(slack: SlackServer, channel: str = "C0DEFAULT") -> list[Posted]:
    return slack.channels[channel].messages


# -- Send as a bot


def test_a_bot_posts_what_people_see_and_the_id_that_they_do_not(slack, bot) -> None:
    sent = bot.send(POST, None)

    (posted,) = messages(slack)
    assert sent == Sent(channel="C0DEFAULT", ts=posted.ts)
    assert (posted.text, posted.blocks) == ("3 new", [SECTION])
    assert posted.metadata == {"event_type": "slackwater_post", "event_payload": {"id": "audit-1.0.0"}}
    (asked,) = slack.called("chat.postMessage")
    assert (asked["unfurl_links"], asked["unfurl_media"]) == (False, False)
    assert "thread_ts" not in asked


def test_a_thread_is_where_its_digest_is_wherever_its_post_was_to_go(slack, bot) -> None:
    digest = bot.send(replace(POST, channel="C0FALLBACK"), None)
    sent = bot.send(replace(POST, id="audit-1.0.1"), digest)

    assert sent.channel == "C0FALLBACK"
    assert [one.ts for one in slack.channels["C0FALLBACK"].seen(digest.ts)] == [sent.ts]


def test_a_message_of_text_alone_is_posted(slack, bot) -> None:
    bot.send(replace(POST, message=Message(text="Nothing new.")), None)

    assert [one.text for one in messages(slack)] == ["Nothing new."]


@pytest.mark.parametrize(
    ("channel", "reason"),
    [
        ("C0NOWHERE", "channel_not_found"),
        ("C0ARCHIVED", "is_archived"),
        ("C0OUTSIDE", "not_in_channel"),
        (None, "no channel is named"),
    ],
)
def test_a_channel_that_does_not_take_it_says_why(slack, bot, channel, reason) -> None:
    with pytest.raises(ChannelRefusedError, match=f"^{reason}$"):
        bot.send(replace(POST, channel=channel), None)


def test_what_slack_refuses_is_refused_with_its_reason(slack, bot) -> None:
    with pytest.raises(ChannelRefusedError, match=r"^invalid_blocks$"):
        bot.send(replace(POST, message=Message(text="x", blocks=(SECTION,) * 51)), None)
    with pytest.raises(ChannelRefusedError, match=r"^thread_not_found$"):
        bot.send(POST, Sent(channel="C0DEFAULT", ts="1.000000"))
    slack.scopes = slack.scopes - {"chat:write"}
    with pytest.raises(ChannelRefusedError, match=r"^missing_scope$"):
        bot.send(POST, None)
    with pytest.raises(ChannelRefusedError, match=r"^invalid_auth$"):
        BotChannel("xoxb-another", base_url=slack.url).send(POST, None)
    assert messages(slack) == []


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (Fault("busy", retry_after_s=17), 17),
        (Fault("busy", retry_after_s=0), 1),
        (Fault("busy", retry_after_s="soon"), 30),
        (Fault("busy", retry_after_s="nan"), 30),
        (Fault("busy", retry_after_s=10**9), 86_400),
        (Fault("refused", error="ratelimited"), 30),
        (Fault("refused", error="rate_limited"), 30),
        (Fault("refused", error="message_limit_exceeded"), 30),
        (Fault("refused", error="request_timeout"), 30),
    ],
)
def test_a_busy_channel_says_when_to_come_again(slack, bot, fault, seconds) -> None:
    slack.faults = [fault]
    with pytest.raises(ChannelBusyError) as caught:
        bot.send(POST, None)

    assert caught.value.retry_after_s == seconds
    assert len(slack.calls) == 1  # slack_sdk does not retry by itself
    assert messages(slack) == []


UNKNOWN = [
    Fault("500"), Fault("500", after=True), Fault("reset"), Fault("reset", after=True), Fault("hang"),
    Fault("hang", after=True), Fault("garbled", after=True), Fault("cut", after=True),
    Fault("refused", error="internal_error"), Fault("refused", after=True, error="internal_error"),
    Fault("refused", error="fatal_error"), Fault("refused", error="service_unavailable"),
]  # fmt: skip


@pytest.mark.parametrize("fault", UNKNOWN, ids=lambda fault: f"{fault.kind}-{fault.after}-{fault.error}")
def test_an_unknown_delivery_is_not_called_posted_until_a_look_finds_it(slack, bot, fault) -> None:
    slack.faults = [fault]
    with pytest.raises(DeliveryUnknownError):
        bot.send(POST, None)
    assert len(slack.calls) == 1

    found = bot.find(POST, None)
    assert found == (Sent(channel="C0DEFAULT", ts=messages(slack)[0].ts) if fault.after else None)


@pytest.mark.parametrize("body", ["[]", "[1]", "3", "null", '"ok"', "", '{"ok": true}', '{"ok": false}', "<html>"])
def test_an_answer_of_another_shape_is_no_answer(slack, bot, body, monkeypatch) -> None:
    monkeypatch.setattr(
        "support.slack_server._Handler._answer", lambda *_: (200, {"Content-Type": "application/json"}, body)
    )

    for ask in (lambda: bot.send(POST, None), lambda: bot.find(POST, None)):
        with pytest.raises(DeliveryUnknownError):
            ask()


@pytest.mark.parametrize(
    ("status", "error"), [(403, ChannelRefusedError), (404, ChannelRefusedError), (408, DeliveryUnknownError)]
)
def test_an_error_of_a_proxy_is_recognized_by_its_status(slack, bot, status, error, monkeypatch) -> None:
    monkeypatch.setattr(
        "support.slack_server._Handler._answer",
        lambda *_: (status, {"Content-Type": "text/html"}, "<html>Proxy</html>"),
    )

    with pytest.raises(error, match=f"^HTTP {status}$"):
        bot.send(POST, None)


def test_if_nothing_listens_the_delivery_is_unknown(slack) -> None:
    with pytest.raises(DeliveryUnknownError):
        BotChannel("xoxb-1", base_url="http://127.0.0.1:1/api/", timeout_s=TIMEOUT_S).send(POST, None)


# -- Find a post


def chatter(slack: SlackServer, count: int, thread: Sent | None = None) -> None:
    channel = slack.channels["C0DEFAULT"]
    for number in range(count):
        slack.post(channel, {"text": f"chatter {number}", "thread_ts": thread and thread.ts})


def test_it_is_found_on_whichever_page_it_is(slack, bot) -> None:
    slack.page = 3
    chatter(slack, 4)
    sent = bot.send(POST, None)
    bot.send(replace(POST, id="audit-1.1.0"), None)
    chatter(slack, 10)

    assert bot.find(POST, None) == sent
    assert len(slack.called("conversations.history")) == 6
    assert bot.find(replace(POST, id="audit-1.0.00"), None) is None


def test_of_two_that_carry_the_same_id_the_older_one_is_found(slack, bot) -> None:
    slack.page = 1
    sent = bot.send(POST, None)
    slack.clock = lambda: NOW.timestamp() + 5
    again = bot.send(POST, None)

    assert float(again.ts) > float(sent.ts)
    assert bot.find(POST, None) == sent


def test_in_a_thread_it_is_looked_for_there_and_nowhere_else(slack, bot) -> None:
    slack.page = 3
    digest, other = bot.send(POST, None), bot.send(replace(POST, id="audit-1.1.0"), None)
    detail = replace(POST, id="audit-1.0.1", thread_of="audit-1.0.0")
    chatter(slack, 4, digest)
    sent = bot.send(detail, digest)
    chatter(slack, 4, digest)

    assert bot.find(detail, digest) == sent
    assert bot.find(detail, other) is None
    assert bot.find(detail, None) is None


def test_our_clock_may_be_ahead_of_slacks(slack, bot) -> None:
    sent = bot.send(POST, None)

    assert bot.find(replace(POST, tried_at=NOW + timedelta(minutes=4)), None) == sent
    assert bot.find(replace(POST, tried_at=NOW + timedelta(minutes=6)), None) is None
    assert slack.called("conversations.history")[0]["include_all_metadata"] == "1"


def test_what_somebody_else_put_there_is_not_ours(slack, bot) -> None:
    channel = slack.channels["C0DEFAULT"]
    for metadata in (
        None,
        {"event_type": "task", "event_payload": {"id": POST.id}},
        {"event_type": "slackwater_post", "event_payload": {}},
        {"event_type": "slackwater_post", "event_payload": {"id": "audit-1.0.1"}},
    ):
        slack.post(channel, {"text": POST.id, "metadata": metadata})

    assert bot.find(POST, None) is None


@pytest.mark.parametrize(
    ("breaks", "error", "message"),
    [
        ({"scopes": frozenset({"chat:write"})}, ChannelRefusedError, "missing_scope"),
        ({"channels": {}}, ChannelRefusedError, "channel_not_found"),
        ({"channels": {"C0DEFAULT": SlackChannel("C0DEFAULT", member=False)}}, ChannelRefusedError, "not_in_channel"),
        ({"faults": [Fault("busy", retry_after_s=5)]}, ChannelBusyError, "5 s"),
        ({"faults": [Fault("500")]}, DeliveryUnknownError, "HTTP 500"),
        ({"faults": [Fault("cut", after=True)]}, DeliveryUnknownError, "IncompleteRead"),
        ({"page": 1, "faults": [None, Fault("reset")]}, DeliveryUnknownError, "ConnectionResetError"),
    ],
)
def test_a_look_that_fails_does_not_say_that_it_is_not_there(slack, bot, breaks, error, message) -> None:
    chatter(slack, 3)
    for name, value in breaks.items():
        setattr(slack, name, value)

    with pytest.raises(error, match=message):
        bot.find(POST, None)


def test_a_history_that_never_ends_is_not_looked_through_for_ever(slack, bot, monkeypatch) -> None:
    answer = '{"ok": true, "messages": [], "has_more": true, "response_metadata": {"next_cursor": "again"}}'
    monkeypatch.setattr(
        "support.slack_server._Handler._answer", lambda *_: (200, {"Content-Type": "application/json"}, answer)
    )

    with pytest.raises(DeliveryUnknownError, match="messages to look through"):
        bot.find(POST, None)
    assert len(slack.calls) == 50


def test_more_without_a_way_to_it_is_not_the_end(slack, bot, monkeypatch) -> None:
    answer = '{"ok": true, "messages": [], "has_more": true}'
    monkeypatch.setattr(
        "support.slack_server._Handler._answer", lambda *_: (200, {"Content-Type": "application/json"}, answer)
    )

    with pytest.raises(DeliveryUnknownError):
        bot.find(POST, None)


# -- Update a post, and read it back


def test_a_message_is_changed_and_still_found(slack, bot) -> None:
    sent = bot.send(POST, None)
    bot.update(sent, Message(text="Snoozed"))

    (posted,) = messages(slack)
    assert (posted.text, posted.blocks, posted.edited) == ("Snoozed", [], 1)
    assert bot.find(POST, None) == sent
    with pytest.raises(ChannelRefusedError, match="message_not_found"):
        bot.update(replace(sent, ts="1.000000"), Message(text="x"))


def test_a_modal_opens_once_for_a_press(slack, bot) -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "Dismiss"}, "blocks": [SECTION]}
    bot.open_modal("T1", view)

    assert slack.views == [view]
    with pytest.raises(ChannelRefusedError, match="expired_trigger_id"):
        bot.open_modal("T1", view)


def test_any_other_method_answers_with_its_headers(slack, bot) -> None:
    answer, headers = bot.call("auth.test")
    assert answer["bot_id"] == "B0SLACKWATER"
    assert "chat:write" in headers["x-oauth-scopes"]
    assert bot.call("conversations.info", channel="C0OUTSIDE")[0]["channel"]["is_member"] is False
    with pytest.raises(ChannelRefusedError, match="channel_not_found"):
        bot.call("conversations.info", channel="C0NOWHERE")


# -- Send by webhook


def test_a_webhook_posts_to_an_unknown_channel(slack, webhook) -> None:
    assert webhook.send(replace(POST, channel=None), None) == Sent(channel=None, ts=None, ok=True)
    (posted,) = messages(slack)
    assert (posted.text, posted.blocks) == ("3 new", [SECTION])
    assert (posted.raw["unfurl_links"], posted.raw["unfurl_media"]) == (False, False)


def test_a_webhook_leaves_out_what_nobody_could_press(slack, webhook) -> None:
    buttons = {"type": "actions", "block_id": "b", "elements": []}
    webhook.send(replace(POST, message=Message(text="3 new", blocks=(SECTION, buttons))), None)

    (posted,) = messages(slack)
    assert posted.blocks == [SECTION]


def test_a_webhook_can_neither_look_nor_change_nor_answer_in_a_thread(slack, webhook) -> None:
    nowhere = Sent(channel=None, ts=None)
    assert not webhook.can_read
    for ask in (
        lambda: webhook.find(POST, None),
        lambda: webhook.update(nowhere, POST.message),
        lambda: webhook.send(POST, nowhere),
    ):
        with pytest.raises(ChannelRefusedError, match="a webhook"):
            ask()
    assert slack.calls == []


@pytest.mark.parametrize(
    ("channel", "post", "message"),
    [
        ("C0ARCHIVED", POST, "channel_is_archived"),
        (None, POST, "channel_not_found"),
        ("C0DEFAULT", replace(POST, message=Message(text="")), "no_text"),
        ("C0DEFAULT", replace(POST, message=Message(text="x", blocks=(SECTION,) * 51)), "invalid_blocks"),
    ],
)
def test_a_webhook_that_refuses_says_why(slack, webhook, channel, post, message) -> None:
    slack.webhook_channel = channel
    with pytest.raises(ChannelRefusedError, match=f"^{message}$"):
        webhook.send(post, None)


def test_a_webhook_that_was_taken_away_says_so(slack) -> None:
    gone = WebhookChannel(f"{slack.origin}/services/T0TEAM/B0HOOK/old", timeout_s=TIMEOUT_S)
    with pytest.raises(ChannelRefusedError, match=r"^no_service$"):
        gone.send(POST, None)


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (Fault("busy", retry_after_s=9), ChannelBusyError, "9 s"),
        (Fault("refused", error="action_prohibited"), ChannelRefusedError, "action_prohibited"),
        (Fault("500"), DeliveryUnknownError, "HTTP 500|rollup_error"),
        (Fault("hang", after=True), DeliveryUnknownError, "TimeoutError"),
        (Fault("reset", after=True), DeliveryUnknownError, "ConnectionResetError"),
        (Fault("cut", after=True), DeliveryUnknownError, "IncompleteRead"),
    ],
)
def test_each_error_of_a_webhook_raises_its_own_exception(slack, webhook, fault, error, message) -> None:
    slack.faults = [fault]
    with pytest.raises(error, match=message):
        webhook.send(POST, None)
    assert len(slack.calls) == 1
    assert len(messages(slack)) == fault.after


def test_only_the_person_who_pressed_sees_the_answer(slack) -> None:
    respond(slack.response_url("one"), POST.message)

    (answer,) = slack.responses["one"]
    assert (answer["response_type"], answer["replace_original"], answer["text"]) == ("ephemeral", False, "3 new")
    for _ in range(4):
        respond(slack.response_url("one"), POST.message)
    with pytest.raises(ChannelRefusedError, match="HTTP 404"):
        respond(slack.response_url("one"), POST.message)


# -- Secrets stay secret


@pytest.mark.parametrize("fault", [None, *UNKNOWN, Fault("busy"), Fault("refused", error="is_archived")])
def test_neither_token_nor_address_is_logged_or_raised(slack, bot, webhook, fault, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    for channel in (bot, webhook):
        slack.faults = [fault]
        try:
            channel.send(POST, None)
        except (ChannelBusyError, ChannelRefusedError, DeliveryUnknownError) as error:
            shown = f"{error!r} {error.__cause__!r} {error.__context__!r}"
            assert slack.bot_token not in shown
            assert "B0HOOK" not in shown
    assert caplog.text == ""


# -- The secret


def test_a_secret_is_a_bots_or_a_webhooks(slack) -> None:
    of_bot = parse('{"bot_token": "xoxb-1-2-abC", "signing_secret": "5157e7abcd", "client_id": "1.2"}')
    of_hook = parse(
        '{"webhook_url": "https://hooks.slack.com/services/T0/B0/x_y-Z", "bot_token": "", "signing_secret": null}'
    )

    assert (of_bot.bot_token, of_bot.signing_secret, of_bot.webhook_url) == ("xoxb-1-2-abC", "5157e7abcd", None)
    assert of_hook == SlackSecret(webhook_url="https://hooks.slack.com/services/T0/B0/x_y-Z")
    assert "xoxb" not in repr(of_bot)
    assert isinstance(slack_channel(of_bot, None), BotChannel)
    assert isinstance(slack_channel(of_hook, None), WebhookChannel)
    for text in (slack.secret(), slack.webhook_secret()):
        channel: Channel = slack_channel(parse(text), slack.url)
        channel.send(POST, None)
    assert len(messages(slack)) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xoxb-s3cret", "not JSON"),
        ('["xoxb-s3cret"]', "not a JSON object"),
        ("{}", "neither bot_token nor webhook_url"),
        ('{"bot_token": "xoxb-s3cret"}', "lacks signing_secret"),
        ('{"signing_secret": "s3cret123"}', "neither bot_token nor webhook_url"),
        ('{"bot_token": "xoxp-s3cret", "signing_secret": "s3cret123"}', "bot_token .* begins with xoxb-"),
        ('{"bot_token": "xoxb-s3cret\\n", "signing_secret": "s3cret123"}', "bot_token"),
        ('{"bot_token": ["xoxb-s3cret"], "signing_secret": "s3cret123"}', "bot_token"),
        ('{"bot_token": "xoxb-s3cret", "signing_secret": "s3cret 123"}', "signing_secret"),
        ('{"webhook_url": "http://hooks.slack.com/services/s3cret"}', "webhook_url .* https://hooks.slack.com/"),
        ('{"webhook_url": "https://hooks.slack.com/services/s3cret\\r\\nX: y"}', "webhook_url"),
        ('{"webhook_url": "file:///etc/s3cret"}', "webhook_url"),
        ('{"webhook_url": "https://u:s3cret@hooks.slack.com/x"}', "webhook_url"),
        (
            (
                '{"bot_token": "xoxb-s3cret", "signing_secret": "s3cret123", "webhook_url": '
                '"https://hooks.slack.com/s3cret"}'
            ),
            "both",
        ),
    ],
)
def test_a_secret_that_is_none_is_named_by_its_key_and_not_by_its_value(text, message) -> None:
    with pytest.raises(SecretError, match=message) as caught:
        parse(text)

    assert "s3cret" not in f"{caught.value!r}{caught.value.__cause__!r}"


ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slackwater-AbCdEf"


class Manager:
    """A Secrets Manager with fixed answers for one secret."""

    home = "ap-northeast-1"

    def __init__(self, *answers) -> None:
        self.answers, self.asked = list(answers), []

    def client(self, service: str, region: str):
        return SimpleNamespace(get_secret_value=lambda SecretId: self._get(service, region, SecretId))

    def _get(self, service: str, region: str, id_: str):
        self.asked.append((service, region, id_))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_secret_is_kept_for_five_minutes() -> None:
    manager, at = Manager({"SecretString": "one"}, {"SecretString": "two"}), [1_000.0]
    secret = Secret(manager, ARN, lambda: at[0])
    assert [secret(), secret()] == ["one", "one"]
    at[0] += 299
    assert secret() == "one"
    at[0] += 1
    assert secret() == "two"
    assert manager.asked == [("secretsmanager", "eu-west-1", ARN)] * 2


def test_a_secret_that_cannot_be_read_is_asked_for_again_the_next_time() -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetSecretValue")
    secret = Secret(Manager(denied, {"SecretBinary": b"x"}, {"SecretString": "one"}), "slackwater", lambda: 0.0)
    with pytest.raises(AwsError, match="AccessDeniedException"):
        secret()
    with pytest.raises(AwsError, match="holds no text"):
        secret()
    assert secret() == "one"


@pytest.mark.parametrize(("value", "arn"), [(None, None), ("", None), (ARN, ARN)])
def test_the_environment_says_whether_there_is_slack(value, arn) -> None:
    environment = {"TABLE_NAME": "t", "BUCKET_NAME": "b", "RETENTION_DAYS": "400"}
    slack = {} if value is None else {"SLACK_SECRET_ARN": value, "SLACK_API_URL": ""}

    deployed = DeploymentSettings.of(environment | slack)
    assert (deployed.slack_secret_arn, deployed.slack_api_url) == (arn, None)
