"""Where the demonstration takes place."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from cron2queue.cli.demonstration.stage import Stage
from cron2queue.errors import UsageError

NARROWEST, WIDEST = 80, 120


def opened(folder: Path | None) -> Stage:
    """A stage in a new folder; an existing one that is not empty is refused, for nothing of yours is overwritten."""
    if folder is None:
        chosen = Path(tempfile.mkdtemp(prefix="cron2queue-demo-"))
    else:
        chosen = folder.absolute()
        if os.path.exists(chosen) and (not os.path.isdir(chosen) or any(chosen.iterdir())):
            raise UsageError(f"{chosen} exists and is not an empty folder", remedy="name a folder that does not exist yet")
        try:
            chosen.mkdir(parents=True, exist_ok=True)
        except FileNotFoundError:  # below /proc, say
            raise UsageError(f"{chosen} cannot be made", remedy="name a folder where folders can be made") from None
    width = min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)
    return Stage(folder=Path(os.path.realpath(chosen)), width=width, color=sys.stdout.isatty())
