"""Run several calls at once, each independent of the others."""

import threading

import pytest

from slackwater.aws.client.parallel import parallel_map

WAIT_S = 20


def test_answers_come_in_the_order_of_the_questions_however_they_arrive():
    last = threading.Event()

    def ask(number):
        if number == 7:
            last.set()
        assert last.wait(WAIT_S)
        return number * 10

    assert list(parallel_map(ask, range(8), at_once=8)) == [number * 10 for number in range(8)]


def test_so_many_are_on_their_way_together_and_no_more():
    together, most, lock = threading.Barrier(3, timeout=WAIT_S), [0, 0], threading.Lock()

    def ask(_):
        with lock:
            most[0] += 1
            most[1] = max(most)
        together.wait()
        with lock:
            most[0] -= 1

    list(parallel_map(ask, range(9), at_once=3))
    assert most == [0, 3]


def test_what_came_before_an_error_is_kept_and_hardly_anything_is_asked_after_it():
    asked, kept = [], []

    def ask(number):
        asked.append(number)
        if number == 2:
            raise PermissionError("denied")
        return number

    def take():
        for answer in parallel_map(ask, iter(range(1_000)), at_once=4):
            kept.append(answer)  # noqa: PERF402 -- extend would drop the answers before an error

    with pytest.raises(PermissionError, match="denied"):
        take()
    assert kept == [0, 1]
    assert len(asked) <= 2 + 1 + 4


def test_questions_are_not_taken_before_their_turn():
    taken = []

    def things():
        for number in range(1_000):
            taken.append(number)
            yield number

    answers = parallel_map(lambda number: number, things(), at_once=4)
    assert next(answers) == 0
    assert len(taken) == 5
    answers.close()
    assert len(taken) == 5


def test_nothing_to_ask_is_no_answer():
    assert list(parallel_map(lambda thing: thing, [])) == []
