"""Why the detector, run again during a clean-up, stops it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.app.cleanup.recheck import PRICES, NotSeenError, Rechecked, Rechecker
from slackwater.engine import efs_use
from slackwater.model.cleanup import Backup, Cleanup, CurrentState, Subject, Tagging
from slackwater.model.detector import CASE_NOW
from slackwater.model.findings import Gap
from slackwater.model.policy import Policy
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import TrackedResource
from slackwater.ports.metrics import MetricAnswer
from slackwater.rules import examples

GP3 = VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=125)
VOLUME = examples.volume()
TRACKED = TrackedResource(
    arn=VOLUME.arn, id=VOLUME.id, type="ebs-volume", name="scratch", account="123456789012", region="us-east-1"
)
CHANGE = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-outdated-type", resource=TRACKED, owner=None,
    fingerprint="abc", setting=GP3, requested_by="ada", started_at=CASE_NOW, promised_monthly_usd=None, revision=1,
    stage="working",
)  # fmt: skip
DENIED = Gap(account="123456789012", region="us-east-1", what="", reason="denied")
DELETION = replace(
    CHANGE, detector="efs-idle", setting=None, resource=replace(TRACKED, type="efs-file-system"),
    marked=Tagging(at=CASE_NOW, act_after=CASE_NOW, tagged=False), begun_at=CASE_NOW,
    backups=(Backup(subject=Subject(id=VOLUME.id, size_bytes=1), token="7f3a", asked_at=CASE_NOW,
                    expires_at=CASE_NOW),),
)  # fmt: skip


def finding(*, resource: Any = VOLUME, confidence: str = "high", setting: Any = GP3, deletes: bool = False) -> Any:
    advice = SimpleNamespace(setting=setting, deletes=deletes)
    recommendations = [SimpleNamespace(advice=advice)]
    return SimpleNamespace(id="f-1", resource=resource, confidence=confidence, recommendations=recommendations)


def rechecked(cleanup: Cleanup = CHANGE, *, found: Any = None, gaps: Any = (), answer: Any = None) -> Rechecked:
    scan = SimpleNamespace(findings=[found or finding()], unknown=(), unlisted=(), gaps=gaps, closed=False)
    sources = SimpleNamespace(metrics=SimpleNamespace(fetch=lambda _: answer, concurrency=1))
    state = CurrentState(born_at=CASE_NOW, tags={}, parts=(), held=None, size_bytes=0, children={})
    fake: Any = SimpleNamespace(scan_target=lambda *_: scan, sources=lambda _: sources)
    limits: Any = {cleanup.detector: SimpleNamespace()}
    nothing: Any = None
    watcher: Any = SimpleNamespace(look=lambda _: state)
    rechecker = Rechecker(
        watchers={cleanup.resource.type: watcher},
        inventory=lambda _: nothing,
        audit=lambda *_: fake,
        clock=lambda: CASE_NOW,
    )
    return rechecker.recheck(cleanup, Policy(limits=limits))


def test_an_unchanged_resource_passes_the_recheck() -> None:
    assert rechecked().state == "same"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (finding(setting=replace(GP3, iops=4000)), "the recommended setting is different now"),
        (finding(confidence="low"), "Slackwater can no longer carry out the recommendation"),
        (finding(setting=None), "Slackwater can no longer carry out the recommendation"),
        (finding(resource=replace(VOLUME, tags=None)), "Slackwater could not read its tags, which may protect it"),
    ],
)
def test_what_is_found_otherwise_now_ends_it(found: Any, why: str) -> None:
    assert (rechecked(found=found).state, rechecked(found=found).why) == ("changed", why)


def test_without_required_data_nothing_is_known() -> None:
    with pytest.raises(NotSeenError, match="ec2:DescribeVolumes: denied"):
        rechecked(gaps=(replace(DENIED, what="ec2:DescribeVolumes"),))
    assert rechecked(gaps=(replace(DENIED, what=PRICES, optional=True),)).state == "same"


def test_without_the_use_since_the_backup_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.app.cleanup.recheck._as_of", lambda audit, _: audit)
    query = next(iter(efs_use.question(VOLUME.id, CASE_NOW, CASE_NOW).queries))
    failed = MetricAnswer({}, {query: "throttled"})

    with pytest.raises(NotSeenError, match="throttled"):
        rechecked(DELETION, found=finding(deletes=True, resource=examples.efs()), answer=failed)
