"""Store texts in a bucket, and start audits."""

from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.deployment.audit_starter import StateMachineStarter
from slackwater.aws.store.documents import S3Documents
from slackwater.model.audits import AuditRequest
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError

BUCKET = "slackwater-bucket"


@pytest.fixture
def session(monkeypatch):
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "ap-northeast-1"}.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        yield AwsSession(meter=CallMeter())


@pytest.fixture
def s3(session):
    client = session.client("s3", "ap-northeast-1")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "ap-northeast-1"})
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client


@pytest.fixture
def documents(session, s3) -> S3Documents:
    return S3Documents(session, BUCKET)


def test_a_text_is_read_as_it_was_written_in_every_version(documents) -> None:
    first, second = documents.write("a/b.json", '{"tide": "低潮"}'), documents.write("a/b.json", "{}")

    assert documents.read("a/b.json", first) == ('{"tide": "低潮"}', first)
    assert documents.read("a/b.json") == ("{}", second)


def test_a_file_comes_back_as_it_was_and_one_that_is_not_there_leaves_none(documents, s3, tmp_path) -> None:
    whole, back, none = (tmp_path / name for name in ("whole", "back", "none"))
    whole.write_bytes(bytes(range(256)) * 10_000)
    documents.write_file("a/b.sqlite", whole)

    assert documents.read_file("a/b.sqlite", back)
    assert back.read_bytes() == whole.read_bytes()
    assert s3.head_object(Bucket=BUCKET, Key="a/b.sqlite")["ContentType"] == "application/vnd.sqlite3"
    assert not documents.read_file("a/c.sqlite", none)
    assert not none.exists()


def test_of_two_who_write_once_the_first_holds(documents) -> None:
    assert documents.write_once("a/b.json", "{}")
    assert not documents.write_once("a/b.json", "[]")
    assert documents.read("a/b.json")[0] == "{}"


def test_what_may_not_be_written_was_not_there_before(documents, monkeypatch) -> None:
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")

    monkeypatch.setattr(documents._s3, "put_object", denied)
    with pytest.raises(AccessDeniedError):
        documents.write_once("a/b.json", "{}")


def test_what_is_not_there_is_none(documents) -> None:
    documents.write("a/b.json", "{}")

    assert documents.read("a/c.json") is None
    assert documents.read("a/b.json", "no-such-version") is None


def test_what_is_there_is_known_without_being_read(documents, monkeypatch) -> None:
    documents.write("a/b.json", "{}")
    monkeypatch.setattr(documents._s3, "get_object", None)

    assert documents.has("a/b.json")
    assert not documents.has("a/c.json")


def test_what_may_not_be_looked_for_is_not_absent(documents, monkeypatch) -> None:
    def denied(**_):
        raise ClientError({"Error": {"Code": "403", "Message": "Forbidden"}}, "HeadObject")

    monkeypatch.setattr(documents._s3, "head_object", denied)
    with pytest.raises(AwsError):
        documents.has("a/b.json")


def test_what_may_not_be_read_is_not_absent(documents, monkeypatch) -> None:
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    monkeypatch.setattr(documents._s3, "get_object", denied)
    with pytest.raises(AccessDeniedError):
        documents.read("a/b.json")


def test_without_its_bucket_nothing_is_absent(session) -> None:
    with pytest.raises(AwsError, match="NoSuchBucket"):
        S3Documents(session, BUCKET).read("a/b.json")


def test_a_document_says_what_it_is(documents, s3) -> None:
    documents.write("a/b.json", "{}")
    documents.write("policy/slackwater.toml", "")
    documents.write("a/report.html", "<p>")

    assert s3.head_object(Bucket=BUCKET, Key="a/report.html")["ContentType"] == "text/html; charset=utf-8"
    assert s3.head_object(Bucket=BUCKET, Key="a/b.json")["ContentType"] == "application/json"
    assert s3.head_object(Bucket=BUCKET, Key="policy/slackwater.toml")["ContentType"] == "text/plain; charset=utf-8"


