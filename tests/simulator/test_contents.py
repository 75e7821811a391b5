"""The simulator keeps every version of a resource's contents, and can restore an account from a checkpoint."""

from slackwater_simulator.account import CLIENT, SERVICE, Account
from slackwater_simulator.clock import Clock
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Backup, instant

NOW = instant("2026-11-16T09:00:00Z")
REGION = "eu-west-1"


def account() -> tuple[Account, str]:
    build = Builder(NOW, REGION)
    volume = build.volume("data", 10)
    return Account(build.fleet("123456789012"), Clock()), volume.id


def test_every_version_is_kept_with_who_wrote_it_and_when() -> None:
    there, id_ = account()
    first = there.contents(id_)
    there.clock.advance(60)
    second = there.write(id_)
    there.fill(id_, "restored")
    assert [(one.contents, one.who) for one in there.versions(id_)] == [
        (first, CLIENT),
        (second, CLIENT),
        ("restored", SERVICE),
    ]
    assert [one.at for one in there.versions(id_)][1:] == [NOW + 60, NOW + 60]


def test_an_overwrite_changes_no_size_and_versions_outlive_the_resource() -> None:
    there, id_ = account()
    before = there.find(id_)
    written = there.write(id_)
    assert there.find(id_) == before
    there.remove(id_)
    assert there.versions(id_)[-1].contents == written


def test_it_lists_the_backups_that_hold_a_version() -> None:
    there, id_ = account()
    backup = Backup(
        id="snap-1", kind="snapshot", of=id_, region=REGION, made=NOW, state="completed", contents=there.contents(id_)
    )
    there.put_backup(backup)
    old, new = there.contents(id_), there.write(id_)
    assert there.holding(old) == [backup]
    assert there.holding(new) == []


def test_a_checkpoint_brings_back_everything_that_was_there_and_due() -> None:
    there, id_ = account()
    done: list[str] = []
    there.after(60, lambda: done.append("due"))
    before, clock = there.checkpoint(), there.clock.advanced
    number = there.number()
    there.clock.advance(61)
    there.run_due()
    there.remove(id_)
    there.restore(before)
    there.clock.restore(clock)
    assert there.exists(id_)
    assert there.now == NOW
    assert there.number() == number
    there.clock.advance(61)
    there.run_due()
    assert done == ["due", "due"]
