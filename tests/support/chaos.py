"""Scans of the demo account with random faults: which faults each scan has, and how it ends.

The scan's number seeds all random choices. Nothing waits: retries have no pauses. The number of requests shows whether
a scan ends.
"""

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, Literal
from unittest.mock import patch

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import DEFAULT_RETRIES, AwsSession, Endpoint, RetrySettings
from slackwater.engine.registry import registry
from slackwater.model.findings import KEPT, Finding, Scan
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.wiring.scan import audit
from slackwater_simulator import Simulator, demo_fleet
from slackwater_simulator.faults import FOREVER
from slackwater_simulator.malformed import OF_METRICS
from slackwater_simulator.paging import WAYS as PAGING

NOW: Final = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
SCANS: Final = 200
HASTY: Final = RetrySettings(DEFAULT_RETRIES.max_attempts, DEFAULT_RETRIES.read_timeout_s, retry_mode="standard")
"""The usual number of attempts. It does not use the adaptive retry mode, because the rate limit of that mode waits."""

PAGE_ITEMS, PAGE_POINTS = 20, 30_000
"""Small pages, so that there are several. With the usual page sizes, the account fits on one page."""

METRICS: Final = "cloudwatch:GetMetricData"
PRICES: Final = "pricing:GetProducts"
ALWAYS: Final = frozenset(
    {"fsx:DescribeVolumes", "ec2:DescribeVolumes", "elasticfilesystem:DescribeFileSystems", METRICS}
)
"""Actions with several pages and the most data to lose. They are drawn more often."""
PAGED: Final = ("ec2:DescribeInstances", "fsx:DescribeFileSystems", *sorted(ALWAYS), "cloudtrail:LookupEvents")

type Kind = Literal[
    "denied", "throttled", "failing", "slow", "dropped", "truncated", "malformed", "pages", "clock", "points", "partial"
]
KINDS: Final[tuple[Kind, ...]] = Kind.__value__.__args__
CLOCK_CODES: Final[Mapping[str, str]] = {"ec2": "RequestExpired"}
THROTTLED: Final[Mapping[str, str]] = {"ec2": "RequestLimitExceeded"}
BLIND: Final[Mapping[str, frozenset[str]]] = {"cloudwatch:ListMetrics": frozenset({"ebs-surplus-size"})}
"""Detectors that have no findings without an optional source: only an agent reports how full a file system is."""

COUNTED: Final = frozenset({"ec2-network-throttled"})
"""Detectors that read optional metrics, the ENA counters.

If an optional and a required metric fail for the same reason, a scan reports both in one gap.
"""

SURE: Final = ("low", "medium", "high")

