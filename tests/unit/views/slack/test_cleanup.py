"""The messages about clean-ups."""

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slack_messages as invented
from slackwater.model.cleanup import NOT_RESTORED_STARTS, ActorNote, Removal, Restored, SubResource
from slackwater.model.settings import VolumeSetting
from slackwater.views.slack.blocks import ROOM, weight
from slackwater.views.slack.cleanup import SHOWN, What, cleanup_message, over_cap
from support.effort import effort

SEEN = invented.finding_record(0)
GP3 = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
GP2 = VolumeSetting(volume_type="gp2", iops=None, throughput_mib_s=None)
DATED = replace(SEEN, setting=GP3)
SNAPSHOT = invented.backup(SEEN.resource.id, "snap-1")
VOLUME = Removal(part=SubResource(kind="volume", id=SEEN.resource.id, arn=None), asked_at=invented.NOW)
TARGET = Removal(part=SubResource(kind="mount-target", id="fsmt-1", arn=None), asked_at=invented.NOW)
KINDS = get_args(What.__value__)


def rendered(what: What, seen=SEEN, finding=None, policy: dict[str, Any] | None = None, **changes: Any):
    return cleanup_message(what, invented.case(invented.cleanup(seen, **changes), seen, finding, **(policy or {})))


def text(what: What, *given: Any, **changes: Any) -> str:
    return rendered(what, *given, **changes).text.replace("\u2060", "")


def buttons(message) -> list[str]:
    (block,) = [block for block in message.blocks if block["type"] == "actions"]
    assert block["block_id"] == f"cleanup.{SEEN.id}.1/{SEEN.id}"
    return [one["action_id"] for one in block["elements"]]


def problems(message, limits) -> list[str]:
    return limits.of_message(json.loads(json.dumps({"text": message.text, "blocks": message.blocks})))


# -- Messages before a clean-up acts


def test_a_tagging_message_says_what_happens_when_the_owner_and_the_backup() -> None:
    shown = text("marked")

    for part in (
        "Marked for clean-up: scratch-00 (vol-00000000000000001)",
        "Not approved. If someone approves it and it stays unused, Slackwater deletes it.",
        "Slackwater deletes it. It saves $54.00 a month.",
        "Owner: video",
        (
            "Backup: First a snapshot of 500 GiB, kept for 90 days. To get it back, an approver runs slackwater "
            f"cleanup undo {SEEN.id}: a new volume, with a new ID."
        ),
        "Deletes on: 16 Dec 2026, 10:00 UTC or later\n",
        (
            "To keep it: Use it, add the tag keep (any value), snooze or dismiss the finding, press Keep it, "
            f"or slackwater cleanup stop {SEEN.id}"
        ),
    ):
        assert part in shown
    assert "Owner: no owner tag" in text("marked", owner=None)
    assert "add the tag" not in text("marked", policy={"keep_tag": None})
    assert "add the tag DoNotDelete with the value yes, " in text("marked", policy={"keep_tag": "DoNotDelete=yes"})
    assert shown.count("Dec 2026") == 1
    assert "kept for 7 days" in text("marked", policy={"backup_days": 7})


def test_a_tagging_message_of_an_approved_finding_offers_only_details_and_stop() -> None:
    approved = invented.tracked(SEEN, invented.decision("approved", days=37))
    message = rendered("marked", SEEN, approved)

    assert "Approved. If it stays unused and its backup is verified, Slackwater deletes it." in message.text.replace(
        "\u2060", ""
    )
    assert "snooze or dismiss" not in message.text
    assert buttons(message) == ["details", "stop"]
    nobody = rendered("marked", SEEN, approved, {"may_stop": False})
    assert buttons(nobody) == ["details"]
    assert "press" not in nobody.text


def test_a_tagging_message_says_that_no_approval_and_no_backup_are_needed() -> None:
    message = rendered("marked", unattended=True, scratch=True)

    assert (
        "The policy allows this for its tag, without an approval. If it stays unused, Slackwater deletes it."
        in message.text
    )
    assert "If it stays unused, Slackwater deletes it" in message.text
    assert "Backup: None" in message.text
    assert "You cannot get it back." in message.text
    assert "Backed up first" not in message.text
    assert buttons(message) == ["details", "snooze", "dismiss", "stop"]


