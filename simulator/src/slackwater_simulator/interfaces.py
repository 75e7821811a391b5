"""EC2's network interfaces: those that file systems made for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import efs, fsx
from .ec2_query import hexadecimal, invalid
from .wire import AwsError, Call, Reply
from .xml import ec2_document, members, tag


class Interface(NamedTuple):
    """A network interface of a file system."""

    id: str
    subnet: str
    groups: tuple[str, ...]
    description: str


def _interfaces(call: Call) -> Iterator[Interface]:
    default = (efs.security_group(call),)
    for system in call.account.fsx.get(call.region, []):
        groups = tuple(system.detail.get("groups", ())) or default
        for interface, subnet in fsx.interfaces_of(call.account.id, system).items():
            yield Interface(interface, subnet, groups, f"Created by Amazon FSx for {system.id}")
    for served in call.account.efs.get(call.region, []):
        for target in served.mount_targets:
            groups, purpose = target.security_groups or default, f"EFS mount target for {served.id} ({target.id})"
            yield Interface(f"eni-{hexadecimal(target.id)}", efs.subnet_of(call, target), groups, purpose)


def describe_network_interfaces(call: Call) -> Reply:
    """Network interfaces by their ids, or all of them."""
    if call.input.get("Filter"):
        raise invalid("The simulator filters no network interfaces")
    found = {each.id: each for each in _interfaces(call)}
    wanted = call.input.get("NetworkInterfaceId") or tuple(found)
    for interface in wanted:
        if interface not in found:
            raise AwsError(
                "InvalidNetworkInterfaceID.NotFound", f"The networkInterface ID '{interface}' does not exist"
            )
    shown = (_interface(call, found[interface]) for interface in wanted)
    return Reply(ec2_document(call.operation, members("networkInterfaceSet", shown)), "text/xml;charset=UTF-8")


def _interface(call: Call, interface: Interface) -> str:
    groups = (tag("groupId", group) + tag("groupName", "default") for group in interface.groups)
    return (
        tag("networkInterfaceId", interface.id)
        + tag("subnetId", interface.subnet)
        + tag("vpcId", f"vpc-{hexadecimal(call.account.id + call.region)}")
        + tag("description", interface.description)
        + tag("ownerId", call.account.id)
        + tag("requesterManaged", True)
        + tag("status", "in-use")
        + members("groupSet", groups)
    )
