"""Serve EC2's query protocol: code shared by all resources, Regions, and tags."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

from .partitions import REGIONS, arn, partition, suffix
from .resources import Backup, Instance, Tags, Volume
from .wire import AwsError, Call, Json, Reply, page_of, xml_reply

ENABLED = REGIONS["aws"]
_PAGES = {"volumeSet": (500, 1000), "instanceTypeSet": (100, 100), "volumeModificationSet": (500, 500)}
"""Page sizes: the default without MaxResults, and the maximum. Both are 1000 for other lists."""
_TAGS = 50
"""The maximum number of tags on one resource."""
_MISSING = {Volume: "InvalidVolume.NotFound", Instance: "InvalidInstanceID.NotFound"}


def hexadecimal(name: str, length: int = 17) -> str:
    """Return stable hexadecimal digits for an id."""
    return blake2b(name.encode(), digest_size=16).hexdigest()[:length]


def key_arn(region: str, account: str) -> str:
    """Return the ARN of the account's storage key."""
    return arn("kms", region, account, f"key/{hexadecimal(account, 8)}-1111-4222-8333-{hexadecimal(account, 12)}")


def zone_id(az: str) -> str:
    """Return the id of an Availability Zone: a is az1, b is az2, and so on."""
    country, *parts, direction, number = az[:-1].split("-")  # `us-gov-west-1`
    area = country + "".join(part[0] for part in parts)
    compass = {"northeast": "ne", "northwest": "nw", "southeast": "se"}.get(direction, direction[0])
    return f"{area}{compass}{number}-az{ord(az[-1]) - ord('a') + 1}"


def invalid(message: str) -> AwsError:
    """Return the error for an invalid parameter value."""
    return AwsError("InvalidParameterValue", message)


def not_together(message: str) -> AwsError:
    """Return the error for parameters that exclude each other."""
    return AwsError("InvalidParameterCombination", message)


def filtered[T](call: Call, items: Sequence[T], known: Mapping[str, Callable[[T], Any]]) -> Sequence[T]:
    """Return the items that pass all filters. `known` maps a filter's name to a function of an item's value or values.

    An unknown filter raises an error, even if EC2 has it. The simulator never ignores one.
    """
    for entry in call.input.get("Filter", ()):
        name, wanted = entry.get("Name", ""), [str(value) for value in entry.get("Value", ())]
        if name not in known and not name.startswith("tag:") and name != "tag-key":
            raise invalid(f"The filter '{name}' is invalid")
        has = known.get(name) or _of_tags(name)
        items = [item for item in items if any(_fits(has(item), pattern) for pattern in wanted)]
    return items


def _of_tags(name: str) -> Callable[[Any], list[str]]:
    key = name.removeprefix("tag:")
    return lambda item: list(item.tags) if name == "tag-key" else [item.tags[key]] if key in item.tags else []


def _fits(held: str | list[str], pattern: str) -> bool:
    return any(fnmatchcase(value, pattern) for value in ([held] if isinstance(held, str) else held))


def paged[T](call: Call, found: Sequence[T], name: str, render: Callable[[T], object], *, keep: bool = True) -> Reply:
    """Return one page. With `keep=False` it is not cached, because it changes with time."""
    usual, most = _PAGES.get(name, (1000, 1000))
    given = call.input.get("MaxResults")
    if given is not None and (not str(given).isdigit() or not 5 <= int(given) <= 1000):
        raise invalid(f"Value ( {given} ) for parameter maxResults is invalid. Expecting a value between 5 and {most}.")

    def page() -> Reply:
        return xml_reply(call, page_of(call, name, found, render, min(int(given or usual), most)))

    inputs = repr(sorted((key, repr(value)) for key, value in call.input.items()))
    return call.account.kept((call.operation, call.region, inputs), page) if keep else page()


def asked_for[T](call: Call, parameter: str, everything: Sequence[T], find: Callable[[str], T]) -> Sequence[T]:
    """Return the items with the ids in a parameter, or everything if it is missing."""
    ids = call.input.get(parameter)
    if not ids:
        return everything
    if call.input.get("MaxResults"):
        raise not_together(f"The parameter {parameter} cannot be used with the parameter maxResults")
    return [find(each) for each in dict.fromkeys(ids)]


