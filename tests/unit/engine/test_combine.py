"""Two changes of one ONTAP file system: AWS refuses the second for six hours, so one command makes both."""

import json
import shlex
from dataclasses import replace
from typing import Any

from slackwater.engine.cases import play
from slackwater.engine.combine import combined
from slackwater.engine.evaluation import Enabled, FlaggedResource
from slackwater.engine.registry import registry
from slackwater.model.resources import FsxFileSystem
from slackwater.model.verdicts import Flagged

IOPS, THROUGHPUT = "fsx-surplus-iops", "fsx-surplus-throughput"
TITLES = {IOPS: "20,000 IOPS, a tenth used", THROUGHPUT: "640 MB/s, 9 % busy at most"}
ONTAP = {"file_system_type": "ONTAP", "deployment_type": "SINGLE_AZ_1", "throughput_mb_s": 2_048}


def found(detector: str, **fields: Any) -> FlaggedResource:
    case = next(one for one in registry()[detector].cases if one.title == TITLES[detector])
    resource = replace(case.resource, **{**ONTAP, **fields})
    verdict = play(registry()[detector], replace(case, resource=resource))
    assert isinstance(verdict, Flagged)
    assert isinstance(resource, FsxFileSystem)
    return FlaggedResource(Enabled(detector, registry()[detector], registry()[detector].limits()), resource, verdict)


def commands(findings: list[FlaggedResource]) -> list[str]:
    return [advice.command or "" for one in findings for advice in one.verdict.advice]


def test_both_findings_show_the_one_command_that_makes_both_changes() -> None:
    iops, throughput = found(IOPS), found(THROUGHPUT)
    both = combined([iops, throughput])

    command, same = commands(both)
    *call, option, settings = shlex.split(command)
    assert command == same
    assert call == shlex.split(
        "aws fsx update-file-system --region ap-northeast-1 --file-system-id fs-0123456789abcdef0"
    )
    assert option == "--ontap-configuration"
    assert json.loads(settings) == {
        "DiskIopsConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 4_001},
        "ThroughputCapacity": 512,
    }
    assert [one.verdict.caveats[-1] for one in both] == [
        "The command also makes the change of fsx-surplus-throughput. Run it once.",
        "The command also makes the change of fsx-surplus-iops. Run it once.",
    ]


def test_nothing_else_about_either_changes() -> None:
    before = [found(IOPS), found(THROUGHPUT)]

    for was, now in zip(before, combined(before), strict=True):
        advice = (replace(now.verdict.advice[0], command=was.verdict.advice[0].command),)
        assert replace(now.verdict, advice=advice, caveats=now.verdict.caveats[:-1]) == was.verdict


def test_a_finding_alone_or_two_on_different_file_systems_stay_as_they_are() -> None:
    apart = [found(IOPS), found(THROUGHPUT, id="fs-0123456789abcdef1")]

    assert combined(apart) == apart
    assert combined(apart[:1]) == apart[:1]


def test_changes_of_openzfs_in_one_zone_do_not_collide() -> None:
    openzfs = {"file_system_type": "OPENZFS", "deployment_type": "SINGLE_AZ_1"}
    both = [found(IOPS, **openzfs), found(THROUGHPUT, **openzfs)]

    assert combined(both) == both
