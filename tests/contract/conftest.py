"""Simulated accounts on the loopback, and moto for the table. Keys are dummies, and no profile or proxy is read."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from slackwater.aws.client import session as aws_session
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import AwsInventory
from slackwater.aws.store.table import Table
from slackwater.model.resources import Target
from slackwater_simulator import Fleet, Simulator


@dataclass(frozen=True)
class Account:
    """A simulated account, and a session that uses it."""

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
    """Limit clients to one attempt, so that a call that cannot work fails soon."""
    monkeypatch.setattr(
        aws_session,
        "QUICK_ATTEMPTS",
        dict.fromkeys(("cloudtrail", "cloudwatch", "compute-optimizer", "ec2", "efs", "fsx", "pricing", "sts"), 1),
    )


@dataclass(frozen=True)
class Stored:
    """The template's table, empty, and its client. `pauses` holds the waits that were skipped, in seconds."""

    table: Table
    client: Any
    pauses: list[float]

    def items(self) -> list[dict[str, Any]]:
        """Return all items of the table, in DynamoDB's JSON."""
        found: list[dict[str, Any]] = self.client.scan(TableName="slackwater")["Items"]
        return found


@pytest.fixture(scope="session")
def moto_session() -> AwsSession:
    """Provide a session that is valid only while moto mocks. Its client is created once, because that takes long."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_REGION"):
            patch.delenv(name, raising=False)
        session = AwsSession(meter=CallMeter(), home="ap-northeast-1")
        session.client("dynamodb", session.home)
    return session


@pytest.fixture
def stored(moto_session: AwsSession, table_properties: dict[str, Any]) -> Iterator[Stored]:
    client: Any = moto_session.client("dynamodb", moto_session.home)
    with mock_aws():
        client.create_table(TableName="slackwater", **table_properties)
        pauses: list[float] = []
        yield Stored(Table(moto_session, "slackwater", pauses.append), client, pauses)
