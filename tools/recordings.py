"""Record the simulated fleets that tests replay: `python tools/recordings.py [NAME]...`, by default all.

Writes each recording, and a file with the findings that its replay must give, with the recording's placeholders. Run it
again if a detector reads data that is not recorded or gives other results, and check the diff.
"""

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from slackwater.app.audit.scan import Audit
from slackwater.app.policy.file import parse_policy
from slackwater.app.recording.file import RecordingWriter
from slackwater.app.recording.replay import Recording
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.engine.registry import registry
from slackwater.model.findings import Scan
from slackwater.model.resources import Target
from slackwater.wiring.recording import recorded, replaying
from slackwater.wiring.scan import audit
from slackwater_cli.commands.demo import POLICY
from slackwater_simulator import Fleet, Simulator, demo_fleet, labelled_fleet

FOLDER: Final = Path(__file__).parents[1] / "tests" / "fixtures" / "recordings"
MOST_BYTES: Final = 2 << 20
LABELLED: Final = '[detectors.efs-abandoned]\ntag = "Job"\n'

type Recorded = tuple[Callable[[], Fleet], str]
FLEETS: Final[Mapping[str, Recorded]] = {
    "demo": (demo_fleet, POLICY),
    "issues": (lambda: labelled_fleet(101, issues=3, controls=0, ordinary_of_a_kind=2), LABELLED),
    "controls": (lambda: labelled_fleet(102, issues=0, controls=1, ordinary_of_a_kind=0), LABELLED),
    "ordinary": (lambda: labelled_fleet(103, issues=0, controls=0, ordinary_of_a_kind=200), LABELLED),
}
"""The demo, and small fleets as in `make score`: one with issues, one with negative controls, one with neither."""


def record(fleet: Fleet, policy: str, file: Path) -> list[Scan]:
    """Scan a fleet, and record the scan in a file."""
    rules, now = parse_policy(policy, file.name, registry()), datetime.fromtimestamp(fleet.now, UTC)
    found = list[Scan]()
    with Simulator(fleet) as sim, RecordingWriter(file) as writer:
        sim.faults.unthrottle("cloudtrail:LookupEvents")
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
        plain = audit(session, meter, registry=registry(), policy=rules, cache_dir=None, progress=lambda *_: None)
        targets = [Target(fleet.account, region) for region in fleet.regions]
        recorded(plain, session, None, writer, now).hand_over(targets, now, found.append)
    return found


def replayed(file: Path, change: Callable[[Audit], Audit] = lambda same: same) -> list[Scan]:
    """Scan a recording with the recorded policy. `change` may replace the audit first."""
    recording = Recording.read(file)
    rules, found = recording.policy_as_recorded(registry()), list[Scan]()
    again = replaying(recording, registry(), rules, lambda *_: None)
    change(again).hand_over([*recording.targets], recording.now, found.append)
    return found


def documents(scans: list[Scan]) -> list[dict[str, Any]]:
    """Return the findings without their texts, which may name a resource."""
    found = [finding for scan in scans for target in scan.targets for finding in target.findings]
    return sorted(
        (
            {
                "detector": one.detector,
                "resource": one.resource.id,
                "severity": one.severity,
                "confidence": one.confidence,
                "monthly_savings_usd": None if one.monthly_savings_usd is None else str(one.monthly_savings_usd),
            }
            for one in found
        ),
        key=lambda one: (one["detector"], one["resource"]),
    )


def main(names: list[str]) -> int:
    """Record the fleets that are named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or [*FLEETS]:
        fleet, policy = FLEETS[name]
        file = FOLDER / f"{name}.recording"
        live = documents(record(fleet(), policy, file))
        found = documents(replayed(file))
        same = sorted(one["detector"] for one in live) == sorted(one["detector"] for one in found)
        file.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        size = file.stat().st_size
        print(f"{file.name}: {size:,} bytes, {len(found)} findings{'' if same else ', and THE LIVE SCAN FOUND OTHERS'}")
        if size > MOST_BYTES or not same:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
