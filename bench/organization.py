"""Measure what an audit of an organization costs: calls, money, time and memory.

The simulated organization has a thousand accounts with 17 regions each, most of them empty. Three steps are measured:
planning the whole audit, scanning a sample of regions of each kind, and publishing the results of all regions. Each
runs in its own process, with the functions' own wiring, against the simulated accounts and a fake bucket and table. The
total is the cost of each step times its number. Writes a section of a page; `--measured FILE` stores the measurements,
or reads them if the file exists.
"""

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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import batched
from pathlib import Path
from typing import Any, Final

from markers import write_between
from organization_cost import (
    AGAIN,
    AWS_LATENCY_MS,
    EMPTY,
    FIRST,
    LARGE,
    LIMIT_S,
    SCAN,
    SMALL,
    STORE_LATENCY_MS,
    hard_section,
    section,
    transitions_of,
)
from scan import call_counts, reset_simulator, simulator

ROOT: Final = Path(__file__).parents[1]
MARKERS: Final = {
    "organization": ("<!-- cost: written by `make bench-organization` -->\n", "<!-- /cost -->\n"),
    "hard-organization": ("<!-- hard cost: written by `make bench-organization` -->\n", "<!-- /hard cost -->\n"),
}
"""Between which markers of a page the measurements of a fleet are."""
POLICY: Final = '[organization]\norganizational_units = ["r-sim0"]\n'
SMALL_KINDS: Final = 5
"""Number of different small accounts in the simulator."""


def kinds_of(accounts: int, resources: int, small_resources: int = 40) -> dict[tuple[str, str], str]:
    """Return the kinds of the targets that are not empty. They do not depend on the number of resources."""
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


def planned(audit_id: str, urls: list[str]) -> dict[str, Any]:
    """Plan an audit, and return what that used and what it planned."""
    from slackwater.app.audit.plan import batches_of
    from slackwater.model.audits import AuditRequest
    from slackwater.wiring.service import planning
    from slackwater.wiring.settings import DeploymentSettings

    planner = planning(DeploymentSettings.of(os.environ))
    before = _counts(urls)
    with _taken() as took:
        plan = planner.plan(audit_id, AuditRequest(requested_by="bench"))
    assert plan
    shut = {(gap.account, gap.region) for gap in plan.gaps}
    targets = [
        (target.account, target.region) for target in plan.targets if (target.account, target.region) not in shut
    ]
    return took | _since(before, urls) | {
        "targets": targets, "gaps": len(plan.gaps), "accounts": len(plan.accounts),
        "batch": len(batches_of(plan.to_scan)[0].todo),
    }  # fmt: skip


def scanned(audit_id: str, targets: list[tuple[str, str]], urls: list[str], size: int) -> list[dict[str, Any]]:
    """Scan targets in batches of `size`, like a warm function, and return what a target of each batch used.

    The first target only warms up the process and is left out.

    Targets that a batch leaves are scanned one by one. If a batch of fewer targets runs out of time, a full batch is
    assumed to run out too, and its other targets count as scanned one by one.
    """
    from slackwater.app.audit.plan import MOST_BATCHED
    from slackwater.app.audit.scan_target import TO_BEGIN_S
    from slackwater.model.audits import ScanTask
    from slackwater.model.resources import Target
    from slackwater.wiring.service import scanning
    from slackwater.wiring.settings import DeploymentSettings

    deployed = DeploymentSettings.of(os.environ)
    scanner = scanning(deployed)
    each_audit = []
    for some in (targets[:1], *batched(targets[1:], size)):
        before, alone = _counts(urls), list[int]()
        with _taken() as took:
            began = time.monotonic()
            tasks = [ScanTask(Target(account, region)) for account, region in some]
            rest, _ = scanner.scan_batch(audit_id, tasks, partial(_left_s, began + LIMIT_S[SCAN]))
            if LIMIT_S[SCAN] - (time.monotonic() - began) < TO_BEGIN_S:
                alone += [1] * (MOST_BATCHED - len(some))
            for task in rest:
                part, turns = task.part, 0
                while part:
                    ends = time.monotonic() + LIMIT_S[SCAN]
                    part = scanner.scan(audit_id, task.target, part, partial(_left_s, ends)).next_part
                    turns += 1
                alone.append(turns)
        each_audit.append(_each(took | _since(before, urls), 1 + sum(alone), transitions_of(alone), len(some)))
    return each_audit[1:]


def _each(took: dict[str, Any], turns: int, transitions: int, targets: int) -> dict[str, Any]:
    """Divide what a batch used by its number of targets. The peak memory is not divided."""
    used = took | {"turns": turns, "transitions": transitions}
    calls = {call: count / targets for call, count in used.pop("calls").items()}
    each = {what: count if what == "peak_mib" else count / targets for what, count in used.items()}
    return each | {"calls": calls, "targets": targets}


