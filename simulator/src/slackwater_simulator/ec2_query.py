"""EC2's query protocol: Regions, volumes, instances, instance types."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

from .account import cut
from .instance_types import TYPES, InstanceType
from .partitions import REGIONS, arn, global_arn, partition, suffix
from .resources import Attachment, Fleet, Instance, Tags, Volume, rfc3339
from .wire import AwsError, Call, Reply, offset_of, token
from .xml import ec2_document, members, tag, tag_set, text

ENABLED = REGIONS["aws"]
_OPTIONAL = ["af-south-1", "ap-east-1", "ap-southeast-3", "eu-south-1", "me-central-1", "me-south-1"]
VOLUMES_PAGE, INSTANCES_PAGE, TYPES_PAGE = 500, 1000, 100
"""Pages when MaxResults is not given; it may be 5-1000 (instance types: 5-100)."""


def hexadecimal(name: str, length: int = 17) -> str:
    """Stable hexadecimal digits for an id."""
    return blake2b(name.encode(), digest_size=16).hexdigest()[:length]


def key_arn(region: str, account: str) -> str:
    """The account's storage key."""
    return arn("kms", region, account, f"key/{hexadecimal(account, 8)}-1111-4222-8333-{hexadecimal(account, 12)}")


def invalid(message: str) -> AwsError:
    """An error in a parameter's value."""
    return AwsError("InvalidParameterValue", message)


def not_together(message: str) -> AwsError:
    """An error in parameters that exclude each other."""
    return AwsError("InvalidParameterCombination", message)


def reply(call: Call, body: str) -> Reply:
    """An answer."""
    return Reply(ec2_document(call.operation, body), "text/xml;charset=UTF-8")


def read_filters(call: Call, known: Collection[str]) -> dict[str, list[str]]:
    """Filters by name; one that EC2 would know but the simulator does not is an error, never ignored."""
    found: dict[str, list[str]] = {}
    for entry in call.input.get("Filter", ()):
        name = entry.get("Name", "")
        if name not in known and not name.startswith("tag:") and name != "tag-key":
            raise invalid(f"The filter '{name}' is invalid")
        found[name] = [str(value) for value in entry.get("Value", ())]
    return found


def _tagged(tags: Tags, name: str, wanted: Sequence[str]) -> bool:
    if name == "tag-key":
        return any(fnmatchcase(key, pattern) for key in tags for pattern in wanted)
    value = tags.get(name.removeprefix("tag:"))
    return value is not None and any(fnmatchcase(value, pattern) for pattern in wanted)


def matches(
    tags: Tags, filters: dict[str, list[str]], known: Collection[str], values: Callable[[str], Sequence[str]]
) -> bool:
    """Whether something with these tags, and these values by filter, passes all filters."""
    for name, wanted in filters.items():
        if name not in known:
            if not _tagged(tags, name, wanted):
                return False
        elif not any(fnmatchcase(value, pattern) for value in values(name) for pattern in wanted):
            return False
    return True


def page_size(call: Call, usual: int, most: int) -> int:
    """How many a page is to have."""
    given = call.input.get("MaxResults")
    if given is None:
        return usual
    if not str(given).isdigit() or not 5 <= int(given) <= 1000:
        raise invalid(f"Value ( {given} ) for parameter maxResults is invalid. Expecting a value between 5 and {most}.")
    return min(int(given), most)


def paged(
    call: Call, found: Sequence[Any], name: str, size: int, render: Callable[[Any], str], *, keep: bool = True
) -> Reply:
    """A page; it is not kept where it changes with time."""
    offset = offset_of(call.input.get("NextToken"), "InvalidParameterValue")
    items, following = cut(found, offset, size)
    next_token = tag("nextToken", token(following)) if following is not None else ""
    inputs = repr(sorted((key, repr(value)) for key, value in call.input.items()))

    def page() -> bytes:
        return ec2_document(call.operation, members(name, map(render, items)) + next_token)

    body = call.account.page((call.operation, call.region, inputs), page) if keep else page()
    return Reply(body, "text/xml;charset=UTF-8")


def asked_for[T: (Volume, Instance)](
    call: Call, items: Sequence[T], kind: type[T], parameter: str, code: str
) -> Sequence[T]:
    """Items by id, when ids are given."""
    ids = call.input.get(parameter)
    if not ids:
        return items
    if call.input.get("MaxResults"):
        raise not_together(f"The parameter {parameter} cannot be used with the parameter maxResults")
    found = [owned(call, each, kind, code) for each in ids]
    return list({item.id: item for item in found}.values())


