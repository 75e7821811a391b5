"""An audit from its plan to its end, with fakes for AWS. `run` replaces the steps of Step Functions."""

import io
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Barrier, Lock

import pytest
from jsonschema import Draft202012Validator

from slackwater.app.audit import audits
from slackwater.app.audit import publish as audit_publish
from slackwater.app.audit.audits import Audits
from slackwater.app.audit.document_file import ScanFile
from slackwater.app.audit.limits import AuditLimits
from slackwater.app.audit.plan import NoPlanError, Planner, batches_of
from slackwater.app.audit.publish import NoAuditError, Publisher
from slackwater.app.audit.request import AuditRequestError, request_of
from slackwater.app.audit.scan_target import TO_BEGIN_S, NoSnapshotError, Scanner
from slackwater.app.audit.step_error import error_text
from slackwater.app.audit.target_documents import put_error
from slackwater.app.findings.findings import NotFoundError
from slackwater.app.policy.file import PolicyError
from slackwater.app.policy.stored import Policies
from slackwater.app.telemetry import LOGGER
from slackwater.aws.inventory.snapshot import discard_left_behind
from slackwater.engine.registry import registry
from slackwater.model import object_keys
from slackwater.model.audits import AuditRecord, AuditRequest, ScanTask
from slackwater.model.cleanup import Cleanup, Observed
from slackwater.model.findings import CEILING, REGION_DISABLED, Finding, Gap, Recommendation, Scan, TargetScan, Usage
from slackwater.model.identity import Identity
from slackwater.model.listing import Page
from slackwater.model.organization import Account, SelectedAccounts
from slackwater.model.policy import OrganizationSection
from slackwater.model.policy_version import DEFAULTS
from slackwater.model.resources import Target, Volume
from slackwater.model.tracking import Decision, LedgerEntry, TrackedFinding, TrackedResource, Write
from slackwater.model.verdicts import Advice, Evidence
from slackwater.ports.errors import AccessDeniedError
from slackwater.ports.executions import ExecutionState
from slackwater.ports.store import Version
from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan.document import ScanDocument
from slackwater.views.scan.to_json import rfc3339
from support.audit_places import Places, limits
from support.slack_world import KeptCleanups

NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
ACCOUNT = "123456789012"
TOKYO, OHIO, DUBLIN = (Target(ACCOUNT, region) for region in ("ap-northeast-1", "us-east-2", "eu-west-1"))
WEEKLY = AuditRequest(requested_by="schedule", occasion="weekly/2026-11-16T09:00:00Z")
ORGANIZATION = (
    Account(id=ACCOUNT, name="Audits", organizational_unit="Root/Platform"),
    Account(id="210987654321", name="Shop", organizational_unit="Root/Production"),
    Account(id="321098765432", name="Films", organizational_unit="Root/Production/Media"),
)
LISTED = "organizations:ListAccountsForParent"
OF_ROOT = '[organization]\norganizational_units = ["r-ab12"]\n'
ANYBODY = AuditRequest(requested_by="arn:aws:iam::123456789012:user/ann")


class Killed(Exception):
    """Raised where the Lambda function is killed."""


@dataclass
class Bucket:
    """Documents in memory."""

    texts: dict[str, list[str]] = field(default_factory=dict)

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        texts = self.texts.get(key, [])
        number = len(texts) if version is None else int(version)
        return (texts[number - 1], str(number)) if 0 < number <= len(texts) else None

    def write(self, key: str, text: str) -> str:
        self.texts.setdefault(key, []).append(text)
        return str(len(self.texts[key]))

    def write_once(self, key: str, text: str) -> bool:
        if key in self.texts:
            return False
        self.write(key, text)
        return True

    def has(self, key: str) -> bool:
        return key in self.texts

    def write_file(self, key: str, file: Path) -> None:
        self.write(key, file.read_text("utf-8"))

    def read_file(self, key: str, file: Path) -> bool:
        if key not in self.texts:
            return False
        file.write_text(self.texts[key][-1], "utf-8")
        return True

    def versions(self, key: str) -> Iterator[Version]:
        for number, text in reversed(list(enumerate(self.texts.get(key, []), start=1))):
            yield Version(str(number), NOW, len(text))

    def link(self, key: str, for_seconds: int) -> str:
        return f"https://bucket/{key}?for={for_seconds}"


@dataclass
class Findings:
    """Findings in memory.

    After `writes_left` more writes, a write raises `Killed`. `rival` is called before each write.
    """

    kept: dict[str, TrackedFinding] = field(default_factory=dict)
    ledgers: dict[str, list[LedgerEntry]] = field(default_factory=dict)
    writes_left: int | None = None
    lose_answers: bool = False
    rival: Callable[[], None] = lambda: None
    one_at_a_time: Lock = field(default_factory=Lock)

    def get(self, id: str) -> TrackedFinding | None:
        return self.kept.get(id)

    def unresolved(self, account: str, region: str) -> Iterator[TrackedFinding]:
        for finding in list(self.kept.values()):
            resource = finding.sighting.resource
            if (resource.account, resource.region) == (account, region) and finding.status != "resolved":
                yield finding

    def write(self, write: Write) -> bool:
        with self.one_at_a_time:
            self.rival()
            if self.writes_left == 0:
                raise Killed
            if self.writes_left is not None:
                self.writes_left -= 1
            known = self.kept.get(write.finding.id)
            if (known.revision if known else 0) != write.expects:
                return False
            self.kept[write.finding.id] = write.finding
            if write.entry:
                self.ledgers.setdefault(write.finding.id, []).append(write.entry)
            return not self.lose_answers

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        yield from self.ledgers.get(id, [])


@dataclass
class Records(Places):
    """Audits in memory."""

    kept: dict[str, AuditRecord] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)

    def claim(self, occasion: str, audit_id: str) -> str:
        return self.claims.setdefault(occasion, audit_id)

    def begin(self, record: AuditRecord) -> bool:
        return self.kept.setdefault(record.id, record) is record

    def end(self, record: AuditRecord) -> bool:
        if self.kept[record.id].state != "running":
            return False
        self.kept[record.id] = record
        return True

    def get(self, id: str) -> AuditRecord | None:
        return self.kept.get(id)

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        newest = sorted(self.kept.values(), key=lambda record: record.started_at, reverse=True)
        start = int(cursor or 0)
        more = str(start + limit) if start + limit < len(newest) else None
        return Page(items=tuple(newest[start : start + limit]), cursor=more)


