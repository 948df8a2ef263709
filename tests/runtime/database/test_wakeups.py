"""Who is told of a new job: workers of this host by datagrams, those of other hosts by PostgreSQL itself."""

from pathlib import Path

import pytest
from databases import open_database

from cron2queue.runtime.database.wakeups import LISTEN
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.store import Store


@pytest.mark.parametrize(("host", "told"), [("127.0.0.1", 0), ("127.1", 2)])  # the same, which the address alone does not tell
def test_a_server_that_may_be_elsewhere_tells_of_each_enqueue(host: str, told: int, tmp_path: Path) -> None:
    database = open_database("postgresql", tmp_path)
    listener = database.store().sessions.open()
    listener.run(LISTEN)
    there = str(database.address.host)
    store = Store.open(database.url.replace(f"@{there}:", f"@{host}:"))
    store.enqueue(NewJob(kind="mail"))
    store.enqueue_many([NewJob(kind="mail") for _ in range(3)])
    store.close()
    database.store().sessions.open().run("NOTIFY {jobs}, 'end'")  # they come in the order of their commits
    said = []
    for notice in listener.raw.notifies(timeout=60):
        said.append(notice.payload)
        if notice.payload == "end":
            break
    assert said == [""] * told + ["end"]
    database.close()
