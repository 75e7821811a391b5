"""A page of a list is never taken for more or less than it is."""

import pytest

from slackwater.aws.client.pages import MARKER, TooManyPagesError, pages
from slackwater.ports.errors import BrokenAnswerError


def replay(*answers):
    waiting = list(answers)
    return lambda **_: waiting.pop(0)


def test_pages_are_read_to_the_last_even_where_one_is_empty():
    call = replay({"Items": [1], "NextToken": "a"}, {"Items": [], "NextToken": "b"}, {"Items": [2]})
    assert list(pages(call, "Items")) == [1, 2]


def test_an_answer_without_its_list_is_broken_and_not_an_empty_account():
    with pytest.raises(BrokenAnswerError, match="no Items"):
        list(pages(replay({"Items": [1], "NextToken": "a"}, {}), "Items"))


def test_a_token_that_comes_again_is_broken_and_not_an_endless_account():
    with pytest.raises(BrokenAnswerError, match="repeats"):
        list(pages(lambda **_: {"Items": [1], "NextToken": "a"}, "Items"))


def test_a_token_is_sent_back_under_the_services_own_name():
    sent = []

    def call(**parameters):
        sent.append(dict(parameters))
        return {"Items": [len(sent)], **({} if len(sent) > 1 else {"NextMarker": "m"})}

    list(pages(call, "Items", tokens=MARKER, MaxItems=5))
    assert sent == [{"MaxItems": 5}, {"MaxItems": 5, "Marker": "m"}]


@pytest.mark.parametrize("later", [{"Items": []}, {"Items": [2]}], ids=["empty again", "there after all"])
def test_an_empty_page_at_the_end_is_asked_for_once_more(later):
    call = replay({"Items": [1], "NextToken": "a"}, {"Items": []}, later)
    assert list(pages(call, "Items")) == [1, *later["Items"]]


def test_a_list_without_anything_is_asked_for_once():
    assert list(pages(replay({"Items": []}), "Items")) == []


def test_a_page_that_comes_again_by_another_token_is_broken_for_another_is_lost():
    call = replay(
        {"Items": [1, 2], "NextToken": "a"}, {"Items": [3, 4], "NextToken": "b"}, {"Items": [1, 2], "NextToken": "c"}
    )
    with pytest.raises(BrokenAnswerError, match="repeats a page of Items"):
        list(pages(call, "Items"))


def test_pages_are_distinguished_by_their_first_and_last_item():
    call = replay({"Items": [1, 2], "NextToken": "a"}, {"Items": [1, 3], "NextToken": "b"}, {"Items": [0, 3]})
    assert list(pages(call, "Items")) == [1, 2, 1, 3, 0, 3]


def test_the_watch_function_decides_whether_a_page_is_repeated():
    page = {"Items": [1, 2]}
    answers = [page | {"NextToken": token} for token in "abc"]
    assert list(pages(replay(*answers, page), "Items", watch=lambda _: "new")) == [1, 2] * 4
    with pytest.raises(BrokenAnswerError, match="repeats a page of Items"):
        list(pages(replay(*answers, page), "Items", watch=lambda _: "repeated"))


def test_pages_that_say_nothing_new_come_to_an_end():
    tokens = iter(range(10_000))
    with pytest.raises(BrokenAnswerError, match="last 100 pages hold no Items"):
        list(pages(lambda **_: {"Items": [1], "NextToken": str(next(tokens))}, "Items", watch=lambda _: "nothing"))
    assert next(tokens) == 100


def test_empty_pages_without_end_are_broken():
    tokens = iter(range(10_000))
    with pytest.raises(BrokenAnswerError, match="last 100 pages hold no Items"):
        list(pages(lambda **_: {"Items": [], "NextToken": str(next(tokens))}, "Items"))
    assert next(tokens) == 100


@pytest.mark.parametrize(
    "page", [{"Items": "abc"}, {"Items": {"a": 1}}, {"Items": [1], "NextToken": 7}, {"Items": [1], "NextToken": ["a"]}]
)
def test_a_page_of_other_types_is_broken(page):
    with pytest.raises(BrokenAnswerError):
        list(pages(replay(page, page), "Items"))


def test_a_list_that_is_too_long_is_cut_off_by_pages_even_if_they_are_empty():
    tokens = iter(range(100))
    read = pages(lambda **_: {"Items": [], "NextToken": str(next(tokens))}, "Items", max_pages=30)
    with pytest.raises(TooManyPagesError, match="more than 30 pages"):
        list(read)
    assert next(tokens) == 30
