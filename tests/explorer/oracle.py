"""Check the invariants I1 to I5 of the design after every call. The oracle reads the account, not Slackwater's code.

- I1, data: if a client wrote data that Slackwater later deleted, a good backup or a restored resource holds it.
- I2 and I4 are in witness.py.
- I3: the sweeper deletes only its own expired backups.
- I5: everything ends. The world detects most violations of it and reports them here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from explorer.facts import (
    CHANGES,
    COMPLETE,
    DAY,
    EVENTS_LATE_S,
    KEYS,
    METRICS_LATE_S,
    REMOVES,
    SWEEPS,
    Facts,
    Owed,
    Violation,
)
from explorer.witness import Witness
from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.model.cleanup import EXPIRES_AT, TOKEN
from slackwater_simulator.account import GOING

if TYPE_CHECKING:
    from explorer.world import Small


class Oracle(Witness):
    """Checks a world."""

    def __init__(self, world: Small) -> None:
        self.world, self.facts = world, Facts()
        self.found: list[Violation] = []
        self.windows = 0
        """Data losses between the last check and the call, where AWS has no fence.

        They are counted, but are no violations.
        """
        self._state: Any = None
        self._at = 0.0

    # -- What the account holds

    @staticmethod
    def key(backup: Any) -> str:
        """Return the customer managed key that a backup is encrypted with. Empty if the key is AWS's own."""
        return str(backup.detail.get("kms_key") or getattr(backup.detail.get("system"), "kms_key", "") or "")

    def usable(self, backup: Any) -> bool:
        """Return whether a backup can be restored: its key is enabled, and it is complete or is FSx's final backup."""
        complete = backup.state in COMPLETE or backup.id in self._account.table("final-backups").values()
        return complete and self.key(backup) not in self._account.table(KEYS)

    def expires(self, backup: Any) -> float:
        """Return when a backup expires (epoch seconds), by its tag or by AWS Backup, whichever is earlier."""
        days = backup.detail.get("days")
        ends = [float("inf") if days is None else backup.made + days * DAY]
        with contextlib.suppress(KeyError, ValueError):
            ends.append(datetime.fromisoformat(backup.tags[EXPIRES_AT]).timestamp())
        return min(ends)

    def kept_until(self) -> float:
        """Return until when all owed data must be kept.

        If nothing is owed, return the latest recorded expiry, or now.
        """
        cleanup = self.world.cleanup()
        recorded = [one.expires_at.timestamp() for one in cleanup.backups] if cleanup else []
        return max([one.until for one in self.facts.owed] or recorded or [float(self._account.now)])

    # -- Checks after each call

    def stepping(self) -> None:
        """Record what a step that begins now can see."""
        self.facts = replace(self.facts, against=self._against(), disturbed=False)

    def look(self, point: str) -> None:
        """Check the account after a call, or when time has passed."""
        operation, actor = point.rpartition(":")[2], self.world.wire.actor
        state = self._account._state
        if state is not self._state or self._account.now != self._at:
            before, self._state, self._at = self._state, state, self._account.now
            if before is not None and state is not before:
                self._changed(before, operation, actor)
            self._check_data(operation, actor)
        if point == "cleanups.write" and actor == "ours":
            self._check_record()

    def loaded(self) -> None:
        """Continue from the state that was just loaded."""
        self._state, self._at = self._account._state, self._account.now

    def others_did(self) -> None:
        """Record that others did something. Slackwater is not responsible for data that this loses."""
        owed = [one for one in self.facts.owed if self._copy(one) is not None]
        was, self._state, self._at = self._state, self._account._state, self._account.now
        cleanup = self.world.cleanup()
        again = was is not self._state and cleanup and cleanup.restored and cleanup.restored.state == "done"
        changed_again = self.facts.changed_again or bool(again)
        removed = {was.contents.get(id_, f"what {id_} holds") for id_ in self._lives(was) if not self.there(id_)}
        self.facts = replace(
            self.facts,
            owed=(*owed, *self._left_to_us(was)),
            removed_by_others=tuple(sorted({*self.facts.removed_by_others, *removed})),
            disturbed=True,
            changed_again=changed_again,
        )

    def redeployed(self) -> None:
        """Forget the records, because the table is empty.

        The earlier backups now belong to an installation that is gone.
        """
        made = tuple((id_, "before" if who == "ours" else who) for id_, who in self.facts.made)
        self.facts = replace(self.facts, made=made, named=(), asked=(), acted=(), was=None, changed_again=False)

    def says(self, invariant: str, check: str, detail: str) -> None:
        self.found.append(Violation(invariant, check, detail))

    # -- I1

    def _copy(self, owed: Owed) -> float | None:
        """Return until when a copy of the data exists (epoch seconds). None if there is no copy."""
        if owed.contents in self.live().values():
            return float("inf")
        ends = [self.expires(one) for one in self._account.holding(owed.contents) if self.usable(one)]
        return max(ends, default=None)

    def _check_data(self, operation: str, actor: str) -> None:
        kept = []
        for one in self.facts.owed:
            if self._account.now >= one.until:
                continue
            if self._copy(one) is None:
                how = (
                    f"swept-by-{actor}"
                    if operation in SWEEPS
                    else "as-time-passed"
                    if operation == "time"
                    else operation
                )
                self.says(
                    "I1", f"lost/{how}", f"{one.contents!r} of {one.of} is in no backup, {self._in_days(one.until)}"
                )
            else:
                kept.append(one)
        if len(kept) != len(self.facts.owed):
            self.facts = replace(self.facts, owed=tuple(kept))

    def _in_days(self, until: float) -> str:
        return f"{(until - self._account.now) / DAY:.2f} days before it may be"

    def _changed(self, before: Any, operation: str, actor: str) -> None:
        """Check a change of the account, which a call of Slackwater or the passing of time has caused."""
        main, disturbed = self.world.resource.id, self.facts.disturbed
        if operation in REMOVES | CHANGES and actor == "ours":
            self._acted(before, operation)
        if operation in SWEEPS:
            self._swept(before, operation, actor)
        was, now = {*before.backups}, {*self._account._state.backups}
        if operation != "time" and (new := now - was):
            self.facts = replace(self.facts, made=(*self.facts.made, *((id_, actor) for id_ in sorted(new))))
        gone = [id_ for id_ in self._lives(before) if not self.there(id_)]
        if operation in REMOVES and gone:
            for id_ in gone:
                self._deleted(id_, before, disturbed=disturbed)
        new_ones = tuple(
            id_ for id_ in self._lives(self._account._state) if id_ not in self._lives(before) and id_ != main
        )
        if new_ones:
            self.facts = replace(self.facts, restored=(*self.facts.restored, *new_ones))
        if operation not in {"time", *SWEEPS}:
            self._check_restored(before, operation)

    @staticmethod
    def _lives(state: Any) -> list[str]:
        fleet = state.fleet
        return [one.id for one in (*fleet.volumes, *fleet.efs, *fleet.fsx) if one.phase not in GOING]

    def _deleted(self, id_: str, before: Any, *, disturbed: bool) -> None:
        """Check that a good backup holds what a client wrote last in a resource that Slackwater deleted."""
        versions = self._account.versions(id_)
        last = versions[-1] if versions else None
        contents = before.contents.get(id_, f"what {id_} holds")
        cleanup = self.world.cleanup()
        if not contents or (cleanup and cleanup.scratch):
            return
        days = self._backup_days()
        until = self._account.now + days * DAY
        holding = self._account.holding(contents)
        ids, tokens = self._recorded()
        good = [one for one in holding if self.usable(one) and (one.id in ids or one.tags.get(TOKEN) in tokens)]
        if not good:
            written = last is not None and last.who == "client" and len(versions) > 1
            if last and self._account.now - last.at <= self._unseen_s(last.who, written=written):
                self.windows += 1
                return
            if disturbed and not written:
                self.windows += 1
                return
            self.says(
                "I1", f"deleted/{self._why_not(holding, contents, id_)}", f"{contents!r} of {id_} is in no good backup"
            )
            return
        longest = max(map(self.expires, good))
        if longest < until - 60:
            self.says(
                "I1",
                "deleted/expires-too-soon",
                f"its backup is kept for {(longest - self._account.now) / DAY:.3f} days of {days}",
            )
            until = longest
        self.facts = replace(self.facts, owed=(*self.facts.owed, Owed(contents, id_, until)))

    def _unseen_s(self, who: str, *, written: bool) -> float:
        """Return for how many seconds AWS may not show a write that no fence prevents; -1 if there is no such delay.

        Losses within that time are counted apart. EBS has no fence. EFS has none against services that need no mount
        target. A metric shows once its minute is over, so a minute is added.
        """
        if who == "service":
            return METRICS_LATE_S + 60
        return EVENTS_LATE_S if self.world.kind == "ebs" and written else -1

    def _why_not(self, holding: list[Any], contents: str, id_: str) -> str:
        if not holding:
            mine = [one for one in self._account.backups() if one.of == id_]
            return "written-since-its-backup" if mine else "without-a-backup"
        if all(one.state not in COMPLETE for one in holding):
            return "not-complete"
        return "not-recorded" if any(map(self.usable, holding)) else "key-not-usable"

    def _left_to_us(self, was: Any) -> Iterator[Owed]:
        """Yield what others deleted if a backup of Slackwater holds it.

        That backup is the only copy until it expires.
        """
        for id_ in self._lives(was):
            if not self.there(id_) and id_ not in {one.of for one in self.facts.owed}:
                contents = was.contents.get(id_, f"what {id_} holds")
                good = [
                    one
                    for one in self._account.holding(contents)
                    if self.usable(one) and one.id in dict(self.facts.made)
                ]
                if good:
                    yield Owed(contents, id_, max(map(self.expires, good)), ours=False)

    def _backup_days(self) -> int:
        newest = next(one for one in reversed(self.world.ours.policies) if not isinstance(one, Exception))
        return int(newest.cleanup.backup_days)

    def _recorded(self) -> tuple[set[str], set[str]]:
        """Return the ids of recorded backups, and the tokens of the final ones.

        FSx makes a final backup with the deletion, and names it in the answer.
        """
        cleanup = self.world.cleanup()
        backups = cleanup.backups if cleanup else ()
        return {one.id for one in backups if one.id}, {one.token for one in backups if one.final}

    # -- I3

    def _swept(self, before: Any, operation: str, actor: str) -> None:
        now = self._account._state.backups
        for id_, was in before.backups.items():
            gone = id_ not in now or (now[id_].state == "DELETING" and was.state != "DELETING")
            if not gone:
                continue
            maker = dict(self.facts.made).get(id_)
            if maker != actor:
                self.says(
                    "I3",
                    f"swept/{maker or 'others'}-by-{actor}",
                    f"{actor} swept {id_}, which {maker or 'somebody else'} made",
                )
            elif actor == "ours" and id_ not in self.facts.named:
                self.says("I3", "swept/not-recorded", f"{id_} was swept, and no record names it")
            if actor == "ours" and not self.facts.disturbed and self._is_all_there_is(was):
                self.says("I3", "swept/the-only-copy", f"{id_} was all that was left of {was.of}, which others removed")
            tag = was.tags.get(EXPIRES_AT)
            if tag is None or datetime.fromisoformat(tag).timestamp() > self._account.now:
                if self.facts.disturbed:  # the extension may have come after the check, right before the deletion
                    self.windows += 1
                    continue
                self.says("I3", "swept/not-expired", f"{actor} swept {id_}, which is kept until {tag}")

    def _is_all_there_is(self, backup: Any) -> bool:
        """Return whether a backup was the only copy of what others removed, without a deletion by Slackwater."""
        cleanup, contents = self.world.cleanup(), backup.contents
        asked = cleanup is not None and any(one.part.id == backup.of for one in cleanup.removals)
        elsewhere = contents in self.live().values() or any(map(self.usable, self._account.holding(contents)))
        return contents in self.facts.removed_by_others and not asked and not elsewhere

    def swept_at_last(self) -> None:
        """Check that an undisturbed sweep after the retention left none of Slackwater's backups.

        A backup stays if its resource is gone and Slackwater has no record of deleting it. If AWS received one request
        twice, there is one backup too many, and Slackwater cannot tell it from a person's copy.
        """
        cleanup = self.world.cleanup()
        if cleanup is None or not cleanup.ended:
            return
        asked = any(one.part.id == cleanup.resource.id for one in cleanup.removals)
        back = cleanup.restored.id if cleanup.restored else None
        if (
            not (cleanup.stage == "done" and asked)
            and not self.there(cleanup.resource.id)
            and not (back and self.there(back))
        ):
            return
        made = {id_ for id_, maker in self.facts.made if maker == "ours"}
        if len(made) > sum(one.asked for one in (*cleanup.backups, *cleanup.earlier)):
            return
        for backup in self._account.backups():
            if backup.id in made and backup.state in COMPLETE and self.expires(backup) <= self._account.now:
                self.says("I5", "never-swept", f"{backup.id} has expired, and is still there")

    def swept(self) -> None:
        """Check after a sweep that a deletion which can be undone still has a backup."""
        cleanup = self.world.cleanup()
        if cleanup is None or not cleanup.deletes or not cleanup.ended or self.facts.disturbed:
            return
        if cleanup.backups and not_undoable(cleanup) is None and not self.there(cleanup.resource.id):
            ids = {one.id for one in cleanup.backups}
            if not any(one.id in ids and one.state in COMPLETE for one in self._account.backups()):
                self.says("I4", "undoable-without-a-backup", "it is called undoable, and its backup is gone")
