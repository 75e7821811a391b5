"""Prices come from the policy, else from AWS, else from the dated snapshot. Each names its source."""

import json
import re
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal

import pytest

from slackwater.aws.client.deadline import Deadline
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.pricing import cache as price_cache
from slackwater.aws.pricing.packaged import PackagedPrices, packaged_regions, snapshot
from slackwater.aws.pricing.price_list import PolicyPrices, PriceList
from slackwater.model.findings import Gap
from slackwater.model.money import (
    EBS_GP3_THROUGHPUT,
    EBS_SNAPSHOT_STORAGE,
    EFS_ARCHIVE_READ,
    EFS_ARCHIVE_TIERING,
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_IA_READ,
    EFS_IA_TIERING,
    EFS_PROVISIONED_THROUGHPUT,
    VPC_ENDPOINT_GIB,
    VPC_ENDPOINT_HOUR,
    PriceItem,
    ebs_iops,
    ebs_iops_tier,
    ebs_storage,
    ec2_cpu_credits,
    ec2_hour,
    efs_storage,
)
from slackwater_simulator import Fleet, instant

TODAY = date(2026, 11, 16)
TOKYO = "ap-northeast-1"
GP3, EFS = ebs_storage("gp3"), efs_storage("Standard", one_zone=False, elastic=False)
CALL = "pricing:GetProducts"


@pytest.fixture
def account(simulate):
    return simulate(Fleet(now=instant("2026-11-16T09:07:00Z")))


def prices(account, cache_dir=None, *, discount="1", overrides=None, today=TODAY):
    own = PolicyPrices(discount=Decimal(discount), overrides=overrides or {})
    return PriceList(account.session, cache_dir, today, own)


def test_a_live_price_says_its_sku_and_the_day_it_was_read(account):
    table, gaps = prices(account).of([GP3, EFS], TOKYO)
    assert gaps == []
    assert (table[GP3].usd, table[EFS].usd) == (Decimal("0.096"), Decimal("0.36"))
    assert table[GP3].source.startswith("AWS Price List, SKU ")
    assert table[GP3].as_of == TODAY
    assert account.sim.calls == {CALL: 2}


@pytest.mark.parametrize("region", ["us-east-1", TOKYO])
def test_every_item_that_detectors_may_name_has_one_live_price(account, region):
    items = [
        *(ebs_storage(t) for t in ("gp2", "gp3", "io1", "io2", "st1", "sc1", "standard")),
        *(ebs_iops(t) for t in ("gp3", "io1", "io2")),
        *(ebs_iops_tier(t) for t in (2, 3)),
        *(efs_storage(c, one_zone=False, elastic=e) for c in ("Standard", "IA", "Archive") for e in (True, False)),
        *(efs_storage(c, one_zone=True, elastic=False) for c in ("Standard", "IA")),
        *(EBS_GP3_THROUGHPUT, EBS_SNAPSHOT_STORAGE, EFS_PROVISIONED_THROUGHPUT, VPC_ENDPOINT_HOUR, VPC_ENDPOINT_GIB),
        *(EFS_ELASTIC_READ, EFS_ELASTIC_WRITE, EFS_IA_READ, EFS_IA_TIERING, EFS_ARCHIVE_READ, EFS_ARCHIVE_TIERING),
        *(ec2_hour(t) for t in ("t3.micro", "m6i.large")),
        *(ec2_cpu_credits(family) for family in ("t2", "t3", "t3a", "t4g")),
    ]
    table, gaps = prices(account).of(items, region)
    assert gaps == []
    assert set(table) == set(items)
    packaged = snapshot(region)
    assert {i.id: p.usd for i, p in table.items() if i.id in packaged} == {
        i.id: packaged[i.id].usd for i in table if i.id in packaged
    }


def test_reading_and_writing_on_elastic_throughput_cost_what_their_own_records_say(account):
    table, gaps = prices(account).of([EFS_ELASTIC_READ, EFS_ELASTIC_WRITE], TOKYO)
    assert gaps == []
    assert (table[EFS_ELASTIC_READ].usd, table[EFS_ELASTIC_WRITE].usd) == (Decimal("0.04"), Decimal("0.07"))
    assert table[EFS_ELASTIC_READ].source != table[EFS_ELASTIC_WRITE].source


