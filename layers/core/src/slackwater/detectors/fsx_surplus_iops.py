"""FSx file systems with far more SSD IOPS than their disks use.

## What it finds
An OpenZFS or ONTAP file system on SSD with more IOPS than the 3 per GiB that are included, whose disks used less than
40 % of them in the busiest minute of the last 35 days. The *peak* counts: an average would miss a nightly batch job.

## Why it matters
AWS bills provisioned IOPS above the included ones every month, used or not. They change nothing if something else makes
clients wait: 342 writes a second at 192 IOPS, 327 at 960 ("Sharing WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
- A quarterly load needs more than 35 days. Set a longer `window_days`.
- Storage that grows brings 3 IOPS per GiB only in automatic mode.

## What to do
Lower the IOPS to what keeps the disks less than half busy, or return to automatic mode if the included IOPS are enough.
Both work online, and you can raise the IOPS again the same way.
"""

import json
from dataclasses import replace
from math import floor

from slackwater.model.detector import Detector, Seen, limit, unless_decided
from slackwater.model.resources import FsxFileSystem
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx as formulas
from slackwater.rules import examples, fsx
from slackwater.rules.examples import HERE, Cases, days, days_ago
from slackwater.rules.fsx import DISK_IOPS

INTERVAL = "FSx needs at least 6 hours between two changes of IOPS or storage."


class SurplusIopsLimits(fsx.UtilizationLimits):
    """How few of the IOPS must have been used."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="below it, there is something to save")


def judge(file_system: FsxFileSystem, seen: Seen, limits: SurplusIopsLimits) -> Verdict:
    """Flag a file system whose busiest minute stayed far below its provisioned IOPS."""
    iops, included = file_system.iops, formulas.INCLUDED_IOPS_PER_GIB * file_system.storage_gib
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if file_system.file_system_type not in fsx.OPTIONS or file_system.storage_type != "SSD":
        return Fine(f"IOPS of {file_system.file_system_type} on {file_system.storage_type} are not judged")
    if file_system.iops_mode != "USER_PROVISIONED":
        return Fine("its IOPS follow from its size")
    if iops is None:
        return Unknown("FSx did not return its IOPS")
    if iops <= included:
        return Fine(f"its {iops:,} IOPS are included")
    server = formulas.file_server(file_system)
    required = server.least_iops if server else 0
    if iops <= required:
        return Fine(f"its throughput capacity requires {required:,} IOPS")

    recorded = unless_decided(fsx.utilization(file_system, seen, limits, DISK_IOPS))
    (disks,) = recorded.series
    percent = max(disks.present)
    if percent >= limits.peak_percent:
        return Fine(f"its disks used {percent:.0f} % of them")
    used = percent / 100 * iops
    least = floor(used / limits.busy_percent * 100) + 1  # with one less, the disks would be too busy
    needed = max(included, required, least)
    mode = {"Mode": "AUTOMATIC"} if needed == included else {"Mode": "USER_PROVISIONED", "Iops": needed}
    setting = {"DiskIopsConfiguration": mode}
    label = "Busiest minute of the disks, per day"
    enough = f"the included {included:,} are enough" if needed == included else f"{needed:,} are enough"
    return Flagged(
        summary=f"{iops:,} IOPS provisioned, {used:,.0f} used in the busiest minute of {recorded.days} days: {enough}",
        confidence="high" if recorded.whole else "medium",
        evidence=(
            Evidence("Provisioned SSD IOPS", iops, "IOPS"),
            Evidence("Included IOPS", included, "IOPS"),
            fsx.utilization_chart(label, disks, f"{iops:,} IOPS", f"{needed:,} IOPS", needed / iops * 100),
        ),
        advice=(
            Advice(
                action="lower-iops",
                summary=f"Set {needed:,} IOPS. The disks are then at most {used / needed * 100:.0f} % busy.",
                changes=fsx.saved(file_system, replace(file_system, iops=needed)),
                risk="A load that comes less often than the window waits for the disks until you raise the IOPS again.",
                reversible=True,
                new_value=f"{needed:,} IOPS",
                command=fsx.update(file_system, f"'{json.dumps(setting)}'"),
                joint=fsx.joint(file_system, setting),
            ),
        ),
        fingerprint_inputs=(iops, needed),
        caveats=(fsx.ONTAP_INTERVAL if file_system.file_system_type == "ONTAP" else INTERVAL,),
    )


case = Cases(examples.fsx(iops=20_000, iops_mode="USER_PROVISIONED"), {DISK_IOPS: 10.0})
unrecorded = Cases(case.resource)
LARGE = {"storage_gib": 5_120, "throughput_mb_s": 4_096, "iops": 160_000, "iops_mode": "USER_PROVISIONED"}
there = replace(HERE, region="us-east-1")
ontap = Cases(examples.fsx(file_system_type="ONTAP", target=there, **LARGE), case.metrics)

DETECTOR = Detector(
    title="FSx SSD IOPS nobody uses",
    kind="waste",
    resource=FsxFileSystem,
    limits=SurplusIopsLimits,
    judge=judge,
    cases=(
        case("20,000 IOPS, a tenth used", Flagged, "2,000 used in the busiest minute of 35 days: 4,001 are enough"),
        case("the included IOPS are enough", Flagged, "the included 3,000 are enough", metrics={DISK_IOPS: 1.0}),
        case("a monthly job at full speed", Fine, "used 88 %", metrics={DISK_IOPS: days(3.0, {27: 88.0})}),
        unrecorded("IOPS by size", Fine, "its size", iops=3_000, iops_mode="AUTOMATIC"),
        unrecorded("only the included IOPS", Fine, "are included", iops=3_000),
        case("two weeks old", Fine, "younger than 15 days", created_at=days_ago(13)),
        unrecorded("no metric", Unknown, "no data on 14 of 14 days"),
        unrecorded("IOPS unknown", Unknown, "did not return", iops=None),
        case("recorded for three weeks", Flagged, "minute of 21 days", metrics={DISK_IOPS: [10.0] * 22}),
        ontap("ONTAP whose file server requires its IOPS", Fine, "requires 160,000"),
        unrecorded("Windows", Fine, "not judged", file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2"),
        unrecorded("being updated", Fine, "updating", state="UPDATING"),
    ),
)