@pytest.mark.parametrize("what", ["marked", "warned", "asked"])
def test_everything_can_be_pressed_that_the_policy_lets_people_press(what: What) -> None:
    assert buttons(rendered(what)) == ["details", "snooze", "dismiss", "approve", "stop"]
    assert buttons(rendered(what, policy={"may_approve": False})) == ["details", "snooze", "dismiss", "stop"]
    assert buttons(rendered(what, policy={"may_decide": False})) == ["details", "approve", "stop"]
    assert buttons(rendered(what, policy={"may_stop": False})) == ["details", "snooze", "dismiss", "approve"]


def test_the_stop_asks_once_more_and_says_what_comes_of_it() -> None:
    (block,) = [block for block in rendered("marked").blocks if block["type"] == "actions"]
    stop = block["elements"][-1]

    assert (stop["action_id"], stop["value"]) == ("stop", SEEN.id)
    assert stop["text"]["text"] == stop["confirm"]["confirm"]["text"] == "Keep it"
    assert stop["confirm"]["text"]["text"] == (
        "scratch-00 (vol-00000000000000001) stays as it is: its clean-up is cancelled at its next step, within a day"
        " while it waits. To clean it up after all takes a new approval."
    )


def test_a_warning_about_fsx_says_that_its_own_backups_are_deleted_too() -> None:
    shares = replace(SEEN, resource=replace(SEEN.resource, type="fsx-file-system"))

    for what in ("marked", "warned", "asked"):
        assert "Its automatic backups go with it." in text(what, shares)
        assert "automatic backups" not in text(what)


@pytest.mark.parametrize("what", ["called-off", "done", "failed", "undone"])
def test_about_what_is_over_there_is_only_something_to_look_at(what: What) -> None:
    assert buttons(rendered(what)) == ["details"]


def test_the_approval_names_the_day_from_which_on_it_is_deleted() -> None:
    (block,) = [block for block in rendered("marked").blocks if block["type"] == "actions"]

    approve = block["elements"][-2]
    assert "is then deleted after 16 Dec 2026, 10:00 UTC, unless it is used" in approve["confirm"]["text"]["text"]
    assert approve["value"] == f"{SEEN.id}:{SEEN.fingerprint}"


def test_what_hangs_on_it_is_listed() -> None:
    efs = {
        "access_points": [
            {"id": "fsap-1", "root_directory": {"Path": "/press"}},
            {"id": "fsap-2", "root_directory": None},
        ],
        "mount_targets": [{"id": "fsmt-1", "ip_address": "10.0.0.7"}],
    }
    openzfs = {"children": [{"id": "fsvol-1", "name": "home", "path": "/home", "size_bytes": 1 << 30}]}

    assert (
        "Slackwater also deletes: access point fsap-1 (/press), access point fsap-2, mount target fsmt-1 (10.0.0.7)"
        in text("marked", recorded=efs)
    )
    assert "Slackwater also deletes: volume fsvol-1 (home, /home, 1 GiB)" in text("marked", recorded=openzfs)
    by_parts = (TARGET.part, VOLUME.part)
    assert "Slackwater also deletes: mount target fsmt-1\n" in text("marked", parts=by_parts)
    assert "Goes with it" not in text("marked", parts=(VOLUME.part,), recorded={"tags": {}})


def test_of_many_children_the_first_are_named_and_the_rest_counted() -> None:
    children = [{"id": f"fsvol-{n:04}"} for n in range(SHOWN + 7)]
    shown = text("marked", recorded={"children": children})

    assert shown.count("volume fsvol-") == SHOWN
    assert "7 more: slackwater cleanup status has all" in shown


def test_a_warning_says_how_many_days_are_left() -> None:
    marked = invented.cleanup(SEEN).marked

    assert text("warned", marked=replace(marked, warned_days=(30, 7))).startswith("7 days left: scratch-00")
    assert text("warned", marked=replace(marked, warned_days=(30, 7, 1))).startswith("1 day left: scratch-00")


def test_what_waits_for_an_approval_says_until_when_and_that_nothing_happens_without_one() -> None:
    shown = text("asked")

    assert "Waiting for approval" in shown
    assert (
        "If someone approves it by 23 Dec 2026, 10:00 UTC, Slackwater deletes it. Otherwise nothing happens." in shown
    )
    assert "Nobody used it since 16 Nov 2026, 10:00 UTC." in shown


def test_a_change_says_to_what_and_that_its_data_stay() -> None:
    shown = text("marked", DATED)

    assert "Not approved. If someone approves it, Slackwater changes it to gp3, 3,000 IOPS, 125 MiB/s." in shown
    assert "an undo restores the old setting" in shown
    for never in ("deleted", "Backed up", "use it"):
        assert never not in shown
    approved = invented.tracked(DATED, invented.decision("approved", days=7))
    assert "once somebody" not in text("marked", DATED, approved)


