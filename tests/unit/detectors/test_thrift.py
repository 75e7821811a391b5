"""The cost of a detector: it reads only the metrics that it needs, the cheapest first."""

from dataclasses import replace

import pytest

from slackwater.engine.cases import play_with_queries
from slackwater.engine.registry import registry
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S
from slackwater.model.verdicts import Fine, Unknown
from slackwater.performance.efs import full_credits_bytes
from slackwater.rules.ec2_network import QUARTER_HOUR_S
from slackwater.rules.efs_throughput import BALANCE as CREDITS

COSTS = [
    ("ebs-surplus-throughput", "125 MiB/s, as every gp3", []),
    ("ebs-surplus-throughput", "a ten-minute batch at full throughput every night", [DAY_S] * 2),
    ("ebs-surplus-throughput", "1,000 MiB/s bought, 60 used", [DAY_S] * 3),
    ("ebs-surplus-iops", "3,000 IOPS, as every gp3", []),
    ("ebs-surplus-iops", "a ten-minute batch of 10,000 IOPS every night", [DAY_S] * 2),
    ("ebs-surplus-iops", "12,000 IOPS on gp3, 1,500 used", [DAY_S] * 3),
    ("ebs-surplus-iops", "12,000 IOPS on io2, 1,500 operations of 8 KiB used", [DAY_S] * 6),
    (
        "ebs-surplus-iops",
        "reads by day and writes by night, each below the line",
        [DAY_S] * 3 + [HOUR_S] * 2 + [FIVE_MINUTES_S] * 2,
    ),
    ("ebs-outdated-type", "gp3", []),
    ("ebs-outdated-type", "io1 on several instances", []),
    ("ebs-outdated-type", "magnetic, and a million I/O requests a month", [DAY_S] * 6),
    ("ebs-outdated-type", "magnetic, and at its limit every night", [DAY_S] * 6 + [FIVE_MINUTES_S] * 3),
    ("ebs-outdated-type", "500 GiB gp2 at 60 MiB/s", [DAY_S] * 4),
    ("ebs-outdated-type", "io1 with 10,000 IOPS, of which 1,500 are used", [DAY_S] * 6),
    ("ebs-outdated-type", "gp2 that reads by day and writes by night", [DAY_S] * 4 + [HOUR_S] * 2),
    (
        "ebs-outdated-type",
        "200 GiB gp2, reads and writes in turns within an hour",
        [DAY_S] * 4 + [HOUR_S] * 2 + [FIVE_MINUTES_S] * 2,
    ),
    ("ebs-unattached", "attached", []),
    ("ebs-unattached", "detached two days ago", []),
    ("ebs-unattached", "detached three weeks ago", [DAY_S]),
    ("ebs-idle", "a root volume", []),
    ("ebs-idle", "attached ten days ago", []),
    ("ebs-idle", "a copy on the first Monday, almost five weeks ago", [DAY_S]),
    ("ebs-idle", "five weeks of zeros", [DAY_S] * 3),
    ("ebs-on-stopped-instance", "its instance was stopped 76 days ago", []),
    ("ebs-surplus-size", "no agent", []),
    ("ebs-surplus-size", "one of two data volumes, and an agent that names none", []),
    ("ebs-surplus-size", "a tenth of it is used", [DAY_S]),
    ("efs-orphaned", "no mount target", [DAY_S] * 4),
    ("efs-abandoned", "no tag is named", []),
    ("efs-abandoned", "not a job's", []),
    ("efs-abandoned", "a client that is mounted, and does nothing", [FIVE_MINUTES_S]),
    ("efs-abandoned", "six hours of zeros", [FIVE_MINUTES_S] * 3),
    ("ebs-burst-draining", "gp3", []),
    ("ebs-burst-draining", "a gp2 of 1,000 GiB, whose baseline is its burst", []),
    ("ebs-burst-draining", "a nightly batch that takes four tenths of them", [HOUR_S]),
    ("ebs-burst-draining", "gone for two hours every night", [HOUR_S, FIVE_MINUTES_S] + [DAY_S] * 2),
    ("ebs-instance-bound", "several volumes as every gp3 is, on a T3 that carries one of them", []),
    ("ebs-instance-bound", "1,000 MiB/s on an instance that carries 566", []),
    ("ebs-instance-bound", "two volumes of 500 MiB/s each, which take turns", [DAY_S] * 4),
    ("ec2-ebs-throttled", "a volume that is slower than the instance: settled by the configuration", []),
    ("ec2-ebs-throttled", "never at its limit", [HOUR_S] * 2),
    ("ec2-ebs-throttled", "its balances are full, and the checks are not published", [DAY_S] * 2 + [HOUR_S] * 2),
    ("ec2-ebs-throttled", "a batch of six hours on a burst of half an hour", [HOUR_S] * 6 + [FIVE_MINUTES_S] * 5),
    (
        "ec2-ebs-throttled",
        "40 minutes every day, and the burst comes back at once",
        [HOUR_S] * 6 + [FIVE_MINUTES_S],
    ),
    ("efs-cold-data", "its policy moves cold files already", [DAY_S]),
    ("efs-cold-data", "read from end to end on one night of the month", [DAY_S]),
    ("efs-cold-data", "Elastic: no credits to lose", [DAY_S] * 2),
    ("efs-cold-data", "written again every month", [DAY_S] * 2),
    ("efs-cold-data", "800 GiB of which 55 were touched", [DAY_S] * 3),
    ("efs-cold-data", "6 TiB, never fast", [DAY_S] * 2 + [FIVE_MINUTES_S]),
    ("efs-cold-data", "nothing published, while CloudWatch was recording", [DAY_S] * 5),
    ("efs-single-zone-use", "its only mount target is in one zone", []),
    ("efs-single-client", "data in Infrequent Access", []),
    ("efs-single-client", "a second client for half an hour every night", [DAY_S]),
    ("efs-single-client", "two clients for half of every hour, and none for the other", [DAY_S] + [FIVE_MINUTES_S] * 3),
    ("efs-single-client", "one client, always", [DAY_S] + [FIVE_MINUTES_S] * 5),
    ("efs-serial-small-writes", "hardly written", [HOUR_S]),
    ("efs-serial-small-writes", "large writes", [HOUR_S] * 2),
    ("efs-serial-small-writes", "many clients, whose day rises and falls", [FIVE_MINUTES_S] + [HOUR_S] * 6),
    (
        "efs-serial-small-writes",
        "two hours of 8 KiB writes every night, one after the other",
        [FIVE_MINUTES_S] + [HOUR_S] * 6,
    ),
    ("efs-credits-draining", "all its credits", [DAY_S]),
    ("efs-credits-draining", "Elastic, which has no credits", []),
    ("efs-credits-draining", "gone for days, and all of the baseline is used", [DAY_S] + [HOUR_S] * 3),
    ("efs-credits-draining", "more than the baseline, day and night", [DAY_S] * 8 + [HOUR_S] * 3),
    ("efs-throughput-mismatch", "a replica", []),
    ("efs-throughput-mismatch", "bursting, and calm", [DAY_S, HOUR_S]),
    ("efs-throughput-mismatch", "256 MiB/s provisioned, and 1 used", [DAY_S] * 9 + [HOUR_S] * 2),
    ("efs-throughput-mismatch", "256 MiB/s provisioned, and 8 used", [DAY_S] * 9 + [FIVE_MINUTES_S, *[HOUR_S] * 2]),
    ("efs-throughput-mismatch", "Elastic, and hardly anything moves", [DAY_S]),
    ("efs-idle", "a replica", []),
    ("efs-idle", "three days old", []),
    ("efs-idle", "a job that runs once a month", [DAY_S]),
    ("efs-idle", "a month of zeros", [DAY_S] * 6),
    ("ec2-network-throttled", "a type without burst", []),
    ("ec2-network-throttled", "hardly any traffic: settled by the hour", [HOUR_S] * 2),
    (
        "ec2-network-throttled",
        "at its baseline every other five minutes",
        [HOUR_S] * 2 + [QUARTER_HOUR_S],
    ),
    (
        "ec2-network-throttled",
        "two half hours of it, each after ten minutes of burst",
        [HOUR_S] * 2 + [QUARTER_HOUR_S] + [FIVE_MINUTES_S] * 3,
    ),
    ("ec2-network-throttled", "steady at its baseline, never a burst", [HOUR_S] * 4 + [FIVE_MINUTES_S]),
    ("fsx-idle", "three days old", []),
    ("fsx-idle", "a job on the first Monday of the month", [DAY_S]),
    ("fsx-idle", "mounted, and not read for a month", [DAY_S] * 3),
    ("fsx-idle", "a month of zeros", [DAY_S] * 8),
    ("fsx-oversized", "64 GiB, the least there is", []),
    ("fsx-oversized", "a fifth full", [DAY_S]),
    ("fsx-oversized", "2,000 GiB of Windows, 1,900 free", [DAY_S] * 2),
    ("fsx-oversized", "2,000 GiB of OpenZFS, 150 used", [DAY_S] * 7),
    ("fsx-surplus-iops", "IOPS by size", []),
    ("fsx-surplus-iops", "20,000 IOPS, a tenth used", [DAY_S]),
    ("fsx-surplus-throughput", "the smallest file server", []),
    ("fsx-surplus-throughput", "a monthly job at full speed", [DAY_S]),
    ("fsx-surplus-throughput", "640 MB/s, 9 % busy at most", [DAY_S] * 6),
    ("ec2-network-over-baseline", "a type without burst", []),
    ("ec2-network-over-baseline", "hardly any traffic: settled by the hour", [HOUR_S] * 2),
    (
        "ec2-network-over-baseline",
        "ten minutes of every hour: the credits come back",
        [HOUR_S] * 2 + [QUARTER_HOUR_S],
    ),
    ("ec2-network-over-baseline", "half an hour on four days", [HOUR_S] * 2 + [FIVE_MINUTES_S]),
    ("ec2-network-over-baseline", "an hour at 250 MB/s on two days: settled by the hour", [HOUR_S] * 2),
    ("ec2-cpu-credits-surcharged", "a type without CPU credits", []),
    ("ec2-cpu-credits-surcharged", "made three days ago: a launch starts without credits", []),
    ("ec2-cpu-credits-surcharged", "charged until it was started again", [DAY_S]),
    ("ec2-cpu-credits-surcharged", "a t3.large whose CPU averages 60 %", [DAY_S] * 2),
    ("ec2-idle", "stopped", []),
    ("ec2-idle", "started three days ago", []),
    ("ec2-idle", "a job on one day a month", [DAY_S]),
    ("ec2-idle", "five weeks of next to nothing", [DAY_S] * 3),
    ("fsx-sync-export", "async", []),
    ("fsx-sync-export", "few writes", [HOUR_S]),
    ("fsx-sync-export", "a demand that rises and falls over the day", [FIVE_MINUTES_S, HOUR_S]),
    ("fsx-sync-export", "large writes", [FIVE_MINUTES_S] * 5 + [HOUR_S]),
    ("fsx-sync-export", "busy hours without five-minute points", [FIVE_MINUTES_S] * 5 + [HOUR_S]),
    ("fsx-sync-export", "operations by file system only, and two exports", [FIVE_MINUTES_S] * 5 + [HOUR_S] * 3),
]


