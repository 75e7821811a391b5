"""Which settings a program may change after an approval. The command and the setting must agree."""

import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.resources import EfsLifecycle
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, Setting, VolumeSetting
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, MIB
from slackwater.model.verdicts import Advice, Flagged
from support.worked_cases import flagged

CHANGEABLE = {
    "ebs-outdated-type",
    "ebs-surplus-iops",
    "ebs-surplus-throughput",
    "efs-cold-data",
    "efs-throughput-mismatch",
}
STACK = {"aws:cloudformation:stack-name": "shop"}
GP2 = ("ebs-outdated-type", "500 GiB gp2 at 60 MiB/s")
IOPS = ("ebs-surplus-iops", "12,000 IOPS on gp3, 1,500 used")
IO2 = ("ebs-surplus-iops", "12,000 IOPS on io2, 1,500 operations of 8 KiB used")
THROUGHPUT = ("ebs-surplus-throughput", "1,000 MiB/s bought, 60 used")
COLD = ("efs-cold-data", "800 GiB of which 55 were touched")


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def advised(detector_id: str, one: Case, resource: dict[str, Any] | None = None, **changes: Any) -> tuple[Advice, ...]:
    """Return the advice on a case with changes to its resource or to the case itself."""
    verdict = play(registry()[detector_id], replace(one, resource=replace(one.resource, **(resource or {})), **changes))
    assert isinstance(verdict, Flagged), verdict
    return verdict.advice


def settings(
    detector_id: str, title: str, resource: dict[str, Any] | None = None, **changes: Any
) -> list[Setting | None]:
    return [advice.setting for advice in advised(detector_id, case(detector_id, title), resource, **changes)]


def setting_of(command: str) -> Setting:
    """Return the setting that an AWS CLI command makes."""
    words = shlex.split(command)
    assert words[0] == "aws"
    given = dict(zip(words[3::2], words[4::2], strict=False)) if "--lifecycle-policies" not in words else {}
    match words[1:3]:
        case ["ec2", "modify-volume"]:
            iops, mib_s = given.get("--iops"), given.get("--throughput")
            return VolumeSetting(
                volume_type=given["--volume-type"], iops=iops and int(iops), throughput_mib_s=mib_s and int(mib_s)
            )
        case ["efs", "update-file-system"]:
            amount = given.get("--provisioned-throughput-in-mibps")
            return EfsThroughputSetting(mode=given["--throughput-mode"], provisioned_mib_s=amount and float(amount))
        case ["efs", "put-lifecycle-configuration"]:
            moves = dict(one.split("=") for one in words[words.index("--lifecycle-policies") + 1 :])
            return EfsLifecycleSetting(
                transition_to_ia=moves.get("TransitionToIA"),
                transition_to_archive=moves.get("TransitionToArchive"),
                transition_to_primary=moves.get("TransitionToPrimaryStorageClass"),
            )
    raise AssertionError(command)


def test_of_all_worked_cases_a_setting_is_what_the_command_sets_and_all_of_it() -> None:
    seen = set()
    for id_, one, verdict in flagged():
        for advice in verdict.advice:
            if advice.setting is None:
                continue
            seen.add((id_, type(advice.setting)))
            where = (id_, one.title, advice.action)
            assert advice.command is not None, where
            assert setting_of(advice.command) == advice.setting, where
            assert one.resource.id in advice.command, where
            assert advice.reversible, where
            assert not advice.deletes, where
            if isinstance(advice.setting, VolumeSetting):
                assert advice.setting.iops is not None, where
                assert (advice.setting.throughput_mib_s is not None) == (advice.setting.volume_type == "gp3"), where

    assert {id_ for id_, _ in seen} == CHANGEABLE
    assert {kind for _, kind in seen} == {VolumeSetting, EfsThroughputSetting, EfsLifecycleSetting}


def test_no_finding_is_both_deleted_and_changed() -> None:
    for id_, one, verdict in flagged():
        kinds = {(advice.deletes, advice.setting is not None) for advice in verdict.advice}
        assert not {(True, False), (False, True)} <= kinds, (id_, one.title)


def test_of_all_worked_cases_none_is_changed_that_a_program_manages_or_may_be_protected() -> None:
    asked = 0
    for id_, one, verdict in flagged():
        if id_ not in CHANGEABLE or all(advice.setting is None for advice in verdict.advice):
            continue
        asked += 1
        tags = dict(one.resource.tags or {})
        for changed in (None, tags | STACK):
            assert not any(advice.setting for advice in advised(id_, one, {"tags": changed})), (id_, one.title)
    assert asked > 20


@pytest.mark.parametrize(
    ("one", "first"),
    [
        (GP2, VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)),
        (IOPS, VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)),
        (IO2, VolumeSetting(volume_type="io2", iops=1_857, throughput_mib_s=None)),
        (THROUGHPUT, VolumeSetting(volume_type="gp3", iops=4_000, throughput_mib_s=125)),
        (COLD, EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS", transition_to_primary="AFTER_1_ACCESS")),
    ],
)
def test_what_it_would_be_changed_to(one: tuple[str, str], first: Setting) -> None:
    assert settings(*one)[0] == first


