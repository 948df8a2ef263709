"""A real worker that kills itself in one phase of its work: `dying_worker.py PHASE WORD WAY work ...`.

WORD counts what it says to the database within the phase; the kill comes before it is said, or (WAY is `said`) when the server
has answered and nobody here has read the answer. The word after the last one is the return of the phase, whose caller then
does nothing more with it. Without a phase, `words` in the folder tells at the end how many words each of them has at most.
"""

import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker import upkeeper
from cron2queue.runtime.worker.crew import Crew
from cron2queue.runtime.worker.options import Timing
from cron2queue.runtime.worker.pump import Pump

PHASES: dict[str, tuple[type, str]] = {
    "sign on": (Store, "register_worker"),
    "claim": (Store, "claim"),
    "hand over": (Crew, "give"),
    "hear": (Pump, "_finished"),
    "settle": (Store, "settle"),
    "settle and claim": (Store, "settle_and_claim"),
    "give back": (Store, "release"),
    "reconcile": (Store, "reconcile"),
    "beat": (Store, "beat"),
    "move": (Store, "move_due"),
    "rescue": (Store, "rescue"),
    "prune": (Store, "prune"),
    "roll up": (Store, "roll_up"),
    "leave": (Store, "retire_worker"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Watch(threading.local):
    """In which phase this thread is, and how many words it has said there."""

    phase: str | None = None
    words = 0
    listening = False


class Dying:
    """Counts, and kills at the point."""

    def __init__(self, phase: str, word: int, said: bool) -> None:
        self.point = (phase, word)
        self.said = said
        self.watch = Watch()
        self.most: dict[str, int] = {}

    def enclose(self, phase: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as a phase, with whatever other phases it is made of."""

        def step(*arguments: Any, **named: Any) -> Any:
            if self.watch.phase is not None:
                return method(*arguments, **named)
            self.watch.phase, self.watch.words = phase, 0
            try:
                found = method(*arguments, **named)
            finally:
                words, self.watch.phase = self.watch.words, None
            self.most[phase] = max(self.most.get(phase, 0), words)
            if self.point == (phase, words) and not self.said:
                die()
            return found

        return step

    def word(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Something that is said to the database."""

        def step(*arguments: Any, **named: Any) -> Any:
            here = self.watch.phase is not None and self.point == (self.watch.phase, self.watch.words)
            if here and not self.said:
                die()
            self.watch.words += 1
            self.watch.listening = here
            try:
                return method(*arguments, **named)
            finally:
                self.watch.listening = False

        return step

    def mysql_reads(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """What PyMySQL reads an answer with."""

        def step(connection: Any, *arguments: Any, **named: Any) -> Any:
            if self.watch.listening:
                select.select([connection._sock], [], [])
                die()
            return method(connection, *arguments, **named)

        return step

    def postgresql_waits(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """What psycopg sends and waits with: it wants to read only when all is sent."""

        def step(connection: Any, talk: Any, *arguments: Any, **named: Any) -> Any:
            return method(connection, self._first_half(connection, talk) if self.watch.listening else talk, *arguments, **named)

        return step

    @staticmethod
    def _first_half(connection: Any, talk: Any) -> Any:
        wanted = next(talk)
        while True:
            if wanted == 1:  # to read
                select.select([connection.fileno()], [], [])
                die()
            ready = yield wanted
            wanted = talk.send(ready & ~1 or 2)


def arrange(dying: Dying, url: str) -> None:
    """Put the counting around phases and words."""
    for phase, (owner, name) in PHASES.items():
        setattr(owner, name, dying.enclose(phase, getattr(owner, name)))
    from cron2queue.runtime.database.address import parse

    driver = type(driver_for(parse(url)))
    for owner, name in ((Session, "send"), (driver, "run_prepared"), (driver, "begin"), (driver, "commit")):
        setattr(owner, name, dying.word(getattr(owner, name)))
    if driver.family == "mysql":
        from pymysql.connections import Connection

        Connection._read_packet = dying.mysql_reads(Connection._read_packet)
    if driver.family == "postgresql":
        import psycopg

        psycopg.Connection.wait = dying.postgresql_waits(psycopg.Connection.wait)  # type: ignore[method-assign]


def main(phase: str, word: str, way: str, arguments: list[str]) -> int:
    from cron2queue.runtime.__main__ import main as run

    dying = Dying(phase, int(word), way == "said")
    arrange(dying, arguments[arguments.index("--database") + 1])
    # What is done every few minutes is done at once.
    Timing.__init__.__kwdefaults__.update(reconcile=0.2, prune=0.2, move=0.2)
    upkeeper._ROLL_UP_SECONDS = 0.2
    try:
        return run(arguments)
    finally:
        Path("words").write_text(json.dumps(dying.most))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
