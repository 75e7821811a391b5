"""What one look at a resource has against cleaning it up, as far as it is about who manages it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.cleanup.recheck import objection
from slackwater.model.cleanup import Cleanup, CurrentState, SubResource
from slackwater.model.policy import OwnersSection, Policy
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.tracking import TrackedResource

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
FILES = TrackedResource(
    arn="arn:fs-1", id="fs-1", type="efs-file-system", name="media", account="123456789012", region="eu-west-1"
)
EMR, CSI = {"aws:elasticmapreduce:job-flow-id": "j-1"}, {"efs.csi.aws.com/cluster": "true"}


def said(
    tags: Mapping[str, str], child: Mapping[str, str], *, deletes: bool, managed_tags: list[str] | None = None
) -> Any:
    cleanup = Cleanup(
        finding_id="f-1", attempt=1, execution="f-1-1", detector="efs-idle", resource=FILES, owner=None, fingerprint="abc",
        setting=None if deletes else EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS"), requested_by="ada",
        started_at=NOW, promised_monthly_usd=Decimal(1), revision=1,
    )  # fmt: skip
    parts = (
        SubResource(kind="access-point", id="fsap-1", arn=None),
        SubResource(kind="file-system", id="fs-1", arn=None),
    )
    look = CurrentState(born_at=NOW, tags=tags, parts=parts, held=None, size_bytes=0, children={"fsap-1": child})
    policy = Policy(limits={}, owners=OwnersSection(managed_tags=managed_tags or []))
    return objection(cleanup, look, policy, NOW)


@pytest.mark.parametrize("deletes", [True, False])
def test_what_another_service_manages_is_neither_deleted_nor_changed(deletes: bool) -> None:
    terraform = {"Terraform": "yes"}

    assert said({}, {}, deletes=deletes) is None
    assert said(EMR, {}, deletes=deletes) == "it is managed by Amazon EMR cluster j-1: it has to be changed there"
    assert said(terraform, {}, deletes=deletes) is None
    assert said(terraform, {}, deletes=deletes, managed_tags=["terraform"]) == (
        "it is managed by the program that its tag terraform names: it has to be changed there"
    )


def test_what_has_something_on_it_that_another_service_manages_is_not_deleted() -> None:
    says = "fsap-1, which hangs on it, is managed by {}: it has to be changed there"

    assert said({}, CSI, deletes=True) == says.format("Kubernetes")
    assert said({}, {"x": "y"}, deletes=True, managed_tags=["x=y"]) == says.format("the program that its tag x=y names")
    assert said({}, CSI, deletes=False) is None, "a setting of the file system leaves its access points as they are"
