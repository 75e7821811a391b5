"""botocore's data without its documentation."""

import gzip
import json
from pathlib import Path

import pytest
from botocore.loaders import create_loader

from slackwater.aws.client.botocore_data import LeanFileLoader, lean_loader
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.services import SERVICES, Service
from slackwater.aws.client.session import AwsSession


def without_texts(data: object) -> object:
    """Return data with an empty text under each `documentation`."""
    if isinstance(data, dict):
        return {
            key: "" if key == "documentation" and isinstance(value, str) else without_texts(value)
            for key, value in data.items()
        }
    return [without_texts(one) for one in data] if isinstance(data, list) else data


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_model_differs_from_botocores_only_by_its_documentation(service: Service) -> None:
    plain = create_loader(None).load_service_model(service, "service-2")
    lean = lean_loader(None).load_service_model(service, "service-2")

    client = AwsSession(meter=CallMeter()).client(service, "eu-central-1")

    assert plain != lean
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
