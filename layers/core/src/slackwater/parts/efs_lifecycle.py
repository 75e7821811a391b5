"""Changing when an EFS file system moves files between storage classes: the command, out of the setting.

PutLifecycleConfiguration replaces all that is set (Amazon EFS API Reference): whatever is to stay is in it.
"""

from __future__ import annotations

from slackwater.model.resources import EfsFileSystem
from slackwater.model.settings import EfsLifecycleSetting


def put_command(file_system: EfsFileSystem, to: EfsLifecycleSetting) -> str:
    """Set these transitions, and no others."""
    moves = (
        ("TransitionToIA", to.transition_to_ia),
        ("TransitionToArchive", to.transition_to_archive),
        ("TransitionToPrimaryStorageClass", to.transition_to_primary),
    )
    policies = " ".join(f"{transition}={when}" for transition, when in moves if when)
    return (
        f"aws efs put-lifecycle-configuration --file-system-id {file_system.id} --region {file_system.target.region}"
        f" --lifecycle-policies {policies}"
    )
