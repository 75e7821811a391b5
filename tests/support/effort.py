"""How many random examples tests use: many with hypothesis' profile "thorough" (`make test-all`), few otherwise."""

from typing import Final

from hypothesis import settings

THOROUGH: Final = "thorough"


def effort(thorough: int, quick: int) -> int:
    """Return the number of random examples. Test modules call it at import, after pytest has loaded the profile."""
    return thorough if settings.get_current_profile_name() == THOROUGH else quick
