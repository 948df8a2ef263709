"""The journal: what was about to be done to which crontab, and what was done; written before and after, on disk at once.

One JSON object a line. A step that has no end was interrupted: the live crontab itself tells then whether it happened,
since it is always the old text or the new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cron2queue.errors import UsageError
from cron2queue.plan.blocks import found_blocks
from cron2queue.plan.manifest import digest

if TYPE_CHECKING:
    from cron2queue.plan.folder import Folder

JOURNAL = "cutover/journal.jsonl"
PRIVATE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of one live crontab.

    `kind`: apply or rollback. `state`: begun, done or void. `before`, `after`: digests of the live text. `backup`, `result`:
    the files that hold the text before and after (earlier releases kept no result). `blocks`: the replaced entries that stand
    in the new text, by name, as bytes were put there (lone surrogates for bytes that are not UTF-8).
    """

    number: int
    kind: str
    state: str
    target: str
    at: str
    before: str
    after: str
    backup: str
    result: str = ""
    blocks: Mapping[str, str] = field(default_factory=dict)

    def ended(self, state: str) -> Step:
        """The same step with its end."""
        return replace(self, state=state)


def _parsed(line: bytes, place: str) -> Step:
    try:
        return Step(**json.loads(line))
    except (ValueError, TypeError):
        remedy = "take the line away: the crontabs before each step lie beside the file"
        raise UsageError("the journal is damaged: this line is no step", place=place, remedy=remedy) from None


class Journal:
    """The journal of one plan's folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.folder = folder.path
        self.place = str(folder.path / JOURNAL)

    def steps(self) -> list[Step]:
        """The steps in their order, each in its last state."""
        data = self._folder.read(JOURNAL) or b""
        latest: dict[int, Step] = {}
        for number, line in enumerate(data.split(b"\n"), start=1):
            if line.strip():
                step = _parsed(line, f"{self.place}:{number}")
                latest[step.number] = step
        return [latest[number] for number in sorted(latest)]

    def record(self, step: Step) -> Step:
        """Add a state of a step; on return it is on disk. The file is replaced whole, so that no line is ever torn."""
        before = self._folder.read(JOURNAL) or b""
        line = (json.dumps(asdict(step), sort_keys=True) + "\n").encode("ascii")
        self._folder.write(JOURNAL, before + line, PRIVATE, durable=True)
        return step

    def keep(self, name: str, data: bytes) -> str:
        """Keep a text; the name below the folder."""
        name = f"cutover/{name}"
        self._folder.write(name, data, PRIVATE, durable=True)
        return name

    def backup(self, step: Step) -> bytes:
        """The text before a step. Raises UsageError when the file is gone or was changed."""
        data = self._kept(step.backup, step.before)
        if data is None:
            remedy = "restore it from a backup of the folder, or put the old lines back by hand"
            raise UsageError("the backup is missing or was changed", remedy=remedy, place=str(self._folder.path / step.backup))
        return data

    def result(self, step: Step) -> bytes | None:
        """The text after a step; None when the file is gone or was changed."""
        return self._kept(step.result, step.after) if step.result else None

    def _kept(self, name: str, sha256: str) -> bytes | None:
        data = self._folder.read(name)
        return data if data is not None and digest(data) == sha256 else None

    def settle(self, target: str, live: bytes) -> list[Step]:
        """The steps of one crontab, after every interrupted one was told from the live text: done, or void."""
        own = [step for step in self.steps() if step.target == target]
        for step in own:
            if step.state == "begun":
                self.record(step.ended("done" if _happened(step, live) else "void"))
        return [step for step in self.steps() if step.target == target]


def _happened(step: Step, live: bytes) -> bool:
    """Whether the live text shows that an interrupted step took place."""
    if digest(live) in (step.before, step.after):
        return digest(live) == step.after
    # Edited since: the blocks that stand tell it.
    return {block.name for block in found_blocks(live)} == set(step.blocks)


def standing(steps: Iterable[Step]) -> list[Step]:
    """The applied steps that no complete rollback has taken back, in their order."""
    found: list[Step] = []
    for step in steps:
        if step.state != "done":
            continue
        if step.kind == "rollback" and not step.blocks:
            found = []
        else:
            found.append(step)
    return found


def next_number(steps: Iterable[Step]) -> int:
    """The number of the next step."""
    return max((step.number for step in steps), default=0) + 1


def as_json(blocks: Mapping[str, bytes]) -> dict[str, Any]:
    """Blocks as the journal keeps them."""
    return {name: content.decode("utf-8", "surrogateescape") for name, content in blocks.items()}
