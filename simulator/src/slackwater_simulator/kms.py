"""Serve KMS over JSON 1.1: the state of a key. Every key of the account is enabled until somebody changes it."""

import re

from .account import Account
from .partitions import arn
from .wire import AwsError, Call, Reply, json_reply

_ARN = re.compile(r"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):key/(?P<id>.+)")


def usable(account: Account, key: str | None) -> bool:
    """Return whether data under this key can be read. A `key` of None means that nothing is encrypted."""
    return key is None or account.key_state(key) == "Enabled"


def describe_key(call: Call) -> Reply:
    """Describe a key of the account. Keys of other accounts deny access."""
    named = str(call.input.get("KeyId", ""))
    key = named if named.startswith("arn:") else arn("kms", call.region, call.account.id, f"key/{named}")
    found = _ARN.fullmatch(key)
    if found is None or found["region"] != call.region:
        raise AwsError("NotFoundException", f"Invalid arn or key {named}")
    if found["account"] != call.account.id:
        raise AwsError("AccessDeniedException", f"The caller is not authorized to perform: kms:DescribeKey on {key}")
    state = call.account.key_state(key)
    metadata = {
        "AWSAccountId": found["account"],
        "KeyId": found["id"],
        "Arn": key,
        "CreationDate": float(call.account.fleet.now - 400 * 86_400),
        "Enabled": state == "Enabled",
        "KeyState": state,
        "KeyUsage": "ENCRYPT_DECRYPT",
        "KeyManager": "CUSTOMER",
        "Origin": "AWS_KMS",
    }
    return json_reply(call, {"KeyMetadata": metadata})
