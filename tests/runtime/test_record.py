"""Records behave as frozen dataclasses with slots do, and the standard library takes them for such."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from cron2queue.runtime.database.address import parse
from cron2queue.runtime.jobs import Forever, NewJob, Period, WhileActive
from cron2queue.runtime.settings import JobSettings

JOB = NewJob(kind="mail", payload={"n": 1}, key="a")


def test_fields_left_out_take_their_defaults_and_only_keywords_are_taken() -> None:
    assert (JOB.queue, JOB.priority, JOB.unique) == ("default", 100, WhileActive())
    wrong: Any = NewJob
    for call in (lambda: wrong("mail"), wrong, lambda: wrong(kind="a", colour="red")):
        with pytest.raises(TypeError):
            call()


def test_equal_fields_of_one_class_are_equal_and_hash_alike() -> None:
    assert Period(seconds=5) == Period(seconds=5) != Period(seconds=6)
    assert WhileActive() == WhileActive() != Forever()
    assert len({Period(seconds=5), Period(seconds=5.0), WhileActive(), Forever()}) == 3


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    job: Any = JOB
    for change in (
        lambda: setattr(job, "kind", "other"),
        lambda: setattr(job, "colour", "red"),
        lambda: delattr(job, "kind"),
        lambda: vars(job),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert JOB.kind == "mail"


def test_it_is_copied_pickled_and_shown() -> None:
    assert pickle.loads(pickle.dumps(JOB)) == copy.deepcopy(JOB) == copy.copy(JOB) == JOB
    assert repr(Period(seconds=5)) == "Period(seconds=5)"


def test_dataclasses_take_it_for_one_of_theirs() -> None:
    changed = dataclasses.replace(JOB, key="b")
    assert changed == JOB.but(key="b") == NewJob(kind="mail", payload={"n": 1}, key="b")
    assert dataclasses.is_dataclass(JOB)
    assert [each.name for each in dataclasses.fields(Period)] == ["seconds"]
    assert dataclasses.asdict(Period(seconds=5)) == {"seconds": 5}
    settings = JobSettings(name="a", kind="k", environment={"A": "1"})
    assert dataclasses.replace(settings, kind="l") == settings.but(kind="l") != settings
    assert dataclasses.replace(JobSettings(name="a", kind="k"), name="b").environment == {}
    with pytest.raises(TypeError):
        dataclasses.replace(JOB, colour="red")  # type: ignore[call-arg]


def test_a_password_is_not_shown_with_its_address() -> None:
    shown = repr(parse("mysql://user:pa%20ss@host:3306/shop"))
    assert "pa ss" not in shown
    assert "host:3306/shop" in shown


def test_what_is_made_is_of_its_class_and_no_other() -> None:
    """While it is made, it is of another."""
    assert type(JOB) is NewJob
    assert isinstance(JOB, NewJob)
    assert {type(each) for each in (copy.copy(JOB), JOB.but(key="b"), pickle.loads(pickle.dumps(JOB)))} == {NewJob}
    assert (NewJob.__name__, NewJob.__qualname__, NewJob.__module__) == ("NewJob", "NewJob", "cron2queue.runtime.jobs")
