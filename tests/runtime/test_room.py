"""Connections: the tightest bound of a server counts, whoever it is for."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from databases import SERVERS, administrator, need, own_database

from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import UnsafeDatabase


def _database(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


@contextmanager
def bound_user(name: str, url: str, most: int) -> Iterator[str]:
    """Somebody who may have so many connections."""
    user = f"bound_{_database(url)}"[:30]
    made = {
        "postgresql": [f"CREATE ROLE {user} LOGIN CONNECTION LIMIT {most}", f"GRANT pg_read_all_data TO {user}"],
        "mysql": [
            f"CREATE USER {user}@'%' WITH MAX_USER_CONNECTIONS {most}",
            f"GRANT SELECT ON {_database(url)}.* TO {user}@'%'",
        ],
    }
    with administrator(name) as cursor:
        for statement in made["postgresql" if name == "postgresql" else "mysql"]:
            cursor.execute(statement)
        try:
            yield re.sub(r"//\w+@", f"//{user}@", url)
        finally:
            cursor.execute(f"DROP ROLE {user}" if name == "postgresql" else f"DROP USER {user}@'%'")


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest) -> str:
    """A database with our tables, as its administrator reaches it."""
    need(request.param)
    made = own_database(request.param, "room")
    with closing(Store.open(made)) as store:
        store.migrate_up()
    return made


def name_of(url: str, request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["url"])


def test_a_user_who_may_have_fewer_connections_than_are_needed_is_refused(url: str, request: pytest.FixtureRequest) -> None:
    with bound_user(name_of(url, request), url, 4) as bound, closing(Store.open(bound)) as store:
        store.refuse_unsafe(connections_needed=4)
        with pytest.raises(UnsafeDatabase, match="5 connections are needed, 0 of 4 are in use") as told:
            store.refuse_unsafe(connections_needed=5)
        assert f"bound_{_database(url)}"[:30] in str(told.value.remedy)


def test_before_the_last_connections_are_gone_it_is_told(url: str, request: pytest.FixtureRequest) -> None:
    with bound_user(name_of(url, request), url, 4) as bound, closing(Store.open(bound)) as store:
        assert store.server_facts().warnings == ()
        with closing(Store.open(bound)) as second, closing(Store.open(bound)) as third:
            for other in (second, third):
                other.require_schema()
            (warning,) = store.server_facts().warnings
    assert warning.message == "2 of 4 connections are in use by others"


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_database_may_have_a_bound_of_its_own(url: str) -> None:
    with administrator("postgresql") as cursor, bound_user("postgresql", url, 100) as bound:
        cursor.execute(f"ALTER DATABASE {_database(url)} CONNECTION LIMIT 3")
        with closing(Store.open(bound)) as store, pytest.raises(UnsafeDatabase) as told:
            store.refuse_unsafe(connections_needed=4)
        cursor.execute(f"ALTER DATABASE {_database(url)} CONNECTION LIMIT -1")
    assert f"CONNECTION LIMIT of the database {_database(url)}" in str(told.value.remedy)
