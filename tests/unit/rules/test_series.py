"""The metrics that rules request for a resource."""

from slackwater.model.metrics import Metric
from slackwater.rules import efs, examples, fsx
from slackwater.rules.efs import METERED, SAMPLES, STORED
from slackwater.rules.fsx import IN_POOL, ON_SSD, USED


def dimensions(needs) -> dict[Metric, dict[str, str]]:
    return {need.metric: dict(need.dimensions) for need in needs}


def test_stored_bytes_are_those_of_all_classes_even_if_they_are_optional() -> None:
    asked = dimensions(
        efs.daily(examples.efs(id="fs-1"), 9, METERED, STORED, STORED.optionally(), SAMPLES.optionally())
    )

    assert asked.pop(METERED) == {"FileSystemId": "fs-1"}
    assert list(asked.values()) == [{"FileSystemId": "fs-1", "StorageClass": "Total"}] * 3


def test_the_space_of_ontap_is_asked_for_by_tier() -> None:
    asked = dimensions(fsx.daily(examples.fsx(id="fs-1"), 9, USED, ON_SSD, IN_POOL.optionally()))
    tiers = {metric.stat: (of.get("StorageTier"), of.get("DataType")) for metric, of in asked.items() if metric != USED}

    assert asked[USED] == {"FileSystemId": "fs-1"}
    assert tiers == {"Maximum": ("SSD", "All"), "Average": ("StandardCapacityPool", "All")}
