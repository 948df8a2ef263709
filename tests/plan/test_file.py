"""cron2queue.toml: written once with comments, merged into ever after, every mistake told with its line."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cron2queue.analyser.verdicts import Decision
from cron2queue.errors import UsageError
from cron2queue.plan.file import Merged, merge
from cron2queue.plan.model import Hardening, Language, Plan, PlannedJob, Project, Userland
from cron2queue.runtime.settings import DECISIONS, JobSettings, Overlap, QueueSettings, read_settings

PROJECT = Project(
    name="shop",
    language=Language.PYTHON,
    database="sqlite:///./cron2queue.db",
    prefix="c2q_",
    timezone="UTC",
    engine="sqlqueue",
    userland=Userland.GNU,
    folder="/opt/c2q",
    python="/usr/bin/python3",
    lock_folder="/run/lock/cron2queue",
    harden=Hardening.BASIC,
)


def job(name: str, entry: str = "e1", **changes: Any) -> PlannedJob:
    settings = JobSettings(
        name=name,
        kind=name,
        source="/etc/crontab",
        line=3,
        entry=entry,
        schedule="*/5 * * * *",
        user="www-data",
        command="php export.php \"a\" 'b' \\ \t €",
        environment={"PATH": "/usr/bin:/bin", "odd name": "x"},
        timeout=240,
        handler=f"handlers/{name}.py",
    )
    return PlannedJob(settings=replace(settings, **changes), engine="sqlqueue", because="it is a test")


def plan(*jobs: PlannedJob, project: Project = PROJECT) -> Plan:
    return Plan(project=project, queues=(QueueSettings(name="default", depth_limit=10, age_limit=900),), jobs=jobs)


Again = Callable[..., Merged]


def named(found: Plan, name: str) -> PlannedJob:
    return next(each for each in found.jobs if each.name == name)


def first(*jobs: PlannedJob) -> Merged:
    return merge(plan(*jobs), path=Path("/opt/c2q/cron2queue.toml"), text=None, base={}, whys={"default": "starts small"})


def again(before: Merged, *jobs: PlannedJob, text: str | None = None, project: Project = PROJECT, **more: Any) -> Merged:
    return merge(
        plan(*jobs, project=project),
        path=Path("/opt/c2q/cron2queue.toml"),
        text=before.text if text is None else text,
        base=before.generated,
        whys={},
        **more,
    )


def test_what_is_written_is_what_the_runtime_reads(tmp_path: Path) -> None:
    merged = first(job("export"))
    (tmp_path / "cron2queue.toml").write_text(merged.text)
    read = read_settings(tmp_path / "cron2queue.toml")
    wanted = job("export").settings
    assert replace(read.jobs["export"], written=frozenset()) == wanted
    assert read.queues["default"].age_limit == 900
    assert merged.plan.jobs[0].settings.command == wanted.command


def test_the_file_explains_itself() -> None:
    text = first(job("export")).text
    assert "# it is a test" in text
    assert "# starts small" in text
    assert re.search(r"max-attempts = 8 # runs, the first included", text)


def test_nothing_changes_when_nothing_changed() -> None:
    before = first(job("export"), job("mail", "e2"))
    assert again(before, job("export"), job("mail", "e2")).text == before.text


def test_edits_and_comments_stay_and_everything_else_follows() -> None:
    before = first(job("export"))
    text = before.text.replace("timeout = 240", "timeout = 999 # Sven knows why").replace(
        "[jobs.export]", "# ours\n[jobs.export]"
    )
    after = again(before, job("export", timeout=300, priority=7, line=9), text=text)
    assert "timeout = 999 # Sven knows why" in after.text
    assert "# ours\n[jobs.export]" in after.text
    assert "priority = 7" in after.text
    assert "line = 9" in after.text
    assert after.edited == ("jobs.export.timeout",)


def test_a_changed_value_keeps_its_remark() -> None:
    after = again(first(job("export")), job("export", overlap=Overlap.MERGE))
    assert 'overlap = "merge" # skip merge wait queue replace parallel' in after.text


def test_a_deleted_key_is_an_edit_too() -> None:
    before = first(job("export"))
    text = "".join(line for line in before.text.splitlines(keepends=True) if not line.startswith("timeout"))
    after = again(before, job("export"), text=text)
    assert "\ntimeout" not in after.text
    assert after.plan.jobs[0].settings.timeout is None


def test_a_renamed_table_is_found_by_its_entry() -> None:
    before = first(job("export"))
    text = before.text.replace("[jobs.export]", "[jobs.orders]").replace("[jobs.export.env", "[jobs.orders.env")
    after = again(before, job("export"), text=text)
    assert [each.name for each in after.plan.jobs] == ["orders"]
    assert "[jobs.export]" not in after.text


def test_a_new_entry_with_a_taken_name_gets_another() -> None:
    before = first(job("export"))
    after = again(before, job("export", "e2"), job("export-2", "e1"))
    assert sorted(each.name for each in after.plan.jobs) == ["export", "export-2"]
    assert named(after.plan, "export").settings.entry == "e1"


def test_an_entry_that_changed_is_found_by_its_name() -> None:
    after = again(first(job("export")), job("export", "e9", schedule="*/7 * * * *"))
    assert 'entry = "e9"' in after.text
    assert 'schedule = "*/7 * * * *"' in after.text
    assert after.plan.gone == ()


def test_a_removed_entry_is_shown_and_its_table_stays() -> None:
    before = first(job("export"), job("mail", "e2"))
    after = again(before, job("export"))
    assert after.plan.gone == ("mail",)
    assert "[jobs.mail]" in after.text
    assert [each.name for each in after.plan.jobs] == ["export"]


def test_jobs_of_ones_own_stay_untouched_and_are_not_gone() -> None:
    before = first(job("export"))
    own = '\n[jobs.by-hand]\ndecision = "queue"\nhandler = "handlers/by_hand.py"\n'
    after = again(before, job("export"), text=before.text + own)
    assert own.strip() in after.text
    assert after.plan.gone == ()


def test_a_changed_decision_brings_the_keys_that_it_needs() -> None:
    before = first(job("export", decision="keep"))
    assert "\ntimeout" not in before.text
    after = again(before, job("export", decision="keep"), text=before.text.replace('decision = "keep"', 'decision = "queue"'))
    assert "timeout = 240" in after.text
    assert after.plan.jobs[0].migrated


def test_an_option_given_now_wins_over_the_file() -> None:
    before = first(job("export"))
    php = replace(PROJECT, language=Language.PHP)
    assert again(before, job("export"), project=php, forced=frozenset({"language"})).plan.project.language is Language.PHP


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("timeout = 240", "timout = 240", None, "did you mean 'timeout'"),
        ("concurrency = 1", "concurency = 1", None, "did you mean 'concurrency'"),
        ('name = "shop"', 'nam = "shop"', None, "did you mean 'name'"),
        ("[queues.default]", "[quees.default]", None, "did you mean 'queues'"),
        ("timeout = 240", 'timeout = "soon"', None, "number of seconds"),
        ('decision = "queue"', 'decision = "qeue"', None, "decision must be one of queue"),
        ('overlap = "skip"', 'overlap = "skipp"', None, "one of skip"),
        ('language = "python"', 'language = "pyton"', None, "did you mean 'python'"),
        ('queue = "default"', 'queue = "defult"', None, "did you mean 'default'"),
        ('prefix = "c2q_"', 'prefix = "drop table"', None, "table prefix"),
        ('timezone = "UTC"', 'timezone = "Mars/Olympus"', None, "no time zone"),
        ('database = "', 'database = "foo', None, "not the URL of a database"),
        ('python = "/usr', 'python = "usr', None, "absolute path"),
        ("shadow = false", "shadow = 1", None, "true or false"),
        ("timeout = 240", "timeout = = 240", None, "not TOML"),
        ("[queues.default]", "[alerts]\nded = 1\n[queues.default]", "ded = 1", "did you mean 'dead'"),
        ("[queues.default]", "[alerts.queues.default]\ndept = 1\n[queues.default]", "dept", "did you mean 'depth'"),
        ("[queues.default]", '[hooks.pager]\ncomand = ["x"]\n[queues.default]', "comand", "did you mean 'command'"),
        ("[queues.default]", "[retention]\nded = 1\n[queues.default]", "ded = 1", "did you mean 'dead'"),
        ('name = "shop"', 'name = "shop"\nhandlers = "shop.jobs"', "handlers = ", "list of module names"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(old: str, new: str, place: str | None, words: str) -> None:
    before = first(job("export"))
    text = before.text.replace(old, new, 1)
    number = next(at for at, line in enumerate(text.splitlines(), start=1) if (place or new) in line)
    with pytest.raises(UsageError) as caught:
        again(before, job("export"), text=text)
    assert caught.value.place is not None
    assert caught.value.place.startswith(f"/opt/c2q/cron2queue.toml:{number}")
    assert words in str(caught.value)


def test_everything_that_the_runtime_reads_may_stand_in_the_plan() -> None:
    before = first(job("export"))
    own = """
