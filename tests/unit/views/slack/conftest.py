"""Checks of Slack messages."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("slack_limits", Path(__file__).with_name("limits.py"))
_limits = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_limits)


@pytest.fixture(scope="session")
def limits():
    """Return Slack's limits: limits.py beside this file."""
    return _limits
