"""Every detector's worked examples notice when its judgement is broken: once for each, the way that would hurt most."""

import inspect
import sys
from types import ModuleType

import pytest

from slackwater.engine.cases import play, words
from slackwater.engine.registry import registry
from slackwater.model.detector import AnyDetector, Case

BROKEN = {
    "ebs-burst-draining": ("fall = min(falls)", "fall = max(falls)"),
    "ebs-idle": (">= limits.operations_per_day * max(1, watched)", "> 1e9"),
    "ebs-instance-bound": ("self.weighted(limits.burst)", "self.weighted(limits.baseline)"),
    "ebs-on-stopped-instance": ("if len(stops) < len(instances)", "if False"),
    "ebs-outdated-type": ("setting = whole if limited else", "setting ="),
    "ebs-surplus-iops": ("target = max(required, ", "target = max(0, "),
    "ebs-surplus-size": ("if use.peak + use.growth >= limits.used_percent", "if use.peak >= limits.used_percent"),
    "ebs-surplus-throughput": ("ebs_peaks.checks(look, ebs_peaks.THROUGHPUT_EXCEEDED)", "()"),
    "ebs-unattached": ("if pause_days and seen.age(left.at) < _longest_wait(pause_days, limits)", "if False"),
    "ec2-cpu-credits-surcharged": ("if often < limits.charged_weeks and not throughout", "if False"),
    "ec2-ebs-throttled": (" and after <= before", ""),
    "ec2-idle": (">= limits.network_mb:", ">= 1e9:"),
    "ec2-network-over-baseline": ("if way.days >= limits.above_days]", "if way.days]"),
    "ec2-network-throttled": ("if packets is False]", "if False]"),
    "efs-abandoned": ("file_system.tags[key] != value", "False"),
    "efs-cold-data": ("if touched.total_bytes > warm_bytes", "if False"),
    "efs-credits-draining": ("if fell_daily or (", "if True or ("),
    "efs-idle": ("if recent.missing:", "if False:"),
    "efs-orphaned": ("unless_decided(efs.exempt(file_system, seen, limits.minimum_age_days))", "pass"),
    "efs-serial-small-writes": ("if at_once and faster", "if faster"),
    "efs-single-client": ("if max(clients.present, default=0) > FIVE_MINUTES", "if False"),
    "efs-single-zone-use": ("unless_decided(efs.exempt(file_system, seen, limits.minimum_age_days))", "pass"),
    "efs-throughput-mismatch": ("if limited := demand", "if limited := False and demand"),
    "fsx-idle": ("if growth > limits.growth_mib * MIB:", "if False:"),
    "fsx-oversized": ("max(newest) + a_day * limits.growth_days", "max(newest)"),
    "fsx-surplus-iops": ("if percent >= limits.peak_percent", "if percent > 100"),
    "fsx-surplus-throughput": (
        "return percent * CAPACITY[metric](server) / CAPACITY[metric](smaller)",
        "return percent",
    ),
    "fsx-sync-export": ("nfs.held_at_ceiling(writes.values, busy, limits.ceiling_percent / 100)", "sorted(small)"),
}
"""What stands in a detector's file, and what would stand there."""


def broken(id_: str) -> AnyDetector:
    """The detector of the file with that one change; it stands once in the file."""
    source = inspect.getsource(sys.modules[registry()[id_].judge.__module__])
    right, wrong = BROKEN[id_]
    assert source.count(right) == 1, f"{right!r} stands {source.count(right)} times in the file of {id_}"
    module = ModuleType(f"broken_{id_.replace('-', '_')}")
    sys.modules[module.__name__] = module  # dataclasses and pydantic look their annotations up there
    exec(compile(source.replace(right, wrong), module.__name__, "exec"), module.__dict__)
    return module.DETECTOR  # type: ignore[no-any-return]


def as_it_says(detector: AnyDetector, case: Case) -> bool:
    """Whether a worked example ends as it should; a judgement that breaks down does not."""
    try:
        verdict = play(detector, case)
    except Exception:  # noqa: BLE001 -- any breakdown is noticed
        return False
    return type(verdict) is case.expect and case.says in words(verdict)


def test_every_detector_is_broken_once() -> None:
    assert BROKEN.keys() == registry().keys()


@pytest.mark.parametrize("id_", BROKEN)
def test_its_worked_examples_notice(id_: str) -> None:
    assert all(as_it_says(registry()[id_], case) for case in registry()[id_].cases)
    assert not all(as_it_says(broken(id_), case) for case in registry()[id_].cases)
