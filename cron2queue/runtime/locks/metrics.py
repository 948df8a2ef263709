"""How often locks were found held, as Prometheus text for node_exporter's textfile collector."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from cron2queue.errors import InputError, remedy_of
from cron2queue.runtime.locks.locking import Skips, skips_in
from cron2queue.runtime.metrics import exposition
from cron2queue.runtime.metrics.exposition import Family, Sample

_FAMILIES: tuple[tuple[str, Literal["counter", "gauge"], str, str], ...] = (
    ("cron2queue_lock_skips_total", "counter", "Runs that did not happen because the lock was held.", "total"),
    ("cron2queue_lock_skips_in_a_row", "gauge", "How many of them since the last run that did happen.", "in_a_row"),
    ("cron2queue_lock_last_skip_timestamp_seconds", "gauge", "When the lock was last found held.", "last"),
)


def families(skips: Mapping[str, Skips]) -> Iterator[Family]:
    """The counts of all locks."""
    for name, kind, help_text, field in _FAMILIES:
        samples = (Sample(labels={"lock": lock}, value=getattr(counted, field)) for lock, counted in sorted(skips.items()))
        yield Family(name=name, type=kind, help=help_text, samples=tuple(samples))


def write_textfile(path: Path, folder: Path) -> None:
    """Write the counts of a lock folder; a reader sees the old text or the new one. Raises InputError."""
    try:
        exposition.write_textfile(path, exposition.render(families(skips_in(folder))))
    except OSError as trouble:
        remedy = remedy_of(trouble, "name a file in a folder that is there and that you may write to")
        raise InputError(f"the metrics cannot be written: {trouble.strerror}", place=str(path), remedy=remedy) from None
