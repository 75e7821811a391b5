"""Names that messages about a policy share. They cost nothing to import: the command line starts with them."""

from pathlib import Path
from typing import Final

DEFAULT_POLICY: Final = Path("slackwater.toml")
LIST_DETECTORS: Final = "slackwater detectors"
LIST_REGIONS: Final = "aws ec2 describe-regions --all-regions"
