"""Read Compute Optimizer in enrolled accounts. A missing enrollment is not reported, a denied call is."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.aws.inventory import optimizer as inventory_optimizer
from slackwater.engine.registry import registry
from slackwater.model import resources as kinds
from slackwater.model.fleet import Fleet as Read
from slackwater.model.fleet import UnreadableRecord
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.wiring.scan import audit
from slackwater_simulator import Fleet, IdleRecommendation, Volume, VolumeOption, VolumeRecommendation, instant

NOW = instant("2026-11-16T09:07:00Z")
DAY = 86_400
REGION = "ap-northeast-1"
ENROLLMENT, SIZED, IDLE = (
    f"compute-optimizer:{name}"
    for name in ("GetEnrollmentStatus", "GetEBSVolumeRecommendations", "GetIdleRecommendations")
)
RECOMMENDED: set[Any] = {kinds.VolumeRecommendation, kinds.IdleRecommendation}

GP3 = VolumeOption(type="gp3", size_gib=100, iops=3_000, throughput=125, risk=1.0, saves=3.196)
LONE_VOLUME = Volume(id="vol-loose", az=f"{REGION}a", created=NOW - 90 * DAY, size_gib=100)
SDK_RECOMMENDATION = VolumeRecommendation(
    volume_id="vol-1", region=REGION, finding="NotOptimized", refreshed=NOW - DAY, options=(GP3,)
)
UNATTACHED = IdleRecommendation(
    resource_id="vol-loose", region=REGION, finding="Unattached", refreshed=NOW - DAY, look_back_days=32, saves=9.6
)
ENROLLED = Fleet(
    now=NOW,
    volumes=[LONE_VOLUME],
    enrollment="Active",
    volume_recommendations=[SDK_RECOMMENDATION],
    idle_recommendations=[UNATTACHED],
)


def asked(account: Any) -> dict[str, int]:
    return {action: calls for action, calls in account.sim.calls.items() if action.startswith("compute-optimizer:")}


def test_a_volumes_recommendation_is_read_with_its_first_option(simulate: Callable[..., Any]) -> None:
    second = replace(GP3, type="io2", saves=-40.0)
    account = simulate(replace(ENROLLED, volume_recommendations=[replace(SDK_RECOMMENDATION, options=(GP3, second))]))
    found, gaps = account.read(set(), RECOMMENDED)

    assert gaps == []
    assert found.all(kinds.VolumeRecommendation) == [
        kinds.VolumeRecommendation(
            id="vol-1",
            finding="NotOptimized",
            monthly_savings_usd=Decimal("3.20"),
            look_back_days=14,
            refreshed_at=datetime(2026, 11, 15, 9, 7, tzinfo=UTC),
            option=kinds.VolumeOption(
                volume_type="gp3", size_gib=100, iops=3_000, throughput_mib_s=125, performance_risk=1
            ),
        )
    ]
    assert asked(account) == {ENROLLMENT: 1, SIZED: 1, IDLE: 1}


def test_what_idles_is_read_of_volumes_and_instances_only(simulate: Callable[..., Any]) -> None:
    others = [
        IdleRecommendation(resource_id="i-1", region=REGION, type="EC2Instance", refreshed=NOW),
        IdleRecommendation(resource_id="nat-1", region=REGION, type="NatGateway", finding="Unused", refreshed=NOW),
        IdleRecommendation(resource_id="vol-far", region="us-east-1", refreshed=NOW),
    ]
    found, _ = simulate(replace(ENROLLED, idle_recommendations=[UNATTACHED, *others])).read(set(), RECOMMENDED)

    recommendations = found.all(kinds.IdleRecommendation)
    assert [(one.id, one.finding, one.look_back_days, one.monthly_savings_usd) for one in recommendations] == [
        ("vol-loose", "Unattached", 32, Decimal("9.60")),
        ("i-1", "Idle", 14, None),
    ]


@pytest.mark.parametrize("status", ["Inactive", "Pending", "Failed"])
def test_an_account_that_is_not_enrolled_costs_one_call_and_is_no_gap(
    simulate: Callable[..., Any], status: Any
) -> None:
    account = simulate(replace(ENROLLED, enrollment=status))
    found, gaps = account.read(set(), RECOMMENDED)

    assert gaps == []
    assert not RECOMMENDED & {*found.unreadable}
    assert not any(found.all(kind) for kind in RECOMMENDED)
    assert asked(account) == {ENROLLMENT: 1}


@pytest.mark.parametrize("action", [ENROLLMENT, SIZED, IDLE])
def test_an_account_that_is_not_opted_in_is_no_gap_in_any_of_its_answers(
    simulate: Callable[..., Any], action: str
) -> None:
    account = simulate(ENROLLED)
    account.sim.faults.error(action, "OptInRequiredException", 400)
    _, gaps = account.read(set(), RECOMMENDED)

    assert gaps == []


@pytest.mark.parametrize(("action", "others"), [(ENROLLMENT, 0), (SIZED, 1), (IDLE, 1)])
def test_what_is_denied_is_one_optional_gap(simulate: Callable[..., Any], action: str, others: int) -> None:
    account = simulate(ENROLLED)
    account.sim.faults.deny(action)
    found, gaps = account.read({kinds.Volume}, RECOMMENDED)

    assert [(gap.what, gap.optional) for gap in gaps] == [(action, True)]
    assert sum(len(found.all(kind)) for kind in RECOMMENDED) == others
    assert len(found.all(kinds.Volume)) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("action", [ENROLLMENT, SIZED, IDLE])
@pytest.mark.parametrize(("fault", "settings"), [("truncate", {}), ("throttle", {"per_second": 0, "burst": 0})])
def test_what_is_no_answer_is_a_gap_and_not_silence(
    simulate: Callable[..., Any], action: str, fault: str, settings: dict[str, Any]
) -> None:
    account = simulate(ENROLLED)
    getattr(account.sim.faults, fault)(action, **settings)
    _, gaps = account.read({kinds.Volume}, RECOMMENDED)

    assert [(gap.what, gap.optional) for gap in gaps] == [(action, True)]


def test_recommendations_are_read_to_the_last_page(simulate: Callable[..., Any]) -> None:
    sized = [replace(SDK_RECOMMENDATION, volume_id=f"vol-{n}") for n in range(1_001)]
    idle = [replace(UNATTACHED, resource_id=f"vol-{n}") for n in range(101)]
    account = simulate(replace(ENROLLED, volume_recommendations=sized, idle_recommendations=idle))
    found, gaps = account.read(set(), RECOMMENDED)

    assert gaps == []
    assert [len(found.all(kind)) for kind in (kinds.VolumeRecommendation, kinds.IdleRecommendation)] == [1_001, 101]
    assert asked(account) == {ENROLLMENT: 1, SIZED: 2, IDLE: 2}


def test_where_there_is_no_volume_nothing_is_asked(simulate: Callable[..., Any]) -> None:
    account = simulate(replace(ENROLLED, volumes=[]))
    account.read(set(), RECOMMENDED)

    assert asked(account) == {}


class Replayed:
    """A session whose Compute Optimizer gives fixed answers."""

    def __init__(self, *volumes: Any, regions: tuple[str, ...] = (REGION,), **more: Any) -> None:
        self.regions, self.answer = regions, {"volumeRecommendations": list(volumes), **more}

    def regions_of(self, _: str) -> tuple[str, ...]:
        return self.regions

    def client(self, *_: str) -> Any:
        return SimpleNamespace(get_ebs_volume_recommendations=lambda **_: self.answer)


TARGET = Target("123456789012", REGION)
ON = Read([kinds.OptimizerEnrollment(id=TARGET.account)])
PLAIN: dict[str, Any] = {
    "volumeArn": f"arn:aws:ec2:{REGION}:123456789012:volume/vol-1", "finding": "Optimized",
    "lookBackPeriodInDays": 14.0, "lastRefreshTimestamp": datetime(2026, 11, 15, tzinfo=UTC),
}  # fmt: skip


def option(rank: int, **saved: Any) -> dict[str, Any]:
    configuration = {"volumeType": f"gp{rank}", "volumeSize": 8}
    return {"rank": rank, "configuration": configuration, "savingsOpportunity": {"estimatedMonthlySavings": saved}}


def replayed(*volumes: Any, **more: Any) -> list[Any]:
    session: Any = Replayed(*volumes, **more)
    return list(inventory_optimizer.volume_recommendations(session, TARGET, ON))


def test_a_recommendation_without_options_has_unknown_savings() -> None:
    (one,) = replayed(PLAIN)

    assert (one.option, one.monthly_savings_usd) == (None, None)


def test_the_first_option_is_the_best_by_rank_at_any_position() -> None:
    options = [option(3, currency="USD", value=1.0), option(2, currency="USD", value=2.0)]
    (one,) = replayed({**PLAIN, "volumeRecommendationOptions": options})

    assert one.option
    assert (one.option.volume_type, one.option.iops, one.monthly_savings_usd) == ("gp2", None, Decimal("2.00"))


def test_savings_in_another_currency_are_not_taken_for_dollars() -> None:
    (one,) = replayed({**PLAIN, "volumeRecommendationOptions": [option(1, currency="CNY", value=9.0)]})

    assert one.monthly_savings_usd is None


def test_an_error_that_names_a_volume_is_that_volumes_alone() -> None:
    error = {
        "identifier": PLAIN["volumeArn"].replace("vol-1", "vol-2"),
        "code": "InternalError",
        "message": "try again",
    }
    one, other = replayed(PLAIN, errors=[error])

    assert one.id == "vol-1"
    assert isinstance(other, UnreadableRecord)
    assert (other.id, other.identified, other.reason) == ("vol-2", True, "BrokenAnswerError: InternalError: try again")


def test_an_error_of_the_account_may_be_of_any_volume() -> None:
    (other,) = replayed(errors=[{"identifier": "123456789012", "code": "InternalError", "message": "try again"}])

    assert isinstance(other, UnreadableRecord)
    assert (other.id, other.identified, other.reason) == ("", False, "BrokenAnswerError: InternalError: try again")


def test_a_region_without_an_endpoint_is_not_asked() -> None:
    volume = kinds.Volume(
        id="vol-1", arn="", target=TARGET, tags={}, volume_type="gp3", size_gib=8, iops=None, throughput_mib_s=None,
        state="available", created_at=datetime(2026, 1, 1, tzinfo=UTC), availability_zone="", multi_attach=False,
    )  # fmt: skip
    session: Any = Replayed(regions=("us-east-1",))

    assert list(inventory_optimizer.enrollment(session, TARGET, Read([volume]))) == []


def test_a_scan_of_an_enrolled_account_shows_what_compute_optimizer_says(simulate: Callable[..., Any]) -> None:
    account = simulate(ENROLLED)
    policy = Policy(limits={"ebs-unattached": registry()["ebs-unattached"].limits()})
    use_case = audit(
        account.session, account.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )
    (target,) = use_case.run([account.target], datetime.fromtimestamp(NOW, UTC)).targets
    (found,) = target.findings

    assert target.complete
    assert [fact.value for fact in found.evidence if fact.label == "Compute Optimizer"] == [
        "agrees: Unattached (32 days to 2026-11-15), saves 9.60 USD a month"
    ]
