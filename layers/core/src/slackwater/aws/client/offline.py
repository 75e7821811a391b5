"""Reads AWS configuration and botocore's data without botocore, whose import is slower than an offline estimate."""

import gzip
import json
import os
from configparser import ConfigParser, Error
from importlib.util import find_spec
from pathlib import Path
from typing import Final

FALLBACK_REGION: Final = "us-east-1"
"""The region for requests that do not concern a region, if none is configured."""


def packaged_regions() -> list[str]:
    """Return the regions of all partitions that this version of botocore has for EC2, sorted."""
    spec = find_spec("botocore")
    if spec is None or spec.origin is None:
        raise RuntimeError("botocore is not installed")
    plain = Path(spec.origin).with_name("data") / "endpoints.json"
    data = plain.read_bytes() if plain.exists() else gzip.decompress(plain.with_suffix(".json.gz").read_bytes())
    return sorted(
        region
        for partition in json.loads(data)["partitions"]
        for region in partition["services"].get("ec2", {}).get("endpoints", {})
        if region in partition["regions"]
    )


def configured_region() -> str | None:
    """Return the region of the environment, or of the profile that the environment names; None if there is none.

    A file that cannot be read is ignored.
    """
    if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        return region
    profile = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or "default"
    config = ConfigParser(interpolation=None, default_section="")
    try:
        config.read(Path(os.environ.get("AWS_CONFIG_FILE", "~/.aws/config")).expanduser(), "utf-8")
    except (Error, OSError, UnicodeDecodeError):
        return None
    sections = ["default"] if profile == "default" else []
    return next(
        (found for name in (*sections, f"profile {profile}") if (found := config.get(name, "region", fallback=None))),
        None,
    )
