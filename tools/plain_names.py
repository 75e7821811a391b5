"""Refuse names that a reader has to look up: `make check-code`.

`plain_names.toml` beside this file has the words, each with the standard term to use instead, and the names that may
keep one: contracts (policy keys, JSON fields, stored items) and terms of libraries. Prints `file:line: name: use …` and
exits with 1.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


class Name(NamedTuple):
    """A name that a file introduces, and where."""

    text: str
    line: int


class Rules(NamedTuple):
    """What to use instead of each word, and the names that may keep one."""

    instead: dict[str, str]
    exceptions: frozenset[str]


def read_rules(path: Path) -> Rules:
    """Read the words and the exceptions.

    Raises:
        ValueError: A word is not in lower case, so it would match nothing.
    """
    document = tomllib.loads(path.read_text())
    instead = {word: term for term, words in document["use"].items() for word in words}
    if wrong := sorted(word for word in instead if not re.fullmatch("[a-z]+", word)):
        raise ValueError(f"{path}: words in lower case only, not {', '.join(wrong)}")
    exceptions = frozenset(name for names in document["exceptions"].values() for name in names)
    return Rules(instead, exceptions)


def names(tree: ast.Module) -> Iterator[Name]:
    """Yield each name that the module introduces: definitions, arguments, variables, attributes, aliases of imports."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text) | ast.ClassDef(name=text):
                yield Name(text, node.lineno)
            case ast.arg(arg=text) | ast.Name(id=text, ctx=ast.Store()) | ast.Attribute(attr=text, ctx=ast.Store()):
                yield Name(text, node.lineno)
            case ast.alias(asname=str(text)):
                yield Name(text, node.lineno)


def problems(path: Path, rules: Rules) -> Iterator[str]:
    """Yield one line for each name of the file that contains a refused word."""
    text = path.read_text(encoding="utf-8")
    if not re.search("|".join(rules.instead), f"{path.stem} {text}", re.IGNORECASE):
        return  # parsing takes most of the time
    for name in (Name(path.stem, 1), *names(ast.parse(text))):
        if name.text in rules.exceptions:
            continue
        for word in WORD.findall(name.text):
            if term := rules.instead.get(word.lower()):
                yield f"{path}:{name.line}: {name.text}: use {term!r} instead of {word.lower()!r}"


def main(folders: list[str]) -> int:
    """Print the problems of all Python files in these folders; return 1 if there are any."""
    rules = read_rules(Path(__file__).with_suffix(".toml"))
    files = [
        path for folder in folders for path in sorted(Path(folder).rglob("*.py")) if "node_modules" not in path.parts
    ]
    found = [problem for path in files for problem in problems(path, rules)]
    print(*dict.fromkeys(found), sep="\n", end="\n" if found else "")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
