"""Each issue has only one finding."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slackwater.engine.deduplicate import deduplicate
from slackwater.engine.evaluation import Enabled, FlaggedResource
from slackwater.engine.registry import registry
from slackwater.model.resources import Target, Volume
from slackwater.model.verdicts import Flagged

ANY = registry()["ebs-unattached"]
VERDICT = Flagged(summary="so", confidence="high", evidence=(), advice=(), fingerprint_inputs=("g",), caveats=("own",))

type Flag = Callable[..., FlaggedResource]


def flag(
    detector: str, resource: str = "vol-1", *, outranks: tuple[str, ...] = (), covers: tuple[str, ...] = ()
) -> FlaggedResource:
    volume = Volume(
        id=resource, arn="", target=Target("1", "r"), tags={}, volume_type="gp3", size_gib=1, iops=None,
        throughput_mib_s=None, state="in-use", created_at=datetime(2026, 1, 1, tzinfo=UTC), availability_zone="ra",
        multi_attach=False,
    )  # fmt: skip
    enabled = Enabled(detector, replace(ANY, outranks=outranks), ANY.limits())
    return FlaggedResource(enabled, volume, replace(VERDICT, covers=covers))


def ids(flagged: list[FlaggedResource]) -> list[str]:
    return [f"{one.enabled.id}/{one.resource.id}" for one in flagged]


def test_the_stronger_speaks_and_names_the_weaker() -> None:
    reported, suppressed = deduplicate([flag("idle"), flag("unattached", outranks=("idle",))])

    assert (ids(reported), ids(suppressed)) == (["unattached/vol-1"], ["idle/vol-1"])
    assert reported[0].verdict.caveats == (
        "own",
        "The same issue was also found by idle. Only this finding is reported.",
    )


def test_nothing_else_about_the_stronger_changes() -> None:
    strong = flag("unattached", outranks=("idle",))
    (listed,), _ = deduplicate([strong, flag("idle")])

    assert replace(listed, verdict=replace(listed.verdict, caveats=("own",))) == strong


def test_on_another_resource_the_weaker_speaks() -> None:
    reported, suppressed = deduplicate([flag("unattached", outranks=("idle",)), flag("idle", "vol-2")])

    assert (ids(reported), suppressed) == (["unattached/vol-1", "idle/vol-2"], [])
    assert reported[0].verdict.caveats == ("own",)


def test_the_weaker_is_silent_on_what_the_stronger_covers_and_is_named_with_it() -> None:
    strong = flag("export", "fsvol-1", outranks=("surplus", "iops"), covers=("fs-1",))
    reported, suppressed = deduplicate([flag("surplus", "fs-1"), strong, flag("iops", "fs-2"), flag("iops", "fs-1")])

    assert (ids(reported), ids(suppressed)) == (["export/fsvol-1", "iops/fs-2"], ["surplus/fs-1", "iops/fs-1"])
    assert "also found by surplus of fs-1, iops of fs-1" in reported[0].verdict.caveats[-1]


def test_a_finding_that_is_not_suppressed_is_listed_too() -> None:
    assert deduplicate([flag("unattached", outranks=("idle",)), flag("snapshotless")])[1] == []


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_of_three_in_a_row_only_the_first_is_reported_and_names_both(order: tuple[int, ...]) -> None:
    chain = [flag("unattached", outranks=("idle",)), flag("idle", outranks=("surplus",)), flag("surplus")]
    reported, suppressed = deduplicate([chain[place] for place in order])

    assert ids(reported) == ["unattached/vol-1"]
    assert {*ids(suppressed)} == {"idle/vol-1", "surplus/vol-1"}
    assert {"idle", "surplus"} <= {*reported[0].verdict.caveats[-1].replace(",", " ").replace(".", " ").split()}


def test_no_finding_is_lost_or_listed_twice() -> None:
    flagged = [flag("a", outranks=("b", "c")), flag("b", outranks=("c",)), flag("c"), flag("c", "vol-2"), flag("d")]
    reported, suppressed = deduplicate(flagged)

    assert sorted(ids(reported) + ids(suppressed)) == sorted(ids(flagged))
    assert ids(reported) == ["a/vol-1", "c/vol-2", "d/vol-1"]


def test_detectors_suppress_other_detectors_without_a_cycle() -> None:
    everything = registry()

    def below(id_: str, seen: tuple[str, ...] = ()) -> set[str]:
        assert id_ not in seen
        return {id_}.union(*(below(weaker, (*seen, id_)) for weaker in everything[id_].outranks))

    for id_ in everything:
        assert below(id_) <= set(everything)
