"""Writes docs/reference/schema.md from the tables themselves: columns, types, indexes and the states with their changes."""

import re
from pathlib import Path

from sqlalchemy import Table
from sqlalchemy.dialects import mysql, postgresql, sqlite

from cron2queue.runtime.jobs import TRANSITIONS, JobState
from cron2queue.runtime.tables import tables

PAGE = Path(__file__).resolve().parent / "reference" / "schema.md"
_DIALECTS = {"SQLite": sqlite.dialect(), "MySQL, MariaDB": mysql.dialect(), "PostgreSQL": postgresql.dialect()}

_MADE = (
    "Made by `python docs/schema.py` from `cron2queue.runtime.tables`. The prefix `c2q_` can be chosen"
    " (`[project] prefix` in the plan)."
)
_INSTANTS = (
    "Instants are BIGINT microseconds since 1970 UTC, read from the database's clock. To see one:"
    " `FROM_UNIXTIME(created_at / 1e6)` on MySQL and MariaDB, `to_timestamp(created_at / 1e6)` on PostgreSQL,"
    " `datetime(created_at / 1e6, 'unixepoch')` on SQLite."
)
_KEYS = (
    "Keys are bytes, so that the same keys are the same jobs on every database, whatever its collation:"
    " `CAST(job_key AS CHAR)` on MySQL and MariaDB, `convert_from(job_key, 'UTF8')` on PostgreSQL,"
    " `CAST(job_key AS TEXT)` on SQLite."
)
_ABOUT = {
    "jobs": "One row a job. Everything that a claim looks at is in its index; what is finished, due later or held is not.",
    "attempts": "One row a finished attempt. A released job leaves none: no handler ran.",
    "inbox": "Messages that a consumer has processed, written in the same transaction as their effect.",
    "workers": "One row a living worker. Who stands still is found by `beat_counter`, never by a time.",
    "queues": "Pauses and limits of queues. A queue without a row is neither paused nor limited.",
    "limits": "Limits of kinds and of keys (`*`: of each key), with the token bucket of a rate.",
    "controls": "One row. `version` counts every pause and limit; claims and enqueues compare it.",
    "subscriptions": "Which kinds of job an event makes.",
    "ticks": "The newest nominal time of each scheduled entry.",
    "operations": "What operators did: who, what, to which, when.",
    "migrations": "The steps of the schema that are applied. A release that knows fewer steps than `needs` refuses to run.",
    "rollups": "Counts by period, for metrics that outlive their jobs.",
    "marks": "How far periodic upkeep has come.",
}
_MEANS = {
    "public_id": "128 random bits in hexadecimal: what users see, and the idempotency key",
    "job_key": "the producer's key, as bytes: case, accents and trailing blanks count",
    "dedupe": "hash of scope, kind and key; NULL as soon as the uniqueness has ended",
    "unique_until": "NULL: while active; 2^62: until pruned; else the end of the period",
    "state": "see below",
    "due_at": "set while scheduled: when the mover brings it over",
    "runs": "all claims of its life; `attempts` starts anew at a requeue",
    "crashes": "how often it took its child or worker down; three are too many",
    "lease": "the token of the claim; every later write names it",
    "turn": "hash of the ordering key, held by the one job whose turn it is",
    "held_by": "why it is blocked: hash of its ordering key, or of the limit",
    "held_rank": "the order among those held by one name",
    "limit_key": "the bucket of limits by key; the job's own key if NULL",
    "owner": "who asked for it; lists and items are filtered by it",
    "message": "for users; never holds more than 1000 bytes",
    "diagnostic": "for operators: redacted, at most 8 KiB",
    "output_tail": "head and tail of the output, redacted, at most 64 KiB",
    "locked": "counted up to take the row's lock, which works on every database",
    "beat_at": "for people only: no decision is taken by it",
    "host": "where it runs; in `controls`, the host and kernel that use a SQLite file",
}


def _type(column: object, dialect: object) -> str:
    shown = column.type.compile(dialect=dialect)  # type: ignore[attr-defined]
    return re.sub(r" CHARACTER SET.*", " ascii", str(shown))


def _table(name: str, table: Table) -> list[str]:
    lines = [
        f"## {table.name}",
        "",
        _ABOUT[name],
        "",
        f"| column | {' | '.join(_DIALECTS)} | null | meaning |",
        "|---" * 6 + "|",
    ]
    for column in table.columns:
        types = " | ".join(f"`{_type(column, dialect)}`" for dialect in _DIALECTS.values())
        mark = "key" if column.primary_key else "yes" if column.nullable else "no"
        lines.append(f"| `{column.name}` | {types} | {mark} | {_MEANS.get(column.name, '')} |")
    for index in sorted(table.indexes, key=lambda each: str(each.name)):
        where = index.dialect_options["postgresql"]["where"]
        partial = f", on PostgreSQL and SQLite only where {where}" if where is not None else ""
        kind = "Unique index" if index.unique else "Index"
        lines += ["", f"{kind} `{index.name}` ({', '.join(column.name for column in index.columns)}){partial}."]
    return [*lines, ""]


def _states() -> list[str]:
    lines = ["## States", "", "```mermaid", "stateDiagram-v2"]
    lines += [f"    {old} --> {new}: {why.replace(';', ',')}" for (old, new), why in TRANSITIONS.items()]
    lines += ["```", "", "| from | to | when |", "|---|---|---|"]
    lines += [f"| {old} | {new} | {why} |" for (old, new), why in TRANSITIONS.items()]
    ends = ", ".join(state for state in JobState if not any(old is state for old, _ in TRANSITIONS))
    return [*lines, "", f"No other change can be written. {ends} are left by nothing.", ""]


def page() -> str:
    """The whole page."""
    found = tables()
    head = [
        "# The schema of the job table",
        "",
        _MADE,
        "",
        _INSTANTS,
        "",
        _KEYS,
        "",
    ]
    body = [line for name in _ABOUT for line in _table(name, getattr(found, name))]
    return "\n".join([*head, *_states(), *body]).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
