"""Services for shared files: the cost of each, and whether it fits."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.estimates.shared_storage import ESTIMATE, Offer, SharedStorage, SharedStorageChoice
from slackwater.model.estimates import Answer, InputError, Known
from slackwater.model.money import (
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_PROVISIONED_THROUGHPUT,
    Price,
    PriceTable,
    efs_storage,
    fsx_iops,
    fsx_storage,
    fsx_throughput,
)

TOKYO: PriceTable = {
    item: Price(Decimal(usd), "published", date(2025, 3, 1))
    for item, usd in (
        (efs_storage("Standard", one_zone=True, elastic=False), "0.192"),
        (efs_storage("Standard", one_zone=False, elastic=False), "0.36"),
        (EFS_ELASTIC_READ, "0.04"),
        (EFS_ELASTIC_WRITE, "0.07"),
        (EFS_PROVISIONED_THROUGHPUT, "7.20"),
        (fsx_storage("OPENZFS", "MULTI_AZ_1"), "0.216"),
        (fsx_throughput("OPENZFS", "MULTI_AZ_1"), "1.096"),
        (fsx_iops("OPENZFS", "MULTI_AZ_1"), "0.0288"),
        (fsx_storage("ONTAP", "SINGLE_AZ_1"), "0.150"),
        (fsx_throughput("ONTAP", "SINGLE_AZ_1"), "0.906"),
        (fsx_iops("ONTAP", "SINGLE_AZ_1"), "0.0204"),
        (fsx_storage("ONTAP", "MULTI_AZ_1"), "0.300"),
        (fsx_throughput("ONTAP", "MULTI_AZ_1"), "1.511"),
        (fsx_iops("ONTAP", "MULTI_AZ_1"), "0.0408"),
    )
}
"""Published prices in Tokyo. OpenZFS in one zone has none."""


def answered(prices: PriceTable = TOKYO, region: str = "ap-northeast-1", **inputs: Any) -> Answer[SharedStorageChoice]:
    return ESTIMATE.work(SharedStorage.model_validate(inputs), Known(region, (), prices))


def asked(**inputs: Any) -> SharedStorageChoice:
    return answered(**inputs).result


def web_content(**inputs: Any) -> SharedStorageChoice:
    return asked(**{"capacity": "64GiB", "throughput": "160MB/s", "multi_az": True, **inputs})


def test_the_least_openzfs_in_two_zones_costs_the_published_189_usd() -> None:
    openzfs = web_content().services.openzfs

    assert openzfs.monthly_usd == 64 * Decimal("0.216") + 160 * Decimal("1.096")
    assert openzfs.monthly_usd.quantize(Decimal("0.01")) == Decimal("189.18")
    assert openzfs.configuration == "MULTI_AZ_1, 64 GiB of SSD, 160 MB/s, 192 IOPS"
    assert openzfs.minimums.startswith("64 GiB of SSD and 160 MB/s")


def test_the_iops_of_the_report_cost_what_is_above_three_for_each_gib() -> None:
    plain, fast = web_content(), web_content(iops=960)

    assert fast.services.openzfs.monthly_usd is not None
    assert plain.services.openzfs.monthly_usd is not None
    assert fast.services.openzfs.monthly_usd - plain.services.openzfs.monthly_usd == (960 - 192) * Decimal("0.0288")


def test_many_small_writes_go_to_openzfs_and_never_without_the_caveat_of_async() -> None:
    choice = web_content(small_writes=True, read_per_month="500GiB", write_per_month="50GiB")
    efs = choice.services.efs

    assert choice.recommended == "openzfs"
    assert not efs.fits
    assert "one client measured only 87 writes of 4 KiB per second" in (efs.why_not or "")
    caveats = " ".join(choice.caveats)
    for words in (
        "342 small writes per second, regardless of the provisioned IOPS",
        "3,768",
        "mission-critical",
        "lost if the file server",
    ):
        assert words in caveats


def test_efs_is_priced_in_the_mode_that_carries_the_load_for_the_least() -> None:
    month = {"read_per_month": "500GiB", "write_per_month": "50GiB"}
    burst, elastic = web_content(**month).services.efs, web_content(throughput="400MB/s", **month).services.efs
    steady = web_content(throughput="400MB/s", read_per_month="500TiB", write_per_month="50TiB").services.efs

    assert burst.monthly_usd == 64 * Decimal("0.36")
    assert burst.configuration == "Regional, 64 GiB in Standard, Bursting throughput"
    assert elastic.monthly_usd == 64 * Decimal("0.36") + 500 * Decimal("0.04") + 50 * Decimal("0.07")
    assert elastic.configuration == "Regional, 64 GiB in Standard, Elastic throughput"
    assert steady.monthly_usd == 64 * Decimal("0.36") + (151 - Decimal("3.2")) * Decimal("7.20")
    assert steady.configuration == "Regional, 64 GiB in Standard, Provisioned throughput of 151 MiB/s"


@pytest.mark.parametrize(
    ("capacity", "throughput", "read", "write", "multi_az", "usd"),
    [("1TiB", "60MiB/s", "30TiB", "10TiB", True, "368.64"), ("100GiB", "50MiB/s", "3TiB", "1TiB", False, "19.20")],
)
def test_efs_bursts_for_nothing_where_its_credits_carry_peak_and_month(
    capacity: str, throughput: str, read: str, write: str, multi_az: bool, usd: str
) -> None:
    month = {"read_per_month": read, "write_per_month": write}

    assert asked(
        capacity=capacity, throughput=throughput, multi_az=multi_az, **month
    ).services.efs.monthly_usd == Decimal(usd)


def test_efs_bursts_up_to_the_regions_ceiling_only() -> None:
    # 60 TiB would burst at 6,000 MiB/s.
    efs = asked(capacity="60TiB", throughput="2GiB/s").services.efs

    assert efs.why_not == "even in Elastic mode the peak is 2 times what it allows, 3 GiB/s read or 1 GiB/s written"
    assert efs.monthly_usd is efs.configuration is None


def test_bursting_for_a_throughput_without_a_month_says_how_long_it_holds() -> None:
    answer = answered(capacity="100GiB", throughput="50MiB/s")

    assert answer.result.recommended == "efs"
    assert "Burst credits last while no more than 12.2 TiB are written a month" in answer.summary


def test_a_throughput_without_a_month_does_not_make_elastic_free() -> None:
    answer = answered(capacity="64GiB", throughput="160MB/s", multi_az=True)

    assert answer.result.recommended == "openzfs"
    assert answer.result.services.efs.monthly_usd == 64 * Decimal("0.36") + (153 - Decimal("3.2")) * Decimal("7.20")
    assert answer.summary.startswith(
        "FSx for OpenZFS is the lowest-cost service that fits: 189.18 USD per month (MULTI_AZ_1, 64 GiB of SSD, 160"
        " MB/s, 192 IOPS). EFS with Elastic throughput costs 23.04 USD per month plus the transferred data. In total,"
        " it costs less below 2.32 TiB written or 4.06 TiB read per month. The load counts as writes. For a definite"
        " answer, give read-per-month and write-per-month. FSx for NetApp ONTAP costs"
    )


@pytest.mark.parametrize(("written", "recommended"), [("2370GiB", "efs"), ("2380GiB", "openzfs")])
def test_the_choice_tips_where_the_summary_says(written: str, recommended: str) -> None:
    assert web_content(write_per_month=written).recommended == recommended


def test_operations_come_with_as_much_throughput() -> None:
    # 10,000 operations of 4 KiB are 39.1 MiB/s.
    configuration = asked(capacity="100GiB", iops=10_000, multi_az=True).services.efs.configuration

    assert configuration == "Regional, 100 GiB in Standard, Provisioned throughput of 40 MiB/s"


@pytest.mark.parametrize(("protocol", "name"), [("smb", "SMB"), ("iscsi", "iSCSI")])
def test_only_ontap_speaks_more_than_nfs(protocol: str, name: str) -> None:
    answer = answered(capacity="4TiB", protocol=protocol)
    services = answer.result.services

    assert answer.result.recommended == "ontap"
    assert services.efs.why_not == services.openzfs.why_not == f"it does not support {name}"
    assert "FSx for NetApp ONTAP is the only service that fits: " in answer.summary
    assert services.ontap.monthly_usd == 4096 * Decimal("0.150") + 128 * Decimal("0.906")


def test_ontap_begins_at_1_tib() -> None:
    ontap = web_content(throughput="50MB/s").services.ontap

    assert ontap.monthly_usd == 1024 * Decimal("0.300") + 128 * Decimal("1.511")
    assert ontap.minimums.startswith("1,024 GiB of SSD and 128 MB/s")


def test_one_zone_is_taken_unless_the_loss_of_one_must_be_survived_and_then_named() -> None:
    one, two = asked(capacity="100GiB"), asked(capacity="100GiB", multi_az=True)

    assert (one.services.efs.monthly_usd, two.services.efs.monthly_usd) == (Decimal("19.2"), Decimal(36))
    assert any("one Availability Zone. If the zone is lost" in caveat for caveat in one.caveats)
    assert not any("one Availability Zone" in caveat for caveat in two.caveats)


def test_an_unknown_price_is_null_and_reported_for_options_that_would_fit() -> None:
    answer = answered(capacity="64GiB", small_writes=True)

    assert answer.result.services.openzfs.monthly_usd is None
    assert answer.result.services.openzfs.fits
    assert answer.result.recommended == "ontap"
    assert answer.summary.startswith(
        "Of the services that fit and have a known price, FSx for NetApp ONTAP costs least: "
    )
    assert "FSx for OpenZFS also fits, but has no known price." in answer.summary


def test_without_any_price_nothing_is_the_cheapest_unless_it_is_the_only_one() -> None:
    several, only = answered(prices={}, capacity="64GiB"), answered(prices={}, capacity="64GiB", protocol="smb")

    assert several.result.recommended is None
    assert several.summary == "EFS, FSx for NetApp ONTAP and FSx for OpenZFS fit, but have no known price."
    assert only.result.recommended == "ontap"
    assert "FSx for NetApp ONTAP is the only service that fits: an unknown price (SINGLE_AZ_1" in only.summary


@pytest.mark.parametrize(
    "too_much",
    [{"capacity": "900TiB"}, {"capacity": "1TiB", "throughput": "20GB/s"}, {"capacity": "1TiB", "iops": 500_000}],
)
def test_what_fsx_cannot_carry_does_not_fit(too_much: dict[str, Any]) -> None:
    services = asked(multi_az=True, **too_much).services

    for offer in (services.ontap, services.openzfs):
        assert not offer.fits
        assert offer.monthly_usd is None
        assert "supports at most" in (offer.why_not or "")


def test_what_efs_cannot_carry_does_not_fit() -> None:
    fast, busy = asked(capacity="1TiB", throughput="2GB/s").services, asked(capacity="1TiB", iops=7_001).services

    assert (
        fast.efs.why_not
        == "even in Elastic mode the peak is 1.86 times what it allows, 3 GiB/s read or 1 GiB/s written"
    )
    assert "35,000 operations/s read or 7,000 operations/s written" in (busy.efs.why_not or "")
    assert asked(capacity="1TiB", iops=7_001, multi_az=True).services.efs.fits
    tokyo, paris = (
        answered(region=region, capacity="1TiB", throughput="2GB/s", multi_az=True).result.services.efs.fits
        for region in ("ap-northeast-1", "eu-west-3")
    )
    assert (tokyo, paris) == (True, False)


def test_the_months_average_has_to_be_carried_too() -> None:
    # 500 TB in 730 hours are 190 MB/s.
    assert "320 MB/s" in (
        asked(capacity="64GiB", multi_az=True, read_per_month="500TB").services.openzfs.configuration or ""
    )


def test_nothing_fits_what_is_too_large_over_smb() -> None:
    answer = answered(capacity="900TiB", protocol="smb")

    assert answer.result.recommended is None
    assert answer.summary.startswith("None of these services fits.")


def test_the_measured_iops_stand_beside_the_answer() -> None:
    assert [(row.storage, row.iops_4_kib, row.iops_1_mib) for row in web_content().measured] == [
        ("EFS", 87, 32),
        ("OpenZFS, sync", 342, 87),
        ("OpenZFS, sync", 327, 92),
        ("OpenZFS, async", 3_768, 256),
        ("OpenZFS, async", 3_906, 360),
    ]


def test_each_service_says_whom_it_suits() -> None:
    services = web_content().services

    assert "serverless" in services.efs.suits
    assert "deduplication" in services.ontap.suits
    assert "EC2" in services.openzfs.suits


def test_assumptions_are_listed() -> None:
    silent, moved = answered(capacity="64GiB"), answered(capacity="64GiB", multi_az=True, read_per_month="1GiB")

    assert {inputs.partition(":")[0] for inputs in silent.assumptions} == {"assumed", "measured", "rule"}
    assert any("MBps are 10^6" in inputs for inputs in silent.assumptions)
    assert any("consist of writes, because you gave no data per month" in inputs for inputs in silent.assumptions)
    assert not any("you gave no data" in inputs for inputs in moved.assumptions)
    assert any("the month's mix of reads and writes" in inputs for inputs in moved.assumptions)


def test_efs_is_not_recommended_for_a_throughput_without_what_was_measured() -> None:
    inputs = " ".join(asked(capacity="100GiB", throughput="50MiB/s", multi_az=True).caveats)

    assert "87 writes of 4 KiB per second, or 32 of 1 MiB" in inputs
    assert asked(capacity="100GiB", multi_az=True).caveats == []


def test_a_capacity_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="capacity: nothing to share; at least 1B"):
        asked(capacity="0B")


def offers(choice: SharedStorageChoice) -> list[Offer]:
    return [choice.services.efs, choice.services.ontap, choice.services.openzfs]


@given(
    gib=st.integers(1, 200_000),
    more=st.integers(1, 200_000),
    mb_s=st.integers(0, 4_000),
    iops=st.integers(0, 100_000),
)
def test_more_capacity_never_costs_less_on_fsx(gib: int, more: int, mb_s: int, iops: int) -> None:
    load = {"throughput": f"{mb_s}MB/s", "iops": iops, "multi_az": True}
    less, larger = (asked(capacity=f"{size}GiB", **load) for size in (gib, gib + more))

    for before, after in zip(offers(less)[1:], offers(larger)[1:], strict=True):
        if before.monthly_usd is not None and after.monthly_usd is not None:
            assert after.monthly_usd >= before.monthly_usd


def test_more_capacity_may_cost_less_on_efs_because_it_bursts_longer() -> None:
    small, large = (
        asked(capacity=size, throughput="105MiB/s", multi_az=True).services.efs for size in ("1GiB", "1100GiB")
    )

    assert small.monthly_usd == Decimal("0.36") + (105 - Decimal("0.05")) * Decimal("7.20")
    assert large.monthly_usd == 1100 * Decimal("0.36")


@given(
    gib=st.integers(1, 20_000),
    mb_s=st.integers(0, 4_000),
    more=st.integers(0, 4_000),
    read=st.integers(0, 100_000),
    written=st.integers(0, 100_000),
)
def test_more_throughput_never_costs_less(gib: int, mb_s: int, more: int, read: int, written: int) -> None:
    load = {
        "capacity": f"{gib}GiB",
        "read_per_month": f"{read}GiB",
        "write_per_month": f"{written}GiB",
        "multi_az": True,
    }
    slow, fast = (asked(throughput=f"{rate}MB/s", **load) for rate in (mb_s, mb_s + more))

    for before, after in zip(offers(slow), offers(fast), strict=True):
        assert before.fits or not after.fits
        if before.monthly_usd is not None and after.monthly_usd is not None:
            assert after.monthly_usd >= before.monthly_usd


def test_every_service_is_an_alternative_with_what_it_would_cost() -> None:
    efs, ontap, openzfs = answered(capacity="64GiB", throughput="160MB/s", multi_az=True).alternatives

    assert [one.id for one in (efs, ontap, openzfs)] == ["efs", "ontap", "openzfs"]
    assert openzfs.solves
    assert openzfs.summary == "FSx for OpenZFS: MULTI_AZ_1, 64 GiB of SSD, 160 MB/s, 192 IOPS"
    assert openzfs.changes is not None
    assert {change.item: change.quantity for change in openzfs.changes} == {
        fsx_storage("OPENZFS", "MULTI_AZ_1"): -64,
        fsx_throughput("OPENZFS", "MULTI_AZ_1"): -160,
    }


def test_an_alternative_that_does_not_fit_says_why() -> None:
    efs, _, openzfs = answered(capacity="64GiB", protocol="smb").alternatives

    assert not efs.solves
    assert not openzfs.solves
    assert openzfs.summary == "FSx for OpenZFS does not fit: it does not support SMB"
