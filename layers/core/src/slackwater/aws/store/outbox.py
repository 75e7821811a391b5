"""Stores the posts to send to Slack, in DynamoDB."""

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
"""How long to keep a post after it was sent or has failed. Users also press the buttons of old messages."""

UNCHANGED: Final = "#revision = :revision"


class DynamoOutbox:
    """The `Outbox` of a table."""

    def __init__(self, table: Table, clock: Clock) -> None:
        """Make no call."""
        self._table = table
        self._clock = clock

    def record(self, posts: Sequence[Post]) -> None:
        """Store new posts, in order. A post that is already stored does not change."""
        for post in posts:
            self._table.put(Put(self._item(post)))

    def get(self, id: str) -> Post | None:
        """Return one post as it is now; None if there is none."""
        return next(iter(self._load([f"{KIND}#{id}"]).values()), None)

    def waiting(self) -> Iterator[Post]:
        """Yield posts that are pending or being sent, as they are now, the oldest first.

        A very recent one may be missing.
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
        """Store a post if its revision is one more than the stored one; else return False and store nothing."""
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
    """Return the id with padded numbers, which sort as text: `<audit>.0002.0010`."""
    return ".".join(part.zfill(4) for part in id.split("."))
