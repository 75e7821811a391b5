"""Run `sam validate`, plain and with `--lint`, on each template: one process, because SAM takes seconds to import.

Usage: validate_templates.py TEMPLATE...
"""

import logging
import sys

from click.testing import CliRunner
from samcli.cli.main import cli

MODES = ((), ("--lint",))
"""The modes do not overlap: the first transforms the template as SAM does, the second runs cfn-lint on it."""


def main(templates: list[str]) -> int:
    """Print the problems, and return the exit status."""
    logging.disable(logging.WARNING)  # SAM logs a warning about telemetry that it did not send
    bad = 0
    for template in templates:
        for mode in MODES:
            done = CliRunner().invoke(cli, ["validate", "--template", template, "--region", "us-east-1", *mode])
            if done.exit_code:
                bad = 1
                print(
                    f"{template}: sam validate {' '.join(mode)}\n{done.output}{done.exception or ''}", file=sys.stderr
                )
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
