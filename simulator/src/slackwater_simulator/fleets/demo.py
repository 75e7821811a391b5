"""Build the demo account: a small video and publishing company in Tokyo, with every issue from field reports.

`demo_labels` has the story of each. Each issue has look-alikes, which resemble it in one metric.
"""

from slackwater_simulator.resources import ACCOUNT, Fleet, Role, instant

from .builder import Builder
from .demo_ebs import bought_throughput, bound, credits_spent, quiet, settings, throttled, unattached
from .demo_ec2 import background, idle, networks, surcharged
from .demo_efs import encode_leftovers, placement, quiet_file_systems, throughput, waiting_writers
from .demo_fsx import exports, oversized, servers
from .demo_labels import label
from .demo_parts import NOW, REGION

_PARTS = (
    *(encode_leftovers, quiet_file_systems, networks, bought_throughput, unattached, exports, throughput, placement),
    *(waiting_writers, settings, bound, credits_spent, throttled, servers, oversized, background, quiet, idle),
    *(surcharged, label),
)


def demo_fleet(now: str = NOW, seed: int = 7) -> Fleet:
    """Return the demo account."""
    build = Builder(instant(now), REGION, seed)
    for part in _PARTS:
        part(build)
    return build.fleet(ACCOUNT, roles=[Role(name="slackwater-audit", external_id="tide-table")])
