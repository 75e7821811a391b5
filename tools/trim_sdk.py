"""Cuts the AWS SDK in a layer down to the services that Slackwater calls: `python tools/trim_sdk.py FOLDER`.

FOLDER has the layer's packages. Only data is removed; no file is changed, and all code stays. These parts of botocore's
data stay:

- for each service in use, the newest API version: its model, endpoint rules, paginators and waiters, without the
  examples;
- data that belongs to no service: partitions, endpoints, retries and defaults.

The examples of boto3 and the data of `boto3.resource` are removed, because nothing uses them.
"""

import argparse
import shutil
from pathlib import Path

from slackwater.aws.client.services import SERVICES


def trim(packages: Path) -> None:
    """Remove what no service in use needs.

    Raises:
        SystemExit: botocore has no data of a service in use.
    """
    data = packages / "botocore" / "data"
    for service in data.iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)
    for name in sorted(SERVICES):
        if not (data / name).is_dir():
            raise SystemExit(f"botocore has no data of {name!r}: correct slackwater/aws/client/services.py")
        *older, newest = sorted((data / name).iterdir())
        for version in older:
            shutil.rmtree(version)
        (newest / "examples-1.json").unlink(missing_ok=True)
    for folder in ("data", "examples"):
        shutil.rmtree(packages / "boto3" / folder)


def main() -> None:
    """Trim the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, help="the folder with the layer's packages")
    trim(parser.parse_args().packages)


if __name__ == "__main__":
    main()
