"""Write benchmark results between two markers in a page."""

from pathlib import Path


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between a page's two markers with `text`.

    Raises:
        SystemExit: A marker is missing. Nothing is written.
    """
    before, begun, rest = page.read_text("utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise SystemExit(f"{page}: found no {begin.strip()} followed by {end.strip()}. Add both markers.")
    page.write_text(f"{before}{begin}{text}{end}{after}", "utf-8")
