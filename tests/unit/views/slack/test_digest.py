"""A digest and its thread."""

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slack_messages as invented
from slackwater.model.audits import IncompleteTarget
from slackwater.model.findings import CEILING, REGION_DISABLED, Gap
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, VolumeSetting
from slackwater.model.tracking import LedgerEntry
from slackwater.views.slack.blocks import ROOM, header, weight
from slackwater.views.slack.digest import digest, nothing, unseen
from slackwater.views.slack.finding import FIX, LINE, WAYS_BACK, ListedFinding, by_owner, line
from slackwater.views.slack.news import News
from slackwater.views.text.words import count
from support.effort import effort

POST = invented.POST


def as_json(message):
    return json.loads(json.dumps({"text": message.text, "blocks": list(message.blocks)}))


def actions(message):
    return [block for block in message.blocks if block["type"] == "actions"]


def texts(part) -> list[str]:
    """Return every text in a message's blocks, in order."""
    match part:
        case dict():
            return [
                text
                for key, one in part.items()
                for text in ([one] if key == "text" and isinstance(one, str) else texts(one))
            ]
        case list() | tuple():
            return [text for one in part for text in texts(one)]
        case _:
            return []


def whole(messages) -> str:
    return "\n".join("\n".join(texts(message.blocks)) for message in messages)


def test_the_digest_says_what_is_new_and_what_it_costs() -> None:
    first, *_ = digest(invented.news(4), POST)

    assert (
        first.blocks[0]["text"]["text"]
        == "4 new findings: $422.64 a month can be saved (1 unpriced), 1 performance issue"
    )
    assert first.text.splitlines()[1] == "Audit of 2026-11-16 09:00 UTC · In 4 regions of account 123456789012."


def test_the_second_line_has_the_whole_audit_if_not_all_of_it_is_new() -> None:
    first, *_ = digest(invented.news(1, audit=invented.audit()), POST)

    assert first.text.splitlines()[1] == (
        "Audit of 2026-11-16 09:00 UTC · In all 54 findings in 4 regions of account 123456789012: $54.00 a month"
        " can be saved."
    )


def test_a_title_is_never_longer_than_slack_takes() -> None:
    assert len(header("w" * 200)["text"]["text"]) == 150


def test_a_resource_counts_once_in_the_headline() -> None:
    one = invented.finding_record(0)
    other = replace(one, id="twin", detector="ebs-outdated-type", monthly_savings_usd=Decimal("10.00"))
    first, *_ = digest(invented.news(0, new=(invented.change(one), invented.change(other))), POST)

    assert first.blocks[0]["text"]["text"] == "2 new findings: $54.00 a month can be saved"


def test_a_headline_counts_the_best_way_out_as_the_scan_document_does() -> None:
    one, unpriced, costs = (invented.change(invented.finding_record(n)) for n in (0, 4, 8))
    one.found["recommendations"][1]["monthly_savings_usd"] = "55.00"
    for way in unpriced.found["recommendations"]:
        way["monthly_savings_usd"] = None
    for way in costs.found["recommendations"]:
        way["monthly_savings_usd"] = "-7.00"
    first, *_ = digest(invented.news(0, new=(one, unpriced, costs)), POST)

    assert first.blocks[0]["text"]["text"] == "3 new findings: $55.00 a month can be saved (1 unpriced)"
    assert "saves $54.00 a month" in first.text, "a finding's saving is its first recommendation's"


def test_a_headline_is_of_what_is_new_and_not_of_what_changed_too() -> None:
    changed = (invented.change(invented.finding_record(4), "it has changed"),)
    first, *_ = digest(invented.news(1, changed=changed), POST)

    assert first.blocks[0]["text"]["text"] == "1 new finding: $54.00 a month can be saved"


@pytest.mark.parametrize(("usd", "says"), [("-3.00", "no saving"), (None, "saving unknown")])
def test_a_headline_of_waste_that_saves_nothing_says_so(usd: str | None, says: str) -> None:
    seen = replace(invented.finding_record(0), monthly_savings_usd=usd and Decimal(usd))
    shown = replace(invented.change(seen), found=None)

    assert digest(invented.news(0, new=(shown,)), POST)[0].blocks[0]["text"]["text"] == f"1 new finding: {says}"


def test_what_the_whole_audit_comes_to_is_its_waste() -> None:
    assert (
        "in 4 regions: $9.50 a month can be saved."
        in nothing(invented.news(0, waste_usd=Decimal("9.5"), waste_unpriced=0)).text
    )
    assert nothing(invented.news(0, waste_usd=Decimal(0), waste_unpriced=0)).text.endswith(
        "In all 54 findings in 4 regions."
    )
    assert nothing(invented.news(0, waste_usd=Decimal(0), waste_unpriced=2)).text.endswith(
        "in 4 regions: saving unknown."
    )


