"""Sources: what was named on the command line, or this machine's crontabs, read into crontab files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import IO

from cron2queue.cli.reading.choosing import Wanted, choose_dialect, choose_kind
from cron2queue.cli.reading.host import Host, caller, facts_of, own_crontab
from cron2queue.cli.reading.opening import NotRead, Unreadable, read_bytes, read_stream
from cron2queue.cli.reading.parts import FOLDERS, run_parts_folder
from cron2queue.cli.reading.tree import whole_host
from cron2queue.crontab.anacrontab import parse_anacrontab
from cron2queue.crontab.dialect import AUTO, Dialect, dialect_named
from cron2queue.crontab.kinds import Guess, has_entries
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.spool import without_heading
from cron2queue.errors import UsageError
from cron2queue.record import Record

__all__ = ["Sources", "Unreadable", "read"]

Progress = Callable[[int, int], None]
STDIN = "-"
CRONTAB_COMMAND = "crontab -l"
_SPOOLS = ("cron/crontabs", "cron/tabs", "spool/cron")
_DEEPEST = 20


class Sources(Record):
    """The crontabs that were read, what could not be, and what was left out with good reason.

    Left out are files of a folder that hold nothing like an entry. `closed` is this machine's spool where the caller may not
    look into it, and only his own crontab was read.
    """

    files: tuple[CrontabFile, ...]
    unreadable: tuple[Unreadable, ...] = ()
    skipped: tuple[str, ...] = ()
    closed: tuple[Unreadable, ...] = ()


def read(
    sources: Sequence[str],
    *,
    dialect: str = AUTO,
    kind: str = AUTO,
    user: str | None = None,
    root: Path | None = None,
    stdin: IO[bytes] | None = None,
    progress: Progress = lambda done, total: None,
) -> Sources:
    """Read each source: a file, a folder, `-` (standard input) or `crontab -l`; without any, the host's own crontabs.

    `root`: a copied tree of another host, read instead of this machine. What cannot be read is told, never raised.
    `progress` is called with the number of files read so far, and 0: nobody knows how many there are.

    Raises:
        UsageError: an unknown dialect or kind, or a `root` that is no folder.
    """
    if root is not None and not os.path.isdir(root):
        remedy = "name the folder into which the other host's tree was copied"
        raise UsageError(f"{root} is no folder", remedy=remedy, place="--root")
    reader = _Reader(Wanted(dialect=dialect, kind=kind, user=user), Host(root), stdin, progress)
    reader.run(sources)
    return _without_binaries(
        Sources(
            files=tuple(reader.files),
            unreadable=tuple(reader.unreadable),
            skipped=tuple(reader.skipped),
            closed=tuple(reader.closed),
        )
    )


def _without_binaries(sources: Sources) -> Sources:
    """The same, with binary files among what could not be read."""
    found = {file.path: binary for file in sources.files if (binary := _binary(file)) is not None}
    files = tuple(file for file in sources.files if file.path not in found)
    return sources.but(files=files, unreadable=(*sources.unreadable, *found.values()))


def _binary(file: CrontabFile) -> Unreadable | None:
    """A NUL byte and not one entry: no daemon reads a crontab out of that."""
    data = b"" if file.entries else file.to_bytes()
    place = data.find(b"\0")
    if place < 0:
        return None
    line, column = data.count(b"\n", 0, place) + 1, place - data.rfind(b"\n", 0, place)
    reason = f"line {line}, column {column}: a NUL byte, and nowhere an entry: this is no crontab but a binary file"
    return Unreadable(file.path, reason, "name the crontab itself, as text")


class _Reader:
    def __init__(self, wanted: Wanted, host: Host, stdin: IO[bytes] | None, progress: Progress) -> None:
        self.wanted = wanted
        self.progress = progress
        self.host = host
        self.stdin = stdin
        self.files: list[CrontabFile] = []
        self.unreadable: list[Unreadable] = []
        self.skipped: list[str] = []
        self.closed: list[Unreadable] = []
        self.paths: set[Path] = set()
        self.repeated = 0

    def run(self, sources: Sequence[str]) -> None:
        if not sources:
            self._told(str(self.host.top), self._everything)
        for source in sources:
            self._told(source, partial(self._source, source))

    def _told(self, source: str, read: Callable[[], None]) -> None:
        """Read it, and tell what cannot be read; a source that has nothing to read is such a one too."""
        before = len(self.files), len(self.unreadable), self.repeated
        try:
            read()
        except NotRead as failed:
            self.unreadable.append(failed.told)
        if before == (len(self.files), len(self.unreadable), self.repeated):
            remedy = "name a crontab file, or a folder like /etc/cron.d that holds some"
            self.unreadable.append(Unreadable(source, "no crontab was found there", remedy))

    def _source(self, source: str) -> None:
        if source == STDIN:
            self._text(STDIN, read_stream(self.stdin or sys.stdin.buffer))
        elif source == CRONTAB_COMMAND:
            self._own()
        else:
            path = Path(source)
            if os.path.isdir(path):
                self._folder(path)
            else:
                self._file(path)

    # --- what was named -------------------------------------------------------------------------------------------

    def _folder(self, path: Path) -> None:
        """A folder of crontabs: cron.d and run-parts folders by their daemon's rules, any other one with all below it."""
        if path.name in {Path(folder).name for folder in FOLDERS}:
            self._parts(path, self._dialect_of_host())
            return
        for file in _walk(path, self.unreadable):
            try:
                self._file(file, of_folder=True)
            except NotRead as failed:
                self.unreadable.append(failed.told)

    def _file(self, path: Path, *, of_folder: bool = False, target: Path | None = None) -> None:
        """`target` is where its links lead to inside a tree: the daemon goes by the place and the name of the link.

        What was named twice, or by itself and with its folder, is read once: it is no second crontab.
        """
        self.progress(len(self.files), 0)
        if (absolute := _absolute(path)) in self.paths:
            self.repeated += 1
            return
        self.paths.add(absolute)
        target = target or path
        if path.name == "anacrontab":
            self._anacrontab(path, target)
            return
        place = self._place(path)
        data, heading_note = _as_written(read_bytes(target), place)
        if of_folder and place is None and not has_entries(data):
            self.skipped.append(str(path))
            return
        host = self.host if place is not None and self._belongs(path) else None
        dialect, note = choose_dialect(self.wanted, data, host)
        kind, kind_note = choose_kind(self.wanted, data, place, dialect)
        owner = self.wanted.user or (path.name if place is not None and place.value == Kind.USER else None)
        file = parse(
            data, path=str(path), dialect=dialect, kind=kind, user=owner if kind is Kind.USER else None,
            users=host.users if host else None, homes=host.homes if host else None,
        )  # fmt: skip
        file = _noted(file, note, kind_note, heading_note).but(host=self.host.name)
        refused = self._refused(path, target, dialect, place, owner)
        self.files.append(file.but(loaded=False, why=refused) if refused else file)

    def _belongs(self, path: Path) -> bool:
        """Whether the daemon of the host reads this very file."""
        return str(_absolute(path)).startswith(self._own_folders)

    @cached_property
    def _own_folders(self) -> tuple[str, ...]:
        return tuple(f"{_absolute(self.host.top / folder)}/" for folder in ("etc", "var", "usr/local/etc"))

    def _place(self, path: Path) -> Guess | None:
        """The kind that the place gives; a name alone gives none."""
        absolute = _absolute(path)
        if absolute.parent.name == "cron.d" or absolute == _absolute(self.host.top / "etc/crontab"):
            return Guess(Kind.SYSTEM, f"it is {absolute}")
        if str(absolute.parent).endswith(_SPOOLS):
            return Guess(Kind.USER, f"it lies in the spool {absolute.parent}")
        return None

    def _text(self, name: str, data: bytes) -> None:
        dialect, note = choose_dialect(self.wanted, data, None)
        kind, kind_note = choose_kind(self.wanted, data, None, dialect)
        user = self.wanted.user if kind is Kind.USER else None
        file = parse(data, path=name, dialect=dialect, kind=kind, user=user)
        self.files.append(_noted(file, note, kind_note))

    def _refused(self, path: Path, target: Path, dialect: Dialect, place: Guess | None, user: str | None) -> str | None:
        """Why the daemon does not read the file at all: its name, owner or mode."""
        if place is None:
            return None
        named = dialect.ignores_name(path.name) if path.parent.name == "cron.d" or place.value == Kind.USER else None
        if named and (place.value == Kind.SYSTEM or dialect.name == "busybox"):
            return named
        facts = facts_of(path, target)
        if facts is None or not self._owners_tell(path):
            return None
        if place.value == Kind.SYSTEM:
            return dialect.refuses_system_file(facts)
        owner = self.host.user_id(user) if user else None
        if owner is None and self.host.live and self._belongs(path):
            return "ORPHAN (no passwd entry)"
        return dialect.refuses_user_file(facts, owner)

    def _owners_tell(self, path: Path) -> bool:
        """Owners and modes count where they are the host's own, not the copier's."""
        if self._belongs(path):
            return self.host.owners_tell
        try:
            return path.parent.stat().st_uid == 0
        except OSError:
            return False

    # --- everything of a host -------------------------------------------------------------------------------------

    def _everything(self) -> None:
        dialect = self._dialect_of_host()
        if dialect.system_crontab:
            self._existing(dialect.system_crontab)
        for folder in dialect.system_folders:
            self._every_file(folder)
        self._spool(dialect)
        self._existing("etc/anacrontab")
        for folder in FOLDERS:
            self._parts(self.host.path(folder), dialect)

    def _dialect_of_host(self) -> Dialect:
        if self.wanted.dialect != AUTO:
            return dialect_named(self.wanted.dialect)
        guess = self.host.daemon()
        return dialect_named(guess.value if guess else "debian")

    def _existing(self, relative: str) -> None:
        """Read it if it is there."""
        try:
            path = self.host.top / relative
            if os.path.lexists(path):
                self._file(path, target=self.host.path(relative))
        except NotRead as failed:
            self.unreadable.append(failed.told)

    def _every_file(self, relative: str) -> None:
        folder = self.host.path(relative)
        for name in _names(folder, self.unreadable):
            if not name.startswith("."):
                self._existing(f"{relative}/{name}")

    def _spool(self, dialect: Dialect) -> None:
        """The users' crontabs, or at least the caller's own where the spool is closed to him."""
        for relative in dialect.spool:
            folder = self.host.path(relative)
            if not os.path.isdir(folder):
                continue
            refused: list[Unreadable] = []
            for name in _names(folder, refused):
                if not name.startswith((".", "tmp.")) and not os.path.isdir(folder / name):
                    self._existing(f"{relative}/{name}")
            if refused and self.host.live:
                self._own()
                self.closed.extend(refused)
            else:
                self.unreadable.extend(refused)
            return

    def _own(self) -> None:
        data = own_crontab()
        if data is None:
            return
        dialect, note = choose_dialect(self.wanted, data, self.host)
        user = self.wanted.user or caller()
        file = parse(data, path=CRONTAB_COMMAND, dialect=dialect, kind=Kind.USER, user=user, homes=self.host.homes)
        self.files.append(_noted(file, note, None))

    def _anacrontab(self, path: Path, target: Path) -> None:
        self.files.append(parse_anacrontab(read_bytes(target), path=str(path), dialect=self._dialect_of_host().name))

    def _parts(self, path: Path, dialect: Dialect) -> None:
        folder = run_parts_folder(path, self.host.own_path(path), dialect, self.files)
        if folder is not None and folder.lines:
            self.files.append(folder.but(host=self.host.name))


