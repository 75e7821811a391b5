"""Clean-ups stored by an earlier version of Slackwater: the items and the changed account at every stage.

`PYTHONPATH=tests python -m support.stored_stages DIRECTORY` writes them, with the current code, from the simulated
account. Do that on the last commit before a stored document gets another format. Write into
`tests/fixtures/stored/<that format's number>`, and keep the existing directories.

A file is the log of one execution: the states that it entered, the calls that changed the account, and the items that
were stored. Each entry has the seconds since the beginning. `Past` replays a log up to any entry in a new account.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import ClientError

from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.table import Item, item
from slackwater.model.tracking import Write
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import MIB, Activity, instant
from support import cleanup_world
from support.asl import Checkpoint, Execution, parsed
from support.cleanup_world import GIB, READS, SimulatedClock, World, line, parse_policy, registry, wired
from support.memory_table import MemoryTable

STORED: Final = Path(__file__).parents[1] / "fixtures" / "stored"

type Entry = dict[str, Any]
type Deed = Callable[[World, Execution], None]


def _volume(build: Builder) -> None:
    volume = build.volume("left-behind", 100, created=build.ago(200), used=((build.ago(199), build.ago(60)),))
    build.detached(volume.id, build.id("i", "gone"), build.ago(60))


def _efs(build: Builder) -> None:
    build.file_system("old-media", zones="ac", standard_bytes=30 * GIB, access_points=2)


def _abandoned(build: Builder) -> None:
    build.file_system("encode-7", zones="a", days=3, standard_bytes=20 * GIB, tags={"Job": "encode"})


def _openzfs(build: Builder) -> None:
    build.export(build.openzfs("quiet-zfs", storage_gib=128, deployment="SINGLE_AZ_1", throughput=64), "projects")


def _ontap(build: Builder) -> None:
    build.server("quiet-ontap", "ONTAP", "SINGLE_AZ_1", storage_gib=1_024, throughput=128, volumes=("home",))


def _dated(build: Builder) -> None:
    work = Activity(shape=build.shapes.shape("trickle", 1), read=2.0 * MIB, write=2.0 * MIB)
    build.volume("dated", 500, on=build.instance("database", "m5.large"), type="gp2", activity=work)


def _provisioned(build: Builder) -> None:
    work = Activity(shape=build.shapes.shape("trickle", 2), read=1.0 * MIB, write=1.0 * MIB)
    build.file_system("too-fast", standard_bytes=200 * GIB, mode="provisioned", provisioned_mibps=200.0, activity=work)


@dataclass(frozen=True)
class Scenario:
    """A resource, the detector that finds it, and what happens.

    `deed` is called before each state. With `undo`, the clean-up is undone after its end.
    """

    build: Callable[[Builder], None]
    detector: str
    deed: Deed = lambda *_: None
    undo: bool = False
    more_policy: str = ""


def _denied(action: str, *, state: str) -> Deed:
    """Return a deed that denies an action from a state on."""

    def deed(there: World, execution: Execution) -> None:
        if execution.checkpoint and execution.checkpoint.state == state:
            there.simulator.faults.deny(action)

    return deed


def _both(*deeds: Deed) -> Deed:
    def deed(there: World, execution: Execution) -> None:
        for one in deeds:
            one(there, execution)

    return deed


def _stopped(there: World, execution: Execution) -> None:
    if execution.checkpoint and execution.checkpoint.state == "WaitForDelete" and not there.cleanups.control_.stopped:
        there.stop()


SCRATCH: Final = """
[[cleanup.unattended]]
tag = "Job=encode"
its_data_is_scratch_and_needs_no_backup = true
"""

SCENARIOS: Final[Mapping[str, Scenario]] = {
    "ebs": Scenario(_volume, "ebs-unattached", undo=True),
    "efs": Scenario(_efs, "efs-idle", undo=True),
    "efs-stopped-half-way": Scenario(_efs, "efs-idle", _stopped),
    "efs-not-put-back": Scenario(
        _efs,
        "efs-idle",
        _both(
            _denied("elasticfilesystem:DeleteMountTarget", state="Delete"),
            _denied("elasticfilesystem:CreateAccessPoint", state="Delete"),
        ),
    ),
    "efs-scratch": Scenario(_abandoned, "efs-abandoned", more_policy=SCRATCH),
    "openzfs": Scenario(_openzfs, "fsx-idle", undo=True),
    "ontap": Scenario(_ontap, "fsx-idle", undo=True),
    "ontap-not-put-back": Scenario(
        _ontap,
        "fsx-idle",
        _both(
            _denied("fsx:DeleteStorageVirtualMachine", state="Delete"),
            _denied("fsx:CreateVolumeFromBackup", state="Delete"),
        ),
    ),
    "gp3": Scenario(_dated, "ebs-outdated-type", undo=True),
    "efs-throughput": Scenario(_provisioned, "efs-throughput-mismatch", undo=True),
}


@contextmanager
def account_of(scenario: Scenario) -> Iterator[World]:
    """Run a new account with the resource of a scenario, after one audit by the current code."""
    build = Builder(instant(cleanup_world.NOW), cleanup_world.REGION)
    scenario.build(build)
    with Simulator(build.fleet(cleanup_world.ACCOUNT), port=line().port) as simulator:
        simulator.faults.unthrottle("cloudtrail:LookupEvents")
        policy = parse_policy(cleanup_world.POLICY + scenario.more_policy, "slackwater.toml", registry())
        yield wired(simulator, policy)


# -- Recording


@dataclass
class Recorder:
    """Writes a log. It stores only how an item differs from the last one of its kind and finding, which is little."""

    there: World
    log: list[Entry] = field(default_factory=list)
    table: MemoryTable = field(default_factory=MemoryTable)
    known: dict[str, Any] = field(default_factory=dict)
    last: dict[tuple[str, str], Entry] = field(default_factory=dict)

    def add(self, **entry: Any) -> None:
        self.log.append({"at": int(self.there.now().timestamp() - instant(cleanup_world.NOW)), **entry})

    def called(self, service: str, operation: str, params: Mapping[str, Any]) -> None:
        self.add(call=[service, operation, json.loads(json.dumps(params))])

    def stored(self) -> None:
        for key, stored in self.table.items.items():
            if self.known.get(str(key)) == stored:
                continue
            self.known[str(key)] = stored
            one: Entry = {name: int(value["N"]) if "N" in value else value["S"] for name, value in stored.items()}
            if "document" in one:
                one["document"] = json.loads(one["document"])
            kind = (key[0], key[1].partition("#")[0])
            self.add(put=changed(self.last.get(kind, {}), one) | {"pk": key[0], "sk": key[1]})
            self.last[kind] = one


MISSING: Final = object()


def changed(was: Mapping[str, Any], now: Mapping[str, Any]) -> Entry:
    """Return new and changed fields, and removed ones under "-". A document is compared field by field."""
    delta: Entry = {name: value for name, value in now.items() if was.get(name, MISSING) != value}
    if isinstance(delta.get("document"), dict) and "document" in was:
        delta["document"] = changed(was["document"], now["document"])
    gone = sorted(set(was) - set(now))
    return delta | ({"-": gone} if gone else {})


def merged(was: Mapping[str, Any], delta: Mapping[str, Any]) -> Entry:
    """Apply a change from `changed`."""
    now = {name: value for name, value in {**was, **delta}.items() if name != "-" and name not in delta.get("-", ())}
    if isinstance(delta.get("document"), dict):
        now["document"] = merged(was.get("document", {}), delta["document"])
    return now


def record(name: str, lists: Any = None) -> list[Entry]:
    """Return the log of a scenario, run with the current code.

    `lists` stores the lists that do not fit into a record.
    """
    scenario = SCENARIOS[name]
    with account_of(scenario) as there:
        recorder = Recorder(there)
        cleanups = DynamoCleanups(recorder.table.table, *((lists,) if lists else ()))
        write = there.cleanups.write

        def written(cleanup: Any, finding: Any = None) -> bool:
            if not write(cleanup, finding):
                return False
            assert cleanups.write(cleanup, finding)
            recorder.stored()
            return True

        there.cleanups.write = written  # type: ignore[method-assign]
        with calls_reported(recorder.called):
            finding = next(
                one for one in there.findings.findings.values() if one.sighting.detector == scenario.detector
            )
            there.approve(finding)
            finding = there.findings.findings[finding.id]
            DynamoFindings(recorder.table.table).write(Write(finding=finding, entry=None, expects=0))
            there.begin(finding)
            _run(recorder, there.execution(finding), scenario.deed)
            if scenario.undo:
                there.simulator.advance(86_400)
                there.ask_undo(finding)
                _run(recorder, there.execution(finding), scenario.deed)
    return recorder.log


def _run(recorder: Recorder, execution: Execution, deed: Deed) -> None:
    recorder.add(execution=execution.name, machine="undo" if "-undo-" in execution.name else "cleanup")
    while here := execution.checkpoint:
        if execution.machine["States"][here.state]["Type"] == "Task":
            recorder.add(state=here.state, data=here.data)
        deed(recorder.there, execution)
        execution.step()
    recorder.add(ended=execution.status)


@contextmanager
def calls_reported(report: Callable[[str, str, Mapping[str, Any]], None]) -> Iterator[None]:
    """Report every call that changed something, in the sessions of all worlds."""
    asked: dict[int, Any] = {}

    def before(params: Any, model: Any, context: Any, **_: Any) -> None:
        asked[id(context)] = params

    def after(http_response: Any, model: Any, context: Any, **_: Any) -> None:
        params = asked.pop(id(context), {})
        if http_response.status_code < 300 and not model.name.startswith(READS):
            report(model.service_model.service_name, model.name, params)

    sessions = (line().patient, line().once)
    for session in sessions:
        for hooks in {
            id(one): one for one in (session._hooks, *(c.meta.events for c in session._clients.values()))
        }.values():
            hooks.register("provide-client-params.*", before)
            hooks.register("after-call.*", after)
    try:
        yield
    finally:
        for session in sessions:
            for hooks in (session._hooks, *(c.meta.events for c in session._clients.values())):
                hooks.unregister("provide-client-params.*", before)
                hooks.unregister("after-call.*", after)


def keep(directory: Path, name: str, log: list[Entry]) -> None:
    """Write a log to a file."""
    directory.mkdir(parents=True, exist_ok=True)
    entries = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in log)
    (directory / f"{name}.json").write_text(f"[\n{entries}\n]\n", encoding="utf-8")


# -- Reading


def says(now: Any, stored: Any) -> bool:
    """Return whether a document has all fields of an earlier one. It may have more."""
    if isinstance(stored, dict):
        return isinstance(now, dict) and all(name in now and says(now[name], value) for name, value in stored.items())
    if isinstance(stored, list):
        return isinstance(now, list) and len(now) == len(stored) and all(map(says, now, stored))
    return bool(now == stored)


# -- Replaying


def logs(format_: int) -> dict[str, list[Entry]]:
    """Return the logs of a format, by scenario."""
    found = {name: STORED / str(format_) / f"{name}.json" for name in SCENARIOS}
    return {name: json.loads(file.read_text()) for name, file in found.items() if file.exists()}


@dataclass
class Past:
    """A log that is replayed in an account up to some entry.

    `items` are the table's items at that entry. `asleep` is the position of the execution.
    """

    there: World
    items: dict[tuple[str, str], Item] = field(default_factory=dict)
    name: str = ""
    machine: str = ""
    asleep: Checkpoint | None = None
    played: int = 0
    ended: bool = False
    _last: dict[tuple[str, str], Entry] = field(default_factory=dict)

    def play(self, log: list[Entry], until: int) -> None:
        """Replay the entries up to `until`, from the current position."""
        for entry in log[self.played : until]:
            elapsed = self.there.now().timestamp() - instant(cleanup_world.NOW)
            if entry["at"] > elapsed:
                self.there.simulator.advance(entry["at"] - elapsed)
            if "call" in entry:
                self._call(*entry["call"])
            elif "put" in entry:
                self.put(entry["put"])
            elif "execution" in entry:
                self.name, self.machine = entry["execution"], entry["machine"]
                self.asleep, self.ended = None, False
            elif "state" in entry:
                self.asleep = Checkpoint(entry["state"], entry["data"])
            else:
                self.asleep, self.ended = None, True
        self.played = until

    def _call(self, service: str, operation: str, params: Mapping[str, Any]) -> None:
        """Repeat a call in the account.

        If the simulator no longer supports a deletion, the resource is removed directly. If it no longer supports a
        creation, nothing is created.
        """
        try:
            client: Any = line().once.client(service, cleanup_world.REGION)  # type: ignore[call-overload]
            getattr(client, xform_name(operation))(**params)
        except ClientError as error:
            if error.response["Error"]["Code"] != "UnknownOperationException":
                raise
            if operation.startswith("Delete"):
                self.there.account.remove(next(value for name, value in params.items() if name.endswith("Id")))

    @property
    def stored(self) -> MemoryTable:
        """Return the table at the current entry."""
        return MemoryTable(items=dict(self.items))

    def resumed(self, format_: int) -> Execution:
        """Return the unfinished execution, with the definition of its version, in the current account."""
        finding_id = self.name.partition("-")[0]
        text = (STORED / str(format_) / f"{self.machine}.asl.yaml").read_text()
        return Execution(
            parsed(re.sub(r"\$\{(\w+?)(?:Arn)?}", r"\1", text)),
            self.there.functions,
            {"finding_id": finding_id},
            name=self.name,
            clock=SimulatedClock(self.there.simulator),
            checkpoint=self.asleep,
        )

    def put(self, delta: Entry) -> None:
        """Store an item, given how it differs from the last one of its kind."""
        kind = (delta["pk"], delta["sk"].partition("#")[0])
        one = self._last[kind] = merged(self._last.get(kind, {}), delta)
        whole = one | ({"document": json.dumps(one["document"], ensure_ascii=False)} if "document" in one else {})
        self.items[delta["pk"], delta["sk"]] = item(**whole)


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    for one in SCENARIOS:
        keep(directory, one, record(one))