@dataclass
class KeptFile:
    """A fake inventory snapshot: its file contains the number of its chunks."""

    file: Path

    @property
    def parts(self) -> int:
        return int(self.file.read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass


@dataclass
class Seen:
    """An audit of one target, in `count` chunks."""

    scan: Callable[[], Scan]
    count: int
    opened: Callable[[Path], KeptFile]

    def open_snapshot(self, target: Target, file: Path) -> KeptFile:
        return self.opened(file)

    def snapshot(self, target: Target) -> KeptFile:
        file = Path(tempfile.mkdtemp()) / "stock.sqlite"
        file.write_text(str(self.count))
        return KeptFile(file)

    def parts(self, target: Target, now: datetime, snapshot: KeptFile, first: int) -> Iterator[Scan]:
        whole = self.scan()
        (seen,) = whole.targets
        for part in range(first, snapshot.parts + 1):
            some = replace(seen, findings=seen.findings[part - 1 :: snapshot.parts])
            yield replace(whole, targets=(some,), more=part < snapshot.parts)


@dataclass
class Service:
    """The deployed service. `fleet` has what a scan of each target finds: findings, a gap or an exception."""

    fleet: dict[Target, list[Finding] | Gap | Exception] = field(
        default_factory=lambda: {TOKYO: [], OHIO: [], DUBLIN: []}
    )
    bucket: Bucket = field(default_factory=Bucket)
    findings: Findings = field(default_factory=Findings)
    records: Records = field(default_factory=Records)
    cleanups: KeptCleanups = field(default_factory=KeptCleanups)
    started: list[tuple[str, AuditRequest]] = field(default_factory=list)
    states: dict[str, ExecutionState] = field(default_factory=dict)
    """The state of executions that are not running, by audit."""
    spent_usd: Decimal = Decimal(0)
    now: datetime = NOW
    optional: tuple[Gap, ...] = ()
    partition: str = "aws"
    shut: tuple[str, ...] = ()
    """Accounts whose role cannot be assumed."""
    without_state: tuple[str, ...] = ()
    """Accounts for which AWS Organizations returns no state."""
    parts: int = 1
    """The number of chunks in which a target is scanned. Its findings are distributed over them."""
    left_s: float = 900.0
    turns: int = 0
    open_snapshot: Callable[[Path], KeptFile] = KeptFile
    render: Callable[[ScanFile], str] = lambda scan_file: f"<p>{scan_file.head()['totals']['findings']} findings"
    scans: list[tuple[str, datetime, tuple[str, ...]]] = field(default_factory=list)
    """The region, the time and the enabled detectors of each scan."""

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    @property
    def policies(self) -> Policies:
        return Policies(
            documents=self.bucket,
            registry=registry(),
            place="s3://bucket/policy/slackwater.toml",
            known_regions=lambda: ["ap-northeast-1", "eu-west-1", "us-east-2"],
            enabled_regions=lambda: [*(target.region for target in self.fleet), "mx-central-1"][: len(self.fleet) + 1],
        )

    @property
    def planner(self) -> Planner:
        return Planner(
            policies=self.policies, documents=self.bucket, audits=self.records, clock=self.clock,
            identity=lambda: Identity(ACCOUNT, f"arn:aws:sts::{ACCOUNT}:assumed-role/plan/plan", self.partition),
            accounts=self.named, regions=self.enabled_in, home="ap-northeast-1", limits=lambda _: self.limits,
        )  # fmt: skip

    def named(self, section: OrganizationSection) -> SelectedAccounts:
        """Return the accounts of the organization, and a note that one suspended account is left out."""
        return SelectedAccounts(
            accounts=tuple(one for one in ORGANIZATION if one.id not in section.except_accounts),
            gaps=tuple(Gap(number, "ap-northeast-1", LISTED, "no State") for number in self.without_state),
            left_out=("1 account left out: SUSPENDED in AWS Organizations",),
        )

    def enabled_in(self, _: Identity, account: str) -> list[str]:
        if account in self.shut:
            raise AccessDeniedError(f"account {account}: role SlackwaterMember may not be assumed")
        return sorted({target.region for target in self.fleet if target.account == account})

    @property
    def publisher(self) -> Publisher:
        return Publisher(
            documents=self.bucket, audits=self.records, findings=self.findings, cleanups=self.cleanups,
            render=self.render, clock=self.clock,
        )  # fmt: skip

    @property
    def audits(self) -> Audits:
        return Audits(
            audits=self.records, documents=self.bucket, starter=self, registry=registry, clock=self.clock,
            policy=self.policies.current, limits=self.limits,
        )  # fmt: skip

    @property
    def limits(self) -> AuditLimits:
        return limits(self.records, self.clock, lambda id_: self.states.get(id_, "running"), lambda _: self.spent_usd)

    def start(self, audit_id: str, request: AuditRequest) -> None:
        self.started.append((audit_id, request))

    @property
    def scanner(self) -> Scanner:
        def of_policy(policy, plan, target):
            return nullcontext(Seen(lambda: self.seen(target, policy, plan.now), self.parts, self.open_snapshot))

        return Scanner(
            documents=self.bucket, policies=self.policies, audit=of_policy, clock=self.clock,
        )  # fmt: skip

    def scan(self, audit_id: str, target: Target, part: int = 1) -> None:
        try:
            while part:
                part = self.scanner.scan(audit_id, target, part, lambda: self.left_s).next_part
                self.turns += 1
        except Killed as error:
            cause = json.dumps({"errorMessage": f"killed {error}"})
            put_error(self.bucket, audit_id, target, {"Error": "Sandbox.Timedout", "Cause": cause})

    def seen(self, target: Target, policy, now: datetime) -> Scan:
        self.scans.append((target.region, now, tuple(policy.limits)))
        there = self.fleet.get(target, [])
        if isinstance(there, Exception):
            raise there
        part = TargetScan(
            target=target, findings=() if isinstance(there, Gap) else tuple(there), unknown=(),
            gaps=(*self.optional, *((there,) if isinstance(there, Gap) else ())), resources={"ebs-volume": 3},
        )  # fmt: skip
        usage = Usage(
            api_calls={"ec2:DescribeVolumes": 2}, metrics_requested=1_000, datapoints=9, estimated_usd=Decimal("0.01")
        )
        return Scan(
            id="of its own", as_of=now, started_at=self.clock(), finished_at=self.clock(), targets=(part,), gaps=(),
            usage=usage, detectors=tuple(policy.limits), policy=policy.version,
        )  # fmt: skip

    def scanned(self, audit_id: str, request: AuditRequest = ANYBODY) -> None:
        """Plan and scan an audit, as the state machine does up to the end of the Map."""
        self.planner.plan(audit_id, request)
        for one in json.loads(self.bucket.texts[object_keys.targets(audit_id)][-1]):
            self.scan(audit_id, Target(**one))

    def run(self, audit_id: str, request: AuditRequest = ANYBODY) -> AuditRecord:
        self.scanned(audit_id, request)
        return self.publisher.publish(audit_id)

    def document(self, audit_id: str):
        return json.loads(self.bucket.texts[object_keys.scan(audit_id)][-1])


def found(id: str, target: Target = TOKYO, usd: str = "10", fingerprint: str = "as it was") -> Finding:
    volume = Volume(
        id=id, arn=f"arn:aws:ec2:{target.region}:{target.account}:volume/{id}", target=target, tags={},
        volume_type="gp3", size_gib=100, iops=3000, throughput_mib_s=125, state="available", created_at=NOW,
        availability_zone=f"{target.region}a", multi_attach=False,
    )  # fmt: skip
    advice = Advice(action="delete", summary="Delete it.", changes=None, risk="It is gone.", reversible=False)
    return Finding(
        id=f"f-{id}", detector="ebs-unattached", kind="waste", severity="medium", confidence="high", resource=volume,
        owner=None, summary=f"{id} is on no instance", evidence=(Evidence(label="Size", value=100, unit="GiB"),),
        price_basis=(), caveats=(), recommendations=(Recommendation(advice=advice, monthly_savings_usd=Decimal(usd)),),
        fingerprint=fingerprint,
    )  # fmt: skip


THREE = [found("vol-1"), found("vol-2"), found("vol-3")]


@pytest.fixture
def service() -> Service:
    return Service()


# Planning


def test_everything_that_the_scans_have_in_common_is_fixed_in_the_plan(service) -> None:
    service.bucket.write(object_keys.POLICY, "[scan]\nregions = ['eu-west-1']\n[detectors.efs-idle]\nenabled = false\n")
    plan = service.planner.plan("a1", WEEKLY)

    assert plan.now == datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
    assert plan.targets == (DUBLIN,)
    assert set(plan.detectors) == set(registry()) - {"efs-idle", "efs-abandoned"}  # efs-abandoned needs a tag of jobs
    assert plan.policy.version == "1"
    assert service.records.kept["a1"].state == "running"
    assert service.planner.plan("a1", WEEKLY) == plan
    assert len(service.bucket.texts[object_keys.plan("a1")]) == 1


def test_all_scans_judge_as_of_the_same_time_with_the_planned_detectors(service) -> None:
    plan = service.planner.plan("a1", replace(ANYBODY, detectors=("efs-idle",)))
    service.now += timedelta(minutes=20)
    for target in plan.targets:
        service.scan("a1", target)

    assert service.scans == [(target.region, plan.now, ("efs-idle",)) for target in plan.targets]


def test_targets_are_in_the_callers_partition(service) -> None:
    service.partition = "aws-cn"

    assert {target.partition for target in service.planner.plan("a1", ANYBODY).targets} == {"aws-cn"}


def test_an_audit_that_has_ended_is_not_planned_again_however_late_its_id_comes(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    service.now += timedelta(days=100)

    assert service.planner.plan("a1", ANYBODY) is None


def test_of_two_plans_at_once_the_first_holds_for_both(service, monkeypatch) -> None:
    late, first = service.planner, []

    def faster(request, valid) -> None:
        monkeypatch.undo()
        first.append(service.planner.plan("a1", ANYBODY))
        service.now += timedelta(hours=1)

    monkeypatch.setattr("slackwater.app.audit.plan.check_detectors", faster)

    assert late.plan("a1", ANYBODY) == first[0]
    assert len(service.bucket.texts[object_keys.plan("a1")]) == 1


def test_a_record_names_some_of_many_incomplete_targets_each_with_its_first_reason(service, monkeypatch) -> None:
    monkeypatch.setattr("slackwater.app.audit.publish.TARGETS_NAMED", 2)
    denied = Gap(ACCOUNT, "ap-northeast-1", "ec2:DescribeVolumes", "denied")
    service.optional = (replace(denied, what="fsx:DescribeVolumes"), replace(denied, what="a:First", optional=True))
    service.fleet = {TOKYO: denied, OHIO: Killed(""), DUBLIN: Killed("")}
    outcome = service.run("a1", replace(ANYBODY, regions=tuple(target.region for target in service.fleet))).outcome

    assert outcome.incomplete_targets == 3
    assert [one.why for one in outcome.incomplete][:1] == ["ec2:DescribeVolumes: denied"]
    assert len(outcome.incomplete) == 2


@pytest.mark.parametrize(
    ("request_", "policy", "regions"),
    [
        (ANYBODY, None, ["ap-northeast-1", "us-east-2", "eu-west-1", "mx-central-1"]),
        (ANYBODY, "[scan]\nregions = ['us-east-2', 'us-east-2']", ["us-east-2"]),
        (replace(ANYBODY, regions=("eu-west-1",)), "[scan]\nregions = ['us-east-2']", ["eu-west-1"]),
        (replace(ANYBODY, regions=("mx-central-1",)), None, ["mx-central-1"]),
    ],
)
def test_regions_are_the_requests_else_the_policys_else_all_that_are_enabled(
    service, request_, policy, regions
) -> None:
    if policy:
        service.bucket.write(object_keys.POLICY, policy)
    assert [target.region for target in service.planner.plan("a1", request_).targets] == regions


def test_a_request_names_detectors_that_the_policy_has_off(service) -> None:
    service.bucket.write(object_keys.POLICY, "[detectors.efs-idle]\nenabled = false\nquiet_days = 60\n")
    plan = service.planner.plan("a1", replace(ANYBODY, detectors=("efs-idle",)))
    policy = service.policies.at(plan.policy, plan.detectors)

    assert plan.detectors == ("efs-idle",)
    assert policy.limits["efs-idle"].quiet_days == 60


def test_a_turn_of_a_schedule_that_is_delivered_twice_is_one_audit(service) -> None:
    assert service.planner.plan("a1", WEEKLY) is not None
    assert service.planner.plan("a2", WEEKLY) is None
    assert service.planner.plan("a1", WEEKLY) is not None
    assert set(service.records.kept) == {"a1"}
    assert object_keys.plan("a2") not in service.bucket.texts


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (replace(ANYBODY, detectors=("efs-idel",)), "no detector 'efs-idel'; did you mean efs-idle?"),
        (replace(ANYBODY, regions=("eu-wst-1",)), "no region 'eu-wst-1'; did you mean eu-west-1?"),
    ],
)
def test_a_misspelt_request_is_refused_by_name(service, request_, says) -> None:
    with pytest.raises(AuditRequestError, match=says.replace("?", r"\?")):
        service.planner.plan("a1", request_)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (
            "[scan]\n\nregions = ['eu-wst-1']\n",
            "s3://bucket/policy/slackwater.toml:3: scan.regions: no region 'eu-wst-1'",
        ),
        ("[detectors.efs-idel]\n", "s3://bucket/policy/slackwater.toml:1: detectors.efs-idel: no such detector"),
        ("[scan\n", "s3://bucket/policy/slackwater.toml:1: not valid TOML"),
    ],
)
def test_an_audit_by_a_policy_that_is_not_valid_does_not_begin_and_is_on_record_as_failed(
    service, policy, says
) -> None:
    service.bucket.write(object_keys.POLICY, policy)
    with pytest.raises(PolicyError) as caught:
        service.planner.plan("a1", WEEKLY)
    assert says in str(caught.value)
    assert service.records.kept == {}

    cause = json.dumps({"errorMessage": str(caught.value), "errorType": "PolicyError", "stackTrace": ["..."]})
    record = service.publisher.fail("a1", WEEKLY, {"Error": "PolicyError", "Cause": cause})

    assert (record.state, record.request) == ("failed", WEEKLY)
    assert record.error.startswith(f"PolicyError: {says}")
    assert "stackTrace" not in record.error
    assert service.records.kept["a1"] == record


