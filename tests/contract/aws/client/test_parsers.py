"""The lean parsers give the same values as botocore's parser, for everything that the inventory reads."""

import json
from datetime import UTC, datetime
from xml.sax.saxutils import escape

import pytest
from botocore.parsers import EC2QueryParser, JSONParser, ResponseParserError
from botocore.session import Session
from hypothesis import given
from hypothesis import strategies as st

from slackwater.aws.client.parsers import WANTED, LeanEc2Parser, LeanJsonParser, LeanParserFactory, timestamp
from slackwater.ports.errors import BrokenAnswerError

EC2 = Session().get_service_model("ec2")
CLOUDWATCH = Session().get_service_model("cloudwatch")
NAMESPACE = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'

VOLUME = """<item>
  <volumeId>vol-1</volumeId><size>100</size><snapshotId/><availabilityZone>ap-northeast-1a</availabilityZone>
  <status>in-use</status><createTime>2026-09-01T10:20:30.123Z</createTime>
  <attachmentSet><item><volumeId>vol-1</volumeId><instanceId>i-1</instanceId><device>/dev/sdf</device>
    <status>attached</status><attachTime>2026-09-01T10:20:31.000Z</attachTime></item></attachmentSet>
  <tagSet><item><key>Name</key><value>logs &amp; &lt;data&gt; &#x6f6e;</value></item>
    <item><key>Empty</key><value/></item></tagSet>
  <volumeType>gp3</volumeType><iops>3000</iops><encrypted>true</encrypted><kmsKeyId>arn:aws:kms:…:key/1</kmsKeyId>
  <outpostArn>arn:aws:outposts:…:outpost/op-1</outpostArn>
  <operator><managed>true</managed><principal>eks</principal></operator>
  <multiAttachEnabled>true</multiAttachEnabled><throughput>250</throughput></item>"""
BARE_VOLUME = """<item><volumeId>vol-2</volumeId><size>8</size><status>available</status>
  <volumeType>standard</volumeType><createTime>2026-09-01T10:20:30Z</createTime>
  <availabilityZone>ap-northeast-1c</availabilityZone><attachmentSet/></item>"""
INSTANCE = """<item><reservationId>r-1</reservationId><groupSet/><instancesSet><item>
  <instanceId>i-1</instanceId><instanceState><code>80</code><name>stopped</name></instanceState>
  <reason>User initiated (2026-09-01 10:00:00 GMT)</reason><instanceType>t3.micro</instanceType>
  <launchTime>2026-05-01T10:00:00.000Z</launchTime><monitoring><state>disabled</state></monitoring>
  <placement><availabilityZone>ap-northeast-1a</availabilityZone></placement>
  <rootDeviceName>/dev/xvda</rootDeviceName><instanceLifecycle>spot</instanceLifecycle>
  <networkPerformanceOptions><bandwidthWeighting>vpc-1</bandwidthWeighting></networkPerformanceOptions>
  <operator><managed>true</managed><principal>eks.amazonaws.com</principal></operator>
  <tagSet><item><key>Name</key><value>web</value></item></tagSet></item></instancesSet></item>"""


def body(operation, items, *, namespace=NAMESPACE, token="<nextToken>page:2</nextToken>"):
    wrapper = {"DescribeVolumes": "volumeSet", "DescribeInstances": "reservationSet"}[operation]
    inner = f"<requestId>r</requestId><{wrapper}>{items}</{wrapper}>{token}"
    root = f"{operation}Response"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {namespace}>{inner}</{root}>'.encode()


def parse(parser, operation, content, status=200):
    response = {"status_code": status, "headers": {}, "body": content, "context": {}}
    return parser.parse(response, EC2.operation_model(operation).output_shape)


def cut(parsed, wanted):
    """Return the wanted part of what botocore parsed."""
    if isinstance(parsed, list):
        return [cut(item, wanted) for item in parsed]
    return {name: cut(parsed[name], below) for name, below in wanted.items() if name in parsed} if wanted else parsed


def both(operation, content):
    lean = parse(LeanEc2Parser(), operation, content)
    del lean["ResponseMetadata"]
    return lean, cut(parse(EC2QueryParser(), operation, content), WANTED[f"{operation}Result"])


@pytest.mark.parametrize(
    ("operation", "items"),
    [
        ("DescribeVolumes", VOLUME + BARE_VOLUME),
        ("DescribeVolumes", ""),
        ("DescribeInstances", INSTANCE * 2),
        ("DescribeInstances", ""),
    ],
)
@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_a_page_reads_as_botocore_reads_it(operation, items, namespace):
    lean, theirs = both(operation, body(operation, items, namespace=namespace))
    assert lean == theirs
    assert lean["NextToken"] == "page:2"


def test_every_field_of_a_volume_is_there():
    (volume,) = both("DescribeVolumes", body("DescribeVolumes", VOLUME))[0]["Volumes"]
    assert volume.keys() == WANTED["DescribeVolumesResult"]["Volumes"].keys()
    assert volume["Tags"] == [{"Key": "Name", "Value": "logs & <data> 潮"}, {"Key": "Empty", "Value": ""}]


