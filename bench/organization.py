"""What an audit of an organization costs: calls, money, time and memory, from measured parts.

The organization is the simulator's: a thousand accounts with 17 regions each, most of them empty. Planning all of it, scans of
some regions of each kind, and publishing what all of them would leave are measured, each in a process of its own, with the
functions' own wiring, against the simulated accounts and a stand-in for the bucket and the table. The whole is what the parts
cost, times how many there are. Writes a section of a page; `--measured FILE` keeps the measurements, or takes them from there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, Final

from running_cost import rows
from scan import counted, forget, simulator

ROOT: Final = Path(__file__).parents[1]
BEGIN, END = "<!-- cost: written by `make bench-organization` -->\n", "<!-- /cost -->\n"

MEMORY_MB: Final = 1_769
"""Of PlanFunction, ScanFunction and PublishFunction: Lambda gives them one processor."""
PLAN_LIMIT_S, SCAN_LIMIT_S, PUBLISH_LIMIT_S = 300, 900, 900
DISK_LIMIT_MIB: Final = 512
"""Of /tmp, as the template leaves it."""

OF_AUDIT: Final = (
    "Plan",
    "IsDuplicate",
    "ScanTargets",
    "Publish",
    "TellSlack",
    "NotifySlack",
    "MorePosts",
    "HowDidItGo",
    "Done",
)
OF_TURN: Final = ("Scan", "IsThereMore")
OF_TARGET: Final = ("Scanned",)
"""States that are entered: once in an audit, for each turn of a target, once for a target."""

CONCURRENCIES: Final = (8, 40, 200)
LARGE, SMALL, EMPTY = "large", "small", "empty"
AWS_LATENCY_MS, STORE_LATENCY_MS = 50, 20
"""What a call to an account's region, and one to our own bucket or table, is taken to wait."""

POLICY: Final = '[organization]\norganizational_units = ["r-sim0"]\n'
AUDIT, AGAIN = "first", "again"


