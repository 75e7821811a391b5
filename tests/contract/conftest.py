"""Simulated accounts on the loopback, with explicit dummy keys: no profile, variable or proxy of the machine is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from slackwater.aws import session as aws_session
from slackwater.aws.inventory import AwsInventory
from slackwater.aws.meter import CallMeter
from slackwater.aws.session import AwsSession, Endpoint
from slackwater.model.resources import Target
from slackwater_simulator import Fleet, Simulator


@dataclass(frozen=True)
class Account:
    """A simulated account, and a session that speaks to it."""

    sim: Simulator
    session: AwsSession
    meter: CallMeter
    target: Target

    def read(self, required: set[Any], optional: set[Any] = frozenset()) -> Any:
        return AwsInventory(self.session).read(self.target, required, optional)


@pytest.fixture
def simulate() -> Iterator[Callable[..., Account]]:
    with ExitStack() as stack:

        def start(fleet: Fleet, *others: Fleet, **options: Any) -> Account:
            sim = stack.enter_context(Simulator(fleet, *others))
            meter = CallMeter()
            session = AwsSession(**options, meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
            return Account(sim, session, meter, Target(fleet.account, fleet.regions[0]))

        yield start


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt, so that a call that cannot work ends soon."""
    monkeypatch.setattr(aws_session, "MAX_ATTEMPTS", 1)
    monkeypatch.setattr(aws_session, "QUICK_ATTEMPTS", {})
