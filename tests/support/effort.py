"""How hard random tests try: `make test-all` uses hypothesis' profile "thorough", and everything else is quick."""

from typing import Final

from hypothesis import settings

THOROUGH: Final = "thorough"


def effort(thorough: int, quick: int) -> int:
    """The number of random examples. Read when a test module is imported, after pytest has loaded the profile."""
    return thorough if settings.get_current_profile_name() == THOROUGH else quick
