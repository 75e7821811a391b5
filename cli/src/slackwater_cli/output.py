"""Writes the file that --output names: completely, or not at all."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import EACCES, EISDIR
from pathlib import Path

from slackwater_cli.exits import UsageError


@contextmanager
def output_file(path: Path) -> Iterator[Callable[[str | Iterable[str]], None]]:
    """Check that `path` can be written before the work starts, and yield a function that writes it as UTF-8.

    The function takes a text, or a text in pieces, and replaces the file in one step.

    Raises:
        UsageError: The file cannot be written.
    """
    is_pipe = path.exists() and not path.is_file() and not path.is_dir()  # or a device: it cannot be replaced
    target = path if is_pipe else path.resolve()  # a symbolic link stays, and its target is replaced
    draft = target if is_pipe else target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with _unwritable(path):
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        if not is_pipe:
            draft.touch(exist_ok=False)

    def write(text: str | Iterable[str]) -> None:
        with _unwritable(path):
            with draft.open("w", encoding="utf-8", newline="") as file:
                file.writelines([text] if isinstance(text, str) else text)
            if not is_pipe:
                if target.exists():
                    shutil.copymode(target, draft)
                draft.replace(target)

    try:
        yield write
    finally:
        if not is_pipe:
            draft.unlink(missing_ok=True)


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"--output {path}: cannot be written: {error.strerror}") from error
