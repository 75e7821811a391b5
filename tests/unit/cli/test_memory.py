"""The command's memory: heaps, and garbage collection."""

import ctypes
import gc
import platform

import pytest

from slackwater.wiring.garbage import THRESHOLDS
from slackwater_cli.__main__ import main
from slackwater_cli.memory import configure_malloc


def test_glibc_is_configured() -> None:
    assert configure_malloc() is (platform.libc_ver()[0] == "glibc")


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_another_c_library_is_left_alone(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_name: None) -> None:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", none)

    assert configure_malloc() is False


def test_the_command_looks_for_garbage_seldom() -> None:
    before = gc.get_threshold()
    gc.set_threshold(2_000, 10, 10)
    try:
        with pytest.raises(SystemExit):
            main(["--help"])
        assert (gc.isenabled(), gc.get_threshold()) == (True, THRESHOLDS)
    finally:
        gc.set_threshold(*before)