def _copy_plan(audit_id: str, bucket_name: str) -> None:
    """Copy the plan of the first audit to another audit, one minute later."""
    from slackwater.app.audit.plan import PLAN, plan_of
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.store.documents import S3Documents
    from slackwater.model import object_keys

    documents = S3Documents(AwsSession(meter=CallMeter()), bucket_name)
    plan = plan_of(documents, FIRST)
    later = f"{plan.now + timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
    text = PLAN.dump_json(plan).decode().replace(f'"{FIRST}"', f'"{audit_id}"')
    documents.write(object_keys.plan(audit_id), text.replace(f"{plan.now:%Y-%m-%dT%H:%M:%SZ}", later))


def _left_s(ends: float) -> float:
    return ends - time.monotonic()


def published(audit_id: str, urls: list[str]) -> dict[str, Any]:
    """Publish the results of all targets, and return what that used."""
    from slackwater.wiring.service import publishing
    from slackwater.wiring.settings import DeploymentSettings

    publisher = publishing(DeploymentSettings.of(os.environ))
    before = _counts(urls)
    with _taken() as took:
        record = publisher.publish(audit_id)
    assert record.outcome, record.error
    outcome = {"findings": record.outcome.findings, "opened": record.outcome.opened, "state": record.state}
    return took | _since(before, urls) | outcome


def filled(audit_id: str, samples: dict[str, list[tuple[str, str]]], kinds: dict[str, str]) -> dict[str, float]:
    """Write the scan documents of all targets of an audit, copied from scanned targets of the same kind.

    For an audit other than the first, create its plan and its record first. Return the mean size by kind, in KiB.
    """
    from slackwater.app.audit.plan import plan_of
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.store.documents import S3Documents
    from slackwater.model import object_keys
    from slackwater.model.audits import AuditRecord
    from slackwater.wiring.scan import clock
    from slackwater.wiring.service import _audits
    from slackwater.wiring.settings import DeploymentSettings

    session, deployed = AwsSession(meter=CallMeter()), DeploymentSettings.of(os.environ)
    documents = S3Documents(session, deployed.bucket_name)
    plan = plan_of(documents, FIRST)
    if audit_id != FIRST:
        _copy_plan(audit_id, deployed.bucket_name)
        record = AuditRecord(
            id=audit_id,
            state="running",
            started_at=clock(),
            finished_at=None,
            request=plan.request,
            policy=plan.policy,
            outcome=None,
            error=None,
        )
        _audits(deployed, session).begin(record)
    left = {target: list(_left(documents, *target)) for of_kind in samples.values() for target in map(tuple, of_kind)}
    sizes: dict[str, list[int]] = {LARGE: [], SMALL: [], EMPTY: []}
    for place, target in enumerate(plan.to_scan):
        kind = kinds.get(f"{target.account}/{target.region}", EMPTY)
        here = (target.account, target.region)
        like = here if here in left else tuple(samples[kind][place % len(samples[kind])])
        texts = [moved(text, like, here) for text in left[like]]
        sizes[kind].append(sum(map(len, texts)))
        for part, text in enumerate(texts, start=1):
            documents.write(object_keys.target_scan(audit_id, *here, part), text)
    return {f"{kind}_kib": statistics.mean(of_kind) / 1024 for kind, of_kind in sizes.items()}


def moved(text: str, like: tuple[str, ...], here: tuple[str, ...]) -> str:
    """Return the scan document of target `like` as one of target `here`, with its own finding ids."""
    if like == here:
        return text
    for ours, theirs in zip(here, like, strict=True):
        text = text.replace(theirs, ours)

    def own(found: re.Match[str]) -> str:
        return f'{found[1]}{sha256(f"{here}{found[2]}".encode()).hexdigest()[:16]}"'

    return re.sub(r'(?m)^(\s*"id": ")([0-9a-f]{16})"', own, text)


def _left(documents: Any, account: str, region: str) -> Iterator[str]:
    from slackwater.model import object_keys

    part = 1
    while stored := documents.read(object_keys.target_scan(FIRST, account, region, part)):
        yield stored[0]
        part += 1