def test_the_policy_comes_first_and_no_discount_touches_it(account):
    table, gaps = prices(account, discount="0.9", overrides={TOKYO: {GP3.id: Decimal("0.07")}}).of([GP3], TOKYO)
    assert (table[GP3].usd, table[GP3].source, table[GP3].as_of) == (Decimal("0.07"), "policy", TODAY)
    assert gaps == []
    assert account.sim.calls == {}


def test_an_override_is_for_its_own_region(account):
    table, _ = prices(account, overrides={"us-east-1": {GP3.id: Decimal("0.07")}}).of([GP3], TOKYO)
    assert table[GP3].usd == Decimal("0.096")


def test_a_discount_is_taken_off_the_list_price_and_named_in_its_source(account):
    table, _ = prices(account, discount="0.9").of([GP3], TOKYO)
    assert table[GP3].usd == Decimal("0.0864")
    assert table[GP3].source.endswith("times 0.9")


def test_a_price_is_read_once_a_week(account, tmp_path):
    first, _ = prices(account, tmp_path).of([GP3], TOKYO)
    again, _ = prices(account, tmp_path, today=TODAY + timedelta(days=7)).of([GP3], TOKYO)
    assert again == first
    assert account.sim.calls == {CALL: 1}
    later, _ = prices(account, tmp_path, today=TODAY + timedelta(days=8)).of([GP3], TOKYO)
    assert later[GP3].as_of == TODAY + timedelta(days=8)
    assert account.sim.calls == {CALL: 2}


def test_a_price_that_is_not_in_the_list_is_looked_for_once_a_day(account, tmp_path):
    huge = ec2_hour("x9.huge")
    first = prices(account, tmp_path).of([huge], TOKYO)
    assert prices(account, tmp_path, today=TODAY + timedelta(days=1)).of([huge], TOKYO) == first
    assert account.sim.calls == {CALL: 1}
    assert first[1][0].reason == "ec2.x9.huge.hour: 0 prices fit"
    prices(account, tmp_path, today=TODAY + timedelta(days=2)).of([huge], TOKYO)
    assert account.sim.calls == {CALL: 2}


def test_a_price_from_the_future_is_no_price_of_today(account, tmp_path):
    prices(account, tmp_path, today=TODAY + timedelta(days=3)).of([GP3], TOKYO)
    table, _ = prices(account, tmp_path).of([GP3], TOKYO)
    assert table[GP3].as_of == TODAY
    assert account.sim.calls == {CALL: 2}


def test_a_discount_is_never_kept(account, tmp_path):
    prices(account, tmp_path, discount="0.5").of([GP3], TOKYO)
    table, _ = prices(account, tmp_path).of([GP3], TOKYO)
    assert table[GP3].usd == Decimal("0.096")


def test_only_what_is_not_kept_is_asked_for(account, tmp_path):
    prices(account, tmp_path).of([GP3], TOKYO)
    prices(account, tmp_path).of([GP3, EFS], TOKYO)
    assert account.sim.calls == {CALL: 2}
    prices(account, tmp_path).of([GP3, EFS], TOKYO)
    assert account.sim.calls == {CALL: 2}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"ebs.gp3.storage": {"usd": "0"}}',
        '{"ebs.gp3.storage": {"usd": "NaN", "source": "x", "as_of": "2026-11-16"}}',
        '{"ebs.gp3.storage": {"usd": "cheap", "source": "x", "as_of": "2026-11-16"}}',
        '{"ebs.gp3.storage": {"usd": 0.01, "source": "x", "as_of": "yesterday"}}',
    ],
)
def test_a_broken_cache_is_ignored_with_a_warning_and_repaired(account, tmp_path, caplog, content):
    file = tmp_path / account.sim.url.removeprefix("http://").replace(":", "_") / f"prices-{TOKYO}.json"
    file.parent.mkdir()
    file.write_text(content)
    table, gaps = prices(account, tmp_path).of([GP3], TOKYO)
    assert table[GP3].usd == Decimal("0.096")
    assert gaps == []
    assert "price cache" in caplog.text
    assert json.loads(file.read_text())["ebs.gp3.storage"]["usd"] == "0.0960000000"


