"""Build a fleet with names that attack programs which print them: a spreadsheet formula and a script."""

from slackwater_simulator.resources import ACCOUNT, Fleet, instant

from .builder import Builder
from .demo_parts import NOW, REGION


def hostile_fleet(now: str = NOW, seed: int = 7) -> Fleet:
    """Return two unattached volumes and an idle file system with dangerous names."""
    build = Builder(instant(now), REGION, seed)
    for name, tags in (
        ("=cmd|'/c calc'!A1", {"Owner": "web"}),
        ("scripted", {"Owner": "<script>alert(1)</script>", "Note": 'a & b, "quoted"\nsecond line'}),
    ):
        volume = build.volume(name, 100, created=build.ago(200), used=((build.ago(200), build.ago(40)),), tags=tags)
        build.detached(volume.id, build.id("i", f"gone-{name}"), build.ago(40))
        build.plant(volume, "A hostile name.", "ebs-unattached", why="Detached forty days ago.")
    system = build.file_system(
        "@SUM(1+1)*cmd|' /C calc'!A0", days=120, standard_bytes=1 << 30, tags={"Owner": "<img src=x onerror=alert(1)>"}
    )
    build.plant(system, "A hostile name.", "efs-idle", why="Zeros since its creation.")
    return build.fleet(ACCOUNT)
