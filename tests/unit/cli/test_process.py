"""The command in its own process: closed pipes, signals and terminals."""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "slackwater_cli")
LONG_S = 60
"""Timeout in seconds. Only a hanging process reaches it."""


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    process = subprocess.Popen(
        [*COMMAND, "detectors", "show", "efs-idle"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()

    output = process.stderr.read()
    process.stderr.close()

    assert process.wait(LONG_S) == 141
    assert output == b""


def buffered() -> dict[str, str]:
    """Return an environment in which Python buffers its standard output."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize("arguments", [("detectors", "show", "efs-idle"), ("detectors",), ("--version",)])
def test_a_full_disk_behind_standard_output_is_reported_as_such(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, env=buffered())

    assert (done.returncode, done.stderr) == (2, b"Error: standard output cannot be written: No space left on device\n")


def test_a_missing_standard_output_is_reported() -> None:
    command = shlex.join([*COMMAND, "detectors", "show", "efs-idle"])
    done = subprocess.run(["/bin/sh", "-c", f"{command} >&-"], stderr=subprocess.PIPE, check=False, env=buffered())

    assert (done.returncode, done.stderr) == (2, b"Error: standard output cannot be written: it is closed\n")


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_a_scan_that_waits_for_aws_and_leaves_no_draft(
    number: int, status: int, word: str, account, nowhere: Path
) -> None:
    reached, answer = threading.Event(), threading.Event()
    check, temporary = account.faults.check, nowhere.parent / "temporary"
    temporary.mkdir()
    shared: list[str] = []

    def hang(call) -> None:
        # A late call of an earlier test finds no folder: the process creates it only after its signal handlers are set.
        if call.service != "sts" and (folders := [path.name for path in temporary.iterdir()]):
            shared.extend(folders)
            reached.set()
            answer.wait(2 * LONG_S)
        check(call)

    account.faults.check = hang
    try:
        process = subprocess.Popen(
            [*COMMAND, "scan", "--region", "ap-northeast-1", "--output", "scan.json"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(temporary)},
        )
        assert reached.wait(LONG_S)
        process.send_signal(number)
        _, output = process.communicate(timeout=LONG_S)
    finally:
        answer.set()
        del account.faults.check

    assert (process.returncode, output) == (status, f"{word}; nothing was written\n")
    assert list(nowhere.iterdir()) == []
    assert len({*shared}) == 1  # all temporary files were in one folder, and the folder is deleted
    assert list(temporary.iterdir()) == []


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Return the output of a command on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    env = (
        {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "TERM"}} | {"TERM": "xterm-256color"} | environment
    )
    process = subprocess.Popen([*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # Linux raises this if the other side of a terminal is closed
        pass
    os.close(ours)
    process.wait(LONG_S)
    return shown.decode()


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
SCAN = ("scan", "--region", "ap-northeast-1", "--now", "2026-11-16T09:07:00Z", "--detector", "efs-idle")


@pytest.mark.usefixtures("account")
def test_a_terminal_gets_colours_and_progress() -> None:
    shown = on_a_terminal(*SCAN)

    assert COLOUR.search(shown)
    assert "ap-northeast-1: inventory" in shown or "ap-northeast-1: done" in shown


@pytest.mark.usefixtures("account")
def test_no_color_is_honoured() -> None:
    shown = on_a_terminal(*SCAN, NO_COLOR="1")

    assert " with high confidence" in shown
    assert not COLOUR.search(shown.split(" with high confidence")[1])


@pytest.mark.usefixtures("account")
def test_piped_it_is_plain_whatever_the_terminal_is() -> None:
    done = subprocess.run(
        [*COMMAND, *SCAN, "--details"], capture_output=True, check=False, env=os.environ | {"TERM": "xterm-256color"}
    )

    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    assert "▁".encode() in done.stdout


@pytest.mark.usefixtures("account")
def test_text_is_utf_8_in_a_pipe_whatever_the_locale() -> None:
    done = subprocess.run(
        [*COMMAND, *SCAN, "--details"],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )

    assert done.returncode == 0
    assert "▁" in done.stdout.decode("utf-8")