# -- What follows from the measurements ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that an audit does `count` times; all else is of one time. `calls` are by `service:Operation`."""

    name: str
    count: int
    calls: Mapping[str, float]
    metrics: float = 0
    cpu_s: float = 0
    wall_s: float = 0
    transitions: float = 0
    write_units: float = 0
    read_units: float = 0
    peak_mib: float = 0
    document_kib: float = 0
    wall_0_s: float | None = None
    """Where no call has to wait."""

    @property
    def lambda_s(self) -> float:
        """What Lambda bills: never less than the work takes one processor."""
        return max(self.cpu_s, self.wall_s)

    def asked(self, *services: str) -> float:
        """Calls to some services, or to all but the bucket and the table."""
        return sum(
            count
            for call, count in self.calls.items()
            if (call.partition(":")[0] in services if services else call.partition(":")[0] not in {"s3", "dynamodb"})
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is paid for."""

    what: str
    quantity: Decimal
    unit: str
    price_usd: Decimal

    @property
    def usd(self) -> Decimal:
        """What it comes to."""
        return self.quantity * self.price_usd


@dataclass(frozen=True, slots=True)
class Price:
    """USD for one unit, and whether AWS's own page was seen to say so."""

    usd: Decimal
    unit: str
    source: str
    seen: bool


def prices() -> tuple[dict[str, Price], str]:
    """Those of the idle month (`tools/running_cost.toml`), by the first words of what they are for; and their date."""
    found, as_of = rows()
    return {re.split("[:,]", row.what)[0]: Price(row.usd, row.unit, row.source, row.seen == "AWS") for row in found}, as_of


def quantities(parts: Iterable[Part], cold_s: float = 0) -> dict[str, Decimal]:
    """What is paid for, by the name of its price. `cold_s` is what all starts of functions take."""
    total: Counter[str] = Counter()
    for part in parts:
        turns = part.count * max(1.0, part.calls.get("lambda:Invoke", 1))
        of_one = {
            "GetMetricData": part.metrics,
            "Lambda": part.lambda_s * MEMORY_MB / 1024,
            "Step Functions": part.transitions,
            "DynamoDB writes": part.write_units,
            "DynamoDB reads": part.read_units,
            "S3 puts": part.calls.get("s3:PutObject", 0),
            "S3 gets": part.calls.get("s3:GetObject", 0) + part.calls.get("s3:HeadObject", 0),
        }
        for what, quantity in of_one.items():
            total[what] += quantity * part.count  # type: ignore[assignment]
        total["Lambda requests"] += turns  # type: ignore[assignment]
    total["Lambda"] += cold_s * MEMORY_MB / 1024  # type: ignore[assignment]
    return {what: Decimal(str(quantity)) for what, quantity in total.items()}


def bill(used: Mapping[str, Decimal], at: Mapping[str, Price]) -> list[Line]:
    """What it costs, the dearest first."""
    lines = [Line(what, quantity, at[what].unit, at[what].usd) for what, quantity in used.items()]
    return sorted(lines, key=lambda line: line.usd, reverse=True)


def makespan_s(durations_s: Iterable[float], at_once: int) -> float:
    """How long tasks take that are begun in their order, as soon as one of so many places is free."""
    ends = [0.0] * at_once
    heapify(ends)
    for duration_s in durations_s:
        heapreplace(ends, ends[0] + duration_s)
    return max(ends)


def turns_of(next_parts: Sequence[int]) -> int:
    """State transitions of a target, of which each turn told the part that comes next."""
    return len(OF_TURN) * len(next_parts) + len(OF_TARGET)


# -- The simulated organization --------------------------------------------------------------------------------------------------


def kinds_of(accounts: int, resources: int, small_resources: int = 40) -> dict[tuple[str, str], str]:
    """The targets that are not empty, and what they are. Where there is anything does not hang on how much there is."""
    from slackwater_simulator import organization

    _, around = organization(accounts, resources=min(resources, 200), small_resources=small_resources)
    kinds: dict[tuple[str, str], str] = {}
    for number in (member.id for member in around.members):
        fleet = around.fleet_of(number)
        if fleet is None:
            continue
        places = {volume.az[:-1] for volume in fleet.volumes}
        for region in places:
            kinds[number, region] = LARGE if len(places) > 1 else SMALL
    return kinds


# -- What is measured, each in a process of its own ------------------------------------------------------------------------------


def planned(audit_id: str) -> dict[str, Any]:
    """Plan an audit."""
    from slackwater.app.settings import Deployed
    from slackwater.app.wiring import planning
    from slackwater.model.audits import AuditRequest

    planner = planning(Deployed.of(os.environ))
    with _taken() as took:
        plan = planner.plan(audit_id, AuditRequest(requested_by="bench"))
    assert plan
    shut = {(gap.account, gap.region) for gap in plan.gaps}
    targets = [(target.account, target.region) for target in plan.targets if (target.account, target.region) not in shut]
    return took | {"targets": targets, "gaps": len(plan.gaps), "accounts": len(plan.accounts)}


def scanned(audit_id: str, targets: list[tuple[str, str]], urls: list[str]) -> list[dict[str, Any]]:
    """Scan one target after the other, as a function that stays warm; the first is not told."""
    from slackwater.app.settings import Deployed
    from slackwater.app.wiring import scanning
    from slackwater.model.resources import Target

    scanner = scanning(Deployed.of(os.environ))
    told = []
    for account, region in targets:
        _count(urls)
        with _taken() as took:
            began, next_parts = time.monotonic(), [1]
            while next_parts[-1]:
                left_s = lambda: SCAN_LIMIT_S - (time.monotonic() - began)  # noqa: B023, E731 -- of this turn
                next_parts.append(scanner.scan(audit_id, Target(account, region), next_parts[-1], left_s).next_part)
                if next_parts[-1]:
                    began = time.monotonic()
        told.append(took | _count(urls) | {"transitions": turns_of(next_parts[1:]), "turns": len(next_parts) - 1})
    return told[1:]


def published(audit_id: str, urls: list[str]) -> dict[str, Any]:
    """Publish what all targets left."""
    from slackwater.app.settings import Deployed
    from slackwater.app.wiring import publishing

    publisher = publishing(Deployed.of(os.environ))
    _count(urls)
    with _taken() as took, _disk(Path(tempfile.gettempdir())) as disk:
        record = publisher.publish(audit_id)
    assert record.outcome, record.error
    outcome = {"findings": record.outcome.findings, "opened": record.outcome.opened, "state": record.state}
    return took | _count(urls) | outcome | {"disk_mib": max(disk)}


def filled(audit_id: str, samples: dict[str, list[tuple[str, str]]], kinds: dict[str, str]) -> dict[str, float]:
    """Leave for each target of an audit what the scan of one like it left; for another audit than the first, all of it anew."""
    from slackwater.app.audit_plan import PLAN, plan_of
    from slackwater.app.settings import Deployed
    from slackwater.app.wiring import _audits, clock
    from slackwater.aws.documents import S3Documents
    from slackwater.aws.meter import CallMeter
    from slackwater.aws.session import AwsSession
    from slackwater.model import object_keys
    from slackwater.model.audits import AuditRecord

    session, deployed = AwsSession(meter=CallMeter()), Deployed.of(os.environ)
    documents = S3Documents(session, deployed.bucket_name)
    plan = plan_of(documents, AUDIT)
    if audit_id != AUDIT:
        text = PLAN.dump_json(plan).decode().replace(f'"{AUDIT}"', f'"{audit_id}"')
        later = f"{plan.now + timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
        documents.write(object_keys.plan(audit_id), text.replace(f"{plan.now:%Y-%m-%dT%H:%M:%SZ}", later))
        record = AuditRecord(
            id=audit_id, state="running", started_at=clock(), finished_at=None, request=plan.request, policy=plan.policy,
            outcome=None, error=None,
        )  # fmt: skip
        _audits(deployed, session).begin(record)
    left = {tuple(target): list(_left(documents, *target)) for of_kind in samples.values() for target in of_kind}
    sizes: dict[str, list[int]] = {LARGE: [], SMALL: [], EMPTY: []}
    for place, target in enumerate(plan.to_scan):
        kind = kinds.get(f"{target.account}/{target.region}", EMPTY)
        account, region = samples[kind][place % len(samples[kind])]
        own = (target.account, target.region) in left
        size = 0
        for part, text in enumerate(left[(target.account, target.region) if own else (account, region)], start=1):
            if not own:
                text = text.replace(account, target.account).replace(region, target.region)  # noqa: PLW2901
                text = re.sub(  # noqa: PLW2901
                    r'(?m)^(\s*"id": ")([0-9a-f]{16})"',
                    lambda found, of=target: f'{found[1]}{sha256(f"{of}{found[2]}".encode()).hexdigest()[:16]}"',  # type: ignore[misc]
                    text,
                )
            size += len(text)
            if audit_id != AUDIT or not own:
                documents.write(object_keys.target_scan(audit_id, target.account, target.region, part), text)
        sizes[kind].append(size)
    return {f"{kind}_kib": statistics.mean(of_kind) / 1024 for kind, of_kind in sizes.items()}


def _left(documents: Any, account: str, region: str) -> Iterator[str]:
    from slackwater.model import object_keys

    part = 1
    while stored := documents.read(object_keys.target_scan(AUDIT, account, region, part)):
        yield stored[0]
        part += 1


@contextmanager
def _taken() -> Iterator[dict[str, float]]:
    """Wall and CPU seconds of a block, and the process's peak by its end, MiB."""
    took: dict[str, float] = {}
    wall, cpu = time.monotonic(), time.process_time()
    yield took
    took["wall_s"], took["cpu_s"] = time.monotonic() - wall, time.process_time() - cpu
    took["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _disk(folder: Path) -> Iterator[list[float]]:
    """MiB that a folder holds, looked at again and again."""
    seen, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(0.25):
            size = 0
            for file in folder.rglob("*"):
                try:
                    size += file.stat().st_size
                except FileNotFoundError:
                    continue
            seen.append(size / 2**20)

    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    yield seen
    stop.set()
    watch.join()


def _count(urls: list[str]) -> dict[str, Any]:
    """What was asked of the accounts, the bucket and the table since it was told last."""
    account, store = {"url": urls[0]}, urls[1]
    asked = counted(account)
    forget(account)
    with urllib.request.urlopen(f"{store}/_counts") as answer:
        of_store = json.load(answer)
    calls = asked["calls"] | {name: count for name, count in of_store.items() if ":" in name}
    units = {f"{name}_units": of_store.get(f"dynamodb {name} units", 0) for name in ("write", "read")}
    return {"calls": calls, "metrics": asked["metrics_requested"], **units}


# -- The measurement -------------------------------------------------------------------------------------------------------------


@dataclass
class World:
    """The simulated organization and the stand-ins, and how to measure something against them."""

    account: dict[str, Any]
    store: str
    folder: Path
    told: dict[str, Any] = field(default_factory=dict)

    def run(self, what: str, *arguments: object) -> Any:
        """One measurement, in its own process, with nothing else of AWS in its environment."""
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("tools", "bench")),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "MALLOC_ARENA_MAX": "2",
            "AWS_ENDPOINT_URL": self.account["url"],
            "AWS_ENDPOINT_URL_S3": self.store,
            "AWS_ENDPOINT_URL_DYNAMODB": self.store,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "simulated",
            "AWS_SECRET_ACCESS_KEY": "simulated",
            "AWS_EC2_METADATA_DISABLED": "true",
            "TABLE_NAME": "slackwater",
            "BUCKET_NAME": "slackwater",
            "RETENTION_DAYS": "400",
            "MEMBER_ROLE_NAME": self.account["organization"]["role_name"],
            "MEMBER_EXTERNAL_ID": self.account["organization"]["external_id"],
            "POWERTOOLS_SERVICE_NAME": "slackwater",
            "LOG_LEVEL": "WARNING",
        }
        began = time.monotonic()
        task = json.dumps([what, *arguments])
        answer = subprocess.run(
            [sys.executable, __file__, "--one"], input=task, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        sys.stderr.write(f"{what}: {time.monotonic() - began:.0f} s\n")
        return json.loads(answer.stdout.splitlines()[-1])

    def delay(self, aws_ms: float, store_ms: float) -> None:
        """Delay answers from now on."""
        forget(self.account, aws_ms)
        urllib.request.urlopen(f"{self.store}/_latency", data=str(store_ms).encode()).close()

    @property
    def urls(self) -> list[str]:
        """Where they are."""
        return [self.account["url"], self.store]


@contextmanager
def stand_ins() -> Iterator[str]:
    """The bucket and the table, in a process of their own; where."""
    command = [sys.executable, str(Path(__file__).with_name("stand_ins.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()


def measured(accounts: int, resources: int, samples: int) -> dict[str, Any]:
    """Everything that is measured."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    fleet = ("--fleet", "organization", "--accounts", str(accounts), "--resources", str(resources))
    with (
        tempfile.TemporaryDirectory() as folder,
        simulator(*fleet, "--now", f"{now:%Y-%m-%dT%H:%M:%SZ}") as account,
        stand_ins() as store,
    ):
        world = World(account, store, Path(folder))
        put = urllib.request.Request(f"{store}/slackwater/policy/slackwater.toml", data=POLICY.encode(), method="PUT")
        urllib.request.urlopen(put).close()
        world.delay(AWS_LATENCY_MS, STORE_LATENCY_MS)
        _count(world.urls)
        plan = world.run("plan", AUDIT)
        plan |= _count(world.urls)
        targets = [tuple(target) for target in plan.pop("targets")]
        kinds = {f"{number}/{region}": kind for (number, region), kind in kinds_of(accounts, resources).items()}
        by_kind: dict[str, list[tuple[str, str]]] = {LARGE: [], SMALL: [], EMPTY: []}
        for number, region in targets:
            by_kind[kinds.get(f"{number}/{region}", EMPTY)].append((number, region))
        every = max(1, len(by_kind[EMPTY]) // samples)
        chosen = {
            LARGE: by_kind[LARGE][:1],
            SMALL: by_kind[SMALL][:5],  # there are five different ones
            EMPTY: by_kind[EMPTY][::every][:samples],
        }
        scans: dict[str, dict[str, Any]] = {kind: {} for kind in chosen}
        for latency_ms, store_ms in ((0, 0), (AWS_LATENCY_MS, STORE_LATENCY_MS)):
            world.delay(latency_ms, store_ms)
            for kind, some in chosen.items():
                warm = chosen[EMPTY][:1] if kind == EMPTY else chosen[SMALL][-1:]
                scans[kind][str(latency_ms)] = world.run("scan", AUDIT, [*warm, *some], world.urls)
        world.delay(0, 0)
        sizes = world.run("fill", AUDIT, chosen, kinds)
        publish = {}
        for audit_id in (AUDIT, AGAIN):
            if audit_id == AGAIN:
                world.delay(0, 0)
                world.run("fill", AGAIN, chosen, kinds)
            world.delay(AWS_LATENCY_MS, STORE_LATENCY_MS)
            publish[audit_id] = world.run("publish", audit_id, world.urls)
        counts = {kind: len(of_kind) for kind, of_kind in by_kind.items()}
        return {
            "at": f"{now:%Y-%m-%d}",
            "accounts": accounts,
            "resources": resources,
            "plan": plan,
            "counts": counts,
            "scans": scans,
            "sizes": sizes,
            "publish": publish,
        }


def parts_of(found: Mapping[str, Any], publish: str = AUDIT) -> list[Part]:
    """The parts of an audit, with the publishing of the first one or of a later one."""
    plan, ended = found["plan"], found["publish"][publish]
    parts = [
        Part(
            name="planning",
            count=1,
            transitions=len(OF_AUDIT),
            **{name: plan[name] for name in ("calls", "metrics", "cpu_s", "wall_s", "peak_mib", "write_units", "read_units")},
        )
    ]
    for kind in (EMPTY, SMALL, LARGE):
        fast, slow = found["scans"][kind]["0"], found["scans"][kind][str(AWS_LATENCY_MS)]
        calls = Counter[str]()
        for scan in slow:
            calls.update(scan["calls"])
            calls["lambda:Invoke"] += scan["turns"]
        parts.append(
            Part(
                name=kind,
                count=found["counts"][kind],
                calls={call: count / len(slow) for call, count in calls.items()},
                document_kib=found["sizes"][f"{kind}_kib"],
                wall_0_s=_quiet(scan["wall_s"] for scan in fast),
                wall_s=_quiet(scan["wall_s"] for scan in slow),
                peak_mib=max(scan["peak_mib"] for scan in slow),
                cpu_s=statistics.median(scan["cpu_s"] for scan in slow),
                **{
                    name: statistics.mean(scan[name] for scan in slow)
                    for name in ("metrics", "transitions", "write_units", "read_units")
                },
            )
        )
    names = ("calls", "metrics", "cpu_s", "wall_s", "peak_mib", "write_units", "read_units")
    parts.append(Part(name="publishing", count=1, **{name: ended[name] for name in names}))
    return parts


def _quiet(seconds: Iterable[float]) -> float:
    """A quarter took no longer: what it takes where the machine does little else."""
    some = sorted(seconds)
    return some[len(some) // 4]


# -- The page --------------------------------------------------------------------------------------------------------------------


def more_when_cold_s() -> dict[str, float]:
    """What a function that just starts takes longer, by its name, as docs/performance.md has it."""
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    found = re.findall(r"^\| (\w+Function) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|", page, re.MULTILINE)
    return {name: (int(both.replace(",", "")) - int(next_.replace(",", ""))) / 1_000 for name, both, next_ in found}


def _ended_s(found: Mapping[str, Any], parts: Sequence[Part], at_once: int) -> tuple[float, float]:
    """How long the scans take, so many at once, and the audit with its planning and publishing. The large accounts come first."""
    plan, publish = parts[0], parts[-1]
    cold = more_when_cold_s()
    durations = [part.lambda_s for part in reversed(parts[1:-1]) for _ in range(part.count)]
    starts = [each + (cold["ScanFunction"] if place < at_once else 0) for place, each in enumerate(durations)]
    scans_s = makespan_s(starts, at_once)
    return scans_s, plan.lambda_s + cold["PlanFunction"] + scans_s + publish.lambda_s + cold["PublishFunction"]


def _cold_s(at_once: int) -> float:
    cold = more_when_cold_s()
    return at_once * cold["ScanFunction"] + cold["PlanFunction"] + cold["PublishFunction"]


def page(found: Mapping[str, Any]) -> str:
    """The section, in Markdown."""
    parts, again = parts_of(found), parts_of(found, AGAIN)
    at, as_of = prices()
    plan, empty, publish = parts[0], parts[1], parts[-1]
    return (
        "\n\n".join(
            (
                _about(found, as_of),
                _parts_table([*parts[:-1], publish, again[-1]]),
                _empty(empty, at),
                _calls_table(parts),
                _cost_table(parts, at),
                _time_table(found, parts, again, at),
                _limits(found, plan, parts, publish),
            )
        )
        + "\n"
    )


def _about(found: Mapping[str, Any], as_of: str) -> str:
    counts = found["counts"]
    return (
        f"Measured on {found['at']}: {found['plan']['accounts']:,} accounts of the simulated organization, "
        f"{sum(counts.values()):,} targets that can be scanned, of which {counts[EMPTY]:,} hold nothing, {counts[SMALL]} about 40 "
        f"resources, and {counts[LARGE]} about {found['resources'] // 2:,}; {found['publish'][AUDIT]['findings']:,} findings. All "
        f"detectors on. Each kind was scanned some times ({', '.join(f'{len(found["scans"][kind]["0"])} {kind}' for kind in (EMPTY, SMALL, LARGE))}) "
        "by what ScanFunction runs, and counted as often as there are such targets; planning and publishing are of all of it. "
        f"A call to an account waits {AWS_LATENCY_MS} ms, one to the bucket or the table {STORE_LATENCY_MS}. Prices are USD of us-east-1 as of "
        f"{as_of}, without free tiers, and the same as in [Operations](operations.md#what-a-month-costs); those with * were not seen on AWS's own page."
    )


def _parts_table(parts: Sequence[Part]) -> str:
    lines = [
        "| Part | Times | Calls to AWS | Bucket | Table | Metrics | CPU, s | Wall without waiting, s | Wall, s | Peak, MiB | Document, KiB |",
        "|-|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|",
    ]
    names = {
        "planning": "planning",
        EMPTY: "an empty region",
        SMALL: "a small one",
        LARGE: "a large one",
        "publishing": "publishing, all findings new",
    }
    for place, part in enumerate(parts):
        name = "publishing, all findings known" if place == len(parts) - 1 else names[part.name]
        lines.append(
            f"| {name} | {part.count:,} | {_few(part.asked())} | {_few(part.asked('s3'))} | {_few(part.asked('dynamodb'))} "
            f"| {_few(part.metrics)} | {part.cpu_s:,.2f} | {'' if part.wall_0_s is None else f'{part.wall_0_s:,.2f}'} "
            f"| {part.wall_s:,.2f} | {part.peak_mib:,.0f} | {f'{part.document_kib:,.1f}' if part.document_kib else ''} |"
        )
    return "\n".join(lines)


def _empty(empty: Part, at: Mapping[str, Price]) -> str:
    lines = bill(quantities([_one(empty)]), at)
    usd = sum((line.usd for line in lines), Decimal())
    of = ", ".join(f"{line.what} {line.usd:.6f}" for line in lines if line.usd)
    calls = ", ".join(
        f"{call} {_few(count)}"
        for call, count in sorted(empty.calls.items())
        if not call.startswith(("s3", "dynamodb", "lambda"))
    )
    return f"**An empty region costs {_few(empty.asked())} calls to AWS and {usd:.6f} USD**: {of}. Its calls: {calls}."


def _one(part: Part) -> Part:
    from dataclasses import replace

    return replace(part, count=1)


def _calls_table(parts: Sequence[Part]) -> str:
    total: Counter[str] = Counter()
    for part in parts:
        for call, count in part.calls.items():
            total[call.partition(":")[0]] += round(count * part.count)
    total.pop("lambda", None)
    most = sorted(total.items(), key=lambda one: one[1], reverse=True)
    lines = ["| Service | Calls of an audit |", "|-|-:|", *(f"| {service} | {count:,} |" for service, count in most)]
    return "\n".join(lines)


def _cost_table(parts: Sequence[Part], at: Mapping[str, Price]) -> str:
    lines = ["| An audit, all findings new | Quantity | Price | USD |", "|-|-:|-|-:|"]
    found = bill(quantities(parts, _cold_s(40)), at)
    for line in found:
        price = at[line.what]
        lines.append(
            f"| {line.what} | {line.quantity:,.0f} | [{price.usd:f} per {price.unit}]({price.source}){'' if price.seen else '*'} | {line.usd:.4f} |"
        )
    lines.append(f"| **All** | | | **{sum((line.usd for line in found), Decimal()):.2f}** |")
    return "\n".join(lines)


def _time_table(found: Mapping[str, Any], parts: Sequence[Part], again: Sequence[Part], at: Mapping[str, Price]) -> str:
    lines = [
        "| `ScanConcurrency` | Planning, s | Scans, s | Publishing, s | The audit | State transitions a second | USD | A later one, nothing new, USD |",
        "|-:|-:|-:|-:|-:|-:|-:|-:|",
    ]
    for at_once in CONCURRENCIES:
        scans_s, all_s = _ended_s(found, parts, at_once)
        transitions = sum(part.transitions * part.count for part in parts[1:-1]) / scans_s
        usd, usd_again = (
            sum((line.usd for line in bill(quantities(some, _cold_s(at_once)), at)), Decimal()) for some in (parts, again)
        )
        lines.append(
            f"| {at_once} | {parts[0].lambda_s:,.0f} | {scans_s:,.0f} | {parts[-1].lambda_s:,.0f} | {_span(all_s)} "
            f"| {transitions:,.0f} | {usd:.2f} | {usd_again:.2f} |"
        )
    return "\n".join(lines)


def _limits(found: Mapping[str, Any], plan: Part, parts: Sequence[Part], publish: Part) -> str:
    large = parts[-2]
    both = found["publish"]
    disk = max(one["disk_mib"] for one in both.values())
    peak = max(one["peak_mib"] for one in both.values())
    longest = max(max(one["wall_s"], one["cpu_s"]) for one in both.values())
    lines = [
        "| Limit | Allowed | Used |",
        "|-|-:|-:|",
        f"| PlanFunction, time | {PLAN_LIMIT_S} s | {plan.lambda_s:,.0f} s |",
        f"| PlanFunction, memory | {MEMORY_MB:,} MB | {plan.peak_mib:,.0f} MiB |",
        f"| ScanFunction, time, a large target | {SCAN_LIMIT_S} s | {large.lambda_s:,.0f} s |",
        f"| ScanFunction, memory | {MEMORY_MB:,} MB | {large.peak_mib:,.0f} MiB |",
        f"| PublishFunction, time | {PUBLISH_LIMIT_S} s | {longest:,.0f} s |",
        f"| PublishFunction, memory | {MEMORY_MB:,} MB | {peak:,.0f} MiB |",
        f"| PublishFunction, /tmp | {DISK_LIMIT_MIB} MiB | {disk:,.0f} MiB |",
    ]
    return "\n".join(lines)


def _few(count: float) -> str:
    """A number; with one digit after the point where it is a small mean."""
    return f"{count:,.0f}" if count >= 100 or count == round(count) else f"{count:,.1f}"


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--accounts", type=int, default=1_000)
    parser.add_argument("--resources", type=int, default=30_000, help="of each of the three large accounts, in two regions")
    parser.add_argument("--samples", type=int, default=50, help="empty regions to scan")
    parser.add_argument("--measured", type=Path, help="measurements to take, if it is there, or to keep")
    parser.add_argument("--write", type=Path, help="a page with the marks")
    options = parser.parse_args()
    if options.one:
        what, *arguments = json.load(sys.stdin)
        tasks = {"plan": planned, "scan": scanned, "fill": filled, "publish": published}
        sys.stdout.write("\n" + json.dumps(tasks[what](*arguments)) + "\n")
        return
    if options.measured and options.measured.exists():
        found = json.loads(options.measured.read_text())
    else:
        found = measured(options.accounts, options.resources, options.samples)
        if options.measured:
            options.measured.write_text(json.dumps(found, indent=1))
    text = page(found)
    sys.stdout.write(text)
    if options.write:
        before, _, rest = options.write.read_text("utf-8").partition(BEGIN)
        options.write.write_text(f"{before}{BEGIN}{text}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
