"""FreeBSD, OpenBSD, macOS and old Vixie cron: starts only."""

from typing import ClassVar

from cron2queue.evidence.log_format import LogFormat, Op, Sample, Seen


class StartsOnly(LogFormat):
    """`/usr/sbin/cron[812]: (root) CMD (...)`: the end is never logged, so there are counts, and no durations.

    On macOS the same text comes from `log show --style syslog --predicate 'process == "cron"'`. OpenBSD's `-q` entries
    are not logged at all. Written after do_command.c and log_it() of freebsd-src and openbsd/src: the grandchild logs.
    """

    name = "bsd"
    tags = (
        rb"/usr/sbin/cron",
        rb"cron",
        rb"\(cron\)",
    )
    rank = 40
    jobs: ClassVar = {b"CMD": Op.START}
    endless = True
    samples: ClassVar = (
        Sample(
            lines="""\
Nov 30 11:05:00 fbsd /usr/sbin/cron[812]: (root) CMD (/usr/libexec/atrun)
<78>1 2026-11-30T11:05:30.500000+00:00 fbsd /usr/sbin/cron 814 - - (root) CMD (periodic daily)
2026-11-30 11:06:00.123456+0000  mac cron[813]: (admin) CMD (/usr/local/bin/poll)
""",
            runs=(
                Seen(user="root", command="/usr/libexec/atrun", seconds=None),
                Seen(user="root", command="periodic daily", seconds=None),
                Seen(user="admin", command="/usr/local/bin/poll", seconds=None),
            ),
        ),
    )
