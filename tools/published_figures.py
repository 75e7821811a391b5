"""The figures that field reports published, and Slackwater's estimates for the same situations."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final

from slackwater.wiring.scan import estimating

REGION: Final = "ap-northeast-1"
ASK: Final = estimating(None, None, REGION, [REGION])
REPORT_MONTH_H: Final = 720
DAYS: Final = REPORT_MONTH_H / 24

EFS_OR_EBS: Final = "Can Amazon EFS replace EBS? (2025-02-19)"
SMALL_EFS: Final = "The speed of EFS at small capacity (2021-07-26)"
OPENZFS: Final = "Sharing WordPress content on FSx for OpenZFS (2025-03)"
EBS_OPTIMISED: Final = "The performance of EBS-optimised instances (2017-07-10)"
NETWORK: Final = "Your network I/O credits are zero! (2023-12-06)"

FORMULA: Final = "formula"
CALIBRATED: Final = "calibrated on this table"
MEASURED: Final = "measured data, shown as such"
EC2_DATA: Final = "EC2's own figure, as packaged"
PRICED: Final = "formula, with the packaged price"

INPUT_GIB: Final = 30.12
DOWNLOAD_S: Final = 5 * 60 + 27
ENCODES: Final = (
    (4 * 60 + 6, 36.68),
    (4 * 60 + 42, 64.28),
    (5 * 60 + 44, 170.74),
    (7 * 60 + 15, 277.51),
    (10 * 60, 383.76),
    (17 * 60 + 17, 1004.70),
    (28, 28.18),
)
"""Renditions of the run on EFS: duration in seconds, and size of the output in MiB. The audio is last."""
ENCODER: Final = {
    "duration": "30min",
    "renditions": 6,
    "passes": 2,
    "video_share": 0.9853,
    "output_size": "1.92GiB",
    "pass_log": "0.96GiB",
}
"""What the encoder reads and writes for half an hour of footage. The report publishes all but the pass logs' size."""


@dataclass(frozen=True)
class Figure:
    """A published figure beside Slackwater's.

    `tolerance` is a fraction of the published figure; None compares only the order of magnitude.
    """

    report: str
    what: str
    published: float
    ours: float
    unit: str
    tolerance: float | None
    rests_on: str = FORMULA

    @property
    def difference(self) -> float:
        """The difference as a fraction of the published figure."""
        return self.ours / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether Slackwater's figure is within the tolerance. An order of magnitude holds within a factor of three."""
        if self.tolerance is None:
            return 1 / 3 <= self.ours / self.published <= 3
        return abs(self.difference) <= self.tolerance + 1e-12


def usage_csv(*, ramp: bool) -> str:
    """Return the run's storage on EFS by minute, as CSV. Each rendition is added when it is done.

    `ramp` spreads the download over its duration; otherwise it is there at once.
    """
    minute, gib = DOWNLOAD_S / 60, INPUT_GIB
    points = [(0.0, 0.0), (minute, gib)] if ramp else [(0.0, 0.0), (0.0, gib), (minute, gib)]
    for seconds, mib in ENCODES:
        minute += seconds / 60
        points += [(minute, gib), (minute, gib + mib / 1024)]
        gib += mib / 1024
    return "minute,GiB\n" + "".join(f"{minute:.4f},{gib:.4f}\n" for minute, gib in points)


def asked(kind: str, **inputs: Any) -> Any:
    """Return an estimate's result in the reports' region, with packaged prices and a month of 720 hours."""
    return ASK.answer(kind, {"hours_per_month": REPORT_MONTH_H, **inputs}).answer.result


def figures() -> list[Figure]:
    """Return all figures, in the order of the reports."""
    return [*_efs_or_ebs(), *_small_files(), *_openzfs(), *_ebs_optimised(), *_network()]


