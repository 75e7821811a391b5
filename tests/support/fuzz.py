"""Invalid requests: random values, bodies and headers. The same seed gives the same requests."""

import json
from random import Random
from typing import Any, Final

STRANGE: Final = (
    "", " ", "0", "-1", "null", "true", "%00", "%2e%2e%2f", "../../policy/slackwater.toml", "a" * 5_000, "\x00",
    "\ud800", "\u202e", "𝟗", "’ OR 1=1 --", "{{7*7}}", "${jndi:ldap://x}", "<script>", "arn:aws:iam::123456789012:root",
    "slackwater", "slack:U0JANE", "1e400", "NaN", "2026-11-16T09:07:42Z", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z", "2026-02-30", "eu-west-1", "efs-idle", "ebs-unattached", "123456789012", "5d1c0b7a9e3f42d8",
    "30GiB", "1e-999B", "999999999999999PiB", "vol-0123456789abcdef0", "=1+1", "FINDING#1", "RUNNING",
)  # fmt: skip
"""Texts that have broken a parser, a store, or a program behind one before."""
DEEP: Final = ("[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500)


def text(random: Random) -> str:
    """Return a random text."""
    if random.random() < 0.8:
        return random.choice(STRANGE)
    return "".join(
        chr(random.choice((random.randrange(32, 127), random.randrange(0x110000)))) for _ in range(random.randrange(30))
    )


def value(random: Random, depth: int = 0) -> Any:
    """Return a random JSON value with at most a few levels of nesting."""
    kinds = 6 if depth > 3 else 8
    match random.randrange(kinds):
        case 0:
            return None
        case 1:
            return random.random() < 0.5
        case 2:
            return random.choice((0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 30, 366))
        case 3:
            return random.choice((0.0, -0.5, 1e308, -1e308, 5e-324, 1.5))
        case 4 | 5:
            return text(random)
        case 6:
            return [value(random, depth + 1) for _ in range(random.randrange(4))]
        case _:
            return {text(random)[:40]: value(random, depth + 1) for _ in range(random.randrange(4))}


def changed(random: Random, good: Any) -> Any:
    """Return a valid value that usually has something wrong in it."""
    if random.random() < 0.15:
        return value(random)
    match good:
        case dict():
            found = {key: changed(random, one) for key, one in good.items() if random.random() > 0.1}
            return found | ({text(random)[:40]: value(random)} if random.random() < 0.15 else {})
        case list():
            return [changed(random, one) for one in good for _ in range(random.choice((0, 1, 1, 1, 3)))]
        case _:
            return good


def sent(random: Random, good: Any) -> bytes:
    """Return the bytes of a body: usually JSON that is almost valid, sometimes anything else."""
    match random.randrange(12):
        case 0:
            return random.randbytes(random.randrange(200))
        case 1:
            return random.choice(DEEP).encode()
        case 2:
            return json.dumps(changed(random, good)).encode()[: random.randrange(200)]
        case 3:
            return b"\xef\xbb\xbf" + json.dumps(good).encode("utf-16")
        case 4:
            return b'{"a": 1, "a": 2, "why": "x", "why": NaN}'
        case _:
            return json.dumps(changed(random, good)).encode(errors="surrogatepass")
