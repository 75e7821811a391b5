"""Builders of scans for tests."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from slackwater.model.findings import (
    BELOW_MINIMUM,
    KEPT,
    Finding,
    Gap,
    PriceBasis,
    Recommendation,
    Scan,
    TargetScan,
    UnknownVerdict,
    Unlisted,
    Usage,
)
from slackwater.model.metrics import Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, Price
from slackwater.model.resources import Target, Volume
from slackwater.model.verdicts import Advice, Evidence, Line

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
AS_OF = datetime(2026, 11, 15, 23, tzinfo=UTC)
HERE = Target("123456789012", "ap-northeast-1")


def volume(id: str = "vol-1", tags: dict[str, str] | None = None) -> Volume:
    return Volume(
        id=id, arn=f"arn:aws:ec2:ap-northeast-1:123456789012:volume/{id}", target=HERE, tags=tags, volume_type="gp3",
        size_gib=100, iops=3000, throughput_mib_s=125, state="available", created_at=NOW,
        availability_zone="ap-northeast-1a", multi_attach=False,
    )  # fmt: skip


def recommendation(usd: str | None, command: str | None = "aws ec2 delete-volume", **changes: object) -> Recommendation:
    advice = {
        "action": "delete", "summary": "Delete it.", "changes": None, "risk": "It is gone.", "reversible": False,
        "command": command,
    }  # fmt: skip
    return Recommendation(advice=Advice(**advice | changes), monthly_savings_usd=None if usd is None else Decimal(usd))


def finding(*usd: str | None, resource: Volume | None = None, **changes: object) -> Finding:
    values = {
        "id": "f1", "detector": "ebs-unattached", "kind": "waste", "severity": "high", "confidence": "high",
        "resource": resource or volume(tags={"Name": "scratch"}), "owner": "data", "summary": "100 GiB on no instance",
        "evidence": (
            Evidence(label="Size", value=100, unit="GiB"),
            Evidence(
                label="Read by day",
                value=0.5,
                unit="MiB/s",
                series=Series.of(int(NOW.timestamp()), 86_400, [1.0, None, 0.0]),
                lines=(Line("Baseline", 0.25),),
                forecast=Series.of(int(NOW.timestamp()) + 3 * 86_400, 86_400, [0.5, None]),
            ),
        ),
        "recommendations": tuple(recommendation(each) for each in usd or ("12.30",)),
        "price_basis": (PriceBasis(EBS_GP3_THROUGHPUT, Price(Decimal("0.0480"), "AWS Price List", date(2026, 11, 1))),),
        "caveats": ("It may be wanted.",), "fingerprint": "abc",
    }  # fmt: skip
    return Finding(**values | changes)


def scan(*findings: Finding, kept: int = 0, below_minimum: int = 0, **changes: object) -> Scan:
    reasons = [KEPT] * kept + [BELOW_MINIMUM] * below_minimum
    unlisted = tuple(
        Unlisted("ebs-unattached", volume(f"vol-{number}"), reason) for number, reason in enumerate(reasons)
    )
    of_target = {
        "target": HERE, "findings": findings, "unknown": (), "gaps": (), "resources": {"ebs-volume": 3},
        "unlisted": unlisted,
    }  # fmt: skip
    usage = Usage(
        api_calls={"ec2:DescribeVolumes": 3}, metrics_requested=7, datapoints=70, estimated_usd=Decimal("0.00007")
    )
    part = TargetScan(**of_target | changes)
    return Scan(id="s1", as_of=AS_OF, started_at=NOW, finished_at=NOW, targets=(part,), gaps=(), usage=usage)


def gap(*, optional: bool = False) -> Gap:
    return Gap(HERE.account, HERE.region, "fsx:DescribeVolumes", "AccessDenied: not yours", optional)


def unknown(id: str = "vol-9", reason: str = "0 of 14 days") -> UnknownVerdict:
    return UnknownVerdict("ebs-unattached", volume(id), reason)


class Make:
    """The functions above, as a fixture's value."""

    now = NOW
    volume = staticmethod(volume)
    recommendation = staticmethod(recommendation)
    finding = staticmethod(finding)
    scan = staticmethod(scan)
    gap = staticmethod(gap)
    unknown = staticmethod(unknown)


@pytest.fixture(scope="session")
def make() -> Callable[[], type[Make]]:
    return Make
