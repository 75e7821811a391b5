"""SSD IOPS bought for an FSx file system whose disks never needed them.

## What it finds
An OpenZFS or ONTAP file system on SSD with more IOPS than the 3 for each GiB that are included, whose disks used less than
40 % of them in the busiest minute of the last 35 days. The *peak* counts: an average would miss a nightly batch.

## Why it matters
IOPS above the included are billed by the month, used or not. They are bought when a file system is slow, and change nothing
where something else makes clients wait: 342 writes a second at 192 IOPS, 327 at 960 ("Sharing WordPress content on FSx for
OpenZFS", 2025-03).

## When it is wrong
A quarterly load needs more than 35 days: lengthen `window_days`. Two weeks without a gap are enough to judge, with less
confidence. Storage that grows brings 3 IOPS for each GiB only in automatic mode; with IOPS of your own they stay as they are.

## What to do
Lower them to what keeps the disks less than half busy, or go back to automatic mode where what is included does: online, and
reversible the same way. ONTAP's largest file server demands 160,000 IOPS beside it: there nothing is said.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from math import floor

from slackwater.model.detector import CASE_NOW, Case, Detector, Seen, limit
from slackwater.model.metrics import Metric
from slackwater.model.money import difference
from slackwater.model.resources import FsxFileSystem, Target
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import fsx
from slackwater.rules.fsx import OPTIONS, UtilizationLimits, Watched, peak, update, watched

DISKS = Metric("AWS/FSx", "DiskIopsUtilization", "Maximum", "percent")


class SurplusIopsLimits(UtilizationLimits):
    """How little of the IOPS must have been used."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="less than that leaves something to give back")


def judge(file_system: FsxFileSystem, seen: Seen, limits: SurplusIopsLimits) -> Verdict:
    """Flag a file system whose busiest minute stayed far below the IOPS it pays for."""
    included = fsx.INCLUDED_IOPS_PER_GIB * file_system.storage_gib
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if file_system.file_system_type not in OPTIONS or file_system.storage_type != "SSD":
        return Fine(f"IOPS of {file_system.file_system_type} on {file_system.storage_type} are not judged")
    if file_system.iops_mode != "USER_PROVISIONED":
        return Fine("its IOPS follow from its size")
    if file_system.iops is None:
        return Unknown("FSx did not say its IOPS")
    if file_system.iops <= included:
        return Fine(f"its {file_system.iops:,} IOPS are included")
    server = fsx.file_server(file_system)
    demanded = server.least_iops if server else 0
    if file_system.iops <= demanded:
        return Fine(f"its throughput capacity demands {demanded:,} IOPS")

    seen_disks = watched(file_system, [DISKS], seen, limits)
    if not isinstance(seen_disks, Watched):
        return seen_disks
    (disks,) = seen_disks.series
    if peak(disks) >= limits.peak_percent:
        return Fine(f"its disks used {peak(disks):.0f} % of them")
    used = peak(disks) / 100 * file_system.iops
    needed = max(included, demanded, floor(used / limits.busy_percent * 100) + 1)  # at exactly so many it is not below
    before, after = fsx.monthly_units(file_system), fsx.monthly_units(replace(file_system, iops=needed))
    caveats = ["Two changes of IOPS or storage lie 6 hours apart at least."]
    if owner := file_system.managed_by:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=(
            f"{file_system.iops:,} IOPS provisioned, and its disks' busiest minute of {seen_disks.days} days took"
            f" {used:,.0f}: {_words(needed, included)}"
        ),
        confidence="high" if seen_disks.whole else "medium",
        evidence=(
            Evidence(label="SSD IOPS provisioned", value=file_system.iops, unit="IOPS"),
            Evidence(label="Included in its size", value=included, unit="IOPS"),
            Evidence(
                label="Disks, busiest minute by day",
                value=round(peak(disks), 1),
                unit="percent",
                series=disks,
                scale=100,
                lines=(
                    Line(f"Provisioned ({file_system.iops:,} IOPS)", 100),
                    Line(f"Proposed ({needed:,} IOPS)", round(needed / file_system.iops * 100, 2)),
                ),
            ),
        ),
        advice=(
            Advice(
                action="lower-iops",
                summary=f"Set {needed:,} IOPS: its disks are then {used / needed * 100:.0f} % busy at most. Throughput stays.",
                changes=None if before is None or after is None else difference(before, after),
                risk="A load that comes less often than the window would wait for the disks until they are raised again.",
                reversible=True,
                command=update(file_system, _setting(needed, included)),
            ),
        ),
        gist=(file_system.iops, needed),
        caveats=tuple(caveats),
    )