def test_a_negative_saving_is_shown_as_a_cost() -> None:
    assert " · the fix costs $61.32 a month · ec2-network-throttled" in line(invented.finding_record(2))


def test_a_performance_issue_has_no_savings() -> None:
    waste, slow = invented.finding_record(0), replace(invented.finding_record(2), monthly_savings_usd=Decimal("9.00"))
    first, *_ = digest(invented.news(0, new=tuple(map(invented.change, (waste, slow)))), POST)

    assert first.blocks[0]["text"]["text"] == "2 new findings: $54.00 a month can be saved, 1 performance issue"


def test_the_longest_line_is_whole() -> None:
    longest = "w" * 300
    seen = invented.finding_record(0)
    resource = replace(seen.resource, name=longest, id=longest, region=longest, account=longest)
    usd = Decimal("1234567890.12")
    seen = replace(seen, resource=resource, owner=longest, detector=longest, monthly_savings_usd=usd)

    listed = [
        ListedFinding(seen, "f" * FIX, longest),
        ListedFinding(replace(seen, owner=None, resource=invented.finding_record(1).resource), "", ""),
    ]
    shown = next(by_owner(listed))[0].strip().splitlines()

    assert line(seen).endswith("w…")
    assert len(line(seen)) < LINE
    assert shown[0].startswith("www")
    assert shown[0].endswith("…: 1 finding, $1,234,567,890.12 a month")
    assert shown[1].endswith("w…")
    assert len(shown[1]) < LINE
    assert shown[2:] == ["f" * FIX]


def test_a_finding_is_shown_with_all_that_a_decision_needs() -> None:
    first, *_ = digest(invented.news(1), POST)

    assert texts(first.blocks[2:4]) == [
        "🟠 scratch-00 (vol-00000000000000001)",
        (
            " · saves $54.00 a month\n500 GiB gp3 on no instance for 36 days"
            "\nFix: Ask the owner; back it up, wait until the backup is completed, delete it."
        ),
        "Medium severity · medium confidence · owner video · EBS volume · eu-west-1 · ebs-unattached",
    ]


def test_the_account_is_named_once_if_it_is_the_only_one() -> None:
    news = invented.news(49)
    assert whole(digest(news, POST)).count("123456789012") == 1

    one, other = invented.finding_record(0), invented.finding_record(4)
    other = replace(other, resource=replace(other.resource, account="210987654321"))
    text = whole(digest(invented.news(0, new=tuple(map(invented.change, (one, other))), top=1), POST))
    assert "in 4 regions: " in text
    assert "eu-west-1, account 123456789012 · " in text
    assert "eu-west-1/210987654321" in text


@pytest.mark.parametrize("owner", ["video", None, ""])
def test_the_fix_of_a_finding_without_an_owner_is_to_find_the_owner(owner: str | None) -> None:
    seen = replace(invented.finding_record(0), owner=owner)
    text = whole(digest(invented.news(0, new=(invented.change(seen),)), POST))

    assert ("Fix: Ask the owner; back it up" in text) == ("1. Ask the owner; back it up" in text) == bool(owner)
    assert (
        ("Fix: Find and ask the owner; back it up" in text)
        == ("1. Find and ask the owner; back it up" in text)
        == (not owner)
    )


def test_an_owner_to_find_is_asked_about_more_than_the_resource() -> None:
    one = invented.change(replace(invented.finding_record(0), owner=None))
    one.found["recommendations"][0]["summary"] = "Ask the owner, also about replications. Delete it."

    text = whole(digest(invented.news(0, new=(one,)), POST))
    assert "Fix: Find and ask the owner, also about replications. Delete it." in text


def test_what_can_be_done_about_a_finding() -> None:
    first, *_ = digest(invented.news(1), POST)
    of_finding, of_digest = actions(first)
    details, snooze, dismiss, approve = of_finding["elements"]
    id_, fingerprint = invented.finding_record(0).id, invented.finding_record(0).fingerprint

    assert of_finding["block_id"] == f"{POST}/{id_}"
    assert [one["action_id"] for one in of_finding["elements"]] == ["details", "snooze", "dismiss", "approve"]
    assert [one["value"] for one in snooze["options"]] == ["7", "30", "90"]
    assert (details["value"], dismiss["value"], approve["value"]) == (id_, id_, f"{id_}:{fingerprint}")
    assert (of_digest["block_id"], of_digest["elements"][0]["action_id"]) == (f"{POST}/report", "report")


