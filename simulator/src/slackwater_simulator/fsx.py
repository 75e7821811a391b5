"""Serve FSx over JSON 1.1: describe file systems, volumes and backups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .ec2_query import hexadecimal, key_arn
from .partitions import arn, partition, suffix
from .resources import GIB, MIB, Backup, FsxFileSystem, FsxVolume, StorageVirtualMachine
from .wire import AwsError, Call, Json, Reply, json_reply, known, page_of, page_size, tag_list

PAGE = 50
"""Items a page. FSx does not publish its own limit, so callers must follow NextToken for any page size."""
BACKUPS: Final = "fsx-backup"
IDS: Final = 50
"""The maximum number of ids in a call (FSx API reference, BackupIds, FileSystemIds, VolumeIds)."""
CONFIGURATIONS: Final[Mapping[str, str]] = {
    "LUSTRE": "LustreConfiguration",
    "ONTAP": "OntapConfiguration",
    "OPENZFS": "OpenZFSConfiguration",
    "WINDOWS": "WindowsConfiguration",
}
"""The member that has the settings of one type of file system only."""


type Item = FsxFileSystem | FsxVolume | StorageVirtualMachine | Backup
"""Resources that have an FSx ARN."""


def _paged[T](call: Call, name: str, found: Sequence[T], render: Callable[[Call, T], Json]) -> Reply:
    size = page_size(call, PAGE)

    def page() -> Reply:
        return json_reply(call, page_of(call, name, found, lambda item: render(call, item), size))

    return call.account.kept((name, call.region, repr(call.input)), page)


def _wanted(call: Call, parameter: str, items: Sequence[Any], code: str) -> Sequence[Any]:
    ids = call.input.get(parameter)
    if not ids:
        return items
    if len(ids) > IDS:
        raise AwsError("BadRequest", f"{parameter} names more than {IDS}.")
    by_id = {item.id: item for item in items}
    missing = [each for each in ids if each not in by_id]
    if missing:
        raise AwsError(code, f"{parameter} {missing} do not exist")
    return [by_id[each] for each in ids]


def zone_subnets(account: str, region: str, zones: Sequence[str]) -> list[str]:
    """Return the subnets of an account in these zones, such as `("a", "c")`."""
    return [f"subnet-{hexadecimal(account + region + zone)}" for zone in zones]


def _filtered[T](call: Call, items: Sequence[T], known: Mapping[str, Callable[[T], object]]) -> Sequence[T]:
    for entry in call.input.get("Filters", ()):
        name, wanted = entry.get("Name"), entry.get("Values", ())
        if name not in known:
            raise AwsError("BadRequest", f"Filter {name} is not valid")
        items = [item for item in items if known[name](item) in wanted]
    return items


def arn_of(account: str, item: Item) -> str:
    """Return the ARN of a resource."""
    match item:
        case FsxFileSystem():
            path = f"file-system/{item.id}"
        case FsxVolume():
            path = f"volume/{item.file_system_id}/{item.id}"
        case StorageVirtualMachine():
            path = f"storage-virtual-machine/{item.file_system_id}/{item.id}"
        case Backup():
            path = f"backup/{item.id}"
    return arn("fsx", item.region, account, path)


def subnets_of(account: str, system: FsxFileSystem) -> list[str]:
    """Return the file system's subnets, the preferred one first."""
    zones = ("a", "c") if system.deployment.startswith("MULTI_AZ") else ("a",)
    return list(system.detail.get("subnets") or zone_subnets(account, system.region, zones))


def interfaces_of(account: str, system: FsxFileSystem) -> dict[str, str]:
    """Return the subnets of the file system's network interfaces, by interface id."""
    return {
        f"eni-{hexadecimal(system.id + 'ac'[number])}": each for number, each in enumerate(subnets_of(account, system))
    }


def describe_file_systems(call: Call) -> Reply:
    """List file systems of every type."""
    found = _wanted(call, "FileSystemIds", call.all(FsxFileSystem), "FileSystemNotFound")
    return _paged(call, "FileSystems", found, file_system)


def file_system(call: Call, system: FsxFileSystem) -> Json:
    """Render a file system as FSx describes it."""
    account, region = call.account.id, system.region
    answer: Json = {
        "OwnerId": account,
        "CreationTime": float(system.created),
        "FileSystemId": system.id,
        "FileSystemType": system.kind,
        "Lifecycle": system.phase,
        "StorageCapacity": system.storage_gib,
        "StorageType": "SSD",
        "VpcId": f"vpc-{hexadecimal(account + region)}",
        "SubnetIds": subnets_of(account, system),
        "NetworkInterfaceIds": list(interfaces_of(account, system)),
        "DNSName": f"{system.id}.fsx.{region}.{suffix(region)}",
        "KmsKeyId": system.detail.get("kms") or key_arn(region, account),
        "ResourceARN": arn_of(account, system),
        "Tags": tag_list(system.tags),
        CONFIGURATIONS[system.kind]: configuration(call, system),
        "AdministrativeActions": system.detail.get("actions"),
    }
    return known(answer)