type Verdict = Literal["same", "less sure", "incomplete"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: its kind, the action that it affects, and how to set it in the simulator."""

    kind: Kind
    action: str
    method: str
    settings: Mapping[str, Any]

    @property
    def way(self) -> str:
        """Return the kind of the fault, and the variant if the kind has several."""
        how = self.settings.get("how") or (self.settings.get("code") if self.kind == "clock" else None)
        return f"{self.kind}: {how}" if how else self.kind

    def put(self, faults: Any) -> None:
        getattr(faults, self.method)(self.action, **self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a scan. `problems` lists broken rules. `named` holds the actions that its gaps name."""

    number: int
    faults: tuple[Fault, ...]
    verdict: Verdict
    named: frozenset[str]
    requests: int
    problems: tuple[str, ...] = field(default=())


def plan(number: int, actions: list[str]) -> tuple[Fault, ...]:
    """Return one to four faults. Each one has a different action and kind."""
    chance = random.Random(number)
    found: dict[str, Fault] = {}
    # The number of the scan selects the first kind, so that each kind occurs often enough.
    kinds = [KINDS[number % len(KINDS)], *chance.choices(KINDS, k=chance.choice((0, 0, 1, 2, 3)))]
    for kind in dict.fromkeys(kinds):
        one = _fault(kind, chance, actions)
        found.setdefault(one.action, one)
    return tuple(found.values())


def _fault(kind: Kind, chance: random.Random, actions: list[str]) -> Fault:  # noqa: C901 -- one case a kind
    times = chance.choice((1, 1, 2, 3, 12, FOREVER, FOREVER))
    action = chance.choice([*actions, *sorted(ALWAYS)])
    service = action.partition(":")[0]
    match kind:
        case "denied":
            return Fault(kind, action, "deny", {})
        case "throttled":
            code = THROTTLED.get(service, "ThrottlingException")
            return Fault(kind, action, "error", {"code": code, "status": 400, "times": times})
        case "failing":
            code, status = chance.choice((("InternalError", 500), ("ServiceUnavailable", 503), ("BadRequest", 400)))
            return Fault(kind, action, "error", {"code": code, "status": status, "times": times})
        case "slow":
            return Fault(kind, action, "slow", {"seconds": chance.uniform(0.001, 0.02), "times": min(times, 20)})
        case "dropped":
            return Fault(kind, action, "drop", {"times": times})
        case "truncated":
            return Fault(kind, action, "truncate", {"times": times})
        case "malformed":
            how = chance.choice(("garbage", "html", "empty", "type", "type", "missing", "missing", "null", "null"))
            return Fault(kind, action, "malformed", {"how": how, "seed": chance.randrange(10**6), "times": times})
        case "pages":
            how = chance.choice([way for way in PAGING if way != "nowhere"])
            return Fault(kind, chance.choice(PAGED), "paging", {"how": how, "times": times})
        case "clock" if chance.random() < 0.5:
            return _metrics_fault(kind, chance, ("shifted", "outside"), times)
        case "clock":  # AWS refuses requests if the clock is wrong by minutes
            code = CLOCK_CODES.get(service, "InvalidSignatureException")
            return Fault(kind, action, "error", {"code": code, "status": 400, "times": times})
        case "points":
            ways = [way for way in OF_METRICS if way not in ("shifted", "outside")]
            return _metrics_fault(kind, chance, ways, times)
        case "partial":
            return Fault(kind, METRICS, "partial", {"every": chance.choice((2, 7, 50)), "times": times})


def _metrics_fault(kind: Kind, chance: random.Random, ways: Sequence[str], times: int) -> Fault:
    how = chance.choice(ways)
    return Fault(kind, METRICS, "malformed", {"how": how, "seed": chance.randrange(10**6), "times": times})


class Chaos:
    """A simulated account, its scan without faults, and its scans with faults."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        # An error inside the simulator looks like a dropped connection.
        self._mistakes: list[BaseException | None] = []
        sim._server.handle_error = lambda *_: self._mistakes.append(sys.exception())  # type: ignore[method-assign]
        self._target = Target(sim.fleet.account, sim.fleet.regions[0])
        self.healthy = self._scan(())
        self.actions = sorted(sim.calls)
        self._most = 8 * sum(sim.calls.values()) + 4 * 150
        assert not _gaps(self.healthy)

    def outcome(self, number: int) -> Outcome:
        """Run a scan with the faults of its number. Exceptions of the scan are raised: a scan must not raise any."""
        faults = plan(number, self.actions)
        done = self._scan(faults)
        hit = frozenset(fault.action for fault in faults)
        requests = sum(self._sim.calls.values())
        problems = [*problems_of(self.healthy, done, hit)]
        problems += [f"the simulator raised {error!r}" for error in self._mistakes]
        if requests > self._most:
            problems.append(f"{requests} requests, and {self._most} are the most there can be")
        named = frozenset(gap.what for gap in _gaps(done))
        verdict: Verdict = "incomplete" if not done.complete else "less sure" if named else "same"
        return Outcome(
            number=number, faults=faults, verdict=verdict, named=named, requests=requests, problems=tuple(problems)
        )

    def _scan(self, faults: tuple[Fault, ...]) -> Scan:
        self._sim.reset()
        self._sim.faults.unthrottle("cloudtrail:LookupEvents")
        self._sim.faults.short_pages(PAGE_ITEMS, PAGE_POINTS)
        for fault in faults:
            fault.put(self._sim.faults)
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(self._sim.url, "AKIADUMMY", "dummy"), retries=HASTY)
        policy = Policy(limits={id_: detector.limits() for id_, detector in registry().items()})
        use_case = audit(session, meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None)
        return use_case.run([self._target], NOW)


@contextmanager
def chaos() -> Iterator[Chaos]:
    """Run the demo account, without pauses between attempts."""
    with patch("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None)), Simulator(demo_fleet()) as sim:
        yield Chaos(sim)


def problems_of(healthy: Scan, done: Scan, hit: frozenset[str]) -> Iterator[str]:
    """Yield the broken rules.

    A gap must not name an action without a fault. A finding must not be invented, changed or silently lost, and its
    saving must not be wrong.
    """
    gaps = _gaps(done)
    for gap in gaps:
        if gap.what not in hit:
            yield f"a gap names {gap.what}, which was not hit: {gap.reason}"
    truth, found = _findings(healthy), _findings(done)
    unlisted = {
        (one.detector, one.resource.id) for target in healthy.targets for one in target.unlisted if one.reason != KEPT
    }
    for key in found.keys() - truth.keys():
        if key not in unlisted or not gaps:
            yield f"{key} is made up"
    if done.complete:
        blind = frozenset[str]().union(*(BLIND.get(gap.what, ()) for gap in gaps))
        for key in truth.keys() - found.keys():
            if key[0] not in blind:
                yield f"{key} is lost, and the scan says that it is complete"
    optional = {gap.what for gap in gaps if gap.optional}
    metrics = {gap.what for gap in gaps if gap.what == METRICS}
    for key in found.keys() & truth.keys():
        yield from _changed(truth[key], found[key], optional | (metrics if key[0] in COUNTED else set()))


def _changed(true: Finding, found: Finding, optional: set[str]) -> Iterator[str]:
    """Yield how a finding differs from the one without faults, except for allowed differences."""
    key = (found.detector, found.resource.id)
    if found.id != true.id or found.resource != true.resource:
        yield f"{key} is another one"
    if found.monthly_savings_usd != true.monthly_savings_usd:
        stood_in = {basis.item for basis in found.price_basis if basis.price.source.startswith("snapshot")}
        if PRICES not in optional or (found.monthly_savings_usd is not None and not stood_in):
            yield f"{key} saves {found.monthly_savings_usd}, and it would be {true.monthly_savings_usd}"
    if SURE.index(found.confidence) > SURE.index(true.confidence):
        yield f"{key} is surer than without faults: {found.confidence}"
    if _deletes(found) and not _deletes(true):
        yield f"{key} may be deleted"
    if (found.fingerprint, found.confidence) != (true.fingerprint, true.confidence) and not optional - {PRICES}:
        yield f"{key} differs: {found.confidence}, {found.summary}, and it would be {true.confidence}, {true.summary}"


def _deletes(one: Finding) -> bool:
    return any(recommendation.advice.deletes for recommendation in one.recommendations)


def _findings(done: Scan) -> dict[tuple[str, str], Finding]:
    return {(one.detector, one.resource.id): one for target in done.targets for one in target.findings}


def _gaps(done: Scan) -> list[Any]:
    return [*done.gaps, *(gap for target in done.targets for gap in target.gaps)]
