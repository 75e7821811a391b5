"""Serve Compute Optimizer over JSON 1.0: the account's enrollment, and the recommendations that the fleet contains."""

from collections.abc import Callable, Sequence

from .partitions import arn
from .resources import IdleRecommendation, VolumeOption, VolumeRecommendation
from .wire import AwsError, Call, Json, Reply, json_reply, page_of, page_size

_FILTERS = {"Finding": "finding", "ResourceType": "type"}
_ARNS = {"EBSVolume": "volume", "EC2Instance": "instance"}


def get_enrollment_status(call: Call) -> Reply:
    """Return the fleet's enrollment status."""
    fleet = call.account.fleet
    answer = {"status": fleet.enrollment, "memberAccountsEnrolled": False, "lastUpdatedTimestamp": float(fleet.now)}
    return json_reply(call, answer)


def get_ebs_volume_recommendations(call: Call) -> Reply:
    """Return the recommendations for volumes, at most 1,000 a page."""
    return _paged(call, "volumeRecommendations", call.account.fleet.volume_recommendations, _volume, 1_000)


def get_idle_recommendations(call: Call) -> Reply:
    """Return the recommendations for idle resources, at most 100 a page."""
    return _paged(call, "idleRecommendations", call.account.fleet.idle_recommendations, _idle, 100)


def _paged[T: (VolumeRecommendation, IdleRecommendation)](
    call: Call, name: str, planted: Sequence[T], render: Callable[[Call, T], Json], most: int
) -> Reply:
    if call.account.fleet.enrollment != "Active":
        raise AwsError("OptInRequiredException", "Aws account is not registered for recommendation.")
    found = [each for each in planted if each.region == call.region]
    for entry in call.input.get("filters") or ():
        found = [each for each in found if _of(each, entry["name"]) in entry["values"]]
    page = page_of(call, name, found, lambda each: render(call, each), page_size(call, most))
    return json_reply(call, {name: page.pop(name), "errors": [], **page})


def _of(each: VolumeRecommendation | IdleRecommendation, name: str) -> object:
    if not hasattr(each, _FILTERS.get(name, "")):
        raise AwsError("InvalidParameterValueException", f"The simulator cannot filter by {name}.")
    return getattr(each, _FILTERS[name])


def _volume(call: Call, each: VolumeRecommendation) -> Json:
    return {
        "volumeArn": _arn(call, "EBSVolume", each.volume_id),
        "accountId": call.account.id,
        "finding": each.finding,
        "lookBackPeriodInDays": each.look_back_days,
        "lastRefreshTimestamp": float(each.refreshed),
        "volumeRecommendationOptions": [_option(option, rank) for rank, option in enumerate(each.options, start=1)],
    }


def _option(option: VolumeOption, rank: int) -> Json:
    answer: Json = {
        "configuration": {
            "volumeType": option.type,
            "volumeSize": option.size_gib,
            "volumeBaselineIOPS": option.iops,
            "volumeBaselineThroughput": option.throughput,
            "rootVolume": False,
        },
        "performanceRisk": option.risk,
        "rank": rank,
    }
    return answer | _savings(option.saves)


def _idle(call: Call, each: IdleRecommendation) -> Json:
    answer: Json = {
        "resourceArn": _arn(call, each.type, each.resource_id),
        "resourceId": each.resource_id,
        "resourceType": each.type,
        "accountId": call.account.id,
        "finding": each.finding,
        "lookBackPeriodInDays": each.look_back_days,
        "lastRefreshTimestamp": float(each.refreshed),
    }
    return answer | _savings(each.saves)


def _savings(usd: float | None) -> Json:
    if usd is None:
        return {}
    return {"savingsOpportunity": {"estimatedMonthlySavings": {"currency": "USD", "value": usd}}}


def _arn(call: Call, kind: str, name: str) -> str:
    return arn("ec2", call.region, call.account.id, f"{_ARNS.get(kind, kind)}/{name}")
