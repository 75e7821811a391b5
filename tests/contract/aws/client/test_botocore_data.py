"""botocore's data without its documentation."""

import gzip
import json
from pathlib import Path

import pytest
from botocore.loaders import create_loader
from botocore.model import ServiceModel
from botocore.serialize import create_serializer

from slackwater.aws.client.botocore_data import METRIC_QUERY, LeanFileLoader, lean_loader
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.services import SERVICES, Service
from slackwater.aws.client.session import AwsSession
from slackwater.model.detector import CASE_NOW


def without_texts(data: object) -> object:
    """Return data with an empty text under each `documentation`."""
    if isinstance(data, dict):
        return {
            key: "" if key == "documentation" and isinstance(value, str) else without_texts(value)
            for key, value in data.items()
        }
    return [without_texts(one) for one in data] if isinstance(data, list) else data


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_model_differs_from_botocores_only_by_its_documentation_and_metric_queries(service: Service) -> None:
    plain = create_loader(None).load_service_model(service, "service-2")
    lean = lean_loader(None).load_service_model(service, "service-2")

    client = AwsSession(meter=CallMeter()).client(service, "eu-central-1")

    assert plain != lean
    if service == "cloudwatch":
        assert lean["shapes"][METRIC_QUERY].pop("document") is True
    assert without_texts(plain) == lean
    assert client.meta.service_model.operation_names == list(plain["operations"])


def test_a_member_named_documentation_stays(tmp_path: Path) -> None:
    shape = {"members": {"documentation": {"shape": "String", "documentation": "A text."}}}
    lean = {"members": {"documentation": {"shape": "String", "documentation": ""}}}
    (tmp_path / "plain.json").write_text(json.dumps(shape))
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(json.dumps(shape).encode()))

    for name in ("plain", "packed"):
        assert LeanFileLoader().load_file(str(tmp_path / name)) == lean
    assert LeanFileLoader().load_file(str(tmp_path / "none")) is None


def test_metric_queries_are_sent_as_botocore_sends_them() -> None:
    metric = {"Namespace": "AWS/EBS", "MetricName": "VolumeReadOps", "Dimensions": [{"Name": "VolumeId", "Value": "ü"}]}
    query = {"Id": "q0", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}}
    asked = {"MetricDataQueries": [query], "StartTime": CASE_NOW, "EndTime": CASE_NOW, "ScanBy": "TimestampAscending"}

    bodies = [
        create_serializer("json").serialize_to_request(
            asked, ServiceModel(loader.load_service_model("cloudwatch", "service-2")).operation_model("GetMetricData")
        )["body"]
        for loader in (create_loader(None), lean_loader(None))
    ]

    assert bodies[0] == bodies[1]
    assert json.loads(bodies[1])["MetricDataQueries"] == [query]
