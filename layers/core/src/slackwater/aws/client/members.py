"""Sessions for the member accounts of an organization. Each has a read-only role from template-member.yaml."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import reason
from slackwater.aws.client.regions import enabled_regions
from slackwater.ports.errors import AccessDeniedError, AwsError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

KEPT: Final = 32
"""Number of sessions to keep: more than are in use at the same time. A session with an EC2 client takes 1.4 MiB."""


class Members:
    """Sessions of the accounts of one audit or scan. The meter of the original session counts all their calls.

    Thread-safe.
    """

    def __init__(
        self, own: AwsSession, own_account: str, partition: str, role_name: str | None, external_id: str | None
    ) -> None:
        """Use `own` without a role for its own account. Without `role_name`, no other account can be accessed."""
        self._own, self._own_account, self._partition = own, own_account, partition
        self._role_name, self._external_id = role_name, external_id
        self._lock = threading.Lock()
        self._entered: OrderedDict[str, Future[AwsSession]] = OrderedDict()

    def session(self, account: str) -> AwsSession:
        """Return the session of an account. Assumes the account's role unless the session is cached.

        Raises:
            AwsError: The role cannot be assumed. The message names the account and the role, and says what to do.
        """
        if account == self._own_account:
            return self._own
        with self._lock:
            mine = account not in self._entered
            entered = self._entered.setdefault(account, Future())
            self._entered.move_to_end(account)
            while len(self._entered) > KEPT:
                self._entered.popitem(last=False)
        if mine:
            try:
                entered.set_result(self._enter(account))
            except BaseException as error:  # noqa: BLE001 -- `result` raises it in all threads; the next call retries
                with self._lock:
                    self._entered.pop(account, None)
                entered.set_exception(error)
        return entered.result()

    def regions(self, account: str) -> list[str]:
        """Return the regions that an account has enabled, sorted.

        Raises:
            AwsError: As in `session`, or the regions cannot be listed.
        """
        session = self.session(account)
        try:
            return enabled_regions(session)
        except AwsError as error:
            raise error.explained(f"account {account}: {error}") from error.__cause__

    def _enter(self, account: str) -> AwsSession:
        if self._role_name is None:
            raise AwsError(
                f"account {account} cannot be entered: no role is named for other accounts (MemberRoleName, with the "
                "name of the one that template-member.yaml makes in each)"
            )
        role_arn = f"arn:{self._partition}:iam::{account}:role/{self._role_name}"
        try:
            return self._own.assuming(role_arn, self._external_id)
        except AccessDeniedError as error:
            why = reason(error.__cause__ or error)
            raise AccessDeniedError(
                f"account {account} cannot be entered: {role_arn} may not be assumed: deploy template-member.yaml "
                "there, "
                f"for this account and stack, with the same external id ({why})"
            ) from error.__cause__
        except AwsError as error:
            raise error.explained(f"account {account} cannot be entered by {role_arn}: {error}") from error.__cause__
