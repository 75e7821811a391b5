"""The score: made-up scans against made-up labels, and one real scan of a small labelled fleet."""

import importlib.util
import sys
from pathlib import Path

import pytest

from slackwater.model.findings import BELOW_MINIMUM, KEPT, STRONGER_FINDING
from slackwater_simulator.fleets.labelled import scenarios

BENCH = Path(__file__).parents[3] / "bench"


@pytest.fixture(scope="module")
def score():
    """Yield bench/score.py as a module."""
    sys.path.insert(0, str(BENCH))
    try:
        spec = importlib.util.spec_from_file_location("score", BENCH / "score.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["score"] = module  # dataclasses look up their module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCH))
        for name in ("score", "scan", "markers"):
            sys.modules.pop(name, None)


def case(id_, scenario, *issues, control_of=None, full=True):
    return {
        "resource_id": id_,
        "type": "efs-file-system",
        "issues": list(issues),
        "control_of": control_of,
        "scenario": scenario,
        "full": full,
        "story": f"{scenario}.",
    }


def truth(*planted, resources=100):
    return {"planted": list(planted), "counts": {"r": {"types": {"efs-file-system": resources, "ebs-volume": 7}}}}


def finding(detector, *ids, **more):
    return [{"detector": detector, "resource": {"id": id_}, **more} for id_ in ids]


def document(*, findings=(), unknown=(), unlisted=(), detectors=("efs-idle",)):
    return {
        "scan": {"detectors": list(detectors)},
        "findings": list(findings),
        "unknown": list(unknown),
        "unlisted": list(unlisted),
    }


PLANTED = (
    case("found", "killed", "efs-idle"),
    case("silent", "killed", "efs-idle"),
    case("doubted", "killed", "efs-idle"),
    case("control", "weekly", control_of="efs-idle"),
    case("unsure", "weekly", control_of="efs-idle"),
    case("dark", "dark", control_of="efs-idle", full=False),
)


def counted(score, doc, *planted):
    scores = {}
    return scores, score.count(scores, 3, truth(*(planted or PLANTED)), doc)


def test_issues_are_found_or_missed_and_unknown_counts_as_missed(score):
    scores, wrong = counted(
        score,
        document(
            findings=finding("efs-idle", "found"), unknown=finding("efs-idle", "doubted", "unsure", "dark", reason="?")
        ),
    )
    one = scores["efs-idle"]
    assert (one.found, one.missed, one.false_alarms, one.negatives) == (1, 2, 0, 97)
    assert (one.precision, one.recall) == (1.0, pytest.approx(1 / 3))
    assert one.unknown == pytest.approx(2 / 5)
    assert {(one.resource_id, one.what) for one in wrong} == {
        ("silent", "missed"),
        ("doubted", "unknown"),
        ("unsure", "unknown"),
    }
    assert wrong[0].seed == 3


def test_a_false_alarm_is_counted_wherever_it_is(score):
    scores, wrong = counted(score, document(findings=finding("efs-idle", "found", "control", "ordinary")))
    assert scores["efs-idle"].false_alarms == 2
    assert scores["efs-idle"].precision == pytest.approx(1 / 3)
    assert {(one.resource_id, one.scenario) for one in wrong if one.what == "false alarm"} == {
        ("control", "weekly"),
        ("ordinary", "not planted"),
    }


def test_a_detector_must_be_silent_about_what_another_is_right_about(score):
    planted = (case("loose", "detached", "ebs-unattached"), *PLANTED)
    both = ("efs-idle", "ebs-unattached")
    scores, _ = counted(
        score,
        document(findings=[*finding("efs-idle", "loose"), *finding("ebs-unattached", "loose")], detectors=both),
        *planted,
    )
    assert scores["efs-idle"].false_alarms == 1
    assert (scores["ebs-unattached"].found, scores["ebs-unattached"].false_alarms) == (1, 0)


def test_an_issue_of_two_detectors_is_looked_for_by_both(score):
    scores, _ = counted(
        score,
        document(findings=finding("ebs-outdated-type", "loose"), detectors=("ebs-outdated-type", "ebs-unattached")),
        case("loose", "detached", "ebs-unattached", "ebs-outdated-type"),
    )
    assert (scores["ebs-outdated-type"].found, scores["ebs-unattached"].missed) == (1, 1)
    assert [*scores["ebs-outdated-type"].rows] == ["ebs-unattached: detached"]


@pytest.mark.parametrize("silent", [KEPT, STRONGER_FINDING])
def test_what_saves_too_little_to_list_was_flagged_and_what_is_unlisted_for_another_reason_was_not(score, silent):
    doc = document(
        unlisted=[*finding("efs-idle", "found", reason=BELOW_MINIMUM), *finding("efs-idle", "control", reason=silent)]
    )
    scores, _ = counted(score, doc)
    assert (scores["efs-idle"].found, scores["efs-idle"].false_alarms) == (1, 0)


def test_fleets_add_up(score):
    scores = {}
    for seed in (1, 2):
        score.count(scores, seed, truth(*PLANTED), document(findings=finding("efs-idle", "found")))
    assert (scores["efs-idle"].found, scores["efs-idle"].missed, scores["efs-idle"].negatives) == (2, 4, 194)


def _scored(score, detector, *, found, missed=0, alarms=0, unknown=0, controls=0, negatives=0):
    one = score.Score(false_alarms=alarms, negatives=negatives)
    one.rows["issue"] = score.Row(issue=True, full_data=True)
    one.rows["issue"].outcomes.update({"flagged": found, "silent": missed})
    one.rows["control"] = score.Row(issue=False, full_data=True)
    one.rows["control"].outcomes.update({"silent": controls, "unknown": unknown})
    return {detector: one}


@pytest.mark.parametrize(
    ("detector", "numbers", "missed"),
    [
        ("fsx-sync-export", {"found": 980, "alarms": 20, "missed": 50}, None),
        ("fsx-sync-export", {"found": 970, "alarms": 30}, "precision 0.970"),
        ("fsx-sync-export", {"found": 940, "missed": 60}, "recall 0.940"),
        ("fsx-sync-export", {"found": 960, "unknown": 40}, "unknown 4.0%"),
        ("efs-idle", {"found": 1000, "alarms": 1}, "1 false alarms"),
        ("efs-idle", {"found": 950, "missed": 50}, None),
    ],
)
def test_targets(score, detector, numbers, missed):
    found = score.misses(_scored(score, detector, **numbers), whole=False)
    assert [missed in one for one in found] == ([True] if missed else [])


def test_a_report_must_hold_enough(score):
    few = score.misses(_scored(score, "efs-idle", found=999, controls=199, negatives=49_999), whole=True)
    assert len(few) == 3
    assert not score.misses(_scored(score, "efs-idle", found=1000, controls=200, negatives=50_000), whole=True)


def test_a_detector_without_scenarios_misses_its_target(score):
    scores, _ = counted(score, document(detectors=("efs-idle", "efs-new")))
    assert "efs-new: it has no scenarios" in score.misses(scores, whole=False)


def test_the_page_is_written_between_its_markers(score, tmp_path):
    page = tmp_path / "score.md"
    page.write_text(f"before\n{score.BEGIN}old\n{score.END}after\n")
    score.write_between(page, score.BEGIN, score.END, "new\n")
    assert page.read_text() == f"before\n{score.BEGIN}new\n{score.END}after\n"


@pytest.mark.parametrize("text", ["", "{begin}old\n", "{end}{begin}old\n"])
def test_a_page_without_both_markers_is_not_changed(score, tmp_path, text):
    page = tmp_path / "score.md"
    page.write_text(text.format(begin=score.BEGIN, end=score.END))
    before = page.read_text()

    with pytest.raises(SystemExit, match="<!-- score -->"):
        score.write_between(page, score.BEGIN, score.END, "new\n")
    assert page.read_text() == before


def test_the_table_names_detector_scenario_and_counts(score):
    scores, _ = counted(score, document(findings=finding("efs-idle", "found")))
    text = score.tables(scores, [3])
    assert "| [`efs-idle`](detectors/efs-idle.md) | 3 | 97 | 1 | 2 | 0 | 1.000 | 0.333 | 0.0% |" in text
    assert "| `efs-idle` | killed | killed. | flagged | 1 | 2 | 0 |" in text
    assert "| `efs-idle` | dark | dark. | silent or unknown | 0 | 1 | 0 |" in text


def test_seeds_to_tune_on_are_not_those_that_are_reported(score):
    assert not {*score.seeds_of("tune")} & {*score.seeds_of("report")}
    assert list(score.seeds_of("4-6")) == [4, 5, 6]


def test_a_small_fleet_is_drawn_scanned_and_counted(score):
    scores, _ = score.measured([4], ("--issues", "1", "--controls", "0", "--ordinary-of-a-kind", "5"))
    assert {detector for detector, one in scores.items() if one.rows} >= {
        *scenarios()
    }  # files are named after detectors
    assert all(scores[detector].found + scores[detector].missed >= 1 for detector in scenarios())
