"""Slackwater's command line."""

from typing import Final

VERSION: Final = "0.1.0"
"""The distribution takes its version from here."""
