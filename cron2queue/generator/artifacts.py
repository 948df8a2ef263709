"""What convert writes: rendered as a whole first, compared with what lies there, and only then written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from cron2queue.plan.folder import Folder

PRIVATE = 0o600
SHARED = 0o644
PROGRAM = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One file to be written below the plan's folder.

    `merged` says that the content already holds the edits made by hand, so that it may replace an edited file.
    """

    path: str
    content: bytes
    mode: int = SHARED
    merged: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hex."""
        return sha256(self.content).hexdigest()


class Fate(StrEnum):
    """What happens to the file of an artifact."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    KEPT = "kept"
    """Edited by hand: the file stays, and the new version is laid beside it as NAME.new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One artifact and what happens to it; `path` is where its content goes."""

    artifact: Artifact
    fate: Fate
    path: str


def _fate(artifact: Artifact, there: bytes | None, written: str | None) -> Fate:
    if there is None:
        return Fate.NEW
    if there == artifact.content:
        return Fate.SAME
    if artifact.merged or sha256(there).hexdigest() == written:
        return Fate.CHANGED
    # Edited since. When the new version is the one that was laid out before, there is nothing new to say.
    return Fate.SAME if written == artifact.digest else Fate.KEPT


def compare(artifacts: Iterable[Artifact], folder: Folder | None, written: Mapping[str, str]) -> list[Change]:
    """What writing would do. `written` maps paths to the SHA-256 of what was generated there last time."""
    changes = []
    for artifact in artifacts:
        there = folder.read(artifact.path) if folder else None
        fate = _fate(artifact, there, written.get(artifact.path))
        path = f"{artifact.path}.new" if fate is Fate.KEPT else artifact.path
        changes.append(Change(artifact=artifact, fate=fate, path=path))
    return changes


def write(changes: Sequence[Change], folder: Folder) -> None:
    """Write what is new or changed; modes are set whatever the umask says."""
    for change in changes:
        if change.fate is not Fate.SAME:
            folder.write(change.path, change.artifact.content, change.artifact.mode)


def left_over(changes: Sequence[Change], written: Mapping[str, str]) -> list[str]:
    """Files that an earlier run generated and this one does not; they are named, never deleted."""
    return sorted(set(written) - {change.artifact.path for change in changes})
