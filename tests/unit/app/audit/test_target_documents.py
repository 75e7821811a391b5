"""What is kept in memory of the documents that a scan stored for a target."""

import gc
import json
from typing import Any

import pytest

from slackwater.app.audit.target_documents import StoredTarget, stored_target
from slackwater.model.object_keys import target_scan

PLACE = ("monday", "123456789012", "eu-west-1")
READ = "a key of what was read"


class Parts:
    """The documents of a target, one for each chunk."""

    def __init__(self, *parts: dict[str, Any] | None) -> None:
        self.texts = {target_scan(*PLACE, n): json.dumps(part | {READ: []}) for n, part in enumerate(parts, 1) if part}

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        return (self.texts[key], "1") if key in self.texts else None


class CountedParts(Parts):
    """Counts the documents that are still in memory at each read. Slow, because it looks at every object."""

    def __init__(self, *parts: dict[str, Any] | None) -> None:
        super().__init__(*parts)
        self.held: list[int] = []

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        self.held.append(sum(type(one) is dict and READ in one for one in gc.get_objects()))
        return super().read(key, version)


def part(
    n: int, *, more: bool = True, complete: bool = True, started_at: str = "9:07", **target: Any
) -> dict[str, Any]:
    return {
        "scan": {"targets": [{"complete": complete, **target}], "started_at": started_at}
        | ({"more": True} if more else {}),
        "findings": [{"id": f"f-{n}{which}", "resource": {"tags": {}}} for which in "ab"],
    }


def seen(documents: Any, *ids: str) -> StoredTarget:
    return stored_target(documents, *PLACE, ids)


def test_of_all_parts_what_was_asked_for_is_kept_and_one_is_held_at_a_time() -> None:
    parts = CountedParts(part(1), part(2), part(3), part(4, more=False))

    found = seen(parts, "f-1a", "f-3b", "f-9a")

    assert (found.kept, found.whole, [*found.findings]) == (True, True, ["f-1a", "f-3b"])
    assert parts.held == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "last",
    [
        None,
        part(2, more=False, complete=False),
        part(2, more=False, closed="by a policy"),
        part(2, more=False, started_at="10:07"),
        part(2, more=False) | {"scan": {"targets": [], "started_at": "9:07"}},
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_target_of_which_a_part_was_not_seen_was_not_seen_whole(last: Any, first: bool) -> None:
    parts = [part(1), last]
    if first and last and last["scan"]["started_at"] == "9:07":
        last = last | {"scan": last["scan"] | {"more": True}}
        parts = [last, part(1, more=False)]

    found = seen(Parts(*parts), "f-1a")

    assert (found.kept, found.whole, [*found.findings]) == (True, False, ["f-1a"])


def test_of_what_has_expired_nothing_is_kept() -> None:
    assert seen(Parts(None)) == StoredTarget(kept=False, whole=False, findings={})
