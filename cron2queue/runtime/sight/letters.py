"""What the broker gave up: counted by the hour for the status, and by kind and reason for `dead list`.

Read from the relay's lines in the operators' log, the newest of them by primary key.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, func, select

from cron2queue.runtime.sight import figures
from cron2queue.runtime.sight.dead import folded
from cron2queue.runtime.sight.jobs import JobFilter
from cron2queue.runtime.sight.views import LetterCount, LetterGroup, LettersView
from cron2queue.runtime.tables import Tables
from cron2queue.runtime.verbs.given_up import REASONS, SERIES, VERB, details, is_rest, number

LOOKED_AT = 20_000  # newest lines of the operators' log
MOST_LINES = 5_000  # of ours among them
MOST_GROUPS = 200
USUAL: Final = timedelta(days=1)  # how far a look goes back that was not told


def of_the_hour(connection: Connection, tables: Tables, now: datetime) -> tuple[LetterCount, ...]:
    """By queue and reason, the most first; nothing where nothing was given up."""
    found = figures.counted(connection, tables, now, [f"{SERIES}:{reason}" for reason in REASONS])
    made = [LetterCount(queue=queue, reason=name.partition(":")[2], n=n) for (queue, name), n in found.items()]
    return tuple(sorted(made, key=lambda each: (-each.n, each.queue, each.reason)))


def letters(connection: Connection, tables: Tables, wanted: JobFilter, now: datetime) -> LettersView:
    """Those that fit the filter, the largest group first; its times are of when they were given up."""
    since = wanted.ended_since or now - USUAL
    log = tables.operations.c
    newest = connection.execute(select(func.max(log.id))).scalar() or 0
    floor = newest - LOOKED_AT
    columns = (log.done_at, log.target, log.detail, log.job_id)
    chosen = select(*columns).where(log.id > floor, log.verb == VERB, log.done_at >= since)
    rows = connection.execute(chosen.order_by(log.id.desc()).limit(MOST_LINES)).all()
    before = connection.execute(select(log.done_at).where(log.id <= floor).order_by(log.id.desc()).limit(1)).scalar()
    lines = [(row, told) for row in rows if _fits(told := details(row.detail), wanted)]
    return LettersView(
        since=since,
        groups=tuple(_grouped(lines)[:MOST_GROUPS]),
        not_listed=sum(number(told) for _, told in lines if is_rest(told)),
        partial=len(rows) == MOST_LINES or (before is not None and before >= since),
    )


def _fits(told: Mapping[str, Any], wanted: JobFilter) -> bool:
    asked = ((wanted.kind, "kind"), (wanted.queue, "queue"))
    return all(word is None or told.get(name) == word for word, name in asked) and (
        wanted.error is None or wanted.error in str(told.get("reason"))
    )


def _grouped(lines: Iterable[tuple[Any, Mapping[str, Any]]]) -> list[LetterGroup]:
    found: dict[tuple[str, str], list[tuple[Any, Mapping[str, Any]]]] = {}
    for row, told in lines:
        if not is_rest(told):
            kind = str(told.get("kind") or "")
            name = kind if row.job_id else folded(kind)  # a stranger may call each of a thousand messages otherwise
            found.setdefault((name, str(told.get("reason") or "")), []).append((row, told))
    groups = [_group(kind, reason, members) for (kind, reason), members in found.items()]
    return sorted(groups, key=lambda group: (-group.count, group.kind, group.reason))


def _group(kind: str, reason: str, members: Sequence[tuple[Any, Mapping[str, Any]]]) -> LetterGroup:
    became: Counter[str] = Counter()
    for _, told in members:
        became[str(told.get("became"))] += number(told)
    latest, _ = max(members, key=lambda member: (bool(member[0].job_id), member[0].done_at))
    return LetterGroup(
        kind=kind,
        reason=reason,
        count=sum(became.values()),
        last=max(row.done_at for row, _ in members),
        example=latest.target if latest.job_id else "",
        became=dict(became.most_common()),
    )
