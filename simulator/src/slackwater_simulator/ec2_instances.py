"""Serve EC2's instances, instance types, and the network interfaces of file systems."""

from collections.abc import Callable
from typing import Any

from . import efs, fsx
from .ec2_query import asked_for, filtered, hexadecimal, operator, owned, paged, tag_set, zone_id
from .instance_types import TYPES, InstanceType
from .partitions import global_arn
from .resources import Fleet, FsxFileSystem, Instance, Volume, rfc3339
from .wire import AwsError, Call, Json, Reply, Xml, text, xml, xml_reply

_STATES = {"running": 16, "stopped": 80, "terminated": 48}


def _template(lines: str) -> str:
    """Return lines, which are for people to read, joined to the XML that is sent."""
    return "".join(line.strip() for line in lines.splitlines())


# --- Instances --------------------------------------------------------------------------------------------------------

_INSTANCE_FILTERS: dict[str, Callable[[Instance], str]] = {
    "instance-id": lambda instance: instance.id,
    "instance-state-name": lambda instance: instance.state,
}
_INSTANCE = _template("""
    <instanceId>{id}</instanceId><imageId>ami-{image}</imageId>
    <instanceState><code>{code}</code><name>{state}</name></instanceState>
    <privateDnsName>{host}</privateDnsName><dnsName/><reason>{reason}</reason><keyName>operations</keyName>
    <amiLaunchIndex>0</amiLaunchIndex><productCodes/><instanceType>{kind.name}</instanceType>
    <launchTime>{launched}</launchTime>
    <placement>
        <availabilityZone>{az}</availabilityZone><availabilityZoneId>{zone}</availabilityZoneId>
        <groupName/><tenancy>default</tenancy>
    </placement>
    <monitoring><state>{monitoring}</state></monitoring>
    <subnetId>{subnet}</subnetId><vpcId>{vpc}</vpcId><privateIpAddress>{address}</privateIpAddress>
    <sourceDestCheck>true</sourceDestCheck>{group}{why}
    <architecture>{kind.architecture}</architecture><rootDeviceType>ebs</rootDeviceType>
    <rootDeviceName>/dev/xvda</rootDeviceName>{devices}<virtualizationType>hvm</virtualizationType>
    <clientToken>{digits:.8}-aaaa-4bbb-8ccc-{digits:.12}</clientToken>{tags}<hypervisor>xen</hypervisor>{interfaces}
    <iamInstanceProfile><arn>{profile}</arn><id>AIPASIMULATED{profile_id}</id></iamInstanceProfile>{life}
    <ebsOptimized>{optimized}</ebsOptimized><enaSupport>true</enaSupport>
    <cpuOptions>
        <coreCount>{kind.cores}</coreCount><threadsPerCore>{kind.threads_per_core}</threadsPerCore>
    </cpuOptions>
    <capacityReservationSpecification>
        <capacityReservationPreference>open</capacityReservationPreference>
    </capacityReservationSpecification>
    <hibernationOptions><configured>false</configured></hibernationOptions><licenseSet/>
    <metadataOptions>
        <state>applied</state><httpTokens>required</httpTokens><httpPutResponseHopLimit>2</httpPutResponseHopLimit>
        <httpEndpoint>enabled</httpEndpoint><httpProtocolIpv6>disabled</httpProtocolIpv6>
        <instanceMetadataTags>disabled</instanceMetadataTags>
    </metadataOptions>
    <enclaveOptions><enabled>false</enabled></enclaveOptions><platformDetails>Linux/UNIX</platformDetails>
    <usageOperation>RunInstances</usageOperation><usageOperationUpdateTime>{launched}</usageOperationUpdateTime>
    <privateDnsNameOptions>
        <hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord>
        <enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord>
    </privateDnsNameOptions>
    <maintenanceOptions>
        <autoRecovery>default</autoRecovery><rebootMigration>default</rebootMigration>
    </maintenanceOptions>
    <bootMode>uefi-preferred</bootMode><currentInstanceBootMode>uefi</currentInstanceBootMode>
    <networkPerformanceOptions><bandwidthWeighting>default</bandwidthWeighting></networkPerformanceOptions>{operator}
""")
_GROUP = "<groupSet><item><groupId>sg-{}</groupId><groupName>application</groupName></item></groupSet>"
_WHY = _template("""
    <stateReason>
        <code>Client.UserInitiatedShutdown</code>
        <message>Client.UserInitiatedShutdown: User initiated shutdown</message>
    </stateReason>
""")
_INTERFACES = _template("""
    <networkInterfaceSet><item>
        <networkInterfaceId>eni-{eni}</networkInterfaceId><subnetId>{subnet}</subnetId><vpcId>{vpc}</vpcId>
        <description/><ownerId>{owner}</ownerId><status>in-use</status><macAddress>{mac}</macAddress>
        <privateIpAddress>{address}</privateIpAddress><privateDnsName>{host}</privateDnsName>
        <sourceDestCheck>true</sourceDestCheck>{group}
        <attachment>
            <attachmentId>eni-attach-{eni}</attachmentId><deviceIndex>0</deviceIndex><status>attached</status>
            <attachTime>{launched}</attachTime><deleteOnTermination>true</deleteOnTermination>
            <networkCardIndex>0</networkCardIndex>
        </attachment>
        <privateIpAddressesSet><item>
            <privateIpAddress>{address}</privateIpAddress><privateDnsName>{host}</privateDnsName><primary>true</primary>
        </item></privateIpAddressesSet>
        <ipv6AddressesSet/><interfaceType>interface</interfaceType><operator><managed>false</managed></operator>
    </item></networkInterfaceSet>
""")


