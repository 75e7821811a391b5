"""The benchmark against Cloud Custodian, with made-up results of both tools: its floor, comparison and tables."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import yaml

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import READERS, AwsInventory
from slackwater.model.resources import Target
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Activity, Export, Fleet, Flow, Replication, instant
from slackwater_simulator.series import DAY

BENCH = Path(__file__).parents[3] / "bench"
NOW = instant("2026-11-16T09:07:00Z")
MODULES = ("compare", "answers", "bar_chart", "floor", "floor_questions", "scan")


@pytest.fixture(scope="module")
def bench():
    """Yield the modules of bench/ by name."""
    sys.path.insert(0, str(BENCH))
    before = {name: sys.modules.pop(name, None) for name in MODULES}
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(BENCH))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module:
                sys.modules[name] = module


@pytest.fixture(scope="module")
def world(bench):
    build = Builder(NOW, "eu-west-1", seed=3)
    steady = Activity(shape=build.shapes.shape("steady", 0), read=2**20, write=2**20)
    runs = build.instance("runs", "m5.large", cpu=Flow(build.shapes.shape("steady", 0), 50.0))
    stopped = build.instance("stopped", "m5.large", state="stopped", stopped=build.ago(20))
    build.volume("data", 100, on=runs, activity=steady, type="gp2")
    build.volume("at-rest", 100, on=stopped, type="gp2")
    build.volume("new", 100, created=build.ago(10), on=runs)
    unattached, fresh = (
        build.volume(name, 100, created=build.ago(90), used=((build.ago(90), build.ago(days)),))
        for name, days in (("loose", 30), ("fresh", 3))
    )
    build.plant(unattached, "left", "ebs-unattached")
    build.detached(fresh.id, runs.id, build.ago(3))
    build.plant(fresh, "just left", control_of="ebs-unattached")
    source, replica, _ = (
        build.file_system(name, standard_bytes=2**30, replica=name == "replica")
        for name in ("source", "replica", "quiet")
    )
    build.replications.append(
        Replication(
            source_id=source.id,
            source_region="eu-west-1",
            destination_id=replica.id,
            destination_region="eu-west-1",
            created=NOW - DAY,
        )
    )
    for name, writes, size, options in (
        ("small", 450, 8192, ("rw",)),
        ("large", 450, 2**20, ("rw",)),
        ("spread", 80, 8192, ("rw",)),
        ("other", 450, 8192, ("async",)),
    ):
        work = Activity(shape=build.shapes.shape("steady", 0), write=writes * size, write_size=size)
        build.export(build.openzfs(name, activity=work), "share", Export("10.0.0.0/8", options), activity=work)
    return bench["answers"].FleetIndex(build.fleet("123456789012"))


def id_of(world, name):
    """Return the id of the resource with this name."""
    every = (*world.fleet.volumes, *world.fleet.instances, *world.fleet.efs, *world.fleet.fsx)
    return next(one.id for one in every if one.tags.get("Name") == name)


def compared(bench, world, policy, ours=(), theirs=(), besides=None):
    """Return the comparison's row for one question. Neither tool answers the other questions."""
    answers = bench["answers"]
    nothing = {one.policy: answers.Answer(frozenset()) for one in answers.QUESTIONS}
    mine = answers.Answer(frozenset(ours), besides or {})
    rows = answers.compare_answers(
        world, nothing | {policy: mine}, nothing | {policy: answers.Answer(frozenset(theirs))}
    )
    titles = {one.policy: one.title for one in answers.QUESTIONS}
    return next(row for row in rows if row.title == titles[policy])


def test_what_both_flag_needs_no_reason(bench, world):
    unattached = id_of(world, "loose")
    row = compared(bench, world, "unattached-volumes", [unattached], [unattached])
    assert (row.both, row.only_ours, row.only_theirs, row.unexplained) == (1, {}, {}, ())
    assert (row.planted, row.controls) == ((1, 1, 1), (1, 0, 0))


@pytest.mark.parametrize(
    ("policy", "name", "why"),
    [
        ("unattached-volumes", "fresh", "detached less than 7 days ago"),
        ("idle-volumes", "at-rest", "its instance is stopped"),
        ("idle-volumes", "new", "attached for less than 15 days"),
        ("gp2-volumes", "at-rest", "not on a running instance"),
        ("idle-efs", "source", "the source of a replication"),
        ("sync-exports", "other", "only other volumes have writes"),
        ("sync-exports", "large", "its writes are large"),
        ("sync-exports", "spread", "its writes are spread over the hour"),
    ],
)
def test_a_rule_explains_what_only_custodian_flags(bench, world, policy, name, why):
    row = compared(bench, world, policy, theirs=[id_of(world, name)])
    assert row.unexplained == ()
    assert [words.partition(":")[0].partition(",")[0] for words in row.only_theirs] == [why.partition(":")[0]]


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("unattached-volumes", "loose"),
        ("idle-volumes", "data"),
        ("gp2-volumes", "data"),
        ("idle-efs", "quiet"),
        ("quiet-ec2", "runs"),
        ("sync-exports", "small"),
    ],
)
def test_what_no_rule_explains_is_named(bench, world, policy, name):
    row = compared(bench, world, policy, theirs=[id_of(world, name)])
    assert row.unexplained == (id_of(world, name),)
    row = compared(bench, world, policy, ours=[id_of(world, name)])
    assert row.unexplained == (id_of(world, name),)


