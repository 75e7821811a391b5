"""EC2's snapshots of volumes. A request for one knows no idempotency token: asked twice, there are two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from . import ec2_tags
from .ec2_query import hexadecimal, key_arn, matches, not_together, owned, page_size, paged, read_filters, reply
from .resources import GIB, Backup, Volume, rfc3339
from .wire import AwsError, Call, Reply
from .xml import tag, tag_set, text

SECONDS = 300
"""From its request until it is completed."""
PAGE = 1000
_FILTERS = ("snapshot-id", "volume-id", "status", "owner-id", "description", "encrypted", "volume-size")
_FULL = 0.6
"""How much of a volume was ever written to: a snapshot's own size, which is not its volume's."""


def create_snapshot(call: Call) -> Reply:
    """Pending, then completed."""
    account = call.account
    volume = owned(call, str(call.input.get("VolumeId", "")), Volume, "InvalidVolume.NotFound")
    if volume.phase:
        raise AwsError("IncorrectState", f"The volume '{volume.id}' is '{volume.phase}'.")
    snapshot = Backup(
        id=f"snap-{hexadecimal(f'{account.id}/{account.number()}')}",
        kind="snapshot",
        of=volume.id,
        region=volume.region,
        made=account.now,
        state="pending",
        tags=ec2_tags.given(call, "snapshot"),
        bytes=volume.size_gib * GIB,
        contents=account.contents(volume.id),
        detail={
            "description": str(call.input.get("Description", "")),
            "encrypted": volume.encrypted,
            "kms_key": (volume.kms_key or key_arn(volume.region, account.id)) if volume.encrypted else None,
        },
    )
    account.put_backup(snapshot)

    def complete() -> None:
        if now := account.backup(snapshot.id):
            account.put_backup(replace(now, state="completed"))

    account.after(SECONDS, complete)
    return reply(call, snapshot_xml(call, snapshot))


def describe_snapshots(call: Call) -> Reply:
    """Snapshots of the account's own; other people's there are none."""
    ids = call.input.get("SnapshotId")
    if ids and call.input.get("MaxResults"):
        raise not_together("The parameter SnapshotId cannot be used with the parameter maxResults")
    if ids:
        found = [ec2_tags.snapshot(call, each) for each in dict.fromkeys(ids)]
    else:
        found = [each for each in call.account.backups() if each.kind == "snapshot" and each.region == call.region]
    if (owners := call.input.get("Owner")) and not {"self", call.account.id} & set(owners):
        found = []
    if filters := read_filters(call, _FILTERS):
        found = [each for each in found if matches(each.tags, filters, _FILTERS, _values(call, each))]
    size = page_size(call, PAGE, 1000)
    return paged(call, found, "snapshotSet", size, lambda each: snapshot_xml(call, each), keep=False)


def delete_snapshot(call: Call) -> Reply:
    """Gone at once, pending or not."""
    call.account.drop_backup(ec2_tags.snapshot(call, str(call.input.get("SnapshotId", ""))).id)
    return reply(call, "<return>true</return>")


def _values(call: Call, snapshot: Backup) -> Callable[[str], Sequence[str]]:
    found = {
        "snapshot-id": snapshot.id,
        "volume-id": snapshot.of,
        "status": snapshot.state,
        "owner-id": call.account.id,
        "description": snapshot.detail["description"],
        "encrypted": text(snapshot.detail["encrypted"]),
        "volume-size": str(snapshot.bytes // GIB),
    }
    return lambda name: [found[name]]


def snapshot_xml(call: Call, snapshot: Backup) -> str:
    """One snapshot."""
    age, complete = call.account.now - snapshot.made, snapshot.state == "completed"
    progress = 100 if complete else min(99, max(0, 100 * age // SECONDS))
    return (
        f"<snapshotId>{snapshot.id}</snapshotId><volumeId>{snapshot.of}</volumeId><status>{snapshot.state}</status>"
        f"<startTime>{rfc3339(snapshot.made, '.456')}</startTime><progress>{progress}%</progress>"
        f"<ownerId>{call.account.id}</ownerId><volumeSize>{snapshot.bytes // GIB}</volumeSize>"
        f"{tag('description', snapshot.detail['description'])}<encrypted>{text(snapshot.detail['encrypted'])}</encrypted>"
        f"{tag('kmsKeyId', snapshot.detail['kms_key'])}"
        f"{tag('fullSnapshotSizeInBytes', int(_FULL * snapshot.bytes) if complete else None)}"
        f"{tag('completionTime', rfc3339(snapshot.made + SECONDS, '.456') if complete else None)}"
        f"<storageTier>standard</storageTier>{tag_set(snapshot.tags)}"
    )
