"""Links to the AWS Management Console."""

import pytest

from slackwater.views.text.console import console_url


def resource(partition: str, kind: str = "ebs-volume") -> dict:
    return {"arn": f"arn:{partition}:ec2:r-1:1:volume/vol-1", "id": "vol-1", "type": kind, "region": "r-1"}


@pytest.mark.parametrize(
    ("partition", "domain"),
    [
        ("aws", "console.aws.amazon.com"),
        ("aws-cn", "console.amazonaws.cn"),
        ("aws-us-gov", "console.amazonaws-us-gov.com"),
    ],
)
def test_each_partition_has_its_console(partition: str, domain: str) -> None:
    assert console_url(resource(partition)) == f"https://{domain}/ec2/home?region=r-1#VolumeDetails:volumeId=vol-1"


def test_without_a_known_page_there_is_no_link() -> None:
    assert console_url(resource("aws-iso")) is None
    assert console_url(resource("aws") | {"arn": "x"}) is None
    assert console_url(resource("aws", "snapshot")) is None


@pytest.mark.parametrize("kind", ["ebs-volume", "ec2-instance", "efs-file-system", "fsx-file-system", "fsx-volume"])
def test_each_type_has_a_page(kind: str) -> None:
    assert "vol-1" in (console_url(resource("aws", kind)) or "")
