"""Hooks are read from the plan, and told in a process of their own."""

import json
import os
import select
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.hooks.delivery import deliver
from cron2queue.runtime.hooks.hook import ALARMS, Event, Hook, Occasion, hooks_from

EVENT = Event(
    occasion=Occasion.DEAD,
    subject="order-export",
    text="3 jobs are dead: connection refused",
    at="2026-11-30T14:00:00+00:00",
    count=3,
    jobs=("8b2c", "9b2c"),
    kind="order-export",
    output="last line",
)


def hook(tmp_path: Path, script: str, **fields: object) -> Hook:
    return Hook(**{"name": "page", "command": ("/bin/sh", "-c", script), "folder": tmp_path, "timeout": 20.0, **fields})  # type: ignore[arg-type]


def ends(pid: int) -> bool:
    """Whether the process is gone, or goes soon: a signal is on its way for a moment."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    readable, _, _ = select.select([process], [], [], 10)
    os.close(process)
    return bool(readable)


def read(text: str) -> tuple[Hook, ...]:
    return hooks_from(tomllib.loads(text), folder=Path("/plan"))


@pytest.mark.parametrize("way", ["command", "mail"])
def test_no_secret_leaves_by_a_hook(tmp_path: Path, way: str) -> None:
    url = "mysql://shop:Geheim2019@db/shop"
    event = replace(EVENT, text=f"1 job is dead: {url}", output=f"tried {url}\n", remedy=f"look at {url}")
    keep = ("/bin/sh", "-c", "cat > told")
    told = Hook(name="p", mail=("root",), sendmail=keep, folder=tmp_path) if way == "mail" else hook(tmp_path, keep[2])
    assert deliver(told, event).problem == ""
    said = (tmp_path / "told").read_text()
    assert "1 job is dead" in said and "Geheim2019" not in said


def test_a_plan_without_hooks_has_none() -> None:
    assert read("") == ()


def test_a_hook_is_read_with_its_defaults() -> None:
    (found,) = read('[hooks.page]\ncommand = ["/bin/page", "--team"]\n')
    assert (found.name, found.command, found.on) == ("page", ("/bin/page", "--team"), ALARMS)
    assert (found.at_most_per_hour, found.timeout, found.folder) == (10, 30.0, Path("/plan"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hooks.p]\n", "exactly one of command, function and mail"),
        ('[hooks.p]\ncommand = ["x"]\nmail = "root"\n', "exactly one of"),
        ('[hooks.p]\ncommand = "rm -rf /"\n', "must be a list of words"),
        ('[hooks.p]\ncommand = ["x"]\non = ["death"]\n', "hooks.p.on must be a list out of dead, over-limit"),
        ('[hooks.p]\ncommand = ["x"]\non = 3\n', "hooks.p.on must be"),
        ('[hooks.p]\ncommand = ["x"]\ntimeout = 0\n', "hooks.p.timeout must be a number"),
        ('[hooks.p]\ncommand = ["x"]\nwhen = "dead"\n', "unknown key 'when' in \\[hooks.p\\]"),
        ('[hooks.p]\nfunction = "alerts:told"\n', "must be a file and a function"),
        ('[hooks.p]\nmail = "a b"\n', "hooks.p.mail must be addresses or user names"),
        ("[hooks.p]\ncommand = []\n", "must be a list of words"),
        ("hooks = 3\n", "must hold one table a name"),
        ("[hooks]\npage = 3\n", "hooks.page must be a table"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(text)


def test_a_command_gets_the_event_as_json_and_no_shell_looks_at_it(tmp_path: Path) -> None:
    target = tmp_path / "got"
    told = Hook(name="p", command=("/usr/bin/tee", str(target)), folder=tmp_path)
    assert deliver(told, EVENT).problem == ""
    got = json.loads(target.read_text())
    assert (got["schema"], got["occasion"], got["count"], got["jobs"]) == (1, "dead", 3, ["8b2c", "9b2c"])


def test_a_function_gets_the_event_in_a_process_of_its_own(tmp_path: Path) -> None:
    code = "import os, pathlib\ndef told(event):\n    pathlib.Path('got').write_text(f\"{event['kind']} {os.getpid()}\")\n"
    (tmp_path / "alerts.py").write_text(code)
    assert deliver(Hook(name="p", function="alerts.py:told", folder=tmp_path), EVENT).problem == ""
    kind, pid = (tmp_path / "got").read_text().split()
    assert kind == "order-export" and int(pid) != os.getpid()


def test_a_mail_goes_through_sendmail_as_crons_does(tmp_path: Path) -> None:
    sendmail = tmp_path / "sendmail"
    sendmail.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/args\ncat > {tmp_path}/mail\n')
    sendmail.chmod(0o755)
    told = Hook(name="p", mail=("root",), sendmail=(str(sendmail), "-i"), folder=tmp_path)
    assert deliver(told, EVENT).problem == ""
    assert (tmp_path / "args").read_text().split() == ["-i", "root"]
    mail = (tmp_path / "mail").read_text()
    assert "Subject: cron2queue: order-export: 3 jobs are dead" in mail.replace("\n ", " ")
    assert "job 8b2c" in mail and "last line" in mail


def test_a_failing_hook_is_told_with_the_end_of_what_it_wrote(tmp_path: Path) -> None:
    problem = deliver(hook(tmp_path, "yes early | head -c 9000000 >&2; printf 'no \\033[31mroute' >&2; exit 3"), EVENT).problem
    assert problem.startswith("ended with 3: ")
    assert problem.endswith("no \\x1b[31mroute") and len(problem) < 9000


def test_a_hook_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    told = Hook(name="p", command=("/no/such/program",), folder=tmp_path)
    assert "cannot be started" in deliver(told, EVENT).problem


def test_a_hook_that_hangs_is_killed_with_everything_that_it_started(tmp_path: Path) -> None:
    problem = deliver(hook(tmp_path, "sleep 600 & echo $! > child; sleep 600", timeout=0.5), EVENT).problem
    assert "took longer than 0.5 s" in problem
    assert ends(int((tmp_path / "child").read_text()))


def test_a_hook_that_does_not_read_its_input_is_no_trouble(tmp_path: Path) -> None:
    flood = Event(occasion=Occasion.OUTPUT, subject="s", text="t", at="now", output="x" * 1_000_000)
    assert deliver(hook(tmp_path, "exit 0"), flood).problem == ""
