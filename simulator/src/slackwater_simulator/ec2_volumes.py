"""Serve EC2's volumes: list, create, modify and delete them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import ec2_query as ec2
from .account import Account
from .kms import usable
from .partitions import arn
from .resources import GIB, Attachment, Volume, rfc3339
from .series import DAY
from .wire import AwsError, Call, Json, Reply, xml_reply

REMOVAL_S, CREATION_S = 5, 5
MODIFYING_S, MODIFICATION_S = 60, 1_800
"""From a request until the new setting is in effect, and until the modification is completed."""
MODIFICATIONS = 4
"""The maximum number of modifications of one volume in a rolling day."""
_SIZES = {
    "gp3": (1, 65_536),
    "gp2": (1, 16_384),
    "io1": (4, 16_384),
    "io2": (4, 65_536),
    "st1": (125, 16_384),
    "sc1": (125, 16_384),
    "standard": (1, 1_024),
}
"""Minimum and maximum size in GiB (EBS user guide, volume types)."""
_IOPS = {"gp3": (3_000, 80_000), "io1": (100, 64_000), "io2": (100, 256_000)}
_THROUGHPUT = (125, 2_000)
"""Minimum and maximum throughput of gp3 in MiB/s."""
_MODIFICATIONS, _TOKENS = "ec2-modifications", "ec2-volume-tokens"


@dataclass(frozen=True, slots=True)
class Modification:
    """A modification of a volume from one configuration to another."""

    before: Volume
    after: Volume
    began: int
    state: str = "modifying"
    ended: int | None = None


_FILTERS: dict[str, Callable[[Volume], str | list[str]]] = {
    "volume-id": lambda volume: volume.id,
    "status": lambda volume: volume.state,
    "attachment.instance-id": lambda volume: [each.instance_id for each in volume.attachments],
}


def describe_volumes(call: Call) -> Reply:
    """List the volumes of the Region, with the newest fields."""
    everything, account = call.all(Volume), call.account.id
    found = ec2.asked_for(call, "VolumeId", everything, lambda each: ec2.owned(call, each, Volume))
    return ec2.paged(call, ec2.filtered(call, found, _FILTERS), "volumeSet", lambda volume: _volume(volume, account))


def _volume(volume: Volume, account: str) -> Json:
    return {
        "volumeId": volume.id,
        "size": volume.size_gib,
        "volumeArn": arn("ec2", volume.region, account, f"volume/{volume.id}"),
        "snapshotId": volume.snapshot_id,
        "availabilityZone": volume.az,
        "availabilityZoneId": ec2.zone_id(volume.az),
        "status": volume.state,
        "createTime": rfc3339(volume.created, ".123"),
        "attachmentSet": [_attachment(volume, each) for each in volume.attachments],
        "tagSet": ec2.tag_set(volume.tags),
        "volumeType": volume.type,
        "iops": volume.iops_limit,
        "encrypted": volume.encrypted,
        "kmsKeyId": (volume.kms_key or ec2.key_arn(volume.region, account)) if volume.encrypted else None,
        "multiAttachEnabled": volume.multi_attach,
        "throughput": volume.throughput_limit,
        "operator": ec2.operator(volume.operator),
    }


def _attachment(volume: Volume, attachment: Attachment) -> Json:
    return {
        "volumeId": volume.id,
        "instanceId": attachment.instance_id,
        "device": attachment.device,
        "status": "attached",
        "attachTime": rfc3339(attachment.since, ".000"),
        "deleteOnTermination": attachment.delete_on_termination,
    }


# --- Deleting and creating --------------------------------------------------------------------------------------------


def delete_volume(call: Call) -> Reply:
    """Start to delete a volume."""
    account, volume = call.account, ec2.volume_of(call)
    if volume.attachments:
        carrier = volume.attachments[0].instance_id
        raise AwsError("VolumeInUse", f"Volume {volume.id} is currently attached to {carrier}")
    if volume.phase:
        raise AwsError("IncorrectState", f"Volume {volume.id} is {volume.phase}.")
    account.put(replace(volume, phase="deleting"))
    account.after(REMOVAL_S, lambda: account.remove(volume.id))
    return ec2.done(call)


def create_volume(call: Call) -> Reply:
    """Start to create a volume. A repeated client token with the same input returns the same volume."""
    account, input_ = call.account, {key: value for key, value in call.input.items() if key != "ClientToken"}
    token = call.input.get("ClientToken")
    key = f"{call.region}/{token}"
    if token and (earlier := account.table(_TOKENS).get(key)):
        first, asked = earlier
        if asked != input_:
            raise AwsError("IdempotentParameterMismatch", "The client token was used before, with other parameters.")
        present = account.find(first.id)
        return xml_reply(call, _volume(present if isinstance(present, Volume) else first, account.id))
    volume, contents = _made(call)
    account.put(volume)
    account.fill(volume.id, contents)
    if token:
        account.keep(_TOKENS, key, (volume, input_))

    def available() -> None:
        now = account.find(volume.id)
        if isinstance(now, Volume) and now.phase == "creating":
            if usable(account, snapshot.detail["kms_key"] if (snapshot := account.backup(now.snapshot_id)) else None):
                account.put(replace(now, phase=""))
            else:
                account.remove(volume.id)

    account.after(CREATION_S, available)
    return xml_reply(call, _volume(volume, account.id))


def _made(call: Call) -> tuple[Volume, str]:
    """Return the requested volume and its contents."""
    account, zone = call.account, str(call.input["AvailabilityZone"])
    if zone[:-1] != call.region or zone[-1] not in "abcd":
        raise AwsError("InvalidZone.NotFound", f"The zone '{zone}' does not exist.")
    snapshot, contents = None, ""
    if snapshot_id := call.input.get("SnapshotId"):
        snapshot = ec2.the_snapshot(call, snapshot_id)
        if snapshot.state != "completed":
            raise AwsError("IncorrectState", f"Snapshot '{snapshot.id}' is '{snapshot.state}'.")
        contents = snapshot.contents
    elif not call.input.get("Size"):
        raise AwsError("MissingParameter", "The request must contain the parameter size or snapshotId")
    size_gib = int(call.input.get("Size") or (snapshot.bytes // GIB if snapshot else 0))
    if snapshot and size_gib < snapshot.bytes // GIB:
        raise ec2.invalid(f"The volume cannot be smaller than snapshot '{snapshot.id}'.")
    encrypted = _true(call, "Encrypted") or bool(snapshot and snapshot.detail["encrypted"])
    kms_key = call.input.get("KmsKeyId")
    if kms_key and not encrypted:
        why = "The parameter KmsKeyId requires the parameter Encrypted to be set."
        raise AwsError("InvalidParameterDependency", why)
    volume = Volume(
        id=f"vol-{ec2.hexadecimal(f'{account.id}/{account.number()}')}",
        az=zone,
        created=account.now,
        size_gib=size_gib,
        type=str(call.input.get("VolumeType", "gp2")),
        iops=_number(call, "Iops"),
        throughput=_number(call, "Throughput"),
        tags=ec2.given_tags(call, "volume"),
        encrypted=encrypted,
        kms_key=str(kms_key or (snapshot.detail["kms_key"] if snapshot else "") or ""),
        snapshot_id=snapshot.id if snapshot else "",
        multi_attach=_true(call, "MultiAttachEnabled"),
        phase="creating",
    )
    _check(volume)
    return volume, contents


def _check(volume: Volume) -> None:
    least, most = _SIZES[volume.type]
    if not least <= volume.size_gib <= most:
        raise ec2.invalid(f"Volume of {volume.size_gib}GiB is not valid for {volume.type}: {least}-{most}GiB.")
    if volume.iops is None and volume.type in ("io1", "io2"):
        raise AwsError("MissingParameter", f"The parameter iops must be specified for {volume.type} volumes.")
    if volume.iops is not None:
        lowest, highest = _IOPS.get(volume.type, (0, 0))
        if not highest:
            raise ec2.not_together(f"The parameter iops is not supported for {volume.type} volumes.")
        if not lowest <= volume.iops <= highest:
            raise ec2.invalid(f"Volume iops of {volume.iops} is not valid: {lowest}-{highest}.")
    if volume.throughput is not None:
        _check_throughput(volume, volume.throughput)
    if volume.multi_attach and volume.type not in ("io1", "io2"):
        raise ec2.not_together(f"Multi-Attach is not supported for {volume.type} volumes.")


def _check_throughput(volume: Volume, mib_s: int) -> None:
    if volume.type != "gp3":
        raise ec2.not_together(f"The parameter throughput is not supported for {volume.type} volumes.")
    if not _THROUGHPUT[0] <= mib_s <= min(_THROUGHPUT[1], (volume.iops or 3_000) // 4):
        raise ec2.invalid(f"Throughput of {mib_s} MiB/s is not valid.")


# --- Changing ---------------------------------------------------------------------------------------------------------


def modify_volume(call: Call) -> Reply:
    """Start to modify a volume. When it is completed after modifying and optimizing, the next one can start."""
    account, volume = call.account, ec2.volume_of(call)
    if volume.phase:
        raise AwsError("IncorrectState", f"Volume {volume.id} is {volume.phase}.")
    earlier: tuple[Modification, ...] = account.table(_MODIFICATIONS).get(volume.id, ())
    if earlier and earlier[-1].state in ("modifying", "optimizing"):
        why = f"Volume {volume.id} is currently in modification state {earlier[-1].state}."
        raise AwsError("IncorrectModificationState", why)
    if sum(each.began > account.now - DAY for each in earlier) >= MODIFICATIONS:
        why = f"You've reached the maximum modification rate per volume limit: {volume.id}."
        raise AwsError("VolumeModificationRateExceeded", why)
    modification = Modification(volume, _changed(call, volume), account.now)
    account.keep(_MODIFICATIONS, volume.id, (*earlier, modification))
    account.after(MODIFYING_S, lambda: _becomes(account, volume.id, "optimizing"))
    account.after(MODIFICATION_S, lambda: _becomes(account, volume.id, "completed"))
    return xml_reply(call, {"volumeModification": _modification(call, modification)})


def _becomes(account: Account, volume_id: str, state: str) -> None:
    *others, last = account.table(_MODIFICATIONS)[volume_id]
    ended = account.now if state == "completed" else None
    account.keep(_MODIFICATIONS, volume_id, (*others, replace(last, state=state, ended=ended)))
    now = account.find(volume_id)
    if state == "optimizing" and isinstance(now, Volume):
        names = ("type", "iops", "throughput", "size_gib", "multi_attach")
        account.put(replace(now, **{name: getattr(last.after, name) for name in names}))


def _changed(call: Call, volume: Volume) -> Volume:
    """Return the requested volume. A gp2 that becomes gp3 keeps higher limits unless the call sets them."""
    type_ = str(call.input.get("VolumeType", volume.type))
    iops, throughput = _number(call, "Iops"), _number(call, "Throughput")
    if iops is None and type_ in _IOPS:
        same = volume.iops_limit if type_ == volume.type else None
        iops = same or (max(3_000, volume.iops_limit or 0) if type_ == "gp3" else volume.iops_limit)
    if throughput is None and type_ == "gp3":
        throughput = volume.throughput_limit or (250 if volume.type == "gp2" and volume.size_gib > 170 else 125)
    size_gib = _number(call, "Size") or volume.size_gib
    if size_gib < volume.size_gib:
        raise ec2.invalid("New size cannot be smaller than existing size")
    multi_attach = _true(call, "MultiAttachEnabled") if "MultiAttachEnabled" in call.input else volume.multi_attach
    changed = replace(
        volume, type=type_, iops=iops, throughput=throughput, size_gib=size_gib, multi_attach=multi_attach
    )
    _check(changed)
    return changed


_MODIFICATION_FILTERS: dict[str, Callable[[Modification], str]] = {
    "volume-id": lambda modification: modification.before.id,
    "modification-state": lambda modification: modification.state,
}


def describe_volumes_modifications(call: Call) -> Reply:
    """List the newest modification of each volume."""
    table, ids = call.account.table(_MODIFICATIONS), call.input.get("VolumeId")
    for each in ids or ():
        if ec2.owned(call, each, Volume).id not in table:
            code = "InvalidVolumeModification.NotFound"
            raise AwsError(code, f"Modification for volume '{each}' does not exist.")
    changes: list[Modification] = [
        each[-1] for key, each in table.items() if each[-1].before.region == call.region and (not ids or key in ids)
    ]
    found = ec2.filtered(call, changes, _MODIFICATION_FILTERS)
    return ec2.paged(call, found, "volumeModificationSet", lambda each: _modification(call, each), keep=False)


def _modification(call: Call, modification: Modification) -> Json:
    age = call.account.now - modification.began
    answer: Json = {"volumeId": modification.before.id, "modificationState": modification.state}
    for side, volume in (("target", modification.after), ("original", modification.before)):
        answer |= {
            f"{side}Size": volume.size_gib,
            f"{side}Iops": volume.iops_limit,
            f"{side}VolumeType": volume.type,
            f"{side}Throughput": volume.throughput_limit,
            f"{side}MultiAttachEnabled": volume.multi_attach,
        }
    return answer | {
        "progress": 100 if modification.ended is not None else min(99, 100 * age // MODIFICATION_S),
        "startTime": rfc3339(modification.began, ".000"),
        "endTime": rfc3339(modification.ended, ".000") if modification.ended is not None else None,
    }


def _number(call: Call, name: str) -> int | None:
    return int(call.input[name]) if call.input.get(name) is not None else None


def _true(call: Call, name: str) -> bool:
    return str(call.input.get(name, "false")).lower() == "true"
