"""Replaces what could name an account, its resources or its people by placeholders, random in each recording.

A string of a record stays only if its field has AWS's own vocabulary (KEPT), and the string is a word of it. Any other
string becomes a placeholder, and so does each string of a new field. The same string has the same placeholder
throughout a recording, so that relations between records stay the same.
"""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any, Final

from slackwater.app.recording.words import is_public
from slackwater.engine.disabled_region import DENIED
from slackwater.engine.exempt import tags_exempt
from slackwater.model.findings import CEILING
from slackwater.model.ownership import ANY_KEY, MANAGERS, RESTORED
from slackwater.model.policy import ExemptSection, OwnersSection, Policy
from slackwater.model.resources import InstanceType, Record, Target

KEPT: Final = frozenset(
    {
        *("availability_zone", "bandwidth_weighting", "deployment_type", "event_name", "file_system_type", "finding"),
        *("hypervisor", "instance_type", "iops_mode", "lifecycle", "name", "namespace", "ontap_volume_type"),
        *("performance_mode", "role", "source", "state", "status", "storage_type", "throughput_mode"),
        *("transition_to_archive", "transition_to_ia", "transition_to_primary", "volume_type"),
    }
)
"""Fields of records whose values are words of AWS."""

ID: Final = re.compile(
    r"((?:ami|aki|ari|backup|eni|fs|fsap|fsmt|fsvol|fsvolsnap|i|sg|snap|subnet|svm|vol|vpc)-)[0-9a-f]{6,32}"
)
"""Ids that AWS assigns. Their prefix stays. Any other name may identify its owner."""
DEVICE: Final = re.compile(r"(?:/dev/)?(?:(?:xvd|sd|hd)[a-z]{1,2}\d{0,3}|nvme\d{1,3}n\d{1,3}(?:p\d{1,3})?)")
ADDRESSED: Final = re.compile(r"(arn:[a-z-]+:[a-z0-9-]*:[a-z0-9-]*):(\d*):(.*)")
OPTION: Final = re.compile(
    r"(?:no_)?(?:root_squash|all_squash|subtree_check|wdelay|acl)|rw|ro|a?sync|(?:no)?hide|(?:in)?secure|crossmnt"
    r"|anon[ug]id=\d{1,5}"
)
"""Options of NFS exports (exports(5)). People type them, so any other option may contain a name."""
DATE: Final = re.compile(r"\s*\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)?)?\s*")
ID_FIELDS: Final = ("id", "instance_id", "file_system_id", "subnet_id", "root_volume_id")
PRINCIPAL: Final = re.compile(r"[a-z0-9.-]{1,40}\.amazonaws\.com(?:\.cn)?")
PUBLIC_VALUES: Final = {"manager": PRINCIPAL, "clients": re.compile(r"\*"), "options": OPTION}
"""For each field, the values that are AWS's or NFS's own vocabulary, and stay."""
CODE: Final = re.compile(r"[A-Z][A-Za-z]{2,60}(?:\.[A-Z][A-Za-z]{2,40})?(?=[:\s.]|$)")

ACCOUNT: Final = re.compile(r"(?<!\d)\d{12}(?!\d)")

LEFT_OUT: Final = "(text left out)"

KNOWN_DIMENSIONS: Final = frozenset(
    {
        *("AutoScalingGroupName", "DestinationFileSystemId", "DiskId", "FileSystemId", "ImageId", "InstanceId"),
        *(
            "InstanceType",
            "StorageClass",
            "VolumeId",
            "device",
            "fstype",
            "path",
            "FileServer",
            "Aggregate",
            "StorageTier",
        ),
        *("StorageCapacityType", "DataType", "FileSystemType", "driver", "interface"),
    }
)
WORDS_OF: Final = frozenset(
    {"InstanceType", "StorageClass", "fstype", "FileServer", "StorageTier", "StorageCapacityType", "DataType", "driver"}
)
"""Dimensions whose values are words of AWS or of the operating system."""
SYSTEM_PATHS: Final = frozenset({"", "boot", "efi", "fsx", "home", "mnt", "opt", "srv", "tmp", "usr", "var"})
"""Parts of a path that identify nobody."""

