"""Where the bundled `templates/` and `examples/` lie: inside an installed wheel, or beside the package in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_root(name: str) -> Path:
    """The folder `templates` or `examples`; raises FileNotFoundError when an installation lacks it."""
    for candidate in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"cron2queue was installed without its {name}/ folder; install it again")
