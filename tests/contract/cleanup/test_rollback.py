"""A rollback during a clean-up: the previous version's code continues this version's stored items and execution.

The code of the previous version comes from git's history, and runs in a separate process.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from slackwater.aws.store import cleanup_lists
from support.slack_world import Bucket
from support.stored_stages import SCENARIOS, keep, record

ROOT: Final = Path(__file__).parents[3]
PREVIOUS: Final = "e979a29b3a6c1038866c913ec36a713c40d5058c"
"""The last commit that wrote format 1."""
PLAYER: Final = "c3580062675339ddd57f0e2303d89dcd72d023d7"
"""The last commit whose tests import the product by the names that it had in PREVIOUS."""
OVERLAID: Final = tuple(
    f"tests/{name}.py" for name in ("stored_stages", "sub_resources", "memory_table", "updated_worlds")
)
"""The modules that replay a stored clean-up. PREVIOUS has none of them."""
SOURCES: Final = ("layers/core/src", "cli/src", "tests", "tools")
ACCOUNT: Final = ROOT / "simulator" / "src"
"""The current simulated account, because a rollback does not change AWS."""
DELETES_NO_MORE: Final = "ontap"
WHOLE, SHORT = 2, 3
"""The folders of the stored records: with full records, and with all lists cut short."""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the previous version, and with the modules that replay a stored clean-up."""
    folder = tmp_path_factory.mktemp("previous")
    for archived in ((PREVIOUS,), (PLAYER, *OVERLAID)):
        packed = subprocess.run(["git", "-C", str(ROOT), "archive", *archived], capture_output=True, check=False)
        if packed.returncode:
            pytest.skip("git's history does not reach to the previous version")
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
    return folder


def rolled_back(previous: Path, format_: int, lists: Bucket | None = None) -> Iterator[Any]:
    """Replay this version's stored clean-ups in the previous version. Yield the outcome of each."""
    stored = previous / "tests" / "fixtures" / "stored" / str(format_)
    for name in SCENARIOS:
        if not name.startswith(DELETES_NO_MORE):
            keep(stored, name, record(name, lists))
    for machine in ("cleanup", "undo"):
        shutil.copy(ROOT / "statemachines" / f"{machine}.asl.yaml", stored)
    path = os.pathsep.join(map(str, (*(previous / source for source in SOURCES), ACCOUNT)))
    played = subprocess.run(
        [sys.executable, str(previous / "tests" / "updated_worlds.py"), str(format_)],
        cwd=previous,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    return map(json.loads, played.stdout.splitlines())


@pytest.mark.slow
def test_after_a_rollback_each_clean_up_ends_right_or_removes_nothing(previous: Path) -> None:
    played = list(rolled_back(previous, WHOLE))

    assert [one for one in played if one["problem"] or one["undo"] not in {None, "SUCCEEDED"}] == []
    assert {"done", "called-off", "failed", "undone"} <= {one["stage"] for one in played}


@pytest.mark.slow
def test_after_a_rollback_a_record_that_is_cut_short_loses_nothing(
    previous: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The previous version cancels the clean-up. It cannot undo it, but keeps what the new version needs to undo it."""
    monkeypatch.setattr(cleanup_lists, "MOST_BYTES", len("[]"))
    monkeypatch.setattr(cleanup_lists, "SHOWN", 2)
    played = list(rolled_back(previous, SHORT, Bucket()))

    assert [one for one in played if one["problem"]] == []
    assert {"called-off", "failed"} & {one["stage"] for one in played if one["name"] == "efs"}