@pytest.mark.parametrize(("detector_id", "title", "periods"), COSTS)
def test_a_case_is_judged_by_these_metrics(detector_id: str, title: str, periods: list[int]) -> None:
    detector = registry()[detector_id]
    (case,) = [case for case in detector.cases if case.title == title]
    _, queries = play_with_queries(detector, case)

    assert sorted((query.period_s for query in queries), reverse=True) == sorted(periods, reverse=True)


@pytest.mark.parametrize(
    ("lowest", "says"),
    [
        ([1.0] * 17, "all its credits"),
        ([None] * 15 + [1.0, None], "all its credits"),
        ([1.0] + [None] * 16, "no data in 16 days"),  # the point may be before the window
        ([None] * 16 + [1.0], "no data in 16 days"),  # of this hour, which is not over
        ([1.0] * 8 + [0.98] + [1.0] * 8, "no data in 16 days"),
    ],
)
def test_all_efs_credits_on_each_day_are_not_read_closer(lowest: list[float | None], says: str) -> None:
    detector = registry()["efs-credits-draining"]
    (case,) = [one for one in detector.cases if one.title == "all its credits"]
    full = full_credits_bytes(0)
    values = [share and share * full for share in lowest]
    verdict, _ = play_with_queries(detector, replace(case, metrics={(CREDITS, DAY_S): values}))

    assert isinstance(verdict, Fine | Unknown)
    assert says in verdict.reason


