"""A digest of an organization, and its thread."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

import slack_messages as invented
from slackwater.model.findings import CEILING, Gap
from slackwater.views.scan.organization import Unseen
from slackwater.views.slack.blocks import ROOM, weight
from slackwater.views.slack.digest import digest, nothing
from slackwater.views.slack.finding import FIX, LINE, ListedFinding, by_owner

POST = invented.POST


def organization_news(**changes):
    return invented.news(4, **{**invented.organization(), **changes})


def whole(messages) -> str:
    return "\n".join(json.dumps(message.blocks, ensure_ascii=False) for message in messages)


def test_it_says_in_how_many_accounts_and_what_became_of_it() -> None:
    first, *_ = digest(organization_news(), POST)

    assert (
        "Audit of 2026-11-16 09:00 UTC · In all 76 findings in 38 of 1,000 accounts: $88,730.00 a month can be saved."
        " Since the audit of 2026-11-09: +3 findings, −120.00 USD a month (this one is incomplete)."
    ) in first.text


def test_the_units_with_the_highest_savings_are_named_the_highest_first() -> None:
    first, *_ = digest(organization_news(), POST)

    assert (
        "Highest savings in: Root/Media/Production ($23,800.00 a month), Root/Media/Staging ($22,900.00 a month), "
        "Root/Research ($21,420.00 a month)\n"
    ) in first.text


def test_accounts_are_called_by_their_names_in_the_digest_and_in_its_thread() -> None:
    assert "eu-west-1, account media-live (123456789012)" in whole(digest(organization_news(), POST)[:1])
    many = invented.news(40, **invented.organization())
    assert "eu-west-1/media-live (123456789012)\\nFix: " in whole(digest(many, POST)[1:])


def test_five_incomplete_accounts_are_named_the_rest_counted_and_shared_reasons_shown_once() -> None:
    first, *_ = digest(organization_news(), POST)

    assert (
        "Could not read: 7 of 1,000 accounts incomplete, and findings there may be missing: team-000 (300000000000)"
        " (all of it), team-001 (300000000001) (all of it), team-002 (300000000002) (all of it), team-003"
        " (300000000003) (all of it), team-004 (300000000004) (all of it) and 2 more; sts:AssumeRole: AccessDenied:"
        " not authorized to perform: sts:AssumeRole. 7 required calls failed.\n"
    ) in first.text.replace("\u2060", "")


def test_different_reasons_are_shown_for_each_account_and_account_ids_make_no_difference() -> None:
    news = organization_news()
    one, other = news.organization.unseen[:2]

    def unseen(*blind: Unseen) -> str:
        return nothing(replace(news, organization=replace(news.organization, unseen=blind))).text.replace("\u2060", "")

    assert "team-000 (300000000000) (all of it: no), team-001 (300000000001) (eu-west-1: never)" in unseen(
        replace(one, why="no"), replace(other, extent="eu-west-1", why="never")
    )
    alike = unseen(replace(one, why=f"role of {one.account}"), replace(other, why=f"role of {other.account}"))
    assert "team-001 (300000000001) (all of it); role of {account}." in alike


def test_accounts_where_the_ceiling_on_metrics_held_back_what_it_did_are_alike() -> None:
    news = organization_news()
    held = [f"cloudwatch:GetMetricData: {CEILING}: {spent} of 25 USD were spent" for spent in (24, 25)]
    blind = tuple(replace(one, why=why) for one, why in zip(news.organization.unseen, held, strict=False))
    gaps = tuple(Gap(one.account, "eu-west-1", *one.why.split(": ", 1)) for one in blind)
    text = nothing(replace(news, gaps=gaps, organization=replace(news.organization, unseen=blind))).text.replace(
        "\u2060", ""
    )

    assert (
        "team-000 (300000000000) (all of it), team-001 (300000000001) (all of it); the ceiling on metrics. The ceiling"
        " of 25 USD on metrics is reached (scan.most_metrics_usd in the policy raises it)."
    ) in text


def test_a_digest_without_news_has_the_accounts_too() -> None:
    text = nothing(invented.news(0, **invented.organization())).text

    assert "7 of 1,000 accounts incomplete" in text
    assert "In all 76 findings in 38 of 1,000 accounts: " in text


def test_a_trend_does_not_change_the_digest_of_one_account() -> None:
    trend = invented.organization()["trend"]

    assert digest(invented.news(4, trend=trend), POST) == digest(invented.news(4), POST)


def test_an_audit_without_an_outcome_or_without_one_before_has_no_change() -> None:
    assert "Since" not in digest(organization_news(trend=()), POST)[0].text
    assert (
        "Since" not in digest(organization_news(audit=replace(organization_news().audit, outcome=None)), POST)[0].text
    )


@pytest.mark.parametrize("name", ["<!channel>", "n" * 300, "two\nlines", "*bold* :tada:", "מחיר \u202e"])
def test_whatever_accounts_are_called_slack_takes_it(name: str, limits) -> None:
    news = invented.news(51, **invented.organization())
    names = dict.fromkeys(news.organization.names, name)
    unseen = tuple(replace(one, extent=name, why=name) for one in news.organization.unseen)
    unlike = (replace(unseen[0], why=f"{name}!"), *unseen[1:])
    for blind in (unseen, unlike):
        messages = digest(replace(news, organization=replace(news.organization, names=names, unseen=blind)), POST)
        for message in messages:
            assert limits.of_message({"text": message.text, "blocks": list(message.blocks)}) == []
            assert weight(message.blocks) <= ROOM


def test_the_longest_line_with_a_name_is_whole() -> None:
    seen = invented.finding_record(0)
    longest = "w" * 300
    seen = replace(
        seen, resource=replace(seen.resource, name=longest, id=longest, region=longest, account=longest), owner=longest,
        detector=longest, monthly_savings_usd=Decimal("1234567890.12"),
    )  # fmt: skip

    ((_, _), (organization_news, findings)) = by_owner(
        [ListedFinding(seen, "f" * FIX, f"{'x' * 59}y{longest}")], {longest: "n" * 300}
    )

    assert findings == 1
    about, to_do = organization_news.splitlines()[-2:]
    assert about.endswith(f"{'x' * 59}…")
    assert to_do == "f" * FIX
    assert len(about) < LINE
