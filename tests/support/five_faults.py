"""The five faults that Cloud Custodian handles wrongly: the situations, and what Slackwater does in them.

`make bench-faults` runs them with both tools, and tests run them with fewer resources. Each situation is a simulated
account. The resources that are left in it show whether the result is right, by the same rules for both tools.
"""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from slackwater.app.policy.file import parse_policy
from slackwater.engine.registry import registry
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG
from slackwater.model.tracking import TrackedFinding
from slackwater.slack.bot import BotChannel
from slackwater.views.cleanup.words import stage_words
from slackwater_simulator import Account, Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, MIB, Activity, Fleet, instant, rfc3339
from support.asl import Execution
from support.cleanup_world import ACCOUNT, APPROVER, NOW, REGION, SimulatedClock, World, line, wired
from support.slack_server import Fault, SlackServer
from support.slack_world import World as SlackWorld
from support.slack_world import entry, sighting

ZONES: Final = "acd"
METRICS: Final = ("cloudwatch:GetMetricStatistics", "cloudwatch:GetMetricData")
DELETE: Final = "elasticfilesystem:DeleteFileSystem"

POLICY: Final = f"""
[cleanup]
accounts = ["{ACCOUNT}"]
regions = ["{REGION}"]
resource_types = ["ebs-volume", "efs-file-system"]
detectors = ["ebs-unattached", "efs-idle"]
approver_identities = ["{APPROVER}"]
most_resources = 20
"""
"""A policy that does not set `grace_days`."""

LONG: Final = timedelta(days=90)
"""Every clean-up here has ended by then."""

SLACK: Final = '[slack]\nchannel = "C0DEFAULT"\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of one tool in one situation. `right` is None if the situation could not be run to its end."""

    asked: str
    before: str
    after: str
    status: str
    verdict: str
    right: bool | None


# -- Situations


def volumes(now: int, idle: int, busy: int) -> Fleet:
    """Return attached volumes: `idle` of them, spread evenly, have no operations."""
    build = Builder(now, REGION)
    hosts = [build.instance(f"host-{n}", "m5.4xlarge") for n in range(10)]
    every = idle + busy
    for n in range(every):
        lies_still = n * idle // every < (n + 1) * idle // every
        work = Activity(shape=build.shapes.shape("steady", n % 5), read=2.0 * MIB, write=2.0 * MIB)
        build.volume(
            f"{'idle' if lies_still else 'busy'}-{n:03}", 100, on=hosts[n % 10], activity=None if lies_still else work
        )
    return build.fleet(ACCOUNT)


def unattached(now: int, number: int) -> Fleet:
    """Return volumes that were detached sixty days ago."""
    build = Builder(now, REGION)
    for n in range(number):
        used = ((build.ago(199), build.ago(60)),)
        volume = build.volume(f"left-behind-{n}", 100, created=build.ago(200), used=used)
        build.detached(volume.id, build.id("i", "gone"), build.ago(60))
    return build.fleet(ACCOUNT)


def file_systems(now: int, number: int) -> Fleet:
    """Return file systems with three mount targets each, unused for a long time."""
    build = Builder(now, REGION)
    for n in range(number):
        build.file_system(f"old-media-{n:02}", zones=ZONES, standard_bytes=5 * GIB)
    return build.fleet(ACCOUNT)


# -- The rules, the same for both tools


def idle_in(fleet: Fleet) -> set[str]:
    """Return the ids of the volumes that a tool should find."""
    return {one.id for one in fleet.volumes if one.tags["Name"].startswith("idle-")}


def mounted(account: Account) -> dict[str, int]:
    """Return the number of mount targets of each file system that exists."""
    return {
        one.id: sum(account.exists(target.id) for target in one.mount_targets)
        for one in account.fleet.efs
        if account.exists(one.id)
    }


def files_words(there: Mapping[str, int]) -> str:
    """Return a text such as `14 file systems, 42 mount targets`."""
    return f"{len(there)} file systems, {sum(there.values())} mount targets"


