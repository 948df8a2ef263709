"""How often locks were found held, as Prometheus text for node_exporter's textfile collector."""

import os
from collections.abc import Mapping
from pathlib import Path

from cron2queue.errors import InputError
from cron2queue.runtime.locks.locking import Skips, skips_in

_FAMILIES = (
    ("cron2queue_lock_skips_total", "counter", "Runs that did not happen because the lock was held.", "total"),
    ("cron2queue_lock_skips_in_a_row", "gauge", "How many of them since the last run that did happen.", "in_a_row"),
    ("cron2queue_lock_last_skip_timestamp_seconds", "gauge", "When the lock was last found held.", "last"),
)


def exposition(skips: Mapping[str, Skips]) -> str:
    """The counts of all locks; a lock's name needs no quoting (see locking.checked_name)."""
    lines: list[str] = []
    for name, kind, help_text, field in _FAMILIES:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
        lines += [f'{name}{{lock="{lock}"}} {getattr(counted, field)}' for lock, counted in sorted(skips.items())]
    return "\n".join(lines) + "\n"


def write_textfile(path: Path, folder: Path) -> None:
    """Write the counts of a lock folder; a reader sees the old text or the new one. Raises InputError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(exposition(skips_in(folder)), encoding="ascii")
        beside.chmod(0o644)
        beside.replace(path)
    except OSError as trouble:
        remedy = "name a file in a folder that is there and that you may write to"
        raise InputError(f"the metrics cannot be written: {trouble.strerror}", place=str(path), remedy=remedy) from None
