"""Requests that name themselves by a token: asked again, they do nothing and answer as before."""

from __future__ import annotations

import json
from collections.abc import Callable

from .wire import AwsError, Call


def once(call: Call, token: str, code: str, there: Callable[[str], bool], make: Callable[[], str]) -> str:
    """The id of what `make` makes, or of what it made when this token was given before, if that is still there.

    `token` is the parameter's name. The same token with other parameters is an error with this code.
    """
    given = call.input.get(token)
    if not given:
        return make()
    key = f"{call.region}/{call.action}/{given}"
    asked = json.dumps({name: value for name, value in call.input.items() if name != token}, sort_keys=True)
    before, made = call.account.shelf("tokens").get(key, ("", ""))
    if made and there(made):
        if before != asked:
            raise AwsError(code, f"{token} {given} was given before, with other parameters.")
        return str(made)
    made = make()
    call.account.keep("tokens", key, (asked, made))
    return str(made)
