"""What a caller may ask of AWS, and what a scan could not see for want of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

type Access = Literal["allowed", "denied", "unreachable", "failed"]


UNNAMED: Final = "policy that AWS does not name"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which kind of policy refused, in AWS's words, and whether by a Deny; otherwise it lacks an Allow."""

    policy_type: str
    explicit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a call: `reason` is None where it was allowed, `refusal` where AWS did not say what refused."""

    access: Access
    reason: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An action that a scan uses.

    Without it `blind` detectors can judge nothing and `weaker` ones less; `without` is what else happens then. Without an
    action that is not `optional` a scan is incomplete, or does not start.
    """

    action: str
    optional: bool
    blind: tuple[str, ...] = ()
    weaker: tuple[str, ...] = ()
    without: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What came of an action's call in a region; `region` is None where one call answers for all."""

    need: Need
    region: str | None
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What a caller may see, asked in some regions."""

    account: str
    arn: str
    partition: str
    regions: tuple[str, ...]
    checks: tuple[Check, ...]

    @property
    def role(self) -> str | None:
        """The name of the role that the caller has assumed, if any."""
        resource = self.arn.split(":", 5)[-1].split("/")
        return resource[1] if resource[0] == "assumed-role" else None

    @property
    def ready(self) -> bool:
        """True when a scan would see everything required."""
        return all(check.need.optional for check in self.missing)

    @property
    def missing(self) -> tuple[Check, ...]:
        """What did not answer."""
        return tuple(check for check in self.checks if check.answer.access != "allowed")

    @property
    def lacking(self) -> tuple[str, ...]:
        """Actions that an Allow in the caller's own policy would close, sorted."""
        return _actions(c for c in self._denied if c.answer.refusal in (None, Refusal("identity-based policy", explicit=False)))

    @property
    def sure(self) -> bool:
        """True where AWS said what refused each denied action; otherwise what is lacking may be refused by something else."""
        return all(check.answer.refusal for check in self._denied)

    @property
    def refused(self) -> dict[Refusal, tuple[str, ...]]:
        """Actions that no such Allow would close, by what refuses them."""
        refusals = {check.answer.refusal: None for check in self._denied if check.answer.refusal}
        return {
            refusal: _actions(check for check in self._denied if check.answer.refusal == refusal)
            for refusal in refusals
            if refusal != Refusal("identity-based policy", explicit=False)
        }

    @property
    def silent_regions(self) -> tuple[str, ...]:
        """Regions in which nothing answered at all."""
        heard = {check.region for check in self.checks if check.answer.access != "unreachable"}
        return tuple(region for region in self.regions if region not in heard)

    @property
    def _denied(self) -> tuple[Check, ...]:
        return tuple(check for check in self.missing if check.answer.access == "denied")


def _actions(checks: Iterable[Check]) -> tuple[str, ...]:
    return tuple(sorted({check.need.action for check in checks}))
