"""Run the real state machine, one attempt of one task at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from support import asl
from support.asl import Checkpoint, Execution, StateError, definition

definitions: Final = cache(definition)


class Again(Exception):
    """The task failed and must be retried."""


@dataclass
class Stepper(Execution):
    """An execution that makes one attempt of a task per step."""

    tries: dict[int, int] = field(default_factory=dict)

    def _task(self, state: Mapping[str, Any], here: Checkpoint) -> Any:
        try:
            answer = {
                "Payload": self._called(
                    self._filled(state["Parameters"], here.data), state["TimeoutSeconds"], here.state
                )
            }
        except StateError as error:
            retry = asl.rule(state, "Retry", error.args[0])
            which = state["Retry"].index(retry) if retry else -1
            if retry is None or self.tries.get(which, 0) >= retry["MaxAttempts"]:
                self.tries = {}
                raise
            wait_s = retry["IntervalSeconds"] * retry.get("BackoffRate", 2) ** self.tries.get(which, 0)
            self.tries[which] = self.tries.get(which, 0) + 1
            self.clock.wait(min(wait_s, retry.get("MaxDelaySeconds", wait_s)))
            raise Again from error
        self.tries = {}
        return answer | {"StatusCode": 200}

    def try_once(self) -> bool:
        """Run one attempt of one task, and what follows up to the next task. Return whether there is more."""
        tried = False
        while self.checkpoint is not None:
            task = self.machine["States"][self.checkpoint.state]["Type"] == "Task"
            if task and tried:
                return True
            tried |= task
            try:
                self.step()
            except Again:
                return True
        return False
