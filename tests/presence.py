"""What a test needs from this machine: what is not there is skipped at home, and is a failure in CI, which brings it."""

import os
import shutil
from typing import NoReturn

import pytest


def absent(reason: str) -> NoReturn:
    """Give up the test: skipped with its reason at home, failed in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"CI is set, and this is not here: {reason}", pytrace=False)
    pytest.skip(reason)


def need_program(*names: str) -> str:
    """The path of the first of these programs that is installed; without any, the test is given up."""
    for name in names:
        if found := shutil.which(name):
            return found
    absent(f"{' or '.join(names)} is not installed")


def need_root(why: str) -> None:
    """Give up the test unless it runs as root, as it does in CI."""
    if os.geteuid() != 0:
        absent(f"only root {why}")
