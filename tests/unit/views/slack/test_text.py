"""Untrusted text in Slack messages."""

import re
from html import unescape
from unicodedata import category

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slackwater.views.slack.text import NAME, literal, mrkdwn, shortened
from support.effort import effort

SEEN = str.maketrans({"∗": "*", "∼": "~", "ˋ": "`", "ˍ": "_", "\u2060": None})
"""Maps each substitute character back to the markup character that it replaces."""

MARKUP = st.text(st.sampled_from("<>!@#&*_~`:|^/.-\\ \n\t ahe"), max_size=40)
WORDS = st.sampled_from(
    [
        "<!channel>",
        "@here",
        "<@U012>",
        "<#C012|x>",
        "<!date^1^{date}|x>",
        "https://e.example",
        "www.e.example",
        ":tada:",
        "_x_",
        "ש",
    ]
)
UNTRUSTED = st.text(max_size=120) | MARKUP | st.lists(WORDS, max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("build-cache_01", "build-cache_01"),
        ("<!channel>", "<\u2060!channel>"),
        ("@here, @Everyone", "@\u2060here, @\u2060Everyone"),
        ("a@heretic.example", "a@heretic.example"),
        ("two\r\n lines\u2028three", "two lines<U+2028>three"),
        ("\x1b[31mred\x00", "<U+001B>[31mred<U+0000>"),
        ("a\u200bb\ufeffc\u3000d\u202ee", "a<U+200B>b<U+FEFF>c<U+3000>d<U+202E>e"),
        ("\u3164", "<U+3164>"),
        ("", "(empty)"),
        ("👨\u200d👩", "👨<U+200D>👩"),
        ("half\ud83d", "half<U+D83D>"),
        ("שלום", "\u2068שלום\u2069"),
        ("*bold* `code` :tada:", "*bold* `code` :tada:"),
    ],
)
def test_text_is_unchanged_where_slack_parses_nothing(words: str, shown: str) -> None:
    assert literal(words) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("*bold* ~gone~ `code`", "∗bold∗ ∼gone∼ ˋcodeˋ"),
        ("_slanted_ my_volume_a", "ˍslantedˍ my_volume_a"),
        (":tada: 12:30 h", ":\u2060tada: 12:30 h"),
        ("https://evil.example", "https:\u2060//evil.\u2060example"),
        ("12.50 USD", "12.50 USD"),
        ("#general", "#\u2060general"),
    ],
)
def test_words_mean_nothing_where_mrkdwn_is_parsed(words: str, shown: str) -> None:
    assert mrkdwn(words) == shown


def test_what_is_too_long_is_cut_by_characters() -> None:
    assert literal("n" * 300) == "n" * (NAME - 1) + "…"
    assert literal("🚀" * 300, 10) == "🚀" * 9 + "…"
    assert literal("ש" * 300, 10) == "\u2068" + "ש" * 7 + "…\u2069"
    assert shortened("two words", 5) == "two…"


@settings(max_examples=effort(500, 120))
@given(words=UNTRUSTED, most=st.integers(3, 60))
def test_whatever_the_words_they_are_one_visible_line(words: str, most: int) -> None:
    shown = literal(words, most)

    assert 1 <= len(shown) <= max(most, len("(empty)"))
    assert {one for one in shown if category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} <= {"\u2060", "\u2068", "\u2069"}
    assert re.fullmatch("[^\u2068\u2069]*|\u2068[^\u2068\u2069]*\u2069", shown)
    assert not re.search(r"<[!@#]|@(here|channel|everyone)\b", shown, re.IGNORECASE)


@settings(max_examples=effort(1_000, 200))
@given(words=UNTRUSTED)
@example(words="<!channel|*_x_*>")
@example(words="a_ _b_ c_d")
@example(words="`*x*`:a:b:")
def test_whatever_the_words_mrkdwn_makes_nothing_of_them(words: str, limits) -> None:
    shown = literal(words, 500)

    assert limits.markup(mrkdwn(shown)) == []
    assert unescape(mrkdwn(shown)).translate(SEEN) == shown.translate(SEEN)
    assert len(mrkdwn(shown)) <= 5 * len(shown)


def test_the_check_recognizes_what_mrkdwn_parses(limits) -> None:
    for harm in (
        *(
            "<!channel>",
            "<https://e.example|x>",
            "a < b",
            "*bold*",
            "x _slanted_ y",
            "~gone~",
            "`code`",
            ":tada:",
            "@here",
        ),
        *("www.e.example", "e.example", "&nbsp;"),
    ):
        assert limits.markup(harm), harm
    assert limits.markup("<@U0123ABCDEF> dismissed my_volume_a &lt;at&gt; 12:30, for 12.50 USD") == []
