"""The language of Step Functions, as much of it as is used here, run in this process with a time of its own.

What a function raises goes through Retry and Catch by the name of its class, as Lambda reports it. What is no
`Exception` goes through neither: the worker is dead, and the execution stays where it was. `run` goes on from there,
and so does an execution that is made from a `checkpoint` of another.
"""

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]

MOST_EVENTS = 25_000
"""Of an execution's history, after which Step Functions ends it."""
MOST_BYTES = 256 * 1024
"""Of what goes into a state, or comes out of it."""
LONGEST = timedelta(days=365)
"""That a standard execution may take."""

KNOWN = {
    "Task": {"Resource", "Parameters", "ResultSelector", "ResultPath", "TimeoutSeconds", "Retry", "Catch"},
    "Map": {
        "Label",
        "ItemReader",
        "ItemSelector",
        "MaxConcurrency",
        "MaxConcurrencyPath",
        "ItemsPath",
        "ToleratedFailurePercentage",
        "ItemProcessor",
        "ResultWriter",
        "ResultPath",
        "Catch",
    },
    "Pass": {"Parameters", "Result", "ResultPath"},
    "Wait": {"Seconds", "SecondsPath", "TimestampPath"},
    "Choice": {"Choices", "Default"},
    "Fail": {"Error", "Cause", "ErrorPath", "CausePath"},
    "Succeed": set(),
}
"""The fields that are heeded, beside Type, Comment, Next and End."""

EVENTS = {"Task": 5, "Pass": 2, "Wait": 2, "Choice": 2, "Map": 4, "Succeed": 2, "Fail": 1}
"""Events in the history by state; each retry takes three more. Succeed and Fail are with the execution's end."""

type Function = Callable[[Any], Any]


class StateError(Exception):
    """What ends a state: the error's name and cause. Functions raise it for names without a class, `States.Timeout`."""


class RuntimeFailure(StateError):
    """What no Retry and no Catch hears of: a path that leads nowhere, a history that is full."""


@dataclass
class Clock:
    """A time that passes when it is waited for. Whatever has these two may stand in for it."""

    now: datetime = datetime(2026, 11, 16, 9, tzinfo=UTC)

    def wait(self, seconds: float) -> None:
        """Let so much of it pass."""
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Checkpoint:
    """Between two states: the one that comes next, and what goes into it."""

    state: str
    data: Any


@dataclass(frozen=True)
class Call:
    """A function's: in which state, with what, and what came of it. `raised` is the error's name."""

    state: str
    function: str
    payload: Any
    answer: Any = None
    raised: str | None = None