def describe_instances(call: Call) -> Reply:
    """List the instances of the Region, each in its own reservation."""
    everything = call.all(Instance)
    found = asked_for(call, "InstanceId", everything, lambda each: owned(call, each, Instance))
    fleet = call.account.fleet

    def reservation(instance: Instance) -> Json:
        number, instances = hexadecimal("r" + instance.id), [_instance(instance, fleet)]
        reserved = {"reservationId": f"r-{number}", "ownerId": fleet.account, "groupSet": []}
        return {**reserved, "instancesSet": instances}

    return paged(call, filtered(call, found, _INSTANCE_FILTERS), "reservationSet", reservation)


def _instance(instance: Instance, fleet: Fleet) -> Xml:
    """Render one instance with the many elements of a real answer."""
    region, digits, eni = instance.region, hexadecimal(instance.id), hexadecimal("eni" + instance.id)
    address = f"10.0.{int(digits[:2], 16)}.{int(digits[2:4], 16)}"
    ended = instance.state != "running" and instance.stopped
    carried = fleet.volumes_of.get(instance.id, ()) if instance.state != "terminated" else ()
    values: Json = {
        "id": instance.id,
        "image": hexadecimal(instance.type),
        "kind": instance.kind,
        "code": _STATES[instance.state],
        "state": instance.state,
        "reason": f"User initiated ({rfc3339(ended)[:-1].replace('T', ' ')} GMT)" if ended else "",
        "why": _WHY if ended else "",
        "launched": rfc3339(instance.launched, ".000"),
        "az": instance.az,
        "zone": zone_id(instance.az),
        "monitoring": "enabled" if instance.detailed else "disabled",
        "host": f"ip-{address.replace('.', '-')}.{region}.compute.internal",
        "address": address,
        "subnet": f"subnet-{hexadecimal(fleet.account + instance.az)}",
        "vpc": f"vpc-{hexadecimal(fleet.account + region)}",
        "group": _GROUP.format(hexadecimal("sg" + region)),
        "owner": fleet.account,
        "eni": eni,
        "mac": ":".join(("06", *(eni[place : place + 2] for place in range(0, 10, 2)))),
        "devices": xml({"blockDeviceMapping": [_device(volume) for volume in carried]}),
        "digits": digits,
        "tags": xml({"tagSet": tag_set(instance.tags)}),
        "profile": global_arn("iam", region, fleet.account, "instance-profile/application"),
        "profile_id": digits[:8].upper(),
        "life": "<instanceLifecycle>spot</instanceLifecycle>" if instance.spot else "",
        "optimized": text(instance.kind.ebs is not None),
        "operator": xml({"operator": operator(instance.operator)}),
    }
    interfaces = _INTERFACES.format(**values) if instance.state != "terminated" else "<networkInterfaceSet/>"
    return Xml(_INSTANCE.format(**values, interfaces=interfaces))


