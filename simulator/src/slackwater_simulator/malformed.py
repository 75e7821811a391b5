"""Make answers that a service would never send: wrong bytes or types, missing members, points at wrong times.

A seed draws what is wrong. No answer is one that the service could have meant: members that AWS may leave out are never
left out, and text is never changed to other text of its kind.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from xml.etree import ElementTree as ET

from .wire import Json, Reply, as_json

_TOKENS: Final = frozenset({"NextToken", "nextToken", "NextMarker", "Marker"})
_LEFT_OUT: Final = _TOKENS | {
    *("Tags", "Name", "AvailabilityZoneName", "AvailabilityZoneId", "ProvisionedThroughputInMibps", "KmsKeyId"),
    *("FileSystemProtection", "ReplicationOverwriteProtection", "ValueInIA", "ValueInStandard", "ValueInArchive"),
    *("TransitionToIA", "TransitionToArchive", "TransitionToPrimaryStorageClass", "LastReplicatedTimestamp"),
    *("DiskIopsConfiguration", "Iops", "Mode", "ThroughputCapacity", "StorageCapacity", "StorageType"),
    *("LustreConfiguration", "OntapConfiguration", "OpenZFSConfiguration", "WindowsConfiguration", "RootVolumeId"),
    *("AutomaticBackupRetentionDays", "NfsExports", "ClientConfigurations", "VolumePath", "JunctionPath"),
    *("Resources", "ResourceName", "CloudTrailEvent", "Dimensions", "Label", "Messages", "DeploymentType"),
    "OntapVolumeType",
}
"""Optional members in the services' models. An answer without them is still valid, but has another meaning."""
_ELEMENTS_LEFT_OUT: Final = frozenset({
    *("nextToken", "tagSet", "item", "iops", "throughput", "device", "attachTime", "multiAttachEnabled"),
    *("instanceId", "monitoring", "state", "rootDeviceName", "reason", "instanceLifecycle", "hypervisor"),
    *("networkPerformanceOptions", "bandwidthWeighting", "networkInfo", "networkCards", "ebsInfo", "ebsOptimizedInfo"),
    *("baselineBandwidthInGbps", "peakBandwidthInGbps", "baselineBandwidthInMbps", "maximumBandwidthInMbps"),
    *("baselineIops", "maximumIops", "instancesSet"),
})  # fmt: skip
"""The same for EC2's elements. It goes by name only, so it has some elements that are required in some places."""

_OTHERS: Final[Mapping[str, Sequence[Any]]] = {
    "str": ({"unexpected": True}, ["unexpected"], 7),
    "int": ("seven", [], {}),
    "float": ("seven", [], {}),
    "bool": ("perhaps", []),
    "list": ("unexpected", {"unexpected": 1}, 7),
    "dict": ("unexpected", [], 7),
}
"""Values of another type, by the name of the right type."""
_TYPED: Final = re.compile(r"-?\d+(\.\d+)?|true|false|\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Texts of XML elements that are not plain strings."""

_MANY: Final = 50
_HTML: Final = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Please sign in&nbsp;first.<br></body></html>"
)


def malform(reply: Reply, how: str, seed: int) -> Reply:
    """Return the reply, made wrong in one of `WAYS`. Errors are returned unchanged."""
    if reply.status >= 300:
        return reply
    return WAYS[how](reply, random.Random(seed))


def _type(reply: Reply, chance: random.Random) -> Reply:
    """Give up to three values another type."""
    if not _is_json(reply):
        return _in_xml(reply, chance, lambda leaf: bool(_TYPED.fullmatch(leaf.text or "")), text="unexpected")
    answer = json.loads(reply.body)
    for container, key in _some(chance, list(_spots(answer))):
        container[key] = chance.choice(_OTHERS.get(type(container[key]).__name__, ("unexpected",)))
    return replace(reply, body=as_json(answer))


def _missing(reply: Reply, chance: random.Random) -> Reply:
    """Leave out up to three required members."""
    if not _is_json(reply):
        # A tag without a value has an empty value, so it would still be valid.
        return _in_xml(reply, chance, lambda leaf: _name(leaf) != "value", gone=True)
    return _without(reply, chance, lambda container, key: container.pop(key, None))


def _null(reply: Reply, chance: random.Random) -> Reply:
    """Set up to three required members to null, or make their XML elements empty."""
    if not _is_json(reply):
        return _in_xml(reply, chance, lambda leaf: not len(leaf) and _name(leaf) != "value")
    return _without(reply, chance, lambda container, key: container.update({key: None}))


def _without(reply: Reply, chance: random.Random, do: Callable[[Json, str], object]) -> Reply:
    answer = json.loads(reply.body)
    spots = [
        (held, key)
        for held, key in _spots(answer)
        if isinstance(held, dict) and key not in _LEFT_OUT and not (key == "Value" and "Key" in held)
    ]
    for container, key in _some(chance, spots):
        do(container, key)
    return replace(reply, body=as_json(answer))


type Way = Callable[[Reply, random.Random], Reply]
"""A function that makes an answer wrong."""


