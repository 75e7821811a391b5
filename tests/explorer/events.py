"""The events that can happen around a call."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from explorer.facts import COMPLETE, KEYS, METRICS_LATE_S
from explorer.wire import Ends
from explorer.world import Small
from slackwater.model.cleanup import CLEANUP_TAG, EXPIRES_AT
from slackwater_simulator.account import GOING
from slackwater_simulator.resources import AccessPoint, ElasticFileSystem, FsxFileSystem, MountTarget
from support.cleanup_world import APPROVER

NEW_TARGET: Final = "fsmt-0123456789abcdef0"
COMES_S: Final = 90
"""How long EFS takes to create or to delete a mount target, in seconds (90 s to create: EFS User Guide)."""

type Happens = Callable[[Small], Any]
"""Causes the event. Returns False if the event is impossible in the current state."""


def _main(world: Small) -> Any:
    """Return the main resource, or None if it does not exist or is being deleted."""
    found = world.account.find(world.resource.id)
    return found if found is not None and getattr(found, "phase", "") not in GOING else None


def client_writes(world: Small) -> Any:
    """Overwrite some bytes without changing the size. Needs an available mount target (EFS) or file system (FSx)."""
    main = _main(world)
    match main:
        case ElasticFileSystem():
            if not any(one.phase == "available" for one in main.mount_targets):
                return False
            world.account.work(main.id)
        case FsxFileSystem():
            if main.phase != "AVAILABLE":
                return False
            world.account.write(main.id)
            world.account.after(METRICS_LATE_S, lambda: None if _main(world) is None else world.account.use(main.id))
        case _:
            return False
    return None


def service_writes(world: Small) -> Any:
    """Let AWS Transfer Family overwrite some bytes. It needs no mount target."""
    main = _main(world)
    if not isinstance(main, ElasticFileSystem) or main.phase != "available":
        return False
    return world.account.work(main.id, "service")


def attached_written_detached(world: Small) -> Any:
    main = _main(world)
    if world.kind != "ebs" or main is None or main.phase or main.attachments:
        return False
    account = world.account
    account.attach(main.id, account.fleet.instances[0].id)
    account.write(main.id)
    return account.detach(main.id)


def attached(world: Small) -> Any:
    main = _main(world)
    if world.kind != "ebs" or main is None or main.phase or main.attachments:
        return False
    return world.account.attach(main.id, world.account.fleet.instances[0].id)


def mounted(world: Small) -> Any:
    """Let a person add a mount target."""
    main = _main(world)
    if not isinstance(main, ElasticFileSystem) or any(one.az.endswith("b") for one in main.mount_targets):
        return False
    target = MountTarget(id=NEW_TARGET, az=f"{main.region}b")
    return world.account.put(replace(main, mount_targets=(*main.mount_targets, target)))


def mounted_written_unmounted(world: Small) -> Any:
    """Let a person add a mount target, write as soon as it is available, and remove it at once."""
    main = _main(world)
    if not isinstance(main, ElasticFileSystem) or main.phase != "available" or main.mount_targets:
        return False
    account = world.account
    target = MountTarget(id=NEW_TARGET, az=f"{main.region}b", phase="creating")
    account.put(replace(main, mount_targets=(target,)))

    def becomes(*targets: MountTarget) -> None:
        now = _main(world)
        if now is not None and any(one.id == NEW_TARGET for one in now.mount_targets):
            others = (one for one in now.mount_targets if one.id != NEW_TARGET)
            account.put(replace(now, mount_targets=(*others, *targets)))

    def used() -> None:
        becomes(replace(target, phase="deleting"))
        if _main(world) is not None:
            account.work(main.id)
        account.after(COMES_S, becomes)

    return account.after(COMES_S, used)


def access_point_made(world: Small) -> Any:
    main = _main(world)
    if not isinstance(main, ElasticFileSystem) or any(one.token == "theirs" for one in main.points):
        return False
    return world.account.put(main.with_points((*main.points, AccessPoint(id="fsap-0123456789abcdef0", token="theirs"))))


def group_narrowed(world: Small) -> Any:
    """Let a person restrict the mount targets to fewer clients."""
    main = _main(world)
    if not isinstance(main, ElasticFileSystem) or not main.mount_targets:
        return False
    targets = tuple(replace(one, security_groups=("sg-0000000000narrow",)) for one in main.mount_targets)
    return world.account.put(replace(main, mount_targets=targets))


def policy_narrowed(world: Small) -> Any:
    main = _main(world)
    if not isinstance(main, ElasticFileSystem):
        return False
    statement = {"Effect": "Deny", "Principal": "*", "Action": "elasticfilesystem:ClientMount", "Resource": "*"}
    return world.account.keep("efs-policies", main.id, json.dumps({"Version": "2012-10-17", "Statement": [statement]}))


def kept(world: Small) -> Any:
    return False if _main(world) is None else world.account.tag(world.resource.id, "keep", "")


def part_kept(world: Small) -> Any:
    """Add the `keep` tag to an access point, or to a volume of a file system."""
    main = _main(world)
    parts = [
        *getattr(main, "points", ()),
        *(one for one in world.account.fleet.fsx_volumes if one.file_system_id == world.resource.id),
    ]
    parts = [one for one in parts if one.phase not in GOING]
    return world.account.tag(parts[-1].id, "keep", "") if main is not None and parts else False


def volume_made(world: Small) -> Any:
    volumes = [one for one in world.account.fleet.fsx_volumes if one.file_system_id == world.resource.id]
    if _main(world) is None or not volumes or len(volumes) > 2:
        return False
    return world.account.put(replace(volumes[-1], id="fsvol-0123456789abcdef0", name="new", path="/fsx/new"))


def taken_over(world: Small) -> Any:
    """Add the tag with which Kubernetes claims the resource."""
    return (
        False if _main(world) is None else world.account.tag(world.resource.id, "kubernetes.io/cluster/shop", "owned")
    )


def tag_changed(world: Small) -> Any:
    return False if _main(world) is None else world.account.tag(world.resource.id, "CostCenter", "4711")


def tag_removed(world: Small) -> Any:
    main = _main(world)
    return False if main is None or CLEANUP_TAG not in main.tags else world.account.untag(main.id, CLEANUP_TAG)


def resource_removed(world: Small) -> Any:
    """Let the owner delete the resource with all its sub-resources."""
    main = _main(world)
    if main is None or getattr(main, "attachments", None):
        return False
    for volume in [one for one in world.account.fleet.fsx_volumes if one.file_system_id == main.id]:
        world.account.remove(volume.id)
    return world.account.remove(main.id)


def cold_data_moved(world: Small) -> Any:
    """Let EFS move all data to Infrequent Access, as the new lifecycle policy says."""
    main = _main(world)
    if (
        world.kind != "efs-lifecycle"
        or main is None
        or not main.standard_bytes
        or not dict(main.lifecycle).get("TransitionToIA")
    ):
        return False
    return world.account.put(replace(main, ia_bytes=main.standard_bytes, standard_bytes=0))


def _backups(world: Small) -> list[Any]:
    """Return Slackwater's backups, recognized by their tags."""
    return [one for one in world.account.backups() if EXPIRES_AT in one.tags]


