"""Read from KMS whether a backup's key is usable."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.aws.cleanup.keys import ACTIONS, KmsKeys
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.ports.errors import BusyError
from slackwater_simulator import Fleet, Simulator, instant

REGION = "ap-northeast-1"
KEY = f"arn:aws:kms:{REGION}:123456789012:key/mine"
UNTIL = datetime(2027, 2, 14, tzinfo=UTC)


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator(Fleet(now=instant("2026-11-16T09:07:00Z"))) as running:
        yield running


@pytest.fixture
def keys(sim: Simulator) -> KmsKeys:
    return KmsKeys(AwsSession(meter=CallMeter(), endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy")))


def test_an_enabled_key_can_be_used(sim: Simulator, keys: KmsKeys) -> None:
    assert keys.unusable(KEY, REGION, UNTIL) is None
    assert keys.unusable("mine", REGION, UNTIL) is None
    assert set(sim.calls) == ACTIONS


@pytest.mark.parametrize("state", ["Disabled", "PendingDeletion", "PendingImport", "Unavailable", "Updating"])
def test_a_key_in_any_other_state_cannot(sim: Simulator, keys: KmsKeys, state: str) -> None:
    sim.account.set_key(KEY, state)
    assert keys.unusable(KEY, REGION, UNTIL) == f"its key {KEY} cannot be used: it is {state}"


def test_what_may_not_be_looked_at_is_not_known_to_be_usable(sim: Simulator, keys: KmsKeys) -> None:
    theirs = KEY.replace("123456789012", "210987654321")
    assert f"whether its key {theirs} can be used is not known" in str(keys.unusable(theirs, REGION, UNTIL))
    sim.faults.deny("kms:DescribeKey")
    assert "is not known" in str(keys.unusable(KEY, REGION, UNTIL))


def test_a_key_that_is_not_named_is_not_known(sim: Simulator, keys: KmsKeys) -> None:
    assert keys.unusable("", REGION, UNTIL) == "AWS does not name its key"
    assert sim.calls == {}


def test_it_is_asked_again_where_kms_is_busy(sim: Simulator) -> None:
    def busy(**_: Any) -> Any:
        raise BusyError("later")

    session: Any = SimpleNamespace(client=lambda *_: SimpleNamespace(describe_key=busy))
    with pytest.raises(BusyError):
        KmsKeys(session).unusable(KEY, REGION, UNTIL)


@pytest.mark.parametrize(("days", "usable"), [(-1, False), (1, True)])
def test_imported_key_material_has_to_last_as_long(days: int, usable: bool) -> None:
    description = {"KeyMetadata": {"KeyState": "Enabled", "ValidTo": UNTIL + timedelta(days=days)}}
    session: Any = SimpleNamespace(client=lambda *_: SimpleNamespace(describe_key=lambda **_: description))
    assert (KmsKeys(session).unusable(KEY, REGION, UNTIL) is None) == usable
