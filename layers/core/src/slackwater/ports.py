"""What the use cases need of the world: protocols, fulfilled by adapters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    from slackwater.engine.plan import MetricCall, MetricQuery
    from slackwater.model.access import Answer
    from slackwater.model.audits import AuditRecord, AuditRequest
    from slackwater.model.cleanup import Backup, Cleanup, Control, Copy, Look, Part, Restored, Subject
    from slackwater.model.findings import Gap
    from slackwater.model.fleet import Fleet
    from slackwater.model.listing import FindingQuery, Page
    from slackwater.model.metrics import Series
    from slackwater.model.money import PriceItem, PriceTable
    from slackwater.model.posts import Message, Post, Sent
    from slackwater.model.resources import InstanceType, Record, Target
    from slackwater.model.settings import Setting
    from slackwater.model.tracking import LedgerEntry, TrackedFinding, TrackedResource, Write


MAX_REASON: Final = 240
"""Characters of a reason: enough for the caller's ARN and the action, without the encoded policy that some services add."""

WHO_DENIES: Final = re.compile(r"(?:with an explicit deny in an?|because no) [a-z-][a-z -]* policy\b(?::? arn:\S+| allows)?")
"""The kind of policy that denies, as AWS names it behind long ARNs, and its own ARN: it must not be cut off."""


class AwsError(Exception):
    """A call to AWS failed. The message says why, and what to do about it."""

    transient: bool = False
    """Whether the same call may work a moment later."""

    def explained(self, message: str) -> Self:
        """Return the same kind of error, as transient as this one, with another message."""
        error = type(self)(message)
        error.transient = self.transient
        return error


class NoCredentialsError(AwsError):
    """There are no credentials, or AWS does not accept them."""


class ExpiredCredentialsError(NoCredentialsError):
    """The credentials were good once."""


class AccessDeniedError(AwsError):
    """The credentials are good, and may not do this."""


class UnreachableError(AwsError):
    """Nothing answers, or nothing that speaks as AWS does."""


class BusyError(AwsError):
    """Asked again and again, it was throttled, or did a part only."""

    transient = True


class BrokenAnswerError(AwsError):
    """An answer that lacks what it must hold, or repeats itself: it must not be taken for an empty account."""


class FormatError(BrokenAnswerError):
    """A stored document of a format that this version does not read; the message names the document and the remedy."""


def reason_of(error: BaseException) -> str:
    """Return one line for a gap: the kind of error, and its message without request ids."""
    if isinstance(error, KeyError):
        return reason_line("BrokenAnswer", f"it lacks {error}")
    if isinstance(error, TypeError | AttributeError | ValueError):  # the response could not be parsed
        return reason_line("BrokenAnswer", f"it cannot be read ({error})")
    return reason_line(type(error).__name__, str(error))


