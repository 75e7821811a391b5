"""Writes the reference of every policy key: `python tools/policy_reference.py docs/policy-reference.md`."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slackwater.app.policy.file import policy_schema
from slackwater.engine.registry import registry
from slackwater.views.docs.detector_page import allowed_range

type Schema = Mapping[str, Any]


def page(schema: Schema) -> str:
    """Return the page in Markdown: a section for each table of the policy file, a row for each key."""
    sections = "\n".join(_sections(schema, schema, ""))
    return f"""# Every policy key

Written by `make docs` from `slackwater policy schema`. [The policy](policy.md) shows the keys that most people set.

{sections}
"""


def _sections(whole: Schema, table: Schema, name: str) -> Iterator[str]:
    keys = {key: _resolved(whole, value) for key, value in table["properties"].items()}
    values = {key: value for key, value in keys.items() if "properties" not in value}
    if values:
        yield f"## {name}\n\n| Key | Default | Range | Meaning |\n|-|-|-|-|"
        yield from (_row(key, value) for key, value in values.items())
        yield ""
    for key, value in keys.items():
        if "properties" in value:
            yield from _sections(whole, value, f"{name}.{key}".lstrip("."))


def _resolved(whole: Schema, value: Schema) -> Schema:
    if "$ref" not in value:
        return value
    return whole["$defs"][value["$ref"].rpartition("/")[2]] | {key: it for key, it in value.items() if key != "$ref"}


def _row(key: str, value: Schema) -> str:
    range_ = allowed_range(value) or ", ".join(f"`{choice}`" for choice in value.get("enum", ()))
    default = "" if value.get("default") is None else f"`{_toml(value['default'])}`"
    description = value.get("description", "").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
    return f"| `{key}` | {default} | {range_} | {description} |"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("'", '"') if isinstance(value, list | dict) else str(value)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(policy_schema(registry())), "utf-8")
