"""The steps that change a setting and change it back. They delete nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, assert_never

from slackwater.app.cleanup.case import GO, LONGEST_WAIT, Answer, Cases, UnsafeError, wait, wait_since
from slackwater.app.cleanup.recheck import Rechecker
from slackwater.model.cleanup import Cleanup, Restored
from slackwater.model.policy import Policy
from slackwater.model.settings import Setting, in_words
from slackwater.ports.cleanup import Changer
from slackwater.ports.errors import BusyError

type ChangeStep = Literal["change", "look", "put_back"]

LOOK_AT_CHANGE_S: Final = 600
"""The first interval, in seconds, between checks: a large volume takes hours."""
SHOWS_WITHIN: Final = timedelta(minutes=10)
"""Within this time AWS shows a change that it accepted."""
PASSES_WITHIN: Final = timedelta(days=2)
"""Within this time AWS accepts another change, even if it refuses now because the last one is too recent."""
ASK_AGAIN_S: Final = 3_600
"""Seconds until the next request if AWS does not accept a change yet: AWS limits the changes in 24 hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The steps and their dependencies."""

    cases: Cases
    policy: Callable[[], Policy]
    rechecker: Rechecker
    changers: Mapping[str, Changer]

    def step(self, step: ChangeStep, finding_id: str, execution: str) -> Answer:
        """Run one step, and return the answer for the state machine.

        Raises:
            NotMineError, UnsafeError: The step must not run.
            MovedError, NotSeenError, AwsError: The step may run again.
        """
        cleanup = self.cases.short(finding_id, execution)
        if cleanup.setting is None:
            raise UnsafeError("it changes no setting")
        if cleanup.stage != ("undoing" if step == "put_back" else "working"):
            raise UnsafeError(f"the clean-up is {cleanup.stage}")
        match step:
            case "change":
                return self._change(cleanup, cleanup.setting)
            case "look":
                return self._look(cleanup, cleanup.setting)
            case "put_back":
                return self._restore_setting(cleanup, cleanup.setting)
            case _:
                assert_never(step)

    def _change(self, cleanup: Cleanup, to: Setting) -> Answer:
        """Record the old setting, and then request the new one."""
        changer, resource = self.changers[cleanup.resource.type], cleanup.resource
        now, changing = changer.setting(resource, to)
        if cleanup.was is not None and (now == to or changing):
            return GO  # AWS received an earlier request
        why = next(self._objections(cleanup, to, now, changing=changing), None)
        if why is not None:  # an objection may have an empty text
            return self.cases.over(cleanup, why)
        if cleanup.was is None:
            cleanup = self.cases.write(replace(cleanup, was=now, changed_at=self.cases.clock()))
        changer.change(resource, to)
        return GO

    def _objections(self, cleanup: Cleanup, to: Setting, now: Setting, *, changing: bool) -> Iterator[str]:
        """Yield each reason against the change, in the order in which they are checked.

        Args:
            cleanup: The clean-up.
            to: The new setting.
            now: The setting that AWS reports.
            changing: Whether AWS is changing it already.
        """
        policy = self.policy()
        if why := self.cases.objection(cleanup, self.cases.finding(cleanup), policy):
            yield why
        seen = self.rechecker.recheck(cleanup, policy)
        if seen.state != "same":
            yield seen.why
        if changing:
            yield "AWS is already changing it"
        if why := self.changers[cleanup.resource.type].refusal(cleanup.resource, to):
            yield f"AWS does not allow the change now: {why}"
        if cleanup.was not in {None, now}:
            yield f"somebody else changed it to {in_words(now)}"

    def _look(self, cleanup: Cleanup, to: Setting) -> Answer:
        now, changing = self.changers[cleanup.resource.type].setting(cleanup.resource, to)
        if changing:
            return self._wait_for_aws(cleanup, cleanup.changed_at)
        if now == to:
            return GO
        if cleanup.changed_at is None or self.cases.clock() - cleanup.changed_at < SHOWS_WITHIN:
            return wait(LOOK_AT_CHANGE_S)
        return self.cases.failed(cleanup, f"AWS did not change it: it still has {in_words(now)}")

    def _wait_for_aws(self, cleanup: Cleanup, since: datetime | None) -> Answer:
        """Wait while AWS changes the setting; fail if that takes too long."""
        at = self.cases.clock()
        if since and at - since >= LONGEST_WAIT:
            return self.cases.failed(cleanup, f"AWS has not finished the change after {LONGEST_WAIT.days} days")
        return wait_since(since or at, at, LOOK_AT_CHANGE_S)

    def _restore_setting(self, cleanup: Cleanup, changed_to: Setting) -> Answer:
        """Request the old setting. If somebody else has changed the setting since, leave it."""
        if cleanup.was is None:
            return GO
        changer, resource = self.changers[cleanup.resource.type], cleanup.resource
        now, changing = changer.setting(resource, cleanup.was)
        if changing:
            return self._wait_for_aws(cleanup, cleanup.undone.at if cleanup.undone else None)
        if now == cleanup.was:
            return self._is_back(cleanup, changer.left_behind(resource, changed_to, cleanup.was))
        if now != changed_to:
            return self.cases.failed(
                cleanup, f"somebody has changed it to {in_words(now)} since, so Slackwater did not change it back"
            )
        why = changer.refusal(resource, cleanup.was)
        if why is None:
            try:
                changer.change(resource, cleanup.was)
            except BusyError as error:  # EFS raises it until 24 hours have passed since the last change
                why = str(error)
        return self._try_again(cleanup, why) if why else wait(LOOK_AT_CHANGE_S)

    def _try_again(self, cleanup: Cleanup, why: str) -> Answer:
        """Wait until AWS accepts another change; fail if it still refuses after two days."""
        if cleanup.undone and self.cases.clock() - cleanup.undone.at > PASSES_WITHIN:
            return self.cases.failed(cleanup, why)
        return wait(ASK_AGAIN_S)

    def _is_back(self, cleanup: Cleanup, differences: Sequence[str]) -> Answer:
        """Record that the old setting is back, and what still differs from before."""
        resource = cleanup.resource
        restored = Restored(state="done", id=resource.id, arn=resource.arn, differences=tuple(differences))
        if cleanup.restored != restored:
            self.cases.write(replace(cleanup, restored=restored))
        return GO
