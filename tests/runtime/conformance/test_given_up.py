"""Lines of what a broker gave up: equal ones of a minute are one, and a flood is a few."""

import threading

from databases import Database

from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs import given_up
from cron2queue.runtime.verbs.given_up import MOST_LINES, Letter, Recorded

from .conftest import mail


def record(store: Store, *letters: Letter, by: str = "relay@h") -> Recorded:
    return store.sessions.unit(lambda session: given_up.record(session, by, letters))


def counted(table: Database) -> list[tuple[str, int]]:
    rows = table.rows("SELECT target, detail FROM {operations} WHERE verb = 'given-up' ORDER BY id")
    return [(target, given_up.number(given_up.details(detail))) for target, detail in rows]


def test_equal_letters_of_a_minute_are_one_line(table: Database, store: Store) -> None:
    job = store.enqueue(mail()).public_id
    lost = Letter(job, "", "default", "rejected")
    number = 0
    while number < 40 and len(counted(table)) < 2:  # until a minute ends, or often enough
        number += 1
        new = record(store, lost, lost).new
        assert (len(new) == 1) == (number == 1 or len(counted(table)) == 2)
    assert {target for target, _ in counted(table)} == {job}
    assert sum(n for _, n in counted(table)) == 2 * number


def test_what_is_not_the_same_has_a_line_of_its_own(table: Database, store: Store) -> None:
    jobs = [store.enqueue(mail(key=str(number))).public_id for number in range(2)]
    store.cancel(jobs[1], by="test")
    record(store, *(Letter(job, "", "default", reason) for job in jobs for reason in ("rejected", "expired")))
    rows = table.rows("SELECT target, job_id > 0, detail FROM {operations} WHERE verb = 'given-up' ORDER BY id")
    assert [(target, given_up.details(detail)["became"]) for target, _, detail in rows] == [
        *[(jobs[0], "goes out again")] * 2,
        *[(jobs[1], "had ended")] * 2,
    ]
    assert all(row[1] for row in rows)


def test_a_flood_is_as_many_lines_as_a_minute_may_have_and_one_more(table: Database, store: Store) -> None:
    for start in range(0, 300, 100):
        record(store, *(Letter("", f"sort {number}", "", "expired") for number in range(start, start + 100)))
    assert len(counted(table)) <= 2 * (MOST_LINES + 1)
    assert sum(n for _, n in counted(table)) == 300
    assert {target for target, _ in counted(table)} == {"dead letters"}
    job = store.enqueue(mail()).public_id
    record(store, Letter(job, "", "default", "expired"))
    assert counted(table)[-1] == (job, 1)


def test_lines_of_others_between_them_change_nothing(table: Database, store: Store) -> None:
    store.pause("default", by="anna")
    record(store, Letter("", "a", "default", "expired"))
    store.resume("default", by="anna")
    record(store, Letter("", "a", "default", "expired"), by="relay@g")
    assert counted(table) == [("default", 1), ("default", 1)]  # each relay has its own


def test_two_relays_of_one_name_lose_no_letter(table: Database, store: Store) -> None:
    def work() -> None:
        mine = table.store()
        for _ in range(20):
            record(mine, Letter("", "a", "default", "expired"))
        mine.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(n for _, n in counted(table)) == 40
