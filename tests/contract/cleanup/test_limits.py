"""The tests' in-memory table refuses the same oversized writes as DynamoDB."""

from dataclasses import replace

import pytest

from slackwater.aws.store.table import Put, item
from slackwater.model.cleanup import Cleanup
from slackwater.ports.errors import AwsError
from support.cleanup_world import MOST_ITEM_BYTES, MOST_ITEMS, Measured, item_bytes, world


def test_an_item_over_400_kb_is_refused_and_nothing_is_stored() -> None:
    with world("ebs") as there:
        finding = there.finding("ebs")
        begun = there.begin(finding)
        large = replace(begun, why="x" * MOST_ITEM_BYTES, revision=begun.revision + 1)
        with pytest.raises(AwsError, match="Item size has exceeded"):
            there.cleanups.write(large)
        kept: Cleanup = there.cleanups.cleanups[finding.id]
        assert kept == begun


def test_names_and_values_of_an_item_count_in_bytes() -> None:
    assert item_bytes(item(ab="ü", n=12)) == 2 + 2 + 1 + 2


def test_a_transaction_over_100_items_or_4_mib_is_refused() -> None:
    few = [Put(item(pk=str(n))) for n in range(MOST_ITEMS)]
    assert Measured().put(*few)
    with pytest.raises(AwsError, match="a transaction of 101 items"):
        Measured().put(*few, Put(item(pk="one more")))
    with pytest.raises(AwsError, match="a transaction of 11 items"):
        Measured().put(*(Put(item(pk=str(n), document="x" * 390 * 1024)) for n in range(11)))
