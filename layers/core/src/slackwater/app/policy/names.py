"""Names that messages about a policy share. This module imports almost nothing, because the command line always loads
it.
"""

from pathlib import Path
from typing import Final

DEFAULT_POLICY: Final = Path("slackwater.toml")
LIST_DETECTORS: Final = "slackwater detectors"
LIST_REGIONS: Final = "aws ec2 describe-regions --all-regions"