def halves(there: Mapping[str, int]) -> list[str]:
    """Return the file systems that still exist but have lost mount targets."""
    return [id_ for id_, targets in there.items() if targets < len(ZONES)]


def volumes_left(account: Account) -> int:
    """Count the volumes that are attached to no instance and whose deletion nobody has requested."""
    return sum(account.exists(one.id) for one in account.fleet.volumes if not one.attachments)


# -- 1. Throttled


def throttled(
    home: Path, simulator: Simulator, rate: Mapping[str, float], environment: Mapping[str, str] | None = None
) -> ToolResult:
    """Scan `volumes` with limits on the calls a second of each action. A limit of 0 refuses all calls."""
    idle = idle_in(simulator.account.fleet)
    for action, per_second in rate.items():
        simulator.faults.throttle(action, per_second=per_second)
    asked = ["scan", "--detector", "ebs-idle", "--region", REGION]
    now = rfc3339(simulator.account.fleet.now)
    done = slackwater(
        home, *asked, "--now", now, "--format", "json", environment=_reaches(simulator) | dict(environment or {})
    )
    if not done.stdout:
        raise SystemExit(f"the scan ended with {done.returncode}, and said nothing but:\n{done.stderr}")
    document = json.loads(done.stdout)
    found = {one["resource"]["id"] for one in document["findings"]}
    scan = document["scan"]
    gaps = Counter(gap["what"] for gap in scan["gaps"] if not gap["optional"])
    says = not scan["complete"] and done.returncode == 3 and bool(gaps)
    whole = found == idle and scan["complete"] and done.returncode == 0
    outcome = f", `complete: {str(scan['complete']).lower()}`" + (f", gap `{'`, `'.join(gaps)}`" if gaps else "")
    return ToolResult(
        asked=f"`slackwater {' '.join(asked)}`",
        before=f"{len(idle)} idle volumes",
        after=f"{len(found)} of {len(idle)} found{outcome}",
        status=str(done.returncode),
        verdict="finds them all"
        if whole
        else "says that it is incomplete, and what is missing"
        if says
        else f"finds {len(found)} of {len(idle)}, silently",
        right=found <= idle and (whole or says),
    )


# -- 2. One denied permission


def denied(number: int, *, foreseen: bool) -> ToolResult:
    """Clean up every one of `file_systems` with a role that may not delete file systems.

    If `foreseen`, IAM's simulation also reports the denial. Otherwise only the call to AWS fails, as with a policy that
    the simulation does not evaluate.
    """
    with world_of(file_systems(instant(NOW), number)) as there:
        there.simulator.faults.deny(DELETE)
        if foreseen:
            there.simulator.faults.deny(f"iam-simulated:{DELETE}")
        before = mounted(there.account)
        unmounted, at = list[int](), list[datetime]()
        there.simulator.before(DELETE, lambda: unmounted.append(len(halves(mounted(there.account)))))
        for action in ("DeleteMountTarget", "CreateMountTarget"):
            there.simulator.before(f"elasticfilesystem:{action}", lambda: at.append(there.now()))
        executions = begin(there)
        run(there, executions, LONG)
        after = mounted(there.account)
        ends, reasons = ended(there, executions)
    whole = set(before) == set(after) and not halves(after)
    if at:
        minutes = math.ceil((at[-1] - at[0]).total_seconds() / 60)
        between = f"up to {max(unmounted)} at once had none; deleted and restored within {minutes} minutes"
    else:
        between = "none was ever deleted"
    good = "all mount targets are restored; meanwhile it could not be mounted" if at else "no clean-up starts"
    return ToolResult(
        asked=f"{number} approved clean-ups, all due on the same day",
        before=files_words(before),
        after=f"{files_words(after)}; {between}",
        status=f"{ends}: {reasons}",
        verdict=good if whole else f"{len(halves(after))} cannot be mounted any more",
        right=whole and not (foreseen and at),
    )


# -- 3. A tag without days


