"""FSx file systems in a simulated account, and the clean-up adapters for them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from slackwater.aws.cleanup.fsx.backups import FsxBackupTaker, FsxSweeper
from slackwater.aws.cleanup.fsx.cleanup import FsxRemover, FsxWatcher
from slackwater.aws.cleanup.fsx.restore import FsxRestorer
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint
from slackwater.model.cleanup import (
    BACKUP_OF,
    EXPIRES_AT,
    RESTORE,
    TOKEN,
    Backup,
    Cleanup,
    Removal,
    Restored,
    SubResource,
)
from slackwater.model.tracking import TrackedResource
from slackwater_simulator import Fleet, Simulator
from slackwater_simulator.resources import FsxFileSystem, FsxVolume, StorageVirtualMachine

REGION: Final = "ap-northeast-1"
ACCOUNT: Final = "123456789012"
NOW: Final = 1_794_000_000
AT: Final = datetime.fromtimestamp(NOW, UTC)
EARLIER: Final = NOW - 200 * 86_400

ZFS: Final = FsxFileSystem(
    id="fs-0a1b2c3d4e5f60718",
    region=REGION,
    created=EARLIER,
    kind="OPENZFS",
    deployment="MULTI_AZ_1",
    storage_gib=128,
    throughput=320,
    iops=1_000,
    tags={"Name": "render-farm", "Team": "films"},
    detail={"groups": ["sg-0a", "sg-0b"]},
)
ZFS_ROOT: Final = FsxVolume(id=ZFS.root_volume_id, file_system_id=ZFS.id, region=REGION, created=EARLIER, name="fsx")
ZFS_CHILD: Final = replace(
    ZFS_ROOT, id="fsvol-0aaaaaaaaaaaaaaaa", name="shots", path="/fsx/shots", parent=ZFS_ROOT.id, tags={"Name": "shots"}
)

ONTAP: Final = FsxFileSystem(
    id="fs-0b1b2c3d4e5f60718",
    region=REGION,
    created=EARLIER,
    kind="ONTAP",
    deployment="SINGLE_AZ_1",
    storage_gib=1_024,
    throughput=128,
    tags={"Name": "shares"},
    backup_days=0,
)
HOME: Final = StorageVirtualMachine(
    id="svm-0aaaaaaaaaaaaaaaa", file_system_id=ONTAP.id, region=REGION, created=EARLIER, name="home", tags={"Team": "a"}
)
WORK: Final = replace(HOME, id="svm-0bbbbbbbbbbbbbbbb", name="work", tags={})
HOME_ROOT: Final = FsxVolume(
    id="fsvol-00000000000000000",
    file_system_id=ONTAP.id,
    region=REGION,
    created=EARLIER,
    name="home_root",
    kind="ONTAP",
    path="/",
    svm_id=HOME.id,
    size_gib=1,
    detail={"root": True},
)
DATA: Final = replace(
    HOME_ROOT, id="fsvol-0bbbbbbbbbbbbbbbb", name="data", path="/data", size_gib=100, tags={"Name": "data"}, detail={}
)
DEEP: Final = replace(DATA, id="fsvol-0aaaaaaaaaaaaaaa1", name="deep", path="/data/x/deep", size_gib=20, tags={})
BUILDS: Final = replace(
    DATA, id="fsvol-0ccccccccccccccc1", name="builds", path="/data", svm_id=WORK.id, size_gib=50, tags={}
)

WINDOWS: Final = replace(ONTAP, id="fs-0c1b2c3d4e5f60718", kind="WINDOWS", deployment="SINGLE_AZ_2", tags={})

FLEET: Final = Fleet(
    now=NOW,
    account=ACCOUNT,
    regions=(REGION,),
    fsx=(ZFS, ONTAP, WINDOWS),
    fsx_volumes=(ZFS_ROOT, ZFS_CHILD, HOME_ROOT, DATA, DEEP, BUILDS),
    svms=(HOME, WORK),
)


def tracked(id: str) -> TrackedResource:
    """Return a file system as a finding names it."""
    arn = f"arn:aws:fsx:{REGION}:{ACCOUNT}:file-system/{id}"
    return TrackedResource(arn=arn, id=id, type="fsx-file-system", name="it, itself", account=ACCOUNT, region=REGION)


@dataclass(frozen=True)
class World:
    """A simulated account, and the adapters that work on it."""

    sim: Simulator
    meter: CallMeter
    reading: AwsSession
    asking: AwsSession

    @property
    def account(self) -> Any:
        return self.sim.account

    @property
    def watcher(self) -> FsxWatcher:
        return FsxWatcher(self.reading)

    @property
    def taker(self) -> FsxBackupTaker:
        return FsxBackupTaker(self.reading, self.asking)

    @property
    def remover(self) -> FsxRemover:
        return FsxRemover(self.reading, self.asking)

    @property
    def restorer(self) -> FsxRestorer:
        return FsxRestorer(self.reading, self.asking)

    @property
    def sweeper(self) -> FsxSweeper:
        return FsxSweeper(self.reading, self.asking)

    def put(self, one: Any, **changed: Any) -> None:
        """Replace a resource of the fleet with a changed copy."""
        self.account.put(replace(one, **changed))

    def systems(self, kind: str) -> list[str]:
        """Return the ids of all file systems of a type, without those that are being deleted."""
        return [one.id for one in self.account.fleet.fsx if one.kind == kind and one.phase != "DELETING"]

    def asked(self, action: str) -> int:
        """Return the number of calls of an FSx action."""
        return self.sim.calls.get(f"fsx:{action}", 0)

    def begun(self, system: FsxFileSystem) -> Cleanup:
        """Return a clean-up of a file system that is recorded and backed up. No sub-resource is removed yet."""
        resource = tracked(system.id)
        recorded = self.watcher.record(resource)
        subject = self.taker.subject(resource)
        backup = Backup(subject=subject, token="0123456789abcdef-1-0", asked_at=AT, expires_at=AT + timedelta(days=30))
        copy = self.taker.start(resource, backup, tags(resource, backup))
        self.sim.advance(1_000)
        return Cleanup(
            finding_id="0123456789abcdef",
            attempt=1,
            execution="0123456789abcdef-1",
            detector="fsx-idle",
            resource=resource,
            owner="films",
            fingerprint="f",
            setting=None,
            requested_by="ada",
            started_at=AT,
            promised_monthly_usd=None,
            recorded=recorded,
            backups=(replace(backup, id=copy.id, state="verified"),),
        )

    def without(self, cleanup: Cleanup) -> Cleanup:
        """Delete the file system, and return its clean-up."""
        part = SubResource(kind="file-system", id=cleanup.resource.id, arn=cleanup.resource.arn)
        self.remover.remove(cleanup.resource, part)
        self.sim.advance(700)
        return removing(cleanup, part)

    def back(self, cleanup: Cleanup, most: int = 12) -> Restored:
        """Restore the file system step by step, ten minutes apart, and return the result."""
        for _ in range(most):
            restored = self.restorer.restore(cleanup)
            if restored.state != "running":
                return restored
            cleanup = replace(cleanup, restored=restored)
            self.sim.advance(600)
        raise AssertionError(f"it does not end: {restored}")


def removing(cleanup: Cleanup, part: SubResource) -> Cleanup:
    """Return the clean-up with this sub-resource's deletion on record as requested."""
    return replace(cleanup, removals=(*cleanup.removals, Removal(part=part, asked_at=AT)))