def reason_line(code: str, text: str) -> str:
    """Return an error's code and message as one line of at most MAX_REASON characters, without request ids."""
    text = re.sub(r"\s*\(?Request ?ID:[^)]*\)?", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*Encoded authorization failure message:.*", "", text, flags=re.DOTALL)
    text = " ".join(text.split())
    line = f"{code}: {text}" if text else code
    if len(line) <= MAX_REASON:
        return line
    who = WHO_DENIES.search(line)
    tail = f"… {who[0]}" if who and who.end() >= MAX_REASON and len(who[0]) < MAX_REASON * 3 // 4 else "…"
    return line[: MAX_REASON - len(tail)] + tail


@dataclass(frozen=True, slots=True)
class MetricAnswer:
    """The answer to one call: a series for every query that could be read, the reason for each that could not."""

    series: Mapping[MetricQuery, Series]
    failed: Mapping[MetricQuery, str]


class Inventory(Protocol):
    """Reads what one target holds."""

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Every record of these kinds. What could not be read is a gap, and its kind is unreadable in the fleet."""
        ...

    def stock(self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]) -> Stock:
        """The same, listed once, and held so that a large target can be judged part by part."""
        ...


class Stock(Protocol):
    """What a target holds. A context manager: a file that it keeps is gone at its end.

    `resources` counts them by kind. No question needs more than one of the `parts`: resources that share metrics, or that a
    detector looks at together, are in the same. `gaps` are of all parts. `file` is what another process can open to go on with
    a later part; None where there is but one.
    """

    @property
    def gaps(self) -> Sequence[Gap]:
        """What could not be read: waits for what is still being read."""
        ...

    @property
    def resources(self) -> Mapping[str, int]:
        """How many there are, by kind."""
        ...

    @property
    def parts(self) -> int:
        """How many parts it has, one or more."""
        ...

    @property
    def file(self) -> Path | None:
        """Where it is kept."""
        ...

    def fleet(self, part: int) -> Fleet:
        """The records of a part, of which some may be awaited; the first is 1."""
        ...

    def __enter__(self) -> Self:
        """Keep it for a while."""
        ...

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        ...


class Metrics(Protocol):
    """Reads CloudWatch metrics of one target. Thread-safe."""

    concurrency: int

    def fetch(self, call: MetricCall) -> MetricAnswer:
        """Answer one packed call; failures are in the answer, never raised, never an empty series."""
        ...


class Spending(Protocol):
    """Knows how many metrics may still be asked for. Thread-safe."""

    def take(self, metrics: int) -> str | None:
        """Count metrics that are about to be asked for; why not, and nothing counted, where they would cost too much."""
        ...


class Leases(Protocol):
    """Knows who else scans a target now."""

    def hold(self, target: Target, holder: str) -> AbstractContextManager[Callable[[], float]]:
        """Be one of them, under a name that nobody else has. Gives what tells our share of the pace, above 0 to 1."""
        ...


class Prices(Protocol):
    """Reads what things cost in a region."""

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        """Every price that is known; a live price that could not be read is an optional gap."""
        ...


class InstanceTypes(Protocol):
    """Reads what EC2 allows instance types."""

    def of(self, families: Iterable[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:
        """Every type of these families, and at least the packaged ones of all others; what could not be read is a gap."""
        ...


class Meter(Protocol):
    """Counts what was asked of AWS, over all adapters."""

    def api_calls(self) -> Mapping[str, int]:
        """HTTP requests sent by `service:Operation`, retries included."""
        ...

    def metrics_requested(self) -> int:
        """Metrics that GetMetricData was asked for, as it bills them."""
        ...

    def datapoints(self) -> int:
        """Points received."""
        ...


class Clock(Protocol):
    """The time, in UTC."""

    def __call__(self) -> datetime:
        """Now."""
        ...


class FindingStore(Protocol):
    """Keeps findings, and every change of them for good."""

    def get(self, id: str) -> TrackedFinding | None:
        """One finding as it is now."""
        ...

    def unresolved(self, account: str, region: str) -> Iterable[TrackedFinding]:
        """The findings of a target that are not resolved. One stored a moment ago may be missing: `write` will tell."""
        ...

    def write(self, write: Write) -> bool:
        """Store a finding and its ledger entry together; False, and nothing stored, where the revision has moved."""
        ...

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        """A page of findings.

        Raises:
            BadCursorError: the cursor is not one for this query.
        """
        ...

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        """Every change of a finding, the oldest first."""
        ...


class AuditStore(Protocol):
    """Keeps what came of each audit."""

    def claim(self, occasion: str, audit_id: str) -> str:
        """The audit to which this occasion belongs: the one that claimed it first."""
        ...

    def begin(self, record: AuditRecord) -> bool:
        """Store a new audit; False where it is stored already."""
        ...

    def end(self, record: AuditRecord) -> bool:
        """Store what came of an audit; False where it has ended before, which stays as it is."""
        ...

    def get(self, id: str) -> AuditRecord | None:
        """One audit as it is now."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        """Audits, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        ...


class AuditStarter(Protocol):
    """Sets audits going."""

    def start(self, audit_id: str, request: AuditRequest) -> None:
        """Start an audit under this id; the same id again starts nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """Something that others may want to know. `resources` are ARNs."""

    detail_type: str
    at: datetime
    resources: tuple[str, ...]
    detail: Mapping[str, object]


class NotSentError(Exception):
    """An event that was not accepted: its index among those that were to be sent, and why."""

    def __init__(self, index: int, why: str) -> None:
        """All before `index` were sent."""
        super().__init__(f"event {index} was not accepted: {why}")
        self.index = index


class EventBus(Protocol):
    """Tells others."""

    def send(self, events: Sequence[Event]) -> None:
        """Send events in their order.

        Raises:
            NotSentError: names the first that was not accepted; whether any after it were sent is not known.
        """
        ...


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a stored text; without a size, it is the text's deletion."""

    id: str
    at: datetime
    size_bytes: int | None


class Documents(Protocol):
    """Keeps texts by key, every version of them."""

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        """The text and its version; None where there is none."""
        ...

    def has(self, key: str) -> bool:
        """Whether there is a text."""
        ...

    def write(self, key: str, text: str) -> str:
        """Store a text; its version."""
        ...

    def write_once(self, key: str, text: str) -> bool:
        """Store a text where there is none; False, and nothing stored, where there is one."""
        ...

    def write_file(self, key: str, file: Path) -> None:
        """Store what a file holds, which may be more than memory does."""
        ...

    def read_file(self, key: str, file: Path) -> bool:
        """Put what is stored into a file; False, and no file, where there is nothing."""
        ...

    def versions(self, key: str) -> Iterable[Version]:
        """Every version and deletion, the newest first."""
        ...

    def link(self, key: str, for_seconds: int) -> str:
        """An address from which anybody who has it can read the text, for a while."""
        ...


class ChannelBusyError(Exception):
    """The channel wants to hear again after some seconds; nothing was posted."""

    def __init__(self, retry_after_s: float) -> None:
        """As the channel said."""
        super().__init__(f"asked to come again in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class ChannelRefusedError(Exception):
    """The channel refused a message, and said why, such as "channel_not_found"; nothing was posted."""


class NobodyKnowsError(Exception):
    """A message was sent and not answered: whether it was posted is not known."""


class NotSlackError(Exception):
    """A request that is not Slack's, or not any more; the message says why in a line, and quotes nothing of it."""


class SignatureCheck(Protocol):
    """Checks that Slack signed a request."""

    def __call__(self, secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime:
        """Return when Slack signed the request, within five minutes of `now`. The names of `headers` are in lower case.

        Raises:
            NotSlackError: it is unsigned, tampered with, or too old.
        """
        ...


class Channel(Protocol):
    """Where messages are posted."""

    @property
    def can_look(self) -> bool:
        """Whether `find` and `update` work: a webhook can only speak."""
        ...

    def send(self, post: Post, thread: Sent | None) -> Sent:
        """Post a message that carries the post's id where nobody sees it; into a thread, if one is named.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError
        """
        ...

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        """The message that carries the post's id, among those since `post.tried_at`; None where it was not posted.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError: it could not be looked at.
        """
        ...

    def update(self, sent: Sent, message: Message) -> None:
        """Put another message in the place of one that was posted.

        Raises:
            ChannelBusyError, ChannelRefusedError, NobodyKnowsError
        """
        ...


class Outbox(Protocol):
    """Keeps posts from before they are sent."""

    def record(self, posts: Sequence[Post]) -> None:
        """Store posts that are new; one that is there already stays as it is."""
        ...

    def get(self, id: str) -> Post | None:
        """One post as it is now."""
        ...

    def waiting(self) -> Iterable[Post]:
        """Posts that are pending or sending, as they are now, in the order in which they were recorded."""
        ...

    def write(self, post: Post) -> bool:
        """Store a post whose revision is one more than what is stored; False, and nothing stored, where it is not."""
        ...


class CleanupStore(Protocol):
    """Keeps clean-ups, one for each finding, and sees to it that what one holds no other has."""

    def get(self, finding_id: str) -> Cleanup | None:
        """The clean-up of a finding as it is now; lists that its record has no room for are cut short."""
        ...

    def whole(self, cleanup: Cleanup) -> Cleanup:
        """The same clean-up with all of its lists.

        Raises:
            AwsError: one is missing, or AWS did not say.
        """
        ...

    def unchanged(self, cleanup: Cleanup) -> bool:
        """Whether its record is still of this revision, and nobody has stopped all clean-ups."""
        ...

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        """Store a clean-up whose revision is one more than what is stored, and what that makes of its finding: both or neither.

        False, and nothing stored, where a revision has moved, or another clean-up has what this one is to hold.
        """
        ...

    def holder(self, place: str) -> str | None:
        """The id of the finding whose clean-up has a resource, by its ARN, or a turn now."""
        ...

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        """Clean-ups, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        ...

    def control(self) -> Control:
        """What holds for all clean-ups, as it is now."""
        ...

    def write_control(self, control: Control) -> bool:
        """Store it if its revision is one more than what is stored; False, and nothing stored, where it is not."""
        ...


type ExecutionState = Literal["running", "ended", "none"]
"""Of an execution of this name: it has not ended, it has (however it did), there is none."""


class CleanupStarter(Protocol):
    """Sets clean-ups and undos going."""

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        """Whether the execution of this name still works, of a clean-up or of an undo.

        Raises:
            AwsError: nobody said.
        """
        ...

    def start(self, finding_id: str, execution: str) -> None:
        """Start the clean-up of a finding under this name; the same name again starts nothing."""
        ...

    def undo(self, finding_id: str, execution: str) -> None:
        """Start the undo of one; the same name again starts nothing."""
        ...


class Watcher(Protocol):
    """Looks at resources of one kind, and marks them. Deletes and changes nothing."""

    def look(self, resource: TrackedResource) -> Look | None:
        """The resource as it is now; None where AWS says that there is none of this id.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def mark(self, resource: TrackedResource, look: Look, tags: Mapping[str, str]) -> None:
        """Put tags on it, and on those of its parts that can carry them. Done again, it comes to the same.

        Raises:
            AwsError: not on all, or AWS did not say.
        """
        ...

    def unmark(self, resource: TrackedResource, keys: Collection[str]) -> None:
        """Take tags off it and its parts; what is gone, or carries none, is fine.

        Raises:
            AwsError: not off all, or AWS did not say.
        """
        ...

    def record(self, resource: TrackedResource) -> Mapping[str, Any]:
        """All that `Restorer` needs to make it again beside its data, as JSON holds it.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def removal_actions(self, resource: TrackedResource, look: Look) -> Mapping[str, Collection[str]]:
        """IAM's names of what it takes to remove it and its parts, by the ARN that it is asked for."""
        ...


class PartWatcher(Protocol):
    """Looks at single parts of resources of one kind."""

    def part_tags(self, resource: TrackedResource, part: Part) -> Mapping[str, str] | None:
        """The tags of a part as they are now, by one call; None if the part is gone, or going.

        Raises:
            AwsError: AWS did not say.
        """
        ...


class BackupTaker(Protocol):
    """Backs up resources of one kind. Deletes nothing."""

    def subject(self, resource: TrackedResource) -> Subject:
        """What the backup has to hold.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def start(self, resource: TrackedResource, backup: Backup, tags: Mapping[str, str]) -> Copy:
        """Ask for a backup that carries these tags, its token among them. It is asked for once: no retries.

        Raises:
            AwsError: it was refused, or nobody knows whether it was begun.
        """
        ...

    def copies(self, resource: TrackedResource, backup: Backup) -> Sequence[Copy]:
        """Every backup that carries the token, and the one of the recorded id. One begun a moment ago may be missing.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def keep(self, resource: TrackedResource, copy: Copy, until: datetime) -> None:
        """Have a backup kept at least until then, by its tag and by AWS itself. What is kept for longer stays so.

        Raises:
            AwsError: it was refused, or not all of it was done.
        """
        ...


class Keys(Protocol):
    """Knows whether encrypted backups can be read."""

    def unusable(self, key: str, region: str, until: datetime) -> str | None:
        """Why nobody can be sure that what this key encrypts can be read until then; None where it can.

        Raises:
            AwsError: AWS did not say, and may a moment later.
        """
        ...


class Remover(Protocol):
    """Deletes resources of one kind, part by part."""

    def remove(self, resource: TrackedResource, part: Part, final_tags: Mapping[str, str] | None = None) -> str | None:
        """Ask AWS once to delete one part; what is gone or going is fine.

        With `final_tags` FSx takes a final backup that carries them. Returns its id, None where FSx does not name it.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...


class Changer(Protocol):
    """Changes settings of resources in place."""

    def setting(self, resource: TrackedResource, like: Setting) -> tuple[Setting, bool]:
        """The present setting of the same kind as `like`, and whether a change of it is under way.

        Raises:
            AwsError: AWS did not say, or there is no such resource.
        """
        ...

    def refusal(self, resource: TrackedResource, to: Setting) -> str | None:
        """Why AWS would not change it now (too soon after the last change, say); None where nothing is known against it."""
        ...

    def change(self, resource: TrackedResource, to: Setting) -> None:
        """Ask AWS once.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...

    def left_behind(self, resource: TrackedResource, changed: Setting, was: Setting) -> Sequence[str]:
        """What putting the old setting back does not bring back, and what it costs, for people.

        Raises:
            AwsError: AWS did not say, or there is no such resource.
        """
        ...


class Restorer(Protocol):
    """Brings resources of one kind back."""

    def restore(self, cleanup: Cleanup) -> Restored:
        """One step of an undo, and how far it is; called again until it is done or failed. `cleanup.restored` is what is known.

        Where the resource is still there, what was taken off it is put back; otherwise it is made again from the verified
        backups, and then what hung on it. Done again, or after dying at any point, it makes nothing twice.

        Raises:
            AwsError: AWS did not say; nothing is known to be lost.
        """
        ...


class Sweeper(Protocol):
    """Lists and deletes backups of ours, of one kind. Nothing else."""

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Every backup there that carries `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def look(self, account: str, region: str, copy: Copy) -> Copy | None:
        """A backup as it is now; None where it is gone.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def born_at(self, resource: TrackedResource) -> datetime | None:
        """When what is backed up was created; None where it is gone, or going.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def delete(self, account: str, region: str, copy: Copy) -> None:
        """Delete one; one that is gone is fine.

        Raises:
            AwsError: it was refused, or nobody knows whether it was heard.
        """
        ...


class BackupLister(Protocol):
    """Lists backups of ours, of one kind, and says what a `Restorer` needs to restore one that is on no record.

    `needs_place` says what a person has to name, where the backup does not say it; None where nothing.
    """

    @property
    def needs_place(self) -> str | None:
        """What a person has to name; None where nothing."""
        ...

    def copies(self, account: str, region: str) -> Iterable[Copy]:
        """Every backup there that carries `slackwater:backup-of`.

        Raises:
            AwsError: AWS did not say.
        """
        ...

    def not_restorable(self, copy: Copy) -> str | None:
        """Why Slackwater cannot restore from it; None where it can."""
        ...

    def recorded(self, region: str, copy: Copy, places: Sequence[str]) -> Mapping[str, Any]:
        """As much as the backup says of what `Watcher.record` records.

        Raises:
            AwsError: AWS did not say.
        """
        ...


class Probes(Protocol):
    """Asks AWS, once for each action, whether the caller may do it. Changes nothing. Thread-safe."""

    def is_there(self, action: str, region: str) -> bool:
        """Return whether the action's service has an endpoint in a region. Makes no call."""
        ...

    def once(self, action: str) -> bool:
        """Return whether one call answers for all regions."""
        ...

    def ask(self, action: str, region: str | None) -> Answer:
        """Make the action's smallest call. An error is an answer, too: nothing is raised."""
        ...


class Permissions(Protocol):
    """Knows what the role that deletes may do."""

    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> Sequence[str]:
        """Those of the actions, by ARN, that would be denied on resources with these tags: `ec2:DeleteVolume on arn:…`.

        Raises:
            AwsError: IAM did not say.
        """
        ...