# -- Messages after it


def test_what_was_called_off_says_why_and_that_nothing_was_done() -> None:
    shown = text("called-off", stage="called-off", why="it is attached to i-1")

    assert "Cancelled: scratch-00" in shown
    assert "Why: it is attached to i-1" in shown
    assert "Nothing was deleted." in shown
    assert "Nothing was changed." in text("called-off", DATED, stage="called-off", why="x")
    swept = text("called-off", backups=(SNAPSHOT,), why="x")
    assert "Backup of vol-00000000000000001: snap-1, verified, kept until 2027-03-16" in swept
    assert "The sweeper deletes its backup" in swept


def test_what_was_called_off_with_a_part_gone_never_says_that_nothing_was_done() -> None:
    shown = text("called-off", removals=(TARGET,), why="something reads from it")

    assert "Nothing was" not in shown
    assert (
        "AWS was asked to delete mount target fsmt-1. Check in AWS whether it still exists."
        " vol-00000000000000001 itself was not deleted." in shown
    )
    assert f"slackwater cleanup status {SEEN.id}" in shown


def test_what_was_deleted_says_where_its_data_are_until_when_how_to_undo_it_and_what_it_saves_net() -> None:
    done = {"stage": "done", "removals": (VOLUME,), "backups": (SNAPSHOT,), "approved_by": invented.DECIDER}
    shown = text("done", **done, backup_monthly_usd=Decimal("25.00"))

    for part in (
        "Deleted: scratch-00 (vol-00000000000000001)\nSlackwater deleted it.\n",
        "It saves $54.00 a month, less $25.00 a month for its backup until 2027-03-16: $29.00 a month until then.",
        "Backup of vol-00000000000000001: snap-1, verified, kept until 2027-03-16",
        f"To undo it: slackwater cleanup undo {SEEN.id}",
        "Approved by <@U0123ABCDEF>.",
    ):
        assert part in shown
    assert "less the cost of its backup until 2027-03-16, which is unknown." in text("done", **done)
    unpriced = text("done", **done, promised_monthly_usd=None, backup_monthly_usd=Decimal(1))
    assert "Its saving is unknown, less $1.00 a month for its backup until 2027-03-16." in unpriced
    for more in ({"removals": (TARGET, VOLUME)}, {"children": (SEEN.resource.id, "fsvol-1")}):
        assert "Slackwater deleted it and its sub-resources." in text("done", **done | more)


def test_scratch_that_was_deleted_has_no_way_back_and_says_so() -> None:
    shown = text("done", stage="done", scratch=True, unattended=True, backup_monthly_usd=Decimal(0))

    assert "You cannot undo this" in shown
    assert "cleanup undo" not in shown
    assert "It saves $54.00 a month." in shown


def test_what_was_changed_says_from_what_to_what_and_how_to_put_it_back() -> None:
    shown = text("done", DATED, stage="done", was=GP2)

    assert "Changed: scratch-00" in shown
    assert "It was changed from gp2 to gp3, 3,000 IOPS, 125 MiB/s." in shown
    assert f"To undo it: slackwater cleanup undo {SEEN.id}" in shown
    assert "deleted" not in shown


@pytest.mark.parametrize(
    ("changes", "parts", "never"),
    [
        ({}, ["Nothing was deleted.", f"slackwater findings reopen {SEEN.id}, and approve it again"], "cleanup undo"),
        (
            {"backups": (replace(SNAPSHOT, id=None, state="asked"),)},
            [
                "Backup of vol-00000000000000001: one that AWS may or may not have begun, asked\n",
                "Nothing was deleted.",
            ],
            "kept until",
        ),
        (
            {"removals": (TARGET,), "backups": (SNAPSHOT,)},
            [
                "AWS was asked to delete mount target fsmt-1. Check in AWS whether it still exists.",
                "vol-00000000000000001 itself was not deleted.",
                (
                    "If the resource itself still exists, Slackwater now restores the parts that it had removed. "
                    "If that fails, you get another message."
                ),
                "snap-1, verified, kept until",
                f"slackwater cleanup undo {SEEN.id}",
            ],
            "Nothing was deleted",
        ),
        (
            {"removals": (VOLUME,)},
            ["AWS was asked to delete volume vol-00000000000000001. Check in AWS whether it still exists.\n"],
            "itself was not deleted",
        ),
    ],
)
def test_a_failure_says_in_red_what_was_and_was_not_done_and_what_to_do(changes, parts, never) -> None:
    shown = text("failed", stage="failed", why="ec2:CreateSnapshot: AccessDenied", **changes)

    assert shown.startswith(
        "🔴 Clean-up failed: scratch-00 (vol-00000000000000001)\nWhy: ec2:CreateSnapshot: AccessDenied\n"
    )
    for part in (*parts, f"slackwater cleanup status {SEEN.id}"):
        assert part in shown
    assert never not in shown


