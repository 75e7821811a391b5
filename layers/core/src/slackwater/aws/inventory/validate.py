"""Validates records against their types when they are read, so that a detector never gets an invalid value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

from slackwater.model.resources import Record, Target
from slackwater.ports.errors import BrokenAnswerError

MAY_BE_EMPTY: Final = frozenset({"deployment_type", "device", "path", "root_device", "status", "storage_type"})
"""Text fields that can be empty, because AWS may omit them. All other texts must have a value."""

PLAIN: Final[Mapping[object, frozenset[type]]] = {
    float: frozenset({float, int}),
    **{kind: frozenset({kind}) for kind in (bool, datetime, Decimal, int, NoneType, str)},
}
"""The accepted types of a value for each annotated type. An isinstance check would accept a bool as a number."""


@dataclass(frozen=True, slots=True)
class _Hint:
    """What a value can be: one of some types, or a value that a check accepts."""

    types: frozenset[type]
    fits: tuple[Callable[[Any], bool], ...] = ()

    def __call__(self, value: Any) -> bool:
        return type(value) in self.types or any(fits(value) for fits in self.fits)


def sound[R: Record](record: R) -> R:
    """Return the record if it is valid.

    Raises:
        BrokenAnswerError: A field has the wrong type, or is empty although it must have a value.
    """
    wrong = _wrong(record)
    if wrong is not None:
        raise BrokenAnswerError(f"{record.KIND} {record.id!s:.40}: {wrong} is {getattr(record, wrong)!r:.60}")
    return record


def _wrong(record: Any) -> str | None:
    """Return the first invalid field, or None.

    Because there are many records, it calls no function for a plain value.
    """
    kind: Any = type(record)
    for name, types, hint, may_be_empty in _fields(kind):
        value = getattr(record, name)
        if type(value) not in types:
            if not hint(value):
                return name
        elif value == "" and not may_be_empty:
            return name
    return None


@cache
def _fields(kind: Any) -> tuple[tuple[str, frozenset[type], _Hint, bool], ...]:
    hints = {each.name: get_type_hints(kind)[each.name] for each in fields(kind)}
    return tuple(
        (name, (made := _hint(hint)).types, made, name in MAY_BE_EMPTY or NoneType in made.types)
        for name, hint in hints.items()
        if hint is not Target
    )


@cache
def _hint(hint: Any) -> _Hint:
    if isinstance(hint, TypeAliasType):
        return _hint(hint.__value__)
    if hint in PLAIN:
        return _Hint(PLAIN[hint])
    of, parts = get_origin(hint), get_args(hint)
    if of in (Union, UnionType):
        any_of = [_hint(part) for part in parts]
        return _Hint(
            frozenset().union(*(one.types for one in any_of)), tuple(fits for one in any_of for fits in one.fits)
        )
    return _Hint(frozenset(), (_fits(hint, of, parts),))


def _fits(hint: Any, of: Any, parts: tuple[Any, ...]) -> Callable[[Any], bool]:
    """Return a check for values of a type with type arguments."""
    if of is Literal:
        return lambda value: type(value) is str and value in parts
    if of is Mapping:
        of_key, of_value = map(_hint, parts)
        return lambda value: isinstance(value, Mapping) and _all(of_key, value) and _all(of_value, value.values())
    if of is tuple and parts[1:] == (...,):
        each = _hint(parts[0])
        return lambda value: type(value) is tuple and _all(each, value)
    if of is tuple:
        places = [_hint(part) for part in parts]
        return lambda value: (
            type(value) is tuple
            and len(value) == len(places)
            and all(fits(one) for fits, one in zip(places, value, strict=True))
        )
    if is_dataclass(hint):
        return lambda value: type(value) is hint and _wrong(value) is None
    raise TypeError(f"no record has a field of {hint}")


def _all(hint: _Hint, values: Any) -> bool:
    return {*map(type, values)} <= hint.types or all(map(hint, values))
