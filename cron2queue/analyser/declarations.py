"""What a person says in comments above an entry: `# cron2queue: takes=20m lost-on-failure=yes`."""

from __future__ import annotations

from cron2queue.record import Record


class Declarations(Record):
    """Declared facts of one entry; None where nothing was said. `takes` is in seconds.

    `window` is the set of minutes of the day, as bits, in which alone it may start.
    """

    takes: float | None = None
    lost_on_failure: bool | None = None
    user_waits: bool | None = None
    mostly_empty: bool | None = None
    overlap_hurts: bool | None = None
    name: str | None = None
    window: int | None = None


NOTHING_DECLARED = Declarations()
