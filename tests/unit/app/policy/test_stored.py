"""The stored policy: it is validated before it is stored, and can be read again by its version."""

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from slackwater.app.policy.file import PolicyError, load_policy
from slackwater.app.policy.stored import Policies
from slackwater.engine.registry import registry
from slackwater.model.policy_version import DEFAULTS, PolicyVersion
from slackwater.ports.errors import AccessDeniedError
from slackwater.ports.store import Version

GOOD = "[detectors.efs-idle]\nquiet_days = 60\n"


@dataclass
class Bucket:
    """One key with its versions."""

    texts: list[bytes] = field(default_factory=list)

    def read(self, key, version=None):
        number = int(version or len(self.texts))
        return (self.texts[number - 1].decode(), str(number)) if 0 < number <= len(self.texts) else None

    def write(self, key, text):
        self.texts.append(text.encode())
        return str(len(self.texts))

    def versions(self, key):
        return [Version(str(n), datetime(2026, 11, n, tzinfo=UTC), 1) for n in range(len(self.texts), 0, -1)]


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def policies(bucket) -> Policies:
    return Policies(
        documents=bucket, registry=registry(), place="s3://bucket/policy/slackwater.toml",
        known_regions=lambda: ["eu-west-1"], enabled_regions=lambda: ["eu-west-1", "mx-central-1"],
    )  # fmt: skip


def test_nothing_stored_is_the_defaults(policies) -> None:
    assert policies.current().version == DEFAULTS
    assert policies.current().limits == load_policy(None, registry()).limits
    assert policies.at(DEFAULTS) == policies.current()
    assert policies.pull() is None


def test_what_is_pushed_is_pulled_and_gone_by(policies) -> None:
    first = policies.push(GOOD, "slackwater.toml")
    policies.push(GOOD.replace("60", "90"), "slackwater.toml")

    assert first == PolicyVersion(version="1", sha256=hashlib.sha256(GOOD.encode()).hexdigest())
    assert policies.pull("1") == (GOOD, "1")
    assert policies.at(first).limits["efs-idle"].quiet_days == 60
    assert policies.current().limits["efs-idle"].quiet_days == 90
    assert [version.id for version in policies.history()] == ["2", "1"]


def test_a_policy_with_mistakes_is_not_stored_and_every_mistake_is_reported(policies, bucket) -> None:
    with pytest.raises(PolicyError) as caught:
        policies.push("[scan]\nregions = ['eu-wst-1']\n[detectors.efs-idel]\n", "mine.toml")

    assert str(caught.value).splitlines() == [
        "mine.toml:2: scan.regions: no region 'eu-wst-1'; did you mean eu-west-1?",
        "mine.toml:3: detectors.efs-idel: no such detector; did you mean efs-idle?",
    ]
    assert bucket.texts == []


def test_a_region_that_is_new_to_us_counts_if_it_is_enabled(policies) -> None:
    assert policies.push("[scan]\nregions = ['mx-central-1']\n", "mine.toml").version == "1"
    with pytest.raises(PolicyError, match="no region 'mars-1'"):
        policies.push("[scan]\nregions = ['mx-central-1', 'mars-1']\n", "mine.toml")
    assert policies.push("[cleanup]\nregions = ['mx-central-1']\n", "mine.toml").version == "2"
    with pytest.raises(PolicyError, match=r"^mine.toml:2: cleanup.regions: no region 'tokyo'"):
        policies.push("[cleanup]\nregions = ['tokyo']\n", "mine.toml")
    with pytest.raises(PolicyError, match=r"^mine.toml:1: prices.overrides.mars-1: no region 'mars-1'"):
        policies.push("[prices.overrides.mars-1]\n'ebs.gp3.storage' = 1\n", "mine.toml")


def test_where_regions_may_not_be_listed_a_misspelt_one_is_still_named(policies) -> None:
    def denied():
        raise AccessDeniedError("ec2:DescribeRegions")

    unasked = replace(policies, enabled_regions=denied)
    with pytest.raises(PolicyError, match=r"^mine.toml:2: scan.regions: no region 'mx-central-1'"):
        unasked.push("[scan]\nregions = ['mx-central-1']\n", "mine.toml")
    assert unasked.push("[scan]\nregions = ['eu-west-1']\n", "mine.toml").version == "1"


def test_what_somebody_else_has_put_there_is_refused_with_its_place(policies, bucket) -> None:
    bucket.texts.append(b"\xff\xfe")
    with pytest.raises(
        PolicyError, match=r"^s3://bucket/policy/slackwater.toml: is not UTF-8 text; `aws s3 cp s3://bucket/"
    ) as caught:
        policies.current()
    with pytest.raises(PolicyError, match=re.escape(str(caught.value))):
        policies.pull()
    bucket.texts.append(b"[scan]\nregion = []\n")
    with pytest.raises(PolicyError, match=r"^s3://bucket/policy/slackwater.toml:2: scan.region: no such key"):
        policies.current()


def test_a_stored_bom_is_no_mistake(policies, bucket) -> None:
    bucket.texts.append(b"\xef\xbb\xbf" + GOOD.encode())

    assert policies.current().limits["efs-idle"].quiet_days == 60
    assert policies.at(policies.current().version).limits["efs-idle"].quiet_days == 60


def test_a_file_has_a_hash_and_no_version(tmp_path) -> None:
    path = tmp_path / "slackwater.toml"
    path.write_text(GOOD)

    assert load_policy(path, registry()).version == PolicyVersion(
        version=None, sha256=hashlib.sha256(path.read_bytes()).hexdigest()
    )
    assert load_policy(None, registry()).version == DEFAULTS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (deep, "nests more than 16 levels of tables and lists")
            for deep in [
                f"a = {'[' * 50_000}",
                f"a = {'[' * 400}{']' * 400}",
                f"a = {'{b=' * 50_000}1",
                f"{'.'.join('a' * 5_000)} = 1",
                f"[{'.'.join('a' * 5_000)}]",
                f"{GOOD}[prices.overrides]\n{'.'.join('a' * 17)} = 1",
            ]
        ),
        *(
            (huge, "has an integer of more than 64 bits")
            for huge in [
                f"a = {'1' * 5_000}",
                f"[scan]\nmost_running_audits = 0x{'f' * 9_000}",
                f"[scan]\nmost_running_audits = -{2**65}",
            ]
        ),
    ],
    ids=[
        "open-lists",
        "lists",
        "inline-tables",
        "dotted-key",
        "section",
        "in-a-known-section",
        "digits",
        "hexadecimal",
        "negative",
    ],
)
def test_a_policy_that_nests_too_deeply_or_has_a_huge_integer_is_refused_as_any_other_wrong_one(
    bucket, policies, text: str, why: str
) -> None:
    """The code that stops a clean-up without a policy handles PolicyError, but not RecursionError or ValueError."""
    bucket.write("policy/slackwater.toml", text)

    for refused in (policies.current, lambda: policies.push(text, "slackwater.toml")):
        with pytest.raises(PolicyError, match=why):
            refused()
    assert len(bucket.texts) == 1
