"""Pairing by PAM session: Debian cron at its default level, and cronie before 1.5.6.

The parent process M opens and closes a session; its grandchild G logs the command. Nothing in the log joins the two.
One session and one command of a user at one moment belong together (good). In a herd only the set of durations is
known: each command gets the bounds of the sessions that can be its own, by time, by process number, and, in a single
log, by the order of the lines. What must be so after that is good; the rest stays ambiguous.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from cron2queue.evidence.log_format import NO_ENDING, Ending
from cron2queue.evidence.parents import SAME, may_be_child
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.starts import Found, Started

APART = 10.0  # seconds after which a start belongs to another herd; daemons start all of a minute at once
_ONE_MOMENT = 55.0
_LARGEST_HERD = 200
_MOST_HERDS = 5_000
_CLOCK_STEP = 2.0  # an end this much before its start: the clock was set back
_WROTE = Ending(output=True)


@dataclass(slots=True, eq=False)
class Session:
    """One PAM session, from its opening to its closing."""

    opened: float
    pid: int
    place: int
    closed: float | None = None
    closing: int = 0
    wrote: bool = False


@dataclass(slots=True, eq=False)
class Herd:
    """What one user's daemon started at one moment."""

    first: float
    last: float
    sessions: list[Session] = field(default_factory=list)
    starts: list[Started] = field(default_factory=list)
    alive: int = 0


class SessionPairing:
    """Pairs the sessions and commands of one host. `ordered`: all lines come from one log, in their true order."""

    def __init__(self, found: Found, *, ordered: bool) -> None:
        self._found = found
        self._ordered = ordered
        self._gathering: dict[str, Herd] = {}
        self._waiting: dict[int, Herd] = {}
        self._open: dict[int, tuple[Session, Herd]] = {}
        self._before: deque[Started] | None = deque()
        """While no session has ever been seen: the commands that one may still belong to."""

    @property
    def unknown(self) -> bool:
        """Whether no session has been seen yet."""
        return self._before is not None

    def started(self, start: Started) -> None:
        """A command was logged by the grandchild."""
        start.held = True
        if self._before is not None:
            self._before.append(start)
            while self._before[0].at < start.at - APART:
                self._release(self._before.popleft())
            return
        self._herd(start.subject.user, start.at).starts.append(start)

    def opened(self, at: float, user: str, pid: int, place: int) -> None:
        """A session was opened by the parent."""
        if self._before is not None:
            waiting, self._before = self._before, None
            for start in waiting:
                self.started(start)
        herd = self._herd(user, at)
        session = Session(opened=at, pid=pid, place=place)
        herd.sessions.append(session)
        herd.alive += 1
        self._open[pid] = (session, herd)

    def closed(self, at: float, pid: int, place: int, *, wrote: bool) -> None:
        """A session was closed by the parent, after everything that it ran has ended."""
        session, herd = self._open.pop(pid, (None, None))
        if session is None or herd is None:
            return
        session.closed, session.closing, session.wrote = at, place, wrote
        herd.alive -= 1
        if not herd.alive and self._waiting.pop(id(herd), None) is not None:
            self._resolve(herd)

    def forget(self, pid: int) -> None:
        """The parent logs its command itself, so that its session is not needed."""
        session, herd = self._open.pop(pid, (None, None))
        if session is None or herd is None:
            return
        herd.sessions.remove(session)
        herd.alive -= 1
        if not herd.sessions and not herd.starts:
            self._gathering = {user: each for user, each in self._gathering.items() if each is not herd}
        if not herd.alive and self._waiting.pop(id(herd), None) is not None:
            self._resolve(herd)

    def forget_all(self, pids: Sequence[bytes]) -> None:
        """No session is needed for these parents."""
        for pid in {b"%d" % pid for pid in self._open}.intersection(pids):
            self.forget(int(pid))

    def cut(self) -> None:
        """Nothing that runs now will be seen to end."""
        for herd in (*self._waiting.values(), *self._gathering.values()):
            self._resolve(herd)
        for start in self._before or ():
            self._release(start)
        self._gathering.clear()
        self._waiting.clear()
        self._open.clear()

    def _herd(self, user: str, at: float) -> Herd:
        herd = self._gathering.get(user)
        if herd is None or not herd.first - APART <= at <= min(herd.last + APART, herd.first + _ONE_MOMENT):
            if herd is not None:
                self._seal(herd)
            herd = self._gathering[user] = Herd(first=at, last=at)
        herd.last = max(herd.last, at)
        return herd

    def _seal(self, herd: Herd) -> None:
        if not herd.alive:
            self._resolve(herd)
            return
        if len(self._waiting) >= _MOST_HERDS:
            self._resolve(self._waiting.pop(next(iter(self._waiting))))
        self._waiting[id(herd)] = herd

    def _resolve(self, herd: Herd) -> None:
        starts = [start for start in herd.starts if not start.done]
        if not herd.sessions:
            for start in starts:
                self._release(start)
        if not starts or not herd.sessions:
            return
        if len(starts) == 1 and len(herd.sessions) == 1:
            self._tell(starts[0], herd.sessions, sure=True)
            return
        sure = len(starts) == len(herd.sessions)
        for start, sessions in self._candidates(herd, starts, sure=sure):
            self._tell(start, sessions, sure=sure)

    def _release(self, start: Started) -> None:
        """No session is its own: its end may still come by text, while it waits for one."""
        start.held = False
        if start.dropped and not start.done:
            start.done = True
            self._found.endless(start)

    def _candidates(self, herd: Herd, starts: list[Started], *, sure: bool) -> list[tuple[Started, list[Session]]]:
        if len(starts) > _LARGEST_HERD or len(herd.sessions) > _LARGEST_HERD:
            return [(start, herd.sessions) for start in starts]
        fits = [[each for each in herd.sessions if self._fits(start, each)] or list(herd.sessions) for start in starts]
        if sure:
            _settle_what_must_be(fits)
        return list(zip(starts, fits, strict=True))

    def _fits(self, start: Started, session: Session) -> bool:
        if not may_be_child(start.pid, session.pid):
            return False
        if self._ordered:
            return session.place < start.place and (session.closed is None or start.place < session.closing)
        return session.opened <= start.at + 1 and (session.closed is None or start.at <= session.closed + 1)

    def _tell(self, start: Started, sessions: list[Session], *, sure: bool) -> None:
        start.done = True
        ends = [session.closed for session in sessions if session.closed is not None]
        complete = len(ends) == len(sessions)
        ending = _WROTE if sessions and all(session.wrote for session in sessions) else NO_ENDING
        if not ends or max(ends) < start.at - _CLOCK_STEP:
            self._found.cut(start)
        elif sure and complete and max(ends) - min(ends) < SAME:
            self._found.ended(start, max(ends), ending, Pairing.GOOD)
        else:
            low = max(0.0, min(ends) - start.at)
            self._found.bounded(start, low, max(ends) - start.at if complete and sure else None, ending)


def _settle_what_must_be(fits: list[list[Session]]) -> None:
    """Takes a session that can only be one command's from all others, until nothing changes."""
    settled: set[int] = set()
    found = True
    while found:
        found = False
        for index, sessions in enumerate(fits):
            if len(sessions) == 1 and index not in settled:
                settled.add(index)
                found = True
                for other in fits:
                    if other is not sessions and sessions[0] in other and len(other) > 1:
                        other.remove(sessions[0])
