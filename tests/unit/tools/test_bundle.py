"""The bundle, from which people without a clone deploy the service and remove it."""

import subprocess
import sys
from pathlib import Path

from bundle import bundle


def test_a_bundle_has_the_command_that_removes_what_it_deploys(tmp_path: Path) -> None:
    built = tmp_path / "template.yaml"
    built.write_text("Parameters: {}\nResources: {}\n")

    bundle(built, tmp_path / "bundle")

    names = {path.name for path in (tmp_path / "bundle").iterdir()}
    assert names == {"artifacts", "iam", "remove.py", "template-member.yaml", "template.yaml"}
    # Outside of a clone, it needs only boto3.
    command = [sys.executable, "-P", tmp_path / "bundle" / "remove.py", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--stack" in done.stdout, done.stderr