def backup_extended(world: Small) -> Any:
    found = _backups(world)
    for one in found:
        at = world.now + timedelta(days=1_000)
        world.account.tag(one.id, EXPIRES_AT, f"{at:%Y-%m-%dT%H:%M:%SZ}")
    return None if found else False


def backup_copied(world: Small) -> Any:
    """Let a person copy a backup with its tags. No clean-up record names the copy."""
    found = _backups(world)
    if not found or any("copy" in one.id for one in found):
        return False
    one = found[0]
    copy = f"{one.id[:-4]}copy" if one.kind != "snapshot" else "snap-0000000000000copy"
    made = replace(one, id=copy, made=world.account.now)
    return world.account.put_backup(made)


def backup_deleted(world: Small) -> Any:
    """Let a person delete the complete backups. AWS refuses to delete a backup that it is still creating."""
    found = [one for one in _backups(world) if one.state in COMPLETE]
    for one in found:
        world.account.drop_backup(one.id)
    return None if found else False


def key_disabled(world: Small) -> Any:
    main = world.account.find(world.resource.id)
    keys = {key for one in _backups(world) if (key := world.oracle.key(one))} | (
        {main.kms_key} if getattr(main, "kms_key", "") else set()
    )
    if not keys or keys <= {*world.account.table(KEYS)}:
        return False
    for key in sorted(keys):
        world.account.keep(KEYS, key, True)
    return None


def _policy(world: Small, **cleanup: Any) -> Any:
    newest = world.ours.policies[-1]
    if isinstance(newest, Exception):
        return False
    changed = replace(newest, cleanup=newest.cleanup.model_copy(update=cleanup))
    return False if changed == newest else world.ours.change_policy(changed)


def policy_loses_region(world: Small) -> Any:
    return _policy(world, regions=[])


def policy_loses_detector(world: Small) -> Any:
    return _policy(world, detectors=[])


