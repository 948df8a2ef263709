"""Records behave as frozen dataclasses with slots do, and the standard library takes them for such."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from cron2queue.record import Record, computed
from cron2queue.runtime.settings import JobSettings


class Job(Record):
    """A value with a field that must be given and two that need not."""

    kind: str
    queue: str = "default"
    payload: tuple[int, ...] = ()


class Nothing(Record):
    """A value without fields."""


JOB = Job(kind="mail", payload=(1,))


def test_fields_left_out_take_their_defaults_and_only_keywords_are_taken() -> None:
    assert (JOB.queue, JOB.payload) == ("default", (1,))
    wrong: Any = Job
    for call in (lambda: wrong("mail"), wrong, lambda: wrong(kind="a", colour="red")):
        with pytest.raises(TypeError):
            call()


def test_equal_fields_of_one_class_are_equal_and_hash_alike() -> None:
    assert Job(kind="a") == Job(kind="a") != Job(kind="b")
    assert Nothing() == Nothing() != JOB
    assert len({Job(kind="a"), Job(kind="a"), Job(kind="b"), Nothing(), Nothing()}) == 3


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
    assert repr(JOB) == "Job(kind='mail', queue='default', payload=(1,))"


def test_dataclasses_take_it_for_one_of_theirs() -> None:
    assert dataclasses.replace(JOB, queue="b") == JOB.but(queue="b") == Job(kind="mail", queue="b", payload=(1,))
    assert dataclasses.is_dataclass(JOB)
    assert [each.name for each in dataclasses.fields(Job)] == ["kind", "queue", "payload"]
    assert dataclasses.asdict(Job(kind="a")) == {"kind": "a", "queue": "default", "payload": ()}
    with pytest.raises(TypeError):
        dataclasses.replace(JOB, colour="red")  # type: ignore[call-arg]


def test_a_default_that_could_change_is_each_values_own() -> None:
    settings = JobSettings(name="a", kind="k", environment={"A": "1"})
    assert dataclasses.replace(settings, kind="l") == settings.but(kind="l") != settings
    assert dataclasses.replace(JobSettings(name="a", kind="k"), name="b").environment == {}


def test_what_is_made_is_of_its_class_and_no_other() -> None:
    """While it is made, it is of another."""
    assert type(JOB) is Job
    assert isinstance(JOB, Job)
    assert {type(each) for each in (copy.copy(JOB), JOB.but(queue="b"), pickle.loads(pickle.dumps(JOB)))} == {Job}
    assert (Job.__name__, Job.__qualname__, Job.__module__) == ("Job", "Job", __name__)


class Sum(Record):
    """A value of its own, with a field that is worked out and one that belongs to the class."""

    unit: ClassVar[str] = "EUR"
    first: int
    second: int = 2
    total: int = computed()

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.first + self.second)


def test_a_computed_field_is_neither_given_nor_compared_and_follows_the_others() -> None:
    assert (Sum(first=1).total, Sum(first=1).but(second=5).total, pickle.loads(pickle.dumps(Sum(first=3))).total) == (3, 6, 5)
    assert Sum(first=1) == Sum(first=1, second=2) != Sum(first=2, second=1)
    assert repr(Sum(first=1)) == "Sum(first=1, second=2)"
    wrong: Any = Sum
    with pytest.raises(TypeError):
        wrong(first=1, total=3)


def test_variables_of_the_class_are_no_fields() -> None:
    assert (Sum.unit, Sum.__slots__) == ("EUR", ("first", "second", "total"))
    assert [each.name for each in dataclasses.fields(Sum)] == ["first", "second"]
