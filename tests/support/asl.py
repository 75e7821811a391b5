"""An interpreter for the Amazon States Language of Step Functions, with its own clock, in this process.

It supports only what Slackwater's state machines use. Retry and Catch match an exception that a function raises by its
class name, as Lambda reports it. They do not match exceptions that are not an `Exception`: these simulate a dead
worker, and the execution stays in its state. Call `run` to continue the execution, or create another execution from its
`checkpoint`.
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
"""Maximum number of events in an execution's history. Step Functions fails the execution above it."""
MOST_BYTES = 256 * 1024
"""Maximum size of a state's input or output, in bytes."""
LONGEST = timedelta(days=365)
"""Maximum duration of a standard execution."""

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
"""The supported fields of each state type, in addition to Type, Comment, Next and End."""

EVENTS = {"Task": 5, "Pass": 2, "Wait": 2, "Choice": 2, "Map": 4, "Succeed": 2, "Fail": 1}
"""History events for each state type. Each retry adds three. Succeed and Fail include the end of the execution."""

type Function = Callable[[Any], Any]


class StateError(Exception):
    """The name and cause of the error that ends a state.

    Functions raise it for error names that have no Python class, such as `States.Timeout`.
    """


class RuntimeFailure(StateError):
    """An error that no Retry or Catch handles: a path that does not exist, or a full history."""


@dataclass
class Clock:
    """A clock that advances only when `wait` is called. Any object with `now` and `wait` can replace it."""

    now: datetime = datetime(2026, 11, 16, 9, tzinfo=UTC)

    def wait(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Checkpoint:
    """A position between two states: the name of the next state and its input."""

    state: str
    data: Any


@dataclass(frozen=True)
class Call:
    """A call of a function: its state, payload and answer. `raised` is the name of the error, or None."""

    state: str
    function: str
    payload: Any
    answer: Any = None
    raised: str | None = None


def definition(name: str, substitutions: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a definition in `statemachines/`. Without substitutions, `${WatchFunctionArn}` becomes "WatchFunction"."""
    text = (ROOT / "statemachines" / f"{name}.asl.yaml").read_text()

    def substituted(found: re.Match[str]) -> str:
        return str(substitutions[found[1]]) if substitutions else found[1].removesuffix("Arn")

    return parsed(re.sub(r"\$\{(\w+)}", substituted, text))


@cache
def parsed(text: str) -> dict[str, Any]:
    """Return the parsed definition of a state machine. It is cached, so callers must not change it."""
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@dataclass
class Execution:
    """An execution of one state machine, which calls Python functions by name.

    `checkpoint` is None after the execution has ended. `bucket` holds the objects that a Distributed Map reads, by key.
    A Distributed Map runs each item in its own execution.
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
    """The names of all states that were entered, in order."""
    calls: list[Call] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)
    """The duration of each wait in a Wait state, in seconds."""
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
        """Run until the execution ends."""
        while self.step():
            pass
        return self

    def step(self) -> bool:
        """Run one state, and return whether there is another one."""
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
        """Return the payloads of a function's calls, in order."""
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
        """Run an inline Map: one item after another, in this execution's history. A failed item fails the state."""
        outputs = []
        for item in self._at(state["ItemsPath"], data):
            given = filled(state["ItemSelector"], data, self.context | {"Map": {"Item": {"Value": item}}})
            inside = Execution(state["ItemProcessor"], self.functions, given, clock=self.clock, calls=self.calls)
            inside.run()
            self._count(inside.events)
            if inside.error is not None:
                raise StateError(inside.error, inside.cause)
            outputs.append(inside.output)
        if len(json.dumps(outputs)) > MOST_BYTES:  # also limited if ResultPath discards the outputs
            raise RuntimeFailure("States.DataLimitExceeded", "the outputs of a Map")
        return outputs

    def _map(self, state: Mapping[str, Any], data: Any) -> dict[str, Any]:
        """Run a Distributed Map: each item has its own execution and history. A percentage of items may fail."""
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
    """Return the value at a path, or the result of an intrinsic function. A missing path ends the execution."""
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
    """Return a template with its paths replaced by their values."""
    if not isinstance(shape, dict):
        return shape
    return {
        key.removesuffix(".$"): at(one, data, context) if key.endswith(".$") else filled(one, data, context)
        for key, one in shape.items()
    }


def put(data: Any, path: str | None, result: Any) -> Any:
    """Return the data with a result stored at a path. If the path is None, the result is discarded."""
    if path is None:
        return data
    if path == "$":
        return result
    key, *rest = path.removeprefix("$.").split(".")
    return data | {key: put(data.get(key, {}), ".".join(["$", *rest]), result)}


def rule(state: Mapping[str, Any], kind: str, error: str) -> Mapping[str, Any] | None:
    """Return a state's first Retry or Catch rule that matches an error; None if no rule matches."""
    return next((one for one in state.get(kind, []) if {error, "States.ALL"} & set(one["ErrorEquals"])), None)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "BooleanEquals": lambda found, value: isinstance(found, bool) and found is value,
    "StringEquals": lambda found, value: isinstance(found, str) and found == value,
    "NumericEquals": lambda found, value: found == value,
    "NumericGreaterThan": lambda found, value: found > value,
    "NumericLessThan": lambda found, value: found < value,
}


def met(choice: Mapping[str, Any], data: Any, context: Any) -> bool:
    """Return whether a rule of a Choice state matches."""
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
