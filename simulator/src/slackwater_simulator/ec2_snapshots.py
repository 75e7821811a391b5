"""Serve EC2's snapshots of volumes. CreateSnapshot has no idempotency token, so two requests make two snapshots."""

from collections.abc import Callable
from dataclasses import replace

from . import ec2_query as ec2
from .resources import GIB, Backup, rfc3339
from .wire import AwsError, Call, Json, Reply, xml_reply

SECONDS = 300
"""From the request until the snapshot is completed."""
_FILTERS: dict[str, Callable[[Backup], str]] = {
    "snapshot-id": lambda snapshot: snapshot.id,
    "volume-id": lambda snapshot: snapshot.of,
    "status": lambda snapshot: snapshot.state,
}
_FULL = 0.6
"""The share of a volume that was ever written to. It gives a snapshot's own size."""


def create_snapshot(call: Call) -> Reply:
    """Create a snapshot, which is first pending, then completed."""
    account = call.account
    volume = ec2.volume_of(call)
    if volume.phase:
        raise AwsError("IncorrectState", f"The volume '{volume.id}' is '{volume.phase}'.")
    snapshot = Backup(
        id=f"snap-{ec2.hexadecimal(f'{account.id}/{account.number()}')}",
        kind="snapshot",
        of=volume.id,
        region=volume.region,
        made=account.now,
        state="pending",
        tags=ec2.given_tags(call, "snapshot"),
        bytes=volume.size_gib * GIB,
        contents=account.contents(volume.id),
        detail={
            "description": str(call.input.get("Description", "")),
            "encrypted": volume.encrypted,
            "kms_key": (volume.kms_key or ec2.key_arn(volume.region, account.id)) if volume.encrypted else None,
        },
    )
    account.put_backup(snapshot)

    def complete() -> None:
        if now := account.backup(snapshot.id):
            account.put_backup(replace(now, state="completed"))

    account.after(SECONDS, complete)
    return xml_reply(call, _snapshot(call, snapshot))


def describe_snapshots(call: Call) -> Reply:
    """List the account's own snapshots. Other accounts have none."""
    found = ec2.asked_for(call, "SnapshotId", call.backups("snapshot"), lambda each: ec2.the_snapshot(call, each))
    if (owners := call.input.get("Owner")) and not {"self", call.account.id} & set(owners):
        found = []
    found = ec2.filtered(call, found, _FILTERS | {"owner-id": lambda _: call.account.id})
    return ec2.paged(call, found, "snapshotSet", lambda each: _snapshot(call, each), keep=False)


def delete_snapshot(call: Call) -> Reply:
    """Delete a snapshot at once, even if it is pending."""
    call.account.drop_backup(ec2.the_snapshot(call, str(call.input.get("SnapshotId", ""))).id)
    return ec2.done(call)


def _snapshot(call: Call, snapshot: Backup) -> Json:
    age, complete = call.account.now - snapshot.made, snapshot.state == "completed"
    progress = 100 if complete else min(99, max(0, 100 * age // SECONDS))
    return {
        "snapshotId": snapshot.id,
        "volumeId": snapshot.of,
        "status": snapshot.state,
        "startTime": rfc3339(snapshot.made, ".456"),
        "progress": f"{progress}%",
        "ownerId": call.account.id,
        "volumeSize": snapshot.bytes // GIB,
        "description": snapshot.detail["description"],
        "encrypted": snapshot.detail["encrypted"],
        "kmsKeyId": snapshot.detail["kms_key"],
        "fullSnapshotSizeInBytes": int(_FULL * snapshot.bytes) if complete else None,
        "completionTime": rfc3339(snapshot.made + SECONDS, ".456") if complete else None,
        "storageTier": "standard",
        "tagSet": ec2.tag_set(snapshot.tags),
    }