@contextmanager
def _taken() -> Iterator[dict[str, float]]:
    """Measure a block: wall and CPU seconds, and the process's peak memory at its end, in MiB."""
    took: dict[str, float] = {}
    wall, cpu = time.monotonic(), time.process_time()
    yield took
    took["wall_s"], took["cpu_s"] = time.monotonic() - wall, time.process_time() - cpu
    took["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _disk(folder: Path) -> Iterator[list[float]]:
    """Measure the size of a folder every 0.25 seconds, in MiB, while the context lasts."""
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


def _counts(urls: list[str]) -> dict[str, float]:
    """Return the counts so far for accounts, bucket and table: requests by `service:Operation`, metrics and units."""
    asked = call_counts({"url": urls[0]})
    with urllib.request.urlopen(f"{urls[1]}/_counts") as answer:
        of_store = json.load(answer)
    return of_store | asked["calls"] | {"metrics": asked["metrics_requested"]}


def _since(before: dict[str, float], urls: list[str]) -> dict[str, Any]:
    """Return the counts since `before`."""
    more = {what: count - before.get(what, 0) for what, count in _counts(urls).items()}
    calls = {what: count for what, count in more.items() if count and ":" in what}
    return {"calls": calls, **{what: more.get(what, 0) for what in ("metrics", "write_units", "read_units")}}


@dataclass
class World:
    """The simulated organization and the fake bucket and table, and how to measure against them."""

    account: dict[str, Any]
    store: str
    folder: Path

    def run(self, what: str, *arguments: object) -> Any:
        """Run one measurement in its own process, without other AWS settings in its environment."""
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
        command = [sys.executable, __file__, "--one"]
        with _disk(self.folder) as disk:
            answer = subprocess.run(command, input=task, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        sys.stderr.write(f"{what}: {time.monotonic() - began:.0f} s\n")
        figures = json.loads(answer.stdout)
        return figures | {"disk_mib": max(disk)} if isinstance(figures, dict) else figures

    def delay(self, aws_ms: float, store_ms: float) -> None:
        """Delay all answers from now on, in milliseconds."""
        reset_simulator(self.account, aws_ms)
        urllib.request.urlopen(f"{self.store}/_latency", data=str(store_ms).encode()).close()

    @property
    def urls(self) -> list[str]:
        """URLs of the simulated accounts and of the fake bucket and table."""
        return [self.account["url"], self.store]


@contextmanager
def stand_ins() -> Iterator[str]:
    """Run the fake bucket and table in their own process, and yield their URL."""
    command = [sys.executable, str(Path(__file__).with_name("stand_ins.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()


def measured(name: str, accounts: int, resources: int, samples: int) -> dict[str, Any]:
    """Run all measurements of a fleet, and return them."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    fleet = ("--fleet", name, "--accounts", str(accounts), "--resources", str(resources))
    with (
        tempfile.TemporaryDirectory() as folder,
        simulator(*fleet, "--now", f"{now:%Y-%m-%dT%H:%M:%SZ}") as account,
        stand_ins() as store,
    ):
        world = World(account, store, Path(folder))
        put = urllib.request.Request(f"{store}/slackwater/policy/slackwater.toml", data=POLICY.encode(), method="PUT")
        urllib.request.urlopen(put).close()
        world.delay(AWS_LATENCY_MS, STORE_LATENCY_MS)
        plan = world.run("plan", FIRST, world.urls)
        targets = [tuple(target) for target in plan.pop("targets")]
        kinds = {f"{number}/{region}": kind for (number, region), kind in kinds_of(accounts, resources).items()}
        by_kind: dict[str, list[tuple[str, str]]] = {LARGE: [], SMALL: [], EMPTY: []}
        for number, region in targets:
            by_kind[kinds.get(f"{number}/{region}", EMPTY)].append((number, region))
        every = max(1, len(by_kind[EMPTY]) // samples)
        chosen = {
            LARGE: by_kind[LARGE][:1],
            SMALL: by_kind[SMALL][:SMALL_KINDS],
            EMPTY: by_kind[EMPTY][every // 2 :: every][:samples],
        }
        # Each process scans one other target to warm up. It must be another, because an audit scans each target once.
        warm = {LARGE: by_kind[SMALL][-1], SMALL: by_kind[SMALL][-2], EMPTY: by_kind[EMPTY][-1]}
        if {*warm.values()} & {target for some in chosen.values() for target in some}:
            raise SystemExit("too few accounts: there are no targets but the measured ones")
        scans: dict[str, Any] = {}
        for kind, some in chosen.items():
            size = 1 if kind == LARGE else plan["batch"]
            done = world.run("scan", FIRST, [warm[kind], *some], world.urls, size)
            if not all(one["calls"].get("ec2:DescribeVolumes") for one in done):
                raise SystemExit(f"{kind} targets: a scan read no volumes, so it measured nothing")
            scans[kind] = done
        world.delay(0, 0)
        sizes = world.run("fill", FIRST, chosen, kinds)
        publish = {}
        for audit_id in (FIRST, AGAIN):
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


def main() -> None:
    """Measure, print, and with `--write` write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fleet", choices=MARKERS, default="organization")
    parser.add_argument("--accounts", type=int, default=1_000)
    parser.add_argument(
        "--resources", type=int, default=30_000, help="of each of the three large accounts, in two regions"
    )
    parser.add_argument("--samples", type=int, default=50, help="empty regions to scan")
    parser.add_argument("--measured", type=Path, help="measurements to take, if it is there, or to keep")
    parser.add_argument("--write", type=Path, help="a page with the marks")
    options = parser.parse_args()
    if options.one:
        what, *arguments = json.load(sys.stdin)
        tasks = {"plan": planned, "scan": scanned, "fill": filled, "publish": published}
        sys.stdout.write(json.dumps(tasks[what](*arguments)))
        return
    if options.measured and options.measured.exists():
        found = json.loads(options.measured.read_text())
    else:
        found = measured(options.fleet, options.accounts, options.resources, options.samples)
        if options.measured:
            options.measured.write_text(json.dumps(found, indent=1))
    text = section(found) if options.fleet == "organization" else hard_section(found)
    sys.stdout.write(text)
    if options.write:
        write_between(options.write, *MARKERS[options.fleet], text)


if __name__ == "__main__":
    main()
