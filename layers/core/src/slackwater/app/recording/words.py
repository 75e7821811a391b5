"""The words that a recording keeps as they are: the vocabulary of AWS and of Slackwater.

The vocabulary is closed. Any other word may name somebody, so it becomes a placeholder, even if it looks like a word of
AWS.
"""

import re
from functools import cache
from typing import Final

from botocore.loaders import create_loader

from slackwater.detectors.ebs_surplus_size import ELSEWHERE, FILE_SYSTEMS

SERVICES: Final = ("compute-optimizer", "ec2", "efs", "fsx")
"""The services whose resources are recorded.

Botocore's models list the values of their fields: types, states, modes.
"""
OTHER_WORDS: Final = frozenset(
    {
        *("AttachVolume", "DetachVolume"),  # CloudTrail's events
        *("source", "destination", "other", "ec2:DescribeInstanceTypes"),  # of Slackwater's own records
        *("file-system", "instance", "volume"),  # in ARNs
        # The CloudWatch agent's names, and values of dimensions.
        *(
            "CWAgent",
            "disk_used_percent",
            "ethtool_bw_in_allowance_exceeded",
            "ethtool_bw_out_allowance_exceeded",
            "ena",
        ),
        *("All", "Archive", "HDD", "IA", "SSD", "Standard", "StandardCapacityPool", "Total"),
        *FILE_SYSTEMS,
        *ELSEWHERE,
        *("vfat", "zfs"),
    }
)
SNAPSHOT: Final = re.compile(r"snapshot \d{4}-\d\d-\d\d")
"""The source of an instance type's packaged data."""
ZONE: Final = re.compile(r"(?P<region>[a-z-]+-\d)(?:[a-z]|-[a-z]{3}-\d[a-z]|-wl\d-[a-z]{3}-wlz-\d)")
"""Availability Zones, Local Zones and Wavelength Zones."""


def is_public(text: str) -> bool:
    """Return whether a text is a word of AWS or of Slackwater, which names nobody."""
    if text in _words() or SNAPSHOT.fullmatch(text):
        return True
    zone = ZONE.fullmatch(text)
    return zone is not None and zone["region"] in _regions()


@cache
def _words() -> frozenset[str]:
    models = (create_loader().load_service_model(service, "service-2") for service in SERVICES)
    return OTHER_WORDS.union(*(shape.get("enum", ()) for model in models for shape in model["shapes"].values()))


@cache
def _regions() -> frozenset[str]:
    return frozenset(
        region for one in create_loader().load_data("endpoints")["partitions"] for region in one["regions"]
    )
