"""Words for stages, ledger events and backup states."""

from slackwater.model.cleanup import STAGES
from slackwater.views.cleanup.words import backup_words, event_words, stage_words


def test_a_stored_stage_is_shown_in_a_current_word() -> None:
    assert [stage_words(stage) for stage in STAGES] == [
        "starting", "waiting", "running", "done", "cancelled", "failed", "undoing", "undone",
    ]  # fmt: skip


def test_a_stored_event_is_shown_in_a_current_word() -> None:
    assert (event_words("marked"), event_words("called-off"), event_words("removing")) == (
        "tagged",
        "cancelled",
        "deleting",
    )
    assert (event_words("cleaning"), event_words("cleaned"), event_words("backed-up")) == (
        "checked",
        "done",
        "backed up",
    )
    assert event_words("opened") == "opened"


def test_a_stored_state_of_a_backup_is_shown_in_a_current_word() -> None:
    assert (backup_words("asked"), backup_words("verified")) == ("requested", "verified")
