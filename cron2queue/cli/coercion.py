"""Plain values of the command line without pydantic, whose import takes typer longer than most commands run.

Typer asks pydantic to turn each word into its type. Words that need no judgement are turned here; for all else, and to
refuse what is wrong in its own words, typer is asked as before.
"""

from pathlib import Path
from typing import Any, get_args, get_origin

import typer.core
from typer._coercion import TypeDescriptor, build_runtime_param

from cron2queue.expressions import regex

_INTEGER = regex(r"-?[0-9]{1,18}\Z")
_DECIMAL = regex(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z")
_UNKNOWN = object()


def quicken() -> None:
    """Let the parameters of all commands take plain values at once."""
    typer.core.build_runtime_param = _Quick  # type: ignore[attr-defined, assignment]


class _Quick:
    """Stands for what typer builds from the type of a parameter, until a value needs more than it knows."""

    def __init__(self, described: TypeDescriptor) -> None:
        self.described = described

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value in its type, or typer's own complaint."""
        info = self.described.parameter_info
        found = _UNKNOWN if info.parser else _plain(value, self.described.annotation, info)
        return build_runtime_param(self.described).coerce(value, param=param, ctx=ctx) if found is _UNKNOWN else found


def _plain(value: Any, wanted: Any, info: Any) -> Any:
    if value is None:
        return () if get_origin(wanted) is list else None
    if get_origin(wanted) is list and isinstance(value, list | tuple):
        each = [_plain(item, get_args(wanted)[0], info) for item in value]
        return _UNKNOWN if _UNKNOWN in each else each
    if wanted is str and type(value) is str:
        return value
    if wanted in (int, float):
        return _number(value, wanted, info)
    if wanted is Path and isinstance(value, str | Path) and "\0" not in str(value):
        return Path(value) if _any_path_will_do(info) else _UNKNOWN
    return _UNKNOWN


def _any_path_will_do(info: Any) -> bool:
    """Typer would refuse one that cannot be read; the command says so itself, with its own exit status and remedy."""
    return info.file_okay and info.dir_okay and not (info.exists or info.writable or info.resolve_path or info.allow_dash)


def _number(value: Any, wanted: type[int] | type[float], info: Any) -> Any:
    shape = _INTEGER if wanted is int else _DECIMAL
    if type(value) not in (wanted, int) and not (isinstance(value, str) and shape.match(value)):
        return _UNKNOWN
    number = wanted(value)
    low, high = info.min, info.max
    return number if (low is None or number >= low) and (high is None or number <= high) else _UNKNOWN
