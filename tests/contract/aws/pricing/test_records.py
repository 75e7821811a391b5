"""The pitfalls of the price list: exactly one price is right, and none is guessed."""

import json
from decimal import Decimal

import pytest

from slackwater.aws.pricing.packaged import snapshot
from slackwater.aws.pricing.records import UnknownPriceError, quote
from slackwater.model.money import EBS_GP3_THROUGHPUT, EBS_SNAPSHOT_STORAGE, VPC_ENDPOINT_GIB, ebs_storage
from slackwater.model.price_queries import query_for


def record(usage, unit, *tiers, sku="SKU1", family="Storage", service="AmazonEC2", **attributes):
    """Return a record as GetProducts does: a JSON string whose terms and tiers are keyed by generated codes."""
    dimensions = {
        f"{sku}.JRTCKXETXF.{n}": {
            "rateCode": f"{sku}.JRTCKXETXF.{n}",
            "unit": unit,
            "beginRange": begin,
            "endRange": "Inf",
            "appliesTo": [],
            "pricePerUnit": {"USD": usd},
        }
        for n, (begin, usd) in enumerate(tiers)
    }
    term = {
        "sku": sku,
        "offerTermCode": "JRTCKXETXF",
        "effectiveDate": "2026-09-01T00:00:00Z",
        "priceDimensions": dimensions,
    }
    product = {
        "sku": sku,
        "productFamily": family,
        "attributes": {"servicecode": service, "usagetype": usage, **attributes},
    }
    return json.dumps({"product": product, "serviceCode": service, "terms": {"OnDemand": {f"{sku}.JRTCKXETXF": term}}})


def gp3(usd="0.0800000000", usage="EBS:VolumeUsage.gp3", **more):
    return record(usage, "GB-Mo", ("0", usd), volumeApiName="gp3", **more)


def price(item_id, *records):
    return quote(records, query_for(item_id), item_id).usd


def test_records_are_json_inside_json_and_prices_are_exact_decimals():
    found = quote([gp3("0.0960000000")], query_for("ebs.gp3.storage"), "ebs.gp3.storage")
    assert found.usd == Decimal("0.096")
    assert (found.sku, found.effective) == ("SKU1", "2026-09-01")


def test_a_record_that_is_no_json_is_an_unknown_price():
    with pytest.raises(UnknownPriceError, match="cannot be read"):
        price("ebs.gp3.storage", "{")


def test_a_price_that_is_no_number_is_an_unknown_price():
    with pytest.raises(UnknownPriceError, match="cannot be read"):
        price("ebs.gp3.storage", gp3("free"))


def test_a_price_in_another_currency_is_an_unknown_price():
    with pytest.raises(UnknownPriceError, match=r"ebs\.gp3\.storage: a price is in CNY, not in USD"):
        price("ebs.gp3.storage", gp3().replace('"USD"', '"CNY"'))


def test_the_first_of_several_tiers_is_the_price():
    tiers = (("1048576", "0.006"), ("0", "0.01"), ("5242880", "0.004"))
    endpoint = record("APN1-VpcEndpoint-Bytes", "GB", *tiers, family="VpcEndpoint", service="AmazonVPC")
    assert price(VPC_ENDPOINT_GIB.id, endpoint) == Decimal("0.01")


def test_free_rows_are_no_prices():
    included = record("USE1-ProvisionedTP-MiBpsHrs", "MiBps-Mo", ("0", "0.0000000000"), sku="FREE", **PROVISIONED)
    paid = record("USE1-ProvisionedTP-MiBpsHrs", "MiBps-Mo", ("0", "6.0000000000"), **PROVISIONED)
    assert price("efs.provisioned.throughput", included, paid) == 6


PROVISIONED = {"family": "Provisioned Throughput", "service": "AmazonEFS", "throughputClass": "Provisioned"}


def test_several_prices_are_an_unknown_price_that_names_them():
    with pytest.raises(UnknownPriceError, match=r"2 prices fit \(SKU1 0\.08\d*, SKU2 0\.09\d*\)"):
        price("ebs.gp3.storage", gp3(), gp3("0.0900000000", sku="SKU2"))


def test_no_price_is_an_unknown_price_and_not_zero():
    with pytest.raises(UnknownPriceError, match="0 prices fit"):
        price("ebs.gp3.storage", gp3("0.0000000000"))


def test_openzfs_and_ontap_share_a_usage_type_and_not_a_price():
    both = [
        record(
            "APN1-Storage.MAZ:SSD",
            "GB-Mo",
            ("0", usd),
            sku=kind,
            service="AmazonFSx",
            fileSystemType=kind,
            **MULTI_AZ_SSD,
        )
        for kind, usd in (("OpenZFS", "0.216"), ("ONTAP", "0.300"))
    ]
    assert price("fsx.openzfs.multi_az_1.storage", *both) == Decimal("0.216")
    assert price("fsx.ontap.multi_az_1.storage", *both) == Decimal("0.3")


MULTI_AZ_SSD = {"deploymentOption": "Multi-AZ", "storageType": "SSD"}