def owned[T: (Volume, Instance)](call: Call, item_id: str, kind: type[T], code: str) -> T:
    """One item of the Region."""
    item = call.account.find(item_id)
    if not isinstance(item, kind) or item.region != call.region:
        raise AwsError(code, f"The {kind.__name__.lower()} '{item_id}' does not exist.")
    return item


# --- Regions ----------------------------------------------------------------------------------------------------------


def describe_regions(call: Call) -> Reply:
    """Enabled Regions; with AllRegions the opt-in ones too."""
    there = partition(call.region)
    optional = _OPTIONAL if there == "aws" else []
    regions = [(name, "opt-in-not-required") for name in call.account.fleet.enabled or REGIONS[there]]
    if call.input.get("AllRegions") == "true":
        regions += [(name, "not-opted-in") for name in optional]
    names = call.input.get("RegionName")
    if names:
        unknown = [name for name in names if name not in {*REGIONS[there], *optional}]
        if unknown:
            raise invalid(f"Invalid region name: {unknown[0]}")
        regions = [region for region in regions if region[0] in names]
    for name, wanted in read_filters(call, ("opt-in-status", "region-name", "endpoint")).items():
        regions = [region for region in regions if {"opt-in-status": region[1]}.get(name, region[0]) in wanted]
    rendered = (
        tag("regionName", name) + tag("regionEndpoint", f"ec2.{name}.{suffix(name)}") + tag("optInStatus", status)
        for name, status in regions
    )
    return reply(call, members("regionInfo", rendered))


# --- Volumes ----------------------------------------------------------------------------------------------------------

_VOLUME_FILTERS = (
    *("volume-id", "status", "volume-type", "availability-zone", "attachment.instance-id", "attachment.status"),
    "encrypted",
)


def _volume_values(volume: Volume) -> Callable[[str], Sequence[str]]:
    found: dict[str, Sequence[str]] = {
        "volume-id": [volume.id],
        "status": [volume.state],
        "volume-type": [volume.type],
        "availability-zone": [volume.az],
        "attachment.instance-id": [attachment.instance_id for attachment in volume.attachments],
        "attachment.status": ["attached"] * len(volume.attachments),
        "encrypted": [text(volume.encrypted)],
    }
    return found.__getitem__


def describe_volumes(call: Call) -> Reply:
    """Volumes of the Region, newest style of fields."""
    found = asked_for(call, call.account.volumes.get(call.region, []), Volume, "VolumeId", "InvalidVolume.NotFound")
    if filters := read_filters(call, _VOLUME_FILTERS):
        found = [volume for volume in found if matches(volume.tags, filters, _VOLUME_FILTERS, _volume_values(volume))]
    return paged(
        call,
        found,
        "volumeSet",
        page_size(call, VOLUMES_PAGE, 1000),
        lambda volume: volume_xml(volume, call.account.id),
    )


def volume_xml(volume: Volume, account: str) -> str:
    """One volume."""
    key = (volume.kms_key or key_arn(volume.region, account)) if volume.encrypted else None
    return (
        f"<volumeId>{volume.id}</volumeId><size>{volume.size_gib}</size>"
        f"<volumeArn>{arn('ec2', volume.region, account, f'volume/{volume.id}')}</volumeArn>"
        f"{tag('snapshotId', volume.snapshot_id)}<availabilityZone>{volume.az}</availabilityZone>"
        f"<availabilityZoneId>{zone_id(volume.az)}</availabilityZoneId><status>{volume.state}</status>"
        f"<createTime>{rfc3339(volume.created, '.123')}</createTime>"
        f"{members('attachmentSet', (_attachment_xml(volume, attachment) for attachment in volume.attachments))}"
        f"{tag_set(volume.tags)}<volumeType>{volume.type}</volumeType>{tag('iops', volume.iops_limit)}"
        f"<encrypted>{text(volume.encrypted)}</encrypted>{tag('kmsKeyId', key)}"
        f"<multiAttachEnabled>{text(volume.multi_attach)}</multiAttachEnabled>{tag('throughput', volume.throughput_limit)}"
        f"{_operator_xml(volume.operator)}"
    )


def _operator_xml(principal: str) -> str:
    """Whether an AWS service manages it, and which."""
    managed = (
        f"<managed>true</managed><principal>{text(principal)}</principal>" if principal else "<managed>false</managed>"
    )
    return f"<operator>{managed}</operator>"


def _attachment_xml(volume: Volume, attachment: Attachment) -> str:
    return (
        f"<volumeId>{volume.id}</volumeId><instanceId>{attachment.instance_id}</instanceId><device>{attachment.device}</device>"
        f"<status>attached</status><attachTime>{rfc3339(attachment.since, '.000')}</attachTime>"
        f"<deleteOnTermination>{text(attachment.delete_on_termination)}</deleteOnTermination>"
    )