def _of_metrics(change: Callable[[list[Json], random.Random], object]) -> Way:
    """Return a way that changes GetMetricData's answers. Other answers stay unchanged."""

    def changed(reply: Reply, chance: random.Random) -> Reply:
        if not _is_json(reply):
            return reply
        answer = json.loads(reply.body)
        if results := answer.get("MetricDataResults"):
            change(results, chance)
        return replace(reply, body=as_json(answer))

    return changed


def _shifted(results: list[Json], chance: random.Random) -> None:
    """Move all of CloudWatch's points 1 to 48 hours earlier or later, as if its clock had changed."""
    by = chance.choice((-1, 1)) * chance.randint(1, 48) * 3600
    for one in results:
        one["Timestamps"] = [time + by for time in one["Timestamps"]]


def _left_out(results: list[Json], chance: random.Random) -> None:
    """Leave out a requested metric."""
    results.pop(chance.randrange(len(results)))


def _unasked(results: list[Json], _: random.Random) -> None:
    """Add a metric that was not requested."""
    results.append({**results[0], "Id": "unasked"})


def _repeated(results: list[Json], chance: random.Random) -> None:
    """Return one metric twice, with different values."""
    if with_points := [one for one in results if one["Values"]]:
        one = chance.choice(with_points)
        results.append({**one, "Values": [value + 1 for value in one["Values"]]})


def _points(change: Callable[[list[Any], list[Any], random.Random], object]) -> Way:
    """Return a way that changes the points of up to three metrics that have points."""

    def changed(results: list[Json], chance: random.Random) -> None:
        for one in _some(chance, [one for one in results if one["Values"]]):
            change(one["Timestamps"], one["Values"], chance)

    return _of_metrics(changed)


def _unordered(times: list[Any], values: list[Any], chance: random.Random) -> None:
    both = list(zip(times, values, strict=True))
    chance.shuffle(both)
    times[:], values[:] = [time for time, _ in both], [value for _, value in both]


def _twice(times: list[Any], values: list[Any], chance: random.Random) -> None:
    place = chance.randrange(len(times))
    times.append(times[place])
    values.append(values[place] + 1)


def _outside(times: list[Any], _: list[Any], chance: random.Random) -> None:
    times[chance.randrange(len(times))] += chance.choice((-1, 1)) * 400 * 86_400


def _uneven(times: list[Any], _: list[Any], chance: random.Random) -> None:
    del times[chance.randrange(len(times))]


def _value(*instead: Any) -> Callable[[list[Any], list[Any], random.Random], None]:
    def put(_: list[Any], values: list[Any], chance: random.Random) -> None:
        values[chance.randrange(len(values))] = chance.choice(instead)

    return put


WAYS: Final[Mapping[str, Way]] = {
    "garbage": lambda reply, chance: replace(reply, body=chance.randbytes(max(8, len(reply.body) // 4))),
    "html": lambda reply, _: replace(reply, body=_HTML, content_type="text/html"),
    "empty": lambda reply, _: replace(reply, body=b""),
    "type": _type,
    "missing": _missing,
    "null": _null,
    "shifted": _of_metrics(_shifted),
    "left-out": _of_metrics(_left_out),
    "unasked": _of_metrics(_unasked),
    "told-twice": _of_metrics(_repeated),
    "unordered": _points(_unordered),
    "twice": _points(_twice),
    "outside": _points(_outside),
    "uneven": _points(_uneven),
    "not-a-number": _points(_value(float("nan"), float("inf"), float("-inf"))),
    "word": _points(_value("NaN", "12.5", None, True, [])),
}
"""The ways to make an answer wrong. From `shifted` on, they change only GetMetricData's answers."""
OF_METRICS: Final = tuple(WAYS)[tuple(WAYS).index("shifted") :]


def _is_json(reply: Reply) -> bool:
    return "json" in reply.content_type


def _spots(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of a document with each of its keys or indexes. Sample long lists of plain values."""
    items = list(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())
    if len(items) > _MANY and not isinstance(items[0][1], dict | list):
        items = items[:: len(items) // _MANY]
    for key, value in items:
        yield node, key
        yield from _spots(value)


def _some[T](chance: random.Random, items: Sequence[T]) -> list[T]:
    return chance.sample(items, min(len(items), chance.randint(1, 3)))


def _in_xml(
    reply: Reply,
    chance: random.Random,
    fits: Callable[[ET.Element], bool],
    *,
    text: str | None = None,
    gone: bool = False,
) -> Reply:
    """Change the text of up to three required elements, or remove them."""
    root = ET.fromstring(reply.body)  # noqa: S314 -- the simulator wrote it
    namespace = root.tag.partition("}")[0].lstrip("{")
    spots = [
        (parent, child)
        for parent in root.iter()
        for child in parent
        if _name(child) not in _ELEMENTS_LEFT_OUT and _name(child) != "requestId" and fits(child)
    ]
    for parent, child in _some(chance, spots):
        if not gone:
            child.text = text
        elif child in parent:
            parent.remove(child)
    return replace(reply, body=ET.tostring(root, "utf-8", default_namespace=namespace))


def _name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
