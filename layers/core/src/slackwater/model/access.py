"""What a caller may do in AWS, and what a scan misses without it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

type Access = Literal["allowed", "denied", "unreachable", "failed"]


UNNAMED: Final = "policy that AWS does not name"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The type of policy that refused a call, in AWS's words. `explicit` means by a Deny, not by a missing Allow."""

    policy_type: str
    explicit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a call. `reason` is None if AWS allowed it, `refusal` if AWS did not say what refused it."""

    access: Access
    reason: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An action that a scan uses.

    Attributes:
        optional: Whether a scan is complete without the action. If not, the scan is incomplete or does not start.
        blind: Detectors that cannot judge without the action.
        weaker: Detectors that are less accurate without the action.
        without: What else happens without the action.
    """

    action: str
    optional: bool
    blind: tuple[str, ...] = ()
    weaker: tuple[str, ...] = ()
    without: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of an action's call in a Region; `region` is None if one call is enough for all Regions."""

    need: Need
    region: str | None
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What a caller may do, checked in some Regions."""

    account: str
    arn: str
    partition: str
    regions: tuple[str, ...]
    checks: tuple[Check, ...]

    @property
    def role(self) -> str | None:
        """The name of the role that the caller has assumed; None if the caller is no role."""
        resource = self.arn.split(":", 5)[-1].split("/")
        return resource[1] if resource[0] == "assumed-role" else None

    @property
    def ready(self) -> bool:
        """Whether a scan can make every required call."""
        return all(check.need.optional for check in self.missing)

    @property
    def missing(self) -> tuple[Check, ...]:
        """The checks that did not succeed."""
        return tuple(check for check in self.checks if check.answer.access != "allowed")

    @property
    def lacking(self) -> tuple[str, ...]:
        """The actions, sorted, that an Allow in the caller's own policy would permit."""
        return _actions(
            c for c in self._denied if c.answer.refusal in (None, Refusal("identity-based policy", explicit=False))
        )

    @property
    def sure(self) -> bool:
        """Whether AWS said what refused each denied action. If not, an Allow for these actions may not be enough."""
        return all(check.answer.refusal for check in self._denied)

    @property
    def refused(self) -> dict[Refusal, tuple[str, ...]]:
        """The actions that an Allow in the caller's own policy would not permit, by what refuses them."""
        refusals = {check.answer.refusal: None for check in self._denied if check.answer.refusal}
        return {
            refusal: _actions(check for check in self._denied if check.answer.refusal == refusal)
            for refusal in refusals
            if refusal != Refusal("identity-based policy", explicit=False)
        }

    @property
    def silent_regions(self) -> tuple[str, ...]:
        """The Regions in which no call got an answer."""
        reached = {check.region for check in self.checks if check.answer.access != "unreachable"}
        return tuple(region for region in self.regions if region not in reached)

    @property
    def _denied(self) -> tuple[Check, ...]:
        return tuple(check for check in self.missing if check.answer.access == "denied")


def _actions(checks: Iterable[Check]) -> tuple[str, ...]:
    return tuple(sorted({check.need.action for check in checks}))
