"""Template validation in `make check`: SAM names a broken template, and the exit status is 1."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
VALID: Final = """
Transform: AWS::Serverless-2016-10-31
Resources:
  Table:
    Type: AWS::Serverless::SimpleTable
"""
BROKEN: Final = {
    "not a resource type": VALID.replace("SimpleTable", "SimpelTable"),
    "a property that cfn-lint knows is wrong": VALID.replace("AWS::Serverless::SimpleTable", "AWS::SQS::Queue")
    + "    Properties: {DelaySeconds: soon}\n",
}


@pytest.mark.slow  # SAM takes seconds to import
def test_a_broken_template_is_named_and_a_valid_one_is_not(tmp_path: Path) -> None:
    files = {tmp_path / "sound.yaml": VALID} | {
        tmp_path / f"broken{n}.yaml": text for n, text in enumerate(BROKEN.values())
    }
    for file, text in files.items():
        file.write_text(text)
    command = [sys.executable, ROOT / "tools/validate_templates.py"]

    every = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    sound = subprocess.run([*command, tmp_path / "sound.yaml"], capture_output=True, text=True, check=False)

    assert (every.returncode, sound.returncode) == (1, 0), every.stderr + sound.stderr
    named = {file.name for file in files if f"{file}: sam validate" in every.stderr}
    assert named == {file.name for file in files if "broken" in file.name}