def zone_id(az: str) -> str:
    """The zone's id: a for az1, c for az2, …"""
    country, *parts, direction, number = az[:-1].split("-")  # `us-gov-west-1`
    area = country + "".join(part[0] for part in parts)
    compass = {"northeast": "ne", "northwest": "nw", "southeast": "se"}.get(direction, direction[0])
    return f"{area}{compass}{number}-az{ord(az[-1]) - ord('a') + 1}"


# --- Instances --------------------------------------------------------------------------------------------------------

_STATES = {"running": 16, "stopped": 80, "terminated": 48}
_INSTANCE_FILTERS = ("instance-id", "instance-state-name", "instance-type", "availability-zone")


def _instance_values(instance: Instance) -> Callable[[str], Sequence[str]]:
    found = {
        "instance-id": instance.id,
        "instance-state-name": instance.state,
        "instance-type": instance.type,
        "availability-zone": instance.az,
    }
    return lambda name: [found[name]]


def describe_instances(call: Call) -> Reply:
    """Instances of the Region, a reservation each."""
    found = asked_for(
        call, call.account.instances.get(call.region, []), Instance, "InstanceId", "InvalidInstanceID.NotFound"
    )
    if filters := read_filters(call, _INSTANCE_FILTERS):
        found = [
            instance
            for instance in found
            if matches(instance.tags, filters, _INSTANCE_FILTERS, _instance_values(instance))
        ]
    fleet = call.account.fleet

    def reservation(instance: Instance) -> str:
        number = hexadecimal("r" + instance.id)
        body = members("instancesSet", [instance_xml(instance, fleet)])
        return f"<reservationId>r-{number}</reservationId><ownerId>{fleet.account}</ownerId><groupSet/>{body}"

    return paged(call, found, "reservationSet", page_size(call, INSTANCES_PAGE, 1000), reservation)


def instance_xml(instance: Instance, fleet: Fleet) -> str:
    """One instance, with the many elements that real answers carry."""
    kind, region, launched = instance.kind, instance.region, rfc3339(instance.launched, ".000")
    digits = hexadecimal(instance.id)
    address = f"10.0.{int(digits[:2], 16)}.{int(digits[2:4], 16)}"
    host = f"ip-{address.replace('.', '-')}.{region}.compute.internal"
    vpc, subnet = f"vpc-{hexadecimal(fleet.account + region)}", f"subnet-{hexadecimal(fleet.account + instance.az)}"
    group = f"<groupId>sg-{hexadecimal('sg' + region)}</groupId><groupName>application</groupName>"
    profile = global_arn("iam", region, fleet.account, "instance-profile/application")
    state = f"<code>{_STATES[instance.state]}</code><name>{instance.state}</name>"
    reason, why = "", ""
    if instance.state != "running" and instance.stopped:
        reason = f"User initiated ({rfc3339(instance.stopped)[:-1].replace('T', ' ')} GMT)"
        why = (
            "<stateReason><code>Client.UserInitiatedShutdown</code>"
            "<message>Client.UserInitiatedShutdown: User initiated shutdown</message></stateReason>"
        )
    devices = members(
        "blockDeviceMapping",
        (_device_xml(volume) for volume in fleet.volumes_of.get(instance.id, ()) if instance.state != "terminated"),
    )
    return (
        f"<instanceId>{instance.id}</instanceId><imageId>ami-{hexadecimal(instance.type)}</imageId><instanceState>{state}</instanceState>"
        f"<privateDnsName>{host}</privateDnsName><dnsName/><reason>{reason}</reason><keyName>operations</keyName><amiLaunchIndex>0</amiLaunchIndex>"
        f"<productCodes/><instanceType>{instance.type}</instanceType><launchTime>{launched}</launchTime>"
        f"<placement><availabilityZone>{instance.az}</availabilityZone><availabilityZoneId>{zone_id(instance.az)}</availabilityZoneId>"
        "<groupName/><tenancy>default</tenancy></placement>"
        f"<monitoring><state>{'enabled' if instance.detailed else 'disabled'}</state></monitoring>"
        f"<subnetId>{subnet}</subnetId><vpcId>{vpc}</vpcId><privateIpAddress>{address}</privateIpAddress>"
        f"<sourceDestCheck>true</sourceDestCheck><groupSet><item>{group}</item></groupSet>{why}"
        f"<architecture>{kind.architecture}</architecture><rootDeviceType>ebs</rootDeviceType><rootDeviceName>/dev/xvda</rootDeviceName>{devices}"
        f"<virtualizationType>hvm</virtualizationType><clientToken>{digits[:8]}-aaaa-4bbb-8ccc-{digits[:12]}</clientToken>{tag_set(instance.tags)}"
        f"<hypervisor>xen</hypervisor>{_interface_xml(instance, fleet.account, vpc, subnet, address, host, group)}"
        f"<iamInstanceProfile><arn>{profile}</arn><id>AIPASIMULATED{digits[:8].upper()}</id></iamInstanceProfile>"
        f"{'<instanceLifecycle>spot</instanceLifecycle>' if instance.spot else ''}"
        f"<ebsOptimized>{text(kind.ebs is not None)}</ebsOptimized><enaSupport>true</enaSupport>"
        f"<cpuOptions><coreCount>{kind.cores}</coreCount><threadsPerCore>{kind.threads_per_core}</threadsPerCore></cpuOptions>"
        "<capacityReservationSpecification><capacityReservationPreference>open</capacityReservationPreference></capacityReservationSpecification>"
        "<hibernationOptions><configured>false</configured></hibernationOptions><licenseSet/>"
        "<metadataOptions><state>applied</state><httpTokens>required</httpTokens><httpPutResponseHopLimit>2</httpPutResponseHopLimit>"
        "<httpEndpoint>enabled</httpEndpoint><httpProtocolIpv6>disabled</httpProtocolIpv6><instanceMetadataTags>disabled</instanceMetadataTags></metadataOptions>"
        "<enclaveOptions><enabled>false</enabled></enclaveOptions><platformDetails>Linux/UNIX</platformDetails><usageOperation>RunInstances</usageOperation>"
        f"<usageOperationUpdateTime>{launched}</usageOperationUpdateTime>"
        "<privateDnsNameOptions><hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord>"
        "<enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord></privateDnsNameOptions>"
        "<maintenanceOptions><autoRecovery>default</autoRecovery><rebootMigration>default</rebootMigration></maintenanceOptions>"
        "<bootMode>uefi-preferred</bootMode><currentInstanceBootMode>uefi</currentInstanceBootMode>"
        "<networkPerformanceOptions><bandwidthWeighting>default</bandwidthWeighting></networkPerformanceOptions>"
        f"{_operator_xml(instance.operator)}"
    )