# An organization


SHOP, FILMS = "210987654321", "321098765432"
SHOP_DUBLIN, FILMS_OHIO = Target(SHOP, "eu-west-1"), Target(FILMS, "us-east-2")


@pytest.fixture
def organization(service) -> Service:
    """Set up three accounts. The service's own account has two enabled regions, and each of the others has one."""
    service.fleet = {TOKYO: [], OHIO: [], SHOP_DUBLIN: [], FILMS_OHIO: []}
    service.bucket.write("policy/slackwater.toml", OF_ROOT)
    return service


def to_scan(service, audit_id: str) -> list[tuple[str, str]]:
    return [
        (one["account"], one["region"]) for one in json.loads(service.bucket.texts[object_keys.targets(audit_id)][-1])
    ]


def test_an_organizations_accounts_are_targets_in_the_regions_that_each_has_enabled(organization) -> None:
    plan = organization.planner.plan("a1", ANYBODY)

    assert plan.accounts == ORGANIZATION
    assert plan.targets == (TOKYO, OHIO, SHOP_DUBLIN, FILMS_OHIO)
    assert to_scan(organization, "a1") == [(one.account, one.region) for one in plan.targets]
    assert plan.own_account == ACCOUNT


def test_of_the_regions_that_are_wanted_an_account_has_those_that_it_has_enabled(organization) -> None:
    request = replace(ANYBODY, regions=("us-east-2", "eu-west-1"))

    assert organization.planner.plan("a1", request).targets == (OHIO, SHOP_DUBLIN, FILMS_OHIO)


def test_a_request_narrows_an_organization_down_to_accounts_that_it_has(organization) -> None:
    plan = organization.planner.plan("a1", replace(ANYBODY, accounts=(FILMS,)))

    assert (plan.targets, [one.name for one in plan.accounts]) == ((FILMS_OHIO,), ["Films"])
    with pytest.raises(AuditRequestError, match="no account '999999999999'"):
        organization.planner.plan("a2", replace(ANYBODY, accounts=("999999999999",)))


def test_without_an_organization_only_the_own_account_may_be_asked_for(service) -> None:
    assert service.planner.plan("a1", replace(ANYBODY, accounts=(ACCOUNT,))).targets[0].account == ACCOUNT
    with pytest.raises(AuditRequestError, match=f"no account '{SHOP}'"):
        service.planner.plan("a2", replace(ANYBODY, accounts=(SHOP,)))


def test_an_account_that_cannot_be_entered_is_one_gap_with_its_name_and_not_scanned(organization) -> None:
    organization.shut = (SHOP,)
    organization.fleet[FILMS_OHIO] = [found("vol-1", FILMS_OHIO)]

    record = organization.run("a1")

    assert (SHOP, "ap-northeast-1") not in to_scan(organization, "a1")
    assert (record.state, record.outcome.targets, record.outcome.findings) == ("incomplete", 4, 1)
    (missed,) = record.outcome.incomplete
    assert (missed.account, missed.region) == (SHOP, "ap-northeast-1")
    assert missed.why == f"sts:AssumeRole: account {SHOP}: role SlackwaterMember may not be assumed"
    assert organization.document("a1")["scan"]["accounts"][1] == {
        "id": SHOP, "name": "Shop", "organizational_unit": "Root/Production",
    }  # fmt: skip


def test_an_account_of_unknown_state_is_one_gap_and_is_not_entered(organization) -> None:
    organization.without_state = (SHOP,)
    organization.fleet[FILMS_OHIO] = [found("vol-1", FILMS_OHIO)]

    record = organization.run("a1")

    assert [account for account, _ in to_scan(organization, "a1")] == [ACCOUNT, ACCOUNT, FILMS]
    assert (record.state, record.outcome.targets, record.outcome.findings) == ("incomplete", 4, 1)
    (missed,) = record.outcome.incomplete
    assert (missed.account, missed.region, missed.why) == (SHOP, "ap-northeast-1", f"{LISTED}: no State")


def test_a_retry_enters_an_account_of_unknown_state(organization) -> None:
    organization.without_state = (SHOP,)
    organization.run("a1")

    again = organization.planner.plan("a2", replace(ANYBODY, retry_of="a1"))

    assert (again.targets, again.gaps) == ((SHOP_DUBLIN,), ())


def test_an_audit_no_account_of_which_can_be_entered_has_failed_and_says_why(organization) -> None:
    organization.shut = (ACCOUNT, SHOP, FILMS)

    record = organization.run("a1")

    assert to_scan(organization, "a1") == []
    assert record.state == "failed"
    assert (
        record.error
        == f"No target could be scanned: sts:AssumeRole: account {ACCOUNT}: role SlackwaterMember may not be assumed"
    )


def test_a_policy_that_names_no_account_is_reported(organization, monkeypatch) -> None:
    left_out = ("3 accounts left out: SUSPENDED in AWS Organizations",)
    monkeypatch.setattr(Service, "named", lambda *_: SelectedAccounts(accounts=(), left_out=left_out))

    with pytest.raises(AuditRequestError, match="names no account"):
        organization.planner.plan("a1", ANYBODY)


