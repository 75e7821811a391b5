"""Compute the lowest possible number of calls to scan a fleet, from the fleet's ground truth.

    floor = 1 (who am I) + Σ ⌈resources ÷ page⌉ + calls for one file system at a time
          + Σ per window ⌈max(queries ÷ 500, points ÷ 100,800)⌉

This module does not import `slackwater`. `floor_questions` decides which metrics a question needs. An earlier scan has
cached the prices, so they do not count. `python bench/floor.py RESOURCES all|seven mixed|hard` prints the floor, and
the metrics and points of each question alone. `all` stands for all questions; `seven` stands for those that
`bench/compare.py` also asks Cloud Custodian, over the same 14 days.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from floor_questions import DAY, QUESTIONS, SEVEN, Asked, Question, Truth, Windows, points

from slackwater_simulator import hard_fleet, mixed_fleet
from slackwater_simulator.resources import Fleet
from slackwater_simulator.telemetry import disk_dimensions

PAGES = {
    "ec2:volumes": 1_000,
    "ec2:instances": 1_000,
    "ec2:types": 100,
    "efs": 100,
    "fsx": 50,
    "cloudtrail": 50,
    "metrics": 500,
}
WITH_VOLUMES = ("OPENZFS", "ONTAP")
"""FSx file systems that have volumes."""


@dataclass(frozen=True)
class Catalogue:
    """Questions, how far back they look, and the parts of the inventory that they do not need."""

    questions: Sequence[Question]
    windows: Windows
    without: Collection[str] = ()


ALL = Catalogue(QUESTIONS, Windows())
_UNREAD = ("efs:lifecycles", "efs:mount-targets", "cloudwatch:in", "cloudwatch:out", "cloudwatch:disks")
OF_SEVEN = Catalogue(SEVEN, Windows(ebs_days=14, files_days=14), _UNREAD)


def floor(fleet: Fleet, catalogue: Catalogue = ALL) -> dict[str, int]:
    """Return the number of calls by purpose."""
    calls, asked = Counter[str](), questions(fleet, catalogue)
    calls["sts"] = 1
    for region in fleet.regions:
        for name, count, page in inventory(fleet, region):
            calls[name] += max(1, -(-count // page))  # an empty list also takes one call
        for name, count in one_by_one(fleet, region):
            calls[name] += count
    calls["efs:lifecycles"] = len(asked.lifecycles)
    for name in catalogue.without:
        del calls[name]
    calls["metrics"] = asked.calls()
    return dict(calls)


def questions(fleet: Fleet, catalogue: Catalogue = ALL) -> Asked:
    """Return all metrics that the questions need."""
    truth, asked = Truth(fleet, catalogue.windows), Asked()
    for region in fleet.regions:
        for question in catalogue.questions:
            question(truth, region, asked)
    return asked


def inventory(fleet: Fleet, region: str) -> Iterator[tuple[str, int, int]]:
    """Yield what must be listed: name, number of items, items a page.

    Items that depend on a resource are listed only in regions that have such a resource.
    """
    instances = [i for i in fleet.instances if i.region == region]
    systems, shares = [e for e in fleet.efs if e.region == region], [f for f in fleet.fsx if f.region == region]
    unattached = [v for v in fleet.volumes if v.region == region and not v.attachments]
    yield "ec2:volumes", sum(v.region == region for v in fleet.volumes), PAGES["ec2:volumes"]
    yield "ec2:instances", len(instances), PAGES["ec2:instances"]
    if instances:
        yield "ec2:types", len({i.type for i in instances}), PAGES["ec2:types"]
    if any(v.region == region for v in fleet.volumes):
        yield "compute-optimizer:enrollment", 1, 1
    yield "efs", len(systems), PAGES["efs"]
    if systems:
        yield "efs:replications", sum(r.source_region == region for r in fleet.replications), PAGES["efs"]
    yield "fsx:systems", len(shares), PAGES["fsx"]
    if any(f.kind in WITH_VOLUMES for f in shares):
        yield "fsx:volumes", sum(f.region == region for f in fleet.fsx_volumes), PAGES["fsx"]
    if unattached:
        since = max(fleet.now - 90 * DAY, min(v.created for v in unattached))
        for name in ("DetachVolume", "AttachVolume"):
            events = sum(e.region == region and e.name == name and e.at >= since for e in fleet.events)
            yield f"cloudtrail:{name}", events, PAGES["cloudtrail"]
    if not instances:
        return
    agents = sum(bool(i.agent) for i in instances)
    yield "cloudwatch:in", agents, PAGES["metrics"]
    yield "cloudwatch:out", agents, PAGES["metrics"]
    disks = sum(disk_dimensions(i, v) is not None for i in instances for v in fleet.volumes_of.get(i.id, ()))
    yield "cloudwatch:disks", disks, PAGES["metrics"]


def one_by_one(fleet: Fleet, region: str) -> Iterator[tuple[str, int]]:
    """Yield what EFS must return for one file system at a time: name, and number of file systems."""
    systems = [e for e in fleet.efs if e.region == region]
    yield "efs:mount-targets", sum(e.one_zone is None and len(e.mount_targets) == 1 for e in systems)


def each(fleet: Fleet, catalogue: Catalogue = ALL) -> dict[str, tuple[int, int]]:
    """Return the numbers of metrics and points that each question needs alone, by detector id, and all together."""
    alone = {one.__name__.replace("_", "-"): replace(catalogue, questions=[one]) for one in catalogue.questions}
    needed = {name: questions(fleet, one).days for name, one in {"all together": catalogue, **alone}.items()}
    return {
        name: (len(days), sum(points(period_s, back) for (*_, period_s), back in days.items()))
        for name, days in needed.items()
    }


if __name__ == "__main__":
    import json
    import sys

    resources, which, name = sys.argv[1:]
    fleet = {"mixed": mixed_fleet, "hard": hard_fleet}[name](int(resources))
    catalogue = {"all": ALL, "seven": OF_SEVEN}[which]
    print(json.dumps({"calls": floor(fleet, catalogue), "questions": each(fleet, catalogue)}))
