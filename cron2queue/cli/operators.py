"""What every operator's command takes: where to look or act, in which form, and who acts. Declared once, for all of them.

A command declares its own options and gets these as one value:

    @group.command()
    @acts
    def pause(act: Act, name: Name) -> None:
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cron2queue.cli.operation import By, NearestPlan, Operation, actor, one_of, operation
from cron2queue.cli.options import Ascii, Color, Database, Format, Width

if TYPE_CHECKING:
    from cron2queue.cli.screens.canvas import Canvas

FORMATS = ("terminal", "json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Where to look, and in which form on what kind of screen to show it."""

    where: Operation
    format: str
    room: "Canvas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Where to act, who does, and in which form to tell what was done."""

    where: Operation
    format: str
    by: str


def _option(name: str, annotation: object, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_WHERE = (
    _option("database", Database, None),
    _option("plan", NearestPlan, None),
    _option("format", Format, "terminal"),
)
_SCREEN = (_option("color", Color, "auto"), _option("ascii", Ascii, False), _option("width", Width, None))


def looks(command: Callable[..., None]) -> Callable[..., None]:
    """Hand the command a Look; it takes --database, --plan, --format, --color, --ascii and --width."""
    return _taking(command, (*_WHERE, *_SCREEN), _look)


def acts(command: Callable[..., None]) -> Callable[..., None]:
    """Hand the command an Act; it takes --by, --database, --plan and --format."""
    return _taking(command, (_option("by", By, None), *_WHERE), _act)


def _look(*, database: str | None, plan: Path | None, format: str, color: str, ascii: bool, width: int | None) -> Look:
    from cron2queue.cli.screens.canvas import canvas

    one_of(format, FORMATS, "--format")
    where = operation(database, plan)
    return Look(where=where, format=format, room=canvas(width=width, color=color, ascii_only=ascii, options=where.options))


def _act(*, by: str | None, database: str | None, plan: Path | None, format: str) -> Act:
    one_of(format, FORMATS, "--format")
    return Act(where=operation(database, plan), format=format, by=actor(by))


def _taking(command: Callable[..., None], shared: Sequence[Parameter], make: Callable[..., Any]) -> Callable[..., None]:
    """The command as typer is to see it: its own options, then the shared ones."""
    own = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in signature(command).parameters.values()][1:]

    @wraps(command)
    def taking(**options: Any) -> None:
        common = {each.name: options.pop(each.name) for each in shared}
        command(make(**common), **options)

    every = [*own, *shared]
    taking.__signature__ = Signature(every)  # type: ignore[attr-defined]
    taking.__annotations__ = {each.name: each.annotation for each in every}
    return taking
