"""Create the packaged snapshot of EC2 instance types.

The source is the DescribeInstanceTypes responses that moto bundles (Apache-2.0).
"""

import argparse
import gzip
import json
from dataclasses import asdict
from datetime import UTC, date, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import slackwater.aws
from slackwater.aws.inventory.types import instance_type

TARGET = Path(slackwater.aws.__file__).parent / "data" / "instance_types.json"


def main() -> None:
    """Write the snapshot with one line for each type, so that a diff shows each changed type as one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--as-of", type=date.fromisoformat, default=datetime.now(UTC).date(), help="date of the snapshot"
    )
    as_of = parser.parse_args().as_of
    bundled = json.loads(gzip.decompress(files("moto.ec2").joinpath("resources/instance_types.json.gz").read_bytes()))
    rows = {name: asdict(instance_type(bundled[name])) for name in sorted(bundled)}
    columns = [column for column in next(iter(rows.values())) if column not in {"id", "source"}]
    lines = ",\n".join(f'  "{name}": {json.dumps([row[column] for column in columns])}' for name, row in rows.items())
    about = {
        "about": "What EC2 allows each instance type. Bandwidth: network in Gbps, EBS in Mbps (decimal bits).",
        "source": f"DescribeInstanceTypes answers bundled with moto {version('moto')} (Apache-2.0), ec2/resources",
        "as_of": as_of.isoformat(),
        "columns": columns,
    }
    head = ",\n".join(f' "{key}": {json.dumps(value)}' for key, value in about.items())
    TARGET.write_text(f'{{\n{head},\n "types": {{\n{lines}\n }}\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
