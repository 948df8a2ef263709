"""How long what is kept: read from the plan, heeded by workers."""

import argparse
import tomllib
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from databases import Database
from scenes import accept, finish, kill, register

from cron2queue.errors import UsageError
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.settings import settings_from
from cron2queue.runtime.worker import commandline
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.fence import Fence
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.upkeeper import Upkeeper

DAY = 86_400_000_000


def read(text: str) -> Retention:
    return settings_from(tomllib.loads(text), folder=Path()).retention


def test_the_table_may_name_some_and_leave_the_rest() -> None:
    assert read("") == read("[retention]\n") == Retention()
    assert read("[retention]\ndead = false\nlog = 0.5\n") == Retention(dead=None, log=0.5)
    assert Retention(dead=None).of_states == {"succeeded": 14.0, "cancelled": 14.0}


@pytest.mark.parametrize("value", ["true", "-1", '"14d"', "nan", "1e9", "[1]"])
def test_what_is_no_number_of_days_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"retention\.dead must be a number of days, or false"):
        read(f"[retention]\ndead = {value}\n")


def test_a_worker_keeps_what_its_plan_keeps(sqlite_database: Database, tmp_path: Path) -> None:
    store = sqlite_database.store()
    register(store)
    accept(store, 3)
    finish(store, 2)
    kill(store)
    sqlite_database.change(f"UPDATE {{jobs}} SET finished_at = finished_at - {100 * DAY}")
    plan = tmp_path / "cron2queue.toml"
    plan.write_text(f'[project]\ndatabase = "{sqlite_database.url}"\n[retention]\ndead = false\n')
    words = argparse.ArgumentParser()
    commandline.add_options(words)
    options: WorkerOptions = commandline.options_of(words.parse_args(["--plan", str(plan)]), {})
    info: Any = SimpleNamespace(token="me")
    control = Control(fence=Fence(options.timing.lease))
    Upkeeper(options=options, store=store, info=info, control=control, random=Random(1)).prune()
    assert sqlite_database.rows("SELECT state FROM {jobs}") == [("dead",)]
