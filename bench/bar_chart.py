"""Draws an SVG bar chart of what two tools cost for each fleet size, on a logarithmic scale.

Its colours suit light and dark pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

WIDTH, HEIGHT, GAP = 430, 250, 30
"""The size of a panel, and the gap between two panels, in pixels."""
LEFT, TOP, BOTTOM = 58, 34, 30
STYLE: Final = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 14px }
  .number { font-size: 11px; text-anchor: middle }
  .scale { text-anchor: end; fill: #57606a }
  .size { text-anchor: middle; fill: #57606a }
  .line { stroke: #8c959f; stroke-opacity: 0.35 }
  .floor { stroke: #24292f; stroke-width: 2 }
  .bar0 { fill: #0a7ea4 }
  .bar1 { fill: #b8860b }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .scale, .size { fill: #9ea7b3 }
    .floor { stroke: #e6edf3 }
    .bar0 { fill: #3fb6dc }
    .bar1 { fill: #d9a62e }
  }
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity: for each fleet size, one bar per tool and optionally a line at the lowest possible value."""

    title: str
    bars: Mapping[str, Sequence[float]]
    """By fleet size: one value per tool, in the order of the tools."""
    minimum: Mapping[str, float] | None = None


def bar_chart(tools: Sequence[str], panels: Sequence[Panel], title: str) -> str:
    """Return the chart as SVG text: a legend, and below it two panels per row."""
    rows = ceil(len(panels) / 2)
    width, height = 2 * WIDTH + GAP, 40 + rows * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        *_legend(tools, any(panel.minimum for panel in panels)),
    ]
    for index, panel in enumerate(panels):
        x, y = index % 2 * (WIDTH + GAP), 40 + index // 2 * (HEIGHT + GAP)
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _legend(tools: Sequence[str], with_minimum: bool) -> list[str]:
    parts, x = list[str](), LEFT
    for index, tool in enumerate(tools):
        parts.append(
            f'<rect class="bar{index}" x="{x}" y="8" width="12" height="12"/><text x="{x + 18}" y="18">{tool}</text>'
        )
        x += 40 + 7 * len(tool)
    if with_minimum:
        parts.append(f'<path class="floor" d="M{x} 14h14"/><text x="{x + 20}" y="18">minimum possible</text>')
    return parts


def _panel(panel: Panel) -> list[str]:
    values = [value for bars in panel.bars.values() for value in bars] + list((panel.minimum or {}).values())
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    low -= min(values) == 10**low  # a bar of height 0 would be invisible
    inner = HEIGHT - TOP - BOTTOM

    def y(value: float) -> float:
        return float(round(TOP + inner * (high - log10(value)) / (high - low), 1))

    parts = [f'<text class="title" x="0" y="16">{panel.title}</text>']
    for power in range(low, high + 1):
        line_y = y(10.0**power)
        parts.append(
            f'<path class="line" d="M{LEFT} {line_y}H{WIDTH}"/>'
            f'<text class="scale" x="{LEFT - 6}" y="{line_y + 4}">{10**power:,g}</text>'
        )
    step = (WIDTH - LEFT) / len(panel.bars)
    for index, (size, bars) in enumerate(panel.bars.items()):
        bar_width = step * 0.8 / len(bars)
        start = LEFT + step * (index + 0.1)
        for number, value in enumerate(bars):
            x, top = start + bar_width * number, y(value)
            parts.append(
                f'<rect class="bar{number}" x="{x:.1f}" y="{top}" width="{bar_width - 3:.1f}"'
                f' height="{TOP + inner - top:.1f}"/>'
                f'<text class="number" x="{x + bar_width / 2 - 1.5:.1f}" y="{top - 4}">{_short(value)}</text>'
            )
        if panel.minimum:
            parts.append(f'<path class="floor" d="M{start:.1f} {y(panel.minimum[size])}h{bar_width - 3:.1f}"/>')
        parts.append(f'<text class="size" x="{start + step * 0.4:.1f}" y="{HEIGHT - 10}">{size}</text>')
    return parts


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
