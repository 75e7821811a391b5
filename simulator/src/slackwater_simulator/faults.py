"""Inject faults: denials, throttling, errors, delays, lost pages, and lost or malformed answers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import paging
from .malformed import WAYS
from .partitions import arn, global_arn
from .wire import AwsError, Call

_REFUSALS = {
    "ec2": ("UnauthorizedOperation", 403, "RequestLimitExceeded", 503),
    "elasticfilesystem": ("AccessDeniedException", 403, "ThrottlingException", 429),
    "sts": ("AccessDenied", 403, "Throttling", 400),
    "cloudwatch": ("AccessDenied", 403, "ThrottlingException", 400),
    "iam": ("AccessDenied", 403, "Throttling", 400),
    "backup": ("AccessDeniedException", 403, "ThrottlingException", 400),
}
"""Error codes and HTTP statuses by service, for a denied call and for a throttled call."""
_USUAL = ("AccessDeniedException", 400, "ThrottlingException", 400)
_LIMITED = ("error", "drop", "truncate", "malformed", "paging", "slow", "partial", "lost-answer", "lagging")
FOREVER = 1 << 40
_GLOBAL = frozenset({"iam", "organizations", "pricing", "sts"})
"""Services that policies which disable Regions still allow."""


def _not_authorized(call: Call) -> str:
    who = global_arn("sts", call.region, call.account.id, "assumed-role/Simulated/session")
    return f"User: {who} is not authorized to perform: {call.action}"


def _scp_text(call: Call) -> str:
    """Return a service's message for a denial by a service control policy. EC2 has its own, without a resource."""
    denied, why = _not_authorized(call), "with an explicit deny in a service control policy"
    if call.service == "ec2":
        more = "Encoded authorization failure message: c2ltdWxhdGVk"
        return f"You are not authorized to perform this operation. {denied} {why}. {more}"
    return f"{denied} on resource: {arn(call.service, call.region, call.account.id, '*')} {why}"


def _names(call: Call) -> tuple[str, str, str]:
    """Return the names under which a fault for this call can be set, most specific first."""
    return f"{call.region}/{call.action}", call.action, "*"


@dataclass(slots=True)
class _Bucket:
    per_second: float
    burst: float
    level: float
    at: float

    def take(self, now: float) -> bool:
        self.level = min(self.burst, self.level + (now - self.at) * self.per_second)
        self.at = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


@dataclass(slots=True)
class _Limited:
    """A fault that ends after `times` occurrences."""

    times: int
    detail: dict[str, Any] = field(default_factory=dict)


