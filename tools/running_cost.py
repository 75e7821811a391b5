"""Write the page about the deployed service's monthly cost: `python tools/running_cost.py docs/running-cost.md`."""

import sys
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A billed item and the quantity used in a month without audits, with audits, and with audits and Slack."""

    what: str
    usd: Decimal
    unit: str
    free: str
    idle: Decimal
    busy: Decimal
    with_slack: Decimal
    source: str
    price_source: str

    @property
    def idle_usd(self) -> Decimal:
        """The cost of a month without audits."""
        return self.idle * self.usd

    @property
    def busy_usd(self) -> Decimal:
        """The cost of a month with audits."""
        return self.busy * self.usd

    @property
    def with_slack_usd(self) -> Decimal:
        """The cost of a month with audits and Slack messages."""
        return self.with_slack * self.usd


def rows() -> tuple[list[Row], str]:
    """Return all rows, and the date of the prices."""
    data = tomllib.loads((Path(__file__).parent / "running_cost.toml").read_text("utf-8"))
    audits = Decimal(data["audits_a_month"])
    found = []
    for item in data["items"]:
        idle = Decimal(item.pop("idle", "0"))
        busy = idle + Decimal(item.pop("month", "0")) + Decimal(item.pop("audit", "0")) * audits
        with_slack = busy + Decimal(item.pop("slack", "0"))
        found.append(Row(**item | {"usd": Decimal(item["usd"])}, idle=idle, busy=busy, with_slack=with_slack))
    return found, data["as_of"]


def hourly() -> Decimal:
    """Return the cost of a month of hourly audits, of 730 hours."""
    items = tomllib.loads((Path(__file__).parent / "running_cost.toml").read_text("utf-8"))["items"]
    return sum((730 * Decimal(item.get("audit", "0")) * Decimal(item["usd"]) for item in items), Decimal())


def amount(quantity: Decimal) -> str:
    """Format a quantity with up to three decimals; an empty string for zero."""
    return f"{quantity.quantize(Decimal('0.001')).normalize():f}" if quantity else ""


def money(usd: Decimal) -> str:
    """Format US dollars with four decimals; an empty string for zero."""
    return "" if not usd else f"{usd:.4f}" if usd >= Decimal("0.0001") else "< 0.0001"


def table() -> str:
    """Return the table in Markdown."""
    found, as_of = rows()
    lines = [
        f"In us-east-1, before free tiers, at prices of {as_of}. Prices with * do not come from the linked page.",
        "",
        "| | Price | Idle | USD | With audits | USD | With Slack | USD | Free each month |",
        "|-|-|-:|-:|-:|-:|-:|-:|-|",
    ]
    for row in found:
        price = f"[{row.usd:f} per {row.unit}]({row.source}){'' if row.price_source == 'AWS' else '*'}"
        lines.append(
            f"| {row.what} | {price} | {amount(row.idle)} | {money(row.idle_usd)} "
            f"| {amount(row.busy)} | {money(row.busy_usd)} "
            f"| {amount(row.with_slack)} | {money(row.with_slack_usd)} | {row.free} |"
        )
    idle, busy, with_slack = (
        sum((usd(row) for row in found), Decimal())
        for usd in (lambda r: r.idle_usd, lambda r: r.busy_usd, lambda r: r.with_slack_usd)
    )
    lines += [f"| **All** | | | **{idle:.2f}** | | **{busy:.2f}** | | **{with_slack:.2f}** | |", ""]
    return "\n".join(lines)


def page() -> str:
    """Return the whole page."""
    return f"""# What a month costs

The deployed service, in USD. *Idle*: no audit. *With audits*: one a week, of 17 regions with 1,000 resources in
all and 100 findings, and 100 API calls. *With Slack*: the same, plus a weekly digest, five posts a week, and 100 button
clicks or commands.

{table()}
- If the account has no other dashboards or alarms, the free tier covers these. `Dashboard=false` removes the dashboard.
- `HourlyDetectors` with all detectors would add {hourly():.0f} USD to that, 3.30 USD of it for 11 metrics of its own.
- `CleanupEnabled` adds nine alarms (0.90 USD), its backups, and a daily check of each resource that awaits clean-up.
- The CloudWatch charge for metrics grows most with the account: 3.5 to 6 metrics a resource and audit in [simulated
  accounts](performance.md#the-whole-catalogue). Each audit reports it.
"""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/running_cost.py FILE")
    Path(sys.argv[1]).write_text(page(), "utf-8")
