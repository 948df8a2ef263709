"""What each cron daemon does where they differ, in words for messages. Measured from the daemons' own code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile, Entry


class Daemon(Record):
    """Facts of one daemon.

    `bad_line`: what one bad line costs. `no_newline`: what a missing final newline costs, None where it is harmless.
    `no_user`: what an entry of a user costs who does not exist, None where it is a bad line. `percent`: an unescaped % ends
    the command. `second_copy`: it starts an entry whose last run is still alive.
    `cron_tz`, `random_delay`: these variables have an effect.
    `user_column`: a system crontab names a user before the command.
    `tells_failures`: it looks at the exit status of a run, and says so when it is not 0.
    `forced`: variables that the crontab cannot set. `dash`: /bin/sh is dash, which lacks bash's extensions.
    """

    title: str
    bad_line: str
    no_newline: str | None
    no_user: str | None = None
    percent: bool = True
    second_copy: bool = True
    cron_tz: bool = False
    random_delay: bool = False
    user_column: bool = True
    tells_failures: bool = False
    forced: frozenset[str] = frozenset({"LOGNAME", "USER"})
    dash: bool = False
    path: str = "/usr/bin:/bin"


DAEMONS: dict[str, Daemon] = {
    "debian": Daemon(
        title="Debian cron",
        bad_line="ignores the whole file",
        no_newline="ignores the whole file (Missing newline before EOF)",
        forced=frozenset({"LOGNAME"}),
        dash=True,
    ),
    "cronie": Daemon(
        title="cronie",
        bad_line="skips this line",
        no_newline="drops the last line (missing newline before EOF)",
        no_user="complains each time it is due, and runs nothing",
        cron_tz=True,
        random_delay=True,
        path="/usr/bin:/bin:/usr/sbin:/sbin",
    ),
    "busybox": Daemon(
        title="BusyBox crond",
        bad_line="skips or misreads this line",
        no_newline=None,
        percent=False,
        second_copy=False,
        user_column=False,
        forced=frozenset({"LOGNAME", "USER", "HOME"}),
        path="/sbin:/usr/sbin:/bin:/usr/bin",
    ),
    "systemd-cron": Daemon(
        title="systemd-cron",
        bad_line="skips this line",
        no_newline=None,
        no_user="makes a unit of it that fails at each start",
        second_copy=False,
        cron_tz=True,
        random_delay=True,
        tells_failures=True,
        forced=frozenset(),  # Environment= of a unit counts for more than what User= sets
        dash=True,
        path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
    ),
    "freebsd": Daemon(
        title="FreeBSD cron",
        bad_line="skips the bad part and reads the rest of the line again",
        no_newline="drops the last line without a word",
    ),
    "openbsd": Daemon(
        title="OpenBSD cron",
        bad_line="ignores the whole user crontab",
        no_newline="drops the last line without a word",
    ),
}


def daemon(dialect: str) -> Daemon:
    """The facts of the daemon that reads this dialect."""
    return DAEMONS[dialect]


def runs_in_dash(file: CrontabFile, entry: Entry) -> bool:
    """The command goes to dash: /bin/sh where that is dash, and no other SHELL is set."""
    return daemon(file.dialect).dash and entry.environment.get("SHELL", "/bin/sh") in ("/bin/sh", "/bin/dash")
