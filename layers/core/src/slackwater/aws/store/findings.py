"""Stores findings and their ledgers in DynamoDB."""

from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, Decimal
from itertools import batched
from typing import Final

from slackwater.aws.store import listing, table
from slackwater.aws.store.listing import IndexQuery
from slackwater.aws.store.table import Item, Put, Table, item, key, key_of
from slackwater.model.listing import FindingQuery, Page
from slackwater.model.tracking import LedgerEntry, TrackedFinding, Write

FINDING_READ: Final = table.READ
FINDING_WRITE: Final = table.WRITE

KIND: Final = "FINDING"

UNCHANGED: Final = "#revision = :revision AND #last_seen_at <= :last_seen_at"
"""The finding has not changed, and no later audit has seen it. A finding that is only seen again keeps its revision."""

MOST_CENTS: Final = 10**14
"""An offset larger than any saving. It is added to a saving, so that texts sort as the numbers do."""

UNKNOWN_SAVINGS: Final = ("0", "1")
KNOWN_SAVINGS: Final = ("1", "2")
ANY_AGE: Final = ("0", ":")
"""The ranges (from, to) of the indexes' sort keys."""


class DynamoFindings:
    """The `FindingStore` of a table."""

    def __init__(self, table: Table) -> None:
        """Make no call."""
        self._table = table

    def get(self, id: str) -> TrackedFinding | None:
        """Return one finding as it is now; None if there is none."""
        return next(iter(self._load([f"{KIND}#{id}"]).values()), None)

    def unresolved(self, account: str, region: str) -> Iterator[TrackedFinding]:
        """Yield the unresolved findings of a target, as they are now. A very recent one may be missing."""
        entries = self._table.query_all(
            IndexName=table.BY_TARGET,
            KeyConditionExpression="#target = :target",
            ExpressionAttributeNames={"#target": "target"},
            ExpressionAttributeValues=item(**{":target": f"{account}#{region}"}),
        )
        for batch in batched((entry["pk"]["S"] for entry in entries), table.A_BATCH):
            yield from (finding for finding in self._load(batch).values() if finding.status != "resolved")

    def write(self, write: Write) -> bool:
        """Store a finding and its ledger entry together; return False and store nothing if another write came first."""
        return self._table.put(*puts(write))

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        """Return a page of findings.

        Raises:
            BadCursorError: The cursor is not valid for this query.
        """

        def load(pks: Iterable[str]) -> dict[str, TrackedFinding]:
            # The index is eventually consistent, so check each finding again.
            return {pk: finding for pk, finding in self._load(pks).items() if _fits(finding, query)}

        return listing.page(self._table, _listed(query), query.limit, query.cursor, load)

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        """Yield every change of a finding, the oldest first."""
        entries = self._table.query_all(
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            ExpressionAttributeValues=item(**{":pk": f"{KIND}#{id}", ":sk": table.LEDGER_OF}),
            ConsistentRead=True,
        )
        return (table.parsed(entry, table.LEDGER) for entry in entries)

    def _load(self, pks: Iterable[str]) -> dict[str, TrackedFinding]:
        found = self._table.read(key_of(pk) for pk in pks)
        return {pk: table.parsed(one, table.FINDING) for pk, one in found.items()}


def puts(write: Write) -> list[Put]:
    """Return the writes that store a finding together with its ledger entry."""
    if write.entry is None:
        return [_put(write)]
    entry = item(document=table.LEDGER.dump_json(write.entry).decode())
    return [_put(write), Put(table.ledger_key(write.finding.id, write.entry.revision) | entry)]


def _put(write: Write) -> Put:
    stored = _item(write.finding)
    if write.expects == 0:
        return Put(stored)
    seen_at = stored["last_seen_at"]["S"]
    return Put(stored, UNCHANGED, {"revision": write.expects, "last_seen_at": seen_at})


def _item(finding: TrackedFinding) -> Item:
    seen = finding.sighting
    resource = seen.resource
    cents = None if seen.monthly_savings_usd is None else _cents(seen.monthly_savings_usd)
    return key(KIND, finding.id) | item(
        document=table.FINDING.dump_json(finding).decode(),
        revision=finding.revision,
        last_seen_at=table.sortable(finding.last_seen_at),
        target=f"{resource.account}#{resource.region}" if finding.status != "resolved" else None,
        listing=finding.status,
        saving_key=f"{UNKNOWN_SAVINGS[0] if cents is None else _saving_key(cents)}#{finding.id}",
        age_key=f"{table.sortable(finding.opened_at)}#{finding.id}",
        detector=seen.detector,
        account=resource.account,
        region=resource.region,
        severity=seen.severity,
        saving_cents=cents,
    )


def _listed(query: FindingQuery) -> IndexQuery:
    equal = {"detector": query.detector, "account": query.account, "region": query.region, "severity": query.severity}
    minimum = query.minimum_monthly_savings_usd
    least = None if minimum is None else _cents(minimum)
    by_age = query.order.endswith("opened_at")
    spans: tuple[tuple[str, str], ...] = (KNOWN_SAVINGS, UNKNOWN_SAVINGS)
    if by_age:
        spans = (ANY_AGE,)
    elif least is not None:
        spans = ((_saving_key(least), KNOWN_SAVINGS[1]),)
    return IndexQuery(
        index=table.BY_AGE if by_age else table.BY_SAVING,
        listing=query.status,
        spans=spans,
        descending=query.order.startswith("-"),
        equal={name: value for name, value in equal.items() if value is not None},
        least={"saving_cents": least} if by_age and least is not None else {},
    )


def _fits(finding: TrackedFinding, query: FindingQuery) -> bool:
    seen = finding.sighting
    minimum, saving = query.minimum_monthly_savings_usd, seen.monthly_savings_usd
    return (
        finding.status == query.status
        and query.detector in {None, seen.detector}
        and query.account in {None, seen.resource.account}
        and query.region in {None, seen.resource.region}
        and query.severity in {None, seen.severity}
        and (minimum is None or (saving is not None and saving >= minimum))
    )


def _cents(usd: Decimal) -> int:
    """Return whole cents, rounded up: a saving has no fractions of a cent, but a minimum may."""
    within = min(max(usd, Decimal(1 - MOST_CENTS) / 100), Decimal(MOST_CENTS - 1) / 100)
    return int((within * 100).to_integral_value(ROUND_CEILING))


def _saving_key(cents: int) -> str:
    return f"{KNOWN_SAVINGS[0]}{MOST_CENTS + cents:015d}"
