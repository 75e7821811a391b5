"""ministack, whose IAM is told what volumes and EFS file systems are tagged with. To be run by its own interpreter.

By itself it knows no tags of theirs, so that a condition on `aws:ResourceTag` denies everything: what a role is denied
for want of a tag would prove nothing, since with it the role would be denied, too.
"""

from collections.abc import Iterator
from typing import Any

from ministack.app import main
from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2, tagging


def volumes() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each with its ARN."""
    for id_ in ec2._volumes:  # noqa: SLF001 -- nothing public says it
        yield f"arn:aws:ec2:{get_region()}:{get_account_id()}:volume/{id_}", ec2._tags.get(id_, [])  # noqa: SLF001


if __name__ == "__main__":
    known = tagging._RESOURCE_TAG_COLLECTORS  # noqa: SLF001
    known.update({"ec2": volumes, "elasticfilesystem": tagging._collect_efs})  # noqa: SLF001
    main()
