"""Queues by character: what a job is like decides with whom it waits, how many run at once, and how often it is tried."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Answer
from cron2queue.runtime.settings import Retry, RetryRule

if TYPE_CHECKING:
    from cron2queue.analyser.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """One kind of queue. `age_limit` in seconds; `memory_limit` in bytes; `why` explains the concurrency."""

    queue: str
    words: str
    concurrency: int
    age_limit: int
    priority: int
    max_attempts: int
    retry: RetryRule
    why: str
    memory_limit: int | None = None


_SOON: RetryRule = (10, 30, 120, 600, 3600)

MAIL = Character(
    queue="mail",
    words=r"e?mails?|mailer|newsletters?|smtp|sms|notif(?:y|ications?)|push",
    concurrency=2,
    age_limit=600,
    priority=100,
    max_attempts=5,
    retry=_SOON,
    why="waits for a mail server most of the time; raise it only while that server keeps up",
)
MEDIA = Character(
    queue="media",
    words=r"images?|thumb(?:nail)?s?|videos?|pdfs?|resize|ffmpeg|convert|media|photos?|documents?|render",
    concurrency=1,
    age_limit=3600,
    priority=150,
    max_attempts=3,
    retry=Retry.EXPONENTIAL,
    why="needs processor and memory: never more than the cores, and watch the memory",
    memory_limit=1024 * 1024 * 1024,
)
IMPORTS = Character(
    queue="imports",
    words=r"imports?|sync|fetch|feeds?|pull|ingest|edi|ftp|sftp|crawl|download|stock|index(?:er)?|reindex",
    concurrency=1,
    age_limit=1800,
    priority=100,
    max_attempts=5,
    retry=_SOON,
    why="heavy on the database: one or two at a time",
)
REPORTS = Character(
    queue="reports",
    words=r"reports?|stat(?:s|istics?)|analytics|summar(?:y|ies)|invoices?|billing|exports?|backups?|dump|mysqldump|pg_dump",
    concurrency=1,
    age_limit=7200,
    priority=200,
    max_attempts=3,
    retry=Retry.EXPONENTIAL,
    why="long and patient: one at a time leaves the database to the others",
)
CRITICAL = Character(
    queue="critical",
    words=r"",
    concurrency=2,
    age_limit=300,
    priority=10,
    max_attempts=8,
    retry=Retry.EXPONENTIAL,
    why="a person waits for it, or its work is lost when it fails: kept apart from everything slow",
)
DEFAULT = Character(
    queue="default",
    words=r"",
    concurrency=1,
    age_limit=900,
    priority=100,
    max_attempts=3,
    retry=_SOON,
    why="starts small; raise it when the oldest job waits too long and the database is idle",
)

BY_WORDS = (MAIL, MEDIA, IMPORTS, REPORTS)
ALL = (CRITICAL, DEFAULT, *BY_WORDS)


def _mentions(character: Character, words: frozenset[str]) -> bool:
    return any(re.fullmatch(character.words, word) for word in words)


def _by_words(text: str) -> Character | None:
    words = frozenset(re.split(r"[^a-z0-9]+", text.lower()))
    return next((each for each in BY_WORDS if _mentions(each, words)), None)


def character(verdict: Verdict) -> Character:
    """The character of an entry: someone waits, then what its name says, then what its command says, then lost work."""
    if verdict.signs.user_waits.answer is Answer.YES:
        return CRITICAL
    named = _by_words(verdict.name) or _by_words(verdict.entry.command)
    if named is not None:
        return named
    return CRITICAL if verdict.signs.lost_on_failure.answer is Answer.YES else DEFAULT
