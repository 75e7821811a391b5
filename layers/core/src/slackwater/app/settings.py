"""What the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def cache_dir(environment: Mapping[str, str]) -> Path | None:
    """Where prices are kept between scans: under XDG_CACHE_HOME (if absolute, as its specification asks) or `~/.cache`.

    None where there is no home.
    """
    for variable, below in (("XDG_CACHE_HOME", "slackwater"), ("HOME", ".cache/slackwater"), ("LOCALAPPDATA", "slackwater")):
        if (base := Path(environment.get(variable) or "")).is_absolute():
            return base / below
    return None
