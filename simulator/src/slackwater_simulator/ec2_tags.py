"""EC2's tags: of volumes, snapshots and instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .ec2_query import invalid, owned, reply
from .resources import Backup, Instance, Tags, Volume
from .wire import AwsError, Call, Json, Reply

MOST = 50
"""Tags on one resource."""


def checked(tags: dict[str, str]) -> dict[str, str]:
    """Tags that AWS would take."""
    for key, value in tags.items():
        if not key or len(key) > 127 or len(value) > 255:
            raise invalid(f"Tag {key!r} is too long, or has no key.")
        if key.lower().startswith("aws:"):
            raise invalid("Tag keys starting with 'aws:' are reserved for internal use")
    return counted(tags)


def counted(tags: dict[str, str]) -> dict[str, str]:
    """AWS's own tags, which nobody may put on, do not count."""
    if sum(not key.startswith("aws:") for key in tags) > MOST:
        raise AwsError("TagLimitExceeded", f"The maximum number of tags for a resource is {MOST}.")
    return tags


def given(call: Call, kind: str) -> dict[str, str]:
    """The tags of a request's TagSpecification for what it creates."""
    found: dict[str, str] = {}
    for entry in call.input.get("TagSpecification", ()):
        if entry.get("ResourceType") != kind:
            raise invalid(f"'{entry.get('ResourceType')}' is not a valid taggable resource type here.")
        found |= _tags(entry)
    return checked(found)


def snapshot(call: Call, snapshot_id: str) -> Backup:
    """A snapshot of the Region."""
    found = call.account.backup(snapshot_id)
    if found is None or found.kind != "snapshot" or found.region != call.region:
        raise AwsError("InvalidSnapshot.NotFound", f"The snapshot '{snapshot_id}' does not exist.")
    return found


def create_tags(call: Call) -> Reply:
    """All of them on all, or nothing at all."""
    new = checked(_tags(call.input))
    if not new:
        raise AwsError("MissingParameter", "The request must contain the parameter Tag")
    return _retag(call, lambda tags: counted({**tags, **new}))


def delete_tags(call: Call) -> Reply:
    """By key, and by value where one is given; all of them where no tag is named. What carries none is fine."""
    named = call.input.get("Tag")

    def edit(tags: Tags) -> Tags:
        if named is None:
            return {}
        gone = {tag["Key"] for tag in named if tags.get(tag["Key"]) == tag.get("Value", tags.get(tag["Key"]))}
        return {key: value for key, value in tags.items() if key not in gone}

    return _retag(call, edit)


def _tags(holder: Json) -> dict[str, str]:
    return {str(tag["Key"]): str(tag.get("Value", "")) for tag in holder.get("Tag", ())}


def _retag(call: Call, edit: Callable[[Tags], Tags]) -> Reply:
    ids = call.input.get("ResourceId")
    if not ids:
        raise AwsError("MissingParameter", "The request must contain the parameter resourceIdSet")
    edited: list[Any] = [replace(each, tags=edit(each.tags)) for each in [_taggable(call, item_id) for item_id in ids]]
    for each in edited:
        if isinstance(each, Backup):
            call.account.put_backup(each)
        else:
            call.account.put(each)
    return reply(call, "<return>true</return>")


def _taggable(call: Call, item_id: str) -> Volume | Instance | Backup:
    match item_id.partition("-")[0]:
        case "vol":
            return owned(call, item_id, Volume, "InvalidVolume.NotFound")
        case "i":
            return owned(call, item_id, Instance, "InvalidInstanceID.NotFound")
        case "snap":
            return snapshot(call, item_id)
    raise AwsError("InvalidID", f"The ID '{item_id}' is not valid")