def _device(volume: Volume) -> Json:
    attachment = volume.attachments[0]
    attached = {
        "volumeId": volume.id,
        "status": "attached",
        "attachTime": rfc3339(attachment.since, ".000"),
        "deleteOnTermination": attachment.delete_on_termination,
        "operator": operator(volume.operator),
    }
    return {"deviceName": attachment.device, "ebs": attached}


# --- Instance types ---------------------------------------------------------------------------------------------------

_TYPE_FILTERS: dict[str, Callable[[InstanceType], str]] = {"instance-type": lambda kind: kind.name}


def describe_instance_types(call: Call) -> Reply:
    """List the known instance types by name and filter. Earlier versions of Slackwater give their names."""
    names = call.input.get("InstanceType") or []
    if unknown := [name for name in names if name not in TYPES]:
        missing = f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
        raise AwsError("InvalidInstanceType", missing)
    found = [TYPES[name] for name in names or TYPES]
    return paged(call, filtered(call, found, _TYPE_FILTERS), "instanceTypeSet", _type)


def _type(kind: InstanceType) -> Json:
    limits: dict[str, Any] = {}
    if kind.ebs:
        for side in ("baseline", "maximum"):
            mbps = getattr(kind.ebs, f"{side}_mbps")
            limits |= {f"{side}BandwidthInMbps": mbps, f"{side}ThroughputInMBps": mbps / 8}
            limits[f"{side}Iops"] = getattr(kind.ebs, f"{side}_iops")
    network = {"networkPerformance": kind.network_text, "maximumNetworkInterfaces": kind.interfaces}
    bandwidth = {"baselineBandwidthInGbps": kind.baseline_gbps, "peakBandwidthInGbps": kind.peak_gbps}
    cpus = {"defaultVCpus": kind.vcpus, "defaultCores": kind.cores, "defaultThreadsPerCore": kind.threads_per_core}
    return {
        "instanceType": kind.name,
        "currentGeneration": kind.current,
        "freeTierEligible": kind.name == "t3.micro",
        "supportedUsageClasses": ["on-demand", "spot"],
        "supportedRootDeviceTypes": ["ebs"],
        "supportedVirtualizationTypes": ["hvm"],
        "bareMetal": False,
        "hypervisor": kind.hypervisor,
        "processorInfo": {"supportedArchitectures": [kind.architecture], "sustainedClockSpeedInGhz": kind.clock_ghz},
        "vCpuInfo": cpus,
        "memoryInfo": {"sizeInMiB": kind.memory_mib},
        "instanceStorageSupported": False,
        "ebsInfo": {
            "ebsOptimizedSupport": kind.ebs_support,
            "encryptionSupport": "supported",
            "ebsOptimizedInfo": limits or None,
            "nvmeSupport": "required" if kind.nitro else "unsupported",
        },
        "networkInfo": {
            **network,
            "maximumNetworkCards": 1,
            "defaultNetworkCardIndex": 0,
            "networkCards": [{"networkCardIndex": 0, **network, **bandwidth}],
            "ipv4AddressesPerInterface": kind.addresses,
            "ipv6AddressesPerInterface": kind.addresses,
            "ipv6Supported": True,
            "enaSupport": "required" if kind.nitro else "supported",
            "efaSupported": False,
        },
        "hibernationSupported": True,
        "burstablePerformanceSupported": kind.cpu_credits,
        "dedicatedHostsSupported": True,
        "autoRecoverySupported": True,
    }


def describe_network_interfaces(call: Call) -> Reply:
    """List the network interfaces of FSx file systems by id."""
    account, default = call.account.id, (efs.security_group(call),)
    found = {
        interface: {
            "networkInterfaceId": interface,
            "subnetId": subnet,
            "vpcId": f"vpc-{hexadecimal(account + call.region)}",
            "description": f"Created by Amazon FSx for {system.id}",
            "ownerId": account,
            "requesterManaged": True,
            "status": "in-use",
            "groupSet": [{"groupId": each, "groupName": "default"} for each in system.detail.get("groups") or default],
        }
        for system in call.all(FsxFileSystem)
        for interface, subnet in fsx.interfaces_of(account, system).items()
    }
    for each in call.input["NetworkInterfaceId"]:
        if each not in found:
            raise AwsError("InvalidNetworkInterfaceID.NotFound", f"The networkInterface ID '{each}' does not exist")
    return xml_reply(call, {"networkInterfaceSet": [found[each] for each in call.input["NetworkInterfaceId"]]})
