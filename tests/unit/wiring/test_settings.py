"""Settings from environment variables."""

from pathlib import Path

from slackwater.wiring.settings import cache_dir


def test_prices_are_kept_in_the_users_cache() -> None:
    assert cache_dir({"HOME": "/home/a"}) == Path("/home/a/.cache/slackwater")
    assert cache_dir({"HOME": "/home/a", "XDG_CACHE_HOME": "/var/cache"}) == Path("/var/cache/slackwater")


def test_a_relative_cache_home_is_ignored_and_no_home_is_no_cache() -> None:
    assert cache_dir({"HOME": "/home/a", "XDG_CACHE_HOME": "cache"}) == Path("/home/a/.cache/slackwater")
    assert cache_dir({}) is None
    assert cache_dir({"HOME": ""}) is None