def tagged_without_days(home: Path, number: int) -> ToolResult:
    """Tag `unattached` volumes with a policy that sets no days of grace. Also check a policy that sets zero."""
    zero = home / "zero.toml"
    zero.write_text(f"{POLICY}grace_days = 0\n")
    refused = slackwater(home, "policy", "check", str(zero), environment={"AWS_REGION": REGION})
    with world_of(unattached(instant(NOW), number)) as there:
        before, left = volumes_left(there.account), []
        executions = begin(there)
        for days in (1, 29):
            run(there, executions, timedelta(days=days))
            left.append(volumes_left(there.account))
        days_off = {
            _days(cleanup.marked.act_after - cleanup.marked.at)
            for cleanup in there.cleanups.cleanups.values()
            if cleanup.marked
        }
        tagged = sum(ACT_AFTER in one.tags for one in there.account.fleet.volumes)
    refusal = refused.returncode == 2 and "grace_days" in refused.stderr
    right = refusal and left == [number, number] and tagged == number and days_off == {30}
    return ToolResult(
        asked=f"{number} approved clean-ups by a policy without `grace_days`; then `grace_days = 0`",
        before=f"{before} volumes",
        after=f"{left[0]} volumes on the next day, {left[1]} on the 29th; marked for {_days_words(days_off)} later; "
        f"`grace_days = 0` is {'refused' if refusal else 'taken'}",
        status=f"`policy check` {refused.returncode}",
        verdict="there is no such tag: 30 days by default, at least one" if right else "deletes on the day of the mark",
        right=right,
    )


# -- 4. Used since the tag


def used_since(number: int) -> ToolResult:
    """Tag `file_systems`, use them, and let the days of grace pass."""
    with world_of(file_systems(instant(NOW), number)) as there:
        before = mounted(there.account)
        executions = begin(there)
        run(there, executions, timedelta(hours=1))
        marked = sum(CLEANUP_TAG in one.tags for one in there.account.fleet.efs)
        asked_before = there.simulator.metrics_requested
        for id_ in before:
            there.account.use(id_)
        run(there, executions, LONG)
        after = mounted(there.account)
        asked = there.simulator.metrics_requested - asked_before
        off = sum(CLEANUP_TAG not in one.tags for one in there.account.fleet.efs)
        cleanups = there.cleanups.cleanups.values()
        early = [one.marked.act_after - one.ended_at for one in cleanups if one.marked and one.ended_at]
        ends, reasons = ended(there, executions)
    spared = before == after and off == marked == number
    days = _days(min(early, default=timedelta(0)))
    return ToolResult(
        asked=f"{number} approved clean-ups, 30 days of grace",
        before=f"{marked} marked file systems, all of them in use since",
        after=(
            f"{files_words(after)}; {'metrics were' if asked else 'no metric was'} asked for again; "
            f"{days:.0f} days of grace were left"
        ),
        status=f"{ends}: {reasons}",
        verdict="cancels each at the first sign of use"
        if spared
        else f"deletes {len(before) - len(after)} that are in use",
        right=spared and len(early) == number and days > 0,
    )


# -- 5. Slack refuses


def refused_by_slack(fault: Fault) -> ToolResult:
    """Send an audit's digest, and let Slack answer the first attempt with a fault."""
    with SlackServer() as slack:
        there = SlackWorld(channel=BotChannel(slack.bot_token, base_url=slack.url))
        slack.clock = lambda: there.clock().timestamp()
        there.policy(SLACK)
        there.audit("audit-1", entry(sighting()))
        slack.faults = [fault]
        first = there.notifier().notify("audit-1")
        kept = sum(post.waits for post in there.outbox.posts.values())
        arrived_at_once = len(slack.channels["C0DEFAULT"].messages)
        turns = 0
        waiting = first
        while waiting.waiting and turns < 10:
            there.clock.sleep(waiting.wait_s)
            waiting = there.notifier().notify("audit-1")
            turns += 1
        arrived = Counter(
            (message.metadata or {})["event_payload"]["id"] for message in slack.channels["C0DEFAULT"].messages
        )
        posts = there.outbox.posts
    once = arrived == Counter(dict.fromkeys(posts, 1))
    return ToolResult(
        asked="the digest of an audit, with its thread",
        before=f"{len(posts)} posts in the outbox",
        after=f"{arrived_at_once} in the channel and {kept} kept after the first try; "
        f"{arrived.total()} in the channel at the end, each {'once' if once else 'not once'}",
        status=f"{first.waiting} wait, then {waiting.waiting}",
        verdict="kept, and sent again" if once and kept else "lost",
        right=once and kept > 0 and not waiting.waiting,
    )


