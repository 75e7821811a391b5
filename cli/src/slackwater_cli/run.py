"""Runs the scan use case with a progress bar. A signal can stop it."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

from slackwater.app.audit.document_file import ScanFile
from slackwater.app.audit.scan import Audit, Progress
from slackwater.app.recording.file import RecordingWriter
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.engine.registry import registry
from slackwater.model.findings import Scan
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.views.scan.to_json import document
from slackwater.wiring.recording import recorded
from slackwater.wiring.scan import audit
from slackwater_cli.exits import UsageError
from slackwater_cli.progress import progress
from slackwater_cli.stopping import interruptible


def run_scan(
    session: AwsSession,
    meter: CallMeter,
    *,
    policy: Policy,
    targets: Sequence[Target],
    now: datetime,
    cache_dir: Path | None,
) -> Scan:
    """Scan the targets as of `now`, and keep the whole result in memory."""
    with progress() as on_progress:
        return interruptible(lambda: _audit(session, meter, policy, cache_dir, on_progress).run(targets, now))


def scan_into(
    session: AwsSession,
    meter: CallMeter,
    scan_file: ScanFile,
    *,
    policy: Policy,
    targets: Sequence[Target],
    now: datetime,
    cache_dir: Path | None,
    record: Path | None = None,
) -> None:
    """Scan the targets in their order, as of `now`, into a scan file. `record` is the file for a recording, if any."""
    with recording_to(record) if record else nullcontext() as writer:

        def audited(on_progress: Progress) -> Audit:
            plain = _audit(session, meter, policy, cache_dir, on_progress)
            return recorded(plain, session, cache_dir, writer, now) if writer else plain

        audit_into(scan_file, audited, targets, now)


def audit_into(
    scan_file: ScanFile, audited: Callable[[Progress], Audit], targets: Sequence[Target], now: datetime
) -> None:
    """Run an audit of the targets in their order, as of `now`, into a scan file."""
    places = {target: place for place, target in enumerate(targets)}

    def take(part: Scan) -> None:
        scan_file.add(document(part), places[part.targets[0].target])

    with progress() as on_progress:
        interruptible(lambda: audited(on_progress).hand_over(targets, now, take))


@contextmanager
def recording_to(path: Path) -> Iterator[RecordingWriter]:
    """Yield the writer of a recording. At the end, the file is complete or does not exist.

    Raises:
        UsageError: It cannot be created.
        RecordingError: It cannot be written.
    """
    try:
        writer = RecordingWriter(path)
    except OSError as error:
        raise UsageError(f"--record {path}: cannot be written: {error.strerror}") from error
    with writer:
        yield writer


def _audit(
    session: AwsSession, meter: CallMeter, policy: Policy, cache_dir: Path | None, on_progress: Progress
) -> Audit:
    return audit(session, meter, registry=registry(), policy=policy, cache_dir=cache_dir, progress=on_progress)


@contextmanager
def one_folder() -> Iterator[None]:
    """Keep all temporary files in one folder. It is deleted at the end, even if threads that use it were abandoned."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="slackwater-", ignore_cleanup_errors=True) as folder:
        tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
