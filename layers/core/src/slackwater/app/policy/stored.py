"""Reads and stores the service's policy: one key of the bucket, with all versions. Without it, the defaults apply."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from slackwater.app.policy.file import PolicyError, Problem, check_regions_in, parse_policy
from slackwater.app.policy.names import DEFAULT_POLICY
from slackwater.engine.registry import Registry
from slackwater.model.object_keys import POLICY
from slackwater.model.policy import Policy
from slackwater.model.policy_version import PolicyVersion
from slackwater.ports.errors import AwsError
from slackwater.ports.store import Documents, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """Reads and stores the service's policy. `place` is its name in messages."""

    documents: Documents
    registry: Registry
    place: str
    known_regions: Callable[[], Collection[str]]
    enabled_regions: Callable[[], Collection[str]]

    def current(self, only: Collection[str] = ()) -> Policy:
        """Return the newest policy, validated. `only` as in `parse_policy`.

        Raises:
            PolicyError: Names everything that is wrong with it.
        """
        return self._checked(*self._read(), only)

    def at(self, version: PolicyVersion, only: Collection[str] = ()) -> Policy:
        """Return the policy in the version that an audit was planned with.

        Raises:
            PolicyError: That version no longer exists, or has another text.
        """
        if version.sha256 is None:
            return parse_policy(None, self.place, self.registry, only)
        text, name, found = self._read(version.version)
        policy = _with_version(parse_policy(text, name, self.registry, only), found)
        if policy.version != version:
            raise PolicyError(
                [Problem(self.place, None, "", f"version {version.version} no longer exists, or has changed")]
            )
        return policy

    def push(self, text: str, name: str) -> PolicyVersion:
        """Validate a text, and store it as the newest policy.

        Args:
            text: The policy.
            name: Its name in messages.

        Raises:
            PolicyError: Names everything that is wrong with it. Nothing is stored.
        """
        sha256 = self._checked(text, name).version.sha256
        return PolicyVersion(version=self.documents.write(POLICY, text), sha256=sha256)

    def pull(self, version: str | None = None) -> tuple[str, str] | None:
        """Return the text of a version (None: the newest), and its version; None if there is none.

        Raises:
            PolicyError: It is not text.
        """
        try:
            return self.documents.read(POLICY, version)
        except UnicodeDecodeError as error:
            remedy = f"`aws s3 cp {self.place} {DEFAULT_POLICY}` fetches the newest as it is"
            raise PolicyError([Problem(self.place, None, "", "is not UTF-8 text", remedy)]) from error

    def history(self) -> Iterable[Version]:
        """Return every version, the newest first."""
        return self.documents.versions(POLICY)

    def _read(self, version: str | None = None) -> tuple[str | None, str, str | None]:
        """Return the text, its name in messages, and its version."""
        found = self.pull(version)
        return (found[0].removeprefix("\ufeff"), self.place, found[1]) if found else (None, self.place, None)

    def _checked(self, text: str | None, name: str, version: str | None = None, only: Collection[str] = ()) -> Policy:
        known = self.known_regions()
        policy = _with_version(parse_policy(text, name, self.registry, only, known), version)
        if text is not None and not policy.regions <= {*known}:
            try:
                enabled = self.enabled_regions()
            except AwsError:
                check_regions_in(text, name, known)  # report a misspelt region before the error of AWS
                raise
            check_regions_in(text, name, {*known, *enabled})
        return policy


def _with_version(policy: Policy, version: str | None) -> Policy:
    """Return the policy with the version of its stored text."""
    return replace(policy, version=replace(policy.version, version=version))
