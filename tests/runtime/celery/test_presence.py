"""The relay's row among the workers: whoever looks sees whether a relay is at work."""

from databases import Database

from cron2queue.runtime.celery.presence import Presence


def rows(database: Database) -> list[tuple[object, ...]]:
    return database.rows("SELECT token, queues, kinds FROM {workers}")


def test_a_relay_stands_among_the_workers_and_serves_no_queue(database: Database) -> None:
    relay = Presence(store=database.store(), every=0.0)
    assert not relay.tell()
    assert rows(database) == [(relay.info.token, "[]", "[]")]
    before = database.value("SELECT beat_counter FROM {workers}")
    assert not relay.tell()
    assert database.value("SELECT beat_counter FROM {workers}") == before + 1
    relay.end()
    assert rows(database) == []


def test_a_relay_that_was_taken_for_dead_comes_back(database: Database) -> None:
    store = database.store()
    relay = Presence(store=store, every=0.0)
    relay.tell()
    assert store.rescue(relay.info.token, counter_seen=0, by="w1") == []
    assert rows(database) == []
    relay.tell()
    assert [row[0] for row in rows(database)] == [relay.info.token]


def test_a_relay_hears_that_all_are_to_start_anew(database: Database) -> None:
    store = database.store()
    store.restart_workers(by="me")
    relay = Presence(store=store, every=0.0)
    assert [relay.tell(), relay.tell()] == [False, False]
    store.restart_workers(by="me")
    assert relay.tell()


def test_it_beats_no_more_often_than_asked(database: Database) -> None:
    relay = Presence(store=database.store(), every=3600.0)
    relay.tell()
    relay.tell()
    assert database.value("SELECT beat_counter FROM {workers}") == 0
