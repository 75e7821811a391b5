"""Slackwater on the command line."""

from typing import Final

VERSION: Final = "0.1.0"
"""A test compares it with the distribution's: reading the metadata takes longer than everything else in `--version`."""
