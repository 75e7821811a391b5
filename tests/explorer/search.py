"""Explore a world: each step undisturbed, and with each event at each of its calls. Equal states are explored once.

A *single* is one event (a fault of a call, or an event around it) at one point of an undisturbed run. A *pair* is a
second event at any point after a first. A single is covered if its branch was run, or if it equals one that was run. An
event before a read equals the event before the next call if the read gives the same answer with and without it. An
event that is impossible in a state does not count.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from explorer.coverage import Coverage, Found
from explorer.events import every
from explorer.faults import FAULTS, applies, faulty
from explorer.state import Hasher
from explorer.wire import Dice, Dies, Ends, Point
from explorer.world import FORK, Small, Snapshot

OWN: Final = ("sweeps", "others sweep", "late ")
"""Names of events that Slackwater itself causes. It is responsible for the data that they lose."""
SAMPLED: Final = 20
"""Of the states after two events, one in this many is kept for triples."""


@dataclass
class Node:
    """A state between two steps, and the first path to it."""

    snapshot: Snapshot
    level: int
    path: tuple[str, ...]
    key: str
    points: int = 0
    event_count: int = 0
    expanded: bool = False

    @property
    def step(self) -> str:
        """Return the name of the next step."""
        here = self.snapshot.position
        return here.state if here.machine else here.plan[0]

    @property
    def trace(self) -> list[str]:
        """Return the path without the undisturbed steps."""
        return [one for one in self.path if ": " in one]


@dataclass
class Recorded:
    """A point of an undisturbed step."""

    point: Point
    answer: Any
    before: Snapshot | None
    """The state before it, if it is the first point after a change; else None."""


def asked_once(ask: Callable[[], Any]) -> Any:
    """Return the answer, or the type and text of the exception, so that equal outcomes compare equal."""
    try:
        return ask()
    except (Dies, Ends):
        raise
    except Exception as error:  # noqa: BLE001 -- an error is an answer too
        return type(error), str(error)


class Explorer:
    """Explores one kind. `seed` sets the order of pairs and triples."""

    def __init__(self, kind: str, seed: int = 1, world: Small | None = None, dice: Dice | None = None) -> None:
        self.world = world or Small(kind, dice or Dice())
        self.coverage = Coverage(kind)
        self.random = random.Random(seed)
        self.hasher = Hasher()
        self.known: set[str] = set()
        self.levels: list[list[Node]] = [[], [], [], []]

    def explore(
        self, *, pairs: int = 0, triples: int = 0, singles: Callable[[Node], bool] = lambda _: True
    ) -> Coverage:
        """Run all singles of the nodes that `singles` accepts, and as many branches of pairs and triples as given."""
        began = time.process_time()
        world, coverage = self.world, self.coverage
        world.oracle.loaded()
        self._follow(self._node(0, ()))
        for node in list(self.levels[0]):
            self._count(node)
            coverage.singles += node.event_count
            if singles(node):
                self._expand(node)
                coverage.covered += node.event_count
        coverage.pairs = sum(self._count(node) for node in self.levels[1])
        coverage.pairs_covered = self._sample(self.levels[1], pairs)
        coverage.triples = self._sample(self.levels[2], triples)
        coverage.states, coverage.windows = len(self.known), world.oracle.windows
        coverage.seconds += time.process_time() - began
        return coverage

    def _sample(self, nodes: list[Node], branches: int) -> int:
        """Expand nodes until this many branches were run. Return how many events that covers.

        Takes one random node for each step after each event first, then a second one of each, and so on.
        """
        covered, limit = 0, self.coverage.branches + branches
        order, alike = list(nodes), Counter[tuple[str, ...]]()
        self.random.shuffle(order)
        ranked = list[tuple[int, int]]()
        for n, node in enumerate(order):
            happened = tuple(one.partition(": ")[2].split(" before ")[0].split(" at ")[0] for one in node.trace)
            like = (*happened, node.step)
            ranked.append((alike[like], n))
            alike[like] += 1
        for _, n in sorted(ranked):
            node = order[n]
            if self.coverage.branches >= limit:
                break
            self._count(node)
            self._expand(node)
            covered += node.event_count
        return covered

    # -- Nodes

    def _node(self, level: int, path: tuple[str, ...], chain: Collection[str] = ()) -> Node | None:
        """Return the world's state as a node; None if the state is known.

        A state of its own `chain` comes again while the execution waits. It is followed further, because time passes.
        """
        key = self.hasher.of(self.world)
        new = key not in self.known
        if not new and key not in chain:
            return None
        node = Node(self.world.save(), level, path, key)
        self.known.add(key)
        if new and not self.world.over and (level < 2 or len(self.known) % SAMPLED == 0):
            self.levels[level].append(node)
        return node

    def _go(self, snapshot: Snapshot) -> None:
        self.world.load(snapshot)
        self.world.oracle.loaded()
        self.world.oracle.found.clear()

    def _follow(self, node: Node | None) -> None:
        """Run undisturbed to the end, or to a known state."""
        waiting = [(node, frozenset[str]())] if node else []
        while waiting:
            here, chain = waiting.pop()
            chain |= {here.key}
            positions = [] if self._over(here) else self._branches(here)
            for position in positions:
                self._go(here.snapshot)
                self.world.position, path = position, here.path
                if len(positions) == 1:
                    path = (*path, self.world.step())
                    self._report(path, "")
                    if here.level == 0 and (cleanup := self.world.cleanup()):
                        self.coverage.stages.add(cleanup.stage)
                if after := self._node(here.level, path, chain):
                    waiting.append((after, chain))

    @staticmethod
    def _over(node: Node) -> bool:
        return not node.snapshot.position.machine and not node.snapshot.position.plan

    def _branches(self, node: Node) -> list[Any]:
        self._go(node.snapshot)
        return self.world.branches()

    def _report(self, path: tuple[str, ...], last: str) -> None:
        for one in self.world.oracle.found:
            key = one.invariant, one.check
            trace = tuple(each for each in (*path, last) if ": " in each) or ("undisturbed",)
            known = self.coverage.found.get(key)
            if known is None or len(trace) < len(known.trace):
                self.coverage.found[key] = Found(self.coverage.kind, one, trace, known.times + 1 if known else 1)
            else:
                self.coverage.found[key] = replace(known, times=known.times + 1)
        self.world.oracle.found.clear()

    # -- What happens at a node

    def _count(self, node: Node) -> int:
        """Return the number of events that can happen in a node's next step."""
        if not node.points and not self._over(node) and node.step != FORK:
            points = self._recorded(node)
            node.points = len(points)
            self._go(node.snapshot)
            events = len(every(self.world))
            faults = sum(applies(fault, one.point, first=n == 0) for n, one in enumerate(points) for fault in FAULTS)
            node.event_count = faults + events * (len(points) + 1)
        return node.event_count

    def _recorded(self, node: Node) -> list[Recorded]:
        """Run the next step undisturbed and return its points."""
        self._go(node.snapshot)
        points: list[Recorded] = []
        changed = True

        def gate(point: Point) -> Any:
            nonlocal changed
            before = self.world.save() if changed or point.writes else None
            changed = point.writes
            answer = asked_once(point.ask)
            points.append(Recorded(point, answer, before))
            return self._retold(answer, point)

        with self._gated(gate):
            self.world.step()
        self.world.oracle.found.clear()
        return points

    @staticmethod
    def _retold(answer: Any, point: Point) -> Any:
        if isinstance(answer, tuple) and answer and isinstance(answer[0], type) and not point.writes:
            return point.ask()  # raises the error again
        if isinstance(answer, tuple) and answer and isinstance(answer[0], type):
            raise point.lost() if not point.aws else answer[0](answer[1])
        return answer

    def _gated(self, gate: Callable[[Point], Any]) -> Any:
        return _Gated(self.world, gate)

    def _expand(self, node: Node) -> None:
        """Run every branch of a node's next step."""
        if node.expanded or self._over(node) or node.step == FORK:
            return
        node.expanded = True
        points = self._recorded(node)
        step = node.step
        if points:
            self.coverage.steps.add(step)
        for n, one in enumerate(points):
            for fault in FAULTS:
                if applies(fault, one.point, first=n == 0):
                    if fault == "stale read" and not self._differs(points, n):
                        continue
                    self._branch(
                        node,
                        n,
                        f"{step}: {fault} at {n} {one.point.name}",
                        partial(faulty, self.world, fault),
                    )
        self._go(node.snapshot)
        for name, happens in every(self.world):
            for n in self._moments(points, happens, node):
                where = f"before {n} {points[n].point.name}" if n < len(points) else "after its last call"
                self._branch(node, n, f"{step}: {name} {where}", self._event(name, happens))

    def _differs(self, points: list[Recorded], n: int) -> bool:
        """Return whether a stale read gives another answer here."""
        before = next(one.before for one in reversed(points[: n + 1]) if one.before)
        self._go(before)
        return bool(asked_once(lambda: faulty(self.world, "stale read", points[n].point)) != points[n].answer)

    def _moments(self, points: list[Recorded], happens: Any, node: Node) -> Iterator[int]:
        """Yield the points before which an event has another effect than before the next one.

        The last is after all points.
        """
        segments, possible = list[list[int]](), True
        for n, one in enumerate(points):
            if one.before is not None and (n == 0 or points[n - 1].point.writes):
                segments.append([])
            segments[-1].append(n)
        for segment in segments:
            before = points[segment[0]].before
            assert before
            self._go(before)
            possible = self._happens(happens)
            for n in segment:
                if not possible:
                    break
                one = points[n]
                if one.point.writes or asked_once(one.point.ask) != one.answer:
                    yield n
        if possible or not points or points[-1].point.writes:
            yield len(points)

    def _happens(self, happens: Any) -> bool:
        """Cause the event. Return whether it changed anything."""
        account, was = self.world.account, self.world.save()
        try:
            if happens(self.world) is False:
                return False
        except (Dies, Ends):
            return True
        finally:
            self.world.oracle.found.clear()
        now = self.world.save()
        same = replace(now, account=was.account, facts=was.facts, drawn=was.drawn) == was
        due = len(account._due) == len(was.account["_due"])
        return not (same and due and account._state is was.account["_state"])

    def _event(self, name: str, happens: Any) -> Callable[[Point | None], Any]:
        def at(point: Point | None) -> Any:
            world = self.world
            done = happens(world)
            if not name.startswith(OWN) and done is not False:
                world.oracle.others_did()
            return point.ask() if point else None

        return at

    def _branch(self, node: Node, at: int, label: str, happens: Callable[[Any], Any]) -> None:
        """Run a node's step with an event in the middle of it, and then run undisturbed to the end."""
        self._go(node.snapshot)
        world = self.world
        count = -1

        def gate(point: Point) -> Any:
            nonlocal count
            count += 1
            if count != at:
                return point.ask()
            world.gate = None
            return happens(point)

        with self._gated(gate):
            if at == node.points or node.points == 0:
                self._after(happens)
            else:
                world.step()
        self.coverage.branches += 1
        if node.points and at < node.points:
            self.coverage.interrupted.add(label.partition(":")[0])
        path = (*node.path, label)
        self._report(path, "")
        self._follow(self._node(min(node.level + 1, 3), path))

    def _after(self, happens: Callable[[Any], Any]) -> None:
        """Run the step, and cause the event right after its last call, before the execution waits."""
        world, happened = self.world, not self.world.position.machine

        def wait(seconds: float) -> None:
            nonlocal happened
            if not happened:
                happened = True
                try:
                    happens(None)
                except Ends:
                    return
            type(world).wait(world, seconds)

        world.gate = None
        world.wait = wait  # type: ignore[method-assign]
        try:
            planned = happened
            world.step()
            if planned or not happened:
                happens(None)
        except Ends:
            pass
        finally:
            del world.wait


class _Gated:
    def __init__(self, world: Small, gate: Callable[[Point], Any]) -> None:
        self.world, self.gate = world, gate

    def __enter__(self) -> None:
        self.world.gate = self.gate

    def __exit__(self, *_: object) -> None:
        self.world.gate = None
