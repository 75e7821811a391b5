"""Posts on their way to Slack, in DynamoDB."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import batched
from typing import Final

from pydantic import TypeAdapter

from slackwater.aws.store import table
from slackwater.aws.store.table import Item, Put, Table, item, key, key_of
from slackwater.model.posts import Post
from slackwater.ports.clock import Clock

READ: Final = table.READ
WRITE: Final = table.WRITE

KIND: Final = "POST"
POST: Final = TypeAdapter(Post)

KEPT: Final = timedelta(days=90)
"""How long a post is kept once it is sent or failed: people press the buttons of old messages, too."""

UNCHANGED: Final = "#revision = :revision"


class DynamoOutbox:
    """The Outbox of a table."""

    def __init__(self, table: Table, clock: Clock) -> None:
        """Makes no call."""
        self._table = table
        self._clock = clock

    def record(self, posts: Sequence[Post]) -> None:
        """Store posts that are new, in their order; one that is there already stays as it is."""
        for post in posts:
            self._table.put(Put(self._item(post)))

    def get(self, id: str) -> Post | None:
        """One post as it is now."""
        return next(iter(self._load([f"{KIND}#{id}"]).values()), None)

    def waiting(self) -> Iterator[Post]:
        """Posts that are pending or sending, as they are now, the oldest first.

        One stored a moment ago may be missing.
        """
        entries = self._table.query_all(
            IndexName=table.BY_AGE,
            KeyConditionExpression="#listing = :listing",
            ExpressionAttributeNames={"#listing": "listing"},
            ExpressionAttributeValues=item(**{":listing": table.POSTS}),
        )
        for batch in batched((entry["pk"]["S"] for entry in entries), table.A_BATCH):
            loaded = self._load(batch)
            yield from (loaded[pk] for pk in batch if pk in loaded and loaded[pk].waits)

    def write(self, post: Post) -> bool:
        """Store a post whose revision is one more than what is stored; False, and nothing stored, where it is not."""
        return self._table.put(Put(self._item(post), UNCHANGED, {"revision": post.revision - 1}))

    def _load(self, pks: Iterable[str]) -> dict[str, Post]:
        found = self._table.read(key_of(pk) for pk in pks)
        return {pk: table.parsed(one, POST) for pk, one in found.items()}

    def _item(self, post: Post) -> Item:
        return key(KIND, post.id) | item(
            document=POST.dump_json(post).decode(),
            revision=post.revision,
            listing=table.POSTS if post.waits else None,
            age_key=f"{table.sortable(post.created_at)}#{_in_order(post.id)}" if post.waits else None,
            expires_at=None if post.waits else int((self._clock() + KEPT).timestamp()),
        )


def _in_order(id: str) -> str:
    """An id whose numbers sort as texts: `<audit>.0002.0010`."""
    return ".".join(part.zfill(4) for part in id.split("."))
