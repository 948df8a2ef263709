"""What runs by itself beside the workers is written where the plan asks for it, and systemd and cron read it as meant."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

Convert = Callable[..., Any]
TEXT = "*/5 * * * * www-data bin/work\n0 3 * * * root bin/nightly\n17 4 * * * www-data bin/other\n"
HOOKS = '\n[hooks.page]\ncommand = ["/usr/local/bin/page"]\n'


def converted(convert: Convert, *, hooks: bool, missed: bool, **options: Any) -> Any:
    names = dict.fromkeys(("work", "nightly", "other"), "queue")

    def edit(plan: str) -> str:
        plan = plan.replace('missed = "skip"', 'missed = "once"', 1) if missed else plan.replace('"once"', '"skip"')
        return plan + HOOKS if hooks else plan

    convert(TEXT, decisions=names, **options)
    return convert(TEXT, edit=edit, **options)


def written(tmp_path: Path) -> set[str]:
    units = tmp_path / "out/units"
    return {str(path.relative_to(units)) for path in units.rglob("*") if "check" in path.name or "catch-up" in path.name}


@pytest.mark.parametrize("engine", ["sqlqueue", "celery", "celery-beat"])
@pytest.mark.parametrize(("hooks", "missed"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_timer_and_its_line_are_there_when_the_plan_asks_for_them(
    hooks: bool, missed: bool, engine: str, convert: Convert, tmp_path: Path
) -> None:
    prepared = converted(convert, hooks=hooks, missed=missed, engine=engine)
    chores = [*(["check"] if hooks else []), *(["catch-up"] if missed else [])]
    assert written(tmp_path) == {f"systemd/cron2queue-shop-{name}.{end}" for name in chores for end in ("service", "timer")}
    review = next(each.content.decode() for each in prepared.product.artifacts if each.path == "REVIEW.md")
    cron = tmp_path / "out/units/cron.d/cron2queue-shop"
    assert cron.exists() == bool(chores)
    for name in chores:
        assert f"cron2queue-shop-{name}.timer" in review
    assert ("check --notify" in (cron.read_text() if chores else "")) == hooks
    assert ("catch-up" in (cron.read_text() if chores else "")) == missed


def test_the_lines_for_cron_are_read_as_meant_and_run_as_the_user_of_most_jobs(convert: Convert, tmp_path: Path) -> None:
    converted(convert, hooks=True, missed=True, folder="/srv/shop/c2q")
    text = (tmp_path / "out/units/cron.d/cron2queue-shop").read_bytes()
    file = parse(text, path="cron2queue-shop", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    assert file.loaded
    plan = "/srv/shop/c2q/cron2queue.toml > /dev/null"
    assert [(entry.schedule_text, entry.user, entry.command, entry.stdin) for entry in file.entries] == [
        ("* * * * *", "www-data", f"/usr/bin/python3 -I -m cron2queue check --notify --plan {plan}", None),
        ("@reboot", "www-data", f"/usr/bin/python3 -I -m cron2queue jobs catch-up --plan {plan}", None),
        ("*/10 * * * *", "www-data", f"/usr/bin/python3 -I -m cron2queue jobs catch-up --plan {plan}", None),
    ]


@pytest.mark.needs("systemd-analyze")
def test_the_units_pass_systemds_own_check(convert: Convert, tmp_path: Path) -> None:
    converted(convert, hooks=True, missed=True)
    units = sorted(str(tmp_path / "out/units" / name) for name in written(tmp_path))
    assert len(units) == 4
    ran = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert (ran.returncode, [line for line in ran.stderr.splitlines() if "cron2queue-shop" in line]) == (0, [])
