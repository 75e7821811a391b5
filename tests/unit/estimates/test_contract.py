"""The keys that other programs read never change: keys may be added, but not renamed or removed."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.app.estimates.estimates import EstimateError
from slackwater.engine.registry import estimates
from slackwater.model.quantities import DURATION, RATE, SIZE
from slackwater.views.estimates.to_json import document
from slackwater.wiring.scan import estimating

CREDITS = """
    written_gib read_gib metered_gib footage_until_empty_hours initial_credits_bytes write_ceiling_mib_s
    read_ceiling_mib_s wall_until_empty_hours
"""
SERVICE = "monthly_usd fits why_not minimums"
MODE = "storage_usd throughput_usd monthly_usd carries_peak why_not"
FIXED: dict[str, tuple[dict[str, Any], str, dict[str, str]]] = {
    "efs-credits": (
        {"input_rate": "147Mbps", "metered_rate": "100MiB/s"},
        CREDITS,
        {},
    ),
    "efs-vs-ebs": (
        {"used": "30GiB", "allocated": "60GiB", "hours": "1h"},
        "efs_usd ebs_usd break_even_allocated_gib cheaper",
        {},
    ),
    "efs-throughput-mode": (
        {"stored": "30GiB", "read_per_month": "1TiB", "write_per_month": "1TiB", "peak": "50MiB/s"},
        "modes recommended",
        {"modes.bursting": MODE, "modes.provisioned": MODE, "modes.elastic": MODE},
    ),
    "small-files": (
        {"files": 40_000, "bytes": "1.1GB"},
        "seconds seconds_range bound_by operations_per_second alternatives",
        {},
    ),
    "shared-storage": (
        {"capacity": "64GiB", "throughput": "160MB/s"},
        "services recommended",
        {"services.efs": SERVICE, "services.ontap": SERVICE, "services.openzfs": SERVICE},
    ),
    "ebs-transfer": (
        {"instance_type": "c4.large", "volume_type": "gp2", "size": "220GiB", "bytes": "220GiB"},
        "seconds bound_by mb_per_s phases smallest_unbound_instance_type",
        {},
    ),
    "network-transfer": (
        {"instance_type": "t3.micro", "bytes": "1TB", "needed_rate": "350MB/s"},
        "seconds_at_baseline seconds_range baseline_mb_per_s peak_mb_per_s instance_types endpoints",
        {"instance_types.0": "instance_type carries hourly_usd", "endpoints": "gateway interface"},
    ),
}
"""For each kind of estimate: inputs, the keys of its result, and the keys of parts of the result."""


def at(result: Any, path: str) -> Any:
    for key in path.split("."):
        result = result[int(key)] if isinstance(result, list) else result[key]
    return result


AMOUNTS = st.sampled_from(["0", "1e-999", "1e-09", "1e-05", "0.9833333333333333", "1", "9.99e14", "999999999999999"])


@pytest.mark.parametrize("kind", FIXED)
@settings(deadline=None, max_examples=100)
@given(st.data())
def test_whatever_amounts_are_asked_about_are_answered_or_refused(kind: str, data: st.DataObject) -> None:
    """The API would answer any other error with a 500."""
    inputs = dict(FIXED[kind][0])
    for name, schema in estimates()[kind].inputs.model_json_schema()["properties"].items():
        patterns = {one.get("pattern") for one in schema.get("anyOf", [schema])}
        for quantity in (SIZE, RATE, DURATION):
            if quantity.pattern in patterns and data.draw(st.booleans()):
                inputs[name] = data.draw(AMOUNTS) + data.draw(st.sampled_from(sorted(quantity.units)))

    with suppress(EstimateError):
        document(estimating(None, None, "ap-northeast-1", ["ap-northeast-1"]).answer(kind, inputs))


def test_every_kind_is_held_to_its_keys() -> None:
    assert set(FIXED) == set(estimates())


@pytest.mark.parametrize("kind", FIXED)
def test_the_keys_of_a_document_stay(kind: str) -> None:
    inputs, keys, parts = FIXED[kind]
    answer_document: Any = document(estimating(None, None, "ap-northeast-1", ["ap-northeast-1"]).answer(kind, inputs))

    assert {"schema", "kind", "inputs", "assumptions", "sources", "result"} <= set(answer_document)
    assert (answer_document["schema"], answer_document["kind"]) == ("slackwater.estimate/1", kind)
    for path, fixed in {"result": keys, **{f"result.{path}": fixed for path, fixed in parts.items()}}.items():
        assert set(fixed.split()) <= set(at(answer_document, path))


@pytest.mark.parametrize("kind", FIXED)
def test_money_is_a_string_and_everything_else_with_a_unit_a_number(kind: str) -> None:
    def figures(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from figures(inner, key)
        elif isinstance(value, list):
            for inner in value:
                yield from figures(inner, name)
        else:
            yield name, value

    answer_document = document(
        estimating(None, None, "ap-northeast-1", ["ap-northeast-1"]).answer(kind, FIXED[kind][0])
    )
    for name, value in figures(answer_document["result"]):
        if name.endswith("_usd"):
            assert value is None or isinstance(value, str)
        elif name.endswith(("_gib", "_hours", "_s", "seconds", "_bytes", "_per_second")):
            assert value is None or isinstance(value, int | float)