def owned[T: (Volume, Instance)](call: Call, item_id: str, kind: type[T]) -> T:
    """Return a volume or an instance of the Region."""
    item = call.find(kind, item_id)
    if item is None:
        raise AwsError(_MISSING[kind], f"The {kind.__name__.lower()} '{item_id}' does not exist.")
    return item


def volume_of(call: Call) -> Volume:
    """Return the volume that a call names."""
    return owned(call, str(call.input.get("VolumeId", "")), Volume)


def the_snapshot(call: Call, snapshot_id: str) -> Backup:
    """Return a snapshot of the Region."""
    found = call.backup("snapshot", snapshot_id)
    if found is None:
        raise AwsError("InvalidSnapshot.NotFound", f"The snapshot '{snapshot_id}' does not exist.")
    return found


def operator(principal: str) -> Json:
    """Render whether an AWS service manages the resource, and which."""
    return {"managed": True, "principal": principal} if principal else {"managed": False}


def done(call: Call) -> Reply:
    """Return the answer of calls that return only success."""
    return xml_reply(call, {"return": True})


def describe_regions(call: Call) -> Reply:
    """List the enabled Regions."""
    names = filtered(call, call.account.fleet.enabled or REGIONS[partition(call.region)], {"region-name": str})
    return xml_reply(call, {"regionInfo": [_region(name) for name in names]})


def _region(name: str) -> Json:
    endpoint = f"ec2.{name}.{suffix(name)}"
    return {"regionName": name, "regionEndpoint": endpoint, "optInStatus": "opt-in-not-required"}


def tag_set(tags: Tags) -> list[Json] | None:
    """Render EC2's tagSet. Without tags, return None, and the element is left out."""
    return [{"key": key, "value": value} for key, value in tags.items()] or None


def given_tags(call: Call, kind: str) -> dict[str, str]:
    """Return the tags that a request's TagSpecification gives to the resource it creates."""
    found: dict[str, str] = {}
    for entry in call.input.get("TagSpecification", ()):
        if entry.get("ResourceType") != kind:
            raise invalid(f"'{entry.get('ResourceType')}' is not a valid taggable resource type here.")
        found |= _tags(entry)
    return _checked(found)


def _tags(holder: Json) -> dict[str, str]:
    return {str(tag["Key"]): str(tag.get("Value", "")) for tag in holder.get("Tag", ())}


def _checked(tags: dict[str, str]) -> dict[str, str]:
    """Return the tags, if AWS accepts them."""
    for key, value in tags.items():
        if not key or len(key) > 127 or len(value) > 255:
            raise invalid(f"Tag {key!r} is too long, or has no key.")
        if key.lower().startswith("aws:"):
            raise invalid("Tag keys starting with 'aws:' are reserved for internal use")
    return _counted(tags)


def _counted(tags: dict[str, str]) -> dict[str, str]:
    """Check the number of tags. AWS's own tags, which users cannot add, do not count."""
    if sum(not key.startswith("aws:") for key in tags) > _TAGS:
        raise AwsError("TagLimitExceeded", f"The maximum number of tags for a resource is {_TAGS}.")
    return tags


def create_tags(call: Call) -> Reply:
    """Add all tags to all resources, or change nothing."""
    new = _checked(_tags(call.input))
    return _retag(call, lambda tags: _counted({**tags, **new}))


def delete_tags(call: Call) -> Reply:
    """Delete tags by key, and by value if one is given. Ignore resources that lack them."""
    named = call.input["Tag"]

    def edit(tags: Tags) -> Tags:
        gone = {tag["Key"] for tag in named if tags.get(tag["Key"]) == tag.get("Value", tags.get(tag["Key"]))}
        return {key: value for key, value in tags.items() if key not in gone}

    return _retag(call, edit)


def _retag(call: Call, edit: Callable[[Tags], Tags]) -> Reply:
    ids = call.input["ResourceId"]
    for item_id in ids:
        edit(_taggable(call, item_id).tags)
    for item_id in ids:
        call.account.retag(item_id, edit)
    return done(call)


def _taggable(call: Call, item_id: str) -> Volume | Instance | Backup:
    match item_id.partition("-")[0]:
        case "vol":
            return owned(call, item_id, Volume)
        case "i":
            return owned(call, item_id, Instance)
        case "snap":
            return the_snapshot(call, item_id)
    raise AwsError("InvalidID", f"The ID '{item_id}' is not valid")