def test_gp3_throughput_is_listed_by_the_gibps_and_priced_by_the_mibps():
    listed = record(
        "APN1-EBS:VolumeP-Throughput.gp3",
        "GiBps-mo",
        ("0", "49.152"),
        family="Provisioned Throughput",
        volumeApiName="gp3",
    )
    assert price(EBS_GP3_THROUGHPUT.id, listed) == Decimal("0.048")


def test_a_unit_that_is_not_known_is_an_unknown_price():
    with pytest.raises(UnknownPriceError, match="0 prices fit"):
        price("ebs.gp3.storage", gp3().replace("GB-Mo", "TB-Mo"))


def test_io2_spells_its_unit_in_its_own_way():
    io2 = record("APN1-EBS:VolumeUsage.io2", "GB-month", ("0", "0.142"), volumeApiName="io2")
    assert price("ebs.io2.storage", io2) == Decimal("0.142")


def test_access_small_files_and_early_deletion_are_not_storage():
    infrequent = {"service": "AmazonEFS", "storageClass": "Infrequent Access"}
    rows = [
        record("APN1-IATimedStorage-ByteHrs", "GB-Mo", ("0", "0.0272"), **infrequent),
        record("APN1-IADataAccess-Bytes", "GB", ("0", "0.012"), sku="ACCESS", accessType="Read", **infrequent),
        record("APN1-IATimedStorage-SmallFiles", "GB-Mo", ("0", "0.03"), sku="SMALL", **infrequent),
        record("APN1-ArchiveEarlyDelete-ByteHrs", "GB-Mo", ("0", "0.04"), sku="EARLY", **infrequent),
    ]
    assert price("efs.ia.storage", *rows) == Decimal("0.0272")


def test_what_elastic_throughput_reads_and_writes_is_no_other_class_of_access():
    rows = [
        record(
            f"USE1-{usage}", "GB", ("0", usd), sku=f"{usage} {access}", service="AmazonEFS", accessType=access, **more
        )
        for usage, read, write, more in (
            ("ETDataAccess-Bytes", "0.03", "0.06", {"throughputClass": "Elastic"}),
            ("IADataAccess-Bytes", "0.01", "0.01", {"storageClass": "Infrequent Access"}),
            ("ArchiveDataAccess-Bytes", "0.03", "0.03", {"storageClass": "Archive"}),
        )
        for access, usd in (("Read", read), ("Write", write))
    ]
    assert (price("efs.elastic.read", *rows), price("efs.elastic.write", *rows)) == (Decimal("0.03"), Decimal("0.06"))
    assert (price("efs.ia.read", *rows), price("efs.ia.tiering", *rows)) == (Decimal("0.01"), Decimal("0.01"))
    with pytest.raises(UnknownPriceError, match="0 prices fit"):
        price("efs.elastic.write", *rows[2:])


@pytest.mark.parametrize("prefix", ["", "USE1-", "APN1-", "EU-", "EUC1-"])
def test_usage_types_are_matched_behind_whatever_prefix(prefix):
    assert price("ebs.gp3.storage", gp3(usage=f"{prefix}EBS:VolumeUsage.gp3")) == Decimal("0.08")


def test_a_longer_usage_type_that_ends_alike_is_another():
    archive = record(
        "APN1-ArchiveTimedStorage-ByteHrs", "GB-Mo", ("0", "0.01"), service="AmazonEFS", storageClass="General Purpose"
    )
    with pytest.raises(UnknownPriceError):
        price("efs.standard.storage", archive)


def test_the_tiers_of_io2_iops_are_three_items():
    rows = [
        record(
            f"EBS:VolumeP-IOPS.io2{tier}",
            "IOPS-Mo",
            ("0", usd),
            sku=f"T{tier}",
            family="System Operation",
            volumeApiName="io2",
        )
        for tier, usd in (("", "0.065"), (".tier2", "0.0455"), (".tier3", "0.03185"))
    ]
    ids = ("ebs.io2.iops", "ebs.io2.iops.tier2", "ebs.io2.iops.tier3")
    assert [price(id_, *rows) for id_ in ids] == [Decimal("0.065"), Decimal("0.0455"), Decimal("0.03185")]


def test_records_that_do_not_name_the_volume_type_are_found_all_the_same():
    kept = record("EBS:SnapshotUsage", "GB-Mo", ("0", "0.05"), family="Storage Snapshot", storageMedia="Amazon S3")
    magnetic = record("EBS:VolumeUsage", "GB-Mo", ("0", "0.05"), volumeType="Magnetic")
    assert price(EBS_SNAPSHOT_STORAGE.id, kept) == price(ebs_storage("standard").id, magnetic) == Decimal("0.05")


@pytest.mark.parametrize(
    "item_id",
    [
        "ebs.gp9.storage",
        "efs.one-zone.archive.storage",
        "fsx.openzfs.single_az_ha_1.storage",
        "fsx.ontap.multi_az_1.x",
        "s3.x",
        "vpc.x",
    ],
)
def test_what_the_price_list_has_no_known_place_for_has_no_query(item_id):
    assert query_for(item_id) is None


def test_every_price_of_the_snapshot_could_also_be_read_live():
    items = {id_ for region in ("us-east-1", "ap-northeast-1") for id_ in snapshot(region)}
    assert items
    assert all(query_for(id_) for id_ in items)
