"""Thousands of EFS access points, answered in this process. The simulated account answers everything else."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from botocore.exceptions import ClientError

from slackwater_simulator import Simulator
from support.cleanup_world import ACCOUNT, REGION, Line, line

PAGE: Final = 100
SETTLING_TIME_S: Final = 5
"""How long it takes to create or delete an access point, in seconds."""


@dataclass(frozen=True)
class Point:
    """An access point. `gone_at` is when its deletion ends, in epoch seconds; None if it is not being deleted."""

    id: str
    file_system: str
    token: str
    tags: Mapping[str, str]
    path: str
    made_at: float
    gone_at: float | None = None


@dataclass
class Points:
    """All access points.

    Each call takes `call_s` seconds of the simulated account's time. `before` receives the name of each operation.
    """

    simulator: Simulator
    call_s: float = 0.0
    points: dict[str, Point] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    before: Callable[[str], None] = lambda _: None
    _tokens: dict[str, str] = field(default_factory=dict)
    _ids: dict[str, list[str]] = field(default_factory=dict)

    def make(self, file_system: str, number: int) -> None:
        """Add access points that are older than the fleet."""
        for n in range(number):
            self._add(
                Point(f"fsap-{n:017x}", file_system, f"theirs-{n}", {"Name": f"tenant-{n}"}, f"/tenants/{n}", 0.0)
            )

    def of(self, file_system: str) -> list[Point]:
        """Return the access points of a file system, without those that are being deleted."""
        return [one for one in self.points.values() if one.file_system == file_system and one.gone_at is None]

    @property
    def now(self) -> float:
        """Return the simulated account's time, in epoch seconds."""
        return self.simulator.account.fleet.now + self.simulator.account.clock.elapsed

    # -- EFS operations

    def describe_access_points(self, **asked: Any) -> Any:
        self._called("DescribeAccessPoints")
        if id_ := asked.get("AccessPointId"):
            return {"AccessPoints": [self._shown(self._found(id_))]}
        if not self.simulator.account.exists(asked["FileSystemId"]):
            raise _error("FileSystemNotFound", "DescribeAccessPoints")
        ids, page = self._ids.get(asked["FileSystemId"], []), list[Any]()
        for at in range(int(asked.get("NextToken", 0)), len(ids)):
            if len(page) == asked["MaxResults"]:
                return {"AccessPoints": page, "NextToken": str(at)}
            one = self.points[ids[at]]
            if not self._is_gone(one):
                page.append(self._shown(one))
        return {"AccessPoints": page}

    def tag_resource(self, ResourceId: str, Tags: list[Mapping[str, str]]) -> None:
        self._called("TagResource")
        found = self._found(ResourceId)
        self.points[found.id] = replace(found, tags={**found.tags, **{one["Key"]: one["Value"] for one in Tags}})

    def untag_resource(self, ResourceId: str, TagKeys: list[str]) -> None:
        self._called("UntagResource")
        found = self._found(ResourceId)
        self.points[found.id] = replace(found, tags={k: v for k, v in found.tags.items() if k not in TagKeys})

    def create_access_point(
        self, FileSystemId: str, ClientToken: str, Tags: list[Mapping[str, str]], **rest: Any
    ) -> None:
        self._called("CreateAccessPoint")
        if ClientToken in self._tokens:
            raise _error("AccessPointAlreadyExists", "CreateAccessPoint")
        tags = {one["Key"]: one["Value"] for one in Tags}
        new = f"fsap-{len(self.points):x}{FileSystemId[-8:]}"
        self._add(Point(new, FileSystemId, ClientToken, tags, rest["RootDirectory"]["Path"], self.now))

    def delete_access_point(self, AccessPointId: str) -> None:
        self._called("DeleteAccessPoint")
        found = self._found(AccessPointId)
        self._tokens.pop(found.token, None)
        self.points[found.id] = replace(found, gone_at=found.gone_at or self.now + SETTLING_TIME_S)

    def _called(self, operation: str) -> None:
        self.before(operation)
        self.calls[operation] += 1
        if self.call_s:
            self.simulator.advance(self.call_s)

    def _add(self, point: Point) -> None:
        self.points[point.id] = point
        self._tokens[point.token] = point.id
        self._ids.setdefault(point.file_system, []).append(point.id)

    def _found(self, id_: str) -> Point:
        found = self.points.get(id_)
        if found is None or self._is_gone(found):
            raise _error("AccessPointNotFound", "DescribeAccessPoints")
        return found

    def _is_gone(self, one: Point) -> bool:
        return one.gone_at is not None and self.now >= one.gone_at

    def _shown(self, one: Point) -> dict[str, Any]:
        coming = self.now < one.made_at + SETTLING_TIME_S
        return {
            "AccessPointId": one.id,
            "AccessPointArn": f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:access-point/{one.id}",
            "ClientToken": one.token,
            "FileSystemId": one.file_system,
            "LifeCycleState": "deleting" if one.gone_at else "creating" if coming else "available",
            "PosixUser": {"Uid": 1_000, "Gid": 1_000},
            "RootDirectory": {"Path": one.path},
            "Tags": [{"Key": key, "Value": value} for key, value in one.tags.items()],
        }


class Efs:
    """An EFS client that answers calls about access points itself, and passes others to another client."""

    def __init__(self, points: Points, other: Any) -> None:
        self._points, self._other = points, other

    def __getattr__(self, name: str) -> Any:
        of_points = (
            getattr(self._points, name, None) if "access_point" in name or name.endswith("tag_resource") else None
        )
        other = getattr(self._other, name)
        if of_points is None:
            return other
        ours = of_points

        def call(**asked: Any) -> Any:
            return (other if str(asked.get("ResourceId", "fsap-")).startswith("fs-") else ours)(**asked)

        return call


class Session:
    """A session whose EFS clients answer calls about access points."""

    def __init__(self, points: Points, other: Any) -> None:
        self._points, self._other = points, other

    def client(self, service: str, region: str) -> Any:
        client = self._other.client(service, region)
        return Efs(self._points, client) if service == "efs" else client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)


def line_of(points: Points) -> Line:
    """Return the shared address and sessions, with these access points."""
    patient, once = Session(points, line().patient), Session(points, line().once)
    return replace(line(), patient=patient, once=once)  # type: ignore[arg-type]


def _error(code: str, operation: str) -> ClientError:
    details: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": 404}}
    return ClientError(details, operation)
