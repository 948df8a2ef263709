"""Which entry a run belongs to: by user and command, as the daemon logs them.

Daemons do not log a command as it is written: Debian and cronie stop at the first unescaped percent sign, write `\\%` as
`%`, show control characters as `^I` and bytes above 127 in octal, and syslog cuts long lines. So both sides are brought
into one form first. Lines that look the same in the log share their evidence, and say so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cron2queue.crontab.lines import CrontabFile, Entry, EntryId, EntryPlace, place_of
from cron2queue.evidence.log_format import CUT_USER, Subject
from cron2queue.evidence.observations import digest_of
from cron2queue.evidence.wrapping import unwrapped
from cron2queue.text import to_bytes, to_text

_SHORTEST_PREFIX = 30  # a shorter beginning of a command could be anybody's
_MOST_REMEMBERED = 4_000
_MOST_LISTED = 1_000
_ANACRON_FIELDS = 3  # period, delay and name of the job

_PRINTED = {code: chr(code) for code in range(32, 127)}
_PRINTED |= {code: f"^{chr(code + 64)}" for code in range(32)} | {127: "^?"}
_PRINTED |= {code: f"\\{code:03o}" for code in range(128, 256)}


def printed(command: str) -> str:
    """The command as mkprint() of Debian and cronie shows it, without blanks at its ends."""
    command = command.strip(" ")
    if command.isascii() and command.isprintable():
        return command
    return "".join(_PRINTED[byte] for byte in to_bytes(command))


_BACKGROUND = re.compile(r"(?<![&>])&[ \t]{0,20}(?:disown[ \t;]{0,20})?\)?\Z")


def leaves_work_behind(command: str) -> bool:
    """Whether the command ends by putting its work into the background: cron then sees the end of the shell alone."""
    return _BACKGROUND.search(command.rstrip()[-100:]) is not None


def _one_spaced(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry with its id."""

    id: EntryId
    entry: Entry
    file: CrontabFile


def listed(files: Sequence[CrontabFile], ids: Mapping[EntryPlace, EntryId]) -> tuple[Listed, ...]:
    """All entries of all files that the daemon loads, in reading order."""
    return tuple(
        Listed(id=ids[place_of(file.path, entry)], entry=entry, file=file)
        for file in files
        if file.loaded
        for entry in file.entries
    )


class Index:
    """Finds the entries of a subject; remembers each answer."""

    def __init__(self, entries: Sequence[Listed]) -> None:
        self._by_command: dict[str, list[tuple[str | None, EntryId]]] = {}
        self._by_line: dict[str, list[EntryId]] = {}
        self._by_digest: dict[str, list[EntryId]] = {}
        self._known: dict[Subject, tuple[EntryId, ...]] = {}
        self._by_id = frozenset(each.id for each in entries)
        self._behind = frozenset(each.id for each in entries if leaves_work_behind(each.entry.command))
        self._unmailed = frozenset(each.id for each in entries if each.entry.environment.get("MAILTO") == "")
        for each in entries:
            for form in dict.fromkeys(_forms(each.entry)):
                self._by_command.setdefault(form, []).append((each.entry.user, each.id))
            for digest in {digest_of(text) for text in (each.entry.command, unwrapped(each.entry.command)) if text}:
                self._by_digest.setdefault(digest, []).append(each.id)
            if not each.file.editable and len(each.entry.fields) == _ANACRON_FIELDS:
                self._by_line.setdefault(f"anacron:{each.entry.fields[2]}", []).append(each.id)
            for line in dict.fromkeys(_lines(each.entry)):
                self._by_line.setdefault(line, []).append(each.id)

    def has(self, entry: EntryId) -> bool:
        """Whether there is an entry of this id."""
        return entry in self._by_id

    def leaves_work_behind(self, entries: Iterable[EntryId]) -> bool:
        """Whether the end of one of these is not the end of its work."""
        return not self._behind.isdisjoint(entries)

    def mails(self, entries: Iterable[EntryId]) -> bool:
        """Whether the output of all of these is meant for a mail, so that the daemon says what it could not send."""
        return self._unmailed.isdisjoint(entries)

    def of(self, subject: Subject) -> tuple[EntryId, ...]:
        """The entries that this subject can be: none, one, or several that look the same."""
        known = self._known.get(subject)
        if known is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            known = self._known[subject] = self._find(subject)
        return known

    def _find(self, subject: Subject) -> tuple[EntryId, ...]:
        hint = subject.hint or ""
        if hint in self._by_id:
            return (hint,)
        if hint.startswith("digest:"):
            return tuple(self._by_digest.get(hint[7:], ()))
        if hint.startswith("line:"):
            return tuple(self._by_line.get(_one_spaced(hint[5:]), ()))
        if hint.startswith("anacron:"):
            return tuple(self._by_line.get(hint, ()))
        command = printed(subject.command)
        pairs = self._by_command.get(command, ())
        if hint == CUT_USER and all(owner != subject.user for owner, _ in pairs):
            return self._of_user([(owner and owner[: len(subject.user)], each) for owner, each in pairs], subject.user)
        found = self._of_user(pairs, subject.user)
        if found or not subject.cut or len(command) < _SHORTEST_PREFIX:
            return found
        similar = [pair for form, pairs in self._by_command.items() if form.startswith(command) for pair in pairs]
        return self._of_user(similar, subject.user)

    @staticmethod
    def _of_user(pairs: Sequence[tuple[str | None, EntryId]], user: str) -> tuple[EntryId, ...]:
        """Those of this user; an entry without a known user, or a source that names none, fits any."""
        own = [each for owner, each in pairs if owner == user or not user]
        return tuple(dict.fromkeys(own or [each for owner, each in pairs if owner is None]))


def _forms(entry: Entry) -> Iterator[str]:
    """The ways in which daemons show this entry's command."""
    yield printed(entry.command)
    before = _before_percent(entry.command_text)
    yield printed(before)
    yield printed(before.replace("\\\\", "\\"))  # FreeBSD takes a backslash before another away, too
    inner = unwrapped(entry.command)
    if inner is not None:
        yield printed(inner)


def _before_percent(text: str) -> str:
    kept: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "%":
            break
        if character == "\\" and text[position + 1 : position + 2] == "%":
            position, character = position + 1, "%"
        kept.append(character)
        position += 1
    return "".join(kept)


def _lines(entry: Entry) -> Iterator[str]:
    """The ways in which systemd-cron shows the line in a unit's description."""
    yield _one_spaced(to_text(entry.raw))
    yield _one_spaced(f"{entry.schedule_text} {entry.command_text}")
    yield _one_spaced(f"{entry.schedule_text} {entry.command}")


class Strangers:
    """Counts what no entry accounts for; at most a thousand different subjects are named."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], float] = {}
        self.total = 0

    def add(self, subject: Subject, at: float, count: int = 1) -> None:
        """Runs of nobody's, the last of them then."""
        self.total += count
        if (subject.hint or "").startswith("anacron:"):
            return  # scheduled in an /etc/anacrontab that was not given
        who = (subject.user, subject.command)
        if who in self._counts or len(self._counts) < _MOST_LISTED:
            self._counts[who] += count
            self._last[who] = at

    def named(self, edited: Callable[[str], float]) -> tuple[tuple[str, str, int], ...]:
        """User, command and count, most frequent first, without those that ended with an edit of their crontab."""
        return tuple(
            (user, command, count)
            for (user, command), count in self._counts.most_common()
            if self._last[user, command] > edited(user)
        )
