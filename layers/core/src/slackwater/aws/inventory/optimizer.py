"""Reads AWS Compute Optimizer's recommendations for EBS volumes, and which volumes and instances it considers idle.

The account must be enrolled. If it is not, there are no recommendations and no access errors. The same applies in a
region without a Compute Optimizer endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.pages import TokenNames, pages
from slackwater.aws.inventory.records import ReadRecord, records
from slackwater.aws.inventory.snapshot import is_any
from slackwater.model.resources import (
    IdleRecommendation,
    OptimizerEnrollment,
    Volume,
    VolumeOption,
    VolumeRecommendation,
)
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset(
    {
        "compute-optimizer:GetEBSVolumeRecommendations",
        "compute-optimizer:GetEnrollmentStatus",
        "compute-optimizer:GetIdleRecommendations",
    }
)

SERVICE: Final = "compute-optimizer"
CENT: Final = Decimal("0.01")
NOT_ENROLLED: Final = "OptInRequiredException"
VOLUMES_PAGE: Final = 1_000
IDLE_PAGE: Final = 100
REPORTED: Final = "slackwater:error"
"""The key of the error in an item that replaces one."""
IDLE_TYPES: Final = ("EBSVolume", "EC2Instance")


def enrollment(session: AwsSession, target: Target, before: Earlier) -> Iterator[OptimizerEnrollment]:
    """Yield a record if Compute Optimizer analyzes the account. Makes no call if there is no volume.

    If there is an instance, there is also its root volume.
    """
    if not is_any(before, Volume) or target.region not in session.regions_of(SERVICE):
        return
    try:
        answer = session.client(SERVICE, target.region).get_enrollment_status()
    except ClientError as error:
        if error.response["Error"]["Code"] != NOT_ENROLLED:
            raise
        return
    if answer["status"] == "Active":
        yield OptimizerEnrollment(id=target.account)


def volume_recommendations(
    session: AwsSession, target: Target, before: Earlier
) -> Iterator[ReadRecord[VolumeRecommendation]]:
    """Read one recommendation for each volume that was attached for 30 hours in a row.

    There are none if the account is not enrolled.
    """
    if is_any(before, OptimizerEnrollment):
        call = session.client(SERVICE, target.region).get_ebs_volume_recommendations
        found = _paged(call, "volumeRecommendations", maxResults=VOLUMES_PAGE)
        yield from records(VolumeRecommendation, found, _volume, id_of=lambda one: _id(one.get("volumeArn")))


def idle_recommendations(
    session: AwsSession, target: Target, before: Earlier
) -> Iterator[ReadRecord[IdleRecommendation]]:
    """Read the volumes and instances that it considers idle or unattached; none if the account is not enrolled."""
    if is_any(before, OptimizerEnrollment):
        call = session.client(SERVICE, target.region).get_idle_recommendations
        filters = [{"name": "ResourceType", "values": [*IDLE_TYPES]}]
        found = _paged(call, "idleRecommendations", maxResults=IDLE_PAGE, filters=filters)
        yield from records(IdleRecommendation, found, _idle, id_of=lambda one: _id(one.get("resourceId")))


def _paged(call: Callable[..., Mapping[str, Any]], key: str, **parameters: Any) -> Iterator[Any]:
    """Yield the items of a list for the caller's own account, and an item for each error in a response."""
    errors = list[Any]()

    def asked(**parameters: Any) -> Mapping[str, Any]:
        answer = call(**parameters)
        errors.extend(answer.get("errors") or ())
        return answer

    try:
        yield from pages(asked, key, tokens=TokenNames("nextToken", "nextToken"), **parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] != NOT_ENROLLED:  # the account has just left
            raise
    yield from (
        {"resourceId": (named := error.get("identifier")), "volumeArn": named, REPORTED: error} for error in errors
    )


def _usable(found: Any) -> Any:
    """Return the item.

    Raises:
        BrokenAnswerError: It replaces an error that Compute Optimizer reports.
    """
    if error := found.get(REPORTED):
        raise BrokenAnswerError(f"{error.get('code')}: {error.get('message')}")
    return found


def _id(named: str | None) -> str:
    """Return the id from an ARN or an id; empty for an account's id, because then any resource may be meant."""
    id_ = (named or "").rpartition("/")[2]
    return "" if id_.isdecimal() else id_


def _idle(found: Any) -> IdleRecommendation:
    return IdleRecommendation(id=_id(_usable(found)["resourceId"]), **_view(found, found))


def _volume(found: Any) -> VolumeRecommendation:
    options = sorted(found.get("volumeRecommendationOptions") or (), key=lambda option: option.get("rank", 0))
    first = options[0] if options else {}
    return VolumeRecommendation(
        id=_id(_usable(found)["volumeArn"]),
        option=_option(first) if first.get("configuration") else None,
        **_view(found, first),
    )


def _option(found: Any) -> VolumeOption:
    configuration = found["configuration"]
    return VolumeOption(
        volume_type=configuration["volumeType"],
        size_gib=configuration["volumeSize"],
        iops=configuration.get("volumeBaselineIOPS"),
        throughput_mib_s=configuration.get("volumeBaselineThroughput"),
        performance_risk=found.get("performanceRisk"),
    )


def _view(found: Any, priced: Any) -> dict[str, Any]:
    """Return the fields of all recommendations. `priced` is the part of the response that has the savings."""
    saved = (priced.get("savingsOpportunity") or {}).get("estimatedMonthlySavings") or {}
    in_usd = saved.get("currency") == "USD" and saved.get("value") is not None
    return {
        "finding": found["finding"],
        "monthly_savings_usd": Decimal(str(saved["value"])).quantize(CENT) if in_usd else None,
        "look_back_days": found["lookBackPeriodInDays"],
        "refreshed_at": found["lastRefreshTimestamp"],
    }