def test_a_retry_audits_just_what_was_not_seen_whole_with_the_same_detectors(organization) -> None:
    organization.shut = (SHOP,)
    organization.fleet[OHIO] = Gap(ACCOUNT, "us-east-2", "ec2:DescribeVolumes", "Denied")
    organization.fleet[FILMS_OHIO] = Killed("at once")
    request = replace(ANYBODY, detectors=("ebs-unattached",))
    organization.run("a1", request)

    organization.shut = ()
    organization.fleet |= {OHIO: [], FILMS_OHIO: []}
    again = organization.planner.plan("a2", replace(ANYBODY, retry_of="a1"))

    assert again.targets == (OHIO, FILMS_OHIO, SHOP_DUBLIN)
    assert [one.name for one in again.accounts] == ["Audits", "Shop", "Films"]
    assert again.detectors == ("ebs-unattached",)
    assert again.gaps == ()
    assert organization.run("a2", replace(ANYBODY, retry_of="a1")).state == "complete"


def test_there_is_nothing_to_retry_where_all_was_seen_or_nothing_ended(organization) -> None:
    organization.run("a1")
    organization.planner.plan("a2", ANYBODY)

    for id_, says in {"a1": "saw all", "a2": "not ended", "a3": "no audit 'a3'"}.items():
        with pytest.raises(AuditRequestError, match=says):
            organization.planner.plan("a4", replace(ANYBODY, retry_of=id_))


def test_an_audit_that_failed_while_it_was_merged_is_retried_whole_though_all_was_seen(organization) -> None:
    organization.fleet[TOKYO] = [found("vol-1")]
    organization.scanned("a1")
    organization.findings.writes_left = 0
    with pytest.raises(Killed):
        organization.publisher.publish("a1")
    organization.publisher.fail("a1", ANYBODY, {"Error": "Sandbox.Timedout"})

    assert len(organization.planner.plan("a2", replace(ANYBODY, retry_of="a1")).targets) == 4


def test_an_account_without_any_wanted_region_is_none_of_the_audits_and_without_any_there_is_none(organization) -> None:
    plan = organization.planner.plan("a1", replace(ANYBODY, regions=("us-east-2",)))

    assert (plan.targets, [one.name for one in plan.accounts]) == ((OHIO, FILMS_OHIO), ["Audits", "Films"])
    organization.fleet = {TOKYO: []}
    with pytest.raises(AuditRequestError, match="none of the accounts has enabled"):
        organization.planner.plan("a2", replace(ANYBODY, regions=("eu-west-1",)))


def test_an_audit_fails_if_all_its_regions_are_disabled(service) -> None:
    service.fleet = {TOKYO: []}
    service.optional = (
        Gap(ACCOUNT, "ap-northeast-1", REGION_DISABLED, "region closed by a service control policy", optional=True),
    )

    record = service.run("a1", replace(ANYBODY, regions=("ap-northeast-1",)))

    assert (record.state, record.error) == (
        "failed",
        "No target could be scanned: region closed by a service control policy",
    )


def test_of_very_many_new_findings_the_worst_have_their_evidence_and_all_have_their_advice(
    service, monkeypatch
) -> None:
    monkeypatch.setattr(audit_publish, "MOST_WITH_EVIDENCE", 2)
    service.fleet = {TOKYO: THREE}
    service.run("a1")

    stored = json.loads(service.bucket.texts[object_keys.changes("a1")][-1])
    assert [(bool(one["found"]["evidence"]), bool(one["found"]["recommendations"])) for one in stored] == [
        (True, True),
        (True, True),
        (False, True),
    ]


def test_an_audit_that_failed_before_its_end_is_retried_whole(organization) -> None:
    organization.scanned("a1")
    organization.publisher.fail("a1", ANYBODY, {"Error": "Sandbox.Timedout"})

    assert organization.planner.plan("a2", replace(ANYBODY, retry_of="a1")).targets == (
        TOKYO,
        OHIO,
        SHOP_DUBLIN,
        FILMS_OHIO,
    )


@pytest.mark.parametrize("left_s", [900.0, 61.0], ids=["in one go", "a function for each part"])
def test_a_target_in_parts_is_one_target_with_the_findings_of_all(service, left_s) -> None:
    service.fleet, service.parts, service.left_s = {TOKYO: THREE}, 3, left_s

    record = service.run("a1", replace(ANYBODY, regions=("ap-northeast-1",)))

    assert service.turns == (1 if left_s == 900 else 3)
    assert (record.state, record.outcome.targets, record.outcome.findings, record.outcome.opened) == (
        "complete",
        1,
        3,
        3,
    )
    assert service.document("a1")["scan"]["targets"] == [
        {"account": ACCOUNT, "region": "ap-northeast-1", "complete": True}
    ]
    assert "more" not in service.document("a1")["scan"]
    assert (object_keys.snapshot("a1", ACCOUNT, "ap-northeast-1") in service.bucket.texts) is (left_s < 900)


def test_a_part_that_is_missing_is_a_gap_and_what_was_not_seen_is_not_gone(service) -> None:
    service.fleet = {TOKYO: [found("vol-1"), found("vol-9")]}
    service.run("a1")
    service.now += timedelta(days=7)
    service.fleet, service.parts = {TOKYO: [found("vol-1"), found("vol-9"), found("vol-2")]}, 2
    service.scanned("a2")
    del service.bucket.texts[object_keys.target_scan("a2", ACCOUNT, "ap-northeast-1", 2)]
    put_error(service.bucket, "a2", TOKYO, {"Error": "Sandbox.Timedout", "Cause": '{"errorMessage": "killed"}'})

    record = service.publisher.publish("a2")

    assert (record.state, record.outcome.findings, record.outcome.opened, record.outcome.resolved) == (
        "incomplete",
        2,
        1,
        0,
    )
    assert record.outcome.incomplete[0].why == "lambda:Invoke: Sandbox.Timedout: killed"
    assert service.findings.get("f-vol-9").status == "open"


def test_parts_of_two_attempts_are_not_taken_for_one_target(service) -> None:
    """The first attempt scanned three chunks of four and died. The second used other chunks and died after one."""
    service.fleet, service.parts = {TOKYO: THREE}, 3
    service.scanned("a1")
    of_the_first = {key: list(texts) for key, texts in service.bucket.texts.items() if "/targets/" in key}
    last = object_keys.target_scan("a1", ACCOUNT, "ap-northeast-1", 3)
    end = json.loads(of_the_first[last][-1])
    service.bucket.write(last, json.dumps(end | {"scan": end["scan"] | {"more": True}}))
    service.fleet = {TOKYO: [*THREE[1:], THREE[0]]}
    service.scan("a1", TOKYO)
    for part in (2, 3):
        key = object_keys.target_scan("a1", ACCOUNT, "ap-northeast-1", part)
        service.bucket.texts[key] = of_the_first[key]

    record = service.publisher.publish("a1")

    assert (record.state, record.outcome.findings) == ("incomplete", 1)


