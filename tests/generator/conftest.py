"""A conversion of a crontab text, without command line or files."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cron2queue.analyser.audit import audit
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.generator.artifacts import write
from cron2queue.generator.drafts import Original
from cron2queue.generator.preparing import Choices, Prepared, prepare
from cron2queue.generator.restoring import originals
from cron2queue.generator.templating import Templates
from cron2queue.plan.folder import Folder
from cron2queue.plan.model import Hardening, Language, Project, Userland
from cron2queue.plan.reading import checked_choices

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)

Convert = Callable[..., Prepared]


def project_in(target: Path, **changes: Any) -> Project:
    plain = Project(
        name="shop",
        language=Language.PYTHON,
        database="sqlite:///./cron2queue.db",
        prefix="c2q_",
        timezone="Europe/Berlin",
        engine="sqlqueue",
        userland=Userland.GNU,
        folder=str(target),
        python="/usr/bin/python3",
        lock_folder=str(target / "locks"),
        harden=Hardening.BASIC,
    )
    return replace(plain, **checked_choices(changes))


@pytest.fixture
def convert(tmp_path: Path) -> Convert:
    """`convert(text, decisions={name: "queue"}, ...)`: convert into tmp_path/out and write it; decisions are edits."""

    def run(
        text: str | bytes,
        *,
        decisions: dict[str, str] | None = None,
        edit: Callable[[str], str] | None = None,
        dialect: str = "debian",
        kind: Kind = Kind.SYSTEM,
        path: str = "/etc/crontab",
        owner: str | None = None,
        zone: str = "Europe/Berlin",
        spread: bool = False,
        only: frozenset[str] = frozenset(),
        **project: Any,
    ) -> Prepared:
        data = text if isinstance(text, bytes) else text.encode()
        file = parse(data, path=path, dialect=dialect_named(dialect), kind=kind)
        found: list[Original] = originals([file], owner=owner)
        judged = audit([each.file for each in found], EvidenceBook.empty("no logs"), at=AT, zone=ZoneInfo(zone))
        target = tmp_path / "out"
        choices = Choices(defaults=project_in(target, **project), only=only, spread=spread)
        with Folder.open(target, create=True) as folder:
            prepared = prepare(judged, found, Templates(), choices, path=target, folder=folder)
            write(prepared.changes, folder)
            if decisions or edit:
                plan = target / "cron2queue.toml"
                changed = plan.read_text()
                for name, decision in (decisions or {}).items():
                    head, table, rest = changed.partition(f"[jobs.{name}]")
                    assert table, f"no job {name} in {changed}"
                    before, _, after = rest.partition("decision = ")
                    more = after.partition("\n")[2]
                    changed = f'{head}{table}{before}decision = "{decision}"\n{more}'
                plan.write_text(edit(changed) if edit else changed)
                prepared = prepare(judged, found, Templates(), choices, path=target, folder=folder)
                write(prepared.changes, folder)
        return prepared

    return run
