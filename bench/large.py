"""Scan one region with very many resources, to show that time grows linearly and memory stays bounded.

Each scan is a separate process, which lists, evaluates chunk by chunk, and writes the document, as `slackwater scan`
does. The simulated account runs in another process. The fleet is that of `bench/scan.py`. EFS answers some calls only
for one file system at a time, and no real account has so many file systems. The policy therefore lifts the rate limits.
Prints a Markdown table; `--write FILE` puts it between the file's markers.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from markers import write_between
from scan import simulator

from slackwater.app.audit.document_file import ScanFile
from slackwater.app.policy.file import parse_policy
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import AwsInventory
from slackwater.aws.inventory.snapshot import PART_RECORDS
from slackwater.engine.registry import registry
from slackwater.model.resources import Target
from slackwater.views.scan.to_json import document
from slackwater.wiring.garbage import reduce_garbage_collection
from slackwater.wiring.scan import audit
from slackwater_cli.memory import configure_malloc

BEGIN, END = "<!-- large -->\n", "<!-- /large -->\n"
COLUMNS = (
    *(
        "Resources",
        "Questions",
        "Records a part",
        "Parts",
        "Calls",
        "Metrics",
        "Findings",
        "Document, MiB",
        "Listed, MiB",
    ),
    *("Listing, s", "Longest part, s", "Wall, s", "CPU, s", "CPU of a resource, ms", "Peak, MiB"),
)
SEVEN = ("ebs-unattached", "ebs-idle", "ebs-outdated-type", "efs-idle", "ec2-idle", "fsx-idle", "fsx-sync-export")
UNHURRIED = """
[scan]
most_metrics_usd = 1000
datapoints_per_second = 1e9
calls_per_second = { cloudwatch = 1e6, ec2 = 1e6, elasticfilesystem = 1e6, fsx = 1e6 }
"""


def scan(account: dict[str, Any], detectors: list[str], part_records: int, out: Path) -> dict[str, Any]:
    """Scan, write the document, and return what the scan used. Call it once per process."""
    configure_malloc()
    reduce_garbage_collection()
    started = time.monotonic()
    meter = CallMeter()
    session = AwsSession(meter=meter, endpoint=Endpoint(account["url"], "AKIASIMULATED0000000", "simulated"))
    use_case = audit(
        session,
        meter,
        registry=registry(),
        policy=parse_policy(UNHURRIED, "bench/large.py", registry(), detectors),
        cache_dir=None,
        progress=lambda *_: None,
        inventory=AwsInventory(session, part_records=part_records),
    )
    target, now = Target(account["account"], account["regions"][0]), datetime.fromisoformat(account["now"])
    with ScanFile() as scan_file, use_case.snapshot(target) as snapshot:
        ends, cpu = [time.monotonic()], [time.process_time()]
        for part in use_case.parts(target, now, snapshot):
            scan_file.add(document(part))
            ends.append(time.monotonic())
            cpu.append(time.process_time())
            del part
        inventory_mib = snapshot.file.stat().st_size / 2**20 if snapshot.file else 0
        scan_file.write(out)
        findings = scan_file.head()["totals"]["findings"]
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "parts": len(ends) - 1,
        "calls": sum(meter.api_calls().values()),
        "metrics": meter.metrics_requested(),
        "findings": findings,
        "document_mib": out.stat().st_size / 2**20,
        "inventory_mib": inventory_mib,
        "listing_s": ends[0] - started,
        "longest_part_s": max(end - start for start, end in pairwise(ends)),
        "first_and_last_part_cpu_s": (cpu[1] - cpu[0], cpu[-1] - cpu[-2]),
        "wall_s": time.monotonic() - started,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
    }


def row(account: dict[str, Any], resources: int, detectors: list[str], part_records: int) -> str:
    """Measure a scan in its own process, and return a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        task = json.dumps([account, detectors, part_records, f"{folder}/scan.json"])
        got = json.loads(subprocess.check_output([sys.executable, __file__, "--one", task]))
    sys.stderr.write(f"{resources} {len(detectors)} {part_records} {got}\n")
    asked = "seven" if detectors else "all"
    return (
        f"| {resources:,} | {asked} | {part_records:,} | {got['parts']} | {got['calls']:,} | {got['metrics']:,}"
        f" | {got['findings']:,} | {got['document_mib']:,.0f} | {got['inventory_mib']:,.0f} | {got['listing_s']:,.0f}"
        f" | {got['longest_part_s']:,.0f} | {got['wall_s']:,.0f} | {got['cpu_s']:,.0f}"
        f" | {got['cpu_s'] / resources * 1000:.2f} | {got['peak_mib']:,.0f} |\n"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--resources", type=int, nargs="*", default=[20_000, 50_000, 100_000, 200_000])
    parser.add_argument("--questions", choices=["seven", "all"], nargs="*", default=["seven", "all"])
    parser.add_argument("--part-records", type=int, nargs="*", default=[PART_RECORDS])
    parser.add_argument("--write", type=Path, help="a file with the marks")
    options = parser.parse_args()
    if options.one:
        account, detectors, part_records, out = json.loads(options.one)
        sys.stdout.write(json.dumps(scan(account, detectors, part_records, Path(out))))
        return
    table = f"| {' | '.join(COLUMNS)} |\n{'|-' * len(COLUMNS)}|\n"
    for resources in options.resources:
        with simulator("--fleet", "mixed", "--resources", str(resources)) as account:
            for asked in options.questions:
                for part_records in options.part_records:
                    table += row(account, resources, [*SEVEN] if asked == "seven" else [], part_records)
    sys.stdout.write(table)
    if options.write:
        write_between(options.write, BEGIN, END, table)


if __name__ == "__main__":
    main()
