"""Holds records against their types where they come in: what a detector would stumble over is a broken answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

from slackwater.aws.errors import BrokenAnswerError
from slackwater.model.resources import Record, Target

type Fits = Callable[[Any], bool]

MAY_BE_EMPTY: Final = frozenset({"deployment_type", "device", "path", "root_device", "status", "storage_type"})
"""Texts that may be empty, because AWS may not say them; any other names something."""

NUMBERS: Final[Mapping[type, tuple[type, ...]]] = {int: (int,), float: (float, int)}


def sound[R: Record](record: R) -> R:
    """The record.

    Raises:
        BrokenAnswerError: a field of it is not of its type, or empty where it must say something.
    """
    for name, fits in _fields(type(record)):
        if not fits(value := getattr(record, name)):
            raise BrokenAnswerError(f"{record.KIND} {record.id!s:.40}: {name} is {value!r:.60}")
    return record


@cache
def _fields(kind: type) -> tuple[tuple[str, Fits], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (each.name, _full if hints[each.name] is str and each.name not in MAY_BE_EMPTY else _fits(hints[each.name]))
        for each in fields(kind)
        if hints[each.name] is not Target
    )


def _full(value: Any) -> bool:
    return type(value) is str and value != ""


@cache
def _fits(hint: Any) -> Fits:
    """Whether a value is of a type."""
    if isinstance(hint, TypeAliasType):
        return _fits(hint.__value__)
    of, parts = get_origin(hint), get_args(hint)
    if of is Literal:
        return lambda value: value in parts
    if of in (Union, UnionType):
        any_of = [_fits(part) for part in parts]
        return lambda value: any(fits(value) for fits in any_of)
    if of is tuple:
        return _tuple(parts)
    if of is Mapping:
        of_key, of_value = map(_fits, parts)
        return lambda value: isinstance(value, Mapping) and all(of_key(k) and of_value(v) for k, v in value.items())
    if is_dataclass(hint):
        return lambda value: isinstance(value, hint) and all(fits(getattr(value, name)) for name, fits in _fields(hint))
    if hint in NUMBERS:
        numbers = NUMBERS[hint]
        return lambda value: type(value) in numbers  # and not bool, which is an int too
    kind = NoneType if hint is None else hint
    return lambda value: isinstance(value, kind)


def _tuple(parts: tuple[Any, ...]) -> Fits:
    if len(parts) == 2 and parts[1] is ...:
        each = _fits(parts[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    places = [_fits(part) for part in parts]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(places)
        and all(fits(one) for fits, one in zip(places, value, strict=True))
    )
