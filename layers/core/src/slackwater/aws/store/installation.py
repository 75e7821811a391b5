"""The id of this installation: a random one that the table stores, or the one that was set at deployment."""

from typing import Final
from uuid import uuid4

from slackwater.aws.store import table
from slackwater.aws.store.table import Put, Table, item, key_of
from slackwater.ports.errors import BrokenAnswerError

INSTALLATION_READ: Final = table.READ
INSTALLATION_WRITE: Final = table.WRITE

KIND: Final = "INSTALLATION"


class Installation:
    """The id of this installation. Every backup that the installation makes has it. It never changes."""

    def __init__(self, table: Table, given: str | None) -> None:
        """Make no call. `given` is the id set at deployment, which takes precedence over the stored one."""
        self._table, self._id = table, given

    def known(self) -> str | None:
        """Return the id; None if none was set, and none has been created yet.

        Raises:
            AwsError: The DynamoDB call failed.
        """
        if self._id is None:
            for stored in self._table.read([key_of(KIND)]).values():
                self._id = stored["installation"]["S"]
        return self._id

    def __call__(self) -> str:
        """Return the id. The first call creates it. Two first calls at the same time return the same id.

        Raises:
            AwsError: A DynamoDB call failed.
        """
        if self.known() is None:
            self._table.put(Put(key_of(KIND) | item(installation=uuid4().hex)))
        if (id_ := self.known()) is None:
            raise BrokenAnswerError("the table does not keep the installation's id")
        return id_
