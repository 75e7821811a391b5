"""Words for people for the stages, ledger events and backup states of clean-ups. Documents have the stored names."""

from collections.abc import Mapping
from typing import Final

from slackwater.model.cleanup import BackupState, Stage
from slackwater.model.tracking import Happening

NOTHING_STARTED: Final = "no clean-up started: "
"""The start of the error if a run starts nothing. Views that already say so leave it out."""
STARTING: Final = "it is starting: its last start has no result yet"
"""The start of the reason if a run may start a clean-up again that an earlier request already started."""
UNCONFIRMED: Final = "AWS did not confirm the start"
"""The start of the reason if a clean-up may or may not have started."""

_STAGES: Final[Mapping[Stage, str]] = {"called-off": "cancelled", "working": "running"}
_EVENTS: Final[Mapping[Happening, str]] = {
    "backed-up": "backed up",
    "called-off": "cancelled",
    "cleaned": "done",
    "cleaning": "checked",
    "marked": "tagged",
    "removing": "deleting",
}
_BACKUPS: Final[Mapping[BackupState, str]] = {"asked": "requested"}


def stage_words(stage: Stage) -> str:
    """Return the word for a stage: `cancelled` for `called-off`."""
    return _STAGES.get(stage, stage)


def event_words(event: Happening) -> str:
    """Return the word for an event of the ledger: `tagged` for `marked`."""
    return _EVENTS.get(event, event)


def backup_words(state: BackupState) -> str:
    """Return the word for a backup's state: `requested` for `asked`."""
    return _BACKUPS.get(state, state)
