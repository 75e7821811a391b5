"""FSx over JSON 1.1: file systems, volumes, storage virtual machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .account import cut
from .ec2_query import hexadecimal, key_arn
from .resources import FsxFileSystem, FsxVolume, StorageVirtualMachine
from .wire import AwsError, Call, Json, Operation, Reply, as_json, json_reply, offset_of, token

PAGE = 50
"""Items a page. FSx does not publish its own limit; callers must follow NextToken whatever it is."""


def _paged(call: Call, name: str, found: Sequence[Any], render: Callable[[Call, Any], Json]) -> Reply:
    offset = offset_of(call.input.get("NextToken"), "BadRequest")
    size = min(int(call.input.get("MaxResults", PAGE)), PAGE)

    def page() -> bytes:
        items, following = cut(found, offset, size)
        answer: Json = {name: [render(call, item) for item in items]}
        if following is not None:
            answer["NextToken"] = token(following)
        return as_json(answer)

    return json_reply(call, call.account.page((name, call.region, repr(call.input)), page))


def _wanted(call: Call, parameter: str, items: Sequence[Any], code: str) -> Sequence[Any]:
    ids = call.input.get(parameter)
    if not ids:
        return items
    by_id = {item.id: item for item in items}
    missing = [each for each in ids if each not in by_id]
    if missing:
        raise AwsError(code, f"{parameter} {missing} do not exist")
    return [by_id[each] for each in ids]


def _tags(item: FsxFileSystem | FsxVolume) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in item.tags.items()]


def describe_file_systems(call: Call) -> Reply:
    """File systems of every type."""
    return _paged(
        call,
        "FileSystems",
        _wanted(call, "FileSystemIds", call.account.fsx.get(call.region, []), "FileSystemNotFound"),
        _system,
    )


def _system(call: Call, system: FsxFileSystem) -> Json:
    account, region = call.account.id, system.region
    multi = system.deployment.startswith("MULTI_AZ")
    zones = ("a", "c") if multi else ("a",)
    subnets = [f"subnet-{hexadecimal(account + region + zone)}" for zone in zones]
    return {
        "OwnerId": account,
        "CreationTime": float(system.created),
        "FileSystemId": system.id,
        "FileSystemType": system.kind,
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": system.storage_gib,
        "StorageType": "SSD",
        "VpcId": f"vpc-{hexadecimal(account + region)}",
        "SubnetIds": subnets,
        "NetworkInterfaceIds": [f"eni-{hexadecimal(system.id + zone)}" for zone in zones],
        "DNSName": f"{system.id}.fsx.{region}.amazonaws.com",
        "KmsKeyId": key_arn(region, account),
        "ResourceARN": f"arn:aws:fsx:{region}:{account}:file-system/{system.id}",
        "Tags": _tags(system),
        **_configuration(system, subnets),
    }


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
    match system.kind:
        case "OPENZFS":
            more = {
                "CopyTagsToBackups": True,
                "CopyTagsToVolumes": True,
                "DiskIopsConfiguration": iops,
                "RootVolumeId": system.root_volume_id,
            }
            if len(subnets) > 1:
                more |= {
                    "EndpointIpAddress": "198.19.255.10",
                    "EndpointIpAddressRange": "198.19.255.0/24",
                    "RouteTableIds": ["rtb-0123456789abcdef0"],
                }
            return {"OpenZFSConfiguration": common | more}
        case "ONTAP":
            pairs = {"HAPairs": 1, "ThroughputCapacityPerHAPair": system.throughput, "DiskIopsConfiguration": iops}
            names = {
                name: {"DNSName": f"{name.lower()}.{system.id}.fsx.{system.region}.amazonaws.com"}
                for name in ("Intercluster", "Management")
            }
            return {"OntapConfiguration": common | pairs | {"Endpoints": names}}
        case "WINDOWS":
            return {
                "WindowsConfiguration": common
                | {"ActiveDirectoryId": "d-0123456789", "MaintenanceOperationsInProgress": [], "Aliases": []}
            }
    kept = {
        key: common[key]
        for key in (
            "AutomaticBackupRetentionDays",
            "DailyAutomaticBackupStartTime",
            "DeploymentType",
            "WeeklyMaintenanceStartTime",
        )
    }
    return {
        "LustreConfiguration": kept
        | {"PerUnitStorageThroughput": system.throughput, "MountName": "fsx", "DataCompressionType": "NONE"}
    }


def describe_volumes(call: Call) -> Reply:
    """Volumes, by id, file system or storage virtual machine."""
    found = _wanted(call, "VolumeIds", call.account.fsx_volumes.get(call.region, []), "VolumeNotFound")
    for entry in call.input.get("Filters", ()):
        field = {"file-system-id": "file_system_id", "storage-virtual-machine-id": "svm_id"}.get(entry.get("Name"))
        if field is None:
            raise AwsError("BadRequest", f"Filter {entry.get('Name')} is not valid")
        found = [volume for volume in found if getattr(volume, field) in entry.get("Values", ())]
    return _paged(call, "Volumes", found, _volume)


def _volume(call: Call, volume: FsxVolume) -> Json:
    answer: Json = {
        "CreationTime": float(volume.created),
        "FileSystemId": volume.file_system_id,
        "Lifecycle": "CREATED" if volume.kind == "ONTAP" else "AVAILABLE",
        "Name": volume.name,
        "ResourceARN": f"arn:aws:fsx:{volume.region}:{call.account.id}:volume/{volume.file_system_id}/{volume.id}",
        "Tags": _tags(volume),
        "VolumeId": volume.id,
        "VolumeType": volume.kind,
    }
    if volume.kind == "ONTAP":
        size = volume.size_gib * 1024
        return answer | {
            "OntapConfiguration": {
                "JunctionPath": volume.path,
                "SecurityStyle": "UNIX",
                "SizeInMegabytes": size,
                "SizeInBytes": size << 20,
                "StorageEfficiencyEnabled": True,
                "StorageVirtualMachineId": volume.svm_id,
                "StorageVirtualMachineRoot": False,
                "TieringPolicy": {"Name": "SNAPSHOT_ONLY", "CoolingPeriod": 2},
                "UUID": f"{hexadecimal(volume.id, 8)}-1111-11ef-8222-{hexadecimal(volume.id, 12)}",
                "OntapVolumeType": volume.ontap_type,
                "SnapshotPolicy": "default",
                "CopyTagsToBackups": False,
                "VolumeStyle": "FLEXVOL",
            }
        }
    exports = (
        [{"ClientConfigurations": [{"Clients": each.clients, "Options": list(each.options)} for each in volume.exports]}]
        if volume.exports
        else []
    )
    configuration: Json = {
        "VolumePath": volume.path,
        "StorageCapacityReservationGiB": -1,
        "StorageCapacityQuotaGiB": -1,
        "RecordSizeKiB": 128,
        "DataCompressionType": "NONE",
        "CopyTagsToSnapshots": False,
        "ReadOnly": False,
        "NfsExports": exports,
        "UserAndGroupQuotas": [],
    }
    if volume.parent:
        configuration["ParentVolumeId"] = volume.parent
    return answer | {"OpenZFSConfiguration": configuration}


def describe_storage_virtual_machines(call: Call) -> Reply:
    """ONTAP's storage virtual machines."""
    found = _wanted(
        call,
        "StorageVirtualMachineIds",
        [svm for svm in call.account.fleet.svms if svm.region == call.region],
        "StorageVirtualMachineNotFound",
    )
    for entry in call.input.get("Filters", ()):
        found = [svm for svm in found if svm.file_system_id in entry.get("Values", ())]
    return _paged(call, "StorageVirtualMachines", found, _svm)


def _svm(call: Call, svm: StorageVirtualMachine) -> Json:
    host = f"{svm.id}.{svm.file_system_id}.fsx.{svm.region}.amazonaws.com"
    return {
        "CreationTime": float(svm.created),
        "Endpoints": {name: {"DNSName": host, "IpAddresses": ["198.19.255.20"]} for name in ("Nfs", "Management", "Iscsi")},
        "FileSystemId": svm.file_system_id,
        "Lifecycle": "CREATED",
        "Name": svm.name,
        "ResourceARN": f"arn:aws:fsx:{svm.region}:{call.account.id}:storage-virtual-machine/{svm.file_system_id}/{svm.id}",
        "StorageVirtualMachineId": svm.id,
        "Subtype": "DEFAULT",
        "UUID": f"{hexadecimal(svm.id, 8)}-1111-11ef-8222-{hexadecimal(svm.id, 12)}",
        "RootVolumeSecurityStyle": "UNIX",
    }


OPERATIONS: dict[str, Operation] = {
    "DescribeFileSystems": describe_file_systems,
    "DescribeVolumes": describe_volumes,
    "DescribeStorageVirtualMachines": describe_storage_virtual_machines,
}