def test_a_volume_keeps_what_is_not_to_be_changed() -> None:
    (changed,) = settings(*IOPS, {"throughput_mib_s": 600})
    assert changed == VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=600)
    (changed,) = settings(*THROUGHPUT, {"iops": 9_000})
    assert changed == VolumeSetting(volume_type="gp3", iops=9_000, throughput_mib_s=125)


def test_what_ebs_does_not_change_in_place_no_program_changes() -> None:
    shared = {"multi_attach": True, "volume_type": "io1"}
    assert settings(*IO2, shared) == [None]
    assert settings("ebs-outdated-type", "io1 on several instances, with 40,000 IOPS") == [None]


def test_a_magnetic_volume_is_left_to_people() -> None:
    assert settings("ebs-outdated-type", "magnetic, and at its limit every night") == [None]


def test_other_transitions_that_are_set_are_kept() -> None:
    lifecycle = next(one for one in case(*COLD).records if isinstance(one, EfsLifecycle))
    kept = replace(lifecycle, transition_to_primary="AFTER_1_ACCESS_OF_A_LATER_API")

    assert settings(*COLD, records=(kept,)) == [
        EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS", transition_to_primary="AFTER_1_ACCESS_OF_A_LATER_API")
    ]


# -- EFS throughput

BURSTS = EfsThroughputSetting(mode="bursting")


def mismatches() -> dict[str, list[tuple[str, Setting | None]]]:
    return {
        one.title: [(advice.action, advice.setting) for advice in verdict.advice]
        for id_, one, verdict in flagged()
        if id_ == "efs-throughput-mismatch"
    }


def test_a_mode_is_changed_and_an_amount_that_single_minutes_may_exceed_is_not() -> None:
    ways = [way for names in mismatches().values() for way in names]

    assert {setting for action, setting in ways if action == "change-to-elastic"} >= {
        EfsThroughputSetting(mode="elastic")
    }
    assert {setting for action, setting in ways if action == "change-to-bursting"} >= {BURSTS}
    assert {setting for action, setting in ways if "provisioned" in action} == {None}


def test_what_is_held_at_its_limit_is_left_to_people() -> None:
    held = [
        advice
        for id_, _, verdict in flagged()
        if id_ == "efs-throughput-mismatch" and verdict.kind == "performance"
        for advice in verdict.advice
    ]

    assert held
    assert not any(advice.setting for advice in held)


CALM = ("efs-throughput-mismatch", "256 MiB/s provisioned, and 8 used")


def bursting(**metrics: Any) -> Setting | None:
    """Return the setting with which a calm file system changes to bursting. `metrics` change its metrics, by name."""
    one = case(*CALM)
    changed = {
        key: metrics[key[0].name](values) if key[0].name in metrics and key[1] in {FIVE_MINUTES_S, DAY_S} else values
        for key, values in one.metrics.items()
    }
    return next(
        advice.setting for advice in advised(CALM[0], one, metrics=changed) if advice.action == "change-to-bursting"
    )


def left_of(of: float | None) -> Any:
    return lambda values: [None if of is None else value * of for value in values]


def fast(mib_s: float) -> Any:
    """Return a function that sets one five-minute point to this rate. It does not change daily values."""
    return lambda values: (
        [*values[:-30], mib_s * MIB * FIVE_MINUTES_S, *values[-29:]] if len(values) > 1_000 else values
    )


def test_bursting_begins_with_credits_that_are_known_and_suffice() -> None:
    assert bursting() == BURSTS
    assert bursting(BurstCreditBalance=left_of(0.01)) is None
    assert bursting(BurstCreditBalance=left_of(None)) is None


def test_bursting_carries_what_single_minutes_may_have_moved() -> None:
    assert bursting(MeteredIOBytes=fast(18)) == BURSTS
    assert bursting(MeteredIOBytes=fast(60)) is None


def test_the_credits_of_a_former_elastic_file_system_are_unknown() -> None:
    elastic = [
        advice.setting
        for id_, one, verdict in flagged()
        if id_ == "efs-throughput-mismatch" and getattr(one.resource, "throughput_mode", "") == "elastic"
        for advice in verdict.advice
    ]

    assert elastic
    assert set(elastic) == {None}


def test_of_all_worked_cases_the_new_value_is_one_that_the_command_sets() -> None:
    seen = set()
    for id_, one, verdict in flagged():
        for advice in verdict.advice:
            if advice.new_value is None:
                continue
            where = (id_, one.title, advice.action, advice.new_value)
            number, unit = advice.new_value.split()
            seen.add((advice.action, unit))
            if advice.command is not None and "AUTOMATIC" not in advice.command:  # FSx then sets the included IOPS
                assert number.replace(",", "") in re.split(r"[\s='}\"]+", advice.command), where
    assert seen >= {
        ("lower-iops", "IOPS"),
        ("lower-throughput", "MiB/s"),
        ("lower-throughput-capacity", "MB/s"),
        ("change-to-provisioned", "MiB/s"),
        ("raise-provisioned-in-steps", "MiB/s"),
    }
    assert not {action for action, _ in seen} & {"move-to-gp3", "stop", "snapshot-and-delete"}