def test_an_approval_is_asked_for_only_where_the_policy_allows_that_finding() -> None:
    first, *_ = digest(invented.news(4), POST)

    offered = {block["block_id"].rpartition("/")[2]: "approve" in json.dumps(block) for block in actions(first)[:-1]}
    assert offered == {invented.finding_record(n).id: n == 0 for n in range(4)}


@pytest.mark.parametrize("type_", WAYS_BACK)
@pytest.mark.parametrize("name", ["scratch", "n" * 300, "ש" * 300])
@pytest.mark.parametrize(
    ("grace_days", "parts"),
    [
        (None, ("may be deleted: saves", " Nothing acts on it yet: clean-up is not enabled.")),
        (1, ("is then deleted after 1 day, unless it is used: saves", " If it changes, that takes a new approval.")),
        (
            365,
            ("is then deleted after 365 days, unless it is used: saves", " If it changes, that takes a new approval."),
        ),
    ],
)
def test_the_confirmation_names_resource_saving_backup_and_way_back(
    type_: str, name: str, grace_days: int | None, parts: tuple[str, str]
) -> None:
    seen = invented.finding_record(0)
    resource = replace(
        seen.resource, type=type_, name=name, id="fsvol-0123456789abcdef0" if name != "scratch" else seen.resource.id
    )
    seen = replace(seen, resource=resource, monthly_savings_usd=Decimal("1234567.89"))
    new, approvable = (invented.change(seen),), frozenset({seen.id})
    first, *_ = digest(invented.news(0, new=new, approvable=approvable, grace_days=grace_days), POST)

    confirm = actions(first)[0]["elements"][-1]["confirm"]
    asked = confirm["text"]["text"]
    backup, way_back = WAYS_BACK[type_]
    assert confirm["style"] == "danger"
    for part in (
        name[:20],
        seen.resource.id,
        "saves $1,234,567.89 a month",
        f"Backup, first: {backup}.",
        f"Undo: {way_back}.",
        parts[0],
    ):
        assert part in asked
    assert asked.endswith(parts[1])
    assert ("Its automatic backups go with it." in asked) == (type_ == "fsx-file-system")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (VolumeSetting(volume_type="gp3", iops=16_000, throughput_mib_s=1_000), "gp3, 16,000 IOPS, 1,000 MiB/s"),
        (EfsThroughputSetting(mode="bursting"), "bursting throughput"),
        (
            EfsLifecycleSetting(
                transition_to_ia="AFTER_30_DAYS",
                transition_to_archive="AFTER_90_DAYS",
                transition_to_primary="AFTER_1_ACCESS",
            ),
            "tiering to Infrequent Access after 30 days, to Archive after 90 days, back to Standard after 1 access",
        ),
    ],
)
@pytest.mark.parametrize("grace_days", [None, 30])
def test_the_confirmation_of_a_change_says_to_what_and_that_it_can_be_put_back(setting, words, grace_days) -> None:
    seen = invented.finding_record(0)
    resource = replace(seen.resource, name="n" * 300, id="fsvol-0123456789abcdef0")
    seen = replace(seen, deletes=False, setting=setting, resource=resource, monthly_savings_usd=Decimal("1234567.89"))
    new, approvable = (invented.change(seen),), frozenset({seen.id})
    first, *_ = digest(invented.news(0, new=new, approvable=approvable, grace_days=grace_days), POST)
    confirm = actions(first)[0]["elements"][-1]["confirm"]

    does = "may be" if grace_days is None else "is then"
    asked = confirm["text"]["text"]
    assert f"{does} changed to {words}: saves $1,234,567.89 a month. Undo: slackwater cleanup undo." in asked
    assert ("Nothing acts on it yet" in asked) == (grace_days is None)
    assert "style" not in confirm
    assert not asked.endswith("…")


def test_a_resource_type_without_a_restore_cannot_be_approved() -> None:
    seen = invented.finding_record(2)
    first, *_ = digest(invented.news(0, new=(invented.change(seen),), approvable=frozenset({seen.id})), POST)

    assert seen.resource.type not in WAYS_BACK
    assert [one["action_id"] for one in actions(first)[0]["elements"]] == ["details", "snooze", "dismiss"]


def test_an_option_that_cannot_be_undone_is_labelled() -> None:
    one = invented.change(invented.finding_record(0))
    one.found["recommendations"][0]["reversible"] = False

    assert "(saves $54.00 a month; cannot be undone)" in digest(invented.news(0, new=(one,)), POST)[1].text