def policy_loses_approver(world: Small) -> Any:
    return _policy(world, approver_identities=["arn:aws:iam::123456789012:user/grace"])


def policy_unreadable(world: Small) -> Any:
    if isinstance(world.ours.policies[-1], Exception):
        return False
    from slackwater.app.policy.file import PolicyError, Problem

    return world.ours.change_policy(PolicyError([Problem("slackwater.toml", 1, "", "it cannot be read")]))


def stopped(world: Small) -> Any:
    return _asked(lambda: world.ours.people.stop(world.finding_id, who=APPROVER, why="no", now=world.now))


def stopped_all(world: Small) -> Any:
    return _asked(lambda: world.ours.people.stop_all(who=APPROVER, why="no", now=world.now))


def undone(world: Small) -> Any:
    """Let a person request an undo. Impossible while the clean-up cannot be undone."""
    before = world.cleanup()
    _asked(lambda: world.ours.people.undo(world.finding_id, who=APPROVER, now=world.now))
    after, here = world.cleanup(), world.position
    if after is None or before == after:
        return False
    world.position = replace(here, plan=("undo begun", *here.plan))
    return None


def _asked(ask: Callable[[], Any]) -> Any:
    try:
        ask()
    except Exception:  # noqa: BLE001 -- the request was refused, so nothing happened
        return False
    return None


def dismissed(world: Small) -> Any:
    """Let a person dismiss the finding."""
    findings = world.ours.findings.findings
    one = findings[world.finding_id]
    if one.status not in {"open", "approved"}:
        return False
    findings[one.id] = replace(one, status="dismissed", decision=None, revision=one.revision + 1)
    return None


def slack_fails(world: Small) -> Any:
    if world.position.slack_down:
        return False
    posts = world.ours.outbox.posts
    for id_, post in posts.items():  # messages that Slack accepted within the last minute are lost too
        if post.state == "sent" and post.sent and float(post.sent.ts or 0) >= world.account.now - 60:
            posts[id_] = replace(post, state="failed", sent=None)
    world.position = replace(world.position, slack_down=True)
    return None


def sweeps(world: Small) -> Any:
    return _asked(world.ours.sweep.sweep)


def others_sweep(world: Small) -> Any:
    """Let the other installation sweep. Its own clean-up of the same resource was cancelled earlier."""
    world.wire.actor = "theirs"
    try:
        return _asked(world.theirs.sweep.sweep)
    finally:
        world.wire.actor = "ours"


def ended_from_outside(world: Small) -> Any:
    """Let a person end the execution. EventBridge reports it."""
    here = world.position
    if not here.machine:
        return False
    plan = (f"told that {here.machine} failed", *here.plan)
    world.position = replace(here, machine=None, plan=plan, tries=(), denied=(), payloads=())
    raise Ends


def ended_in_silence(world: Small) -> Any:
    """End the execution without a report: the EventBridge rule is disabled, or the function that it calls fails."""
    if not world.position.machine:
        return False
    world.position = replace(world.position, machine=None, tries=(), denied=(), payloads=())
    raise Ends


def redeployed(world: Small) -> Any:
    world.redeploy()
    raise Ends


WORLD: Final[tuple[Happens, ...]] = (
    client_writes, service_writes, attached_written_detached, attached, mounted, mounted_written_unmounted,
    access_point_made, group_narrowed, policy_narrowed, kept, part_kept, volume_made, taken_over, tag_changed,
    tag_removed, resource_removed, cold_data_moved, backup_extended,
    backup_copied, backup_deleted, key_disabled, policy_loses_region, policy_loses_detector, policy_loses_approver,
    policy_unreadable, stopped, stopped_all, undone, dismissed, slack_fails, sweeps, others_sweep, ended_from_outside,
    ended_in_silence, redeployed,
)  # fmt: skip
"""The events that can happen around any call.

An event that is impossible in a state returns False and does not count.
"""


def late(world: Small) -> Iterator[tuple[str, Happens]]:
    """Yield a late duplicate of each earlier task, because Lambda delivers at least once."""
    for name, words in world.position.payloads:
        payload = json.loads(words)
        if "step" not in payload:
            continue

        def again(world: Small, name: str = name, payload: Any = payload) -> Any:
            return _asked(lambda: world.ours.functions[name](dict(payload)))

        yield f"late {payload['step']}", again


def every(world: Small) -> list[tuple[str, Happens]]:
    """Return all events that can happen around a call now, with their names."""
    named = [(one.__name__.replace("_", " "), one) for one in WORLD]
    return [*named, *late(world)]
