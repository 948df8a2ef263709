"""From a crontab text to the files of a plan: what changes, what stays byte for byte, and what is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged import crontab, judged, most_starts, standing

from cron2queue.crontab.lines import Kind
from cron2queue.errors import UsageError
from cron2queue.generator.summary import summary
from cron2queue.text import to_text

SHOP = """# shop
SHELL=/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin
*/5 * * * *   www-data  cd /srv/shop && bin/import-orders >> var/import.log 2>&1
17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly
*/10 * * * *  www-data  php bin/sync.php --all
0 0 31 2 *    www-data  php yearly.php
30 2 * * *    root      mysqldump shop > /srv/backup/shop-$(date +%F).sql
# end
"""

Convert = Callable[..., Any]


def lines(tmp_path: Path) -> list[str]:
    return (tmp_path / "out/crontab.new").read_text().splitlines()


def test_a_queued_entry_becomes_a_producer_line_that_holds_nothing_of_the_command(convert: Convert, tmp_path: Path) -> None:
    convert(
        SHOP,
        decisions={"import-orders": "queue"},
        python="/opt/c2q/bin/python",
        folder="/opt/c2q",
        lock_folder="/run/lock/cron2queue",
    )
    new = next(line for line in lines(tmp_path) if "enqueue import-orders" in line)
    assert new == (
        "*/5 * * * *   www-data /usr/bin/flock -n -E 75 /run/lock/cron2queue/enqueue-import-orders.lock"
        " /usr/bin/timeout -k 5 30 /opt/c2q/bin/python -I -m cron2queue.runtime enqueue import-orders"
        " --plan /opt/c2q/cron2queue.toml --tick --quiet"
    )


def test_lines_that_do_not_change_stay_byte_for_byte(convert: Convert, tmp_path: Path) -> None:
    text = SHOP.encode() + b"# caf\xe9 \t \n\t\n5 5 * * *\troot\t/bin/odd\xff  \n"
    prepared = convert(text, decisions={"import-orders": "queue"})
    new = (tmp_path / "out/crontab.new").read_bytes()
    changed = {change.block.old for change in prepared.draft.changes}
    for line in text.splitlines(keepends=True):
        if line not in changed:
            assert line in new
    assert b"5 5 * * *\troot\t/bin/odd\xff  \n" in new


def test_the_old_line_stays_as_a_comment_and_the_diff_shows_only_blocks(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"})
    new = lines(tmp_path)
    at = new.index("#*/5 * * * *   www-data  cd /srv/shop && bin/import-orders >> var/import.log 2>&1")
    assert new[at - 1] == "# cron2queue replaced the next line on 2026-11-30: import-orders"
    diff = (tmp_path / "out/crontab.diff").read_text()
    removed = [line for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert len(removed) == diff.count("+# cron2queue ")


def test_a_guarded_entry_stays_in_cron(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"sync": "guard"})
    new = next(line for line in lines(tmp_path) if "sync.lock" in line)
    assert new.startswith(
        f"*/10 * * * *  www-data /usr/bin/flock -n -E 75 {tmp_path}/out/locks/sync.lock /usr/bin/timeout -k 10 480 php"
    )


def test_what_never_fires_is_switched_off_and_a_broken_line_is_repaired(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP)
    text = "\n".join(lines(tmp_path))
    assert "# cron2queue switched off the next line on 2026-11-30: yearly" in text
    assert "date +\\%F" in text


def test_convert_again_changes_nothing(convert: Convert) -> None:
    convert(SHOP, decisions={"import-orders": "queue"})
    again = convert(SHOP)
    assert {str(change.fate) for change in again.changes} == {"same"}


def test_a_converted_crontab_converts_to_the_same_again(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP.replace("%F", "\\%F"), decisions={"import-orders": "queue", "sync": "guard"})
    applied = (tmp_path / "out/crontab.new").read_bytes()
    plan = (tmp_path / "out/cron2queue.toml").read_text()
    again = convert(applied)
    assert (tmp_path / "out/crontab.new").read_bytes() == applied
    assert (tmp_path / "out/cron2queue.toml").read_text() == plan
    assert {str(change.fate) for change in again.changes} == {"same"}
    assert again.draft.refused == {}


def test_a_line_of_ours_that_was_edited_by_hand_is_a_change_of_the_crontab(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"})
    first = json.loads((tmp_path / "out/PLAN.json").read_text())["sources"][0]["sha256"]
    edited = (tmp_path / "out/crontab.new").read_text().replace("timeout -k 5 30", "timeout -k 5 300")
    convert(edited)
    assert json.loads((tmp_path / "out/PLAN.json").read_text())["sources"][0]["sha256"] != first


def test_an_entry_removed_from_the_crontab_is_named_and_its_job_kept(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"})
    shorter = "".join(line for line in SHOP.splitlines(keepends=True) if "import-orders" not in line)
    again = convert(shorter)
    assert again.merged.plan.gone == ("import-orders",)
    assert "[jobs.import-orders]" in (tmp_path / "out/cron2queue.toml").read_text()
    assert "No longer in the crontab" in (tmp_path / "out/REVIEW.md").read_text()
    assert "handlers/import_orders.py" in again.left_over
    assert (tmp_path / "out/handlers/import_orders.py").exists()


def test_only_one_entry_can_be_converted(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"}, only=frozenset({"import-orders"}))
    assert "\n".join(lines(tmp_path)).count("# cron2queue ") == 1
    with pytest.raises(UsageError, match="no entry is named"):
        convert(SHOP, only=frozenset({"imprt-orders"}))


def test_an_edited_handler_stays(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"})
    handler = tmp_path / "out/handlers/import_orders.py"
    handler.write_text("# mine\n")
    again = convert(SHOP.replace("bin/import-orders", "bin/import-orders --fast"))
    assert handler.read_text() == "# mine\n"
    assert "--fast" in (tmp_path / "out/handlers/import_orders.py.new").read_text()
    assert [change.path for change in again.changes if change.fate == "kept"] == ["handlers/import_orders.py.new"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("SHELL=/usr/bin/fish\n*/5 * * * * www-data bin/work\n", "not a shell"),
        ("*/5 * * * * www-data bin/work " + "x" * 900 + "\n", "998 bytes"),
        ("*/5 * * * * www-data bin/work \x01\n", "control character"),
        ("*/5 * * * * www-data bin/\rwork\n", "control character"),
    ],
    ids=["shell", "length", "control", "carriage return"],
)
def test_what_cannot_be_kept_is_refused_and_the_line_stays(line: str, reason: str, convert: Convert, tmp_path: Path) -> None:
    name = convert(line).merged.plan.jobs[0].name
    prepared = convert(line, decisions={name: "guard"})
    assert reason in prepared.draft.refused[name]
    assert prepared.draft.refused[name].endswith(")"), "what to do about it stands in brackets at its end"
    assert (tmp_path / "out/crontab.new").read_bytes() == line.encode()
    assert "Refused" in (tmp_path / "out/REVIEW.md").read_text()


def test_a_command_that_is_not_utf8_stays_in_cron(convert: Convert, tmp_path: Path) -> None:
    line = b"*/5 * * * * www-data bin/work caf\xe9\n"
    prepared = convert(line)
    assert prepared.merged.plan.jobs[0].decision == "KEEP"
    assert (tmp_path / "out/crontab.new").read_bytes() == line


def test_a_file_that_cron_ignores_is_repaired_before_it_is_converted(convert: Convert) -> None:
    prepared = convert("*/5 * * * * www-data bin/work\n61 * * * * root bin/bad\n", decisions={"work": "queue"})
    assert "ignores the whole file" in prepared.draft.refused["work"]


def test_policies_that_an_engine_cannot_keep_are_refused_with_the_reason(convert: Convert) -> None:
    text = "*/5 * * * * www-data bin/work\n"
    guard = convert(text, decisions={"work": "guard"}, edit=lambda plan: plan.replace('"host" # host', '"database" # host'))
    assert "one host only" in guard.draft.refused.get("work", "") or guard.draft.refused == {}
    merged = convert(text, edit=lambda plan: re.sub(r'overlap = "\w+"', 'overlap = "queue"', plan))
    assert "guard cannot queue" in merged.draft.refused["work"]


def test_input_after_a_percent_sign_goes_with_the_guarded_command(convert: Convert, tmp_path: Path) -> None:
    convert("*/5 * * * * www-data bin/work%one%two 50\\%\n", decisions={"work": "guard"})
    assert any(line.endswith("%one%two 50\\%") and "flock" in line for line in lines(tmp_path))


def test_environment_and_input_reach_the_plan(convert: Convert) -> None:
    text = "A=1\nSHELL=/bin/bash\n*/5 * * * * www-data bin/work%x\nB=2\n"
    job = convert(text, decisions={"work": "queue"}).merged.plan.jobs[0].settings
    assert (dict(job.environment), job.shell, job.stdin, job.command) == ({"A": "1"}, "/bin/bash", "x\n", "bin/work")


def test_starts_that_pile_up_are_moved_and_said_so(convert: Convert, tmp_path: Path) -> None:
    text = "".join(f"0 * * * * www-data bin/work{at}\n" for at in range(6)) + "0 3 * * * www-data bin/nightly\n"
    prepared = convert(text, spread=True)
    minutes = [job.settings.schedule.split()[0] for job in prepared.merged.plan.jobs if "work" in job.name]
    assert len(set(minutes)) >= 4
    (nightly,) = [job for job in prepared.merged.plan.jobs if job.name == "nightly"]
    assert (nightly.settings.schedule or "").split()[1:] == ["3", "*", "*", "*"]
    moved = re.findall("Starts at another time.*", (tmp_path / "out/REVIEW.md").read_text())
    assert moved and not any(re.search(r"(?<!\\)\*", each) for each in moved)  # the stars of a schedule are no emphasis
    again = convert(text)
    assert [job.settings.schedule for job in again.merged.plan.jobs] == [
        job.settings.schedule for job in prepared.merged.plan.jobs
    ]


def test_two_entries_of_one_line_are_two_jobs_and_no_entry_of_a_torn_line_is_replaced(convert: Convert, tmp_path: Path) -> None:
    text = "*/5 * * * * www-data bin/one\0*/5 * * * * www-data bin/two\n*/5 * * * * www-data bin/three\n"
    prepared = convert(text, decisions=dict.fromkeys(("one", "two", "three"), "queue"))
    jobs = {job.name: job.settings for job in prepared.merged.plan.jobs}
    assert {name: job.command for name, job in jobs.items()} == {name: f"bin/{name}" for name in ("one", "two", "three")}
    assert len({job.entry for job in jobs.values()}) == 3
    assert set(prepared.draft.refused) == {"one", "two"}
    assert [change.move.entry.command for change in prepared.draft.changes] == ["bin/three"]


@pytest.mark.parametrize("decision", ["queue", "guard", "keep"])
def test_the_minutes_in_the_new_crontab_are_those_that_the_audit_proposes(
    decision: str, convert: Convert, tmp_path: Path
) -> None:
    names = [f"work{at}" for at in range(7)]
    text = "".join(f"0 * * * * www-data bin/{name}\n" for name in names)
    (finding,) = standing(judged(text), "C2Q501")
    proposed = dict(finding.moves)
    prepared = convert(text, spread=True, decisions=dict.fromkeys(names, decision))
    jobs = [job.settings for job in prepared.merged.plan.jobs]
    schedules = [proposed.get(job.entry or "", "0 * * * *") for job in jobs]
    assert [job.schedule for job in jobs] == schedules
    new = (tmp_path / "out/crontab.new").read_text()
    assert sorted(entry.schedule_text for entry in crontab(new).entries) == sorted(schedules)
    assert most_starts(new) < most_starts(text)


def test_in_shadow_the_old_lines_keep_running(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"}, shadow=True)
    new = lines(tmp_path)
    at = new.index("# cron2queue shadows the next line on 2026-11-30: import-orders")
    assert new[at + 1].startswith("*/5 * * * *   www-data  cd /srv/shop")
    assert "enqueue import-orders" in new[at + 2]
    assert 'handler = "handlers/shadow.sh"' in (tmp_path / "out/cron2queue.toml").read_text()
    assert (tmp_path / "out/handlers/import_orders.py").exists()
    own = convert(SHOP, edit=lambda plan: plan.replace('"handlers/shadow.sh"', '"handlers/import_orders.py"'))
    assert "work twice" in own.draft.refused["import-orders"]


def test_in_shadow_the_old_line_can_have_its_runs_recorded(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"}, shadow=True, observe=True)
    new = lines(tmp_path)
    at = new.index("# cron2queue records and shadows the next line on 2026-11-30: import-orders")
    assert new[at + 1].startswith("#*/5 * * * *   www-data  cd /srv/shop")
    assert new[at + 2].startswith("*/5 * * * *   www-data /usr/bin/python3 -m cron2queue.evidence.recorder --entry=")
    assert "enqueue import-orders" in new[at + 3]
    again = convert((tmp_path / "out/crontab.new").read_text(), shadow=True, observe=True)
    assert not again.differs


def test_after_shadow_the_handlers_do_the_work(convert: Convert, tmp_path: Path) -> None:
    convert(SHOP, decisions={"import-orders": "queue"}, shadow=True)
    convert(SHOP, edit=lambda plan: plan.replace("shadow = true", "shadow = false"))
    assert 'handler = "handlers/import_orders.py"' in (tmp_path / "out/cron2queue.toml").read_text()
    assert "shadows" not in (tmp_path / "out/crontab.new").read_text()


def test_entries_that_stay_can_have_their_runs_recorded(convert: Convert, tmp_path: Path) -> None:
    text = "SHELL=/bin/sh\n0 3 * * * www-data bin/nightly 'a b' --date=$(date +\\%F)\n"
    prepared = convert(text, observe=True)
    new = next(line for line in lines(tmp_path) if "recorder" in line)
    assert new.startswith("0 3 * * * www-data /usr/bin/python3 -m cron2queue.evidence.recorder --entry=")
    assert prepared.draft.refused == {}
    again = convert((tmp_path / "out/crontab.new").read_text(), observe=True)
    assert {str(change.fate) for change in again.changes} == {"same"}


def test_what_is_recorded_and_what_is_put_right_beside_is_told_in_few_words(convert: Convert, tmp_path: Path) -> None:
    prepared = convert("* * * * * root date '+%F'\n0 3 * * * root bin/nightly\n", observe=True)
    told = summary(prepared, tmp_path, written=False)
    assert [line.split("  ")[-1].strip() for line in told.splitlines()[3:5]] == [
        "put right (unescaped-percent)",
        "its runs are recorded",
    ]


def test_busybox_gets_the_descriptor_form_and_no_percent_escapes(convert: Convert, tmp_path: Path) -> None:
    text = "*/5 * * * * /usr/bin/work --date=+%F\n"
    convert(text, decisions={"work": "guard"}, dialect="busybox", kind=Kind.USER, userland="busybox")
    new = next(line for line in lines(tmp_path) if "exec 9>" in line)
    assert "flock -n 9 ||" in new
    assert "--date=+%F" in new


def test_jobs_of_several_users_do_not_share_a_queue(convert: Convert) -> None:
    text = "*/5 * * * * www-data bin/a\n*/5 * * * * www-data bin/b\n*/5 * * * * deploy bin/c\n"
    plan = convert(text, decisions={"a": "queue", "b": "queue", "c": "queue"}).merged.plan
    by_queue: dict[str, set[str | None]] = {}
    for job in plan.jobs:
        by_queue.setdefault(job.settings.queue, set()).add(job.settings.user)
    assert all(len(users) == 1 for users in by_queue.values())


def test_a_plan_with_a_password_is_not_for_everybody(convert: Convert, tmp_path: Path) -> None:
    text = "*/5 * * * * www-data curl -s 'https://user:Geheim2019@erp.example/api'\n"
    prepared = convert(text)
    name = prepared.merged.plan.jobs[0].name
    convert(text, decisions={name: "queue"})
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert modes["cron2queue.toml"] == 0o640
    assert modes["PLAN.json"] == modes["crontab.new"] == modes["crontab.diff"] == 0o600
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and "Geheim2019" in path.read_text():
            assert path.stat().st_mode & 0o007 == 0, path


def test_nothing_of_the_template_language_in_a_crontab_is_run(convert: Convert, tmp_path: Path) -> None:
    text = "*/5 * * * * www-data bin/work '{{ 731*947 }}' '{% raw %}' '${731*947}' '#{731*947}' '<%= 731*947 %>'\n".replace(
        "%", "\\%"
    )
    convert(text, decisions={"work": "queue"})
    for path in ("handlers/work.py", "cron2queue.toml"):
        written = (tmp_path / "out" / path).read_text()
        assert "{{ 731*947 }}" in written
        assert str(731 * 947) not in written


@pytest.mark.parametrize(
    ("dialect", "above", "line"),
    [
        ("cronie", "CRON_TZ=America/New_York\n", "*/5 * * * * www-data php import-orders.php\n"),
        ("systemd-cron", "TZ=America/New_York\n", "*/5 * * * * www-data php import-orders.php\n"),
        ("systemd-cron", "DELAY=7\nSTART_HOURS_RANGE=5-9\n", "@daily www-data php import-orders.php\n"),
    ],
)
def test_assignments_that_move_the_starts_are_in_force_for_the_new_line_too(
    convert: Convert, dialect: str, above: str, line: str
) -> None:
    for decision in ("queue", "guard"):
        prepared = convert(above + line, decisions={"import-orders": decision}, dialect=dialect)
        assert prepared.draft.refused == {}
        assert [to_text(change.block.old) for change in prepared.draft.changes] == [line]


def test_an_entry_that_is_moved_keeps_its_own_zone(convert: Convert) -> None:
    text = "CRON_TZ=America/New_York\n30 3 * * * www-data php import-orders.php\n"
    moved = convert(
        text,
        dialect="cronie",
        engine="systemd",
        decisions={"import-orders": "queue"},
        edit=lambda plan: plan.replace('schedule = "30 3 * * *"', 'schedule = "40 4 * * *"'),
    )
    assert moved.draft.refused == {}
    timers = [each.content for each in moved.product.artifacts if each.path.endswith(".timer")]
    assert [b"America/New_York" in each for each in timers] == [True]


@pytest.mark.parametrize("zone", ["UTC+3", "EST5EDT,M3.2.0,M11.1.0", "No/Where", "../etc/passwd"])
@pytest.mark.parametrize("engine", ["systemd", "celery-beat"])
def test_a_zone_of_rules_stays_with_cron_where_the_target_knows_names_only(convert: Convert, engine: str, zone: str) -> None:
    text = f"CRON_TZ={zone}\n30 3 * * * www-data php import-orders.php\n"
    moved = convert(text, dialect="cronie", engine=engine, decisions={"import-orders": "queue"})
    assert "does not know the time zone" in moved.draft.refused["import-orders"]


def test_an_entry_of_a_queue_that_is_to_be_guarded_gets_what_a_lock_can_do(convert: Convert) -> None:
    text = "# cron2queue: user-waits=yes lost-on-failure=yes\n*/5 * * * * root bin/send-mails\n"
    assert convert(text).merged.plan.jobs[0].settings.overlap == "merge"
    guarded = convert(text, edit=lambda plan: plan.replace('decision = "queue"', 'decision = "guard"'))
    assert guarded.draft.refused == {}
    assert guarded.merged.plan.jobs[0].settings.overlap == "skip"
    own = convert(text, edit=lambda plan: plan.replace('overlap = "skip"', 'overlap = "replace"'))
    assert "cannot replace" in own.draft.refused["send-mails"]


@pytest.mark.parametrize("decision", ["queue", "split"])
def test_every_entry_can_be_decided_otherwise_by_that_one_word(decision: str, convert: Convert, tmp_path: Path) -> None:
    convert(SHOP)
    before = (tmp_path / "out/cron2queue.toml").read_text()
    prepared = convert(SHOP, edit=lambda plan: re.sub(r'decision = "\w+"', f'decision = "{decision}"', plan))
    assert prepared.draft.refused == {}
    jobs = prepared.merged.plan.jobs
    assert {job.settings.decision for job in jobs} == {decision}
    queues = {queue.name for queue in prepared.merged.plan.queues}
    assert {job.settings.queue for job in jobs} <= queues
    assert all(f"[queues.{name}]" in (tmp_path / "out/cron2queue.toml").read_text() for name in queues)
    again = convert(SHOP)
    assert {str(change.fate) for change in again.changes} == {"same"}
    assert before.count("[queues.") < len(queues)


@pytest.mark.parametrize(
    ("mistake", "table", "meant"),
    [
        (('engine = "sqlqueue"', 'engine = "sqlque"'), "project", "sqlqueue"),
        (("[project]", '[engines]\nimport-orders = "systemdd"\n[project]'), "engines", "systemd"),
        (('decision = "keep"', 'decision = "keeep"'), "jobs", "keep"),
    ],
    ids=["engine", "engine of one job", "decision"],
)
def test_a_misspelt_word_is_told_with_its_line_and_what_was_meant(
    mistake: tuple[str, str], table: str, meant: str, convert: Convert, tmp_path: Path
) -> None:
    convert(SHOP)
    with pytest.raises(UsageError) as told:
        convert(SHOP, edit=lambda plan: plan.replace(*mistake, 1))
    lines = (tmp_path / "out/cron2queue.toml").read_text().splitlines()
    number = int(told.value.place.rpartition(":")[2])
    assert mistake[1].rpartition("= ")[2].partition("\n")[0] in lines[number - 1], table
    assert told.value.remedy == f"did you mean {meant!r}?"


@pytest.mark.parametrize("blanks", ["*/5\t*\t*\t*\t*\t", "*/5  *   * * *      ", "  */5 * * \t * * "])
@pytest.mark.parametrize("decision", ["keep", "queue", "guard"])
def test_another_time_can_be_planned_whatever_blanks_stand_between_the_fields(
    decision: str, blanks: str, convert: Convert, tmp_path: Path
) -> None:
    line = f"{blanks}root bin/work\n"
    convert(line, decisions={"work": decision})
    moved = convert(line, edit=lambda plan: re.sub(r'schedule = "[^"]*"', 'schedule = "2-59/5 * * * *"', plan))
    assert moved.draft.refused == {}
    assert lines(tmp_path)[-1].lstrip().startswith("2-59/5 * * * *")
    assert re.search(r"\broot\b", lines(tmp_path)[-1])


DELAYED = b"0 1 * * * root before\nRANDOM_DELAY=30\n0 3 * * * root true\nRANDOM_DELAY=0\n0 5 * * * root after\n"
QUEUED = dict.fromkeys(("before", "true", "after"), "queue")


@pytest.mark.parametrize("dialect", ["cronie", "systemd-cron"])
def test_a_delay_that_cron_draws_is_drawn_by_a_timer_too(convert: Convert, dialect: str) -> None:
    prepared = convert(DELAYED, dialect=dialect, engine="systemd", decisions=QUEUED)
    drawn = {
        each.path.rpartition("-")[2]: "RandomizedDelaySec=1800s\nFixedRandomDelay=yes" in each.content.decode()
        for each in prepared.draft.artifacts
        if each.path.endswith(".timer")
    }
    assert drawn == {"before.timer": False, "true.timer": True, "after.timer": False}


@pytest.mark.parametrize(("engine", "refused"), [("celery-beat", ["true"]), ("sqlqueue", []), ("guard", [])])
def test_where_no_delay_can_be_drawn_the_entry_stays(convert: Convert, engine: str, refused: list[str]) -> None:
    """A line that stays in the crontab stays below its RANDOM_DELAY."""
    prepared = convert(DELAYED, dialect="cronie", engine=engine, decisions=QUEUED)
    assert list(prepared.draft.refused) == refused
    assert all("up to 30 minutes later" in why for why in prepared.draft.refused.values())