def test_the_reason_is_slackwaters_own_text(bench, world):
    quiet = id_of(world, "quiet")
    row = compared(bench, world, "idle-efs", theirs=[quiet], besides={quiet: "kept by a tag"})
    assert (row.only_theirs, row.unexplained) == ({"kept by a tag": 1}, ())


def test_answers_are_read_from_what_the_two_wrote(bench, world, tmp_path):
    answers = bench["answers"]
    data, at_rest, new = (id_of(world, name) for name in ("data", "at-rest", "new"))
    export = next(one for one in world.fleet.fsx_volumes if one.file_system_id == id_of(world, "small"))
    document = {
        "findings": [
            {"detector": "ebs-outdated-type", "resource": {"id": data}},
            {"detector": "ebs-outdated-type", "resource": {"id": new}},  # a gp3: Custodian was asked about gp2
            {"detector": "fsx-sync-export", "resource": {"id": export.id}},
        ],
        "unlisted": [{"detector": "ebs-idle", "resource": {"id": new}, "reason": "kept by a tag"}],
        "unknown": [
            {"detector": "ebs-outdated-type", "resource": {"id": at_rest}, "reason": "no data on 12 of 340 days"}
        ],
    }
    ours = answers.slackwater_answers(document, world)
    assert ours["gp2-volumes"] == answers.Answer(frozenset({data}), {at_rest: "unknown: no data on n of n days"})
    assert ours["sync-exports"].flagged == {export.file_system_id}
    assert ours["idle-volumes"].reasons_not_flagged == {new: "kept by a tag"}
    for one in answers.QUESTIONS[1:]:
        (tmp_path / one.policy).mkdir()
        (tmp_path / one.policy / "resources.json").write_text(json.dumps([{one.id_field: "id-1", "Tags": []}]))
    with pytest.raises(FileNotFoundError, match="unattached-volumes"):
        answers.custodian_answers(tmp_path)
    (tmp_path / "unattached-volumes").mkdir()
    (tmp_path / "unattached-volumes/resources.json").write_text("[]")
    theirs = answers.custodian_answers(tmp_path)
    assert (theirs["unattached-volumes"].flagged, theirs["idle-fsx"].flagged) == (frozenset(), {"id-1"})


def test_the_questions_are_the_same_in_both_policy_files(bench):
    import tomllib

    answers = bench["answers"]
    custodian = yaml.safe_load((BENCH / "custodian.yml").read_text())
    slackwater = tomllib.loads((BENCH / "policy.toml").read_text())
    assert [one["name"] for one in custodian["policies"]] == [one.policy for one in answers.QUESTIONS]
    assert slackwater["detectors"].keys() == {one.detector for one in answers.QUESTIONS}
    assert {one.__name__.replace("_", "-") for one in bench["floor_questions"].SEVEN} == slackwater["detectors"].keys()
    days = [one["days"] for policy in custodian["policies"] for one in metrics_of(policy["filters"])]
    assert set(days) == {14}
    windows = {
        key: value for limits in slackwater["detectors"].values() for key, value in limits.items() if key in WINDOWS
    }
    assert set(windows.values()) == {14}
    assert bench["floor"].OF_SEVEN.windows == bench["answers"].WINDOWS


WINDOWS = ("window_days", "least_days", "quiet_days", "look_back_days")


def metrics_of(filters):
    """Yield the filters on metrics, including nested ones."""
    for one in filters:
        if isinstance(one, dict) and one.get("type") == "metrics":
            yield one
        elif isinstance(one, dict) and isinstance(one.get("not"), list):
            yield from metrics_of(one["not"])


def test_plain_policies_ask_of_everything_what_is_asked_at_all(bench):
    text = (BENCH / "custodian.yml").read_text()
    before, after = yaml.safe_load(text)["policies"], yaml.safe_load(bench["compare"].plain(text))["policies"]
    assert [one["name"] for one in after] == [one["name"] for one in before]
    for was, is_ in zip(before, after, strict=True):
        assert list(metrics_of(was["filters"])) == list(metrics_of(is_["filters"]))
        assert len(is_["filters"]) == len(list(metrics_of(is_["filters"]))) or is_ == was


def test_volumes_of_fsx_are_listed_only_where_a_file_system_has_some(bench, world):
    floor = bench["floor"].floor
    assert floor(world.fleet)["fsx:volumes"] == 1
    without = floor(replace(world.fleet, fsx=(), fsx_volumes=()))
    windows = floor(replace(world.fleet, fsx=[replace(one, kind="WINDOWS") for one in world.fleet.fsx], fsx_volumes=()))
    assert (without["fsx:systems"], "fsx:volumes" in without, "fsx:volumes" in windows) == (1, False, False)


