"""Check I2 (Slackwater acts only with permission) and I4 (what it reports is true)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from explorer.facts import CLEANUP_TAGS, COMING, REMOVES, Facts
from slackwater.model.cleanup import TOKEN
from slackwater_simulator.account import GOING

if TYPE_CHECKING:
    from explorer.world import Small
    from slackwater.model.cleanup import Cleanup


class Witness:
    """Judges permission and truth. The rest of the oracle is built on it."""

    world: Small
    facts: Facts

    @property
    def _account(self) -> Any:
        return self.world.account

    def says(self, invariant: str, check: str, detail: str) -> None:
        raise NotImplementedError

    def there(self, id_: str) -> bool:
        """Return whether a resource exists and is not being deleted."""
        found = self._account.find(id_)
        return found is not None and getattr(found, "phase", "") not in GOING

    def live(self) -> dict[str, str]:
        """Return the contents of every existing volume and file system, by id."""
        fleet = self._account.fleet
        every = (*fleet.volumes, *fleet.efs, *fleet.fsx)
        return {one.id: self._account.contents(one.id) for one in every if one.phase not in GOING | COMING}

    def usable(self, backup: Any) -> bool:
        raise NotImplementedError

    # -- I2

    def _against(self) -> str | None:
        """Return the reason against acting on the main resource now; None if there is none."""
        world = self.world
        cleanup, finding = world.cleanup(), world.ours.findings.findings.get(world.finding_id)
        if cleanup is None or finding is None:
            return "no-record"
        policy = world.ours.policies[-1]
        if isinstance(policy, Exception):
            return "policy-unreadable"
        lists, seen = policy.cleanup, finding.sighting
        for name, value, listed in (
            ("accounts", seen.resource.account, lists.accounts),
            ("regions", seen.resource.region, lists.regions),
            ("resource_types", seen.resource.type, lists.resource_types),
            ("detectors", seen.detector, lists.detectors),
        ):
            if value not in listed:
                return f"not-in-{name}"
        if cleanup.stopped or world.ours.cleanups.control_.stopped:
            return "stopped"
        if finding.status not in {"approved", "cleaning"} and not cleanup.unattended:
            return "not-approved"
        who = (
            cleanup.approved_by if finding.status == "cleaning" else finding.decision.who if finding.decision else None
        )
        if (
            who
            and not cleanup.unattended
            and who not in lists.approver_identities
            and who.removeprefix("slack:") not in lists.approvers
        ):
            return "approver-not-named"
        return self._kept_by_its_owner(cleanup)

    def _kept_by_its_owner(self, cleanup: Cleanup) -> str | None:
        main = self._account.find(self.world.resource.id)
        if main is None:
            return None
        parts = [
            *getattr(main, "points", ()),
            *(one for one in self._account.fleet.fsx_volumes if one.file_system_id == main.id),
        ]
        if any("keep" in one.tags for one in (main, *parts)):
            return "keep-tag"
        if any(key.startswith("kubernetes.io/cluster/") for key in main.tags):
            return "managed-by-another"
        if self.world.deletes and getattr(main, "attachments", None):
            return "attached"
        if cleanup.marked and cleanup.marked.tagged and main.tags.get(CLEANUP_TAGS[0]) != cleanup.finding_id:
            return "its-mark-was-taken-off"
        return None

    def _acted(self, before: Any, operation: str) -> None:
        """Check a call with which Slackwater removed or changed a client's resource."""
        cleanup, facts = self.world.cleanup(), self.facts
        towards = cleanup is None or cleanup.stage == "working"
        if towards and facts.against:
            self.says("I2", f"acted/{facts.against}", f"{operation} although {facts.against}")
        if towards and operation in REMOVES and not facts.acted and not self._warned():
            self.says("I2", "unwarned", f"{operation}, and no warning of it was ever delivered")
        if operation in REMOVES and self.world.deletes:
            # A change after the last check cannot be compared.
            main, policies = None, None if facts.disturbed else before.tables.get("efs-policies", {})
            if facts.was:
                main = facts.was[0]
            elif not facts.disturbed:
                fleet = before.fleet
                main = next(
                    (one for one in (*fleet.volumes, *fleet.efs, *fleet.fsx) if one.id == self.world.resource.id), None
                )
            self.facts = facts = replace(facts, was=(main, policies))
        if towards:
            self.facts = replace(facts, acted=(*facts.acted, operation))
        self.facts = replace(self.facts, against=self._against(), disturbed=False)

    def _warned(self) -> bool:
        return any(
            one.state == "sent" and self.world.finding_id in id_ for id_, one in self.world.ours.outbox.posts.items()
        )

    def _check_restored(self, before: Any, operation: str) -> None:
        """Check that a restored file system carries Slackwater's tag before anything else is written to it."""
        for system in before.fleet.efs:
            now = self._account.find(system.id)
            ours = any(key.startswith("slackwater:") and key not in CLEANUP_TAGS for key in system.tags)
            if system.id in self.facts.restored and now is not system and not ours and operation != "TagResource":
                self.says(
                    "I2", "restored-untagged", f"{operation} on {system.id}, which carries no tag of Slackwater's"
                )
                self.facts = replace(self.facts, restored=tuple(one for one in self.facts.restored if one != system.id))

    # -- I4

    def _check_record(self) -> None:
        cleanup, facts, now = self.world.cleanup(), self.facts, float(self._account.now)
        if cleanup is None:
            return
        asked = dict(facts.asked)
        for backup in cleanup.backups:
            asked.setdefault(backup.token, now)
        named = {*facts.named, *(id_ for one in (*cleanup.backups, *cleanup.earlier) for id_ in one.ids)}
        self.facts = replace(facts, asked=tuple(sorted(asked.items())), named=tuple(sorted(named)))
        for backup in cleanup.backups:
            copy = self._account.backup(backup.id or "")
            if backup.state == "verified" and copy is not None and copy.made < asked[backup.token]:
                self.says("I4", "took-an-older-backup", f"{copy.id} was made before this clean-up asked for one")
        gone = not self.there(cleanup.resource.id)
        if cleanup.stage == "done" and cleanup.deletes and not gone:
            self.says("I4", "done/still-there", "it is called deleted, and is there")
        if cleanup.stage in {"called-off", "failed"} and "nothing was deleted" in cleanup.why and facts.acted:
            self.says("I4", "says-nothing-was-deleted", f"after {', '.join(facts.acted)}")
        if cleanup.stage == "undone" or (cleanup.restored and cleanup.restored.state == "done"):
            self._check_undone(cleanup)
        else:
            self.facts = replace(self.facts, changed_again=False)

    def _check_undone(self, cleanup: Cleanup) -> None:
        """Check that everything is restored, or that the clean-up reports the difference."""
        restored = cleanup.restored
        reported = " ".join((*(restored.differences if restored else ()), cleanup.why))
        back = self._account.find(restored.id) if restored and restored.id else self._account.find(cleanup.resource.id)
        twice = [id_ for id_ in self.facts.restored if self.there(id_)]
        if len(twice) > 1:
            self.says("I4", "undone/twice", f"there are {', '.join(twice)}")
        if not cleanup.deletes:
            self._check_moved_data(cleanup, back, reported)
        if self.facts.disturbed:
            self.facts = replace(self.facts, changed_again=True)
        if not cleanup.deletes or self.facts.changed_again:
            return
        if self.facts.owed and not any(one.contents in self.live().values() for one in self.facts.owed):
            self.says("I4", "undone/without-its-data", "it is called undone, and its data is not back")
        if self.facts.was is None or self.facts.was[0] is None or back is None:
            return
        was, policies = self.facts.was
        self._check_tags(was, back, reported)
        self._check_security_groups(was, back, reported)
        # If the file system stayed, Slackwater does not change its policy.
        if policies is not None and back.id != was.id:
            self._check_file_system_policy(policies.get(was.id), back, reported)

    def _check_moved_data(self, cleanup: Cleanup, back: Any, reported: str) -> None:
        moved = getattr(back, "ia_bytes", 0)
        if moved and cleanup.stage == "undone" and not re.search(r"Infrequent Access|\bIA\b", reported):
            self.says("I4", "undone/says-nothing-of-moved-data", f"{moved:,} bytes stay in Infrequent Access")

    def _check_tags(self, was: Any, back: Any, reported: str) -> None:
        own = {key: value for key, value in was.tags.items() if key not in CLEANUP_TAGS and not key.startswith("aws:")}
        if wrong := sorted(key for key, value in own.items() if back.tags.get(key) != value and key not in reported):
            self.says(
                "I4", "restored-stale/tags", f"the tags {', '.join(wrong)} are not as they were when it was removed"
            )

    def _check_security_groups(self, was: Any, back: Any, reported: str) -> None:
        groups = {one.subnet or one.az: {*one.security_groups} for one in getattr(was, "mount_targets", ())}
        for target in getattr(back, "mount_targets", ()):
            before = groups.get(target.subnet or target.az, groups.get(target.az))
            if before and not {*target.security_groups} <= before and "security group" not in reported:
                self.says(
                    "I4", "restored-stale/security-groups", f"{target.id} has {', '.join(target.security_groups)}"
                )

    def _check_file_system_policy(self, was: str | None, back: Any, reported: str) -> None:
        now = self._account.table("efs-policies").get(back.id)
        before, after = (None if one is None else json.loads(one) for one in (was, now))
        if before != after and "policy" not in reported:
            self.says("I4", "restored-stale/policy", "the file system's policy is not what it was when it was removed")

    def refused_undo(self, why: str) -> None:
        """Check whether an undo was refused although it is possible."""
        cleanup = self.world.cleanup()
        main = self.world.resource.id
        if cleanup is None or not cleanup.deletes or self.there(main) or not cleanup.ended:
            return
        ids = {one.id for one in cleanup.backups if one.state == "verified"}
        good = [one for one in self._account.backups() if one.id in ids and self.usable(one)]
        back = cleanup.restored and cleanup.restored.state == "done"
        if good and not back:
            self.says("I4", "undo-refused", f"the resource is gone, {good[0].id} holds it, and undo says: {why}")

    def _check_whole(self, cleanup: Cleanup) -> None:
        """Check that a resource that stays has all its sub-resources, or that the record reports what is missing."""
        was, now = self.facts.was[0] if self.facts.was else None, self._account.find(cleanup.resource.id)
        if was is None or now is None or not self.there(now.id) or "not restored" in cleanup.why:
            return
        zones = {one.az for one in getattr(was, "mount_targets", ())} - {
            one.az for one in getattr(now, "mount_targets", ())
        }
        points = len(getattr(was, "points", ())) - len(getattr(now, "points", ()))
        if cleanup.stage in {"called-off", "failed"} and (zones or points > 0):
            self.says(
                "I4",
                "not-whole",
                f"{cleanup.stage}: it lacks mount targets in {sorted(zones)}, and {points} access points",
            )

    def _check_backups(self, cleanup: Cleanup) -> None:
        """Check that a record requested every backup that was made. Nothing would ever sweep the others."""
        made = {id_ for id_, maker in self.facts.made if maker == "ours"}
        for backup in self._account.backups():
            if backup.id in made and backup.tags.get(TOKEN) not in dict(self.facts.asked):
                self.says(
                    "I3", "not-asked-for", f"{backup.id} was made, and no record of {cleanup.finding_id} asked for it"
                )

    def ended(self) -> None:
        """Check the account and the messages after an execution has ended."""
        cleanup = self.world.cleanup()
        if cleanup is None or isinstance(self.world.ours.policies[-1], Exception) or not cleanup.ended:
            return
        self._check_whole(cleanup)
        self._check_backups(cleanup)
        words = {"done": "done", "called-off": "called-off", "failed": "failed", "undone": "undone"}[cleanup.stage]
        if not any(f"{self.world.finding_id}.{cleanup.attempt}.{words}" in id_ for id_ in self.world.ours.outbox.posts):
            self.says("I4", f"untold/{words}", f"the clean-up is {cleanup.stage}, and Slack is not told")
