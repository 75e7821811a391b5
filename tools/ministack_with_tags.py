"""Run ministack with the tags of volumes and EFS file systems available to its IAM. Needs ministack's interpreter.

ministack's IAM does not see these tags, so that a condition on `aws:ResourceTag` denies everything. A test that a role
is denied without a tag would then prove nothing, because the role is also denied with the tag.
"""

from collections.abc import Iterator
from typing import Any

from ministack.app import main
from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2, tagging


def volumes() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the ARN and the tags of each volume."""
    for id_ in ec2._volumes:  # noqa: SLF001 -- there is no public API
        yield f"arn:aws:ec2:{get_region()}:{get_account_id()}:volume/{id_}", ec2._tags.get(id_, [])  # noqa: SLF001


if __name__ == "__main__":
    known = tagging._RESOURCE_TAG_COLLECTORS  # noqa: SLF001
    known.update({"ec2": volumes, "elasticfilesystem": tagging._collect_efs})  # noqa: SLF001
    main()
