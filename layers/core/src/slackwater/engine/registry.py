"""Finds detectors and estimates: each module of `slackwater.detectors` and `slackwater.estimates` defines one."""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType

from slackwater import detectors
from slackwater import estimates as all_estimates
from slackwater.model.detector import AnyDetector, Detector
from slackwater.model.estimates import AnyEstimate, Estimate

type Registry = Mapping[str, AnyDetector]
"""Detectors by id, in alphabetical order."""


class BrokenModuleError(Exception):
    """A module of the detectors or estimates cannot be loaded, or does not define one."""


@cache
def registry() -> Registry:
    """Return every detector by its id.

    Raises:
        BrokenModuleError: A module has no `DETECTOR`, or cannot be loaded.
    """
    found: dict[str, AnyDetector] = {}
    for id_, module in _modules(detectors):
        detector = getattr(module, "DETECTOR", None)
        if not isinstance(detector, Detector):
            raise BrokenModuleError(f"{module.__name__} defines no DETECTOR = Detector(...)")
        found[id_] = detector
    return found


@cache
def estimates() -> Mapping[str, AnyEstimate]:
    """Return every estimate by its kind.

    Raises:
        BrokenModuleError: A module has no `ESTIMATE`, or cannot be loaded.
    """
    found: dict[str, AnyEstimate] = {}
    for kind, module in _modules(all_estimates):
        estimate = getattr(module, "ESTIMATE", None)
        if not isinstance(estimate, Estimate):
            raise BrokenModuleError(f"{module.__name__} defines no ESTIMATE = Estimate(...)")
        found[kind] = estimate
    return found


def _modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    for name in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        try:
            module = import_module(f"{package.__name__}.{name}")
        except Exception as error:
            raise BrokenModuleError(
                f"{package.__name__}.{name} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        yield name.replace("_", "-"), module


def documentation(detector_id: str) -> str:
    """Return a detector's page: the docstring of its module."""
    module = import_module(f"{detectors.__name__}.{detector_id.replace('-', '_')}")
    return (module.__doc__ or "").strip()
