"""Changes in findings and savings since earlier audits."""

import pytest

from slackwater.views.report.trends import HEIGHT, WIDTH, pictures
from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan import trend


def point(day: int, findings: int, usd: str, *, complete: bool = True):
    return {
        "audit_id": f"a-{day}", "as_of": f"2026-11-{day:02}T09:00:00Z", "complete": complete, "findings": findings,
        "monthly_savings_usd": usd,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "this", "says"),
    [
        (
            point(2, 5, "200.00"),
            point(9, 8, "80.00"),
            "Since the audit of 2026-11-02: +3 findings, −120.00 USD a month",
        ),
        (
            point(2, 5, "0.00"),
            point(9, 4, "1200.50"),
            "Since the audit of 2026-11-02: −1 finding, +1,200.50 USD a month",
        ),
        (point(2, 5, "7.00"), point(9, 5, "7.50"), "Since the audit of 2026-11-02: +0.50 USD a month"),
        (point(2, 5, "7.00"), point(9, 5, "7.00"), "Since the audit of 2026-11-02: as many findings, worth the same"),
    ],
)
def test_the_change_is_shown_with_its_sign(before, this, says: str) -> None:
    assert trend.since(before, this) == says


@pytest.mark.parametrize(
    ("before", "this", "says"),
    [
        (True, True, "month"),
        (False, True, "month (which was incomplete)"),
        (True, False, "month (this one is incomplete)"),
        (False, False, "month (neither saw everything)"),
    ],
)
def test_a_change_against_what_was_not_seen_whole_says_so(before: bool, this: bool, says: str) -> None:
    assert trend.since(point(2, 5, "7.00", complete=before), point(9, 5, "9.00", complete=this)).endswith(says)


def test_this_audit_is_the_last_point_and_alone_it_is_no_trend(make) -> None:
    doc = scan_json.document(make.scan(make.finding("12.30"), gaps=(make.gap(),)))
    assert trend.points(doc) == []

    doc["scan"]["trend"] = [point(2, 5, "200.00")]
    assert [one["audit_id"] for one in trend.points(doc)] == ["a-2", "s1"]
    assert trend.points(doc)[-1] == {
        "audit_id": "s1", "as_of": "2026-11-15T23:00:00Z", "complete": False, "findings": 1,
        "monthly_savings_usd": "12.30",
    }  # fmt: skip
    del doc["scan"]["as_of"]
    assert trend.points(doc)[-1]["as_of"] == doc["scan"]["finished_at"]


def test_a_picture_runs_from_zero_to_the_greatest_and_each_audit_is_where_its_time_is() -> None:
    usd, findings = pictures([point(2, 0, "50.00"), point(4, 3, "200.00", complete=False), point(10, 6, "100.00")])

    assert [(dot.x, dot.y) for dot in usd.dots] == [(0, HEIGHT * 0.75), (WIDTH / 4, 0), (WIDTH, HEIGHT / 2)]
    assert [(dot.x, dot.y) for dot in findings.dots] == [(0, HEIGHT), (WIDTH / 4, HEIGHT / 2), (WIDTH, 0)]
    assert [dot.hollow for dot in usd.dots] == [False, True, False]
    assert (usd.first, usd.last, findings.last) == ("50.00", "100.00", "6")
    assert usd.path == "M0.0 42.0L80.0 0.0L320.0 28.0"
    assert usd.description == "USD a month: 2026-11-02 50.00, 2026-11-04 200.00 (incomplete), 2026-11-10 100.00"


def test_what_has_no_height_or_no_time_between_is_drawn_all_the_same() -> None:
    usd, findings = pictures([point(2, 0, "0.00"), point(2, 0, "0.00"), point(2, 0, "0.00")])

    assert [(dot.x, dot.y) for dot in usd.dots] == [(0, HEIGHT), (WIDTH / 2, HEIGHT), (WIDTH, HEIGHT)]
    assert findings.dots == usd.dots
    assert pictures([]) == pictures([point(2, 1, "1.00")]) == []
