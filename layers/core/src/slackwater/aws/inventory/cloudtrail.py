"""Reads when volumes were attached and detached, from CloudTrail's event history.

LookupEvents allows two calls a second. Each returns at most 50 events of the last 90 days, newest first (AWS CloudTrail
User Guide, "Viewing recent management events"). So the history of the whole account is paged once, instead of one call
per volume. Only if a single volume matters, its own history is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from slackwater.aws.client.errors import reason
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.records import BROKEN, ReadRecord
from slackwater.aws.inventory.validate import sound
from slackwater.model.fleet import UnreadableRecord
from slackwater.model.resources import AttachmentEvent, Volume
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"cloudtrail:LookupEvents"})

type EventName = Literal["AttachVolume", "DetachVolume"]

EVENT_NAMES: Final[tuple[EventName, ...]] = ("DetachVolume", "AttachVolume")
"""If a volume is unattached and its last event is AttachVolume, it was detached because its instance was terminated."""

LATEST: Final = datetime.max.replace(tzinfo=UTC)

PAGE: Final = 50
MAX_PAGES: Final = 30
"""Per event name: 1,500 events. At CloudTrail's rate limit, both names together take half a minute."""


def attachment_events(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[AttachmentEvent]]:
    """Read the last attachment or detachment of each volume that is unattached now.

    Makes no call if there is no such volume. If a call fails, the newest events are already read and correct, so they
    are yielded before the error is raised.
    """
    # Older events do not matter. The search for a volume's events ends at its newest one, or at its creation.
    since = {v.id: v.created_at for v in before.all(Volume) if v.state == "available"}
    if not since:
        return
    last: dict[str, ReadRecord[AttachmentEvent]] = {}
    failure: Exception | None = None
    for name in EVENT_NAMES:
        try:
            for at, found in _events(session, target, name, since):
                if not found.id or since.get(found.id, at) < at:
                    since[found.id] = at
                    last[found.id] = found
        except Exception as error:  # noqa: BLE001 -- raised below, when what was read is safe
            failure = error
    yield from last.values()
    if failure:
        raise failure


def attachment_event(
    session: AwsSession, target: Target, before: Earlier, volume_id: str
) -> Iterator[ReadRecord[AttachmentEvent]]:
    """Read the last attachment or detachment of one volume, from its own history.

    Makes no call if the volume is attached or does not exist. CloudTrail lists an event under each resource that it
    names, so the result is the same as from the account's history.
    """
    volume = before.get(Volume, volume_id)
    if volume is None or volume.state != "available":
        return
    call = session.client("cloudtrail", target.region).lookup_events
    attributes = [{"AttributeKey": "ResourceName", "AttributeValue": volume_id}]
    last: list[tuple[datetime, ReadRecord[AttachmentEvent]]] = []
    for event in pages(call, "Events", max_pages=MAX_PAGES, LookupAttributes=attributes, MaxResults=PAGE):
        at = _at(event)
        if at <= volume.created_at or (last and at < last[0][0]):
            break  # newest first
        name: EventName | None = next((one for one in EVENT_NAMES if one == event.get("EventName")), None)
        of_it = [
            (at, one)
            for one in (_of(event, name) if name or "EventName" not in event else ())
            if one.id in ("", volume_id)
        ]
        # If two events have the same second, the detachment counts, as in `attachment_events`. An event that cannot be
        # read comes first, because it may be either.
        last = sorted([*last, *of_it], key=_order)[:1]
    for _, found in last:
        yield replace(found, id=volume_id) if isinstance(found, UnreadableRecord) else found


def _at(event: Any) -> datetime:
    """Return the time of an event; the latest possible time if it has none, because it may be the newest."""
    at = event.get("EventTime")
    return at if isinstance(at, datetime) else LATEST


def _order(one: tuple[datetime, ReadRecord[AttachmentEvent]]) -> int:
    return -1 if isinstance(one[1], UnreadableRecord) else EVENT_NAMES.index(one[1].event_name)


def _events(
    session: AwsSession, target: Target, name: EventName, since: Mapping[str, datetime]
) -> Iterator[tuple[datetime, ReadRecord[AttachmentEvent]]]:
    """Yield each event of this name with its time, newest first. An event without a time counts as the newest."""
    call = session.client("cloudtrail", target.region).lookup_events
    attributes = [{"AttributeKey": "EventName", "AttributeValue": name}]
    events = pages(call, "Events", max_pages=MAX_PAGES, LookupAttributes=attributes, MaxResults=PAGE)
    for count, event in enumerate(events, start=1):
        at = _at(event)
        yield from ((at, one) for one in _of(event, name))
        if count % PAGE == 0 and at <= min(since.values()):
            return  # newest first: the next pages are too old


def _of(event: Any, name: EventName | None) -> Iterator[ReadRecord[AttachmentEvent]]:
    """Yield the attachment event of each volume that an event names.

    An event that cannot be read yields an unreadable record for each volume that it names. If it names none, it may be
    about any volume.
    """
    named = list[str]()
    try:
        named = [resource.get("ResourceName", "") for resource in event.get("Resources", ())]
        if name is None:
            raise BrokenAnswerError("an event has no name")
        detail = json.loads(event.get("CloudTrailEvent") or "{}")
        if detail.get("errorCode"):  # a failed call attached or detached nothing
            return
        asked = detail.get("requestParameters") or {}
        volumes = sorted({n for n in (*named, asked.get("volumeId") or "") if n.startswith("vol-")})
        instances = {n for n in (*named, asked.get("instanceId") or "") if n.startswith("i-")}
        instance = instances.pop() if len(instances) == 1 else None
        found = [
            sound(AttachmentEvent(id=volume, at=event["EventTime"], instance_id=instance, event_name=name))
            for volume in volumes
        ]
        if not found:
            raise BrokenAnswerError("an event names no volume")
    except BROKEN as error:
        of_any = [one for one in named if one.startswith("vol-")] or [""]
        yield from (UnreadableRecord(AttachmentEvent, one, reason(error)) for one in of_any)
    else:
        yield from found
