"""Situations at the edge of what detectors flag. The worked cases on their pages have the usual ones."""

from collections.abc import Sequence
from math import pi, sin
from typing import Final

from slackwater.detectors import ebs_outdated_type as outdated
from slackwater.detectors import efs_credits_draining as draining
from slackwater.detectors import efs_serial_small_writes as serial
from slackwater.model.detector import AnyDetector, Case
from slackwater.model.units import FIVE_MINUTES_S
from slackwater.model.verdicts import Fine, Flagged, Unknown
from slackwater.rules.efs_throughput import BALANCE
from slackwater.rules.efs_throughput import WRITES as EFS_WRITES

# efs-credits-draining

DAY, EARNED, share = 24, draining.ALL, draining.share
WITHIN_A_DAY = [0.5] * (5 * DAY) + [90.0] * 5 + [0.5] * (5 * DAY - 5)
IMPORT = [0.5] * (12 * DAY) + [90.0] * 5 + [0.5] * (4 * DAY - 5)
NO_LOWER = ([0.9] * 20 + [7.0] * 4) * 15
THREE_HOURS = [0.5] * (15 * DAY - 3) + [95.0] * 3
HOLES = {BALANCE: [0.9 * EARNED] * 160 + [None] * 40 + [0.3 * EARNED] * 160}

CREDITS = (
    share("ten days old, and filled within a day", Unknown, "whether it did the week before", WITHIN_A_DAY),
    share("low, and no lower than a week ago", Fine, "last, if the last week repeats", NO_LOWER, start=0.3),
    share("an import that is over", Fine, "what drained it is over", IMPORT),
    share("a job that has drained for three hours", Fine, "left at the lowest", THREE_HOURS),
    draining.case("low, and without points of a week ago", Unknown, "too few points", metrics=HOLES),
)

# efs-serial-small-writes

ALL_DAY, NO_RUN, case, nightly = serial.ALL_DAY, serial.NO_RUN, serial.case, serial.nightly
LOST = [None if i % 288 in {40, 41} else 340.0 * FIVE_MINUTES_S for i in range(4032)]
SWING = [340 * (1 + 0.3 * sin(2 * pi * i / 288)) for i in range(288 * 14)]
BY_CHANCE = nightly(*[340] * 6, *[120, 380, 90, 400] * 6)
AN_HOUR_FASTER = ([340.0] * 132 + [600.0] * 12 + [340.0] * 144) * 14
SLOW, DOUBLED = nightly(57, 170, 283, *[340] * 24, 600, 600), nightly(*[300] * 12, *[700] * 12)
TWO_POINTS, EARLIER = ({**ALL_DAY, (EFS_WRITES, FIVE_MINUTES_S): points} for points in (LOST, None))

SERIAL = (
    case("near the limit on operations", Fine, "operations may have been", serial.TWO_HOURS, io=90),
    serial.SHARED("all the time, but for two points a day", Flagged, metrics=TWO_POINTS),
    case("a job that takes a quarter of an hour to begin, and is faster for ten minutes", Flagged, "", SLOW),
    case("a job whose rate varies, and is the same for half an hour by chance", Fine, NO_RUN, BY_CHANCE),
    case("a job that goes faster in its second hour", Fine, NO_RUN, DOUBLED),
    case("a rate that swings by day", Fine, NO_RUN, SWING),
    case("the same all day, and faster for an hour", Fine, NO_RUN, AN_HOUR_FASTER),
    serial.SHARED("last written before the window", Unknown, "no data", metrics=EARLIER),
)


OUTDATED: Final = (
    outdated.magnetic("magnetic, and no metrics", Unknown, "14 of the last 14 days"),
    outdated.io1("io2", Fine, "current type", volume_type="io2"),
)
FURTHER: Final[Sequence[tuple[AnyDetector, Sequence[Case]]]] = (
    (outdated.DETECTOR, OUTDATED),
    (draining.DETECTOR, CREDITS),
    (serial.DETECTOR, SERIAL),
)
