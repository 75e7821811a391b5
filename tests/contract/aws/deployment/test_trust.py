"""Read a role's trust policy from IAM, also if it cannot be parsed."""

import json

import boto3
import pytest
from moto import mock_aws

from slackwater.aws.deployment.trust import trust_policy
from slackwater.engine.authority import pins_session_name
from slackwater.ports.errors import AwsError

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
            "Action": "sts:AssumeRole",
            "Condition": {"StringLike": {"sts:RoleSessionName": "${aws:username}"}},
        }
    ],
}


@mock_aws
def test_a_trust_policy_is_read_as_it_was_written(moto_session) -> None:
    boto3.client("iam", "ap-northeast-1").create_role(
        RoleName="Ops", Path="/team/", AssumeRolePolicyDocument=json.dumps(TRUST)
    )

    found = trust_policy(moto_session, "Ops")

    assert found == TRUST
    assert pins_session_name(found)


@mock_aws
def test_a_role_that_is_not_there_is_an_error_of_aws(moto_session) -> None:
    with pytest.raises(AwsError, match="Ops"):
        trust_policy(moto_session, "Ops")
