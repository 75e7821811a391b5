"""Which identity calls AWS, in which region, and what the errors say."""

import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from slackwater.aws.client.deadline import ASKING_S
from slackwater.aws.client.errors import reason
from slackwater.aws.client.identity import identity
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.regions import default_region, enabled_regions, known_regions
from slackwater.aws.client.session import API_RETRIES, NO_RETRIES, AwsSession, Endpoint
from slackwater.model.identity import Identity
from slackwater.ports.errors import (
    AccessDeniedError,
    AwsError,
    ExpiredCredentialsError,
    NoCredentialsError,
    UnreachableError,
)
from slackwater_simulator import Fleet, Volume, instant
from slackwater_simulator.resources import Role

NOW = instant("2026-11-16T09:07:00Z")
EMPTY = Fleet(now=NOW)
OTHER = Fleet(now=NOW, account="210987654321", roles=[Role(name="audit", external_id="tide-table")])
ROLE_ARN = "arn:aws:iam::210987654321:role/audit"


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Provide an environment without any AWS settings."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


@contextmanager
def web_page():
    """Serve a web page for every request, as a captive portal does."""

    class Page(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.send_header("Content-Length", "26")
            self.end_headers()
            self.wfile.write(b"<html><body></body></html>")

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_the_caller_is_who_the_keys_belong_to(simulate):
    account = simulate(EMPTY)
    assert identity(account.session) == Identity("123456789012", "arn:aws:iam::123456789012:user/simulated", "aws")


@pytest.mark.parametrize(
    ("home", "host"),
    [
        ("ap-northeast-1", "sts.ap-northeast-1.amazonaws.com"),
        ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"),
        (None, "sts.us-east-1.amazonaws.com"),
        ("eu-nowhere-9", "sts.us-east-1.amazonaws.com"),
    ],
)
def test_who_asks_is_asked_where_the_scan_is_to_be(monkeypatch, home, host):
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    session = AwsSession(meter=CallMeter(), home=home)
    assert session.client("sts", session.home).meta.endpoint_url == f"https://{host}"


def test_the_partition_is_that_of_the_callers_arn():
    class Elsewhere:
        home = "cn-north-1"

        def client(self, *_):
            return self

        def get_caller_identity(self):
            return {"Account": "123456789012", "Arn": "arn:aws-cn:iam::123456789012:user/li"}

    assert identity(Elsewhere()).partition == "aws-cn"


def test_a_setting_that_botocore_cannot_use_says_where_to_look(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "notaurl")
    with pytest.raises(AwsError, match="AWS_ENDPOINT_URL"):
        AwsSession(meter=CallMeter()).client("ec2", "us-east-1")


def test_a_role_is_assumed_once_and_then_acts_in_its_own_account(simulate):
    account = simulate(EMPTY, OTHER, role_arn=ROLE_ARN, external_id="tide-table")
    assert identity(account.session).account == "210987654321"
    enabled_regions(account.session)
    assert account.meter.api_calls()["sts:AssumeRole"] == 1


@pytest.mark.parametrize("external_id", [None, "wrong"])
def test_a_role_that_may_not_be_assumed_says_where_to_look(simulate, external_id):
    account = simulate(EMPTY, OTHER, role_arn=ROLE_ARN, external_id=external_id)
    with pytest.raises(AccessDeniedError, match=r"trust policy .* external id"):
        identity(account.session)


def test_a_denied_call_says_that_a_policy_lacks_it(simulate):
    account = simulate(EMPTY)
    account.sim.faults.deny("ec2:DescribeRegions")
    with pytest.raises(AccessDeniedError, match=r"policy lacks this action .*ec2:DescribeRegions"):
        enabled_regions(account.session)


@pytest.mark.parametrize(
    ("code", "error", "remedy"),
    [
        ("ExpiredToken", ExpiredCredentialsError, "sign in again"),
        ("InvalidClientTokenId", NoCredentialsError, "check the profile or the keys"),
    ],
)
def test_refused_keys_say_what_to_do(simulate, code, error, remedy):
    account = simulate(EMPTY)
    account.sim.faults.error("sts:GetCallerIdentity", code, 403)
    with pytest.raises(error, match=remedy):
        identity(account.session)


def test_without_credentials_the_ways_to_get_some_are_named(bare):
    with pytest.raises(NoCredentialsError, match="aws configure"):
        identity(AwsSession(meter=CallMeter()))


def test_a_role_without_credentials_to_assume_it_is_no_credentials(bare):
    with pytest.raises(NoCredentialsError, match="assume the role"):
        identity(AwsSession(role_arn=ROLE_ARN, meter=CallMeter()))


def test_a_profile_that_is_not_there_is_named(bare):
    with pytest.raises(NoCredentialsError, match="nobody"):
        AwsSession("nobody", meter=CallMeter())
    bare.setenv("AWS_REGION", "ap-northeast-1")
    with pytest.raises(NoCredentialsError, match="nobody"):
        AwsSession("nobody", meter=CallMeter())


def test_nothing_that_listens_is_unreachable(impatient):
    with pytest.raises(UnreachableError, match="AWS_ENDPOINT_URL"):
        identity(AwsSession(meter=CallMeter(), endpoint=Endpoint("http://127.0.0.1:9", "AKIADUMMY", "dummy")))


def test_a_web_page_is_not_aws(impatient):
    with web_page() as url, pytest.raises(UnreachableError):
        identity(AwsSession(meter=CallMeter(), endpoint=Endpoint(url, "AKIADUMMY", "dummy")))


def test_the_environment_means_what_it_means_to_every_sdk(bare, simulate):
    account = simulate(EMPTY)
    bare.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    bare.setenv("AWS_ENDPOINT_URL_STS", account.sim.url)
    bare.setenv("AWS_ACCESS_KEY_ID", "AKIADUMMY")
    bare.setenv("AWS_SECRET_ACCESS_KEY", "dummy")
    session = AwsSession(meter=CallMeter())
    assert identity(session).account == "123456789012"


@contextmanager
def metadata_service():
    """Serve the metadata of an EC2 instance without a role, and yield the list of requests."""
    asked = []

    class Metadata(BaseHTTPRequestHandler):
        def do_PUT(self):
            asked.append(f"{self.command} {self.path}")
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Metadata) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_without_credentials_there_are_none_and_nobody_is_asked(bare):
    meter = CallMeter()
    assert not AwsSession(meter=meter).has_credentials()
    assert meter.api_calls() == {}


