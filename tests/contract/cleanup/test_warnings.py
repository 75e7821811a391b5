"""A warning counts once Slack has accepted it. Nothing is deleted before that, whatever is wrong with Slack."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from slackwater.app.slack.notify import fail_posts_without_slack
from slackwater.model.cleanup import ACT_AFTER, Tagging
from slackwater.model.posts import Sent
from slackwater.ports.slack import ChannelRefusedError, DeliveryUnknownError
from slackwater.views.slack.digest import date_and_time
from support.cleanup_world import POLICY, World, world

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
GRACE = 2 * DAY
ALL_THE_SAME = f"{POLICY}delete_without_warning = true\n"
UNATTENDED = f'{POLICY}\n[[cleanup.unattended]]\ntag = "Job=encode"\ngrace_hours = 6\n'
DOWN = DeliveryUnknownError("HTTP 503")


def outage(there: World, lasts: timedelta, after: timedelta = timedelta(0), error: Exception = DOWN) -> None:
    """Let Slack fail with `error` for a time `lasts`, which begins `after` from now."""
    notify, begins = there.functions["NotifyFunction"], there.now() + after

    def notified(payload: Any) -> Any:
        there.slack.down = error if begins <= there.now() < begins + lasts else None
        return notify(payload)

    there.functions = {**there.functions, "NotifyFunction": notified}


def without_slack(there: World) -> None:
    """Deploy the service without a Slack secret."""
    there.functions = {
        **there.functions,
        "NotifyFunction": lambda _: {"waiting": fail_posts_without_slack(there.outbox) * 0, "wait_s": 0},
    }


def deleted_at(there: World, kind: str) -> list[datetime]:
    """Return a list that receives the times at which AWS is asked to delete."""
    asked = list[datetime]()
    action = {"ebs": "ec2:DeleteVolume", "efs-abandoned": "elasticfilesystem:DeleteFileSystem"}[kind]
    there.simulator.before(action, lambda: asked.append(there.now()))
    return asked


def before_look(there: World, n: int, act: Callable[[], None]) -> None:
    """Run an action right before the n-th check in the grace period."""
    watch, looks = there.functions["WatchFunction"], list[str]()

    def watched(payload: Any) -> Any:
        if payload["step"] == "grace":
            looks.append("")
            if len(looks) == n:
                act()
        return watch(payload)

    there.functions = {**there.functions, "WatchFunction": watched}


def change_policy(there: World, **changes: Any) -> None:
    there.change_policy(replace(there.policy, cleanup=there.policy.cleanup.model_copy(update=changes)))


def marked(there: World, kind: str) -> Tagging:
    found = there.cleanup(kind).marked
    assert found
    return found


def messages_to_owner(there: World) -> list[str]:
    """Return what Slack has posted about the clean-up, in order."""
    return [id_.split(".", 3)[3].split(".")[0] for id_ in there.slack.posted]


def later(there: World, span: timedelta) -> None:
    """Let time pass. The schedule runs NotifyFunction every hour."""
    for _ in range(int(span / HOUR)):
        there.simulator.advance(3_600)
        there.functions["NotifyFunction"]({})


# -- Slack is down


@pytest.mark.parametrize(
    "error", [DOWN, ChannelRefusedError("token_revoked"), ChannelRefusedError("is_archived")], ids=str
)
def test_while_slack_is_down_nothing_is_deleted_and_the_owner_learns_why_when_it_is_back(
    error: Exception,
) -> None:
    with world("ebs") as there:
        outage(there, timedelta(days=11), error=error)
        id_ = there.finding("ebs").sighting.resource.id
        began = there.now()
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert there.cleanup("ebs").ended_at - began < 8 * DAY
        assert there.cleanup("ebs").stage == "called-off"
        assert there.cleanup("ebs").why.startswith("Slackwater could not warn its owner within 7 days: Slack: ")
        assert str(error) in there.cleanup("ebs").why
        assert there.account.exists(id_)
        assert there.account.backups() == []
        assert ACT_AFTER not in there.account.find(id_).tags

        later(there, began + 12 * DAY - there.now())
        assert "marked" not in messages_to_owner(there), "it would announce what does not happen"
        # Slack reports an archived channel at once, and no fallback channel is configured
        if str(error) != "is_archived":
            (post,) = [post for post in there.slack.posted.values() if "called-off" in post.id]
            assert "could not warn its owner" in str(post.message.blocks)


def test_the_days_of_grace_count_from_the_first_delivery() -> None:
    with world("ebs") as there:
        outage(there, 3 * DAY + 5 * HOUR)
        asked = deleted_at(there, "ebs")
        began = there.now()
        assert there.cleaned("ebs").status == "SUCCEEDED"
        delivered = marked(there, "ebs").delivered_at
        assert delivered
        assert delivered >= began + 3 * DAY + 5 * HOUR
        assert asked[0] >= delivered + GRACE
        assert there.cleanup("ebs").stage == "done"


def test_a_date_that_moved_is_in_the_tag_and_in_the_ledger_and_is_announced() -> None:
    with world("ebs") as there:
        outage(there, 30 * HOUR)
        id_ = there.finding("ebs").sighting.resource.id
        tags = list[str]()
        there.simulator.before("ec2:CreateSnapshot", lambda: tags.append(there.account.find(id_).tags[ACT_AFTER]))
        there.cleaned("ebs")
        assert tags == [f"{marked(there, 'ebs').act_after:%Y-%m-%dT%H:%M:%SZ}"]
        why = [entry.why for entry in there.findings.ledger(there.finding("ebs").id) if entry.happening == "marked"]
        assert f"{marked(there, 'ebs').act_after:%Y-%m-%d %H:%M}" in why[-1]
        announced = [post for post in there.slack.posted.values() if ".marked" in post.id]
        assert date_and_time(marked(there, "ebs").act_after) in str(announced[-1].message.blocks)


def test_a_warning_that_came_late_is_followed_by_its_days_all_the_same() -> None:
    with world("ebs") as there:
        change_policy(there, grace_days=10, warn_days=[3])
        outage(there, 50 * HOUR, after=6 * DAY + 20 * HOUR)
        asked = deleted_at(there, "ebs")
        there.cleaned("ebs")
        (warned,) = [post for post in there.outbox.posts.values() if ".warned.3" in post.id and post.delivered_at]
        assert warned.delivered_at
        assert asked[0] >= warned.delivered_at + 3 * DAY
        assert marked(there, "ebs").warned_days == (3,)
        assert there.ledger_events("ebs").count("warned") == 1


def test_a_warning_that_is_never_delivered_ends_it() -> None:
    with world("ebs") as there:
        change_policy(there, grace_days=10, warn_days=[3])
        outage(there, 60 * DAY, after=6 * DAY)
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "called-off"
        assert "could not warn its owner" in there.cleanup("ebs").why
        assert there.account.backups() == []
        assert "warned" not in there.ledger_events("ebs"), "the ledger tells of what was delivered"


def test_the_hours_of_a_rule_count_from_the_first_delivery_too() -> None:
    with world("efs-abandoned", policy=UNATTENDED) as there:
        outage(there, 20 * HOUR)
        asked = deleted_at(there, "efs-abandoned")
        there.begin(there.finding("efs-abandoned"))
        assert there.execution(there.finding("efs-abandoned")).run().status == "SUCCEEDED"
        delivered = marked(there, "efs-abandoned").delivered_at
        assert delivered
        assert asked[0] >= delivered + 6 * HOUR
        assert asked[0] < delivered + DAY


# -- There is nobody to warn


def test_without_slack_nothing_is_deleted() -> None:
    with world("ebs") as there:
        without_slack(there)
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "called-off"
        assert there.cleanup("ebs").why.startswith("Slackwater cannot warn its owner: there is no Slack")
        assert there.account.exists(there.finding("ebs").sighting.resource.id)


def test_where_the_policy_names_no_channel_nothing_is_deleted() -> None:
    with world("ebs") as there:
        there.slack.default = None
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "called-off"
        assert "the policy names no channel" in there.cleanup("ebs").why
        assert there.account.exists(there.finding("ebs").sighting.resource.id)


@pytest.mark.parametrize("why", ["no Slack", "no channel"])
def test_without_a_channel_it_is_deleted_where_the_policy_says_so(why: str) -> None:
    with world("ebs", policy=ALL_THE_SAME) as there:
        if why == "no Slack":
            without_slack(there)
        else:
            there.slack.default = None
        asked = deleted_at(there, "ebs")
        began = there.now()
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "done"
        assert GRACE <= asked[0] - began < GRACE + DAY


def test_where_the_policy_deletes_without_warning_a_channel_that_is_down_is_waited_for_all_the_same() -> None:
    with world("ebs", policy=ALL_THE_SAME) as there:
        outage(there, 60 * DAY)
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "called-off"


def test_who_takes_that_out_of_the_policy_stops_what_nobody_was_warned_of() -> None:
    with world("ebs", policy=ALL_THE_SAME) as there:
        without_slack(there)
        delete = there.functions["DeleteFunction"]

        def deleting(payload: Any) -> Any:
            change_policy(there, delete_without_warning=False)
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": deleting}
        there.cleaned("ebs")
        assert there.account.exists(there.finding("ebs").sighting.resource.id)
        assert "Slackwater warned nobody" in there.cleanup("ebs").why


# -- The policy changes the grace period


def test_a_longer_grace_period_applies_to_resources_that_are_already_tagged() -> None:
    with world("ebs") as there:
        before_look(there, 2, lambda: change_policy(there, grace_days=5))
        asked = deleted_at(there, "ebs")
        began = there.now()
        there.cleaned("ebs")
        assert asked[0] - began >= 5 * DAY
        assert messages_to_owner(there).count("marked") == 2
        assert there.ledger_events("ebs").count("marked") == 2
        assert marked(there, "ebs").warned_days == (2, 1), "it is warned of the new date again"


def test_a_shorter_grace_does_not_shorten_what_was_announced() -> None:
    with world("ebs") as there:
        before_look(there, 1, lambda: change_policy(there, grace_days=1))
        asked = deleted_at(there, "ebs")
        began = there.now()
        there.cleaned("ebs")
        assert asked[0] - began >= GRACE


def test_a_longer_grace_stops_what_is_being_backed_up_already() -> None:
    with world("ebs") as there:
        back_up = there.functions["BackUpFunction"]

        def backing_up(payload: Any) -> Any:
            if payload["step"] == "verify":
                change_policy(there, grace_days=30)
            return back_up(payload)

        there.functions = {**there.functions, "BackUpFunction": backing_up}
        there.cleaned("ebs")
        assert there.account.exists(there.finding("ebs").sighting.resource.id)
        assert "cleanup.grace_days is higher now" in there.cleanup("ebs").why


# -- Duplicate steps, and records of older versions


def test_steps_that_come_twice_warn_once() -> None:
    with world("ebs") as there:
        inner = there.functions
        there.functions = {name: twice(inner[name]) for name in inner}
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert messages_to_owner(there)[:2] == ["marked", "warned"]
        assert there.ledger_events("ebs").count("warned") == 1


def twice(function: Any) -> Any:
    def called(payload: Any) -> Any:
        if payload.get("step") == "grace" or not payload:
            function(payload)
        return function(payload)

    return called


@pytest.mark.parametrize("posted", ["sent", "by an old webhook", "waiting"])
def test_a_resource_tagged_before_deliveries_were_recorded_is_warned_of_first(posted: str) -> None:
    with world("ebs") as there:
        began = there.now()

        def as_before() -> None:
            cleanup = there.cleanup("ebs")
            before = replace(marked(there, "ebs"), notice=None, delivered_at=None)
            there.cleanups.write(replace(cleanup, marked=before, revision=cleanup.revision + 1))
            ((id_, post),) = there.outbox.posts.items()
            webhook = Sent(channel=None, ts=None)
            known = {
                "sent": replace(post, sent_at=None),
                "by an old webhook": replace(post, sent_at=None, sent=webhook),
                "waiting": replace(post, state="pending", sent=None, sent_at=None),
            }
            there.outbox.posts[id_] = known[posted]

        before_look(there, 1, as_before)
        asked = deleted_at(there, "ebs")
        there.cleaned("ebs")
        assert there.cleanup("ebs").stage == "done"
        delivered = marked(there, "ebs").delivered_at
        assert delivered
        assert asked[0] >= delivered + GRACE
        assert (delivered == began) == (posted == "sent")