def configuration(call: Call, system: FsxFileSystem) -> Json:
    """Render the settings that only this type of file system has, including those given at its creation."""
    usual, given = _configuration(system, subnets_of(call.account.id, system)), system.detail.get("configuration", {})
    return usual | {key: value for key, value in given.items() if key in usual}


def _configuration(system: FsxFileSystem, subnets: list[str]) -> Json:
    common: Json = {
        "AutomaticBackupRetentionDays": system.backup_days,
        "DailyAutomaticBackupStartTime": "18:00",
        "DeploymentType": system.deployment,
        "ThroughputCapacity": system.throughput,
        "WeeklyMaintenanceStartTime": "7:18:00",
        "PreferredSubnetId": subnets[0],
    }
    iops = {"Mode": "USER_PROVISIONED" if system.iops else "AUTOMATIC", "Iops": system.iops or 3 * system.storage_gib}
    routed: Json = {"EndpointIpAddressRange": "198.19.255.0/24", "RouteTableIds": ["rtb-0123456789abcdef0"]}
    match system.kind:
        case "OPENZFS":
            more: Json = {
                "CopyTagsToBackups": True,
                "CopyTagsToVolumes": True,
                "DiskIopsConfiguration": iops,
                "RootVolumeId": system.root_volume_id,
            }
            if len(subnets) > 1:
                more |= {"EndpointIpAddress": "198.19.255.10"} | routed
            return common | more
        case "ONTAP":
            pairs = {"HAPairs": 1, "ThroughputCapacityPerHAPair": system.throughput, "DiskIopsConfiguration": iops}
            names = {
                name: {"DNSName": f"{name.lower()}.{system.id}.fsx.{system.region}.{suffix(system.region)}"}
                for name in ("Intercluster", "Management")
            }
            return common | pairs | {"Endpoints": names} | (routed if len(subnets) > 1 else {})
        case "WINDOWS":
            return common | {"ActiveDirectoryId": "d-0123456789", "MaintenanceOperationsInProgress": [], "Aliases": []}
    kept = {key: value for key, value in common.items() if key not in ("ThroughputCapacity", "PreferredSubnetId")}
    return kept | {"PerUnitStorageThroughput": system.throughput, "MountName": "fsx", "DataCompressionType": "NONE"}


def describe_volumes(call: Call) -> Reply:
    """List volumes by id or by file system."""
    filters: Mapping[str, Callable[[FsxVolume], str]] = {"file-system-id": lambda each: each.file_system_id}
    found = _wanted(call, "VolumeIds", call.all(FsxVolume), "VolumeNotFound")
    return _paged(call, "Volumes", _filtered(call, found, filters), volume)


def volume(call: Call, item: FsxVolume) -> Json:
    """Render a volume as FSx describes it."""
    answer: Json = {
        "CreationTime": float(item.created),
        "FileSystemId": item.file_system_id,
        "Lifecycle": item.phase or ("CREATED" if item.kind == "ONTAP" else "AVAILABLE"),
        "Name": item.name,
        "ResourceARN": arn_of(call.account.id, item),
        "Tags": tag_list(item.tags),
        "VolumeId": item.id,
        "VolumeType": item.kind,
    }
    given = item.detail.get("configuration", {})
    if item.kind == "ONTAP":
        usual = _ontap_volume(item)
        return answer | {"OntapConfiguration": usual | {key: value for key, value in given.items() if key in usual}}
    clients = [{"Clients": each.clients, "Options": list(each.options)} for each in item.exports]
    settings: Json = {
        "VolumePath": item.path,
        "StorageCapacityReservationGiB": -1,
        "StorageCapacityQuotaGiB": -1,
        "RecordSizeKiB": 128,
        "DataCompressionType": "NONE",
        "CopyTagsToSnapshots": False,
        "ReadOnly": False,
        "NfsExports": [{"ClientConfigurations": clients}] if clients else [],
        "UserAndGroupQuotas": [],
        "ParentVolumeId": item.parent,
    }
    return answer | {"OpenZFSConfiguration": known(settings)}