def test_keys_are_credentials_good_or_not(bare, tmp_path):
    (tmp_path / "credentials").write_text("[tide]\naws_access_key_id = AKIADUMMY\naws_secret_access_key = dummy\n")
    meter = CallMeter()
    assert AwsSession("tide", meter=meter).has_credentials()
    assert AwsSession(meter=meter, endpoint=Endpoint("http://127.0.0.1:9", "k", "s")).has_credentials()
    bare.setenv("AWS_ACCESS_KEY_ID", "AKIADUMMY")
    bare.setenv("AWS_SECRET_ACCESS_KEY", "dummy")
    assert AwsSession(meter=meter).has_credentials()
    assert meter.api_calls() == {}


def test_an_access_key_without_its_secret_is_reported(bare):
    bare.setenv("AWS_ACCESS_KEY_ID", "AKIADUMMY")
    with pytest.raises(AwsError, match="AWS_SECRET_ACCESS_KEY"):
        AwsSession(meter=CallMeter()).has_credentials()


def test_the_metadata_service_is_asked_once_for_credentials(bare):
    bare.delenv("AWS_EC2_METADATA_DISABLED")
    with metadata_service() as (url, asked):
        bare.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
        assert not AwsSession(meter=CallMeter()).has_credentials()
    assert asked == ["PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/"]


def test_aws_region_comes_before_aws_default_region(bare):
    assert default_region(AwsSession(meter=CallMeter())) is None
    bare.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert default_region(AwsSession(meter=CallMeter())) == "eu-west-1"
    bare.setenv("AWS_REGION", "ap-northeast-1")
    assert default_region(AwsSession(meter=CallMeter())) == "ap-northeast-1"


def test_a_profile_names_its_region(bare, tmp_path):
    (tmp_path / "config").write_text("[profile tide]\nregion = sa-east-1\n")
    assert default_region(AwsSession("tide", meter=CallMeter())) == "sa-east-1"


def test_known_regions_span_the_partitions_without_a_call():
    meter = CallMeter()
    known = known_regions(AwsSession(meter=meter, endpoint=Endpoint("http://127.0.0.1:9", "k", "s")))
    assert {"us-east-1", "ap-northeast-1", "cn-north-1", "us-gov-west-1"} <= set(known)
    assert meter.api_calls() == {}