def _efs_or_ebs() -> Iterator[Figure]:
    figure = partial(Figure, EFS_OR_EBS)

    written = asked("efs-throughput-mode", stored="0B", write_per_month="30GiB").modes.elastic
    read = asked("efs-throughput-mode", stored="0B", read_per_month="30GiB").modes.elastic
    yield figure("Elastic: writing 30 GiB", 2.10, float(written.throughput_usd), "USD", 0, PRICED)
    yield figure("Elastic: reading it once", 1.20, float(read.throughput_usd), "USD", 0, PRICED)
    yield figure("That much money in gp3 for a day", 650, written.throughput_as_gp3_gib * DAYS, "GiB", 0.02, PRICED)

    provisioned = asked("efs-throughput-mode", stored="0B", provisioned="100MiB/s").modes.provisioned
    yield figure("Provisioned 100 MiB/s, a month", 720, float(provisioned.throughput_usd), "USD", 0, PRICED)
    yield figure("Provisioned 100 MiB/s, a day", 24, float(provisioned.throughput_usd) / DAYS, "USD", 0, PRICED)

    run = asked("efs-credits", input=f"{INPUT_GIB}GiB", **ENCODER)
    yield figure("Bursting: initial credits", 2.1, round(run.initial_credits_bytes / 1024**4, 9), "TiB", 0)
    yield figure("Bursting: write ceiling", 100, run.write_ceiling_mib_s, "MiB/s", 0)
    yield figure("Bursting: read ceiling", 300, run.read_ceiling_mib_s, "MiB/s", 0)

    for size, published in ((40, 0.00524), (60, 0.00787)):
        ebs = asked("efs-vs-ebs", used="30GiB", allocated=f"{size}GiB", hours="59min", efs="one-zone")
        yield figure(f"gp3: {size} GB for 59 min", published, round(float(ebs.ebs_usd), 5), "USD", 0, PRICED)
    for words, ramp in (("download as a ramp", True), ("download at once", False)):
        efs = asked("efs-vs-ebs", usage_csv=usage_csv(ramp=ramp), efs="one-zone", allocated="40GiB")
        yield figure(
            f"EFS One Zone: the run, {words}, outputs as steps", 0.00756, float(efs.efs_usd), "USD", 0.10, PRICED
        )
    rule = asked("efs-vs-ebs", used="30GiB", hours="1h", efs="one-zone")
    yield figure(
        "EFS costs what EBS costs at this many times the used size",
        2,
        rule.break_even_allocated_gib / 30,
        "",
        0,
        PRICED,
    )

    logs = "formula; the pass logs' size is assumed: solved back from 152.18"
    yield figure("Credits of the run, as the report models them", 152.18, run.metered_gib, "GiB", 0.02, logs)
    yield figure("Credits of the run, as CloudWatch measured them", 150.10, run.metered_gib, "GiB", 0.02, logs)
    for mbps, hours in ((50, 19 + 20 / 60), (147, 6 + 50 / 60), (503, 2)):
        footage = asked("efs-credits", input_rate=f"{mbps}Mbps", **ENCODER)
        what = f"Footage until the credits are gone, {mbps} Mbps"
        yield figure(what, hours, footage.footage_until_empty_hours, "h", 0.03, logs)


WRITES: Final = {
    "efs-one-zone": ("13:51", "9:09", "6:23"),
    "efs-regional": ("25:58", "16:35", "11:28"),
    "ebs-gp3": ("0:54", "0:42", "0:39"),
}
READS: Final = {
    "efs-one-zone": ("2:43", "1:05", "0:36", "0:28"),
    "efs-regional": ("2:47", "1:10", "0:35", "0:26"),
    "ebs-gp3": ("0:46", "0:24", "0:17", "0:16"),
}
"""How long a copy of 1.1 GB of /usr took on an m5.large (minutes:seconds), by storage, with 1, 2, 4 and 8 workers."""


def _small_files() -> Iterator[Figure]:
    for operation, table in (("write", WRITES), ("read", READS)):
        for storage, cells in table.items():
            for doubled, clock in enumerate(cells):
                workers = 2**doubled
                minutes, seconds = clock.split(":")
                ours = asked(
                    "small-files", files=40_000, bytes="1.1GB", workers=workers, storage=storage, operation=operation
                ).seconds
                is_model = operation == "write" and storage != "ebs-gp3"
                yield Figure(
                    report=SMALL_EFS,
                    what=f"{storage}: {operation}, {workers} {'worker' if workers == 1 else 'workers'}",
                    published=int(minutes) * 60 + int(seconds),
                    ours=ours,
                    unit="s",
                    tolerance=0.05 if is_model else None if operation == "write" else 0.01,
                    rests_on=f"{CALIBRATED}; 40,000 files assumed" if operation == "write" else MEASURED,
                )


def _openzfs() -> Iterator[Figure]:
    for storage, published in (("openzfs-sync", 17 * 60), ("openzfs-async", 100)):
        yield Figure(
            report=OPENZFS,
            what=f"Copying 38,000 files, 800 MB, {storage.removeprefix('openzfs-')}",
            published=published,
            ours=asked("small-files", files=38_000, bytes="800MB", storage=storage).seconds,
            unit="s",
            tolerance=0.15,
            rests_on="measured operations a second; nine operations a file, derived from the sync copy",
        )
    service = asked("shared-storage", capacity="64GiB", throughput="160MB/s", multi_az=True).services.openzfs
    yield Figure(
        report=OPENZFS,
        what="Multi-AZ, 64 GiB and 160 MB/s, a month",
        published=189,
        ours=float(service.monthly_usd),
        unit="USD",
        tolerance=0.005,
        rests_on="formula, with the report's own prices, packaged",
    )


