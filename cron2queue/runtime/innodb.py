"""What MySQL and MariaDB have in common beyond locks that can be skipped: how their optimizer is brought to read a range."""

from typing import ClassVar

from cron2queue.runtime.backend import Row
from cron2queue.runtime.skip_locked import SkipLockedBackend


class InnodbBackend(SkipLockedBackend):
    """Both compare rows of values without an index, and prefer a look-up by equality to a range of more columns.

    Left alone, they read over all dead entries before the mark; so the mark is spelt out and the index is named.
    """

    behind_mark: ClassVar[str] = "(priority > ? OR (priority = ? AND id > ?))"
    marked_table: ClassVar[str] = "{jobs} FORCE INDEX ({jobs}_claim)"

    def mark_parameters(self, after: tuple[int, int] | None) -> Row:
        """The priority twice, as it is spelt out."""
        return () if after is None else (after[0], *after)
