"""Shell commands as people read them."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from slackwater.views.text.command import WIDEST, lines

STOP = "aws ec2 stop-instances --region r --instance-ids i-1"
START = "aws ec2 start-instances --region r --instance-ids i-1"


def test_each_step_is_a_line_of_its_own() -> None:
    assert lines(f"{STOP} && {START}") == [STOP, START]


def test_a_step_in_quotes_or_in_a_loop_is_not_split() -> None:
    quoted = "aws ec2 create-snapshot --description 'a && b'"
    loop = "for id in a b; do aws fsx x --volume-id $id && break; done"
    assert lines(quoted) == [quoted]
    assert lines(loop) == [loop]


@given(st.lists(st.sampled_from(["--name", "value", "'a b'", "--very-long-option-name", "x" * 30]), max_size=40))
def test_a_long_line_continues_after_an_option_and_means_the_same(words: list[str]) -> None:
    command = " ".join(["aws ec2 modify-volume", *words])

    shown = lines(command)

    assert shlex.split("\n".join(shown).replace("\\\n", "")) == shlex.split(command)
    assert all(len(line) <= WIDEST or " --" not in line.strip() for line in shown)
