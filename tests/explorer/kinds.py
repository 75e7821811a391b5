"""The kinds of clean-up: a small fleet for each, and the policy that allows all of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, Activity
from support.cleanup_world import ACCOUNT, KINDS, POLICY, REGION


def _encrypted(build: Builder) -> None:
    """Build the volume of the other tests, encrypted with a customer managed key."""
    KINDS["ebs"][0](build)
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    build.volumes[:] = [replace(one, encrypted=True, kms_key=key) for one in build.volumes]


def _cold(build: Builder) -> None:
    """Build a file system that is read little and has all its data in Standard."""
    work = Activity(
        shape=build.shapes.shape("steady", 1), read=4 * KIB, write=1 * KIB, read_size=256 * KIB, write_size=256 * KIB
    )
    build.file_system("archive", days=400, standard_bytes=500 * GIB, activity=work)


EXPLORED: Final[Mapping[str, tuple[Callable[[Builder], None], str, str]]] = {
    "ebs": (_encrypted, *KINDS["ebs"][1:]),
    **{kind: KINDS[kind] for kind in ("efs", "efs-orphaned", "efs-abandoned", "openzfs", "gp3", "efs-throughput")},
    "efs-lifecycle": (_cold, "efs-cold-data", "archive"),
}
"""What builds the fleet of each kind, its detector, and the resource's name."""

WORDS: Final = (
    POLICY.replace("grace_days = 2", "grace_days = 2\napproval_days = 1").replace(
        '"efs-throughput-mismatch"', '"efs-throughput-mismatch", "efs-cold-data"'
    )
    + """
[[cleanup.unattended]]
tag = "Job"

[slack]
channel = "C0123ABCDEH"
"""
)