PUBLIC_KEYS: Final = frozenset(
    {"Name", *RESTORED, *ExemptSection().keep_tags, *ExemptSection().keep_until_tags, *OwnersSection().tags}
)
"""Tag keys that everybody uses, or that the default policy names."""


class Pseudonyms:
    """Placeholders of one recording. Not thread-safe."""

    def __init__(self, policy: Policy, now: datetime) -> None:
        """Create the placeholders for the tags that the policy names.

        Args:
            policy: Each key and value of a tag that it names has a placeholder of its own kind, such as `policy-key-1`.
            now: The time of the scan. Of the date in a keep-until tag, only whether it is over at this time stays.
        """
        self._now = now
        self._made: dict[tuple[str, str], str] = {}
        self._policy_keys: dict[str, str] = {}
        self._policy_values: dict[str, str] = {}
        self._keep_until = {
            key.casefold() for key in (*ExemptSection().keep_until_tags, *policy.exempt.keep_until_tags)
        }
        for named in _tags_named_by(policy):
            key, equals, value = named.partition("=")
            if key not in PUBLIC_KEYS:
                self._policy_keys.setdefault(key.casefold(), f"policy-key-{len(self._policy_keys) + 1}")
            if equals:
                self._policy_values.setdefault(value.casefold(), f"policy-value-{len(self._policy_values) + 1}")
        self._exact = {part for named in _tags_named_by(policy) for part in named.partition("=")[::2]}

    def account(self, number: str) -> str:
        """Return the placeholder of an account: twelve other digits."""
        return self._of("account", number, lambda: "".join(secrets.choice("123456789") for _ in range(12)))

    def accounts_in(self, text: str) -> str:
        """Replace each account number in a text that Slackwater itself wrote."""
        return ACCOUNT.sub(lambda number: self.account(number[0]), text)

    def target(self, target: Target) -> Target:
        """Return the same region of the account's placeholder."""
        return replace(target, account=self.account(target.account))

    def id(self, text: str) -> str:
        """Return the placeholder of an id, with the same prefix, such as `vol-`; `x-` if it is not an AWS id."""
        kind = ID.fullmatch(text)
        return self._of("id", text, lambda: f"{kind[1] if kind else 'x-'}{secrets.token_hex(6)}") if text else text

    def text(self, text: str) -> str:
        """Return the placeholder of any text; an empty text stays empty."""
        return self._of("text", text, lambda: f"text-{secrets.token_hex(6)}") if text else text

    def word(self, text: str) -> str:
        """Return a word of AWS or Slackwater unchanged, and a placeholder for any other text."""
        return text if not text or is_public(text) else self.text(text)

    def arn(self, text: str) -> str:
        """Return an ARN with placeholders for its account and its resource."""
        found = ADDRESSED.fullmatch(text)
        if found is None:
            return self.text(text)
        before, account = self.accounts_in(found[1]), self.account(found[2]) if found[2] else ""
        kind, slash, id_ = found[3].rpartition("/")
        return f"{before}:{account}:{self.word(kind)}{slash}{self.id(id_)}"

    def reason(self, text: str) -> str:
        """Return only the error code of a reason, and phrases that Slackwater looks for. The rest may contain names."""
        if text.startswith(CEILING):
            return f"{CEILING}: {LEFT_OUT}"
        code, denied = CODE.match(text), DENIED.search(text)
        phrase = " with an explicit deny in a service control policy" if denied else ""
        return f"{code[0] if code else 'Failure'}: {LEFT_OUT}{phrase}"

    def path(self, text: str) -> str:
        """Return a path in which only the parts that every system has stay."""
        return "/".join(part if part in SYSTEM_PATHS else self.text(part) for part in text.split("/"))

    def tags(self, tags: Mapping[str, str] | None) -> dict[str, str] | None:
        """Return tags with placeholders. Those of known managers stay, and so do the keys of the default policy."""
        return None if tags is None else {self._key(key): self._value(key, value) for key, value in tags.items()}

    def tag_named(self, named: str) -> str:
        """Return the placeholder of a tag in the policy, `key` or `key=value`."""
        key, equals, value = named.partition("=")
        return f"{self._key(key)}{equals}{self._value(key, value) if equals else ''}"

    def dimensions(self, dimensions: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return the dimensions of a metric with placeholders, in the order of their new names."""
        return tuple(sorted(self._dimension(name, value) for name, value in dimensions))

    def record[R: Record](self, record: R) -> R:
        """Return the record with placeholders."""
        changed: R = self._changed(record, record)
        return changed

    def _dimension(self, name: str, value: str) -> tuple[str, str]:
        known = name if name in KNOWN_DIMENSIONS else self.text(name)
        if name in WORDS_OF:
            return known, self.word(value)
        if name == "path":
            return known, self.path(value)
        if name in ("device", "interface"):
            return known, self._device(value)
        before, slash, id_ = value.rpartition("/")  # the CloudWatch agent writes aws://ZONE/vol-…
        return (
            known,
            f"{'aws://zone' if slash and before.startswith('aws://') else self.text(before)}{slash}{self.id(id_)}",
        )

    def _device(self, text: str) -> str:
        return text if not text or DEVICE.fullmatch(text) else self.text(text)

    def _key(self, key: str) -> str:
        if key in PUBLIC_KEYS:
            return key
        if named := self._policy_keys.get(key.casefold()):
            return named if key in self._exact else named.upper()  # some comparisons of tags are case-sensitive
        if ANY_KEY.match(key):
            for manager in MANAGERS:
                if key in manager.keys or key in (manager.values or {}):
                    return key
                for pattern in manager.patterns:
                    if re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), key):
                        return pattern.replace("*", self.text(key))
        return self.text(key)

    def _value(self, key: str, value: str) -> str:
        if any(value in (manager.values or {}).get(key, ()) for manager in MANAGERS):
            return value
        if key.casefold() in self._keep_until and DATE.fullmatch(value):
            return self._until(key, value)
        if named := self._policy_values.get(value.casefold()):
            return named if value in self._exact else named.upper()
        return self.text(value)

    def _until(self, key: str, value: str) -> str:
        """Return another date, which is over if and only if the tag's date is over."""
        exempt = ExemptSection(keep_tags=[], keep_until_tags=[key])
        return "2199-12-31" if tags_exempt({key: value}, exempt, self._now) else "1999-12-31"

    def _changed(self, holder: Any, record: Record) -> Any:
        changed = {}
        for field in fields(holder):
            value = getattr(holder, field.name)
            if (other := self._field(field.name, value, record)) is not value:
                changed[field.name] = other
        return replace(holder, **changed) if changed else holder

    def _field(self, name: str, value: Any, record: Record) -> Any:  # noqa: PLR0911 -- one return a kind of value
        match name, value:
            case _, Target():
                return self.target(value)
            case "tags", _:
                return self.tags(value)
            case "dimensions", _:
                return self.dimensions(value)
            case _, tuple():
                return tuple(self._field(name, one, record) for one in value)
            case _, str():
                return self._string(name, value, record)
            case _ if is_dataclass(value):
                return self._changed(value, record)
            case _:
                return value

    def _string(self, name: str, text: str, record: Record) -> str:
        if isinstance(record, InstanceType) or name in KEPT:
            return self.word(text)
        if name == "id" and text.isdecimal():
            return self.account(text)
        if public := PUBLIC_VALUES.get(name):
            return text if public.fullmatch(text) else self.text(text)
        pseudonym_of = {
            "arn": self.arn,
            "device": self._device,
            "root_device": self._device,
            "path": self.path,
            **dict.fromkeys(ID_FIELDS, self.id),
        }
        return pseudonym_of.get(name, self.text)(text)

    def _of(self, kind: str, text: str, make: Any) -> str:
        if (kind, text) not in self._made:
            self._made[kind, text] = make()
        return self._made[kind, text]


def _tags_named_by(policy: Policy) -> list[str]:
    """Return every tag that the policy names: `key`, or `key=value`."""
    of_detectors = [
        value
        for limits in policy.limits.values()
        for name, value in limits
        if (name == "tag" or name.endswith("_tag")) and isinstance(value, str) and value
    ]
    return [
        *policy.exempt.keep_tags,
        *policy.exempt.keep_until_tags,
        *policy.owners.tags,
        *policy.owners.managed_tags,
        *of_detectors,
    ]
