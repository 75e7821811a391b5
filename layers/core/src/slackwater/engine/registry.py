"""Finds the detectors: every module under `slackwater.detectors` is one."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from slackwater import detectors
from slackwater.model.detector import AnyDetector, Detector

type Registry = Mapping[str, AnyDetector]
"""Detectors by id, in alphabetical order."""


class NotADetectorError(Exception):
    """A module under `slackwater.detectors` that defines no DETECTOR."""


@cache
def registry() -> Registry:
    """Every detector by its id. A module without a `DETECTOR` is an error, not a skip."""
    found: dict[str, AnyDetector] = {}
    for module_info in sorted(pkgutil.iter_modules(detectors.__path__), key=lambda m: m.name):
        module = import_module(f"{detectors.__name__}.{module_info.name}")
        detector = getattr(module, "DETECTOR", None)
        if not isinstance(detector, Detector):
            raise NotADetectorError(f"{module.__name__} defines no DETECTOR = Detector(...)")
        found[module_info.name.replace("_", "-")] = detector
    return found


def documentation(detector_id: str) -> str:
    """The page a detector's module docstring holds."""
    module = import_module(f"{detectors.__name__}.{detector_id.replace('-', '_')}")
    return (module.__doc__ or "").strip()
