"""Compares an EFS file system with its record, and creates what is missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs import reading as read
from slackwater.aws.client.errors import EXPIRED, NOT_KNOWN, code_of, may_pass, reason
from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.efs import GONE
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM

if TYPE_CHECKING:
    from mypy_boto3_efs import EFSClient

NOT_YET: Final = frozenset({"FileSystemNotFound", "IncorrectFileSystemLifeCycleState"})
"""Errors of EFS for a file system that is being created or deleted."""


@dataclass(slots=True)
class MissingPartCreator:
    """Creates what one file system lacks.

    Attributes:
        late: There was no time for all access points. The next step creates the others.
        waits: EFS is still working on a request.
        refused: What EFS refused, and why.
        differences: What is not as it was.
    """

    reading: EFSClient
    asking: EFSClient
    id: str
    has_time: Callable[[], bool] = lambda: True
    late: bool = False
    waits: bool = False
    refused: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def put_origin(self, found: Mapping[str, Any], of: str) -> bool:
        """Set the tag with the id of the original before any other change. Return whether the tag is already set.

        IAM allows the restoring role to change only file systems with this tag, and no role to delete them.
        """
        if tags_of(found["Tags"]).get(RESTORED_FROM) == of:
            return True
        tag = _listed({RESTORED_FROM: of})
        self.waits |= self._put("its origin", self.asking.tag_resource, ResourceId=self.id, Tags=tag)
        return False

    def put_settings(self, found: Mapping[str, Any], was: Mapping[str, Any]) -> None:
        """Restore tags, daily backups and replication overwrite protection."""
        tags, want = tags_of(found["Tags"]), _owner_tags(was["tags"])
        if lacking := {key: value for key, value in want.items() if tags.get(key) != value}:
            self._put("its tags", self.asking.tag_resource, ResourceId=self.id, Tags=_listed(lacking))
        if was["backed_up_daily"] not in {None, read.backed_up_daily(self.reading, self.id)}:
            status = "ENABLED" if was["backed_up_daily"] else "DISABLED"
            self._put(
                "its daily backups",
                self.asking.put_backup_policy,
                FileSystemId=self.id,
                BackupPolicy={"Status": status},
            )
        protection = found.get("FileSystemProtection", {}).get("ReplicationOverwriteProtection")
        if was["overwrite_protection"] not in {None, protection}:
            self._put(
                "its protection from replication",
                self.asking.update_file_system_protection,
                FileSystemId=self.id,
                ReplicationOverwriteProtection=was["overwrite_protection"],
            )

    def put_performance(self, found: Mapping[str, Any], was: Mapping[str, Any]) -> None:
        """Restore throughput and lifecycle. While EFS changes the throughput, it accepts no other change."""
        now = (found["ThroughputMode"], found.get("ProvisionedThroughputInMibps"))
        if was["throughput_mode"] and now != (was["throughput_mode"], was["provisioned_mib_s"]):
            throughput = read.throughput(was["throughput_mode"], was["provisioned_mib_s"])
            if self._put("its throughput", self.asking.update_file_system, FileSystemId=self.id, **throughput):
                self.waits = True
                return
        if was["lifecycle"] is not None and _sorted(read.lifecycle(self.reading, self.id)) != _sorted(was["lifecycle"]):
            self._put(
                "its lifecycle",
                self.asking.put_lifecycle_configuration,
                FileSystemId=self.id,
                LifecyclePolicies=was["lifecycle"],
            )

    def put_access_points(self, were: list[Mapping[str, Any]], execution: str) -> Mapping[str, str]:
        """Create each missing access point. Return the ARN of each old one with the ARN of its replacement."""
        there = [one for one in read.access_points(self.reading, self.id) if one["LifeCycleState"] not in GONE]
        by_id = {one["AccessPointId"]: one for one in there}
        by_token = {one.get("ClientToken"): one for one in there}
        arns = {}
        for was in were:
            same = token(execution, self.id, was["id"])
            now = by_id.get(was["id"]) or by_token.get(same)
            if now is None:
                if not self.has_time():
                    self.late = True
                    break
                self.waits |= self._put(f"its access point {was['id']}", self._create_access_point, same=same, was=was)
            elif now["LifeCycleState"] == "error":
                self.refused.append(f"the state of its access point {now['AccessPointId']} is error")
            else:
                self.waits |= now["LifeCycleState"] != "available"
                arns[was["arn"]] = now["AccessPointArn"]
                if now["AccessPointId"] != was["id"]:
                    self.differences.append(f"its access point {was['id']} is {now['AccessPointId']} now")
        return arns

    def put_policy(self, policy: str | None, renamed: Mapping[str, str]) -> bool:
        """Restore the file system policy, with new ARNs in place of the old ones. Return whether it is in effect."""
        if policy is None:
            return True
        for old, new in renamed.items():
            policy = policy.replace(old, new)
        now = read.policy(self.reading, self.id)
        if now is not None and json.loads(now) == json.loads(policy):
            return True
        return self._put("its policy", self.asking.put_file_system_policy, FileSystemId=self.id, Policy=policy)

    def put_mount_targets(self, were: list[Mapping[str, Any]]) -> None:
        """Create each missing mount target, with its old address if that is free."""
        there = {one["SubnetId"]: one for one in read.mount_targets(self.reading, self.id)}
        staying = {subnet for subnet, one in there.items() if one["LifeCycleState"] not in GONE}
        strangers = staying - {one["subnet_id"] for one in were}
        for was in were:
            subnet = was["subnet_id"]
            now = there.get(subnet)
            if now is None:
                named = f"its mount target in {subnet}"
                self.waits |= self._put(named, self._create_mount_target, was=was, strangers=bool(strangers))
            elif now["LifeCycleState"] == "error":
                self.refused.append(f"the state of its mount target {now['MountTargetId']} is error")
            else:
                self.waits |= now["LifeCycleState"] != "available"
                self.differences += _other_mount_target(was, now)

    def _create_access_point(self, same: str, was: Mapping[str, Any]) -> None:
        given = {"PosixUser": was["posix_user"], "RootDirectory": was["root_directory"]}
        try:
            self.asking.create_access_point(
                ClientToken=same,
                FileSystemId=self.id,
                Tags=_listed(_owner_tags(was["tags"])),
                **{name: value for name, value in given.items() if value is not None},
            )
        except ClientError as error:
            if code_of(error) != "AccessPointAlreadyExists":  # created with this token, but not listed yet
                raise

    def _create_mount_target(self, was: Mapping[str, Any], *, strangers: bool) -> None:
        addresses = {"IpAddress": was["ip_address"], "Ipv6Address": was["ipv6_address"]}
        addresses = {name: value for name, value in addresses.items() if value}
        kind = {("IpAddress", "Ipv6Address"): "DUAL_STACK", ("Ipv6Address",): "IPV6_ONLY"}.get(tuple(addresses))
        same = {
            "FileSystemId": self.id,
            "SubnetId": was["subnet_id"],
            "SecurityGroups": was["security_groups"],
            **({"IpAddressType": kind} if kind else {}),
        }
        try:
            try:
                self.asking.create_mount_target(**same, **addresses)
            except ClientError as error:
                if code_of(error) != "IpAddressInUse":
                    raise
                self.asking.create_mount_target(**same)
        except ClientError as error:
            if code_of(error) != "MountTargetConflict" or strangers:  # else it is our own, not listed yet
                raise

    def _put(self, what: str, call: Callable[..., Any], **parameters: Any) -> bool:
        """Send one request. If EFS refuses it, add the reason to `refused` and return False."""
        try:
            call(**parameters)
        except ClientError as error:
            if can_resend(error) or code_of(error) in NOT_YET:
                raise
            self.refused.append(f"{what} could not be restored: {reason(error)}")
            return False
        return True


def can_resend(error: ClientError) -> bool:
    """Return whether the same request can be sent again, now or with other credentials."""
    return may_pass(error) or code_of(error) in EXPIRED | NOT_KNOWN


def _owner_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the owner's tags, without AWS's own, which only AWS can set, and without Slackwater's clean-up tags."""
    return {
        key: value for key, value in tags.items() if not key.startswith("aws:") and key not in {CLEANUP_TAG, ACT_AFTER}
    }


def _listed(tags: Mapping[str, str]) -> list[Any]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _sorted(policies: list[dict[str, str]]) -> list[list[tuple[str, str]]]:
    return sorted(sorted(one.items()) for one in policies)


def token(*parts: str) -> str:
    """Return a token, always the same for the same parts. EFS and AWS Backup accept at most 64 characters."""
    return f"slackwater-{hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:40]}"


def _other_mount_target(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if now["MountTargetId"] == was["id"]:
        return []
    address = now.get("IpAddress") or now.get("Ipv6Address")
    same = address == (was["ip_address"] or was["ipv6_address"])
    moved = "" if same else f", at {address} in the place of {was['ip_address'] or was['ipv6_address']}"
    return [f"its mount target in {was['subnet_id']} is {now['MountTargetId']}, not {was['id']}{moved}"]