def definition(name: str, substitutions: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The one of `statemachines/`; without substitutions `${WatchFunctionArn}` reads "WatchFunction"."""
    text = (ROOT / "statemachines" / f"{name}.asl.yaml").read_text()

    def substituted(found: re.Match[str]) -> str:
        return str(substitutions[found[1]]) if substitutions else found[1].removesuffix("Arn")

    return parsed(re.sub(r"\$\{(\w+)}", substituted, text))


@cache
def parsed(text: str) -> dict[str, Any]:
    """A state machine's definition, of which nobody changes anything."""
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@dataclass
class Execution:
    """A run of one machine with functions of ours, by their names. `checkpoint` is None once it has ended.

    `bucket` holds what a Distributed Map reads, by key. Each of its items is an execution of its own.
    """

    machine: Mapping[str, Any]
    functions: Mapping[str, Function]
    input: Any
    name: str = "execution"
    clock: Any = field(default_factory=Clock)
    checkpoint: Checkpoint | None = None
    bucket: Mapping[str, str] = field(default_factory=dict)
    status: str = "RUNNING"
    error: str | None = None
    cause: str | None = None
    output: Any = None
    trace: list[str] = field(default_factory=list)
    """Every state that was entered."""
    calls: list[Call] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)
    """By Wait states."""
    at_once: int | None = None
    events: int = 1

    def __post_init__(self) -> None:
        self.started = self.clock.now
        self.context: dict[str, Any] = {
            "Execution": {"Name": self.name, "Input": deepcopy(self.input)},
            "StateMachine": {"Id": "arn:aws:states:eu-west-1:123456789012:stateMachine:machine"},
        }
        if self.checkpoint is None:
            self.checkpoint = Checkpoint(self.machine["StartAt"], deepcopy(self.input))

    def run(self) -> "Execution":
        """To the end."""
        while self.step():
            pass
        return self

    def step(self) -> bool:
        """One state; whether there is another."""
        here = self.checkpoint
        if here is None:
            return False
        self.trace.append(here.state)
        try:
            following = self._enter(self.machine["States"][here.state], here)
        except StateError as error:
            self.checkpoint, self.status = None, "FAILED"
            self.error, self.cause = error.args
            return False
        if following is None:
            self.checkpoint, self.status = None, "SUCCEEDED"
            return False
        self.checkpoint = following
        return True

    def asked(self, function: str) -> list[Any]:
        """What a function was called with."""
        return [call.payload for call in self.calls if call.function == function]

    def _count(self, events: int) -> None:
        self.events += events
        if self.events > MOST_EVENTS:
            raise RuntimeFailure("States.Runtime", f"more than {MOST_EVENTS} events")
        if self.clock.now - self.started > LONGEST:
            raise RuntimeFailure("States.Timeout", "more than a year")

    def _enter(self, state: Mapping[str, Any], here: Checkpoint) -> Checkpoint | None:
        kind, data = state["Type"], here.data
        if unknown := set(state) - {"Type", "Comment", "Next", "End"} - KNOWN[kind]:
            raise NotImplementedError(f"{here.state}: {unknown}")
        self._count(EVENTS[kind])
        match kind:
            case "Succeed":
                self.output = data
                return None
            case "Fail":
                raise StateError(*(state.get(key) or self._at(state[f"{key}Path"], data) for key in ("Error", "Cause")))
            case "Wait":
                self._wait(state, data)
                return Checkpoint(state["Next"], data)
            case "Choice":
                found = (one["Next"] for one in state["Choices"] if self._met(one, data))
                return Checkpoint(next(found, state["Default"]), data)
        return self._enter_with_result(state, here)

    def _enter_with_result(self, state: Mapping[str, Any], here: Checkpoint) -> Checkpoint | None:
        """Enter a Pass, Task or Map state."""
        try:
            data = put(here.data, state.get("ResultPath", "$"), self._result(state, here))
        except RuntimeFailure:
            raise
        except StateError as error:
            if (catch := rule(state, "Catch", error.args[0])) is None:
                raise
            failure = dict(zip(("Error", "Cause"), error.args, strict=True))
            return Checkpoint(catch["Next"], put(here.data, catch.get("ResultPath", "$"), failure))
        if len(json.dumps(data)) > MOST_BYTES:
            raise RuntimeFailure("States.DataLimitExceeded", here.state)
        if state.get("End"):
            self.output = data
            return None
        return Checkpoint(state["Next"], data)

    def _wait(self, state: Mapping[str, Any], data: Any) -> None:
        if path := state.get("TimestampPath"):
            seconds = max(0.0, (datetime.fromisoformat(self._at(path, data)) - self.clock.now).total_seconds())
        else:
            seconds = state["Seconds"] if "Seconds" in state else self._at(state["SecondsPath"], data)
        self.waited_s.append(seconds)
        self.clock.wait(seconds)

    def _result(self, state: Mapping[str, Any], here: Checkpoint) -> Any:
        match state["Type"]:
            case "Pass":
                return deepcopy(state["Result"]) if "Result" in state else self._filled(state["Parameters"], here.data)
            case "Task":
                answer = self._task(state, here)
                return self._filled(state["ResultSelector"], answer) if "ResultSelector" in state else answer
            case _:
                return self._each(state, here.data) if "ItemsPath" in state else self._map(state, here.data)

    def _each(self, state: Mapping[str, Any], data: Any) -> list[Any]:
        """An inline Map, one item after the other, in the history of this execution. A failed item fails the state."""
        outputs = []
        for item in self._at(state["ItemsPath"], data):
            given = filled(state["ItemSelector"], data, self.context | {"Map": {"Item": {"Value": item}}})
            inside = Execution(state["ItemProcessor"], self.functions, given, clock=self.clock, calls=self.calls)
            inside.run()
            self._count(inside.events)
            if inside.error is not None:
                raise StateError(inside.error, inside.cause)
            outputs.append(inside.output)
        if len(json.dumps(outputs)) > MOST_BYTES:  # also where ResultPath leaves them out
            raise RuntimeFailure("States.DataLimitExceeded", "the outputs of a Map")
        return outputs

    def _map(self, state: Mapping[str, Any], data: Any) -> dict[str, Any]:
        """A Distributed Map: every item in an execution with its own history. It tolerates a share of failed items."""
        self.at_once = self._at(state["MaxConcurrencyPath"], data)
        items = json.loads(self.bucket[self._filled(state["ItemReader"]["Parameters"], data)["Key"]])
        failed = 0
        for item in items:
            context = self.context | {"Map": {"Item": {"Value": item}}}
            given = filled(state["ItemSelector"], data, context)
            inside = Execution(state["ItemProcessor"], self.functions, given, clock=self.clock, calls=self.calls)
            failed += inside.run().error is not None
        if failed * 100 > state["ToleratedFailurePercentage"] * len(items):
            raise StateError("States.ExceedToleratedFailureThreshold", f"{failed} of {len(items)} failed")
        return {"MapRunArn": "run", "ResultWriterDetails": self._filled(state["ResultWriter"]["Parameters"], data)}

    def _task(self, state: Mapping[str, Any], here: Checkpoint) -> Any:
        asked = self._filled(state["Parameters"], here.data)
        tries: dict[int, int] = {}
        while True:
            try:
                return {"Payload": self._called(asked, state["TimeoutSeconds"], here.state), "StatusCode": 200}
            except StateError as error:
                retry = rule(state, "Retry", error.args[0])
                if retry is None or tries.get(id(retry), 0) >= retry["MaxAttempts"]:
                    raise
                wait_s = retry["IntervalSeconds"] * retry.get("BackoffRate", 2) ** tries.get(id(retry), 0)
                tries[id(retry)] = tries.get(id(retry), 0) + 1
                self._count(3)
                self.clock.wait(min(wait_s, retry.get("MaxDelaySeconds", wait_s)))

    def _called(self, asked: Mapping[str, Any], timeout_s: float, state: str) -> Any:
        name, payload = asked["FunctionName"], json.loads(json.dumps(asked["Payload"]))
        began = self.clock.now
        try:
            answer = json.loads(json.dumps(self.functions[name](deepcopy(payload))))
        except StateError as error:
            self.calls.append(Call(state, name, payload, raised=error.args[0]))
            raise
        except BaseException as error:
            raised = type(error).__name__
            self.calls.append(Call(state, name, payload, raised=raised))
            if not isinstance(error, Exception):
                raise
            raise StateError(raised, json.dumps({"errorMessage": str(error), "errorType": raised})) from error
        late = (self.clock.now - began).total_seconds() > timeout_s
        self.calls.append(Call(state, name, payload, answer, raised="States.Timeout" if late else None))
        if late:
            raise StateError("States.Timeout", f"it took more than {timeout_s} s")
        return answer

    def _at(self, path: str, data: Any) -> Any:
        return at(path, data, self.context)

    def _filled(self, shape: Any, data: Any) -> Any:
        return filled(shape, data, self.context)

    def _met(self, choice: Mapping[str, Any], data: Any) -> bool:
        return met(choice, data, self.context)