def test_the_weight_of_blocks_counts_what_holds_the_text_and_leaves_slack_room() -> None:
    assert weight([{"type": "section", "text": {"type": "plain_text", "text": "twelve chars"}}]) == 12 + 2 * 20
    assert ROOM <= 10_000


def test_where_nobody_may_decide_there_are_details_alone() -> None:
    first, *_ = digest(invented.news(2, may_decide=False, new=(invented.change(invented.finding_record(1)),)), POST)

    assert [[one["action_id"] for one in block["elements"]] for block in actions(first)] == [["details"], ["report"]]


def test_a_webhook_gets_the_same_without_anything_to_press() -> None:
    bot, webhook = (digest(invented.news(49, buttons=buttons), POST) for buttons in (True, False))

    assert "actions" not in {block["type"] for message in webhook for block in message.blocks}
    assert [m.blocks for m in webhook[1:]] == [m.blocks for m in bot[1:]]
    assert [b for b in bot[0].blocks if b["type"] != "actions"][:-1] == list(webhook[0].blocks[:-1])
    assert texts(webhook[0].blocks[-1]) == ["44 more: slackwater findings list --limit 0 and the report have all."]


def test_resolved_findings_are_listed_with_their_savings_apart_from_suppressed_ones() -> None:
    first, *_ = digest(invented.news(1, gone=invented.gone()), POST)

    assert re.search(
        r"Resolved: 2 findings, \$422\.64 a month: scratch-100 \(vol-\w+\), archive-101 \(fs-\w+\);"
        r" no longer listed: 1 kept by a tag\.",
        first.text,
    )


def test_what_is_resolved_follows_the_findings_and_is_not_bold() -> None:
    first, *_ = digest(invented.news(2, gone=invented.gone()), POST)
    shown = [json.dumps(block, ensure_ascii=False) for block in first.blocks]

    (resolved,) = [number for number, block in enumerate(shown) if "Resolved: " in block]
    assert resolved > max(number for number, block in enumerate(shown) if '"action_id": "snooze"' in block)
    assert '"bold"' not in shown[resolved]


def test_of_what_is_gone_three_are_named() -> None:
    gone = tuple(invented.entry(invented.finding_record(4 * n), "no longer flagged") for n in range(5))
    first, *_ = digest(invented.news(1, gone=gone), POST)

    assert "Resolved: 5 findings, $270.00 a month: scratch-00" in first.text
    assert re.search(r"scratch-08 \(vol-\w+\) and 2 more\.", first.text)


def test_access_errors_are_shown_in_plain_words() -> None:
    first, *_ = digest(invented.news(1, **invented.incomplete()), POST)

    assert first.blocks[0]["text"]["text"].startswith("Incomplete: at least 1 new finding: ")
    assert texts(first.blocks[2])[0] == "Could not read"
    assert texts(first.blocks[2])[1] == (
        ": 1 of 4 regions incomplete, and findings there may be missing: eu-west-1/123456789012"
        " (ec2:DescribeVolumes: UnauthorizedOperation: not authorized to perform this operation). This is incomplete"
        " audit 3 in a row. 1 required call failed. 1 call failed that the audit does not require."
    )
    assert texts(first.blocks[-2])[-1] == ("Details are in the thread. 17 checks are inconclusive.")


@pytest.mark.parametrize(("unknown", "says"), [(1, "1 check is"), (15, "15 checks are")])
def test_checks_that_could_not_decide_are_no_failed_reads(unknown: int, says: str) -> None:
    for many in (0, 1):
        for buttons in (True, False):
            text = digest(invented.news(many, unknown=unknown, buttons=buttons), POST)[0].text

            assert text.count(f"{says} inconclusive.") == 1
            assert "Could not read" not in text


def test_a_required_gap_is_shown_even_if_no_target_is_incomplete() -> None:
    gap = Gap("123456789012", "eu-west-1", "sts:AssumeRole", "AccessDenied")
    first, *_ = digest(invented.news(1, gaps=(gap, gap)), POST)

    assert texts(first.blocks[2]) == ["Could not read", ": 2 required calls failed: sts:AssumeRole: AccessDenied."]


HELD = Gap("123456789012", "us-east-1", "cloudwatch:GetMetricData", f"{CEILING}: 24.99 of 25 USD were spent (7 times)")
REACHED = "The ceiling of 25 USD on metrics is reached (scan.most_metrics_usd in the policy raises it)."


def incomplete(*gaps: Gap):
    """Return the news of an audit with incomplete targets. Each target's reason is its first gap."""
    targets = {
        gap.region: IncompleteTarget(account=gap.account, region=gap.region, why=f"{gap.what}: {gap.reason}")
        for gap in gaps
    }
    return {"audit": invented.audit(incomplete_targets=len(targets), incomplete=tuple(targets.values())), "gaps": gaps}