def bytes_of(item: FsxVolume) -> int:
    """Return the size of an ONTAP volume in bytes."""
    return int(item.detail.get("configuration", {}).get("SizeInBytes", item.size_gib * GIB))


def _ontap_volume(item: FsxVolume) -> Json:
    return {
        "JunctionPath": item.path,
        "SecurityStyle": "UNIX",
        "SizeInMegabytes": bytes_of(item) // MIB,
        "SizeInBytes": bytes_of(item),
        "StorageEfficiencyEnabled": True,
        "StorageVirtualMachineId": item.svm_id,
        "StorageVirtualMachineRoot": is_svm_root(item),
        "TieringPolicy": {"Name": "SNAPSHOT_ONLY", "CoolingPeriod": 2},
        "UUID": f"{hexadecimal(item.id, 8)}-1111-11ef-8222-{hexadecimal(item.id, 12)}",
        "OntapVolumeType": item.ontap_type,
        "SnapshotPolicy": "default",
        "CopyTagsToBackups": False,
        "VolumeStyle": "FLEXVOL",
    }


def is_svm_root(item: FsxVolume) -> bool:
    """Return whether it is the root volume of its storage virtual machine. The fleets leave these out."""
    return bool(item.detail.get("root"))


def describe_backups(call: Call) -> Reply:
    """List backups by id, resource or type."""
    found = _wanted(call, "BackupIds", call.backups(BACKUPS), "BackupNotFound")
    return _paged(call, "Backups", _filtered(call, found, _BACKUP_FILTERS), backup)


_BACKUP_FILTERS: Final[Mapping[str, Callable[[Backup], str]]] = {
    "file-system-id": lambda each: str(each.detail["system"].id),
    "volume-id": lambda each: each.of if each.detail["volume"] else "",
    "backup-type": lambda each: str(each.detail["type"]),
    "file-system-type": lambda each: str(each.detail["system"].kind),
}


def backup(call: Call, item: Backup) -> Json:
    """Render a backup as FSx describes it, with the data of its file system that outlives the file system."""
    system: FsxFileSystem = item.detail["system"]
    about = ("OwnerId", "CreationTime", "FileSystemId", "FileSystemType")
    kept = (*about, "StorageCapacity", "StorageType", "ResourceARN", CONFIGURATIONS[system.kind])
    described, source = file_system(call, system), item.detail.get("source")
    answer: Json = {
        "BackupId": item.id,
        "Lifecycle": item.state,
        "Type": item.detail["type"],
        "ProgressPercent": 100 if item.state == "AVAILABLE" else 0,
        "CreationTime": float(item.made),
        "KmsKeyId": described["KmsKeyId"],
        "ResourceARN": arn_of(call.account.id, item),
        "Tags": tag_list(item.tags),
        "FileSystem": {key: described[key] for key in kept},
        "OwnerId": call.account.id,
        "ResourceType": "VOLUME" if item.detail["volume"] else "FILE_SYSTEM",
        "Volume": volume(call, item.detail["volume"]) if item.detail["volume"] else None,
        "SourceBackupId": source,
        "SourceBackupRegion": item.region if source else None,
        "SizeInBytes": item.bytes if item.state == "AVAILABLE" else None,
        "FailureDetails": {"Message": item.detail.get("why")} if item.state == "FAILED" else None,
    }
    return known(answer)


def describe_s3_access_point_attachments(call: Call) -> Reply:
    """Return no attachments: no S3 access point is attached in the simulated account."""
    nothing: list[object] = []
    _filtered(call, nothing, dict.fromkeys(("file-system-id", "volume-id", "type"), id))
    return json_reply(call, {"S3AccessPointAttachments": nothing})


def list_tags_for_resource(call: Call) -> Reply:
    """List the tags of any resource with an FSx ARN."""
    return json_reply(call, {"Tags": tag_list(by_arn(call).tags)})


def by_arn(call: Call) -> Item:
    """Return the resource that ResourceARN names."""
    named = str(call.input.get("ResourceARN", ""))
    if not named.startswith(f"arn:{partition(call.region)}:fsx:"):
        raise AwsError("NotServiceResourceError", f"{named} is no resource of FSx.")
    wanted = named.rpartition("/")[2]
    served: Item | None = call.find(FsxFileSystem, wanted) or call.find(FsxVolume, wanted)
    for item in (served, call.find(StorageVirtualMachine, wanted), call.backup(BACKUPS, wanted)):
        if item is not None and arn_of(call.account.id, item) == named:
            return item
    raise AwsError("ResourceNotFound", f"{named} does not exist.")
