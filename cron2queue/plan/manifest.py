"""PLAN.json: what convert read and wrote, so that apply and rollback can tell whether the world is still the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any

from cron2queue.errors import UsageError
from cron2queue.plan.blocks import Block

MANIFEST_NAME = "PLAN.json"
SCHEMA = 1


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return sha256(data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """One line of one crontab and its block. `line` counts in the crontab without any block."""

    name: str
    line: int
    old: str
    new: str | None
    on: str
    shadow: bool = False
    recorded: str | None = None
    """In shadow, the old line started through the recorder, where it is."""
    repaired: bool = False
    """The new line is the old one put right."""
    needs: tuple[str, ...] = ()
    """What must be there before the new line may run, or the old one go: lock files, the plan, the interpreter, units."""
    user: str | None = None
    """Who runs it, and so must be able to read them."""

    def block(self) -> Block:
        """The block as bytes."""
        return Block(
            name=self.name,
            on=date.fromisoformat(self.on),
            old=_bytes(self.old),
            new=None if self.new is None else _bytes(self.new),
            shadow=self.shadow,
            recorded=None if self.recorded is None else _bytes(self.recorded),
            repaired=self.repaired,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One crontab: its state when it was read, and the replacements planned for it.

    `sha256` is that of the live text, `original` that of the same text without any replacement.
    `user` is set for crontabs that only crontab(1) may write. `target` is None for text that came through a
    pipe; a relative one starts at the plan's folder.
    """

    path: str
    dialect: str
    kind: str
    sha256: str
    original: str
    output: str
    target: str | None
    user: str | None = None
    replacements: tuple[Replacement, ...] = ()

    @property
    def repairs(self) -> frozenset[bytes]:
        """The blocks of the lines that this plan puts right: where they stand, the plan was made from the lines before."""
        return frozenset(each.block().content for each in self.replacements if each.repaired)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The whole of PLAN.json. `files` maps written paths to digests; `generated` is the plan as generated.

    `answers` are those that a person gave when asked, by entry and sign.
    """

    tool: str
    on: str
    sources: tuple[Source, ...]
    files: Mapping[str, str]
    generated: Mapping[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    @property
    def plan_id(self) -> str:
        """Eight hex digits that name this state of inputs and replacements."""
        body = json.dumps([asdict(each) for each in self.sources], sort_keys=True)
        return sha256(body.encode()).hexdigest()[:8]

    def to_json(self) -> bytes:
        """The file's content; bytes that are not UTF-8 survive as lone surrogates."""
        body = {"schema": SCHEMA, "plan": self.plan_id, **asdict(self)}
        return (json.dumps(body, indent=1, sort_keys=True) + "\n").encode("ascii")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _source(body: Mapping[str, Any]) -> Source:
    replacements = tuple(Replacement(**{**each, "needs": tuple(each["needs"])}) for each in body["replacements"])
    return Source(**{**body, "replacements": replacements})


def read_manifest(data: bytes, *, place: str) -> Manifest:
    """Parse PLAN.json. Raises UsageError when it is damaged or of another format."""
    remedy = "move it away, then run convert again; the plan and what was applied are known without it"
    try:
        body = json.loads(data)
        if body.pop("schema") != SCHEMA:
            raise UsageError("PLAN.json is of another format", place=place, remedy=remedy)
        body.pop("plan")
        return Manifest(**{**body, "sources": tuple(_source(each) for each in body["sources"])})
    except json.JSONDecodeError as trouble:
        at = f"{place}:{trouble.lineno}:{trouble.colno}"
        raise UsageError(f"PLAN.json is damaged: {trouble.msg}", place=at, remedy=remedy) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UsageError("PLAN.json is damaged: it is not as convert writes it", place=place, remedy=remedy) from None