# -- Running the situations


def slackwater(home: Path, *arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command line in its own process, without environment variables that lead to AWS."""
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "slackwater_cli", *arguments],
        env=inherited | {"HOME": str(home)} | dict(environment),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


def _reaches(simulator: Simulator) -> dict[str, str]:
    keys = {"AWS_ACCESS_KEY_ID": "AKIADUMMY", "AWS_SECRET_ACCESS_KEY": "dummy", "AWS_EC2_METADATA_DISABLED": "true"}
    return {"AWS_ENDPOINT_URL": simulator.url, **keys}


@contextmanager
def world_of(fleet: Fleet, policy: str = POLICY) -> Iterator[World]:
    """Run the account, after one audit, with the clean-up functions."""
    with Simulator(fleet, port=line().port) as simulator:
        simulator.faults.unthrottle("cloudtrail:LookupEvents")  # throttling would take real time
        yield wired(simulator, parse_policy(policy, "slackwater.toml", registry()))


def findings(there: World) -> list[TrackedFinding]:
    """Return the findings that may be cleaned up."""
    return sorted((one for one in there.findings.findings.values() if one.sighting.deletes), key=lambda one: one.id)


def begin(there: World) -> list[Execution]:
    """Approve and begin a clean-up of each finding, and return the executions."""
    for finding in findings(there):
        there.approve(finding)
        there.begin(finding)
    executions = [there.execution(finding) for finding in findings(there)]
    for execution in executions:
        execution.clock = Turns(there.simulator, execution)
    return executions


class Away(Exception):
    """Raised by an execution that waits, so that others can run."""


@dataclass
class Turns:
    """The simulated clock of one execution among several. While the execution waits until `due`, the others run."""

    simulator: Simulator
    execution: Execution
    due: datetime | None = None

    @property
    def now(self) -> datetime:
        return SimulatedClock(self.simulator).now

    def wait(self, seconds: float) -> None:
        here = self.execution.checkpoint
        if here is None or self.execution.machine["States"][here.state]["Type"] != "Wait":
            self.simulator.advance(seconds)  # the wait before a retry
        elif self.due is None:
            self.due = self.now + timedelta(seconds=seconds)
            raise Away
        else:
            self.due = None


def run(there: World, executions: Sequence[Execution], within: timedelta) -> None:
    """Run all executions in parallel until `within` after the fleet's `now`."""
    end = datetime.fromtimestamp(there.account.fleet.now, UTC) + within
    while running := [one for one in executions if one.status == "RUNNING"]:
        first = min(running, key=lambda one: one.clock.due or there.now())
        due = first.clock.due or there.now()
        if due > end:
            break
        there.simulator.advance(max(0.0, (due - there.now()).total_seconds()))
        with suppress(Away):
            first.run()
    there.simulator.advance(max(0.0, (end - there.now()).total_seconds()))


def _days(span: timedelta) -> float:
    return span / timedelta(days=1)


def _days_words(days: set[float]) -> str:
    return ", ".join(f"{one:g} days" for one in sorted(days))


def ended(there: World, executions: Sequence[Execution]) -> tuple[str, str]:
    """Return how many clean-ups ended in each stage, and the reasons."""
    cleanups = [there.cleanups.cleanups[one.input["finding_id"]] for one in executions]
    stages = Counter(stage_words(cleanup.stage) for cleanup in cleanups)
    reasons = {re.sub(r" \(Access.*| on arn:\S+", "", cleanup.why) for cleanup in cleanups}
    return ", ".join(f"{count} {stage}" for stage, count in sorted(stages.items())), " / ".join(sorted(reasons))
