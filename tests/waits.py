"""How often a piece of work waits for the database, as the database itself, or the line to it, counts it."""

import tempfile
from collections.abc import Callable
from typing import Any

from cron2queue.runtime.store import Store


def asked(store: Store, work: Callable[[], object]) -> int:
    """How often `work` waits for the database: statements, with BEGIN and COMMIT among them."""
    raw = store.sessions.current().raw
    if store.driver.family == "sqlite":
        seen: list[str] = []
        raw.set_trace_callback(seen.append)
        work()
        raw.set_trace_callback(None)
        return len(seen)
    if store.driver.family == "postgresql":
        with tempfile.TemporaryFile("w+") as log:
            raw.pgconn.trace(log.fileno())
            work()
            raw.pgconn.untrace()
            log.seek(0)
            sent = [line.split("\t")[1:4] for line in log]
        return sum(len(each) == 3 and each[0] == "F" and each[2].strip() in ("Sync", "Query") for each in sent)
    before = questions(raw)
    work()
    return questions(raw) - before - 1


def questions(raw: Any) -> int:
    """What a server of MySQL's kind was asked on this connection, this question included."""
    with raw.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Questions'")
        return int(cursor.fetchone()[1])
