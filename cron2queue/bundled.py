"""Where the bundled `templates/` and `examples/` lie: inside an installed wheel, or beside the package in a checkout."""

import os
from pathlib import Path

_PACKAGE = Path(os.path.realpath(__file__)).parent


def data_root(name: str) -> Path:
    """The folder `templates` or `examples`; raises FileNotFoundError when an installation lacks it."""
    for candidate in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if os.path.isdir(candidate):
            return candidate
    raise FileNotFoundError(f"cron2queue was installed without its {name}/ folder; install it again")
