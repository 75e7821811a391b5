"""Serve CloudTrail: look up management events of the last ninety days."""

from uuid import NAMESPACE_URL, uuid5

from .partitions import global_arn
from .resources import TrailEvent, rfc3339
from .series import DAY
from .wire import AwsError, Call, Json, Reply, as_json, json_reply, page_of, page_size

PAGE = 50
KEPT = 90 * DAY
_SOURCE = "ec2.amazonaws.com"


def lookup_events(call: Call) -> Reply:
    """Return events newest first, filtered by at most one attribute."""
    now = call.account.now
    start, end = float(call.input.get("StartTime", 0)), float(call.input.get("EndTime", now))
    found = [
        event
        for event in call.account.fleet.events
        if event.region == call.region
        and max(start, now - KEPT) <= event.at <= end
        and event.at <= max(call.account.fleet.now, now - call.account.late.events)
    ]
    for attribute in call.input.get("LookupAttributes", ()):
        found = [event for event in found if attribute["AttributeValue"] in _names(event, attribute["AttributeKey"])]
    found.sort(key=lambda event: -event.at)
    return json_reply(call, page_of(call, "Events", found, lambda event: _event(call, event), page_size(call, PAGE)))


def _names(event: TrailEvent, attribute: str) -> list[str]:
    """Return an event's values of a lookup attribute."""
    if attribute not in ("EventName", "ResourceName"):
        raise AwsError("InvalidLookupAttributesException", f"The simulator cannot look up {attribute}.")
    return [event.name] if attribute == "EventName" else [name for _, name in event.resources]


def _event(call: Call, event: TrailEvent) -> Json:
    number = str(uuid5(NAMESPACE_URL, f"{event.name}/{event.at}/{event.resources}"))
    record = {
        "eventVersion": "1.11",
        "userIdentity": {
            "type": "IAMUser",
            "accountId": call.account.id,
            "userName": event.user,
            "arn": global_arn("iam", call.region, call.account.id, f"user/{event.user}"),
        },
        "eventTime": rfc3339(event.at),
        "eventSource": _SOURCE,
        "eventName": event.name,
        "awsRegion": event.region,
        "sourceIPAddress": "198.51.100.7",
        "userAgent": "console.amazonaws.com",
        "requestParameters": event.request,
        "responseElements": event.response,
        "eventID": number,
        "readOnly": False,
        "eventType": "AwsApiCall",
        "managementEvent": True,
        "recipientAccountId": call.account.id,
        "eventCategory": "Management",
    }
    return {
        "EventId": number,
        "EventName": event.name,
        "ReadOnly": "false",
        "EventTime": float(event.at),
        "EventSource": _SOURCE,
        "Username": event.user,
        "Resources": [{"ResourceType": kind, "ResourceName": name} for kind, name in event.resources],
        "CloudTrailEvent": as_json(record).decode(),
    }
