"""The command line, run as a person runs it: in this process where that is enough, in a process of its own where not."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from cron2queue.cli.app import main


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str, width: int = 100, cwd: Path | None = None, **environment: str) -> Ran:
    """Run `cron2queue ARGUMENTS` through its own main()."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    status: Any = 0
    with (
        _as_found(cwd),
        mock.patch.dict(os.environ, {"COLUMNS": str(width), **environment}),
        mock.patch.object(sys, "argv", ["cron2queue", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    for stream in (out, err):
        stream.seek(0)
    return Ran(status=int(status or 0), out=out.read(), err=err.read())


@contextlib.contextmanager
def _as_found(cwd: Path | None) -> Iterator[None]:
    handler, folder = signal.getsignal(signal.SIGTERM), Path.cwd()
    try:
        if cwd is not None:
            os.chdir(cwd)
        yield
    finally:
        os.chdir(folder)
        signal.signal(signal.SIGTERM, handler)


def start(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    """Start `cron2queue ARGUMENTS` as a process of its own."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-m", "cron2queue", *arguments], **streams)