def _ebs_optimised() -> Iterator[Figure]:
    volume = {"volume_type": "gp2", "size": "220GiB", "volume_throughput": "160MiB/s"}

    figure = partial(Figure, EBS_OPTIMISED)

    naive = asked("ebs-transfer", instance_type="c4.8xlarge", bytes="220GiB", **volume)
    small = asked("ebs-transfer", instance_type="c4.large", bytes="232303771648B", **volume)
    large = asked("ebs-transfer", instance_type="c4.4xlarge", bytes="232303767552B", **volume)
    yield figure("220 GiB at the volume's 160 MiB/s", 23, naive.seconds / 60, "min", 0.03)
    yield figure("c4.large: EBS bandwidth", 62.5, small.instance_mb_per_s, "MB/s", 0, EC2_DATA)
    yield figure("c4.large: measured", 3763.15, small.seconds, "s", 0.03)
    yield figure("c4.large: measured rate", 61.7, small.mb_per_s, "MB/s", 0.03)
    yield figure("c4.4xlarge: EBS bandwidth", 250, large.instance_mb_per_s, "MB/s", 0, EC2_DATA)
    yield figure("c4.4xlarge: measured", 1354.88, large.seconds, "s", 0.05)
    yield figure("c4.4xlarge: measured rate", 171, large.mb_per_s, "MB/s", 0.05)


def _network() -> Iterator[Figure]:
    def figure(what: str, published: float, ours: float, unit: str) -> Figure:
        return Figure(
            report=NETWORK, what=what, published=published, ours=ours, unit=unit, tolerance=0, rests_on=EC2_DATA
        )

    proxy = asked("network-transfer", instance_type="t3.micro", needed_rate="350MB/s")
    steady = asked("network-transfer", instance_type="m6i.8xlarge", needed_rate="350MB/s")
    yield figure("t3.micro: baseline", 8, proxy.baseline_mb_per_s, "MB/s")
    yield figure("t3.micro: peak", 5, proxy.peak_mb_per_s * 8 / 1000, "Gbps")
    yield figure(
        "The largest T3, t3.2xlarge: baseline", 2.048, proxy.instance_types[0].baseline_mb_per_s * 8 / 1000, "Gbps"
    )
    yield figure(
        "m6i.8xlarge: peak over baseline (it never drops)", 1, steady.peak_mb_per_s / steady.baseline_mb_per_s, ""
    )


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A report's conclusion, in a word, beside that of the estimate."""

    report: str
    what: str
    published: str
    ours: str

    @property
    def holds(self) -> bool:
        """Whether both conclusions are the same."""
        return self.published == self.ours


def verdicts() -> list[Verdict]:
    """Return all conclusions."""
    volume = {"volume_type": "gp2", "size": "220GiB", "volume_throughput": "160MiB/s", "bytes": "220GiB"}
    small = asked("ebs-transfer", instance_type="c4.large", **volume)
    large = asked("ebs-transfer", instance_type="c4.4xlarge", **volume)
    proxy = asked("network-transfer", instance_type="t3.micro", needed_rate="350MB/s", families=["t3", "m6i"])
    carried = {one.instance_type: one.carries for one in (*proxy.instance_types, *proxy.without_burst)}
    orders = [
        [
            asked("small-files", files=40_000, bytes="1.1GB", workers=workers, storage=storage).seconds
            for storage in WRITES
        ]
        for workers in (1, 2, 4)
    ]
    ranked = all(ebs < one_zone < regional for one_zone, regional, ebs in orders)
    faster = all(more < fewer for rows in pairwise(orders) for fewer, more in zip(*rows, strict=True))
    return [
        Verdict(
            report=SMALL_EFS, what="Writing: EBS before One Zone before Regional", published="yes", ours=_yes(ranked)
        ),
        Verdict(
            report=SMALL_EFS, what="More workers write sooner, on each of them", published="yes", ours=_yes(faster)
        ),
        Verdict(report=EBS_OPTIMISED, what="c4.large is bound by", published="instance", ours=small.bound_by),
        Verdict(report=EBS_OPTIMISED, what="c4.4xlarge is bound by", published="volume", ours=large.bound_by),
        Verdict(
            report=EBS_OPTIMISED,
            what="The smallest C4 that does not bind",
            published="c4.4xlarge",
            ours=str(small.smallest_unbound_instance_type),
        ),
        Verdict(
            report=NETWORK,
            what="t3.2xlarge carries 350 MB/s for good",
            published="no",
            ours=_yes(carried["t3.2xlarge"]),
        ),
        Verdict(
            report=NETWORK,
            what="m6i.8xlarge, without burst, carries it",
            published="yes",
            ours=_yes(carried.get("m6i.8xlarge", False)),
        ),
    ]


def _yes(so: bool) -> str:
    return "yes" if so else "no"
