"""Compares Slackwater's and Cloud Custodian's answers to the same seven questions with the fleet's ground truth.

A rule that is checked on the fleet, or the reason that Slackwater gave for the resource, must explain each difference.
A difference without an explanation fails the benchmark.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from floor_questions import DAY, FIVE, HOUR, KIB, Truth, Windows

from slackwater_simulator.resources import Fleet, FsxVolume, Volume
from slackwater_simulator.truth import is_sync

DAYS: Final = 14
WINDOWS: Final = Windows(ebs_days=DAYS, files_days=DAYS)
BUSY_HOUR_WRITES: Final = 180_000
"""Number of writes from which an hour counts as busy: 100 a second for half an hour."""
BUSY_WRITES, HALF_AN_HOUR = 30_000, 6
"""Number of writes from which five minutes count as busy (100 a second), and how many five minutes must be."""

type Rule = Callable[[FleetIndex, str], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its Custodian policy, the id field in that policy's output, and Slackwater's detector."""

    title: str
    policy: str
    id_field: str
    detector: str


QUESTIONS: Final = (
    Question("unattached volumes", "unattached-volumes", "VolumeId", "ebs-unattached"),
    Question("idle volumes", "idle-volumes", "VolumeId", "ebs-idle"),
    Question("gp2 volumes", "gp2-volumes", "VolumeId", "ebs-outdated-type"),
    Question("idle EFS", "idle-efs", "FileSystemId", "efs-idle"),
    Question("quiet EC2", "quiet-ec2", "InstanceId", "ec2-idle"),
    Question("idle FSx", "idle-fsx", "FileSystemId", "fsx-idle"),
    Question("sync exports", "sync-exports", "FileSystemId", "fsx-sync-export"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One tool's answer to a question: the ids it flagged, and its reasons for ids that it did not flag."""

    flagged: frozenset[str]
    reasons_not_flagged: Mapping[str, str] = field(default_factory=dict)


class FleetIndex:
    """Looks up the resources of a fleet by id."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.now = fleet, fleet.now
        self.truth = Truth(fleet, WINDOWS)
        self.volumes = {volume.id: volume for volume in fleet.volumes}
        self.efs = {system.id: system for system in fleet.efs}
        self.instances = {instance.id: instance for instance in fleet.instances}
        self.fsx_volumes: dict[str, list[FsxVolume]] = {}
        for volume in fleet.fsx_volumes:
            self.fsx_volumes.setdefault(volume.file_system_id, []).append(volume)
        self.file_system_of = {volume.id: volume.file_system_id for volume in fleet.fsx_volumes}
        self.last_event: dict[str, int] = {}
        for event in fleet.events:
            for _, id_ in event.resources:
                self.last_event[id_] = max(event.at, self.last_event.get(id_, 0))

    def is_on_running_instance(self, volume: Volume) -> bool:
        """Return whether the volume is attached to a running instance."""
        return any(self.instances[one.instance_id].state == "running" for one in volume.attachments)

    def is_gp2(self, id_: str) -> bool:
        """Return whether a volume has the type gp2."""
        return self.volumes[id_].type == "gp2"

    def busiest_hour(self, volume: FsxVolume) -> float:
        """Return the highest number of writes to the volume in one hour."""
        return float(self.truth.values(volume, "DataWriteOperations Sum", HOUR, DAYS).max(initial=0))

    def write_kib(self, volume: FsxVolume) -> float:
        """Return the mean size of the volume's writes, in KiB."""
        writes = self.truth.total(volume, "DataWriteOperations Sum", HOUR, DAYS)
        return self.truth.total(volume, "DataWriteBytes Sum", HOUR, DAYS) / max(writes, 1) / KIB

    def busy_exports(self, system_id: str) -> list[FsxVolume]:
        """Return the file system's volumes that have a sync export and at least one busy hour."""
        return [
            one
            for one in self.fsx_volumes.get(system_id, ())
            if is_sync(one) and self.busiest_hour(one) >= BUSY_HOUR_WRITES
        ]

    def clients_today(self, system_id: str) -> float:
        """Return the connection minutes of an EFS file system since midnight."""
        return float(self.truth.values(self.efs[system_id], "ClientConnections Sum", DAY, DAYS)[-1:].sum())


def _detached_recently(index: FleetIndex, id_: str) -> bool:
    return index.now - max(index.last_event.get(id_, 0), *(end for _, end in index.volumes[id_].used), 0) < 7 * DAY


def _is_root(index: FleetIndex, id_: str) -> bool:
    return any(one.device == "/dev/xvda" for one in index.volumes[id_].attachments)


def _is_on_no_running_instance(index: FleetIndex, id_: str) -> bool:
    return not index.is_on_running_instance(index.volumes[id_])


def _attached_recently(index: FleetIndex, id_: str) -> bool:
    return index.now - max(one.since for one in index.volumes[id_].attachments) < (DAYS + 1) * DAY


def _replicates(index: FleetIndex, id_: str) -> bool:
    return id_ in index.truth.members


def _has_no_busy_sync_export(index: FleetIndex, id_: str) -> bool:
    return not index.busy_exports(id_)


def _is_slow(index: FleetIndex, id_: str) -> bool:
    return not any(
        (index.truth.values(one, "DataWriteOperations Sum", FIVE, DAYS) >= BUSY_WRITES).sum() >= HALF_AN_HOUR
        for one in index.busy_exports(id_)
    )


def _writes_are_large(index: FleetIndex, id_: str) -> bool:
    return all(index.write_kib(one) > 64 for one in index.busy_exports(id_))


CUSTODIAN_ONLY_RULES: Final[Mapping[str, Sequence[tuple[str, Rule]]]] = {
    "unattached-volumes": [
        ("detached less than 7 days ago: Custodian sees only the creation date", _detached_recently)
    ],
    "idle-volumes": [
        (
            "its instance is stopped, another detector's case: Custodian counts a missing metric as 0",
            _is_on_no_running_instance,
        ),
        ("an instance starts from it", _is_root),
        ("attached for less than 15 days", _attached_recently),
    ],
    "gp2-volumes": [
        ("not on a running instance, which another detector reports", _is_on_no_running_instance),
    ],
    "idle-efs": [
        ("the source of a replication", _replicates),
        ("used today: the Custodian policy counts only whole days", lambda index, id_: index.clients_today(id_) > 0),
    ],
    "sync-exports": [
        ("only other volumes have writes: Custodian has no metrics for single volumes", _has_no_busy_sync_export),
        ("its writes are spread over the hour, below 100 a second: Custodian counts by the hour", _is_slow),
        ("its writes are large: Custodian cannot divide one metric by another", _writes_are_large),
    ],
}
"""Rules for resources that only Custodian flagged and for which Slackwater gave no reason. The first match counts."""

UNEXPLAINED: Final = "unexplained"


@dataclass(frozen=True, slots=True)
class Row:
    """The result for a question: how many ids both tools flagged, and counts by reason for ids that only one did."""

    title: str
    both: int
    only_ours: Mapping[str, int]
    only_theirs: Mapping[str, int]
    unexplained: tuple[str, ...]
    planted: tuple[int, int, int] | None
    """Counts of planted issues: all, found by Slackwater, found by Custodian. None if there are none."""
    controls: tuple[int, int, int] | None
    """Counts of negative controls: all, flagged by Slackwater, flagged by Custodian. None if there are none."""


def slackwater_answers(document: Mapping[str, Any], index: FleetIndex) -> dict[str, Answer]:
    """Return Slackwater's answers by policy. Exports have the ids of their file systems, as in Custodian's answers."""
    found = {question.detector: set[str]() for question in QUESTIONS}
    reasons: dict[str, dict[str, str]] = {question.detector: {} for question in QUESTIONS}
    for one in document["findings"]:
        found[one["detector"]].add(_id(one, index))
    for one in document["unlisted"]:
        reasons[one["detector"]][_id(one, index)] = one["reason"]
    for one in document["unknown"]:
        reasons[one["detector"]][_id(one, index)] = f"unknown: {_without_numbers(one['reason'])}"
    found["ebs-outdated-type"] = set(filter(index.is_gp2, found["ebs-outdated-type"]))
    return {one.policy: Answer(frozenset(found[one.detector]), reasons[one.detector]) for one in QUESTIONS}


def _id(entry: Mapping[str, Any], index: FleetIndex) -> str:
    id_ = str(entry["resource"]["id"])
    return index.file_system_of.get(id_, id_)


def _without_numbers(reason: str) -> str:
    """Replace the numbers in a reason, so that reasons of different resources can be counted together."""
    return re.sub(r"\d+", "n", reason)


def custodian_answers(folder: Path) -> dict[str, Answer]:
    """Read Custodian's answers. The folder has one subfolder per policy.

    Raises:
        FileNotFoundError: Custodian did not finish a policy.
    """
    resources = {
        question: json.loads((folder / question.policy / "resources.json").read_text()) for question in QUESTIONS
    }
    return {
        question.policy: Answer(frozenset(one[question.id_field] for one in resources[question]))
        for question in QUESTIONS
    }


def compare_answers(index: FleetIndex, ours: Mapping[str, Answer], theirs: Mapping[str, Answer]) -> list[Row]:
    """Compare the answers, one row per question. Both mappings are by policy."""
    return [_row(index, question, ours[question.policy], theirs[question.policy]) for question in QUESTIONS]


def _row(index: FleetIndex, question: Question, ours: Answer, theirs: Answer) -> Row:
    only_ours = dict.fromkeys(
        ours.flagged - theirs.flagged, UNEXPLAINED
    )  # there is no known reason why Custodian would not flag one
    only_theirs = {
        id_: ours.reasons_not_flagged.get(id_) or _why(index, id_, CUSTODIAN_ONLY_RULES.get(question.policy, ()))
        for id_ in theirs.flagged - ours.flagged
    }
    planted = [(index.file_system_of.get(one.resource_id, one.resource_id), one) for one in index.fleet.planted]
    issues = {id_ for id_, one in planted if question.detector in one.issues}
    controls = {id_ for id_, one in planted if one.control_of == question.detector}
    return Row(
        title=question.title,
        both=len(ours.flagged & theirs.flagged),
        only_ours=Counter(only_ours.values()),
        only_theirs=Counter(only_theirs.values()),
        unexplained=tuple(sorted(id_ for id_, why in (only_ours | only_theirs).items() if why == UNEXPLAINED)),
        planted=_found(issues, ours, theirs),
        controls=_found(controls, ours, theirs),
    )


def _why(index: FleetIndex, id_: str, rules: Sequence[tuple[str, Rule]]) -> str:
    return next((words for words, holds in rules if holds(index, id_)), UNEXPLAINED)


def _found(expected: set[str], ours: Answer, theirs: Answer) -> tuple[int, int, int] | None:
    return (len(expected), len(expected & ours.flagged), len(expected & theirs.flagged)) if expected else None


def table(rows: Sequence[Row]) -> str:
    """Return two Markdown tables: the counts, and the reasons for the differences."""
    lines = [
        (
            "| Question | Both | Only Slackwater | Only Custodian | Issues: planted, found by Slackwater, by Custodian "
            "| Negative controls: planted, flagged by Slackwater, by Custodian |"
        ),
        "|-|-|-|-|-|-|",
    ]
    why = ["| Question | Flagged by | How many | Why the other tool did not flag it |", "|-|-|-|-|"]
    for row in rows:
        counts = row.both, sum(row.only_ours.values()), sum(row.only_theirs.values())
        cells = [f"{count:,}" for count in counts] + [_counts_text(row.planted), _counts_text(row.controls)]
        lines.append(f"| {row.title} | {' | '.join(cells)} |")
        for who, reasons in (("Slackwater", row.only_ours), ("Custodian", row.only_theirs)):
            by_count = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
            why += [f"| {row.title} | {who} | {count:,} | {words} |" for words, count in by_count]
    return "\n".join([*lines, "", *why, ""])


def _counts_text(counts: tuple[int, int, int] | None) -> str:
    return ", ".join(f"{count:,}" for count in counts) if counts else "none"
