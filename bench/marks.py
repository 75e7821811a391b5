"""Puts what was measured between a page's marks."""

from pathlib import Path


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Write `text` between a page's marks, in the place of what is there.

    Raises:
        SystemExit: a mark is missing; nothing is written.
    """
    before, begun, rest = page.read_text("utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise SystemExit(f"{page}: there is no {begin.strip()} with {end.strip()} after it")
    page.write_text(f"{before}{begin}{text}{end}{after}", "utf-8")
