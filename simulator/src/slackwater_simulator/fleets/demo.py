"""The demo account: a small video and publishing company in Tokyo, with every issue that field reports describe.

`demo_labels` has the story of each. Each issue has look-alikes, which look like it in one metric.
"""

from slackwater_simulator.resources import ACCOUNT, Fleet, Role, instant

from .builder import Builder
from .demo_ebs import bought_throughput, limits, quiet, settings, unattached
from .demo_ec2 import background, networks, usage
from .demo_efs import encode_leftovers, placement, quiet_file_systems, throughput
from .demo_fsx import exports, servers
from .demo_labels import label
from .demo_parts import NOW, REGION


def demo_fleet(now: str = NOW, seed: int = 7) -> Fleet:
    """The account."""
    build = Builder(instant(now), REGION, seed)
    encode_leftovers(build)
    quiet_file_systems(build)
    networks(build)
    bought_throughput(build)
    unattached(build)
    exports(build)
    throughput(build)
    placement(build)
    settings(build)
    limits(build)
    servers(build)
    background(build)
    quiet(build)
    usage(build)
    label(build)
    return build.fleet(ACCOUNT, roles=[Role(name="slackwater-audit", external_id="tide-table")])
