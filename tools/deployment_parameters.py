"""Writes the reference of the templates' parameters: `python tools/deployment_parameters.py docs/parameters.md`."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = {"template.yaml": "The service", "template-member.yaml": "Each other account of an organization"}


def page() -> str:
    """Return the page in Markdown: a section for each template, a row for each parameter."""
    sections = "\n".join(f"## {title}: {name}\n\n{_table(ROOT / name)}" for name, title in TEMPLATES.items())
    return f"""# Every parameter of a deployment

Written by `make docs` from the templates. [Operations](operations.md) shows how to change a parameter.

{sections}"""


def _table(template: Path) -> str:
    rows = _rows(yaml_parse(template.read_text("utf-8"))["Parameters"])
    return "\n".join(("| Parameter | Default | Allowed | Meaning |", "|-|-|-|-|", *rows, ""))


def _rows(parameters: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, one in parameters.items():
        default = "required" if "Default" not in one else f"`{one['Default']}`" if str(one["Default"]) else "empty"
        description = " ".join(one["Description"].split()).replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{name}` | {default} | {_allowed(one)} | {description} |"


def _allowed(parameter: Mapping[str, Any]) -> str:
    if values := parameter.get("AllowedValues"):
        return ", ".join(f"`{value}`" for value in values)
    least, most = parameter.get("MinValue"), parameter.get("MaxValue")
    if least is None:
        return str(parameter.get("ConstraintDescription", ""))
    return f"at least {least:,}" if most is None else f"{least:,} to {most:,}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
