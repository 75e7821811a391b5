"""When volumes were attached and detached, from CloudTrail's event history.

LookupEvents answers two calls a second, at most 50 events each, newest first, 90 days back (AWS CloudTrail User Guide,
"Viewing recent management events"). So it is paged once for the account, never asked per volume: but where only one matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from slackwater.aws.client.pages import pages
from slackwater.model.resources import AttachmentEvent, Volume

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"cloudtrail:LookupEvents"})

type EventName = Literal["AttachVolume", "DetachVolume"]

EVENT_NAMES: Final[tuple[EventName, ...]] = ("DetachVolume", "AttachVolume")
"""A volume whose last event is AttachVolume, and that is on no instance, left it when the instance was terminated."""

PAGE: Final = 50
MAX_PAGES: Final = 30
"""Per event name: 1,500 events, half a minute at CloudTrail's own pace for both."""


def attachment_events(session: AwsSession, target: Target, before: Earlier) -> Iterator[AttachmentEvent]:
    """The last attachment or detachment of each volume that is unattached now. Nothing is asked when there is none.

    A history that breaks off is still the newest part, and right: what was read is given before the error is raised.
    """
    # Nothing older matters: a volume's history begins when it is made, and its newest event ends the search for it.
    since = {v.id: v.created_at for v in before.all(Volume) if v.state == "available"}
    if not since:
        return
    last: dict[str, AttachmentEvent] = {}
    failure: Exception | None = None
    for name in EVENT_NAMES:
        try:
            for found in _events(session, target, name, since):
                if since.get(found.id, found.at) < found.at:
                    since[found.id] = found.at
                    last[found.id] = found
        except Exception as error:  # noqa: BLE001 -- raised below, when what was read is safe
            failure = error
    yield from last.values()
    if failure:
        raise failure


def attachment_event(session: AwsSession, target: Target, before: Earlier, volume_id: str) -> Iterator[AttachmentEvent]:
    """The same of one volume, from its own history. Nothing is asked where it is attached, or not there.

    CloudTrail files an event under each resource that it names, so this is what the account's history says of it.
    """
    volume = before.get(Volume, volume_id)
    if volume is None or volume.state != "available":
        return
    call = session.client("cloudtrail", target.region).lookup_events
    attributes = [{"AttributeKey": "ResourceName", "AttributeValue": volume_id}]
    last: AttachmentEvent | None = None
    for event in pages(call, "Events", max_pages=MAX_PAGES, LookupAttributes=attributes, MaxResults=PAGE):
        if event["EventTime"] <= volume.created_at or (last and event["EventTime"] < last.at):
            break  # newest first
        name: EventName | None = next((one for one in EVENT_NAMES if one == event["EventName"]), None)
        of_it = (one for one in (_of(event, name) if name else ()) if one.id == volume_id)
        # Of two events in one second the detachment counts, as it does where all are read.
        last = min([*([last] if last else []), *of_it], key=lambda one: EVENT_NAMES.index(one.event_name), default=None)
    if last:
        yield last


def _events(session: AwsSession, target: Target, name: EventName, since: Mapping[str, datetime]) -> Iterator[AttachmentEvent]:
    call = session.client("cloudtrail", target.region).lookup_events
    attributes = [{"AttributeKey": "EventName", "AttributeValue": name}]
    events = pages(call, "Events", max_pages=MAX_PAGES, LookupAttributes=attributes, MaxResults=PAGE)
    for count, event in enumerate(events, start=1):
        yield from _of(event, name)
        if count % PAGE == 0 and event["EventTime"] <= min(since.values()):
            return  # newest first: the next page holds nothing that matters


def _of(event: Any, name: EventName) -> Iterator[AttachmentEvent]:
    detail = json.loads(event.get("CloudTrailEvent") or "{}")
    if detail.get("errorCode"):  # refused or failed: nothing moved
        return
    asked = detail.get("requestParameters") or {}
    named = [resource.get("ResourceName", "") for resource in event.get("Resources", ())]
    volumes = {n for n in (*named, asked.get("volumeId") or "") if n.startswith("vol-")}
    instances = [n for n in (*named, asked.get("instanceId") or "") if n.startswith("i-")]
    for volume in volumes:
        instance = instances[0] if len(set(instances)) == 1 else None
        yield AttachmentEvent(id=volume, at=event["EventTime"], instance_id=instance, event_name=name)