def test_metrics_over_the_limit_are_no_failures_and_the_policy_key_is_named_once() -> None:
    elsewhere = replace(HELD, region="eu-west-1", reason=f"{CEILING}: 25 of 25 USD were spent (9 times)")
    first, *_ = digest(invented.news(1, **incomplete(HELD, elsewhere)), POST)

    assert texts(first.blocks[2])[1] == (
        ": 2 of 4 regions incomplete, and findings there may be missing: us-east-1/123456789012 (the ceiling on"
        f" metrics), eu-west-1/123456789012 (the ceiling on metrics). {REACHED}"
    )


def test_a_ceiling_that_is_reached_hides_no_call_that_failed() -> None:
    failed = Gap("123456789012", "eu-west-1", "ec2:DescribeVolumes", "UnauthorizedOperation")
    optional = replace(HELD, region="eu-west-1", optional=True)
    first, *_ = digest(invented.news(1, **incomplete(HELD, optional, failed)), POST)

    assert texts(first.blocks[2])[1] == (
        ": 2 of 4 regions incomplete, and findings there may be missing: us-east-1/123456789012 (the ceiling on"
        " metrics), eu-west-1/123456789012 (ec2:DescribeVolumes: UnauthorizedOperation). 1 required call failed."
        f" {REACHED}"
    )


def test_a_limit_that_held_back_only_optional_metrics_is_shown_too() -> None:
    first, *_ = digest(invented.news(1, gaps=(replace(HELD, optional=True),)), POST)

    assert texts(first.blocks[2]) == ["Could not read", f": {REACHED}"]


def test_the_record_of_an_audit_is_enough_to_show_the_limit() -> None:
    assert unseen(incomplete(HELD)["audit"], ()).endswith(f"us-east-1/123456789012 (the ceiling on metrics). {REACHED}")


def test_regions_that_an_scp_disables_are_shown_once_and_do_not_count_as_failed() -> None:
    shut = [
        Gap(f"{number:012}", "eu-south-1", REGION_DISABLED, "region closed", optional=True) for number in range(312)
    ]
    first, *_ = digest(
        invented.news(1, gaps=(*shut, Gap("123456789012", "eu-west-1", "cloudtrail:X", "no", optional=True))), POST
    )

    assert texts(first.blocks[2])[1] == (
        ": A service control policy disables eu-south-1 in 312 accounts: Slackwater read nothing there."
        " 1 call failed that the audit does not require."
    )


def test_a_complete_scan_has_no_note_about_gaps() -> None:
    assert "Could not read" not in digest(invented.news(1), POST)[0].text


def test_changed_findings_follow_the_new_ones_and_say_why() -> None:
    changed = (invented.change(invented.finding_record(40), "the snooze ended 2026-11-15 09:00 UTC"),)
    first, *_ = digest(invented.news(1, changed=changed), POST)

    assert "· 1 finding changed ·" in first.text
    assert texts(first.blocks[6])[0].endswith("· ebs-unattached · the snooze ended 2026-11-15 09:00 UTC")


def test_a_digest_of_changes_alone_says_so() -> None:
    first, *_ = digest(invented.news(0, changed=(invented.change(invented.finding_record(0), "it has changed"),)), POST)

    assert first.blocks[0]["text"]["text"] == "1 finding changed: $54.00 a month can be saved"


def test_other_channels_are_counted() -> None:
    assert "3 changes posted to other channels." in digest(invented.news(1, others=3), POST)[0].text


def test_the_thread_has_evidence_commands_and_caveats() -> None:
    _, details = digest(invented.news(1), POST)

    kinds = [part["type"] for part in details.blocks[1]["elements"]]
    assert kinds.count("rich_text_preformatted") == 1
    text = "\n".join(texts(details.blocks))
    for part in (
        "Evidence",
        "Operations by day: 0 operations",
        "(saves $54.00 a month; can be undone from the backup)",
        "Before you act",
        "not published yet.",
    ):
        assert part in text
    assert "aws ec2 create-snapshot --region eu-west-1 --volume-id vol-00000000000000001" in texts(details.blocks)


@pytest.mark.parametrize("command", ["aws x --tag '<!channel>'", "aws x \u202e--rm", "aws x " + "y" * 600])
def test_a_command_is_shown_as_it_is_or_not_at_all(command: str) -> None:
    one = invented.change(invented.finding_record(0))
    one.found["recommendations"][0]["command"] = command
    _, details = digest(invented.news(0, new=(one,)), POST)

    assert "rich_text_preformatted" not in json.dumps(details.blocks)
    assert "Its command is in the report." in details.text