def at(path: str, data: Any, context: Any) -> Any:
    """What is there, or what an intrinsic function makes of it; a path that leads nowhere ends the execution."""
    if found := re.fullmatch(r"States\.Format\('(.*)', (.*)\)", path):
        return found[1].replace("{}", at(found[2], data, context))
    if found := re.fullmatch(r"States\.StringToJson\('(.*)'\)", path):
        return json.loads(found[1])
    if found := re.fullmatch(r"States\.JsonToString\((.*)\)", path):
        return json.dumps(at(found[1], data, context))
    if found := re.fullmatch(r"States\.MathAdd\((.*), (\d+)\)", path):
        return at(found[1], data, context) + int(found[2])
    here = context if path.startswith("$$") else data
    for key in path.lstrip("$").split(".")[1:]:
        if not isinstance(here, dict) or key not in here:
            raise RuntimeFailure("States.Runtime", f"{path} leads nowhere")
        here = here[key]
    return deepcopy(here)


def filled(shape: Any, data: Any, context: Any) -> Any:
    """A template with what its paths lead to."""
    if not isinstance(shape, dict):
        return shape
    return {
        key.removesuffix(".$"): at(one, data, context) if key.endswith(".$") else filled(one, data, context)
        for key, one in shape.items()
    }


def put(data: Any, path: str | None, result: Any) -> Any:
    """The data with a result where its path says; None throws the result away."""
    if path is None:
        return data
    if path == "$":
        return result
    key, *rest = path.removeprefix("$.").split(".")
    return data | {key: put(data.get(key, {}), ".".join(["$", *rest]), result)}


def rule(state: Mapping[str, Any], kind: str, error: str) -> Mapping[str, Any] | None:
    """The first of a state's Retry or Catch that is about an error."""
    return next((one for one in state.get(kind, []) if {error, "States.ALL"} & set(one["ErrorEquals"])), None)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "BooleanEquals": lambda found, value: isinstance(found, bool) and found is value,
    "StringEquals": lambda found, value: isinstance(found, str) and found == value,
    "NumericEquals": lambda found, value: found == value,
    "NumericGreaterThan": lambda found, value: found > value,
    "NumericLessThan": lambda found, value: found < value,
}


def met(choice: Mapping[str, Any], data: Any, context: Any) -> bool:
    """Whether a rule of a Choice is met."""
    if "And" in choice:
        return all(met(one, data, context) for one in choice["And"])
    if "Or" in choice:
        return any(met(one, data, context) for one in choice["Or"])
    if "Not" in choice:
        return not met(choice["Not"], data, context)
    if "IsPresent" in choice:
        try:
            at(choice["Variable"], data, context)
        except RuntimeFailure:
            return choice["IsPresent"] is False
        return choice["IsPresent"] is True
    ((test, value),) = ((TESTS[key], one) for key, one in choice.items() if key in TESTS)
    return test(at(choice["Variable"], data, context), value)