def test_a_client_is_made_once_and_says_who_it_is(simulate):
    account = simulate(EMPTY)
    sent = []
    client = account.session.client("sts", "us-east-1")
    assert account.session.client("sts", "us-east-1") is client
    client.meta.events.register("before-send", lambda request, **_: sent.append(request.headers["User-Agent"]))
    identity(account.session)
    assert f"slackwater/{version('slackwater')}".encode() in sent[0]


def test_a_session_reads_no_more_of_a_volume_than_the_inventory_needs(simulate):
    volume = Volume(id="vol-1", az="ap-northeast-1a", created=NOW, size_gib=1)
    account = simulate(Fleet(now=NOW, volumes=[volume]))
    (read,) = account.session.client("ec2", "ap-northeast-1").describe_volumes()["Volumes"]
    assert read["VolumeId"] == "vol-1"
    assert "AvailabilityZoneId" not in read


def test_a_reason_is_one_line_without_request_ids_and_encoded_policies():
    message = "You are not\nauthorized. Encoded authorization failure message: QmFzZTY0 (RequestId: 1-2-3)"
    error = ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": message}}, "DescribeVolumes")
    assert reason(error) == "UnauthorizedOperation: You are not authorized."
    assert len(reason(AwsError("long " * 100))) == 240


@pytest.mark.parametrize(
    ("service", "attempts"), [("cloudwatch", 8), ("ec2", 8), ("dynamodb", 8), ("pricing", 3), ("sts", 3)]
)
def test_throttling_slows_a_client_down_and_what_is_asked_first_gives_up_soon(simulate, monkeypatch, service, attempts):
    monkeypatch.delenv("AWS_MAX_ATTEMPTS", raising=False)
    retries = simulate(EMPTY).session.client(service, "us-east-1").meta.config.retries
    assert (retries["mode"], retries["total_max_attempts"]) == ("adaptive", attempts)


def test_where_somebody_waits_an_estimate_ends_before_api_gateway_hangs_up(monkeypatch):
    """A call can be running when the time is up. A client waits at most one second before its second attempt."""
    monkeypatch.delenv("AWS_MAX_ATTEMPTS", raising=False)
    session = AwsSession(meter=CallMeter(), endpoint=Endpoint("http://127.0.0.1:9", "k", "s"), retries=API_RETRIES)
    configs = [session.client(service, "us-east-1").meta.config for service in ("ec2", "pricing")]
    assert [(config.retries["mode"], config.retries["total_max_attempts"]) for config in configs] == [
        ("standard", 2)
    ] * 2
    assert ASKING_S + max(2 * (config.connect_timeout + config.read_timeout) + 1 for config in configs) < 29


@pytest.mark.parametrize("service", ["dynamodb", "s3", "stepfunctions"])
def test_where_somebody_waits_the_worst_case_ends_before_api_gateway_hangs_up(service, monkeypatch):
    monkeypatch.delenv("AWS_MAX_ATTEMPTS", raising=False)
    session = AwsSession(meter=CallMeter(), endpoint=Endpoint("http://127.0.0.1:9", "k", "s"), retries=API_RETRIES)
    config = session.client(service, "us-east-1").meta.config
    assert config.retries["total_max_attempts"] * config.read_timeout < 29


@pytest.mark.parametrize("service", ["backup", "ec2", "efs", "fsx", "iam"])
def test_what_must_be_asked_once_is_whatever_the_environment_says(service, bare):
    bare.setenv("AWS_MAX_ATTEMPTS", "5")
    bare.setenv("AWS_RETRY_MODE", "adaptive")
    config = AwsSession(meter=CallMeter(), retries=NO_RETRIES).client(service, "us-east-1").meta.config
    assert (config.retries["mode"], config.retries["total_max_attempts"]) == ("standard", 1)


@pytest.mark.parametrize("fault", ["drop", "throttle"])
def test_what_must_be_asked_once_is(simulate, fault):
    account = simulate(EMPTY, retries=NO_RETRIES)
    call = "ec2:DescribeVolumes"
    if fault == "drop":
        account.sim.faults.drop(call)
    else:
        account.sim.faults.throttle(call, per_second=0, burst=0)
    with pytest.raises((BotoCoreError, ClientError)):
        account.session.client("ec2", "ap-northeast-1").describe_volumes()
    assert account.sim.calls == {call: 1}
