"""Warns about settings of a valid policy that have no effect, or that are missing."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.app.policy.file import Problem, key_of
from slackwater.app.policy.toml_lines import KeyLines, KeyPath
from slackwater.engine.authority import BY_IDENTITY_CENTER, SESSION
from slackwater.engine.cleanup import CLEANABLE, UNATTENDED
from slackwater.engine.registry import Registry, registry
from slackwater.model.policy import USER, CleanupSection, ExemptSection, Policy, ScanSection

ROLE: Final = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}):role/(?:.*/)?([^/]+)")

type PolicyWarning = tuple[KeyPath, str, str]
"""The key, the problem, and the fix if there is one."""

AWS_ALLOWS: Final = {"cloudtrail": 2, "cloudwatch": 500}
"""The limits that AWS publishes, in calls a second in one account and region. CloudWatch's is for GetMetricData."""
POINTS_AWS_ALLOWS: Final = 396_000

NOBODY_IS_WARNED: Final = (
    "Slackwater deletes nothing before Slack accepts a warning; slack.channel is not set, so only a webhook can "
    "deliver one"
)


type Pinned = Callable[[str, str], bool | None]
"""Returns whether a role's trust policy pins the session name, by the role's account and name; None if unknown."""


def find_warnings(text: str, name: str, policy: Policy, pinned: Pinned = lambda *_: None) -> list[Problem]:
    """Return the settings without effect, or with another effect than intended, in the order of their lines.

    Args:
        text: The policy.
        name: Its name in messages.
        policy: The same policy, parsed.
        pinned: Checks a role's trust policy.
    """
    lines = KeyLines(text)
    read = tomllib.loads(text)
    disabled = {id_ for id_, section in read.get("detectors", {}).items() if not section.get("enabled", True)}
    about = _Cleanup(policy, registry(), read.get("cleanup", {}).keys(), disabled)
    found_here = [
        *about.find_warnings(),
        *_identities(policy, pinned),
        *_routes(policy),
        *_organization(policy, read),
        *_rates(policy.scan),
        *_keep_tags(policy.exempt),
    ]
    found = [Problem(name, lines[where], key_of(where), problem, remedy) for where, problem, remedy in found_here]
    return sorted(found, key=lambda problem: problem.line or 0)


def _identities(policy: Policy, pinned: Pinned) -> Iterator[PolicyWarning]:
    """Warn about identities that match nobody, or that other people can use."""
    lists = {
        ("cleanup", "approver_identities"): policy.cleanup.approver_identities,
        ("api", "deciders"): policy.api.deciders,
        ("api", "auditors"): policy.api.auditors,
    }
    for where, identities in lists.items():
        for n, who in enumerate(identities):
            for problem, remedy in _identity(who, where, pinned):
                yield (*where, n), problem, remedy


def _identity(who: str, where: KeyPath, pinned: Pinned) -> Iterator[tuple[str, str]]:
    if role := ROLE.fullmatch(who):
        partition, account, role_name = who.split(":")[1], role[1], role[2]
        says = f"arn:{partition}:sts::{account}:assumed-role/{role_name}"
        yield "never matches: STS reports the callers of a role by another ARN", f"write {says}"
    elif re.fullmatch(USER, who.removeprefix("slack:")):
        key = "cleanup.approvers" if where[0] == "cleanup" else f"slack.{where[1]}"
        yield "is a Slack user id, which belongs elsewhere", f"list it in {key}"
    elif "*" in who:
        yield "never matches: wildcards have no effect here", ""
    elif not who.startswith("arn:") and "@" not in who:
        says = f"arn:PARTITION:sts::ACCOUNT:assumed-role/{who}"
        yield "is neither an ARN nor an e-mail address: it matches only a token's subject", f"for a role write {says}"
    elif (session := SESSION.fullmatch(who)) and not session["role"].startswith(BY_IDENTITY_CENTER):
        is_pinned = pinned(session["account"], session["role"])
        if not is_pinned:
            unless = (
                ", unless its trust policy pins sts:RoleSessionName, which could not be read"
                if is_pinned is None
                else ""
            )
            yield (
                (
                    f"does not identify one person: anyone who can assume {session['role']} chooses the session "
                    f"name{unless}"
                ),
                "pin sts:RoleSessionName in the role's trust policy, or name a role that only this person can assume",
            )


def _routes(policy: Policy) -> Iterator[PolicyWarning]:
    for n, route in enumerate(routes := policy.slack.routes):
        if (first := next((m for m in range(n) if routes[m].takes_all_of(route)), None)) is not None:
            yield (
                ("slack", "routes", n),
                f"never applies: slack.routes[{first + 1}] already matches all that it matches",
                "",
            )


def _organization(policy: Policy, text: Mapping[str, Any]) -> Iterator[PolicyWarning]:
    section, where = policy.organization, "organization"
    if where in text and not section.names_any:
        yield (where,), "lists no account, so Slackwater audits only its own", ""
    if section.tags and section.accounts and not section.organizational_units:
        yield (
            (where, "tags"),
            "never applies: tags only filter organizational_units, not accounts",
            "",
        )
    for key in ("organizational_units", "accounts", "except_accounts"):
        named: list[str] = getattr(section, key)
        yield from (((where, key, n), "is listed twice", "") for n, one in enumerate(named) if one in named[:n])
    left_out = {*section.except_accounts} & {*section.accounts}
    for n, account in enumerate(section.accounts):
        if account in left_out:
            yield (where, "accounts", n), "is not audited: organization.except_accounts lists it too", ""
    if section.accounts and not section.organizational_units and left_out == {*section.accounts}:
        yield (where,), "leaves no account, so no audit starts: except_accounts lists all of accounts", ""


