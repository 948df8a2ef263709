"""The parser: bytes and a dialect become a crontab file that loses nothing."""

from collections.abc import Collection, Mapping

from cron2queue.crontab.dialect import Context, Dialect
from cron2queue.crontab.lines import CrontabFile, Kind


def parse(
    data: bytes,
    *,
    path: str,
    dialect: Dialect,
    kind: Kind,
    user: str | None = None,
    users: Collection[str] | None = None,
    homes: Mapping[str, str] | None = None,
) -> CrontabFile:
    """Read a crontab as `dialect` does; never raises, whatever the bytes, and takes time in proportion to them.

    `user`: whose crontab it is, of kind USER. `users`: the users of the host, None when this is not the host, so that
    no name is called unknown that only is so here. `homes`: their home folders.
    """
    reading = dialect.read(data, Context(kind=kind, user=user, users=users, homes=homes))
    return CrontabFile(
        path=path,
        dialect=dialect.name,
        kind=kind,
        lines=reading.lines,
        loaded=reading.loaded,
        why=reading.why,
        notes=reading.notes,
        zone=reading.zone,
    )