def _device_xml(volume: Volume) -> str:
    attachment = volume.attachments[0]
    return (
        f"<deviceName>{attachment.device}</deviceName><ebs><volumeId>{volume.id}</volumeId><status>attached</status>"
        f"<attachTime>{rfc3339(attachment.since, '.000')}</attachTime>"
        f"<deleteOnTermination>{text(attachment.delete_on_termination)}</deleteOnTermination>"
        f"{_operator_xml(volume.operator)}</ebs>"
    )


def _interface_xml(instance: Instance, account: str, vpc: str, subnet: str, address: str, host: str, group: str) -> str:
    if instance.state == "terminated":
        return "<networkInterfaceSet/>"
    digits = hexadecimal("eni" + instance.id)
    mac = ":".join(("06", *(digits[place : place + 2] for place in range(0, 10, 2))))
    since = rfc3339(instance.launched, ".000")
    return (
        f"<networkInterfaceSet><item><networkInterfaceId>eni-{digits}</networkInterfaceId><subnetId>{subnet}</subnetId><vpcId>{vpc}</vpcId>"
        f"<description/><ownerId>{account}</ownerId><status>in-use</status><macAddress>{mac}</macAddress>"
        f"<privateIpAddress>{address}</privateIpAddress><privateDnsName>{host}</privateDnsName><sourceDestCheck>true</sourceDestCheck>"
        f"<groupSet><item>{group}</item></groupSet><attachment><attachmentId>eni-attach-{digits}</attachmentId><deviceIndex>0</deviceIndex>"
        f"<status>attached</status><attachTime>{since}</attachTime><deleteOnTermination>true</deleteOnTermination><networkCardIndex>0</networkCardIndex></attachment>"
        f"<privateIpAddressesSet><item><privateIpAddress>{address}</privateIpAddress><privateDnsName>{host}</privateDnsName><primary>true</primary></item>"
        "</privateIpAddressesSet><ipv6AddressesSet/><interfaceType>interface</interfaceType><operator><managed>false</managed></operator></item></networkInterfaceSet>"
    )


# --- Instance types ---------------------------------------------------------------------------------------------------