def _rates(scan: ScanSection) -> Iterator[PolicyWarning]:
    too_fast = "is above the AWS limit of {:,} a second in an account and region: AWS would throttle the calls"
    for service, most in AWS_ALLOWS.items():
        if scan.calls_per_second.get(service, 0) > most:
            yield ("scan", "calls_per_second", service), too_fast.format(most), ""
    if scan.datapoints_per_second > POINTS_AWS_ALLOWS:
        yield ("scan", "datapoints_per_second"), too_fast.format(POINTS_AWS_ALLOWS), ""
    if scan.most_metrics_usd > scan.most_metrics_usd_per_day:
        day = f"is above scan.most_metrics_usd_per_day ({scan.most_metrics_usd_per_day:g} USD), which applies first"
        yield ("scan", "most_metrics_usd"), day, "raise the daily limit too"


def _keep_tags(exempt: ExemptSection) -> Iterator[PolicyWarning]:
    """Warn about a list that replaces the default without naming its tags."""
    if missing := [tag for tag in ExemptSection().keep_tags if tag not in exempt.keep_tags]:
        names = " and ".join(missing)
        lost = f"resources tagged {names} are not protected: the list replaces the default"
        yield ("exempt", "keep_tags"), lost, f"to protect them, add {names}"


@dataclass(frozen=True, slots=True)
class _Cleanup:
    """Checks the cleanup section. `named` has its keys in the text, and `disabled` the detectors that the text turns
    off.
    """

    policy: Policy
    registry: Registry
    named: Collection[str]
    disabled: Collection[str]

    def find_warnings(self) -> Iterator[PolicyWarning]:
        cleanup = self.policy.cleanup
        needed = {key: getattr(cleanup, key) for key in ("accounts", "regions", "resource_types", "detectors")}
        somebody = cleanup.approvers or cleanup.approver_identities
        needed["approvers or approver_identities"] = somebody or cleanup.unattended
        empty = [key for key, value in needed.items() if not value]
        if empty and any([*needed.values(), cleanup.unattended]):
            yield ("cleanup",), f"nobody can approve anything until you set {', '.join(empty)}", ""
        if cleanup.unattended and not somebody:
            yield (
                ("cleanup",),
                "Slackwater deletes without an approval, and nobody may undo that",
                "set cleanup.approver_identities",
            )
        if cleanup.delete_without_warning:
            yield (
                ("cleanup", "delete_without_warning"),
                "deletes a resource without a warning if the policy sets no Slack channel for it",
                "",
            )
        elif cleanup.detectors and not self.policy.slack.channel:
            yield ("cleanup",), NOBODY_IS_WARNED, "set slack.channel"
        yield from self._detectors(cleanup)
        yield from self._regions(cleanup)
        yield from self._warnings(cleanup)
        yield from self._unattended(cleanup)

    def _detectors(self, cleanup: CleanupSection) -> Iterator[PolicyWarning]:
        for n, id_ in enumerate(cleanup.detectors):
            where, type_ = ("cleanup", "detectors", n), self.registry[id_].resource.KIND
            if id_ not in CLEANABLE:
                yield where, "never applies: Slackwater cannot carry out this detector's recommendations", ""
            elif id_ in self.disabled:
                yield where, f"never applies: detectors.{id_}.enabled is false", ""
            elif id_ not in self.policy.limits and not cleanup.unattended:  # `_unattended` warns about its rules
                yield where, f"never applies: detectors.{id_}.{self.registry[id_].limits().lacks} is not set", ""
            elif cleanup.resource_types and type_ not in cleanup.resource_types:
                yield where, f"never applies: cleanup.resource_types does not name {type_}", ""

    def _regions(self, cleanup: CleanupSection) -> Iterator[PolicyWarning]:
        for n, region in enumerate(cleanup.regions):
            if (scanned := self.policy.scan.regions) and region not in scanned:
                yield ("cleanup", "regions", n), "is not scanned: scan.regions does not name it", ""

    def _warnings(self, cleanup: CleanupSection) -> Iterator[PolicyWarning]:
        for n, days in enumerate(cleanup.warn_days):
            if "warn_days" in self.named and days >= cleanup.grace_days:
                why = f"never applies: the first warning is cleanup.grace_days ({cleanup.grace_days}) ahead"
                yield ("cleanup", "warn_days", n), why, ""

    def _unattended(self, cleanup: CleanupSection) -> Iterator[PolicyWarning]:
        (detector,) = UNATTENDED
        of_jobs: str | None = getattr(self.policy.limits.get(detector), "tag", None)
        for n, rule in enumerate(cleanup.unattended):
            where: KeyPath = ("cleanup", "unattended", n)
            before = [m for m in range(n) if _takes(cleanup.unattended[m].tag, rule.tag)]
            if detector in self.disabled:
                yield where, f"never applies: detectors.{detector}.enabled is false", ""
            elif of_jobs is None:
                yield where, f"never applies: detectors.{detector}.tag is not set, so it finds nothing", ""
            elif detector not in cleanup.detectors:
                yield where, f"never applies: cleanup.detectors does not name {detector}", ""
            elif before:
                yield (
                    where,
                    f"never applies: cleanup.unattended[{before[0] + 1}] already matches all that it matches",
                    "",
                )
            elif not (_takes(of_jobs, rule.tag) or _takes(rule.tag, of_jobs)) and _key(of_jobs) == _key(rule.tag):
                yield where, f"never applies: detectors.{detector}.tag is {of_jobs}", ""


def _takes(tag: str, narrower: str) -> bool:
    """Return whether everything with the second tag has the first: `Job` includes `Job=encode`."""
    return tag in {narrower, _key(narrower)}


def _key(tag: str) -> str:
    return tag.partition("=")[0]
