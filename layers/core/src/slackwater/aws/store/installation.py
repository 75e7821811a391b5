"""Which installation this is: by a random id that the table keeps, or by the one that was given at deploy."""

from typing import Final
from uuid import uuid4

from slackwater.aws.store import table
from slackwater.aws.store.table import Put, Table, item, key_of
from slackwater.ports.errors import BrokenAnswerError

INSTALLATION_READ: Final = table.READ
INSTALLATION_WRITE: Final = table.WRITE

KIND: Final = "INSTALLATION"


class Installation:
    """The id of this installation. It is on every backup that the installation makes, and does not change."""

    def __init__(self, table: Table, given: str | None) -> None:
        """Makes no call. `given` at deploy, it takes the place of what the table keeps."""
        self._table, self._id = table, given

    def known(self) -> str | None:
        """The id; None where none was given, and nothing has needed one yet.

        Raises:
            AwsError: DynamoDB did not say.
        """
        if self._id is None:
            for stored in self._table.read([key_of(KIND)]).values():
                self._id = stored["installation"]["S"]
        return self._id

    def __call__(self) -> str:
        """The id. The first that asks makes one; where two ask at once, both get the same.

        Raises:
            AwsError: DynamoDB did not say.
        """
        if self.known() is None:
            self._table.put(Put(key_of(KIND) | item(installation=uuid4().hex)))
        if (id_ := self.known()) is None:
            raise BrokenAnswerError("the table does not keep the installation's id")
        return id_
