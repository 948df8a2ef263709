"""The tables: exact keys, times without a zone, and a page that tells of every column."""

import runpy
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from databases import Database
from sqlalchemy import create_engine, insert, select
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateTable

from cron2queue.runtime.database.session import TABLES
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.tables import tables

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_about_the_schema_is_what_the_tables_say() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "schema.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run: python docs/schema.py"
    for table in tables().metadata.tables.values():
        assert f"## {table.name}\n" in made["page"]()


def test_the_statements_know_every_table() -> None:
    assert {f"c2q_{name}" for name in TABLES} == set(tables().metadata.tables)


@pytest.mark.parametrize("dialect", [sqlite.dialect(), mysql.dialect(), postgresql.dialect()], ids=lambda each: each.name)
def test_the_ddl_of_every_table_can_be_made_without_a_driver(dialect: Any) -> None:
    ddl = [str(CreateTable(table).compile(dialect=dialect)) for table in tables().metadata.tables.values()]
    assert all("CREATE TABLE" in each for each in ddl)
    if dialect.name == "mysql":
        assert all("utf8mb4_bin" in each and "InnoDB" in each for each in ddl)
    if dialect.name == "sqlite":
        assert all("STRICT" in each for each in ddl)


def test_what_the_verbs_write_the_tables_read_in_python_types(database: Database) -> None:
    answer = database.store().enqueue(
        NewJob(kind="mail", key="Jörg\udcff", owner="anna", run_at=datetime(2020, 1, 1, tzinfo=UTC))
    )
    jobs = tables().jobs
    engine = create_engine(database.url)
    with engine.connect() as connection:
        row = connection.execute(select(jobs).where(jobs.c.public_id == answer.public_id, jobs.c.owner == "anna")).one()
    engine.dispose()
    assert (row.job_key, row.owner, row.run_at, row.state) == ("Jörg\udcff", "anna", datetime(2020, 1, 1, tzinfo=UTC), "ready")
    assert abs(row.created_at - datetime.now(UTC)) < timedelta(minutes=5)
    assert row.due_at is None


def test_what_the_tables_write_comes_back_whatever_the_zone_it_was_given_in(database: Database) -> None:
    engine, ticks = create_engine(database.url), tables().ticks
    moment = datetime(2026, 10, 25, 2, 30, 0, 123_456, tzinfo=timezone(timedelta(hours=2)))
    with engine.begin() as connection:
        connection.execute(insert(ticks).values(entry="é ", last_nominal=moment))
        assert connection.execute(select(ticks.c.last_nominal).where(ticks.c.entry == "é ")).scalar_one() == moment
        assert connection.execute(select(ticks.c.entry).where(ticks.c.entry == "é")).all() == []
    engine.dispose()


def test_a_naive_time_is_refused(sqlite_database: Database) -> None:
    engine, ticks = create_engine(sqlite_database.url), tables().ticks
    with engine.connect() as connection, pytest.raises(Exception, match="offset-naive"):
        connection.execute(insert(ticks).values(entry="e", last_nominal=datetime(2026, 1, 1)))
    engine.dispose()