def test_a_finding_without_evidence_in_the_scan_is_still_shown() -> None:
    one = replace(invented.change(invented.finding_record(0)), found=None)

    assert "Its evidence has expired." in digest(invented.news(0, new=(one,)), POST)[1].text


@pytest.mark.parametrize("buttons", [True, False])
@pytest.mark.parametrize("many", [1, 5, 6, 14, 15, 16, 49, 51, 500, 5_000])
def test_every_finding_is_shown_once_or_counted(many: int, buttons: bool, limits) -> None:
    first, *thread = messages = digest(invented.news(many, buttons=buttons), POST)

    assert len(messages) <= 6
    assert [problem for message in messages for problem in limits.of_message(as_json(message))] == []
    in_digest = re.findall(r"[🔴🟠🟡⚪] (?:[\w ]*: )?\S+ \((\S+)\)$", "\n".join(texts(first.blocks)), re.MULTILINE)
    listed = "\n".join(texts([m.blocks for m in thread]))
    in_tail = re.findall(r"^[🔴🟠🟡⚪] \S+ \((\S+)\) · .*\nFix: ", listed, re.MULTILINE)
    counted = re.findall(r"^([\d,]+) more: slackwater", whole(thread), re.MULTILINE)
    more = int(counted[0].replace(",", "")) if counted else 0

    assert len(in_digest) == min(many, 5)
    assert ("ec2-network-throttled" in whole([first])) == (many > 2)
    assert not {*in_digest} & {*in_tail}
    assert len({*in_tail}) == len(in_tail)
    assert len(in_digest) + len(in_tail) + more == many
    assert bool(more) == (many >= 500)


def test_details_of_ten_findings_fit_into_the_thread() -> None:
    messages = digest(invented.news(60, top=10), POST)

    assert whole(messages[1:]).count("Evidence") == 10


def long(n: int, characters: int):
    """Return a finding whose texts all have this length."""
    seen = invented.finding_record(4 * n)
    words = "w" * characters
    one = invented.change(replace(seen, owner=words, summary=words, resource=replace(seen.resource, name=words)))
    advice = {**one.found["recommendations"][0], "summary": words, "risk": words, "command": words[:600]}
    fact = {"label": words, "value": words, "unit": "words"}
    found = {**one.found, "recommendations": [advice] * 5, "caveats": [words] * 9, "evidence": [fact] * 20}
    return replace(one, found=found)


def test_where_findings_are_long_the_digest_has_fewer_and_the_thread_says_what_is_left_out(limits) -> None:
    messages = digest(invented.news(0, new=tuple(long(n, 2_000) for n in range(40)), top=10), POST)

    assert len(messages) <= 6
    assert [problem for message in messages for problem in limits.of_message(as_json(message))] == []
    assert all(weight(message.blocks) <= ROOM + 200 for message in messages)
    shown = len(actions(messages[0])) - 1
    assert 3 <= shown < 10
    assert f"Details and {40 - shown} more are in the thread." in whole(messages[:1])
    assert whole(messages[1:]).count(", medium\n") == 40 - shown
    assert (
        f"Details of {count(shown - 3, 'finding')} more: slackwater findings list --limit 0 and the report have all."
        in whole(messages)
    )


def test_nothing_new_is_one_line_that_says_what_is_gone_and_what_was_not_seen() -> None:
    text = nothing(invented.news(0, gone=invented.gone(), **invented.incomplete()))

    assert len(text.blocks) == 1
    assert "\n" not in text.text
    assert text.text.startswith("Nothing new. Resolved: 2 findings, $422.64 a month")
    assert "1 of 4 regions incomplete" in text.text
    assert digest(invented.news(0), POST) == (nothing(invented.news(0)),)


def test_a_failed_audit_says_why_and_nothing_else() -> None:
    news = invented.news(0, audit=invented.failed())

    assert nothing(news).text == (
        "The audit of 2026-11-16 09:00 UTC failed: No target could be scanned: sts:\u2060AssumeRole: AccessDenied: "
        "not authorized"
    )
    assert digest(replace(news, new=invented.news(1).new), POST) == (nothing(news),)


def test_the_text_says_what_the_blocks_say_and_ends_before_slack_would_split_it() -> None:
    first, details, tail = digest(invented.news(49), POST)

    for part in ("49 new findings", "archive-01", "$368.64 a month", "High severity", "not one client in 37 days"):
        assert part in first.text
    assert "scratch" in tail.text
    assert len(details.text) <= 3_000
    assert details.text.endswith("…")


