"""The dead, grouped by kind and error, and what the broker gave up, so that a million of either are a few lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading, wrapped
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.words import moment, plural, shown
from cron2queue.runtime.sight.views import DeadGroup, DeadView, LetterCount, LettersView

GROUPS_SHOWN = 40
NO_QUEUE = "-"


def dead_lines(groups: Sequence[DeadGroup], now: datetime, canvas: Canvas) -> Iterator[Text]:
    """One row a group, the largest first."""
    grid = Grid(
        [
            *(Column("dead", right=True), Column("kind", shrinks=True), Column("error", shrinks=True, least=44)),
            *(Column("first", rank=3), Column("last", rank=2), Column("for example", rank=1)),
        ]
    )
    for group in groups:
        error = shown(group.error) if group.error else "no message"
        times = (moment(group.first, now), moment(group.last, now))
        grid.add([Cell(f"{group.count:,}", "bold red"), shown(group.kind), error, *times, Cell(shown(group.example), "dim")])
    yield from grid.lines(canvas.width)


def dead_screen(dead: DeadView, letters: LettersView, now: datetime, canvas: Canvas) -> Iterator[Text]:
    """All groups, how many were looked at, and what to do next; then what the broker gave up, if anything."""
    yield from _dead(dead, now, canvas)
    if letters.total or letters.partial:
        yield Text()
        yield from _letters(letters, now, canvas)


def _dead(dead: DeadView, now: datetime, canvas: Canvas) -> Iterator[Text]:
    if not dead.groups:
        yield Text("nothing is dead", "green")
        return
    yield heading(f"{dead.total} DEAD", _scope(dead), canvas)
    yield from dead_lines(dead.groups[:GROUPS_SHOWN], now, canvas)
    if len(dead.groups) > GROUPS_SHOWN:
        rest = dead.groups[GROUPS_SHOWN:]
        yield Text(f"  and {sum(group.count for group in rest):,} more in {len(rest):,} smaller groups; --kind narrows", "dim")
    yield Text()
    show, requeue = map(canvas.hint, ("cron2queue jobs show ID", "cron2queue dead requeue --kind KIND --spread SECONDS"))
    for command, what in ((show, "each attempt, its output"), (requeue, "another chance, by and by")):
        for line in wrapped(f"{command:<{len(requeue)}}  {what}", canvas.width, first="", rest="  "):
            line.stylize("dim")
            yield line


def _scope(dead: DeadView) -> str:
    if dead.partial:
        return f"grouped: the newest {dead.looked_at:,} of them"
    return "by kind and error"


def letter_counts(counts: Sequence[LetterCount], canvas: Canvas) -> Iterator[Text]:
    """One row for each queue and reason, the most first."""
    grid = Grid([Column("letters", right=True), Column("queue", shrinks=True), Column("reason", shrinks=True)])
    for each in counts[:GROUPS_SHOWN]:
        grid.add([f"{each.n:,}", shown(each.queue) if each.queue != NO_QUEUE else "none of ours", shown(each.reason)])
    yield from grid.lines(canvas.width)


def _letters(letters: LettersView, now: datetime, canvas: Canvas) -> Iterator[Text]:
    """By kind and reason, and that nothing is to be done for them."""
    since = f"given up by the broker since {moment(letters.since, now)}"
    told = f"{since}; older ones were not looked at" if letters.partial else since
    yield heading(plural(letters.total, "dead letter").upper(), told, canvas)
    grid = Grid(
        [
            *(Column("letters", right=True), Column("kind", shrinks=True), Column("reason", shrinks=True)),
            *(Column("became", shrinks=True, least=24), Column("last", rank=2), Column("for example", rank=1)),
        ]
    )
    for group in letters.groups[:GROUPS_SHOWN]:
        became = ", ".join(f"{n:,} {shown(word)}" for word, n in group.became.items())
        example = Cell(shown(group.example), "dim")
        grid.add([f"{group.count:,}", shown(group.kind), shown(group.reason), became, moment(group.last, now), example])
    yield from grid.lines(canvas.width)
    if rest := letters.total - sum(group.count for group in letters.groups[:GROUPS_SHOWN]):
        yield Text(f"  and {rest:,} more, not listed", "dim")
    yield Text("nothing to requeue here: a job that is still ready is sent again by itself", "dim")