def test_the_list_that_is_gone_on_with_is_discarded_where_the_function_was_killed(
    service, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    there = list[bool]()

    def open_snapshot(file: Path) -> KeptFile:
        kept, before = KeptFile(Path(shutil.copy(file, tmp_path / "kept"))), file.exists()
        discard_left_behind()
        there.extend((before, file.exists()))
        return kept

    service.fleet, service.parts, service.left_s, service.open_snapshot = {TOKYO: THREE}, 2, 61.0, open_snapshot
    service.scanned("a1", replace(ANYBODY, regions=("ap-northeast-1",)))

    assert there == [True, False]


def test_an_audit_that_was_not_started_cannot_be_continued(service) -> None:
    service.planner.plan("a1", ANYBODY)

    with pytest.raises(NoSnapshotError, match="nobody began"):
        service.scan("a1", TOKYO, part=2)
    service.scan("a1", TOKYO)
    with pytest.raises(NoSnapshotError, match="what 123456789012 holds in ap-northeast-1"):
        service.scan("a1", TOKYO, part=2)


# Scanning

THROTTLED = Gap("123456789012", "us-east-2", "ec2:DescribeVolumes", "Throttling")


def planned_batch(service: Service) -> tuple[ScanTask, ...]:
    """Return all targets of an audit as one batch."""
    service.planner.plan("a1", replace(ANYBODY, regions=("ap-northeast-1", "us-east-2", "eu-west-1")))
    return tuple(map(ScanTask, (TOKYO, OHIO, DUBLIN)))


def test_one_call_scans_the_targets_of_a_batch(service) -> None:
    service.fleet[OHIO] = [found("vol-1")]

    assert service.scanner.scan_batch("a1", planned_batch(service), lambda: 900) == ([], True)
    assert sorted(region for region, *_ in service.scans) == ["ap-northeast-1", "eu-west-1", "us-east-2"]
    record = service.publisher.publish("a1")
    assert (record.state, record.outcome.targets, record.outcome.findings) == ("complete", 3, 1)


def test_targets_of_a_batch_are_scanned_at_the_same_time(service) -> None:
    scanner, together = service.scanner, Barrier(3, timeout=10)

    def meets_the_others(*args):
        together.wait()  # a target that is scanned alone waits in vain, and would be left
        return scanner.audit(*args)

    batch = planned_batch(service)
    assert replace(scanner, audit=meets_the_others).scan_batch("a1", batch, lambda: 900) == ([], True)


def test_a_target_that_fails_costs_the_others_of_its_batch_nothing(service) -> None:
    service.fleet |= {TOKYO: MemoryError("too large"), OHIO: THROTTLED}

    rest, complete = service.scanner.scan_batch("a1", planned_batch(service), lambda: 900)

    assert (rest, complete) == ([ScanTask(TOKYO)], False)
    put_error(service.bucket, "a1", TOKYO, {"Error": "MemoryError", "Cause": "too large"})
    record = service.publisher.publish("a1")
    assert [(one.region, one.why) for one in record.outcome.incomplete] == [
        ("ap-northeast-1", "lambda:Invoke: MemoryError: too large"),
        ("us-east-2", f"{THROTTLED.what}: {THROTTLED.reason}"),
    ]


def test_a_repeated_batch_scans_nothing_again(service) -> None:
    batch = planned_batch(service)
    service.scanner.scan_batch("a1", batch, lambda: 900)

    assert service.scanner.scan_batch("a1", batch, lambda: 900) == ([], True)
    assert len(service.scans) == 3


def test_a_batch_begins_with_no_other_target_where_little_time_is_left(service) -> None:
    left_s = iter([TO_BEGIN_S, TO_BEGIN_S - 1])

    rest, _ = service.scanner.scan_batch("a1", planned_batch(service), lambda: next(left_s))

    [left] = rest
    scanned = {region for region, *_ in service.scans}
    assert "ap-northeast-1" in scanned, "the first target always begins"
    assert scanned == {"ap-northeast-1", "us-east-2", "eu-west-1"} - {left.target.region}


def test_a_large_target_of_a_batch_is_scanned_on_its_own(service) -> None:
    service.fleet[TOKYO], service.parts, service.left_s = THREE, 3, 61.0

    rest, _ = service.scanner.scan_batch("a1", planned_batch(service), lambda: 61.0)

    assert rest == [ScanTask(TOKYO, 2), ScanTask(OHIO), ScanTask(DUBLIN)]
    for task in rest:
        service.scan("a1", task.target, task.part)
    record = service.publisher.publish("a1")
    assert (record.state, record.outcome.targets, record.outcome.findings) == ("complete", 3, 3)


def test_a_target_whose_documents_are_stored_is_not_scanned_again(service) -> None:
    service.fleet, service.parts = {TOKYO: THREE}, 3
    service.planner.plan("a1", ANYBODY)
    service.scan("a1", TOKYO)
    service.scan("a1", TOKYO)
    assert len(service.scans) == 1

    del service.bucket.texts[object_keys.target_scan("a1", ACCOUNT, "ap-northeast-1", 3)]
    service.scan("a1", TOKYO)
    assert len(service.scans) == 2


@pytest.mark.parametrize(("targets", "sizes"), [(1, {1}), (199, {1}), (200, {2}), (1_999, {18, 19}), (17_000, {20})])
def test_batches_are_small_where_there_are_few_targets(targets: int, sizes: set[int]) -> None:
    all_ = [Target(f"{number:012}", "eu-west-1") for number in range(targets)]
    batches = batches_of(all_)

    assert {len(batch.todo) for batch in batches} == sizes
    assert len(batches) == -(-targets // max(sizes))
    assert Counter(task for batch in batches for task in batch.todo) == Counter(map(ScanTask, all_))


def test_regions_of_an_account_are_in_different_batches() -> None:
    """Targets that a batch has no time for are scanned one at a time, so a large account would delay itself."""
    targets = [Target(f"{number:012}", region) for number in range(120) for region in ("eu-west-1", "us-east-1")]
    for batch in batches_of(targets):
        accounts = [task.target.account for task in batch.todo]
        assert len(accounts) == len({*accounts})


def test_what_the_distributed_map_reads_is_what_is_to_be_scanned(service) -> None:
    service.planner.plan("a1", ANYBODY)

    (text,) = service.bucket.texts[object_keys.batches("a1")]
    assert json.loads(text)[0] == {
        "todo": [{"target": {"account": ACCOUNT, "region": "ap-northeast-1", "partition": "aws"}, "part": 1}]
    }


def test_a_scan_uses_the_policy_of_its_plan_even_if_another_was_pushed(service) -> None:
    service.bucket.write(object_keys.POLICY, "[detectors.ebs-unattached]\nunattached_days = 9\n")
    (tokyo, *_) = service.planner.plan("a1", ANYBODY).targets
    service.policies.push("[detectors.ebs-unattached]\nunattached_days = 30\n", "slackwater.toml")
    service.scan("a1", tokyo)
    head = json.loads(service.bucket.texts[object_keys.target_scan("a1", ACCOUNT, "ap-northeast-1")][0])["scan"]

    assert head["id"] == "a1"
    assert head["policy"]["version"] == "1"
    assert service.policies.current().version.version == "2"


@pytest.mark.parametrize("change", ["gone", "rewritten"])
def test_a_policy_that_is_not_as_it_was_stops_the_scan(service, change) -> None:
    service.bucket.write(object_keys.POLICY, "[detectors.efs-idle]\nquiet_days = 60\n")
    service.planner.plan("a1", ANYBODY)
    service.bucket.texts[object_keys.POLICY] = [] if change == "gone" else ["[detectors.efs-idle]\nquiet_days = 61\n"]

    with pytest.raises(PolicyError, match="version 1 no longer exists, or has changed"):
        service.scan("a1", TOKYO)


def test_nobody_scans_or_ends_what_was_not_planned(service) -> None:
    with pytest.raises(NoPlanError):
        service.scan("a1", TOKYO)
    with pytest.raises(NoAuditError):
        service.publisher.publish("a1")


# Publishing


def test_one_document_has_the_whole_audit(service) -> None:
    service.fleet = {TOKYO: [found("vol-1", usd="3")], OHIO: [found("vol-2", OHIO, usd="7")]}
    record = service.run("a1", replace(ANYBODY, regions=("ap-northeast-1", "us-east-2")))
    document = service.document("a1")

    Draft202012Validator(scan_json.schema()).validate(document)
    assert [finding["resource"]["id"] for finding in document["findings"]] == ["vol-2", "vol-1"]
    assert document["scan"]["usage"]["api_calls"] == {"ec2:DescribeVolumes": 4}
    assert document["totals"]["monthly_savings_usd"] == "10.00"
    assert {scan_json.rfc3339(now) for _, now, _ in service.scans} == {document["scan"]["as_of"]}
    assert record.state == "complete"
    assert (record.outcome.opened, record.outcome.findings, record.outcome.monthly_savings_usd) == (
        2,
        2,
        Decimal("10.00"),
    )
    assert (record.outcome.metrics_requested, record.outcome.estimated_usd) == (2_000, Decimal("0.02"))
    assert record.finished_at > record.started_at
    assert {finding.audit_id for finding in service.findings.kept.values()} == {"a1"}


def test_one_target_that_failed_does_not_spoil_the_rest_and_nothing_of_it_is_resolved(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")], OHIO: [found("vol-2", OHIO)], DUBLIN: [found("vol-3", DUBLIN)]}
    three = replace(ANYBODY, regions=tuple(target.region for target in service.fleet))
    service.run("a1", three)
    service.fleet = {TOKYO: [], OHIO: Killed("in Ohio"), DUBLIN: [found("vol-3", DUBLIN, fingerprint="another")]}
    service.now += timedelta(days=1)
    record = service.run("a2", three)

    assert record.state == "incomplete"
    assert [(one.region, one.why) for one in record.outcome.incomplete] == [
        ("us-east-2", "lambda:Invoke: Sandbox.Timedout: killed in Ohio")
    ]
    assert (record.outcome.targets, record.outcome.incomplete_targets, record.outcome.gaps) == (3, 1, 1)
    assert (record.outcome.opened, record.outcome.changed, record.outcome.resolved) == (0, 1, 1)
    assert {id_: one.status for id_, one in service.findings.kept.items()} == {
        "f-vol-1": "resolved", "f-vol-2": "open", "f-vol-3": "open",
    }  # fmt: skip
    document = service.document("a2")
    Draft202012Validator(scan_json.schema()).validate(document)
    assert [target["complete"] for target in document["scan"]["targets"]] == [True, False, True]


def test_a_gap_in_a_target_leaves_what_is_not_seen_there_as_it_was(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    here = replace(ANYBODY, regions=("ap-northeast-1",))
    service.run("a1", here)
    service.fleet = {TOKYO: Gap(ACCOUNT, "ap-northeast-1", "ec2:DescribeVolumes", "UnauthorizedOperation")}
    service.optional = (Gap(ACCOUNT, "ap-northeast-1", "cloudtrail:LookupEvents", "AccessDenied", optional=True),)
    record = service.run("a2", here)

    assert (record.state, record.outcome.incomplete[0].why) == (
        "incomplete",
        "ec2:DescribeVolumes: UnauthorizedOperation",
    )
    assert service.findings.kept["f-vol-1"].status == "open"


def test_the_first_failed_call_of_a_target_is_reported_before_metrics_over_the_limit(service) -> None:
    held = Gap(ACCOUNT, "ap-northeast-1", "cloudwatch:GetMetricData", f"{CEILING}: 25 of 25 USD were spent (7 times)")
    here = replace(ANYBODY, regions=("ap-northeast-1",))
    service.fleet = {TOKYO: held}
    assert service.run("a1", here).outcome.incomplete[0].why == f"{held.what}: {held.reason}"
    service.optional = tuple(
        replace(held, what=f"ec2:Describe{what}", reason="Denied") for what in ("Volumes", "Instances")
    )

    assert service.run("a2", here).outcome.incomplete[0].why == "ec2:DescribeInstances: Denied"


@pytest.mark.parametrize("text", [None, "{", "[]", '{"schema": "slackwater.scan/1"}'])
def test_a_document_that_is_missing_or_broken_is_a_gap_with_a_name(service, text) -> None:
    service.fleet = {TOKYO: [found("vol-1")], OHIO: [found("vol-2", OHIO)]}
    service.scanned("a1", replace(ANYBODY, regions=("ap-northeast-1", "us-east-2")))
    key = object_keys.target_scan("a1", ACCOUNT, "us-east-2")
    service.bucket.texts[key] = [] if text is None else [text]
    record = service.publisher.publish("a1")

    assert record.state == "incomplete"
    assert record.outcome.incomplete[0].why.startswith("s3:GetObject: ")
    assert key in record.outcome.incomplete[0].why
    assert set(service.findings.kept) == {"f-vol-1"}


def test_an_audit_that_could_scan_nothing_has_failed(service) -> None:
    service.fleet = dict.fromkeys(service.fleet, Killed("everywhere"))
    record = service.run("a1", replace(ANYBODY, regions=("ap-northeast-1", "us-east-2")))

    assert (record.state, record.outcome) == ("failed", None)
    assert record.error == "No target could be scanned: lambda:Invoke: Sandbox.Timedout: killed everywhere"
    assert not service.document("a1")["scan"]["complete"]
    assert service.document("a1")["scan"]["as_of"]


def test_an_audit_without_a_region_that_answers_is_reported_even_if_results_are_missing(service) -> None:
    service.planner.plan("a1", ANYBODY)

    assert service.publisher.publish("a1").state == "failed"


# Crashes and writes_left


def before(service: Service) -> None:
    """Run a first audit, then change the fleet and advance the clock by a week."""
    service.fleet = {
        TOKYO: [found("vol-1"), found("vol-2"), found("vol-3")],
        OHIO: [found("vol-4", OHIO), found("vol-5", OHIO)],
    }
    service.run("a1")
    service.fleet = {
        TOKYO: [found("vol-1"), found("vol-2", fingerprint="another"), found("vol-6")],
        OHIO: [found("vol-5", OHIO, usd="11"), found("vol-7", OHIO)],
    }
    service.now += timedelta(days=7)


def state(service: Service, audit_id: str):
    record = service.records.kept[audit_id]
    changes = service.bucket.texts[object_keys.changes(audit_id)][-1]
    return (
        service.findings.kept,
        service.findings.ledgers,
        record.state,
        record.outcome,
        changes,
        service.document(audit_id),
    )


@pytest.fixture(scope="module")
def undisturbed():
    service = Service()
    before(service)
    service.run("a2")
    return state(service, "a2")


def test_what_the_undisturbed_audit_comes_to(undisturbed) -> None:
    findings, _, ended, outcome, changes, _ = undisturbed
    assert [
        (one["entry"]["evidence"]["id"], one["entry"]["revision"], one["kind"], one["found"] and one["found"]["id"])
        for one in json.loads(changes)
    ] == [
        ("f-vol-2", 2, "changed", "f-vol-2"),
        ("f-vol-6", 1, "new", "f-vol-6"),
        ("f-vol-7", 1, "new", "f-vol-7"),
        ("f-vol-3", 2, "gone", None),
        ("f-vol-4", 2, "gone", None),
    ]
    assert (ended, outcome.opened, outcome.changed, outcome.resolved) == ("complete", 2, 1, 2)
    assert {id_ for id_, one in findings.items() if one.status == "resolved"} == {"f-vol-3", "f-vol-4"}


@pytest.mark.parametrize("writes", range(7))
def test_a_publish_that_dies_after_any_write_and_runs_again_comes_to_the_same(service, undisturbed, writes) -> None:
    before(service)
    service.scanned("a2")
    for writes_left in (writes, min(1, writes)):  # it dies once more, a little later
        service.findings.writes_left = writes_left
        if writes < 6:
            with pytest.raises(Killed):
                service.publisher.publish("a2")
            assert service.records.kept["a2"].state == "running"
    service.findings.writes_left = None
    service.publisher.publish("a2")

    kept, ledgers, ended, outcome, changes, document = state(service, "a2")
    assert (kept, ledgers, ended, outcome, changes) == undisturbed[:5]
    assert document["findings"] == undisturbed[5]["findings"]
    assert all([entry.revision for entry in ledger] == [*range(1, len(ledger) + 1)] for ledger in ledgers.values())


@pytest.mark.parametrize(
    "key", [key("a2") for key in (object_keys.scan, object_keys.known, object_keys.changes, object_keys.report)]
)
def test_a_publish_that_dies_at_a_document_and_runs_again_comes_to_the_same(
    service, undisturbed, key, monkeypatch
) -> None:
    before(service)
    service.scanned("a2")

    def dies(at: str, text: str) -> str:
        if at == key:
            raise Killed
        return Bucket.write(service.bucket, at, text)

    service.bucket.write = dies
    with pytest.raises(Killed):
        service.publisher.publish("a2")
    del service.bucket.write
    service.publisher.publish("a2")

    assert state(service, "a2")[:5] == undisturbed[:5]


def test_an_audit_ends_with_its_changes_already_there(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.scanned("a1")
    service.records.end = None
    with pytest.raises(TypeError):
        service.publisher.publish("a1")

    assert [one["kind"] for one in json.loads(service.bucket.texts[object_keys.changes("a1")][0])] == ["new"]


class OutOfMemory(BaseException):
    """An error that no handler catches."""


def test_a_publish_that_is_killed_at_its_report_fails_nothing_and_the_next_try_makes_it(service) -> None:
    def killed(_: ScanDocument) -> str:
        raise OutOfMemory

    renders, service.render = service.render, killed
    service.fleet = {TOKYO: [found("vol-1")]}
    service.scanned("a1")
    for _ in range(3):
        with pytest.raises(OutOfMemory):
            service.publisher.publish("a1")
    ended = service.records.kept["a1"]
    assert ended.state == "complete"
    assert service.publisher.fail("a1", ANYBODY, {"Error": "Lambda.Unknown"}) == ended

    service.render = renders
    assert service.publisher.publish("a1") == ended
    assert service.publisher.publish("a1") == ended
    assert service.bucket.texts[object_keys.report("a1")] == ["<p>1 findings"]
    assert len(service.bucket.texts[object_keys.changes("a1")]) == 1


def test_an_audit_that_failed_before_there_was_anything_to_see_has_no_report_however_often_it_is_asked_for(
    service,
) -> None:
    service.scanned("a1")
    failed = service.publisher.fail("a1", ANYBODY, {"Error": "Lambda.Unknown"})

    assert service.publisher.publish("a1") == failed
    assert object_keys.report("a1") not in service.bucket.texts


@pytest.mark.parametrize("writes", range(1, 6))
def test_what_a_failed_audit_had_merged_are_its_changes(service, writes) -> None:
    before(service)
    service.scanned("a2")
    service.findings.writes_left = writes
    with pytest.raises(Killed):
        service.publisher.publish("a2")
    service.findings.writes_left = None
    assert service.publisher.fail("a2", ANYBODY, {"Error": "Sandbox.Timedout"}).state == "failed"

    ledgers = [entry for ledger in service.findings.ledgers.values() for entry in ledger if entry.audit_id == "a2"]
    changes = json.loads(service.bucket.texts[object_keys.changes("a2")][0])
    assert sorted(
        (one["entry"]["evidence"]["id"], one["entry"]["revision"], one["found"]) for one in changes
    ) == sorted((entry.evidence.id, entry.revision, None) for entry in ledgers)
    assert ledgers or writes == 1  # the first write may be of an unchanged finding


def test_a_failed_audit_keeps_the_changes_it_stored_and_has_none_if_it_merged_nothing(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.scanned("a1")
    service.records.end = None
    with pytest.raises(TypeError):
        service.publisher.publish("a1")
    del service.records.end
    service.findings.ledgers.clear()
    service.publisher.fail("a1", ANYBODY, {"Error": "Sandbox.Timedout"})
    service.scanned("a2")
    service.publisher.fail("a2", ANYBODY, {"Error": "Sandbox.Timedout"})

    (changes,) = service.bucket.texts[object_keys.changes("a1")]
    assert len(json.loads(changes)) == 1
    assert object_keys.changes("a2") not in service.bucket.texts
    assert {one.state for one in service.records.kept.values()} == {"failed"}


def test_an_audit_whose_ledgers_cannot_be_read_is_put_on_record_as_failed_all_the_same(service, monkeypatch) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.scanned("a1")
    service.findings.writes_left = 0
    with pytest.raises(Killed):
        service.publisher.publish("a1")
    service.findings.ledger = None

    assert service.publisher.fail("a1", ANYBODY, {"Error": "Sandbox.Timedout"}).state == "failed"
    assert service.records.kept["a1"].state == "failed"


def test_an_audit_whose_report_cannot_be_made_is_good_without_it_and_the_log_and_a_metric_say_why(
    service, monkeypatch, capsys
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(LOGGER.registered_handler, "stream", log)

    def breaks(_: ScanDocument) -> str:
        raise ZeroDivisionError("no finding to divide by")

    service.render = breaks
    service.fleet = {TOKYO: [found("vol-1")]}

    assert service.run("a1").state == "complete"
    assert object_keys.report("a1") not in service.bucket.texts
    (error_text,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (error_text["level"], error_text["audit_id"]) == ("ERROR", "a1")
    assert "in breaks" in error_text["exception"]
    assert json.loads(capsys.readouterr().out)["ReportsFailed"] == [1.0]


def cleaned(service: Service, *ids: str, days_ago: float = 1, **changes: object) -> None:
    """Store clean-ups of these volumes that ended before."""
    for id_ in ids:
        resource = TrackedResource(
            arn=f"arn:aws:ec2:{TOKYO.region}:{ACCOUNT}:volume/{id_}", id=id_, type="ebs-volume", name=id_,
            account=ACCOUNT, region=TOKYO.region,
        )  # fmt: skip
        done = Cleanup(
            finding_id=f"f-{id_}", attempt=1, execution=f"f-{id_}-1", detector="ebs-unattached", resource=resource,
            owner=None, fingerprint="a", setting=None, requested_by="ada", started_at=NOW - timedelta(days=30),
            promised_monthly_usd=Decimal(10), stage="done", ended_at=NOW - timedelta(days=days_ago), revision=1,
        )  # fmt: skip
        service.cleanups.cleanups[done.finding_id] = replace(done, **changes)  # type: ignore[arg-type]


def left(service: Service) -> dict[str, Decimal | None]:
    """Return the remaining monthly cost of each finding that an audit observed after its clean-up, in USD."""
    return {
        id_: one.observed.left_monthly_usd for id_, one in service.cleanups.cleanups.items() if one.observed is not None
    }


def test_what_is_left_of_what_was_cleaned_up_is_observed_by_the_audits_after_it(service) -> None:
    cleaned(service, "vol-1", "vol-2", "vol-3")
    service.fleet[TOKYO] = [found("vol-2", usd="4.50")]
    record = service.run("a1")

    assert left(service) == {"f-vol-1": Decimal(0), "f-vol-2": Decimal("4.50"), "f-vol-3": Decimal(0)}
    seen = service.cleanups.cleanups["f-vol-1"].observed
    assert seen == Observed(audit_id="a1", at=datetime(2026, 11, 16, 9, 7, tzinfo=UTC), left_monthly_usd=Decimal(0))
    assert record.state == "complete"
    service.now += timedelta(days=7)
    service.fleet[TOKYO] = []
    service.run("a2")
    assert set(left(service).values()) == {Decimal(0)}
    assert {one.observed.audit_id for one in service.cleanups.cleanups.values() if one.observed} == {"a2"}


def test_an_audit_that_did_not_see_a_target_whole_observes_nothing_there(service) -> None:
    cleaned(service, "vol-1")
    service.fleet[TOKYO] = Gap(ACCOUNT, TOKYO.region, "ec2:DescribeVolumes", "denied")

    assert service.run("a1").state == "incomplete"
    assert left(service) == {}


def test_an_audit_that_is_published_again_observes_once(service) -> None:
    cleaned(service, "vol-1")
    service.scanned("a1")
    service.publisher.publish("a1")
    service.publisher.publish("a1")

    assert service.cleanups.writes == 1


def test_a_clean_up_that_is_being_undone_meanwhile_is_left_alone(service) -> None:
    cleaned(service, "vol-1")
    listed = service.cleanups.list

    def behind(limit: int, cursor: str | None) -> Page[Cleanup]:
        page = listed(limit, cursor)
        undoing = replace(service.cleanups.cleanups["f-vol-1"], stage="undoing", revision=2)
        service.cleanups.cleanups["f-vol-1"] = undoing
        return page

    service.cleanups.list = behind  # type: ignore[method-assign]
    service.run("a1")

    assert service.cleanups.cleanups["f-vol-1"].stage == "undoing"
    assert left(service) == {}


def test_savings_that_cannot_be_observed_fail_no_audit_and_the_log_says_so(service, monkeypatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(LOGGER.registered_handler, "stream", log)
    cleaned(service, "vol-1")
    service.cleanups.broken = Killed("the table is busy")
    record = service.run("a1")

    assert record.state == "complete"
    assert object_keys.report("a1") in service.bucket.texts
    (error_text,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (error_text["level"], error_text["message"], error_text["audit_id"]) == (
        "ERROR",
        "savings not observed",
        "a1",
    )


def test_a_report_that_cannot_be_stored_fails_the_try_but_not_the_audit(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.scanned("a1")

    def refuses(key: str, text: str) -> str:
        if key == object_keys.report("a1"):
            raise Killed
        return Bucket.write(service.bucket, key, text)

    service.bucket.write = refuses
    with pytest.raises(Killed):
        service.publisher.publish("a1")
    assert service.records.kept["a1"].state == "complete"


def test_a_publish_that_dies_at_the_very_end_and_runs_again_comes_to_the_same(service, undisturbed) -> None:
    before(service)
    service.scanned("a2")
    service.records.end = None
    with pytest.raises(TypeError):
        service.publisher.publish("a2")
    del service.records.end
    service.publisher.publish("a2")

    assert state(service, "a2")[:5] == undisturbed[:5]


def test_an_audit_that_has_ended_stays_as_it_is(service, undisturbed) -> None:
    before(service)
    service.scanned("a2")
    ended = service.publisher.publish("a2")
    service.bucket.texts[object_keys.target_scan("a2", ACCOUNT, "us-east-2")] = []

    assert service.publisher.publish("a2") == ended
    assert service.publisher.fail("a2", ANYBODY, {"Error": "States.Timeout"}) == ended
    assert state(service, "a2")[:5] == undisturbed[:5]
    assert len(service.bucket.texts[object_keys.scan("a2")]) == 1


def test_what_a_person_did_between_two_tries_is_not_counted_as_the_audits(service, undisturbed) -> None:
    before(service)
    service.scanned("a2")
    service.findings.writes_left = 6
    with pytest.raises(Killed):
        service.publisher.publish("a2")
    service.findings.writes_left = None
    ledger = service.findings.ledgers["f-vol-5"]
    ledger.append(replace(ledger[0], happening="reopened", who="ann", audit_id="a2"))
    record = service.publisher.publish("a2")

    assert record.outcome == undisturbed[3]


def test_a_finding_whose_snooze_is_over_counts_as_opened(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    one = service.findings.kept["f-vol-1"]
    decision = Decision(status="snoozed", who="ann", why="", at=NOW, until=NOW + timedelta(hours=1))
    service.findings.kept["f-vol-1"] = replace(one, status="snoozed", decision=decision)
    service.now += timedelta(days=1)

    assert service.run("a2").outcome.opened == 1


def test_an_audit_that_fails_while_it_runs_is_on_record_with_its_plans_request(service) -> None:
    service.planner.plan("a1", WEEKLY)
    record = service.publisher.fail("a1", WEEKLY, {"Error": "States.Timeout"})

    assert (record.state, record.error, record.request) == ("failed", "States.Timeout", WEEKLY)
    assert record.policy == DEFAULTS
    assert service.records.kept["a1"] == record


def test_a_write_whose_answer_was_lost_is_counted_once(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.findings.lose_answers = True
    record = service.run("a1")

    assert record.outcome.opened == 1
    assert [entry.happening for entry in service.findings.ledgers["f-vol-1"]] == ["opened"]


def test_who_changes_a_finding_in_between_is_not_overwritten(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    service.now += timedelta(days=1)

    def snooze() -> None:
        service.findings.rival = lambda: None
        one = service.findings.kept["f-vol-1"]
        service.findings.kept["f-vol-1"] = replace(one, status="snoozed", revision=one.revision + 1)

    service.findings.rival = snooze
    service.fleet = {TOKYO: [found("vol-1", fingerprint="another")]}
    record = service.run("a2")

    assert service.findings.kept["f-vol-1"].status == "snoozed"
    assert service.findings.kept["f-vol-1"].sighting.fingerprint == "another"
    assert record.outcome.changed == 1


def test_audits_that_overlap_leave_what_the_later_one_saw(service) -> None:
    service.fleet = {TOKYO: [found("vol-1"), found("vol-2")]}
    service.scanned("a1")
    service.now += timedelta(hours=1)
    service.fleet = {TOKYO: [found("vol-2", fingerprint="another")]}
    service.run("a2")
    record = service.publisher.publish("a1")

    assert record.state == "complete"
    assert service.findings.kept["f-vol-2"].sighting.fingerprint == "another"
    assert service.findings.kept["f-vol-2"].audit_id == "a2"


def test_incomplete_audits_in_a_row_are_those_of_one_schedule(service) -> None:
    def audit(id: str, schedule: str | None, *, broken: bool) -> AuditRecord:
        service.now += timedelta(hours=1)
        service.fleet = {TOKYO: Gap(ACCOUNT, "ap-northeast-1", "ec2:DescribeVolumes", "denied") if broken else []}
        occasion = schedule and f"{schedule}/{service.now.isoformat()}"
        return service.run(id, replace(ANYBODY, occasion=occasion, regions=("ap-northeast-1",)))

    audit("w1", "weekly", broken=True)
    audit("w2", "weekly", broken=False)
    service.publisher.fail("w3", replace(WEEKLY, occasion="weekly/x"), {"Error": "PolicyError"})
    audit("h1", "hourly", broken=True)
    audit("n1", None, broken=True)
    for number in range(150):
        audit(f"h-{number}", "hourly", broken=False)

    assert audit("w4", "weekly", broken=True).outcome.incomplete_in_a_row == 2
    assert audit("h2", "hourly", broken=True).outcome.incomplete_in_a_row == 1
    assert audit("n2", None, broken=True).outcome.incomplete_in_a_row == 2
    service.fleet = {TOKYO: Gap(ACCOUNT, "ap-northeast-1", "ec2:DescribeVolumes", "denied")}
    service.scanned("w5", replace(WEEKLY, occasion="weekly/late", regions=("ap-northeast-1",)))
    service.planner.plan("w6", replace(WEEKLY, occasion="weekly/running"))
    assert audit("w7", "weekly", broken=False).outcome.incomplete_in_a_row == 0
    assert service.publisher.publish("w5").outcome.incomplete_in_a_row == 3  # the audits after it do not count


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ({"Error": "States.Timeout", "Cause": ""}, "States.Timeout"),
        ({"Error": "States.Timeout"}, "States.Timeout"),
        ({"Error": "PolicyError", "Cause": '{"errorMessage": "a\\nb", "stackTrace": ["x"]}'}, "PolicyError: a b"),
        (
            {"Error": "Lambda.Unknown", "Cause": "The function ran out of memory"},
            "Lambda.Unknown: The function ran out of memory",
        ),
        ({"Error": "E", "Cause": "[1]"}, "E: [1]"),
    ],
)
def test_what_ended_a_task_is_one_line_without_the_stack(error, line) -> None:
    assert error_text(error) == line
    assert len(error_text({"Error": "E", "Cause": "long " * 1000})) == 1_000


# Requests


def test_an_audit_is_started_under_an_id_that_sorts_by_time_or_under_the_requesters_key(service) -> None:
    one = service.audits.start(ANYBODY)
    other = service.audits.start(ANYBODY, key="today")

    assert one.startswith("20261116T090743Z-")
    assert len(one) == len("20261116T090743Z-") + 8
    assert service.audits.start(ANYBODY, key="today") == other
    assert service.audits.start(WEEKLY, key="today") != other
    assert [id_ for id_, _ in service.started][:2] == [one, other]
    with pytest.raises(AuditRequestError, match="did you mean efs-idle"):
        service.audits.start(replace(ANYBODY, detectors=("efs-idel",)))


def test_an_audit_is_shown_with_what_it_covered_and_a_link(service) -> None:
    service.planner.plan("a1", ANYBODY)
    running = service.audits.shown("a1")
    assert (running["state"], running["targets"], running["scan_url"]) == ("running", [], None)

    service.fleet[OHIO] = Killed("in Ohio")
    [service.scan("a1", target) for target in service.fleet]
    service.publisher.publish("a1")
    shown = service.audits.shown("a1")

    assert [target["region"] for target in shown["targets"]][:2] == ["ap-northeast-1", "us-east-2"]
    assert {gap["what"] for gap in shown["gaps"]} == {"lambda:Invoke", "s3:GetObject"}
    assert shown["scan_url"] == "https://bucket/audits/a1/scan.json?for=3600"
    assert shown["scan_url_expires_at"].startswith("2026-11-16T10:0")


def test_of_very_many_targets_those_are_shown_that_were_not_seen_whole(service, monkeypatch) -> None:
    monkeypatch.setattr(audits, "SHOWN", 1)
    service.fleet[OHIO] = Killed("in Ohio")
    service.run("a1", replace(ANYBODY, regions=("ap-northeast-1", "us-east-2", "eu-west-1")))

    assert [target["region"] for target in service.audits.shown("a1")["targets"]] == ["us-east-2"]


def test_the_latest_report_is_that_of_the_newest_audit_that_has_ended(service) -> None:
    with pytest.raises(NotFoundError, match="no audit has left a report yet"):
        service.audits.latest_report()
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    service.now += timedelta(days=7)
    service.run("a2")
    service.now += timedelta(days=7)
    service.planner.plan("a3", ANYBODY)
    found_ = service.audits.latest_report()

    assert (found_["audit_id"], found_["url"]) == ("a2", "https://bucket/audits/a2/report.html?for=900")
    assert found_["expires_at"] == rfc3339(service.now + timedelta(minutes=15))


def test_a_complete_report_is_preferred_over_a_newer_partial_one(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("hourly-1", replace(ANYBODY, detectors=("ebs-unattached",)))
    assert service.audits.latest_report()["audit_id"] == "hourly-1"

    service.now += timedelta(hours=1)
    service.run("weekly")
    service.now += timedelta(hours=1)
    service.run("hourly-2", replace(ANYBODY, detectors=("ebs-unattached",)))

    assert service.audits.latest_report()["audit_id"] == "weekly"


def test_an_audit_that_failed_without_a_report_is_passed_over(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    service.now += timedelta(days=7)
    service.publisher.fail("a2", ANYBODY, {"Error": "PolicyError"})

    assert service.audits.latest_report()["audit_id"] == "a1"


def test_one_that_found_nothing_to_scan_has_its_report_of_what_was_not_seen(service) -> None:
    service.fleet = dict.fromkeys(service.fleet, Killed("everywhere"))
    service.run("a1")

    assert service.audits.latest_report()["audit_id"] == "a1"


def test_a_report_that_could_not_be_made_is_an_error_instead_of_an_older_report(service) -> None:
    service.fleet = {TOKYO: [found("vol-1")]}
    service.run("a1")
    service.now += timedelta(days=7)
    service.run("a2")
    del service.bucket.texts[object_keys.report("a2")]

    with pytest.raises(NotFoundError, match="audit a2 left no report: the log of PublishFunction"):
        service.audits.latest_report()


def test_a_request_that_is_none_was_made_by_nobody_known() -> None:
    assert request_of({"requested_by": "ann", "regions": ["eu-west-1"]}) == AuditRequest(
        requested_by="ann", regions=("eu-west-1",)
    )
    assert request_of({"detector": 7}).requested_by == "unknown"