def test_a_change_that_failed_says_whether_aws_was_asked() -> None:
    asked = text("failed", DATED, stage="failed", changed_at=invented.NOW, was=GP2, why="it has gp2")

    assert "AWS was asked to change it to gp3, 3,000 IOPS, 125 MiB/s. Check in AWS whether it did." in asked
    assert f"To restore the old setting: slackwater cleanup undo {SEEN.id}" in asked
    assert "Nothing was changed." in text("failed", DATED, stage="failed", why="x")


def test_a_failure_says_how_far_what_was_taken_off_is_back() -> None:
    half = {"stage": "failed", "removals": (TARGET, replace(TARGET, part=replace(TARGET.part, id="fsmt-2")))}

    assert "fsmt-2. Check in AWS whether each of them still exists." in text("failed", **half)
    back = text("failed", **half, restored=Restored(state="done", id=SEEN.resource.id))
    assert "Slackwater restored the parts that it had removed.\n" in back
    again = (
        f"Slackwater could not restore all parts that it had removed. To try again: slackwater cleanup undo {SEEN.id}"
    )
    assert again in text("failed", **half, restored=Restored(state="failed"))
    for start in NOT_RESTORED_STARTS:
        assert again in text("failed", **half, why=f"{start}: mount-target fsmt-1; x")


def test_the_message_of_a_deleted_efs_says_where_its_files_are_restored() -> None:
    files = replace(SEEN, resource=replace(SEEN.resource, type="efs-file-system"))

    words = "Its files come back in a new file system, in its directory /aws-backup-restore_<date and time>"
    assert words in json.dumps(rendered("done", files, stage="done").blocks)
    assert "directory" not in text("done", stage="done")


ASKED = ActorNote(who=invented.DECIDER, why="the press office wants it", at=invented.NOW + timedelta(days=40))


def test_an_undo_says_what_came_back_and_what_is_not_as_it_was() -> None:
    back = Restored(state="done", id="vol-2", differences=("it has a new id", "it is slow at first"))
    shown = text("undone", stage="undone", undone=ASKED, restored=back, removals=(VOLUME,))

    for part in (
        "Undone: scratch-00",
        "It is restored as vol-2.",
        "Different now: it has a new id",
        "Different now: it is slow at first",
        "<@U0123ABCDEF> asked for it: the press office wants it",
    ):
        assert part in shown
    same = text("undone", undone=ASKED, restored=Restored(state="done", id=SEEN.resource.id))
    assert "Slackwater restored the parts that it had removed." in same
    assert "Restored. No differences found." in same
    assert "It was changed back to gp2." in text("undone", DATED, was=GP2, undone=ASKED)
    assert "Nothing had been changed." in text("undone", DATED, undone=ASKED)
    assert "Nothing had been removed." in text("undone", undone=ASKED)


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("called-off", {"stage": "called-off"}),
        ("done", {"stage": "done"}),
        ("failed", {"stage": "failed"}),
        ("failed", {"stage": "failed", "undone": ActorNote(who=invented.DECIDER, why="", at=invented.NOW)}),
    ],
)
def test_of_ontap_no_undo_is_offered_but_the_backups_are_named(what: What, changes: dict[str, Any]) -> None:
    """Older versions deleted these file systems, and may have stopped before they finished."""
    ontap = {"system": {"FileSystemType": "ONTAP"}}
    shown = text(what, recorded=ontap, removals=(VOLUME,), backups=(SNAPSHOT,), **changes)

    assert (
        "Slackwater does not restore FSx for ONTAP file systems;"
        " aws fsx create-volume-from-backup restores a volume from snap-1 of" in shown
    )
    assert "cleanup undo" not in shown
    assert "is put back" not in shown


