"""`python -m slackwater_cli.docs DIR` writes a page for every detector, a page of worked cases, and an index."""

import sys
from pathlib import Path

from slackwater.engine.registry import documentation, registry
from slackwater.views.docs.detector_page import CASES_PAGE, render_cases, render_index, render_page


def write_pages(into: Path) -> None:
    """Write `<id>.md` for every detector, cases.md and README.md."""
    into.mkdir(parents=True, exist_ok=True)
    for id_, detector in registry().items():
        (into / f"{id_}.md").write_text(render_page(id_, detector, documentation(id_)), encoding="utf-8")
    (into / CASES_PAGE).write_text(render_cases(registry()), encoding="utf-8")
    (into / "README.md").write_text(render_index(registry()), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m slackwater_cli.docs DIR")
    write_pages(Path(sys.argv[1]))
