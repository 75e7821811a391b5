"""Carries out requests from Slack, updates the message, and answers the person.

It may be called twice with the same request. A decision is made and answered once, and an audit is started once.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol

from slackwater.app.audit.audits import REPORT_LINK_S, Audits
from slackwater.app.audit.request import AuditRequestError, check_regions
from slackwater.app.cleanup.cleanups import Approved, Cleanups, NotApproverError
from slackwater.app.findings.findings import (
    BadDecisionError,
    ChangedError,
    ConflictError,
    DecidedError,
    Findings,
    NotAllowedError,
    NotFoundError,
)
from slackwater.app.policy.file import PolicyError
from slackwater.app.policy.names import LIST_DETECTORS
from slackwater.app.telemetry import LOGGER
from slackwater.engine.authority import may_view
from slackwater.engine.registry import Registry, documentation
from slackwater.model.audits import AuditRequest
from slackwater.model.cleanup import ActorNote
from slackwater.model.listing import MAX_PAGE, FindingQuery
from slackwater.model.nearest import unknown
from slackwater.model.policy import Policy
from slackwater.model.posts import Message, Sent
from slackwater.model.slack_requests import Asked, Asker, ButtonPress, Command, Dismissal
from slackwater.model.tracking import Decided, Decision, Status, TrackedFinding
from slackwater.ports.slack import ChannelBusyError, ChannelRefusedError, DeliveryUnknownError, Outbox
from slackwater.views.slack import answers
from slackwater.views.slack.decided import decided, stoppable
from slackwater.views.slack.finding import SNOOZES, STOP

SLACKS: Final = "https://hooks.slack.com"
"""The origin of Slack's response URLs."""

ATTEMPTS: Final = 3
"""How often to call Slack before the call is left for the next attempt."""
LONGEST_PAUSE_S: Final = 10
"""The longest pause between the calls. If Slack asks for a longer one, the call is left for the next attempt."""
TURNS: Final = 10
"""How often to update a message while other people keep deciding."""
AUDITS: Final = 20
"""How many recent audits to search for the last finished one."""
TOP: Final = 5
DECIDING: Final[Mapping[str, Decided]] = {"approve": "approved", "snooze": "snoozed"}
"""Buttons that decide about a finding, and the status that they give it. Their message is updated even if somebody else
decided first.
"""
ACCOUNT: Final = re.compile(r"[0-9]{12}")
APPROVAL: Final = re.compile(r"([0-9a-f]+):([0-9a-f]+)")
"""The value of the button: the finding's id, and the fingerprint of the version that the person saw."""

LATER: Final = (
    "Slackwater could not reach something that it needs. It may try again; if the message has not changed in ten "
    "minutes, ask the person who runs Slackwater."
)
ANOTHER_VERSION: Final = "This button is of another version of Slackwater: the next digest has one that works."


class AnswerChannel(Protocol):
    """Changes posted messages."""

    def update(self, sent: Sent, message: Message) -> None:
        """Replace a posted message.

        Raises:
            ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
        """
        ...


