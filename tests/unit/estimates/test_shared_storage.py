"""What to share files on: what each service costs, and which fits."""

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
"""OpenZFS in one zone has no published price there."""


def answered(prices: PriceTable = TOKYO, region: str = "ap-northeast-1", **said: Any) -> Answer[SharedStorageChoice]:
    return ESTIMATE.work(SharedStorage.model_validate(said), Known(region, (), prices))


def asked(**said: Any) -> SharedStorageChoice:
    return answered(**said).result


def web_content(**said: Any) -> SharedStorageChoice:
    return asked(**{"capacity": "64GiB", "throughput": "160MB/s", "multi_az": True, **said})


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
    assert "87 operations a second of 4 KiB were measured" in (efs.why_not or "")
    caveats = " ".join(choice.caveats)
    for words in (
        "342 small writes a second, whatever IOPS are bought",
        "3,768",
        "mission-critical",
        "lost if the file server",
    ):
        assert words in caveats


def test_efs_is_priced_for_what_is_stored_and_moved() -> None:
    efs = web_content(read_per_month="500GiB", write_per_month="50GiB").services.efs

    assert efs.monthly_usd == 64 * Decimal("0.36") + 500 * Decimal("0.04") + 50 * Decimal("0.07")
    assert efs.configuration == "Regional, 64 GiB in Standard, Elastic throughput"


def test_efs_bursts_for_nothing_where_its_size_carries_the_load_for_good() -> None:
    # 1,000 GiB earn 48.8 MiB/s
    low, high = (asked(capacity="1000GiB", throughput=rate).services.efs for rate in ("48MiB/s", "49MiB/s"))
    month = asked(capacity="1000GiB", write_per_month="122TiB").services.efs  # 48.7 MiB/s
    too_much = asked(capacity="1000GiB", write_per_month="123TiB").services.efs  # 49.1 MiB/s

    assert "Bursting" in (low.configuration or "")
    assert "Elastic" in (high.configuration or "")
    assert "Bursting" in (month.configuration or "")
    assert month.monthly_usd == 1000 * Decimal("0.192")
    assert "Elastic" in (too_much.configuration or "")


def test_elastic_with_nothing_moved_says_so() -> None:
    assert "nothing moved" in (web_content().services.efs.configuration or "")
    assert "nothing moved" not in (web_content(read_per_month="1GiB").services.efs.configuration or "")


@pytest.mark.parametrize(("protocol", "name"), [("smb", "SMB"), ("iscsi", "iSCSI")])
def test_only_ontap_speaks_more_than_nfs(protocol: str, name: str) -> None:
    answer = answered(capacity="4TiB", protocol=protocol)
    services = answer.result.services

    assert answer.result.recommended == "ontap"
    assert services.efs.why_not == services.openzfs.why_not == f"it does not speak {name}"
    assert "the only one that fits" in answer.result.why
    assert services.ontap.monthly_usd == 4096 * Decimal("0.150") + 128 * Decimal("0.906")


def test_ontap_begins_at_1_tib() -> None:
    ontap = web_content(throughput="100MB/s").services.ontap

    assert ontap.monthly_usd == 1024 * Decimal("0.300") + 128 * Decimal("1.511")
    assert ontap.minimums.startswith("1,024 GiB of SSD and 128 MB/s")


def test_one_zone_is_taken_unless_the_loss_of_one_must_be_survived_and_then_named() -> None:
    one, two = asked(capacity="100GiB"), asked(capacity="100GiB", multi_az=True)

    assert (one.services.efs.monthly_usd, two.services.efs.monthly_usd) == (Decimal("19.2"), Decimal(36))
    assert any("one Availability Zone: if it is lost" in caveat for caveat in one.caveats)
    assert not any("one Availability Zone" in caveat for caveat in two.caveats)


def test_an_unknown_price_is_null_and_said_where_it_would_fit() -> None:
    choice = asked(capacity="64GiB", small_writes=True)

    assert choice.services.openzfs.monthly_usd is None
    assert choice.services.openzfs.fits
    assert choice.recommended == "ontap"
    assert "FSx for OpenZFS would fit too, at an unknown price" in choice.why


def test_without_any_price_nothing_is_the_cheapest_unless_it_is_the_only_one() -> None:
    several = answered(prices={}, capacity="64GiB").result
    only = answered(prices={}, capacity="64GiB", protocol="smb").result

    assert several.recommended is None
    assert "no price of them is known" in several.why
    assert only.recommended == "ontap"
    assert "price unknown" in only.why


@pytest.mark.parametrize(
    "too_much", [{"capacity": "900TiB"}, {"capacity": "1TiB", "throughput": "20GB/s"}, {"capacity": "1TiB", "iops": 500_000}]
)
def test_what_fsx_cannot_carry_does_not_fit(too_much: dict[str, Any]) -> None:
    services = asked(multi_az=True, **too_much).services

    for offer in (services.ontap, services.openzfs):
        assert not offer.fits
        assert offer.monthly_usd is None
        assert "goes up to" in (offer.why_not or "")


def test_what_efs_cannot_carry_does_not_fit() -> None:
    fast, busy = asked(capacity="1TiB", throughput="2GB/s").services, asked(capacity="1TiB", iops=7_001).services

    assert fast.efs.why_not == "all clients together write 1 GiB/s at most"
    assert busy.efs.why_not == "it writes 7,000 times a second at most"
    assert asked(capacity="1TiB", iops=7_001, multi_az=True).services.efs.fits
    tokyo, paris = (
        answered(region=region, capacity="1TiB", throughput="2GB/s", multi_az=True).result.services.efs.fits
        for region in ("ap-northeast-1", "eu-west-3")
    )
    assert (tokyo, paris) == (True, False)


def test_the_months_average_has_to_be_carried_too() -> None:
    # 500 TB in 730 hours are 190 MB/s
    assert "320 MB/s" in (asked(capacity="64GiB", multi_az=True, read_per_month="500TB").services.openzfs.configuration or "")


def test_nothing_fits_what_is_too_large_over_smb() -> None:
    choice = asked(capacity="900TiB", protocol="smb")

    assert choice.recommended is None
    assert choice.why == "Nothing here fits."


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


def test_what_is_assumed_is_said() -> None:
    silent, moved = answered(capacity="64GiB"), answered(capacity="64GiB", multi_az=True, read_per_month="1GiB")

    assert {said.partition(":")[0] for said in silent.assumptions} == {"assumed", "measured", "rule"}
    assert any("MBps are 10^6" in said for said in silent.assumptions)
    assert any("nothing moves in the month" in said for said in silent.assumptions)
    assert any("1 GiB are read in it and 0 B written" in said for said in moved.assumptions)
    assert any("7,500 MB/s" in said for said in moved.assumptions)


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
def test_more_capacity_is_never_cheaper(gib: int, more: int, mb_s: int, iops: int) -> None:
    load = {"throughput": f"{mb_s}MB/s", "iops": iops, "multi_az": True}
    less, larger = (asked(capacity=f"{size}GiB", **load) for size in (gib, gib + more))

    for before, after in zip(offers(less), offers(larger), strict=True):
        if before.monthly_usd is not None and after.monthly_usd is not None:
            assert after.monthly_usd >= before.monthly_usd
