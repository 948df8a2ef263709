"""What must hold after any faults, asked of the tables by SQL. Each returns the rows that break it: none.

I1 nothing lost, one end at most; I2 nothing doubled; I3 attempts within bounds and paired; I4 fenced; I5 no overlap;
I7 bounded and nothing left behind; I8 not silent; I9 recovers without a hand.
"""

from collections.abc import Sequence
from typing import Any, Protocol

Rows = list[tuple[Any, ...]]

QUERIES = {
    "I1 every job has come to an end": ("SELECT id, state FROM {jobs} WHERE state NOT IN ('succeeded', 'dead', 'cancelled')"),
    "I1 no job was done twice": (
        "SELECT job_id, COUNT(*) FROM {attempts} WHERE outcome = 'done' GROUP BY job_id HAVING COUNT(*) > 1"
    ),
    "I1 what is done has an attempt that did it": (
        "SELECT id FROM {jobs} j WHERE state = 'succeeded' AND NOT EXISTS "
        "(SELECT 1 FROM {attempts} a WHERE a.job_id = j.id AND a.outcome = 'done')"
    ),
    "I1 what is not done has none": (
        "SELECT id FROM {jobs} j WHERE state <> 'succeeded' AND EXISTS "
        "(SELECT 1 FROM {attempts} a WHERE a.job_id = j.id AND a.outcome = 'done')"
    ),
    "I3 no more attempts than allowed": "SELECT id, attempts, max_attempts FROM {jobs} WHERE attempts > max_attempts",
    "I3 no attempt without a claim": (
        "SELECT j.id, j.runs, COUNT(*) FROM {jobs} j JOIN {attempts} a ON a.job_id = j.id "
        "GROUP BY j.id, j.runs HAVING COUNT(*) > j.runs"
    ),
    "I3 every claim has an end on record": (
        "SELECT j.id, j.runs, COUNT(a.run) FROM {jobs} j LEFT JOIN {attempts} a ON a.job_id = j.id AND a.outcome <> 'released' "
        "GROUP BY j.id, j.attempts, j.runs HAVING COUNT(a.run) <> j.attempts"
    ),
    "I4 nobody holds what has ended": (
        "SELECT id, worker, lease FROM {jobs} WHERE state IN ('succeeded', 'dead', 'cancelled') "
        "AND (lease IS NOT NULL OR worker IS NOT NULL)"
    ),
    "I4 the last claim is the one that was believed": (
        "SELECT j.id, j.runs, a.run FROM {jobs} j JOIN {attempts} a ON a.job_id = j.id "
        "WHERE a.outcome = 'done' AND a.run <> j.runs"
    ),
    "I8 every crash is on record": (
        "SELECT j.id, j.crashes, COUNT(a.run) FROM {jobs} j LEFT JOIN {attempts} a ON a.job_id = j.id "
        "AND a.outcome IN ('rescued', 'crashed', 'signal', 'out_of_memory') "
        "GROUP BY j.id, j.crashes HAVING COUNT(a.run) <> j.crashes"
    ),
    "I8 what is dead says why": "SELECT id FROM {jobs} WHERE state = 'dead' AND (message IS NULL OR message = '')",
    "I8 only what crashed three times is dead": "SELECT id, crashes FROM {jobs} WHERE state = 'dead' AND crashes < 3",
}


class Tables(Protocol):
    """Answers queries in the store's own notation."""

    def rows(self, query: str, parameters: Any = ()) -> Rows: ...


def broken(tables: Tables, acknowledged: Sequence[int]) -> dict[str, Rows]:
    """The invariants that do not hold, with the rows that break them."""
    found = {name: tables.rows(query) for name, query in QUERIES.items()}
    there = {int(row[0]) for row in tables.rows("SELECT id FROM {jobs}")}
    found["I1 every acknowledged enqueue is found"] = [(each,) for each in acknowledged if each not in there]
    return {name: rows for name, rows in found.items() if rows}