class UnfinishedError(Exception):
    """The request is carried out, if allowed, but Slack has not confirmed the answer. Calling again only sends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Carries out requests, with the adapters that this needs.

    Attributes:
        respond: Answers at a response URL.
        origin: Another origin, besides Slack's, of valid response URLs; None if there is none.
        home: Returns the id of the bot's workspace.
        pause: Waits for this many seconds.
        sent_texts: The last text that this process sent for each unfinished request; None if Slack did not confirm it.
    """

    findings: Findings
    cleanups: Cleanups
    audits: Audits
    outbox: Outbox
    channel: Callable[[], AnswerChannel]
    respond: Callable[[str, Message], None]
    origin: str | None
    home: Callable[[], str | None]
    policy: Callable[[], Policy]
    registry: Callable[[], Registry]
    account: Callable[[], str]
    known_regions: Callable[[], Collection[str]]
    pause: Callable[[float], None]
    sent_texts: dict[str, str | None] = field(default_factory=dict)

    def answer(self, asked: Asked) -> Message:
        """Carry out a request, and return the answer, which is sent once, however often this is called.

        Raises:
            UnfinishedError: The request is carried out, but Slack has not confirmed the answer.
            Exception: The request could not be carried out, and the person was told so; or the message could not be
                updated.
        """
        becomes = _becomes(asked)
        try:
            made = self._made(asked, becomes)
            reply = self._earlier_answer(asked, made) if made else self._answer_to(asked)
        except Exception:  # whatever the error, the person needs an answer, and Lambda needs the error
            self._send(asked, answers.problem(LATER))
            raise
        if made:  # by an earlier attempt, which has sent this answer
            self.sent_texts.setdefault(asked.id, reply.text)
        left = self._send(asked, reply)
        if isinstance(asked, ButtonPress | Dismissal) and (becomes or _stops(asked)):
            left += self._bring_up_to_date(asked.post)
        if left:
            raise UnfinishedError("; ".join(left))
        self.sent_texts.pop(asked.id, None)
        return reply

    def _made(self, asked: Asked, becomes: Decided | None) -> TrackedFinding | None:
        """Return the finding if this same request has already decided about it; else None.

        The decision stays valid, whatever the policy says now.
        """
        if becomes is None or isinstance(asked, Command):
            return None
        if not self.findings.made(asked.about, becomes, who=_who(asked.asker), at=asked.at):
            return None
        return self.findings.store.get(asked.about)

    def _earlier_answer(self, asked: Asked, made: TrackedFinding) -> Message:
        """Return the answer to a decision of an earlier attempt. Its clean-up may not have started yet."""
        if isinstance(asked, ButtonPress) and (seen := self._to_approve(asked)):
            try:
                return _approved(self.cleanups.approve(made.id, who=_who(asked.asker), fingerprint=seen, now=asked.at))
            except (ConflictError, NotAllowedError, NotFoundError, PolicyError) as error:
                return answers.approved(made, acts_after=None, why_not=str(error))
        return answers.done(made)

    def _answer_to(self, asked: Asked) -> Message:
        """Carry out the request, and return the answer."""
        if not asked.asker.team or asked.asker.team != self.home():
            return answers.problem("Slackwater is not for this workspace.")
        try:
            return self._carry_out(asked)
        except NotFoundError as error:
            return answers.problem(str(error))
        except PolicyError:
            return answers.problem(
                "The policy cannot be read, so nobody may do anything. `slackwater policy check` says why."
            )

    def _carry_out(self, asked: Asked) -> Message:
        match asked:
            case Command():
                return self._command(asked)
            case Dismissal():
                until = asked.at + timedelta(days=asked.days) if asked.days else None
                return self._decide(asked, "dismiss", asked.why, until)
            case ButtonPress(action="snooze") if asked.value in SNOOZES:
                return self._decide(asked, "snooze", "", asked.at + timedelta(days=int(asked.value)))
            case ButtonPress(action="approve") if seen := self._to_approve(asked):
                return self._approve(asked, seen)
            case ButtonPress() if _stops(asked):
                return self._stop(asked)
            case ButtonPress():
                return self._show(asked)

    def _show(self, asked: ButtonPress) -> Message:
        """Return the answer to a button that decides nothing."""
        match asked.action:
            case "details":
                return self._details(asked)
            case "report":
                return self._report(asked)
            case "dismiss":
                return answers.problem(f"Slack did not open the form ({asked.value}). Press Dismiss again.")
            case _:
                return answers.problem(ANOTHER_VERSION)

    # -- Decisions

    def _decide(self, asked: ButtonPress | Dismissal, action: Any, why: str, until: datetime | None) -> Message:
        if asked.asker.user not in self.policy().slack.deciders:
            return answers.not_allowed("slack.deciders", asked.asker.user)
        note = ActorNote(who=_who(asked.asker), why=why, at=asked.at)
        return self._outcome(
            asked, lambda: answers.done(self.findings.decided_first(asked.about, action, note, until=until))
        )

    def _to_approve(self, asked: ButtonPress) -> str | None:
        """Return the fingerprint of the version to approve; None if the press is not an approval."""
        seen = APPROVAL.fullmatch(asked.value) if asked.action == "approve" else None
        return seen[2] if seen and seen[1] == asked.about else None

    def _approve(self, asked: ButtonPress, fingerprint: str) -> Message:
        return self._outcome(
            asked,
            lambda: _approved(
                self.cleanups.approve(asked.about, who=_who(asked.asker), fingerprint=fingerprint, now=asked.at)
            ),
        )

    def _stop(self, asked: ButtonPress) -> Message:
        """Stop the clean-up of a finding. If the policy cannot be read, anyone may."""
        try:
            stopped = self.cleanups.stop(asked.about, who=_who(asked.asker), now=asked.at)
        except NotAllowedError:
            return answers.not_allowed("cleanup.approvers or slack.deciders", asked.asker.user)
        except ConflictError as error:
            made = self.cleanups.store.get(asked.about)
            if made and made.stopped and (made.stopped.who, made.stopped.at) == (_who(asked.asker), asked.at):
                return answers.stopped(made)  # by an earlier attempt of this same request
            return answers.problem(str(error))
        return answers.stopped(stopped)

    def _outcome(self, asked: ButtonPress | Dismissal, decide: Callable[[], Message]) -> Message:
        """Make a decision, and return the answer; if it fails, an answer that says why."""
        try:
            return decide()
        except DecidedError as error:
            return answers.already_decided(error.finding)
        except ChangedError:
            return answers.changed(self.findings.shown(asked.about).finding)
        except ConflictError as error:
            return self._conflict(asked, error)
        except NotApproverError:
            return answers.not_allowed("cleanup.approvers", asked.asker.user)
        except (BadDecisionError, NotAllowedError) as error:
            return answers.problem(str(error))

    def _conflict(self, asked: ButtonPress | Dismissal, error: ConflictError) -> Message:
        """Return the decision that somebody else has made; if there is none, the error."""
        finding = self.findings.store.get(asked.about)
        if finding and finding.status != "open":
            return answers.already_decided(finding)
        return answers.problem(str(error))

    # -- Messages

    def _bring_up_to_date(self, id: str) -> list[str]:
        """Update a post with the current decisions, and again if somebody decides meanwhile. Return why another attempt
        is needed; empty if none is.
        """
        post = self.outbox.get(id)
        if post is None:
            return []  # the post has expired; the person still gets the answer
        if post.sent is None:
            return ["the post is not known to have arrived yet"]
        channel = self.channel()
        shown: object = None
        for _ in range(TURNS):
            findings, stops = self._known(post.findings), self._stops(stoppable(post.message))
            now = ({id_: _seen(finding) for id_, finding in findings.items()}, stops)
            if shown == now:
                return []
            if left := self._try(partial(channel.update, post.sent, decided(post.message, findings, stops))):
                return left
            shown = now
        return ["others keep deciding"]

    def _known(self, ids: Collection[str]) -> dict[str, TrackedFinding]:
        found = ((id_, self.findings.store.get(id_)) for id_ in ids)
        return {id_: finding for id_, finding in found if finding}

    def _stops(self, ids: Collection[str]) -> dict[str, ActorNote]:
        """Return who stopped the newest clean-up of each of these findings, by the finding's id."""
        found = ((id_, self.cleanups.store.get(id_)) for id_ in ids)
        return {id_: cleanup.stopped for id_, cleanup in found if cleanup and cleanup.stopped}

    def _send(self, asked: Asked, message: Message) -> list[str]:
        """Send the answer, unless it was sent. Return why another attempt is needed; empty if none is."""
        url = asked.response_url
        if self.sent_texts.get(asked.id) == message.text:
            return []
        if url is None or not self._of_slack(url):
            LOGGER.warning("nowhere to answer", request=asked.id)
            return []
        left = self._try(partial(self.respond, url, message))
        self.sent_texts[asked.id] = None if left else message.text
        return left

    def _of_slack(self, url: str) -> bool:
        return any(url.startswith(f"{origin}/") for origin in (SLACKS, self.origin) if origin)

    def _try(self, call: Callable[[], None]) -> list[str]:
        """Make a call that is safe to repeat. Return why it must be repeated later; empty if it need not be."""
        why = ""
        for attempt in range(ATTEMPTS):
            try:
                call()
            except ChannelRefusedError as error:
                LOGGER.warning("refused by Slack", reason=str(error))
                return []
            except DeliveryUnknownError as error:
                why = str(error)
            except ChannelBusyError as error:
                why = str(error)
                if error.retry_after_s > LONGEST_PAUSE_S:
                    break
                if attempt < ATTEMPTS - 1:
                    self.pause(error.retry_after_s)
            else:
                return []
        return [why]

    # -- Reports and commands

    def _details(self, asked: ButtonPress) -> Message:
        if not self._may_view(asked):
            return answers.not_allowed("slack.viewers", asked.asker.user)
        shown = self.findings.shown(asked.about)
        return answers.details(shown.finding, shown.evidence, shown.ledger)

    def _report(self, asked: ButtonPress) -> Message:
        policy = self.policy()
        slack = policy.slack
        if asked.asker.user not in {*slack.viewers, *slack.deciders, *slack.auditors, *policy.cleanup.approvers}:
            keys = "slack.viewers, slack.deciders, slack.auditors or cleanup.approvers"
            return answers.not_allowed(keys, asked.asker.user)
        report = self.audits.latest_report()
        record = self.audits.audits.get(report["audit_id"])
        if record is None:
            raise NotFoundError(f"no audit {report['audit_id']!r}")
        return answers.report(report["url"], record, REPORT_LINK_S // 60)

    def _command(self, asked: Command) -> Message:  # noqa: PLR0911 -- one return a command
        name, *rest = asked.text.split() or ["help"]
        match name.lower():
            case "status" | "top" if not self._may_view(asked):
                return answers.not_allowed("slack.viewers", asked.asker.user)
            case "status" if not rest:
                return self._status()
            case "top" if len(rest) <= 1:
                return self._top(*rest)
            case "audit" if len(rest) <= 2:
                return self._audit(asked, rest)
            case "explain" if len(rest) == 1:
                return self._explain(rest[0])
            case "help":
                return answers.usage()
            case _:
                return answers.usage(f"Slackwater does not understand “{asked.text}”.")

    def _may_view(self, asked: Asked) -> bool:
        return may_view(asked.asker.user, self.policy())

    def _status(self) -> Message:
        audits = self.audits.listed(AUDITS).items
        last = next((one for one in audits if one.state != "running"), None)
        running = next((one for one in audits if one.state == "running"), None)
        findings = self.findings.store.list(FindingQuery(limit=MAX_PAGE))
        return answers.status(last, findings, running, self.audits.allowance())

    def _top(self, reply: str = str(TOP)) -> Message:
        if not re.fullmatch(r"[0-9]{1,3}", reply) or not 1 <= int(reply) <= answers.TOP:
            return answers.usage(f"“{reply}” is no number from 1 to {answers.TOP}.")
        return answers.top(self.findings.store.list(FindingQuery(limit=int(reply))))

    def _audit(self, asked: Command, where: list[str]) -> Message:
        policy = self.policy()
        if asked.asker.user not in policy.slack.auditors:
            return answers.not_allowed("slack.auditors", asked.asker.user)
        accounts = [one for one in where if ACCOUNT.fullmatch(one)]
        regions = [one for one in where if one not in accounts]
        if len(accounts) > 1 or len(regions) > 1:
            return answers.usage("An audit takes one account and one region, or neither.")
        own = self.account()
        of_organization = policy.organization.names_any
        if accounts and accounts != [own] and not of_organization:
            return answers.problem(
                f"Slackwater audits the account that it is deployed in, {own}: the policy names no other."
            )
        chosen = tuple(accounts) if of_organization else ()
        request = AuditRequest(requested_by=_who(asked.asker), regions=tuple(regions), accounts=chosen)
        try:
            check_regions(request, self.known_regions())
        except AuditRequestError as error:
            return answers.problem(str(error))
        account = next(iter(accounts), None if of_organization else own)
        try:
            return answers.started(self.audits.start(request, asked.id), account, regions)
        except ConflictError as error:
            return answers.problem(f"No audit was started: {error}.")

    def _explain(self, id: str) -> Message:
        detectors = self.registry()
        if reply := unknown("detector", [id.lower()], detectors, LIST_DETECTORS):
            return answers.problem(reply[0])
        return answers.explain(id.lower(), detectors[id.lower()].title, documentation(id.lower()))


def _becomes(asked: Asked) -> Decided | None:
    """Return the status that the request gives a finding; None if it is not a decision."""
    match asked:
        case Dismissal():
            return "dismissed"
        case ButtonPress(action=action):
            return DECIDING.get(action)
        case Command():
            return None


def _stops(asked: Asked) -> bool:
    """Return whether the request is to stop a clean-up."""
    return isinstance(asked, ButtonPress) and asked.action == STOP and asked.value == asked.about


def _approved(approved: Approved) -> Message:
    """Return the answer to an approval: when its clean-up acts, or why it has not started."""
    one = approved.candidate
    if one is None:
        return answers.approved(approved.finding, acts_after=None)
    acts = one.state in {"begun", "under-way"}
    return answers.approved(
        approved.finding, acts_after=one.acts_after if acts else None, why_not="" if acts else one.why
    )


def _who(asker: Asker) -> str:
    return f"slack:{asker.user}"


def _seen(finding: TrackedFinding) -> tuple[Status, Decision | None, datetime | None]:
    """Return the parts of a finding that a message shows."""
    return finding.status, finding.decision, finding.resolved_at