def describe_instance_types(call: Call) -> Reply:
    """The types of the table; all of them without names."""
    names = call.input.get("InstanceType") or []
    if len(names) > 100:
        raise invalid("The maximum number of instance types that can be specified is 100")
    unknown = [name for name in names if name not in TYPES]
    if unknown:
        raise AwsError(
            "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
        )
    if names and call.input.get("MaxResults"):
        raise not_together("The parameter InstanceTypes cannot be used with the parameter maxResults")
    found = [TYPES[name] for name in names] if names else list(TYPES.values())
    for name, wanted in read_filters(
        call, ("instance-type", "hypervisor", "burstable-performance-supported", "current-generation")
    ).items():
        found = [kind for kind in found if any(fnmatchcase(_type_value(kind, name), pattern) for pattern in wanted)]
    size = min(page_size(call, TYPES_PAGE, 100), TYPES_PAGE)
    return paged(call, found, "instanceTypeSet", size, type_xml)


def _type_value(kind: InstanceType, name: str) -> str:
    return {
        "instance-type": kind.name,
        "hypervisor": kind.hypervisor,
        "burstable-performance-supported": text(kind.cpu_credits),
        "current-generation": text(kind.current),
    }[name]


def type_xml(kind: InstanceType) -> str:
    """One instance type."""
    limits = ""
    if kind.ebs:
        sides = (
            ("baseline", kind.ebs.baseline_mbps, kind.ebs.baseline_iops),
            ("maximum", kind.ebs.maximum_mbps, kind.ebs.maximum_iops),
        )
        limits = "".join(
            tag(f"{side}BandwidthInMbps", mbps) + tag(f"{side}ThroughputInMBps", mbps / 8) + tag(f"{side}Iops", iops)
            for side, mbps, iops in sides
        )
        limits = f"<ebsOptimizedInfo>{limits}</ebsOptimizedInfo>"
    nvme = "required" if kind.nitro else "unsupported"
    card = (
        tag("networkCardIndex", 0)
        + tag("networkPerformance", kind.network_text)
        + tag("maximumNetworkInterfaces", kind.interfaces)
        + tag("baselineBandwidthInGbps", kind.baseline_gbps)
        + tag("peakBandwidthInGbps", kind.peak_gbps)
    )
    return (
        f"<instanceType>{kind.name}</instanceType><currentGeneration>{text(kind.current)}</currentGeneration>"
        f"<freeTierEligible>{text(kind.name == 't3.micro')}</freeTierEligible>"
        f"{members('supportedUsageClasses', ('on-demand', 'spot'))}"
        f"{members('supportedRootDeviceTypes', ('ebs',))}{members('supportedVirtualizationTypes', ('hvm',))}"
        f"<bareMetal>false</bareMetal><hypervisor>{kind.hypervisor}</hypervisor>"
        f"<processorInfo>{members('supportedArchitectures', (kind.architecture,))}"
        f"<sustainedClockSpeedInGhz>{kind.clock_ghz}</sustainedClockSpeedInGhz></processorInfo>"
        f"<vCpuInfo><defaultVCpus>{kind.vcpus}</defaultVCpus><defaultCores>{kind.cores}</defaultCores>"
        f"<defaultThreadsPerCore>{kind.threads_per_core}</defaultThreadsPerCore></vCpuInfo><memoryInfo><sizeInMiB>{kind.memory_mib}</sizeInMiB></memoryInfo>"
        "<instanceStorageSupported>false</instanceStorageSupported>"
        f"<ebsInfo><ebsOptimizedSupport>{kind.ebs_support}</ebsOptimizedSupport><encryptionSupport>supported</encryptionSupport>{limits}<nvmeSupport>{nvme}</nvmeSupport></ebsInfo>"
        f"<networkInfo><networkPerformance>{kind.network_text}</networkPerformance><maximumNetworkInterfaces>{kind.interfaces}</maximumNetworkInterfaces>"
        f"<maximumNetworkCards>1</maximumNetworkCards><defaultNetworkCardIndex>0</defaultNetworkCardIndex><networkCards><item>{card}</item></networkCards>"
        f"<ipv4AddressesPerInterface>{kind.addresses}</ipv4AddressesPerInterface>"
        f"<ipv6AddressesPerInterface>{kind.addresses}</ipv6AddressesPerInterface>"
        f"<ipv6Supported>true</ipv6Supported>"
        f"<enaSupport>{'required' if kind.nitro else 'supported'}</enaSupport><efaSupported>false</efaSupported></networkInfo>"
        "<hibernationSupported>true</hibernationSupported>"
        f"<burstablePerformanceSupported>{text(kind.cpu_credits)}</burstablePerformanceSupported><dedicatedHostsSupported>true</dedicatedHostsSupported>"
        "<autoRecoverySupported>true</autoRecoverySupported>"
    )