def test_an_undo_that_failed_says_how_to_go_on_and_what_came_back() -> None:
    given = {
        "stage": "failed",
        "undone": ASKED,
        "removals": (VOLUME,),
        "backups": (SNAPSHOT,),
        "why": "the undo failed: x",
    }
    shown = text("failed", **given)

    assert shown.startswith("🔴 Undo failed: scratch-00")
    assert "snap-1, verified, kept until 2027-03-16" in shown
    assert "Nothing is known to be restored." in shown
    assert f"To continue the undo: slackwater cleanup undo {SEEN.id}" in shown
    half = text("failed", **given, restored=Restored(state="failed", id="vol-2"))
    assert "Restored so far: vol-2." in half


# -- Messages about no single finding


def test_a_run_over_the_cap_says_that_nothing_at_all_was_done(limits) -> None:
    message = over_cap("11 clean-ups in 24 hours: the policy's cleanup.most_resources allows 10", 11)

    assert message.text.replace("\u2060", "").startswith(
        "🔴 Over the cap: nothing was cleaned up\nA run would have started 11 clean-ups."
    )
    assert "11 clean-ups in 24 hours: the policy's cleanup.most_resources allows 10." in message.text.replace(
        "\u2060", ""
    )
    assert problems(message, limits) == []


# -- Properties of all messages


@pytest.mark.parametrize("what", KINDS)
def test_the_largest_message_is_one_that_slack_takes(what: What, limits) -> None:
    wide = "w" * 1_000
    seen = replace(SEEN, summary=wide, owner=wide, resource=replace(SEEN.resource, name=wide))
    many = {
        "owner": wide,
        "why": wide,
        "recorded": {"children": [{"id": wide, "name": wide, "path": wide, "size_bytes": 1} for _ in range(300)]},
        "backups": tuple(invented.backup(wide, wide) for _ in range(300)),
        "restored": Restored(state="done", id=wide, differences=(wide,) * 300),
        "undone": ActorNote(who=wide, why=wide, at=invented.NOW),
        "approved_by": wide,
    }
    for removals in ((), tuple(replace(TARGET, part=replace(TARGET.part, id=wide)) for _ in range(300))):
        message = rendered(what, seen, removals=removals, **many)
        assert problems(message, limits) == []
        assert weight(message.blocks) <= ROOM


@settings(max_examples=effort(150, 40), deadline=None)
@given(words=st.text(max_size=300), what=st.sampled_from(KINDS), status=st.sampled_from(["open", "approved", "failed"]))
def test_whatever_the_words_slack_takes_them_and_parses_none(words: str, what: What, status: str, limits) -> None:
    resource = replace(SEEN.resource, name=words, region=words)
    seen = replace(SEEN, resource=resource, owner=words, summary=words)
    message = rendered(
        what,
        seen,
        invented.tracked(seen, status=status),
        {"keep_tag": words or None},
        owner=words,
        why=words,
        recorded={"children": [{"id": words, "name": words, "path": words}], "access_points": [words]},
        backups=(invented.backup(words, words),),
        removals=(replace(TARGET, part=replace(TARGET.part, id=words)),),
        restored=Restored(state="done", id=words, differences=(words,)),
        undone=ActorNote(who=words, why=words, at=invented.NOW),
        approved_by=words or None,
    )

    assert problems(message, limits) == []
    assert problems(over_cap(words, 3), limits) == []


def test_a_setting_that_was_put_back_says_what_stays_as_the_change_made_it() -> None:
    stays = Restored(state="done", id=SEEN.resource.id, differences=("30.0 GiB stay in Infrequent Access",))
    shown = text("undone", DATED, setting=GP3, was=GP2, stage="undone", restored=stays)

    assert "It was changed back to gp2." in shown
    assert "Different now: 30.0 GiB stay in Infrequent Access" in shown


@pytest.mark.parametrize("person", ["U0123ABCDEF", "S0123ABCDEF"])
def test_a_warning_mentions_its_owner_once_where_the_policy_names_a_person(person: str, limits) -> None:
    mention = f"<!subteam^{person}>" if person.startswith("S") else f"<@{person}>"
    for what in ("marked", "warned", "asked"):
        message = rendered(what, policy={"person": person})

        assert json.dumps(message.blocks).count(mention) == 1
        assert f"Owner: {mention}" in message.text
        assert problems(message, limits) == []


@pytest.mark.parametrize("owner", ["*bold*", "<!channel>", "<@U0123ABCDEF>", "w" * 3_000, None])
def test_whatever_an_owner_is_called_a_field_mentions_nobody(owner: str | None, limits) -> None:
    message = rendered("marked", replace(SEEN, owner=owner))

    assert problems(message, limits) == []
    assert "<@" not in json.dumps(message.blocks)
