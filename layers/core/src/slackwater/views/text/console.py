"""Links to the AWS Management Console.

The domain depends on the partition (AWS General Reference, "AWS Management Console endpoints").
"""

from typing import Final
from urllib.parse import quote

from slackwater.views.scan.document import ResourceDocument

DOMAINS: Final = {
    "aws": "console.aws.amazon.com",
    "aws-cn": "console.amazonaws.cn",
    "aws-us-gov": "console.amazonaws-us-gov.com",
}
PATHS: Final = {
    "ebs-volume": "ec2/home?region={region}#VolumeDetails:volumeId={id}",
    "ec2-instance": "ec2/home?region={region}#InstanceDetails:instanceId={id}",
    "efs-file-system": "efs/home?region={region}#/file-systems/{id}",
    "fsx-file-system": "fsx/home?region={region}#file-system-details/{id}",
    "fsx-volume": "fsx/home?region={region}#volume-details/{id}",
}


def console_url(resource: ResourceDocument) -> str | None:
    """Return the console page of a resource; None for a partition or type without a known page."""
    partition = resource["arn"].removeprefix("arn:").partition(":")[0]
    domain, path = DOMAINS.get(partition), PATHS.get(resource["type"])
    if domain is None or path is None:
        return None
    return (
        f"https://{domain}/{path.format(region=quote(resource['region'], safe=''), id=quote(resource['id'], safe=''))}"
    )
