"""Standard streams that whoever started this process has closed."""

import os
import sys


def open_closed_streams() -> None:
    """Lead those of descriptors 0 to 2 that are closed to /dev/null.

    Otherwise the next file to be opened, a lock or a connection, takes the number, and is written to by whoever prints.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as long as this process
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
