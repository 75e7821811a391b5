"""Simulate an AWS account: storage, instances and their metrics, over AWS's real wire protocols.

It knows the truth about each resource, so that it can score programs that judge storage. It opens only a local port.
"""

from .account import Account as Account
from .clock import Clock as Clock
from .fleets.demo import demo_fleet as demo_fleet
from .fleets.hard import hard_fleet as hard_fleet
from .fleets.hostile import hostile_fleet as hostile_fleet
from .fleets.labelled import labelled_fleet as labelled_fleet
from .fleets.mixed import mixed_fleet as mixed_fleet
from .fleets.organization import MEMBER_EXTERNAL_ID as MEMBER_EXTERNAL_ID
from .fleets.organization import MEMBER_ROLE as MEMBER_ROLE
from .fleets.organization import organization as organization
from .organizations import Member as Member
from .organizations import Organization as Organization
from .organizations import Unit as Unit
from .resources import AccessPoint as AccessPoint
from .resources import Activity as Activity
from .resources import Attachment as Attachment
from .resources import Disk as Disk
from .resources import ElasticFileSystem as ElasticFileSystem
from .resources import Export as Export
from .resources import Fleet as Fleet
from .resources import Flow as Flow
from .resources import FsxFileSystem as FsxFileSystem
from .resources import FsxVolume as FsxVolume
from .resources import IdleRecommendation as IdleRecommendation
from .resources import Instance as Instance
from .resources import MountTarget as MountTarget
from .resources import Replication as Replication
from .resources import Role as Role
from .resources import StorageVirtualMachine as StorageVirtualMachine
from .resources import TrailEvent as TrailEvent
from .resources import Volume as Volume
from .resources import VolumeOption as VolumeOption
from .resources import VolumeRecommendation as VolumeRecommendation
from .resources import given as given
from .resources import instant as instant
from .server import Simulator as Simulator
from .shapes import Shapes as Shapes
