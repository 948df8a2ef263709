"""What `show` draws: each source, each entry as the daemon understood it, its next starts, and what was refused."""

from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, wrapped
from cron2queue.cli.understood.record import Asked, fires_of, masked
from cron2queue.crontab.describe import describe
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Effect, Entry, Line, Malformed
from cron2queue.crontab.schedule import Fire
from cron2queue.redaction import redact
from cron2queue.report.figures import IGNORED, contents, counted, ignored, remarks
from cron2queue.text import safe_text

_INDENT = " " * 4
_EFFECTS = {
    Effect.FILE: "the whole file is ignored",
    Effect.LINE: "this line is dropped",
    Effect.MISREAD: "it runs all the same",
}
_PIECE = "what stands up to there is dropped"
_READS_ON = "the rest of the line is read as if a new line began there"
_TEMPLATE = "the file is a template"
# What every entry has, and so tells nothing.
_USUAL = {"SHELL": "/bin/sh"}


def _shown(text: str) -> str:
    return safe_text(redact(text))


def screen(files: tuple[CrontabFile, ...], asked: Asked, canvas: Canvas) -> Iterator[Text]:
    """All sources, with a blank line between them."""
    for place, file in enumerate(files):
        if place:
            yield Text("")
        yield from _file(file, asked, canvas)


def _file(file: CrontabFile, asked: Asked, canvas: Canvas) -> Iterator[Text]:
    title = dialect_named(file.dialect).title
    head = Text(_shown(file.path), "bold")
    yield head.append(f"   {title}, {file.kind} crontab: {_counts(file)}", "dim")
    why = ignored(file)
    unread = None if file.loaded else IGNORED if why else _TEMPLATE
    if why is not None:
        yield from _wrapped(f"  {IGNORED}: {_shown(why)}", canvas, "bold red")
    for note in remarks(file):
        yield from _wrapped(f"  {_shown(note)}", canvas, "dim")
    for _, pieces in groupby(file.lines, key=lambda line: line.number):
        yield from _line(list(pieces), file, asked, canvas, unread)


def _line(pieces: list[Line], file: CrontabFile, asked: Asked, canvas: Canvas, unread: str | None) -> Iterator[Text]:
    """One line of the file; where a daemon reads on behind what it refuses, the first refusal stands for all."""
    refused = [piece for piece in pieces if isinstance(piece, Malformed)]
    for bad in refused[:1]:
        in_pieces = len(pieces) > 1
        effect = _PIECE if in_pieces else _effect(bad, unread)
        yield from _malformed(bad, canvas, effect=None if not file.editable and not bad.raw else effect)
        if in_pieces:
            more = f"; {counted(len(refused) - 1, 'more piece')} of it dropped" if refused[1:] else ""
            yield from _wrapped(f"{_INDENT}{_READS_ON}{more}", canvas, "dim")
    for entry in pieces:
        if isinstance(entry, Entry):
            yield from _entry(entry, asked, canvas, unread)


def _counts(file: CrontabFile) -> str:
    counts = file.counts
    parts = contents(counts)
    return counted(counts["lines"], "line") + (f" ({', '.join(parts)})" if parts else "")


def _wrapped(text: str, canvas: Canvas, style: str) -> Iterator[Text]:
    indent = " " * (len(text) - len(text.lstrip()))
    for line in wrapped(text.strip(), canvas.width, first=indent, rest=f"{indent}  "):
        line.stylize(style)
        yield line


def _entry(entry: Entry, asked: Asked, canvas: Canvas, unread: str | None) -> Iterator[Text]:
    yield Text("")
    head = Text(f"  {entry.number:>3}  ").append(_shown(entry.schedule_text), "cyan")
    words, style = _shown(describe(entry.schedule)), "red" if entry.schedule.never_fires else ""
    if len(head.plain) + 3 + len(words) <= canvas.width:
        yield head.append(f"   {words}", style)
    else:
        yield head
        yield from _wrapped(f"{_INDENT}   {words}", canvas, style)
    who = f"{_shown(entry.user)}: " if entry.user else ""
    yield from _wrapped(f"{_INDENT}   {who}{_shown(entry.command) or '(an empty command)'}", canvas, "")
    if entry.stdin is not None:
        yield from _wrapped(f"{_INDENT}   stdin: {_shown(entry.stdin)}", canvas, "dim")
    variables = [_shown(f"{name}={value}") for name, value in masked(entry) if _USUAL.get(name) != value]
    if variables:
        yield from _wrapped(f"{_INDENT}   with {' '.join(variables)}", canvas, "dim")
    yield from _wrapped(f"{_INDENT}   {_starts(entry, asked, unread)}", canvas, "dim" if unread else "green")
    for bad in entry.misread:
        yield from _malformed(bad, canvas, effect=_effect(bad, unread))


def _effect(bad: Malformed, unread: str | None) -> str:
    """A template never comes before the daemon, which therefore ignores nothing of it."""
    return "to be rendered first" if unread == _TEMPLATE and bad.effect is Effect.FILE else _EFFECTS[bad.effect]


def _starts(entry: Entry, asked: Asked, unread: str | None) -> str:
    """The next ones; `unread` says why cron reads nothing of the file."""
    if unread:
        return f"starts: never, {unread}"
    fires = fires_of(entry, asked)
    if not fires:
        return "starts: never" if entry.schedule.never_fires else "starts: no calendar tells, or not in that time"
    drawn = "starts (one draw of it): " if entry.schedule.random else "starts: "
    return drawn + ", ".join(_fire(fire) for fire in fires)


def _fire(fire: Fire) -> str:
    text = f"{fire.at:%a %Y-%m-%d %H:%M %z}"
    return text if fire.at.replace(tzinfo=None) == fire.nominal else f"{text} (for {fire.nominal:%H:%M})"


def _malformed(bad: Malformed, canvas: Canvas, *, effect: str | None) -> Iterator[Text]:
    """A line and what becomes of it, or (no `effect`) a script of a folder, of which its message says all there is."""
    message = _shown(bad.message)
    said = message if effect is None else f"line {bad.number}, column {bad.column}: {message}: {effect}"
    yield from _wrapped(f"  {said}", canvas, "red")
    yield from _wrapped(f"{_INDENT}{bad.remedy}", canvas, "dim")
