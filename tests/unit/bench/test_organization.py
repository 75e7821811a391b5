"""The cost of an organization's audit: the calculation, and the fakes for the bucket and the table."""

import importlib.util
import json
import socket
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from samcli.yamlhelper import yaml_parse

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.store import table
from slackwater.aws.store.documents import S3Documents
from slackwater.aws.store.findings import DynamoFindings

ROOT = Path(__file__).parents[3]
BENCH = ROOT / "bench"


@pytest.fixture(scope="module")
def bench():
    """Yield a function that loads a file of bench/ as a module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look up their module, and the modules import each other
        spec.loader.exec_module(module)
        return module

    sys.path.insert(0, str(BENCH))
    try:
        yield load
    finally:
        sys.path.remove(str(BENCH))
        for name in ("organization", "organization_cost", "stand_ins", "scan"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def cost(bench):
    return bench("organization_cost")


@pytest.fixture(scope="module")
def stand_ins(bench):
    return bench("stand_ins")


def at(cost, **usd):
    return {
        name.replace("_", " "): cost.Price(Decimal(price), "unit", "https://aws.amazon.com/", True)
        for name, price in usd.items()
    }


# -- Money and time


def test_a_whole_costs_what_its_parts_do_times_how_many_there_are(cost):
    calls = {"ec2:DescribeVolumes": 2, "s3:PutObject": 1, "s3:GetObject": 2, "s3:HeadObject": 1, "dynamodb:Query": 9}
    part = cost.Part(
        name="empty", function=cost.SCAN, count=10, calls=calls, metrics=7, cpu_s=0.5, wall_s=2, turns=1.5,
        transitions=3, write_units=4, read_units=0.5,
    )  # fmt: skip
    one = cost.Part(
        name="planning", function=cost.PUBLISH, count=1, calls={"s3:PutObject": 2}, cpu_s=4, wall_s=1, transitions=9
    )
    used = cost.quantities([part, one], cold_s={cost.SCAN: 2})
    assert {what: float(quantity) for what, quantity in used.items()} == pytest.approx(
        {
            "GetMetricData": 70,
            "Lambda": ((10 * 2 + 2) * 1_769 + 4 * 1_769) / 1_024,
            "Lambda requests": 16,
            "Step Functions": 39,
            "DynamoDB writes": 40,
            "DynamoDB reads": 5,
            "S3 puts": 12,
            "S3 gets": 30,
        }
    )
    prices = at(
        cost, GetMetricData="0.5", Lambda="0", Lambda_requests="1", Step_Functions="0.1", DynamoDB_writes="0.01",
        DynamoDB_reads="0", S3_puts="0.25", S3_gets="0",
    )  # fmt: skip
    lines = cost.bill(used, prices)
    assert [(line.what, float(line.usd)) for line in lines[:3]] == [
        ("GetMetricData", 35),
        ("Lambda requests", 16),
        ("Step Functions", 3.9),
    ]
    assert cost.usd_of(lines) == 35 + 16 + Decimal("3.9") + Decimal("0.4") + 3


def test_every_price_is_one_of_the_idle_month(cost):
    prices, as_of = cost.prices()
    assert {*cost.quantities([])} <= {*prices}
    used = cost.quantities([cost.Part(name="planning", function=cost.PUBLISH, count=1, calls={})])
    assert {*used} <= {*prices}
    assert as_of
    assert prices["Step Functions"].usd == Decimal("0.000025")
    assert prices["GetMetricData"].usd == Decimal("0.00001")
    assert (prices["Lambda"].unit, prices["Lambda requests"].unit) == ("GB-second", "request")


def test_calls_to_aws_are_not_those_to_our_own_bucket_and_table(cost):
    part = cost.Part(
        name="empty",
        function=cost.SCAN,
        count=1,
        calls={"ec2:DescribeVolumes": 2, "sts:AssumeRole": 1, "s3:GetObject": 2, "dynamodb:Query": 1},
    )
    assert (part.asked(), part.asked("s3"), part.asked("s3", "dynamodb")) == (3, 2, 3)


@pytest.mark.parametrize(
    ("durations", "at_once", "seconds"),
    [([5, 1, 1, 1], 2, 5), ([1, 1, 1, 5], 2, 6), ([1, 2, 3], 1, 6), ([1, 2, 3], 200, 3), ([], 8, 0)],
)
def test_scans_begin_in_their_order_as_places_get_free(cost, durations, at_once, seconds):
    assert cost.makespan_s(durations, at_once) == seconds


def test_what_a_start_takes_is_read_off_the_page(cost):
    page = (
        "| Function | Start, ms |\n"
        "| PlanFunction | 821 | 228 | 1,054 | 15 | 0.8 |\n"
        "| ScanFunction | 804 | 2,930 | 3,734 | 2,888 | 0.7 |\n"
    )
    assert cost.more_when_cold_s(page) == {"PlanFunction": 1.039, "ScanFunction": 0.846}
    real = cost.more_when_cold_s((ROOT / "docs/performance.md").read_text())
    assert {"PlanFunction", "ScanFunction", "PublishFunction"} <= {*real}


def test_states_and_limits_are_those_that_are_deployed(cost):
    machine = yaml.safe_load((ROOT / "statemachines/audit.asl.yaml").read_text())
    state = machine["StartAt"]
    for name in cost.OF_AUDIT:
        assert name == state or name in leads_to(machine["States"], state), name
        state = name
    assert machine["States"][state]["Type"] == "Succeed"
    child = machine["States"]["ScanTargets"]["ItemProcessor"]
    batch, left, all_ = cost.OF_BATCH
    assert (child["StartAt"], child["States"][batch]["Next"]) == (batch, left)
    assert child["States"][left]["Default"] == all_
    assert (batch, left, child["States"][left]["Choices"][0]["Next"]) == cost.OF_REST
    each = child["States"][cost.OF_REST[-1]]["ItemProcessor"]
    scan, more = cost.OF_TURN
    assert each["StartAt"] == scan
    assert each["States"][scan]["Next"] == more
    assert each["States"][more]["Default"] == cost.OF_TARGET[0]
    assert (cost.transitions_of([]), cost.transitions_of([1]), cost.transitions_of([1, 3])) == (3, 6, 13)
    functions = yaml_parse((ROOT / "template.yaml").read_text())["Resources"]
    for name, memory_mb in cost.MEMORY_MB.items():
        properties = functions[name]["Properties"]
        assert (properties["MemorySize"], properties["Timeout"]) == (memory_mb, cost.LIMIT_S[name])
    assert functions[cost.PUBLISH]["Properties"]["EphemeralStorage"]["Size"] == cost.DISK_LIMIT_MIB


def leads_to(states, name):
    state = states[name]
    return {state.get("Next"), state.get("Default"), *(choice["Next"] for choice in state.get("Choices", ()))}


def taken(**more):
    return {
        "calls": {}, "metrics": 0, "cpu_s": 1.0, "wall_s": 2.0, "peak_mib": 99.0, "disk_mib": 3.0, "write_units": 0,
        "read_units": 0, "turns": 0.05, "transitions": 0.15, "targets": 20, **more,
    }  # fmt: skip


def test_the_page_adds_up(cost):
    empty = [taken(wall_s=wall, calls={"ec2:DescribeVolumes": 1, "s3:PutObject": 1}) for wall in (0.4, 0.2, 9.0, 0.3)]
    scans = dict.fromkeys((cost.EMPTY, cost.SMALL), empty)
    large = [taken(wall_s=60.0, metrics=30_000, turns=2, transitions=6, targets=1)]
    found = {
        "at": "2026-11-22", "resources": 10_000, "plan": taken(accounts=1_001, batch=20),
        "counts": {cost.EMPTY: 16_000, cost.SMALL: 200, cost.LARGE: 6},
        "scans": scans | {cost.LARGE: large},
        "sizes": {f"{kind}_kib": 2.0 for kind in (cost.EMPTY, cost.SMALL, cost.LARGE)},
        "publish": {cost.FIRST: taken(findings=20_000), cost.AGAIN: taken(disk_mib=4.0)},
    }  # fmt: skip
    plan, first, _, last, publish = cost.parts_of(found)
    assert (plan.transitions, publish.count) == (9, 1)
    assert (first.wall_s, first.lambda_s, first.count) == (
        0.3,
        1.0,
        16_000,
    )  # 0.3 s is the first quartile; the CPU time is longer
    assert (last.transitions, last.turns, last.metrics) == (6, 2, 30_000)
    text = cost.section(found)
    assert "20,000 findings" in text
    assert "1,001 accounts" in text
    assert "**An empty region costs 1 calls and " in text
    assert "scans a sample (80 empty, 80 small, 1 large)" in " ".join(text.split())
    # 16,200 × 0.15 + 6 × 6 + 9 transitions, and 6 × 30,000 metrics.
    assert "| Step Functions | 2,475 |" in text
    assert "| GetMetricData | 180,000 |" in text
    assert "| 1.8000 |" in text
    assert "while regions are empty | 500; in three regions 1,500 | 30 |" in text  # 200 at a time, 0.15 a second each
    assert "| | disk | 4,096 MiB | 4 MiB |" in text.replace("|  |", "| |")


# -- The organization, and moved documents


def test_kinds_of_targets_are_those_that_the_simulator_makes(bench):
    organization = bench("organization")
    kinds = organization.kinds_of(10, 30_000)
    assert sorted(kinds.values()) == ["large"] * 6 + ["small"] * 2
    assert {account for (account, _), kind in kinds.items() if kind == "large"} == {
        f"30000000000{place}" for place in range(3)
    }


def test_a_document_that_is_moved_has_findings_of_its_own(bench):
    organization = bench("organization")
    finding = {
        "id": "0123456789abcdef",
        "resource": {"id": "vol-1", "arn": "arn:aws:ec2:us-east-1:111122223333:volume/vol-1"},
    }
    text = json.dumps({"scan": {"id": "first", "targets": ["111122223333/us-east-1"]}, "findings": [finding]}, indent=2)
    here, there = ("111122223333", "us-east-1"), ("444455556666", "eu-west-1")
    assert organization.moved(text, here, here) == text
    moved = json.loads(organization.moved(text, here, there))
    assert moved["scan"] == {"id": "first", "targets": ["444455556666/eu-west-1"]}
    (one,) = moved["findings"]
    assert one["resource"] == {"id": "vol-1", "arn": "arn:aws:ec2:eu-west-1:444455556666:volume/vol-1"}
    assert one["id"] != finding["id"]
    assert len(one["id"]) == 16
    assert json.loads(organization.moved(text, here, there))["findings"][0]["id"] == one["id"]
    assert json.loads(organization.moved(text, here, (there[0], "eu-west-2")))["findings"][0]["id"] != one["id"]


# -- The fakes of S3 and DynamoDB


def a_finding(**more):
    return table.item(
        pk="FINDING#1",
        sk="FINDING",
        document="x" * 1_500,
        target="1#r",
        listing="open",
        saving_key="1",
        age_key="1",
        **more,
    )


def test_units_are_those_of_dynamodb(stand_ins):
    new = a_finding(last_seen_at="2026-11-16")
    assert stand_ins.write_units(new, None) == 2 + 3  # two units of 1 KiB, and an entry in each index
    assert stand_ins.write_units(new, None, in_transaction=True) == 2 * 2 + 3
    assert stand_ins.write_units(a_finding(last_seen_at="2026-11-23"), new) == 2  # no index contains last_seen_at
    resolved = {name: value for name, value in new.items() if name != "target"} | table.item(listing="resolved")
    assert stand_ins.write_units(resolved, new) == 2 + 1 + 2 + 2  # one index entry is deleted, and two are replaced
    assert stand_ins.write_units(new | table.item(severity="high"), new) == 2 + 1 + 1  # two indexes hold the severity
    assert stand_ins.write_units(table.item(pk="LEASE#1", sk="a"), None) == 1
    assert stand_ins.read_units([0, 1, 4_096, 4_097], consistent=True) == 1 + 1 + 1 + 2
    assert stand_ins.read_units([100], consistent=False) == 0.5


def test_indexes_are_the_tables(stand_ins):
    assert stand_ins.INDEXES == table.INDEXES
    assert stand_ins.PROJECTED == table.PROJECTED


def test_the_stores_work_on_it_as_on_aws(stand_ins, tmp_path):
    server = stand_ins.FakeAwsServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}", "any", "any")
        session = AwsSession(meter=CallMeter(), endpoint=endpoint)
        documents = S3Documents(session, "bucket")
        assert documents.read("audits/1/plan.json") is None
        assert documents.write_once("audits/1/plan.json", "{}")
        assert not documents.write_once("audits/1/plan.json", "[]")
        assert documents.read("audits/1/plan.json") == ("{}", "1")
        documents.write("audits/1/targets.json", "[]")
        documents.write("audits/1/targets.json", "[1]")
        assert documents.read("audits/1/targets.json") == ("[1]", "1")
        (tmp_path / "file").write_text("kept")
        documents.write_file("audits/1/scan.json", tmp_path / "file")
        assert documents.has("audits/1/scan.json")
        assert not documents.has("audits/1/head.json")
        kept = table.Table(session, "table", pause=lambda _: pytest.fail("asked again"))
        assert kept.put(table.Put(table.item(pk="AUDIT#1", sk="AUDIT")))
        assert not kept.put(table.Put(table.item(pk="AUDIT#1", sk="AUDIT")))
        assert kept.put(table.Put(a_finding()), table.Put(table.item(pk="FINDING#1", sk="LEDGER#1", document="{}")))
        assert not kept.put(table.Put(a_finding()), table.Put(table.item(pk="FINDING#2", sk="FINDING")))
        assert [*kept.read([table.key_of("FINDING#1"), table.key_of("FINDING#2")])] == ["FINDING#1"]
        by_target = {
            "IndexName": table.BY_TARGET, "KeyConditionExpression": "#target = :target",
            "ExpressionAttributeNames": {"#target": "target"},
            "ExpressionAttributeValues": table.item(**{":target": "1#r"}),
        }  # fmt: skip
        assert [entry["pk"]["S"] for entry in kept.query_all(**by_target)] == ["FINDING#1"]
        assert [*DynamoFindings(kept).unresolved("2", "r")] == []
        report = server.counts()
    finally:
        server.shutdown()
        server.server_close()
    assert {what: report[what] for what in report if ":" in what} == {
        "s3:GetObject": 3, "s3:PutObject": 5, "s3:HeadObject": 2,
        "dynamodb:PutItem": 2, "dynamodb:TransactWriteItems": 2, "dynamodb:BatchGetItem": 1, "dynamodb:Query": 2,
    }  # fmt: skip
    # An audit's record, then a transaction with a finding of 2 KiB, its three index entries, and a ledger entry.
    assert report["write_units"] == 1 + (4 + 3) + 2
    assert report["read_units"] == 2 + 0.5 + 0.5


def test_a_client_that_expects_a_continue_is_answered_at_once(stand_ins):
    # S3's clients send this header and wait a second for the answer. A measurement would measure only that wait.
    server = stand_ins.FakeAwsServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as client:
            client.sendall(
                b"PUT /bucket/key HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            )
            assert client.recv(100).startswith(b"HTTP/1.1 100 ")
            client.sendall(b"{}")
            assert client.recv(100).startswith(b"HTTP/1.1 200 ")
    finally:
        server.shutdown()
        server.server_close()