def test_a_region_without_anything_adds_only_what_a_scan_asks_of_it(bench, world):
    floor, fleet = bench["floor"].floor, world.fleet
    here, both = floor(fleet), floor(replace(fleet, regions=(*fleet.regions, "us-east-1")))
    added = {name: count - here[name] for name, count in both.items() if count > here[name]}
    assert added == {"ec2:volumes": 1, "ec2:instances": 1, "efs": 1, "fsx:systems": 1}

    with Simulator(Fleet(now=NOW, regions=("us-east-1",))) as empty:
        session = AwsSession(meter=CallMeter(), endpoint=Endpoint(empty.url, "AKIADUMMY", "dummy"))
        AwsInventory(session).read(Target(fleet.account, "us-east-1"), {*READERS}, ())
        assert sum(empty.calls.values()) == sum(added.values())


def test_the_floor_of_seven_questions_is_a_part_of_that_of_all(bench, world):
    floor = bench["floor"]
    every, seven = floor.floor(world.fleet), floor.floor(world.fleet, floor.OF_SEVEN)
    assert seven.keys() < every.keys()
    assert {name: count for name, count in every.items() if name in seven} | {"metrics": 0} == seven | {"metrics": 0}
    assert not {"efs:lifecycles", "efs:mount-targets", "cloudwatch:disks"} & seven.keys()
    asked = floor.questions(world.fleet, floor.OF_SEVEN)
    unattached = {id_ for (id_, name, _), days in asked.days.items() if days == 90}
    assert unattached == {id_of(world, "loose")}
    assert set(asked.days.values()) == {14, 90}
    assert seven["metrics"] == asked.calls() <= every["metrics"]


def test_what_several_questions_need_counts_once_in_all_together(bench, world):
    alone = bench["floor"].each(world.fleet)
    metrics, points = alone.pop("all together")
    assert metrics == len(bench["floor"].questions(world.fleet).days) < sum(count for count, _ in alone.values())
    assert max(count for _, count in alone.values()) <= points < sum(count for _, count in alone.values())


def measured(bench, tool, resources=20_000, latency_ms=50.0, **more):
    each = dict.fromkeys(("calls", "metrics", "wall_s", "cpu_s", "peak_mib"), 100)
    return bench["compare"].Measured(tool=tool, resources=resources, latency_ms=latency_ms, **(each | more))


def results(bench, ours, theirs):
    compare = bench["compare"]
    return compare.Results(
        [measured(bench, compare.TOOLS[0], **ours), measured(bench, compare.TOOLS[1], **theirs)],
        {20_000: 90},
        {20_000: 30_000},
        "who said what",
    )


def test_both_fleets_are_beside_each_other_and_a_target_is_reached_or_not(bench):
    easy, hard = (
        results(bench, {"wall_s": 20.0, "cpu_s": cpu_s, "peak_mib": peak_mib}, {"calls": 12_000, "wall_s": 500.0})
        for cpu_s, peak_mib in ((16.0, 200), (17.0, 201))
    )
    hard.fleet = "hard"
    lines = bench["compare"].side_by_side([easy, hard]).splitlines()
    assert lines[0].startswith("| 20,000 resources, 50 ms | easy: Slackwater | Custodian | Share | hard: Slackwater")
    assert lines[2] == "| calls | 100 | 12,000 | 1/120 | 100 | 12,000 | 1/120 | 1/120 | yes, yes |"
    assert lines[3] == "| wall, s | 20.0 | 500.0 | 1/25.0 | 20.0 | 500.0 | 1/25.0 | 1/20 | yes, yes |"
    assert lines[4] == "| CPU, s | 16.0 | 100.0 | 1/6.2 | 17.0 | 100.0 | 1/5.9 | 1/6 | yes, no |"
    assert lines[5] == "| peak, MiB | 200 | 100 | 1/0.5 | 201 | 100 | 1/0.5 | 200 | yes, no |"


def test_a_fleets_tables_have_its_calls_and_answers(bench):
    text = bench["compare"].tables(results(bench, {}, {"calls": 15_000}))
    assert "| 20,000 | 90 | 100 | +10 | 15,000 | 1/150 | 30,000 | 1/300 | 100 | 100 |" in text
    assert text.endswith("who said what")


def test_the_picture_is_well_formed_and_has_a_bar_for_each(bench):
    one = results(bench, {}, {"calls": 15_000})
    root = fromstring(bench["compare"].drawn(one))
    space = "{http://www.w3.org/2000/svg}"
    bars = [rect for rect in root.iter(f"{space}rect") if float(rect.get("height")) != 12]
    assert len(bars) == 4 * 2
    assert all(float(rect.get("height")) > 0 for rect in bars)
    ours, theirs = (float(rect.get("height")) for rect in bars[:2])
    assert theirs > ours
    assert "prefers-color-scheme: dark" in root.find(f"{space}style").text
    taller = replace(one.measured[0], calls=20_000)
    root = fromstring(bench["compare"].drawn(replace(one, measured=[taller, one.measured[1]])))
    ours, theirs = (float(rect.get("height")) for rect in list(root.iter(f"{space}rect"))[2:4])
    assert ours > theirs