class Faults:
    """Faults by action: `ec2:DescribeVolumes`, `us-east-1/ec2:DescribeVolumes` for one Region, or `*` for all actions.

    `clear` removes every fault.
    """

    def __init__(self, latency_ms: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.latency_ms = self._first_latency = latency_ms
        self._clock = clock
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Remove every fault. CloudTrail's own limit of two calls a second stays."""
        with self._lock:
            self.latency_ms = self._first_latency
            self._denied: set[str] = set()
            self._denied_places: set[str] = set()
            self._buckets: dict[str, _Bucket] = {}
            self._pages: tuple[int, int] | None = None
            self._limited: dict[str, dict[str, _Limited]] = {kind: {} for kind in _LIMITED}
        self.throttle("cloudtrail:LookupEvents", per_second=2, burst=2)

    def deny(self, action: str) -> None:
        """Deny an action as IAM does."""
        self._denied.add(action)

    def close(self, place: str) -> None:
        """Deny a Region's regional services, or one action in a Region, as a service control policy does."""
        self._denied_places.add(place)

    def throttle(self, action: str, per_second: float, burst: float = 1) -> None:
        """Let `burst` requests through at once, then `per_second` a second. A rate of 0 rejects all."""
        self._buckets[action] = _Bucket(per_second, burst, burst, self._clock())

    def unthrottle(self, action: str) -> None:
        """Remove the rate limit of an action."""
        self._buckets.pop(action, None)

    def error(self, action: str, code: str, status: int = 500, times: int = FOREVER) -> None:
        """Answer an action with an error."""
        self._limited["error"][action] = _Limited(times, {"code": code, "status": status})

    def drop(self, action: str, times: int = FOREVER) -> None:
        """Close the connection without an answer."""
        self._limited["drop"][action] = _Limited(times)

    def truncate(self, action: str, times: int = FOREVER) -> None:
        """Send the first half of the body as if it were complete."""
        self._limited["truncate"][action] = _Limited(times)

    def malformed(self, action: str, how: str, seed: int = 0, times: int = FOREVER) -> None:
        """Answer with what the service never sends: one of `malformed.WAYS`, with details drawn from a seed."""
        if how not in WAYS:
            raise ValueError(f"malformed is one of {', '.join(WAYS)}, not {how}")
        self._limited["malformed"][action] = _Limited(times, {"how": how, "seed": seed})

    def paging(self, action: str, how: str, times: int = FOREVER) -> None:
        """Repeat pages, lose one, or return tokens without end. `how` is one of `paging.WAYS`."""
        if how not in paging.WAYS:
            raise ValueError(f"paging is one of {', '.join(paging.WAYS)}, not {how}")
        self._limited["paging"][action] = _Limited(times, {"how": how})

    def slow(self, action: str, seconds: float, times: int = FOREVER) -> None:
        """Delay the answers of an action."""
        self._limited["slow"][action] = _Limited(times, {"seconds": seconds})

    @property
    def slows(self) -> bool:
        """Whether any answer is delayed."""
        return bool(self.latency_ms or self._limited["slow"])

    def short_pages(self, items: int, points: int) -> None:
        """Limit the items and GetMetricData points of a page. This is no fault: AWS may always return fewer."""
        self._pages = items, points

    def partial(self, action: str = "cloudwatch:GetMetricData", every: int = 7, times: int = FOREVER) -> None:
        """Answer every n-th query with StatusCode InternalError and no values."""
        self._limited["partial"][action] = _Limited(times, {"every": every})

    def lost_answer(self, action: str, times: int = FOREVER) -> None:
        """Do what the call asks, then close the connection without an answer."""
        self._limited["lost-answer"][action] = _Limited(times)

    def lagging(self, action: str, times: int = FOREVER, seconds: float = 60) -> None:
        """Answer a reading call with the state of `seconds` of simulated time ago."""
        self._limited["lagging"][action] = _Limited(times, {"seconds": seconds})

    def denies(self, action: str) -> bool:
        """Return whether exactly this action name is denied."""
        return action in self._denied

    def allow(self, action: str) -> None:
        """Stop denying an action."""
        self._denied.discard(action)

    def apply(self, settings: dict[str, Any]) -> None:
        """Set faults from JSON: `{"deny": ["ec2:DescribeVolumes"], "throttle": [{"action": …, "per_second": 2}]}`."""
        if settings.get("clear"):
            self.clear()
        if "latency_ms" in settings:
            self.latency_ms = float(settings["latency_ms"])
        for kind in ("deny", "close", "allow", "unthrottle"):
            for place in settings.get(kind, ()):
                getattr(self, kind)(place)
        for kind in ("throttle", *_LIMITED):
            for detail in settings.get(kind, ()):
                getattr(self, kind.replace("-", "_"))(**detail)

    def take(self, kind: str, call: Call) -> dict[str, Any] | None:
        """Use up one occurrence of a fault of this kind, if one is planned for the call. Return its details."""
        if not self._limited[kind]:
            return None
        with self._lock:
            plans = self._limited[kind]
            for name in _names(call):
                plan = plans.get(name)
                if plan and plan.times > 0:
                    plan.times -= 1
                    return plan.detail
        return None

    def shortened(self, call: Call) -> Call:
        """Return the call with its page size limited by `short_pages`."""
        return paging.shortened(call, *self._pages) if self._pages else call

    def paged_astray(self, call: Call) -> str | None:
        """Return the paging fault for this call. Only a call that the fault can affect uses up an occurrence."""
        plans = self._limited["paging"]
        plan = next((plans[name] for name in _names(call) if name in plans), None)
        if plan is None or (plan.detail["how"] in paging.FROM_THE_SECOND and not paging.has_token(call)):
            return None
        detail = self.take("paging", call)
        return detail["how"] if detail else None

    def check(self, call: Call) -> None:
        """Raise the error that a fault sets for this call: a denial, throttling or a simulated failure."""
        denied, status, throttled, throttled_status = _REFUSALS.get(call.service, _USUAL)
        if not self._denied_places.isdisjoint((call.region, _names(call)[0])) and call.service not in _GLOBAL:
            raise AwsError(denied, _scp_text(call), status)
        if not self._denied.isdisjoint(_names(call)):
            why = f"{_not_authorized(call)} because no identity-based policy allows the action"
            raise AwsError(denied, why, status)
        with self._lock:
            passes = [bucket.take(self._clock()) for name in _names(call) if (bucket := self._buckets.get(name))]
        if not all(passes):
            why = "Request limit exceeded." if call.service == "ec2" else "Rate exceeded"
            raise AwsError(throttled, why, throttled_status)
        if failure := self.take("error", call):
            raise AwsError(failure["code"], "A simulated failure", failure["status"])
