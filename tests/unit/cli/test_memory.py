"""Memory under many threads."""

import ctypes
import platform

import pytest

from slackwater_cli.memory import share_arenas


def test_glibc_is_told_to_share_heaps() -> None:
    assert share_arenas() is (platform.libc_ver()[0] == "glibc")


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_another_c_library_is_left_alone(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_name: None) -> None:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", none)

    assert share_arenas() is False
