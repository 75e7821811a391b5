"""A simulated AWS account: storage, instances and their metrics over the real wire protocols.

It is a simulation with known truth, made to score programs that judge storage. It opens nothing but a local port.
"""

from .account import Account
from .clock import Clock
from .fleets.demo import demo_fleet
from .fleets.hard import hard_fleet
from .fleets.hostile import hostile_fleet
from .fleets.labelled import labelled_fleet
from .fleets.mixed import mixed_fleet
from .fleets.organization import MEMBER_EXTERNAL_ID, MEMBER_ROLE, organization
from .organizations import Member, Organization, Unit
from .resources import (
    AccessPoint,
    Activity,
    Attachment,
    Backup,
    Disk,
    ElasticFileSystem,
    Export,
    Fleet,
    Flow,
    FsxFileSystem,
    FsxVolume,
    IdleRecommendation,
    Instance,
    MountTarget,
    Planted,
    Replication,
    Role,
    StorageVirtualMachine,
    TrailEvent,
    Volume,
    VolumeOption,
    VolumeRecommendation,
    given,
    instant,
)
from .server import Simulator
from .shapes import Shapes

__all__ = [
    "MEMBER_EXTERNAL_ID",
    "MEMBER_ROLE",
    "AccessPoint",
    "Account",
    "Activity",
    "Attachment",
    "Backup",
    "Clock",
    "Disk",
    "ElasticFileSystem",
    "Export",
    "Fleet",
    "Flow",
    "FsxFileSystem",
    "FsxVolume",
    "IdleRecommendation",
    "Instance",
    "Member",
    "MountTarget",
    "Organization",
    "Planted",
    "Replication",
    "Role",
    "Shapes",
    "Simulator",
    "StorageVirtualMachine",
    "TrailEvent",
    "Unit",
    "Volume",
    "VolumeOption",
    "VolumeRecommendation",
    "demo_fleet",
    "given",
    "hard_fleet",
    "hostile_fleet",
    "instant",
    "labelled_fleet",
    "mixed_fleet",
    "organization",
]
