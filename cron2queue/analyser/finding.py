"""What a rule answers: a finding with its place, its certainty and its remedy, or a reason why it could not judge."""

from __future__ import annotations

import hashlib
from datetime import date
from enum import StrEnum

from cron2queue.crontab.lines import EntryId
from cron2queue.record import Record
from cron2queue.text import to_text

__all__ = ["Confidence", "EntryId", "Finding", "NotJudged", "Place", "Severity", "Suppression"]


class Severity(StrEnum):
    """How much it matters: an error is broken now, a warning will hurt, a note is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 is worst, for sorting and for `--fail-on`."""
        return _RANKS[self]


_RANKS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


class Confidence(StrEnum):
    """How it is known.

    proven: follows from the daemon's own rules. measured: from runs in logs. inferred: from the text, by experience.
    declared: a person said so in a comment or an answer.
    """

    PROVEN = "proven"
    MEASURED = "measured"
    INFERRED = "inferred"
    DECLARED = "declared"


class Place(Record):
    """Where: line and columns count from 1, columns in characters; no line means the whole file."""

    path: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)


class Suppression(Record):
    """Why a finding is not counted: a comment above the entry, or the baseline."""

    reason: str
    until: date | None = None
    baseline: bool = False


class Finding(Record):
    """One answer of one rule.

    `message` states what the daemon in use does; `remedy` is what to do about it; `evidence` is one line that tells how
    it is known. All three may quote foreign text: whoever shows them makes them safe and redacts them.
    `detail` tells several findings of one rule at one entry apart, for the fingerprint only. `folds` holds the fingerprints
    of the findings that this one stands for, `related` then the places of all but the first. `moves` holds the schedules
    that the remedy proposes, by entry. `raw` is the line that it quotes, as it was read.
    """

    code: str
    rule: str
    severity: Severity
    confidence: Confidence
    place: Place
    message: str
    remedy: str
    evidence: str = ""
    entry: EntryId | None = None
    raw: bytes | None = None
    related: tuple[Place, ...] = ()
    suppressed: Suppression | None = None
    detail: str = ""
    folds: tuple[str, ...] = ()
    moves: tuple[tuple[EntryId, str], ...] = ()

    @property
    def source_line(self) -> str | None:
        """The line that it quotes, without its end; None where it quotes none."""
        return None if self.raw is None else to_text(self.raw.rstrip(b"\r\n"))

    @property
    def fingerprint(self) -> str:
        """16 hex digits, the same after lines have moved: code and entry, or code, path and text where no entry is."""
        what = self.entry or f"{self.place.path}\0{(self.source_line or '').strip()}"
        return hashlib.sha256(f"{self.code}\0{what}\0{self.detail}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


class NotJudged(Record):
    """A rule could not look; "no finding" must never mean this."""

    code: str
    reason: str
