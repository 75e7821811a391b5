"""The cases of each detector fail if its `judge` is broken.

One test for each `if` of each `judge` negates it, for new detectors too. BROKEN has more mutations: those with the
worst effects.
"""

import ast
import inspect
import sys
from itertools import count
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
    "efs-cold-data": ("and touched.total_bytes > warm_bytes", "and False"),
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
"""A text that occurs once in a detector's file, and its replacement."""
JUDGES = {id_: sys.modules[detector.judge.__module__] for id_, detector in registry().items()}
"""The module of each detector, by id."""
CONDITIONS = [
    (id_, line)
    for id_, module in JUDGES.items()
    for line in sorted(
        node.lineno for node in ast.walk(ast.parse(inspect.getsource(module.judge))) if isinstance(node, ast.If)
    )
]
"""The location of each `if` of each `judge`: the detector, and the line in `judge`."""
_numbers = count()


def detector_of(source: str | ast.Module) -> AnyDetector:
    """Return the detector of a file with this source."""
    module = ModuleType(f"broken_{next(_numbers)}")
    sys.modules[module.__name__] = module  # dataclasses and pydantic look up annotations there
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    return module.DETECTOR  # type: ignore[no-any-return]


def replaced(id_: str) -> AnyDetector:
    """Return the detector with its mutation in BROKEN."""
    source = inspect.getsource(JUDGES[id_])
    right, wrong = BROKEN[id_]
    assert source.count(right) == 1, f"{right!r} stands {source.count(right)} times in the file of {id_}"
    return detector_of(source.replace(right, wrong))


def negated(id_: str, line: int) -> AnyDetector:
    """Return the detector with the condition in this line of `judge` negated."""
    tree = ast.parse(inspect.getsource(JUDGES[id_]))
    (judge,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "judge"]
    for node in ast.walk(judge):
        if isinstance(node, ast.If) and node.lineno == judge.lineno + line - 1:
            node.test = ast.UnaryOp(ast.Not(), node.test)
    return detector_of(ast.fix_missing_locations(tree))


def as_it_says(detector: AnyDetector, case: Case) -> bool:
    """Return whether a worked case ends as expected. An exception counts as a failure."""
    try:
        verdict = play(detector, case)
    except Exception:  # noqa: BLE001 -- every exception is a failure
        return False
    return type(verdict) is case.expect and case.says in words(verdict)


@pytest.mark.parametrize("id_", registry())
def test_its_cases_end_as_they_say(id_: str) -> None:
    assert all(as_it_says(registry()[id_], case) for case in registry()[id_].cases)


@pytest.mark.parametrize(("id_", "line"), CONDITIONS)
def test_its_cases_notice_a_negated_condition(id_: str, line: int) -> None:
    assert not all(as_it_says(negated(id_, line), case) for case in registry()[id_].cases), (
        f"line {line} of judge: no case of {id_} needs this condition. Add a case, or remove it"
    )


@pytest.mark.parametrize("id_", BROKEN)
def test_its_cases_notice_a_replaced_text(id_: str) -> None:
    assert not all(as_it_says(replaced(id_), case) for case in registry()[id_].cases)