WORDS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [*invented.HOSTILE, *invented.HOSTILE.values(), "&" * 300, "<" * 300, "ש" * 300, "\ud800", "\x00", ""]
    ),
    st.text(st.sampled_from("<>!@#&*_~`:|\n\u200b\u202eaש"), max_size=400),
)


@st.composite
def entries(draw) -> LedgerEntry:
    seen = invented.finding_record(draw(st.integers(0, 30)))
    resource = replace(seen.resource, name=draw(WORDS), account=draw(WORDS), region=draw(WORDS))
    usd = draw(st.none() | st.decimals(-(10**9), 10**9, places=2))
    seen = replace(seen, resource=resource, owner=draw(st.none() | WORDS), summary=draw(WORDS), monthly_savings_usd=usd)
    return invented.entry(replace(seen, id=f"{draw(st.integers(0)):016x}"), draw(st.just("new") | WORDS))


@st.composite
def changes(draw):
    entry = draw(entries())
    found = invented.found(entry.evidence)
    words = draw(WORDS)
    found["evidence"].append({"label": words, "value": words, "unit": "words"})
    found["caveats"].append(words)
    found["recommendations"][0] |= {"summary": words, "risk": words, "command": words}
    return replace(invented.change(entry.evidence), entry=entry, found=found)


def by_id(changes):
    return changes.entry.evidence.id


@st.composite
def news(draw) -> News:
    shown = draw(st.lists(changes(), max_size=12, unique_by=by_id))
    at = draw(st.integers(0, len(shown)))
    why = draw(WORDS)
    whole = invented.incomplete() if draw(st.booleans()) else {}
    gaps = (*whole.pop("gaps", ()), Gap(why, why, why, why))
    return invented.news(
        0,
        new=tuple(shown[:at]),
        changed=tuple(shown[at:]),
        gone=tuple(draw(st.lists(entries(), max_size=4))),
        others=draw(st.integers(0, 3)),
        top=draw(st.integers(1, 10)),
        buttons=draw(st.booleans()),
        **{"unknown": draw(st.integers(0, 3))} | whole,
        gaps=gaps,
    )


@settings(max_examples=effort(150, 40), deadline=None)
@given(news=news())
def test_whatever_the_words_slack_takes_every_message_and_parses_nothing(news: News, limits) -> None:
    messages = digest(news, POST)

    assert 1 <= len(messages) <= 6
    assert [problem for message in messages for problem in limits.of_message(as_json(message))] == []


@settings(max_examples=effort(100, 30), deadline=None)
@given(error=st.none() | WORDS)
def test_whatever_the_error_slack_takes_it(error: str | None, limits) -> None:
    failed = replace(invented.failed(), error=error)

    assert limits.of_message(as_json(nothing(invented.news(0, audit=failed)))) == []


def owned(count_: int, owners: int) -> tuple:
    seen = (replace(invented.finding_record(n), owner=f"team-{n % owners}") for n in range(count_))
    return tuple(map(invented.change, seen))


def mentioned(messages) -> list[str]:
    return re.findall(r'"(?:user|usergroup)_id": "([^"]+)"', json.dumps([as_json(message) for message in messages]))


def test_a_digest_lists_each_owner_once_with_the_findings_below() -> None:
    tail = whole(digest(invented.news(0, new=owned(40, 4), top=1), POST)[-1:])

    assert [each for each in tail.splitlines() if each.startswith("team-")] == [
        "team-1: 10 findings, $3,686.40 a month",
        "team-0: 9 findings, $486.00 a month",
        "team-3: 10 findings",
        "team-2: 10 findings",
    ]
    assert "owner team" not in tail


def test_the_money_of_an_owner_is_of_its_waste_as_in_the_headline() -> None:
    one, other = (invented.change(replace(invented.finding_record(n), owner="video")) for n in (0, 4))
    one.found["recommendations"][1]["monthly_savings_usd"] = "55.00"
    slow = invented.change(replace(invented.finding_record(2), owner="video", monthly_savings_usd=Decimal(9)))
    listed = [ListedFinding(each.entry.evidence, "", "", each.found) for each in (one, other, slow)]

    assert [*by_owner(listed)][1][0].splitlines()[1] == "video: 3 findings, $109.00 a month"


def test_a_place_that_all_share_is_shown_once() -> None:
    here = tuple(one for one in owned(40, 3) if one.entry.evidence.resource.region == "eu-west-1")
    tail = whole(digest(invented.news(0, new=here, top=1), POST)[2:])

    assert tail.count("eu-west-1") == 1
    assert tail.startswith("All in eu-west-1:")