def test_what_a_stand_in_for_aws_answers_prices_no_other_endpoint(simulate, account, tmp_path):
    prices(account, tmp_path).of([GP3], TOKYO)
    other = simulate(Fleet(now=instant("2026-11-16T09:07:00Z")))
    prices(other, tmp_path).of([GP3], TOKYO)
    assert other.sim.calls == {CALL: 1}


@pytest.mark.usefixtures("impatient")
def test_a_call_that_fails_once_costs_its_own_item_and_no_other(account):
    account.sim.faults.error(CALL, "InternalFailure", 500, times=1)
    table, (gap,) = prices(account).of([GP3, EFS], TOKYO)
    assert sorted(price.source.partition(":")[0].partition(",")[0] for price in table.values()) == [
        "AWS Price List",
        "snapshot",
    ]
    assert "InternalFailure" in gap.reason


@pytest.mark.usefixtures("impatient")
def test_a_price_list_that_fails_again_and_again_is_left_alone(account):
    account.sim.faults.error(CALL, "InternalFailure", 500)
    prices(account).of(
        [GP3, EFS, *(ec2_hour(f"t3.{size}") for size in ("micro", "small", "large", "xlarge", "2xlarge"))], TOKYO
    )
    assert account.sim.calls[CALL] < 7


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(account, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    table, _ = prices(account, tmp_path / "file").of([GP3], TOKYO)
    assert table[GP3].usd == Decimal("0.096")
    assert "price cache" in caplog.text
    assert price_cache.PriceCache(None, TODAY).read(TOKYO) == {}


def test_a_price_list_that_may_not_be_read_is_one_optional_gap_and_the_snapshot_answers(account):
    account.sim.faults.deny(CALL)
    table, gaps = prices(account).of([GP3, EFS, ec2_hour("t3.micro"), ec2_hour("x9.huge")], TOKYO)
    (gap,) = gaps
    assert gap == Gap("", "", CALL, gap.reason, optional=True)
    assert "AccessDenied" in gap.reason
    assert table[GP3].usd == Decimal("0.096")
    assert table[GP3].as_of == date(2026, 9, 1)
    assert table[GP3].source.startswith("snapshot: ")
    assert ec2_hour("x9.huge") not in table
    assert account.sim.calls == {CALL: 1}


def test_a_kept_price_is_better_than_the_snapshots(account, tmp_path):
    prices(account, tmp_path).of([GP3], TOKYO)
    account.sim.faults.deny(CALL)
    table, (gap,) = prices(account, tmp_path).of([GP3, EFS], TOKYO)
    assert table[GP3].source.startswith("AWS Price List")
    assert table[EFS].source.startswith("snapshot: ")
    assert gap.optional


def test_a_failed_request_is_not_repeated_and_reported_every_time(account):
    account.sim.faults.deny(CALL)
    listed = prices(account)
    assert [len(listed.of([GP3], region)[1]) for region in (TOKYO, "us-east-1")] == [1, 1]
    assert account.sim.calls == {CALL: 1}


@pytest.mark.usefixtures("impatient")
def test_a_price_list_that_is_out_of_reach_is_asked_once():
    meter = CallMeter()
    nowhere = AwsSession(meter=meter, endpoint=Endpoint("http://127.0.0.1:9", "k", "s"))
    items = [GP3, EFS, *(ec2_hour(f"t3.{size}") for size in ("micro", "small", "large"))]
    table, (gap,) = PriceList(nowhere, None, TODAY).of(items, TOKYO)
    assert "EndpointConnectionError" in gap.reason
    assert {price.source.partition(":")[0] for price in table.values()} == {"snapshot"}
    assert meter.api_calls() == {CALL: 1}


def test_a_region_without_a_snapshot_has_no_price_rather_than_another_regions(account):
    account.sim.faults.deny(CALL)
    table, gaps = prices(account).of([GP3], "eu-west-1")
    assert table == {}
    assert len(gaps) == 1


def test_a_price_the_list_does_not_give_stays_unknown_even_if_the_snapshot_had_one(account):
    table, (gap,) = prices(account).of([GP3, ec2_hour("x9.huge")], TOKYO)
    assert set(table) == {GP3}
    assert gap.optional
    assert gap.reason == "ec2.x9.huge.hour: 0 prices fit"


def test_a_truncated_price_list_is_a_gap(account, impatient):
    account.sim.faults.truncate(CALL)
    table, (gap,) = prices(account).of([GP3], TOKYO)
    assert "BrokenAnswer" in gap.reason
    assert table[GP3].source.startswith("snapshot: ")


def test_an_item_that_the_price_list_lacks_is_unknown_and_reported(account):
    table, (gap,) = prices(account).of([PriceItem("s3.storage", "GiB-month")], TOKYO)
    assert table == {}
    assert gap.reason == "s3.storage: not known to be in the price list"
    assert account.sim.calls == {}


def test_when_there_is_no_time_left_the_packaged_prices_stand_in_and_nobody_is_asked(account):
    late = PriceList(account.session, None, TODAY, deadline=Deadline(-1))
    table, (gap,) = late.of([GP3, EFS], TOKYO)
    assert table == {item: snapshot(TOKYO)[item.id] for item in (GP3, EFS)}
    assert (gap.what, gap.reason, gap.optional) == (CALL, "TookTooLongError: AWS took too long", True)
    assert account.sim.calls == {}


def test_without_an_account_the_packaged_prices_are_used_and_reported_as_such():
    huge = ec2_hour("x9.huge")
    table, (gap,) = PackagedPrices().of([GP3, EFS_ELASTIC_WRITE, huge], TOKYO)
    assert (gap.what, gap.reason, gap.optional) == (
        "pricing:GetProducts",
        "not requested: packaged values are used",
        True,
    )
    assert table == {item: snapshot(TOKYO)[item.id] for item in (GP3, EFS_ELASTIC_WRITE)}
    assert PackagedPrices().of([GP3], "eu-west-1")[0] == {}
    assert packaged_regions() == [TOKYO, "us-east-1"]


SOURCES = {
    "AWS's price list, by usage type": r"^snapshot: AWS Price List, Amazon(EC2|EFS|FSx|VPC), usage type \S+",
    "a file on GitHub": r"^snapshot: [\w-]+/[\w-]+ on GitHub, [\w.]+\.(golden|go)$",
    "a page of AWS": r"\(https://aws\.amazon\.com/\S+/\)",
    "a field report": r"^snapshot: report \".+\" \(\d{4}-\d\d",
}
CHECKABLE = [re.compile(one) for one in SOURCES.values()]


@pytest.mark.parametrize("region", ["us-east-1", TOKYO])
def test_every_figure_of_the_snapshot_is_dated_and_sourced(region):
    packaged = snapshot(region)
    assert all(
        price.usd > 0 and price.as_of <= date(2026, 11, 21) and len(price.source) > 20 for price in packaged.values()
    )
    unsourced = {
        id_: price.source for id_, price in packaged.items() if not any(one.search(price.source) for one in CHECKABLE)
    }
    assert not unsourced
    by_source = Counter(
        next(name for name, one in zip(SOURCES, CHECKABLE, strict=True) if one.search(price.source))
        for price in packaged.values()
    )
    print(f"{region}: {len(packaged)} packaged prices: {dict(by_source)}")


def test_throughput_in_the_snapshot_is_by_the_mibps():
    assert snapshot("us-east-1")[EBS_GP3_THROUGHPUT.id].usd == Decimal("40.96") / 1024
    assert snapshot(TOKYO)[EBS_GP3_THROUGHPUT.id].usd == Decimal("49.152") / 1024
