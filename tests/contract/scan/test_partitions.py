"""AWS partitions: their ARNs, their endpoints, and missing prices in dollars."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from slackwater.app.audit.doctor import examined
from slackwater.aws.client.identity import identity
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.regions import enabled_regions
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.permission_checks import ACTIONS, AwsPermissionChecks
from slackwater.aws.pricing.price_list import PolicyPrices, PriceList
from slackwater.engine.registry import registry
from slackwater.model.money import ebs_storage
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.views.report import render_report
from slackwater.views.scan.to_json import document, dump
from slackwater.wiring.scan import audit
from slackwater.wiring.scan_needs import needs
from slackwater_simulator import Fleet, mixed_fleet

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
WAS = "ap-northeast-1"
SERVICES = ("sts", "ec2", "efs", "fsx", "cloudwatch", "cloudtrail", "dynamodb", "s3", "stepfunctions")
ELSEWHERE = {"cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov", "us-iso-east-1": "aws-iso"}
SUFFIXES = {"aws-cn": "amazonaws.com.cn", "aws-us-gov": "amazonaws.com", "aws-iso": "c2s.ic.gov"}


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return mixed_fleet(120)


def moved(value: Any, region: str) -> Any:
    """Return the same resources in another region."""
    if isinstance(value, str):
        return value.replace("arn:aws:", f"arn:{ELSEWHERE[region]}:").replace(WAS, region)
    if isinstance(value, Mapping):
        return {moved(key, region): moved(one, region) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return tuple(moved(one, region) for one in value)
    if is_dataclass(value) and not isinstance(value, type) and type(value).__module__ == Fleet.__module__:
        return replace(
            value, **{one.name: moved(getattr(value, one.name), region) for one in fields(value) if one.init}
        )
    return value


@pytest.mark.parametrize("region", ELSEWHERE)
def test_an_account_of_a_partition_is_audited_in_its_own_words(
    simulate: Callable[..., Any], fleet: Fleet, region: str
) -> None:
    partition = ELSEWHERE[region]
    account = simulate(moved(fleet, region), home=region)
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    who = identity(account.session)
    assert (who.partition, who.arn.split(":")[1]) == (partition, partition)
    assert region in enabled_regions(account.session)
    assert not any(name.startswith(("eu-west", "us-east-")) for name in enabled_regions(account.session))

    policy = Policy(limits={id_: detector.limits() for id_, detector in registry().items()})
    use_case = audit(
        account.session, account.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )
    done = use_case.run([Target(who.account, region, who.partition)], NOW)

    doc = document(done)
    assert done.complete
    assert len(doc["findings"]) >= 18
    assert {one["detector"].split("-")[0] for one in doc["findings"]} == {"efs", "ebs", "ec2", "fsx"}
    assert {finding["resource"]["arn"].split(":")[1] for finding in doc["findings"]} == {partition}
    assert not re.search(r"arn:aws:|console\.aws\.amazon\.com", dump(doc) + render_report(doc))
    # Slackwater neither uses another partition's prices nor requests any.
    wasteful = [finding for finding in doc["findings"] if finding["kind"] == "waste"]
    assert wasteful
    assert all(finding["price_basis"] == [] for finding in wasteful)
    assert all(finding["monthly_savings_usd"] in (None, "0.00") for finding in doc["findings"])
    assert doc["totals"]["unpriced"] > 0
    (gap,) = [gap for gap in doc["scan"]["gaps"] if gap["what"] == "pricing:GetProducts"]
    assert gap["optional"]
    assert partition in gap["reason"]
    assert "prices.overrides" in gap["reason"]
    assert "pricing:GetProducts" not in account.sim.calls


@pytest.mark.parametrize("region", ELSEWHERE)
def test_doctor_asks_only_what_a_scan_of_the_partition_asks(
    simulate: Callable[..., Any], fleet: Fleet, region: str
) -> None:
    account = simulate(moved(fleet, region), home=region)
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    checks = AwsPermissionChecks(account.session, account.meter, NOW)
    needed = needs(registry())

    seen = examined(identity(account.session), [region], needed, checks)

    with_optimizer = region in account.session.regions_of("compute-optimizer")
    unused = {need.action for need in needed} - {check.need.action for check in seen.checks}
    optimizer = {action for action in ACTIONS if action.startswith("compute-optimizer:")}
    assert unused == {"pricing:GetProducts", *(() if with_optimizer else optimizer)}
    assert (seen.ready, seen.missing) == (True, ())
    assert not unused & account.sim.calls.keys()


def test_an_account_of_a_partition_is_nobody_in_another(simulate: Callable[..., Any], fleet: Fleet) -> None:
    account = simulate(moved(fleet, "us-gov-west-1"), home="us-gov-west-1")
    policy = Policy(limits={id_: detector.limits() for id_, detector in registry().items()})
    use_case = audit(
        account.session, account.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )
    (target,) = use_case.run([Target(account.target.account, "us-east-1", "aws-us-gov")], NOW).targets

    assert not target.complete
    (gap,) = target.gaps
    assert "partition aws-us-gov" in gap.reason
    assert "leave it out (" in gap.reason


def test_a_policy_may_name_prices_of_its_own_where_no_list_does(simulate: Callable[..., Any], fleet: Fleet) -> None:
    account, item = simulate(fleet), ebs_storage("gp3")
    overrides = {"cn-north-1": {item.id: Decimal("0.08")}}
    own = PriceList(account.session, None, date(2026, 11, 16), PolicyPrices(overrides=overrides))
    table, gaps = own.of([item], "cn-north-1")
    assert (table[item].usd, table[item].source, gaps) == (Decimal("0.08"), "policy", [])


@pytest.mark.parametrize("region", ELSEWHERE)
def test_every_endpoint_is_of_the_partition_of_its_region(monkeypatch: pytest.MonkeyPatch, region: str) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIADUMMY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dummy")
    session = AwsSession(meter=CallMeter(), home=region)
    assert session.home == region
    assert session.partition_of(region) == ELSEWHERE[region]
    for service in SERVICES:
        client: Any = session.client(service, region)  # type: ignore[call-overload]
        host = urlsplit(client.meta.endpoint_url).netloc
        assert host.endswith(f"{region}.{SUFFIXES[ELSEWHERE[region]]}"), service


def test_an_unknown_region_counts_as_one_of_the_largest_partition() -> None:
    session = AwsSession(meter=CallMeter(), endpoint=Endpoint("http://127.0.0.1:0", "", ""))
    assert session.partition_of("nowhere") == "aws"
    assert session.partition_of("eu-south-9") == "aws"


# --- Source files -----------------------------------------------------------------------------------------------------

PRODUCT = ("layers", "functions", "cli", "statemachines", "simulator")
WRITTEN = frozenset({".py", ".yaml", ".j2", ".js", ".css", ".json", ".toml", ".md"})
OF_ONE_PARTITION = re.compile(
    r"arn:aws:|console\.(?:aws\.amazon|amazonaws)|\.amazonaws\.com\b(?!\.cn)|signin\.aws\.amazon"
)
EXAMPLES = re.compile(r'arn="arn:aws:|arn=f"arn:aws:')
"""Resources of the detectors' worked cases."""
OWNERS = re.compile(r"(drs|eks)\.amazonaws\.com")
"""Tag keys and principals with which AWS services mark resources that they manage.

All partitions have the same ones.
"""
ALLOWED = (
    # Service principals and event sources are the same in all partitions.
    (
        "template",
        re.compile(
            r"(?:Service|Principal|PassedToService\"?|CalledVia\"?): *\{?(?:Service: *)?[\w.-]+\.amazonaws\.com\b"
        ),
    ),
    ("template", re.compile(r"Issuer of the JSON Web Tokens")),
    ("template", re.compile(r"Console: !If \[InChina, console\.amazonaws\.cn, !If \[InGovCloud, ")),
    (
        "template-cleanup.yaml",
        re.compile(r'"kms:ViaService": \["ec2\.\*\.amazonaws\.com\*", "fsx\.\*\.amazonaws\.com\*"\]'),
    ),
    ("template-member.yaml", re.compile(r"aws-reserved/sso\.amazonaws\.com/")),
    ("slack-app-manifest.yaml", re.compile(r"https://API\.execute-api\.REGION\.amazonaws\.com")),
    ("cli/src/slackwater_cli/slack-app-manifest.yaml", re.compile(r"https://API\.execute-api\.REGION\.amazonaws\.com")),
    ("cli/src/slackwater_cli/commands/slack.py", re.compile(r"^PLACEHOLDER")),
    ("layers/core/src/slackwater/views/text/console.py", re.compile(r'^    "aws(?:-cn|-us-gov)?": "console\.')),
    ("cli/src/slackwater_cli/options.py", re.compile(r"looks like arn:aws:iam::123456789012:role/Name")),
    ("simulator/src/slackwater_simulator/", re.compile(r'amazonaws\.com/doc/\d|xmlns="http|_SOURCE = "|"userAgent"')),
    ("simulator/src/slackwater_simulator/organizations.py", re.compile(r"arn:aws:organizations::\{org\.management\}")),
    ("simulator/src/slackwater_simulator/partitions.py", re.compile(r"suffix|_SUFFIXES|amazonaws\.com\"")),
    ("layers/core/src/slackwater/views/text/console.py", re.compile(r'^    "aws(-cn|-us-gov)?": "console\.')),
    ("layers/core/src/slackwater/detectors/", EXAMPLES),
    ("layers/core/src/slackwater/model/ownership.py", OWNERS),
    ("simulator/src/slackwater_simulator/", OWNERS),
    ("template-cleanup.yaml", re.compile(r"aws:ResourceTag/\S*(drs|eks)\.amazonaws\.com")),
)


def test_nothing_is_written_for_one_partition_alone() -> None:
    files = [*ROOT.glob("*.yaml"), *(path for folder in PRODUCT for path in (ROOT / folder).rglob("*"))]
    wrong = []
    for path in sorted(one for one in files if one.suffix in WRITTEN and one.is_file() and "build" not in one.parts):
        where = path.relative_to(ROOT).as_posix()
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = OF_ONE_PARTITION.search(text)
            if match and not any(where.startswith(start) and form.search(text) for start, form in ALLOWED):
                wrong.append(f"{where}:{number}: {text.strip()[:160]}")
    assert wrong == []