[engines]
export = "guard"

[retention]
succeeded = 3

[alerts]
dead = 1

[alerts.queues.default]
depth = [10, 20]

[hooks.pager]
command = ["page"]
"""
    text = before.text.replace('name = "shop"\n', 'name = "shop"\nhandlers = ["shop.jobs"]\n') + own
    after = again(before, job("export"), text=text)
    assert after.text == text
    assert after.plan.hooks == ("pager",)


def test_names_that_are_no_slugs_are_refused() -> None:
    before = first(job("export"))
    with pytest.raises(UsageError, match="cannot be a name"):
        again(before, job("export"), text=before.text + '\n[jobs."../../x"]\nhandler = "a"\n')


def test_a_secret_is_not_repeated_in_a_comment() -> None:
    noisy = replace(job("export"), because="calls https://user:Geheim2019@erp.example/")
    text = first(noisy).text
    assert "Geheim2019" not in text.partition("decision = ")[0]


def test_tables_in_any_order_are_kept_and_added_to() -> None:
    before = first(job("export"), job("mail", "e2"))
    head, queue, jobs = re.split(r"(?=\[queues\.default\])|(?=\[jobs\.export\])", before.text)
    one, two = re.split(r"(?=\[jobs\.mail\])", jobs)
    text = head + one + queue + two
    after = again(before, job("export"), job("mail", "e2", timeout=77), job("new", "e3"), text=text)
    assert sorted(each.name for each in after.plan.jobs) == ["export", "mail", "new"]
    assert named(after.plan, "mail").settings.timeout == 77
    assert after.text.index("[jobs.export]") < after.text.index("[queues.default]") < after.text.index("[jobs.mail]")
    assert again(after, job("export"), job("mail", "e2", timeout=77), job("new", "e3")).text == after.text


def test_dotted_keys_and_inline_tables_are_read_like_others() -> None:
    before = first(job("export"))
    text = before.text.replace('PATH = "/usr/bin:/bin"', 'PATH = "/opt/bin"')
    text += '\n[jobs.own]\nhandler = "handlers/own.py"\nenvironment = {A = "1"}\n'
    after = again(before, job("export"), text=text)
    assert named(after.plan, "export").settings.environment["PATH"] == "/opt/bin"
    assert 'environment = {A = "1"}' in after.text


def test_the_runtime_takes_the_decisions_that_the_analyser_makes() -> None:
    assert tuple(each.lower() for each in Decision) == DECISIONS