def test_every_field_of_an_instance_is_there():
    (reservation,) = both("DescribeInstances", body("DescribeInstances", INSTANCE))[0]["Reservations"]
    assert reservation["Instances"][0].keys() == WANTED["DescribeInstancesResult"]["Reservations"]["Instances"].keys()


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=40))
def test_any_tag_value_reads_as_botocore_reads_it(value):
    tagged = BARE_VOLUME.replace(
        "</item>", f"<tagSet><item><key>k</key><value>{escape(value)}</value></item></tagSet></item>"
    )
    lean, theirs = both("DescribeVolumes", body("DescribeVolumes", tagged))
    assert lean == theirs


def test_a_list_that_is_missing_stays_missing():
    lean, _ = both("DescribeVolumes", f"<DescribeVolumesResponse {NAMESPACE}/>".encode())
    assert "Volumes" not in lean


def test_a_body_cut_short_is_an_error():
    whole = body("DescribeVolumes", VOLUME)
    with pytest.raises(ResponseParserError):
        parse(LeanEc2Parser(), "DescribeVolumes", whole[: len(whole) // 2])


def test_errors_are_read_by_botocore():
    content = (
        b"<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>No</Message></Error></Errors></Response>"
    )
    parsed = parse(LeanEc2Parser(), "DescribeVolumes", content, status=403)
    assert parsed["Error"] == {"Code": "UnauthorizedOperation", "Message": "No"}


def test_other_answers_of_ec2_are_read_whole():
    content = (
        f"<DescribeRegionsResponse {NAMESPACE}><regionInfo><item><regionName>eu-west-1</regionName></item></regionInfo>"
    )
    parsed = parse(LeanEc2Parser(), "DescribeRegions", (content + "</DescribeRegionsResponse>").encode())
    assert parsed["Regions"] == [{"RegionName": "eu-west-1"}]


def metric_data(parser, content, status=200):
    response = {"status_code": status, "headers": {}, "body": content, "context": {}}
    return parser.parse(response, CLOUDWATCH.operation_model("GetMetricData").output_shape)


def test_metric_data_reads_as_botocore_reads_it_but_for_the_times():
    content = b"""{"MetricDataResults": [{"Id": "q0", "Label": "x", "StatusCode": "Complete",
      "Timestamps": [1763200000.0, 1763203600], "Values": [1.5, 2]}], "Messages": [], "NextToken": "t"}"""
    lean, theirs = metric_data(LeanJsonParser(), content), metric_data(JSONParser(), content)
    assert [datetime.fromtimestamp(t, UTC) for t in lean["MetricDataResults"][0].pop("Timestamps")] == theirs[
        "MetricDataResults"
    ][0].pop("Timestamps")
    lean["MetricDataResults"][0]["Values"] = list(lean["MetricDataResults"][0]["Values"])
    assert lean["MetricDataResults"] == theirs["MetricDataResults"]
    assert lean["NextToken"] == theirs["NextToken"]


RUNS = (
    [],
    ["[1,2,3]"],
    ["[1,2,3]", "[1,2,3]", "[1,2,3,4]", "[1,2]", "[1,2]", "[]", "[]", "[2,3]", "[1,2,3]"],
    ["[1763200000.0,1.7632036E9]", "[ 1, 2 ]", "[1763200000.0,1.7632036E9]"],
    ["[]", "[1]"],
)


@pytest.mark.parametrize("runs", RUNS, ids=str)
@pytest.mark.parametrize("text", ["x", '\\"Timestamps\\":[7,8]', "run 0 of times"])
def test_each_metric_of_an_answer_has_its_own_times(runs, text):
    results = [
        f'{{"Id":"q{n}","Label":"{text}","Timestamps":{run},"Values":{run},"StatusCode":"Complete"}}'
        for n, run in enumerate(runs)
    ]
    content = f'{{"MetricDataResults":[{",".join(results)}],"Messages":[]}}'.encode()
    lean, plain = metric_data(LeanJsonParser(), content)["MetricDataResults"], json.loads(content)["MetricDataResults"]
    assert [(one["Id"], one["Label"], list(one["Timestamps"]), list(one["Values"])) for one in lean] == [
        (one["Id"], one["Label"], one["Timestamps"], one["Values"]) for one in plain
    ]


@pytest.mark.parametrize(
    "times", ['["1"]', "[1,null]", "[1,[2]]", "[NaN]", "[1,true]", "[1,2", '"soon"', '"run 0 of times"']
)
def test_times_that_are_no_numbers_are_an_error(times):
    content = f'{{"MetricDataResults":[{{"Id":"q0","Timestamps":{times},"Values":[1.0]}}]}}'.encode()
    with pytest.raises(ResponseParserError):
        metric_data(LeanJsonParser(), content)


@pytest.mark.parametrize("content", [b'{"MetricDataResults": [{"Id": "q0', b"", b"[]", b"<html/>"])
def test_metric_data_that_is_no_json_object_is_an_error(content):
    with pytest.raises(ResponseParserError):
        metric_data(LeanJsonParser(), content)


def test_an_error_of_cloudwatch_is_read_by_botocore():
    parsed = metric_data(LeanJsonParser(), b'{"__type": "ThrottlingException", "message": "Rate exceeded"}', status=400)
    assert parsed["Error"]["Code"] == "ThrottlingException"


@pytest.mark.parametrize("protocol", ["ec2", "json", "query", "rest-json", "smithy-rpc-v2-cbor"])
def test_there_is_a_parser_for_every_protocol(protocol):
    assert LeanParserFactory().create_parser(protocol) is not None


@pytest.mark.parametrize(
    "written",
    [
        1788258030.5,
        1788258030,
        "2026-09-01T10:20:30.500Z",
        "2026-09-01T10:20:30",
        "1788258030",
        "Tue, 01 Sep 2026 10:20:30 GMT",
    ],
)
def test_a_time_is_read_in_any_form_that_aws_writes(written):
    read = timestamp(written)
    assert read.replace(microsecond=0) == datetime(2026, 9, 1, 10, 20, 30, tzinfo=UTC)
    assert read.tzinfo is not None


@pytest.mark.parametrize(
    ("right", "wrong", "name"),
    [
        ("<size>100</size>", "<size>many</size>", "Size"),
        ("<size>100</size>", "<size/>", "Size"),
        ("2026-09-01T10:20:30.123Z", "yesterday", "CreateTime"),
        ("<multiAttachEnabled>true<", "<multiAttachEnabled>perhaps<", "MultiAttachEnabled"),
        ("<multiAttachEnabled>true<", "<multiAttachEnabled><", "MultiAttachEnabled"),
    ],
)
def test_a_value_of_another_type_is_an_error_where_it_is_read_and_nowhere_else(right, wrong, name):
    assert right in VOLUME
    content = body("DescribeVolumes", BARE_VOLUME + VOLUME.replace(right, wrong))
    bare, volume = parse(LeanEc2Parser(), "DescribeVolumes", content)["Volumes"]
    assert bare["Size"] == 8
    assert name in volume
    for read in (lambda: volume[name], lambda: volume.get(name)):
        with pytest.raises(BrokenAnswerError, match=f"{name} is "):
            read()
    assert (volume["VolumeId"], volume.get("State"), volume.get("Nothing", 7)) == ("vol-1", "in-use", 7)
    with pytest.raises(KeyError):
        volume["Nothing"]


def test_what_botocore_parses_of_ec2_fails_member_by_member_too():
    content = f"""<DescribeInstanceTypesResponse {NAMESPACE}><instanceTypeSet>
      <item><instanceType>t3.micro</instanceType>
      <vCpuInfo><defaultVCpus/></vCpuInfo><hypervisor>nitro</hypervisor></item>
      <item><instanceType>t3.small</instanceType>
      <vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>"""
    first, second = parse(LeanEc2Parser(), "DescribeInstanceTypes", content.encode())["InstanceTypes"]
    assert (first["InstanceType"], first["Hypervisor"], second["VCpuInfo"]["DefaultVCpus"]) == ("t3.micro", "nitro", 2)
    with pytest.raises(BrokenAnswerError, match="DefaultVCpus is ''"):
        first["VCpuInfo"]["DefaultVCpus"]


@pytest.mark.parametrize(("protocol", "service"), [("rest-json", "efs"), ("json", "fsx")])
@pytest.mark.parametrize("wrong", ["yesterday", "", [], {}, True])
def test_a_time_that_is_none_costs_its_own_record(protocol, service, wrong):
    shape = Session().get_service_model(service).operation_model("DescribeFileSystems").output_shape
    systems = [{"FileSystemId": "fs-1", "CreationTime": wrong}, {"FileSystemId": "fs-2", "CreationTime": 1788258030}]
    content = json.dumps({"FileSystems": systems}).encode()
    response = {"status_code": 200, "headers": {}, "body": content, "context": {}}
    first, second = LeanParserFactory().create_parser(protocol).parse(response, shape)["FileSystems"]
    assert (first["FileSystemId"], second["CreationTime"].year) == ("fs-1", 2026)
    if wrong is not True:
        with pytest.raises(BrokenAnswerError, match="CreationTime is "):
            first["CreationTime"]


@pytest.mark.parametrize("point", ["NaN", "Infinity", "-Infinity", "9" * 400, '"12.5"', "null", "true", "[]", "{}"])
def test_a_point_that_is_no_number_is_an_error(point):
    shape = CLOUDWATCH.operation_model("GetMetricData").output_shape
    content = f'{{"MetricDataResults":[{{"Id":"q0","Timestamps":[1,2],"Values":[1.0,{point}]}}]}}'.encode()
    with pytest.raises(ResponseParserError, match="cannot be read"):
        LeanJsonParser().parse({"status_code": 200, "headers": {}, "body": content, "context": {}}, shape)