def _words(needed: int, included: int) -> str:
    return f"the {included:,} that are included would do" if needed == included else f"{needed:,} would do"


def _setting(needed: int, included: int) -> str:
    iops = {"Mode": "AUTOMATIC"} if needed == included else {"Mode": "USER_PROVISIONED", "Iops": needed}
    return f"'{json.dumps({'DiskIopsConfiguration': iops})}'"


_SHARE = FsxFileSystem(
    id="fs-0123456789abcdef0",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:file-system/fs-0123456789abcdef0",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "renders"},
    file_system_type="OPENZFS",
    deployment_type="MULTI_AZ_1",
    state="AVAILABLE",
    created_at=CASE_NOW - timedelta(days=250),
    storage_type="SSD",
    storage_gib=1_000,
    throughput_mb_s=160,
    iops=20_000,
    iops_mode="USER_PROVISIONED",
)
_QUIET = {(DISKS, DAY_S): [10.0] * 36}

DETECTOR = Detector(
    title="FSx SSD IOPS nobody uses",
    kind="waste",
    resource=FsxFileSystem,
    limits=SurplusIopsLimits,
    judge=judge,
    cases=(
        Case(
            title="20,000 IOPS, a tenth used",
            resource=_SHARE,
            metrics=_QUIET,
            expect=Flagged,
            says="busiest minute of 35 days took 2,000: 4,001 would do",
        ),
        Case(
            title="what is included would do",
            resource=_SHARE,
            metrics={(DISKS, DAY_S): [1.0] * 36},
            expect=Flagged,
            says="the 3,000 that are included would do",
        ),
        Case(
            title="a monthly job at full speed",
            resource=_SHARE,
            metrics={(DISKS, DAY_S): [3.0] * 8 + [88.0] + [3.0] * 27},
            expect=Fine,
            says="used 88 %",
        ),
        Case(title="IOPS by size", resource=replace(_SHARE, iops=3_000, iops_mode="AUTOMATIC"), expect=Fine, says="its size"),
        Case(title="as many as are included", resource=replace(_SHARE, iops=3_000), expect=Fine, says="are included"),
        Case(
            title="two weeks old",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=13)),
            metrics=_QUIET,
            expect=Fine,
            says="younger than 15 days",
        ),
        Case(title="no metric", resource=_SHARE, expect=Unknown, says="no point on 14 of 14 days"),
        Case(title="IOPS unknown", resource=replace(_SHARE, iops=None), expect=Unknown, says="did not say"),
        Case(
            title="watched for three weeks",
            resource=_SHARE,
            metrics={(DISKS, DAY_S): [10.0] * 22},
            expect=Flagged,
            says="busiest minute of 21 days",
        ),
        Case(
            title="ONTAP whose file server takes no fewer",
            resource=replace(
                _SHARE,
                target=replace(_SHARE.target, region="us-east-1"),
                file_system_type="ONTAP",
                storage_gib=5_120,
                throughput_mb_s=4_096,
                iops=160_000,
            ),
            metrics=_QUIET,
            expect=Fine,
            says="demands 160,000",
        ),
        Case(
            title="Windows",
            resource=replace(_SHARE, file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2"),
            expect=Fine,
            says="not judged",
        ),
        Case(title="being updated", resource=replace(_SHARE, state="UPDATING"), expect=Fine, says="updating"),
    ),
)
