"""Simulate STS: GetCallerIdentity and AssumeRole."""

import re

from .partitions import global_arn
from .resources import Role, rfc3339
from .wire import AwsError, Call, Reply, xml_reply

KEY_PREFIX = "ASIASIM"
_ROLE = re.compile(r"arn:(aws[a-z-]*):iam::(\d{12}):role/(.+)")


def get_caller_identity(call: Call) -> Reply:
    """Return the account of the access key."""
    account = call.account.id
    arn = global_arn("iam", call.region, account, "user/simulated")
    return xml_reply(call, {"Arn": arn, "UserId": "AIDASIMULATEDUSER0001", "Account": account})


def assume_role(call: Call) -> Reply:
    """Return temporary keys. Their access key id contains the role's account."""
    arn = str(call.input["RoleArn"])
    partition, account_id, name = match.groups() if (match := _ROLE.fullmatch(arn)) else ("aws", "", "")
    session = call.input["RoleSessionName"]
    owner = call.simulator.accounts.get(account_id)
    role = next((role for role in owner.fleet.roles if role.name == name), None) if owner else None
    if role is None or not _trusts_caller(role, call):
        who = global_arn("iam", call.region, call.account.id, "user/simulated")
        why = f"User: {who} is not authorized to perform: sts:AssumeRole on resource: {arn}"
        raise AwsError("AccessDenied", why, 403)
    credentials = {
        "AccessKeyId": KEY_PREFIX + account_id + "A",
        "SecretAccessKey": "simulated/secret/key/that/opens/nothing",
        "SessionToken": "simulated-session-token",
        "Expiration": rfc3339(call.account.fleet.now + 40 * 365 * 86_400),
    }
    assumed = f"arn:{partition}:sts::{account_id}:assumed-role/{name}/{session}"
    user = {"AssumedRoleId": f"AROASIMULATEDROLE0001:{session}", "Arn": assumed}
    return xml_reply(call, {"Credentials": credentials, "AssumedRoleUser": user})


def _trusts_caller(role: Role, call: Call) -> bool:
    """Return whether the role trusts the caller's account and the external id matches."""
    if role.trusts and call.account.id not in role.trusts:
        return False
    return role.external_id is None or call.input.get("ExternalId") == role.external_id
