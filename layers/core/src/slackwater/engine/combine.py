"""Combines changes of one resource into one command, if AWS refuses a second change for hours after the first."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from slackwater.engine.evaluation import FlaggedResource
from slackwater.model.verdicts import Advice, JointChange


def combined(reported: Iterable[FlaggedResource]) -> list[FlaggedResource]:
    """Return the findings. Those whose changes collide get the same command, which makes all of them, and a caveat.

    Changes collide if they have the same call, which names the resource.
    """
    findings = [*reported]
    by_call: defaultdict[str, dict[str, JointChange]] = defaultdict(dict)
    for one in findings:
        for advice in one.verdict.advice:
            if advice.joint:
                by_call[advice.joint.call].setdefault(one.enabled.id, advice.joint)
    return [_with_others(one, by_call) for one in findings]


def _with_others(one: FlaggedResource, by_call: dict[str, dict[str, JointChange]]) -> FlaggedResource:
    changed, caveats = list[Advice](), one.verdict.caveats
    for advice in one.verdict.advice:
        all_ = by_call[advice.joint.call] if advice.joint else {}
        others = sorted(all_.keys() - {one.enabled.id})
        if not advice.joint or not others:
            changed.append(advice)
            continue
        settings = {name: value for id_ in sorted(all_) for name, value in all_[id_].settings.items()}
        changed.append(replace(advice, command=JointChange(advice.joint.call, settings).command))
        caveats += (f"The command also makes the change of {' and '.join(others)}. Run it once.",)
    return replace(one, verdict=replace(one.verdict, advice=tuple(changed), caveats=caveats))
