"""`--ask`: the questions that only a person can answer, asked on a terminal, one at a time."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, TextIO

from cron2queue.errors import UsageError
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.declarations import Declarations
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import EntryId

_YES, _NO, _STOP = ("y", "yes"), ("n", "no"), ("q", "quit")


def need_terminal(stdin: TextIO) -> None:
    """Questions need somebody to answer them.

    Raises:
        UsageError: standard input is no terminal.
    """
    if not stdin.isatty():
        remedy = "answer in comments above the entry: # cron2queue: lost-on-failure=yes"
        raise UsageError("there is nobody to ask: standard input is not a terminal", remedy=remedy, place="--ask")


def ask(audit: Audit, stdin: TextIO | None = None, stderr: TextIO | None = None) -> dict[EntryId, Declarations]:
    """Answers by entry, as declarations; an empty answer leaves the question open, `q` or the end leaves all others so."""
    from cron2queue.analyser.declarations import Declarations

    source, sink = stdin or sys.stdin, stderr or sys.stderr
    answers: dict[EntryId, Declarations] = {}
    for verdict in audit.verdicts:
        said: dict[str, bool] = {}
        for key, question in _open(verdict):
            word = _answer(f"{shown(verdict.name)}, line {verdict.entry.number}: {question}", source, sink)
            if word in _STOP:
                return answers
            if word:
                said[key] = word in _YES
                answers[verdict.entry_id] = Declarations(**said)  # type: ignore[arg-type]
    return answers


def _answer(question: str, source: TextIO, sink: TextIO) -> str:
    """One of the words that can be answered, or "" for an empty answer; anything else is asked again."""
    while True:
        print(f"{question} [y/n, Enter: not known, q: stop] ", end="", file=sink)
        sink.flush()
        line = source.readline()
        word = line.strip().lower() if line else _STOP[0]
        if not word or word in _YES + _NO + _STOP:
            return word


def _open(verdict: Verdict) -> list[tuple[str, str]]:
    """Questions as (field of Declarations, words); they are written `lost-on-failure: is work lost ...?`"""
    from cron2queue.analyser.declarations import Declarations

    known = {field.name for field in fields(Declarations)}
    split = (question.partition(": ") for question in verdict.questions)
    return [(key.replace("-", "_"), shown(words)) for key, _, words in split if key.replace("-", "_") in known]
