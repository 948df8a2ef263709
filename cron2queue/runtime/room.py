"""How many connections a server gives: to everybody (that comes first), to this user, to this database.

On shared and managed servers it is seldom `max_connections`: a user or a database has a limit of its own, and the server's last
connections are kept for its superusers.
"""

from typing import Final, NamedTuple

from cron2queue.runtime.database.session import Session


class Room(NamedTuple):
    """At most so many connections, of which others use so many; `bound` names what an administrator has to raise."""

    most: int
    used: int
    bound: str

    @property
    def free(self) -> int:
        """How many there can be, that of who asks included: it is closed before the others are opened."""
        return self.most - self.used


def of_mysql(session: Session) -> tuple[Room, ...]:
    """MySQL and MariaDB: the session's max_user_connections is what is in force for its user, 0 where nothing is."""
    named = "SELECT @@max_connections, @@max_user_connections, SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"
    ((most, mine, user),) = session.rows(named)
    (_, used) = session.row("SHOW STATUS LIKE 'Threads_connected'") or ("", 0)
    everybody = Room(int(most), int(used) - 1, "max_connections")
    if not int(mine):
        return (everybody,)
    own = sum(1 for row in session.rows("SHOW PROCESSLIST") if str(row[1]) == str(user))
    return (everybody, Room(int(mine), own - 1, f"max_user_connections of the user {user}"))


# Of other users' connections an ordinary user sees no more than whose they are and in which database.
_POSTGRESQL: Final = (
    "SELECT current_setting('max_connections'), current_setting('superuser_reserved_connections'), "
    "COALESCE(current_setting('reserved_connections', true), '0'), r.rolsuper, r.rolname, r.rolconnlimit, d.datname, "
    "d.datconnlimit, COUNT(*) - 1, SUM(CASE WHEN a.usesysid = r.oid THEN 1 ELSE 0 END) - 1, "
    "SUM(CASE WHEN a.datid = d.oid THEN 1 ELSE 0 END) - 1 "
    "FROM pg_roles r, pg_database d, pg_stat_activity a WHERE r.rolname = current_user AND d.datname = current_database() "
    "AND a.usesysid IS NOT NULL AND a.datid IS NOT NULL "
    "GROUP BY r.rolsuper, r.rolname, r.rolconnlimit, d.datname, d.datconnlimit"
)


def of_postgresql(session: Session) -> tuple[Room, ...]:
    """PostgreSQL: a superuser is bound by max_connections alone."""
    ((most, reserved, kept, is_super, role, of_role, database, of_database, used, own, inside),) = session.rows(_POSTGRESQL)
    if is_super:
        return (Room(int(most), int(used), "max_connections"),)
    bounds = (
        Room(int(most) - int(reserved) - int(kept), int(used), "max_connections"),
        Room(int(of_role), int(own), f"CONNECTION LIMIT of the role {role}"),
        Room(int(of_database), int(inside), f"CONNECTION LIMIT of the database {database}"),
    )
    return tuple(bound for bound in bounds if bound.most >= 0)