def tags(resource: TrackedResource, backup: Backup) -> dict[str, str]:
    """Return the tags that the backup step sets."""
    return {
        "Name": f"{resource.name}, before it was deleted",
        BACKUP_OF: resource.arn,
        TOKEN: backup.token,
        EXPIRES_AT: f"{backup.expires_at:%Y-%m-%dT%H:%M:%SZ}",
        RESTORE: "slackwater cleanup undo 0123456789abcdef",
    }


def sessions(sim: Simulator) -> World:
    """Return the world of a running simulator."""
    meter = CallMeter()
    endpoint = Endpoint(sim.url, "AKIADUMMY", "dummy")
    return World(
        sim,
        meter,
        AwsSession(meter=meter, endpoint=endpoint),
        AwsSession(meter=meter, endpoint=endpoint, retries=NO_RETRIES),
    )


class Canned:
    """A session whose clients answer from a table, by method.

    Answers are returned in order, and the last one is repeated. An answer that is an exception is raised.
    """

    def __init__(self, **answers: Any) -> None:
        self.answers = {name: list(given) if isinstance(given, tuple) else [given] for name, given in answers.items()}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def client(self, _service: str, _region: str) -> Any:
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.__dict__.get("answers", {}):
            raise AttributeError(name)

        def call(**parameters: Any) -> Any:
            self.asked.append((name, parameters))
            given = self.answers[name]
            answer = given.pop(0) if len(given) > 1 else given[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call