def test_versions_are_those_of_one_key_the_newest_first_over_all_pages(documents, monkeypatch) -> None:
    written = [documents.write("policy/slackwater.toml", "x" * n) for n in range(5)]
    documents.write("policy/slackwater.toml.bak", "")
    listed = documents._s3.list_object_versions
    pages = []

    def two_a_page(**asked):
        pages.append(asked)
        return listed(**asked, MaxKeys=2)

    monkeypatch.setattr(documents._s3, "list_object_versions", two_a_page)
    found = list(documents.versions("policy/slackwater.toml"))

    assert sorted(version.id for version in found) == sorted(written)
    assert len(pages) == 3
    assert [version.at for version in found] == sorted((version.at for version in found), reverse=True)
    assert list(documents.versions("policy/nothing")) == []


def test_a_deletion_is_a_version_without_a_size(documents, s3) -> None:
    documents.write("a/b.json", "{}")
    s3.delete_object(Bucket=BUCKET, Key="a/b.json")
    documents.write("a/b.json", "[1]")
    s3.delete_object(Bucket=BUCKET, Key="a/b.json")
    found = list(documents.versions("a/b.json"))

    # Only S3 knows the order of versions of the same second, but it marks the newest.
    assert found[0].size_bytes is None
    assert sorted(version.size_bytes or 0 for version in found) == [0, 0, 2, 3]


@pytest.mark.parametrize(("code", "status"), [("InvalidArgument", 400), ("MethodNotAllowed", 405)])
def test_a_version_that_is_none_by_its_looks_or_is_a_deletion_is_not_there(
    documents, monkeypatch, code, status
) -> None:
    def refuse(**_):
        raise ClientError({"Error": {"Code": code, "Message": "Invalid version id specified"}}, "GetObject")

    monkeypatch.setattr(documents._s3, "get_object", refuse)
    assert documents.read("a/b.json", "v1") is None
    with pytest.raises(AwsError, match=code):
        documents.read("a/b.json")


def test_an_empty_version_is_not_the_newest(documents, monkeypatch) -> None:
    def refuse(**asked):
        raise ClientError(
            {"Error": {"Code": "InvalidArgument", "Message": f"Version id is {asked['VersionId']!r}"}}, "GetObject"
        )

    monkeypatch.setattr(documents._s3, "get_object", refuse)
    assert documents.read("a/b.json", "") is None


def test_a_page_of_versions_that_is_not_whole_is_no_empty_history(documents, monkeypatch) -> None:
    monkeypatch.setattr(documents._s3, "list_object_versions", lambda **_: {})
    with pytest.raises(BrokenAnswerError):
        list(documents.versions("policy/slackwater.toml"))


def test_a_link_is_signed_for_the_buckets_own_region(documents) -> None:
    link = urlsplit(documents.link("audits/a1/scan.json", 3_600))
    query = parse_qs(link.query)

    assert link.netloc == f"{BUCKET}.s3.ap-northeast-1.amazonaws.com"
    assert link.path == "/audits/a1/scan.json"
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert query["X-Amz-Expires"] == ["3600"]


def test_in_the_first_region_too() -> None:
    session = AwsSession(meter=CallMeter(), home="us-east-1")
    session._session.set_credentials("k", "s")

    assert urlsplit(S3Documents(session, BUCKET).link("k", 60)).netloc == f"{BUCKET}.s3.us-east-1.amazonaws.com"


def test_an_audit_is_started_once_under_its_id(session) -> None:
    states = session.client("stepfunctions", "ap-northeast-1")
    definition = '{"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}'
    role = "arn:aws:iam::123456789012:role/states"
    arn = states.create_state_machine(name="audit", definition=definition, roleArn=role)["stateMachineArn"]
    starter = StateMachineStarter(session, arn)
    starter.start("a1", AuditRequest(requested_by="ann", regions=("eu-west-1",)))
    starter.start("a1", AuditRequest(requested_by="ann"))
    (execution,) = states.list_executions(stateMachineArn=arn)["executions"]

    assert execution["name"] == "a1"
    assert states.describe_execution(executionArn=execution["executionArn"])["input"] == (
        '{"requested_by": "ann", "regions": ["eu-west-1"], "detectors": [], "occasion": null, "accounts": [], '
        '"retry_of": null}'
    )


def test_an_audit_that_cannot_be_started_is_an_error(session) -> None:
    with pytest.raises(AwsError, match="StateMachineDoesNotExist"):
        StateMachineStarter(session, "arn:aws:states:ap-northeast-1:123456789012:stateMachine:gone").start(
            "a1", AuditRequest(requested_by="ann")
        )