@pytest.mark.parametrize(("age", "days"), [(0, 1), (1, 2), (7, 8), (8, 35)])
@pytest.mark.parametrize("volume_type", ["gp3", "io1", "io2"])
def test_the_newest_busy_day_by_five_minutes_shows_that_a_limit_is_reached(
    volume_type: str, age: int, days: int
) -> None:
    """All 35 days have up to 35 times as many points. A day that is more than a week ago is too far back for that."""
    detector = registry()["ebs-surplus-iops"]
    (case,) = [one for one in detector.cases if one.title == "reads and writes at once, above the limit"]
    throughput = 125 if volume_type == "gp3" else None
    volume = replace(case.resource, volume_type=volume_type, throughput_mib_s=throughput)  # type: ignore[call-arg]
    busy = {
        (metric, s): [*values[: len(values) - age * DAY_S // s], *[0.0] * (age * DAY_S // s)]
        for (metric, s), values in case.metrics.items()
    }
    small = {
        (replace(key, name=key.name.replace("Ops", "Bytes"), unit="bytes a minute"), s): [4096.0 * 60] * 36
        for key, s in case.metrics
        if s == DAY_S and "Ops" in key.name
    }
    verdict, queries = play_with_queries(detector, replace(case, resource=volume, metrics={**busy, **small}))

    assert verdict == Fine("it used its IOPS, reads and writes together")
    assert {query.points for query in queries if query.period_s == FIVE_MINUTES_S} == {days * 288}


@pytest.mark.parametrize(("mb_s", "by_five_minutes"), [(24, 0), (25, 2)])
def test_hours_that_hold_two_points_above_the_network_baseline_are_not_read_closer(
    mb_s: int, by_five_minutes: int
) -> None:
    """The bytes of two hours at 24 MB/s equal five points above the baseline of 93.75 MB/s.

    Only four whole points fit.
    """
    detector = registry()["ec2-network-over-baseline"]
    (case,) = [one for one in detector.cases if one.title == "hardly any traffic: settled by the hour"]
    hours = {key: [mb_s * 1e6 * HOUR_S] * len(values) for key, values in case.metrics.items()}
    _, queries = play_with_queries(detector, replace(case, metrics=hours))

    assert [query.period_s for query in queries].count(FIVE_MINUTES_S) == by_five_minutes