def _noted(file: CrontabFile, *notes: str | None) -> CrontabFile:
    return file.but(notes=(*(note for note in notes if note), *file.notes))


def _as_written(data: bytes, place: Guess | None) -> tuple[bytes, str | None]:
    """A crontab of the spool without the lines of crontab(1), and the note that says so: lines count as its user sees them."""
    written = without_heading(data) if place is not None and place.value == Kind.USER else data
    return written, None if written is data else "lines are counted as crontab -e shows them: the spool has three more above"


def _absolute(path: Path) -> Path:
    """The path from the root on, its links as they are."""
    return Path(os.path.normpath(path.absolute()))


def _names(folder: Path, unreadable: list[Unreadable]) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        remedy = "run as root, or name the files"
        unreadable.append(Unreadable(str(folder), os.strerror(error.errno or 0), remedy))
        return []


def _walk(folder: Path, unreadable: list[Unreadable], depth: int = 0) -> Iterator[Path]:
    """All files below, without hidden ones and editors' backups; links to folders are not followed."""
    if (tree := whole_host(folder)) is not None:
        unreadable.append(tree)
        return
    for name in _names(folder, unreadable):
        path = folder / name
        if name.startswith(".") or name.endswith("~"):
            continue
        if os.path.isdir(path):
            if not os.path.islink(path) and depth < _DEEPEST:
                yield from _walk(path, unreadable, depth + 1)
        else:
            yield path