def test_one_place_is_for_the_gravest_performance_issue() -> None:
    seen = [*(invented.finding_record(4 * n) for n in range(8)), invented.finding_record(2)]
    news = invented.news(0, new=tuple(map(invented.change, seen)))

    assert [i for i, one in enumerate(actions(digest(news, POST)[0])[:5]) if seen[8].id in one["block_id"]] == [4]
    assert seen[8].id not in json.dumps(as_json(digest(replace(news, top=1), POST)[0]))


@pytest.mark.parametrize(("issues", "label"), [(1, "Performance issue"), (3, "Gravest performance issue")])
def test_the_performance_issue_among_waste_has_a_label_and_no_other_finding_has(issues: int, label: str) -> None:
    seen = [
        *(invented.finding_record(4 * n) for n in range(8)),
        *(invented.finding_record(2 + 4 * n) for n in range(issues)),
    ]
    first, *thread = digest(invented.news(0, new=tuple(map(invented.change, seen))), POST)

    assert f"🔴 {label}: ingest-02 (" in first.text
    assert whole([first]).count("issue: ") == 1
    assert "issue: " not in whole(thread)


def test_performance_issues_alone_need_no_label() -> None:
    slow = tuple(invented.change(invented.finding_record(2 + 4 * n)) for n in range(3))

    assert "issue: " not in whole(digest(invented.news(0, new=slow), POST))


def test_what_is_resolved_is_listed_in_the_thread_where_the_digest_names_only_some() -> None:
    resolved = tuple(
        invented.entry(
            invented.finding_record(n), "no longer flagged", happening="resolved", was="open", now="resolved"
        )
        for n in range(100, 130)
    )
    thread = whole(digest(invented.news(6, gone=resolved), POST)[1:])

    assert "Resolved since the last audit:\nscratch-100 (" in thread
    assert thread.count(" · efs-idle\n") == 5
    assert "\n10 more" in thread
    assert "Resolved since" not in whole(digest(invented.news(6, gone=resolved[:3]), POST)[1:])


def test_owners_of_new_findings_are_mentioned_once_in_the_digest_and_never_in_its_thread() -> None:
    news = invented.news(0, new=owned(12, 3), people={"team-0": "U0ZERO", "team-1": "S0GROUP", "Team-2": "U0OTHER"})
    first, *thread = digest(news, POST)

    assert mentioned([first]) == ["U0ZERO", "S0GROUP"]
    assert mentioned(thread) == []
    assert "For <@U0ZERO> (4), <!subteam^S0GROUP> (4), 4 findings without an owner in Slack\n" in first.text


def test_a_digest_counts_the_owners_that_it_does_not_mention() -> None:
    people = {f"team-{n}": f"U{n:02}AA" for n in range(13)}
    news = invented.news(0, new=owned(14, 14), people=people)
    first, *_ = digest(news, POST)

    assert len(mentioned([first])) == 10
    assert "(1), 3 other owners, 1 finding without an owner in Slack\n" in first.text


def test_what_changed_or_is_resolved_mentions_nobody() -> None:
    new, *changed = owned(4, 4)
    people = {f"team-{n}": f"U{n}AA" for n in range(4)}
    news = invented.news(0, new=(new,), changed=tuple(changed), gone=(changed[0].entry,), people=people)

    assert mentioned(digest(news, POST)) == ["U0AA"]


@settings(max_examples=effort(40, 10), deadline=None)
@given(data=st.data())
def test_of_a_thousand_findings_and_a_hundred_owners_no_mention_is_wrong(data, limits) -> None:
    owners = st.sampled_from([f"team-{n}" for n in range(100)])
    people = data.draw(st.dictionaries(owners, st.sampled_from([f"U{n:03}" for n in range(60)])))
    random = data.draw(st.randoms(use_true_random=False))
    new = tuple(
        invented.change(
            replace(invented.finding_record(n), owner=random.choice([f"team-{n % 100}", f"TEAM-{n % 100}", None]))
        )
        for n in range(1_000)
    )
    messages = digest(invented.news(0, new=new, people=people), POST)
    right = {people[one.entry.evidence.owner] for one in new if one.entry.evidence.owner in people}

    shown = mentioned(messages)
    assert {*shown} <= right
    assert len(shown) == len({*shown}) == min(len(right), 10)
    assert (f", {len(right) - 10:,} other owner" in messages[0].text) == (len(right) > 10)
    unowned = sum(one.entry.evidence.owner not in people for one in new)
    assert not right or f", {unowned:,} finding" in messages[0].text
    assert [problem for message in messages for problem in limits.of_message(as_json(message))] == []
