"""A plan's folder for a small crontab, made without a conversion."""

import fcntl
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from presence import absent, need_program, need_root

from cron2queue.cutover.live import UserCrontab
from cron2queue.plan.folder import Folder
from cron2queue.plan.manifest import Manifest, Replacement, Source, digest

ORIGINAL = b"""# the shop
SHELL=/bin/sh
*/5 * * * * root /bin/import --all
0 1 * * * root /bin/report
# end
30 2 * * * root /bin/old
"""
RUNNER = """
import sys
from pathlib import Path
from cron2queue.cli import switching
from cron2queue.cli.trouble import exit_status_of
verb, folder, only = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
more = {} if verb == "diff" else {"yes": True}
try:
    sys.exit(getattr(switching, f"perform_{verb}")(folder, only, **more))
except BaseException as trouble:
    sys.exit(exit_status_of(trouble))
"""
LINES = {
    "import": (3, "*/5 * * * * root /bin/new-import\n"),
    "report": (4, "0 1 * * * root /bin/new-report\n"),
    "old": (6, None),
}


@dataclass(kw_only=True)
class Case:
    """One crontab and the folder that would change it."""

    folder: Path
    crontab: Path
    needs: tuple[str, ...] = ()
    user: str | None = None
    runs_as: str | None = None
    original: bytes = ORIGINAL

    def plan(self, leave: tuple[str, ...] = ()) -> None:
        lines = self.original.decode("utf-8", "surrogateescape").splitlines(keepends=True)
        common = {"on": "2026-12-01", "needs": self.needs, "user": self.runs_as}
        replacements = tuple(
            Replacement(**common, name=name, line=number, old=lines[number - 1], new=new)
            for name, (number, new) in LINES.items()
            if name not in leave
        )
        source = Source(
            path=str(self.crontab),
            dialect="debian",
            kind="user" if self.user else "system",
            sha256=digest(self.original),
            original=digest(self.original),
            output="crontab.new",
            target=str(self.crontab),
            user=self.user,
            replacements=replacements,
        )
        manifest = Manifest(tool="0", on="2026-12-01", sources=(source,), files={}, refused={"odd": "it cannot be done"})
        with Folder.open(self.folder, create=True) as folder:
            folder.write("PLAN.json", manifest.to_json(), 0o600)

    def run(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        """The real command, in a process of its own; `diff` prints, the others never ask."""
        return subprocess.run(
            [sys.executable, "-c", RUNNER, verb, str(self.folder), *words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    def live(self) -> bytes:
        return self.crontab.read_bytes()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="c2q-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    made = Case(folder=tmp_path / "c2q", crontab=tmp_path / "crontab")
    made.crontab.write_bytes(made.original)
    made.plan()
    return made


USERS = ("games", "news", "uucp", "list")


def _is_free(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return subprocess.run(["crontab", "-u", name, "-l"], capture_output=True, check=False).returncode != 0


@contextmanager
def _free_user() -> Iterator[str | None]:
    """A user without a crontab whom no test of another process has either."""
    for name in USERS:
        with (Path(tempfile.gettempdir()) / f"c2q-test-crontab-of-{name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if _is_free(name):
                yield name
                return
    yield None


@pytest.fixture
def user() -> Iterator[UserCrontab]:
    """The real crontab of a user who has none, through crontab(1); it is gone again afterwards."""
    need_program("crontab")
    need_root("may use the crontab of another user")
    with _free_user() as name:
        if name is None:
            absent(f"a user out of {', '.join(USERS)} without a crontab")
        yield UserCrontab(name)
        subprocess.run(["crontab", "-u", name, "-r"], capture_output=True, check=False)
