"""Commands as handlers: programs of four languages that keep the exec contract, and the old command as cron ran it."""

import json
import os
import pwd
from pathlib import Path

import pytest
from presence import need_program, need_root
from workbench import PATIENCE_SECONDS, Workbench

from cron2queue.runtime import run_command
from cron2queue.runtime.handlers import Permanent, RetryLater
from cron2queue.runtime.worker.command import CommandFailed, cron_environment
from cron2queue.runtime.worker.statuses import Ending, ProgramEnd

# Each reads the payload, checks that the environment names the job, reports progress and a result, and ends by payload.
PROGRAMS = {
    "sh": """#!/bin/sh
payload=$(cat)
echo "sh got $payload for $C2Q_JOB_KEY, attempt $C2Q_ATTEMPT"
echo '{"progress": 0.5, "phase": "half"}' >&3
echo '{"result": "sh/42"}' >&3
exit "$(printf %s "$payload" | sed 's/.*"exit": *\\([0-9]*\\).*/\\1/')"
""",
    "php": """#!/usr/bin/php
<?php
$payload = json_decode(stream_get_contents(STDIN), true, 512, JSON_THROW_ON_ERROR);
echo "php got ", json_encode($payload), " for ", getenv("C2Q_JOB_KEY"), ", attempt ", getenv("C2Q_ATTEMPT"), "\\n";
$report = fopen("php://fd/3", "w");
fwrite($report, json_encode(["progress" => 0.5, "phase" => "half"]) . "\\n");
fwrite($report, json_encode(["result" => "php/42"]) . "\\n");
exit($payload["exit"]);
""",
    "node": """#!/usr/bin/node
const fs = require("fs");
const payload = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(`node got ${JSON.stringify(payload)} for ${process.env.C2Q_JOB_KEY}, attempt ${process.env.C2Q_ATTEMPT}`);
fs.writeSync(3, JSON.stringify({progress: 0.5, phase: "half"}) + "\\n");
fs.writeSync(3, JSON.stringify({result: "node/42"}) + "\\n");
process.exitCode = payload.exit;
""",
    "python": """#!/usr/bin/env python3
import json, os, sys
payload = json.load(sys.stdin)
print(f"python got {json.dumps(payload)} for {os.environ['C2Q_JOB_KEY']}, attempt {os.environ['C2Q_ATTEMPT']}", flush=True)
with os.fdopen(3, "w") as report:
    print(json.dumps({"progress": 0.5, "phase": "half"}), file=report)
    print(json.dumps({"result": "python/42"}), file=report)
sys.exit(payload["exit"])
""",
}


def program(bench: Workbench, language: str, text: str | None = None, **keys: object) -> None:
    need_program(language if language != "python" else "python3")
    bench.write("handlers/export", text or PROGRAMS[language], mode=0o755)
    lines = "\n".join(f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in keys.items())
    bench.write("cron2queue.toml", f'[jobs.export]\nhandler = "handlers/export"\n{lines}\n')


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_of_any_language_does_a_job(sqlite_bench: Workbench, language: str) -> None:
    program(sqlite_bench, language)
    job = sqlite_bench.enqueue("export", {"exit": 0, "name": "Grüße 🎉"}, key="k1")
    assert sqlite_bench.drain() == 0
    row, attempts = sqlite_bench.job(job), sqlite_bench.attempts(job)
    assert (row["state"], row["result_ref"]) == ("succeeded", f"{language}/42")
    assert attempts[0]["output_tail"].startswith(f"{language} got")
    assert "for k1, attempt 1" in attempts[0]["output_tail"]
    assert (attempts[0]["outcome"], attempts[0]["exit_status"]) == ("done", 0)


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_exit_status_of_any_language_decides(sqlite_bench: Workbench, language: str) -> None:
    program(sqlite_bench, language, retry=[0])
    expected = {75: ["retry", "retry"], 65: ["permanent"], 1: ["failed", "failed"], 124: ["timeout", "timeout"]}
    jobs = {status: sqlite_bench.enqueue("export", {"exit": status}, max_attempts=2) for status in expected}
    assert sqlite_bench.drain() == 0
    attempts = {status: sqlite_bench.attempts(job) for status, job in jobs.items()}
    assert {status: [each["outcome"] for each in ended] for status, ended in attempts.items()} == expected
    assert {each["exit_status"] for each in attempts[75]} == {75}
    assert sqlite_bench.states() == {"dead": 4}


def test_the_idempotency_key_is_the_same_in_every_attempt_and_the_attempt_is_not(sqlite_bench: Workbench) -> None:
    script = (
        '#!/bin/sh\necho "$C2Q_IDEMPOTENCY_KEY $C2Q_JOB_ID $C2Q_ATTEMPT/$C2Q_MAX_ATTEMPTS $C2Q_QUEUE $C2Q_JOB_KIND"; exit 75\n'
    )
    program(sqlite_bench, "sh", script, retry=[0])
    job = sqlite_bench.enqueue("export", max_attempts=3)
    sqlite_bench.drain()
    lines = [each["output_tail"].split() for each in sqlite_bench.attempts(job)]
    assert {(line[0], line[1]) for line in lines} == {(job.public_id, job.public_id)}
    assert [line[2] for line in lines] == ["1/3", "2/3", "3/3"]
    assert {(line[3], line[4]) for line in lines} == {("default", "export")}


def test_a_program_has_the_locale_that_the_worker_was_given_and_not_what_python_makes_of_it(sqlite_bench: Workbench) -> None:
    program(sqlite_bench, "sh", '#!/bin/sh\necho "<$LC_CTYPE>"\n')
    job = sqlite_bench.enqueue("export")
    worker = sqlite_bench.start("--drain", environment={"LC_ALL": "", "LANG": "", "LC_CTYPE": ""})
    assert worker.wait(PATIENCE_SECONDS) == 0
    assert [each["output_tail"] for each in sqlite_bench.attempts(job)] == ["<>"]


def test_a_program_ended_by_a_signal_is_a_crash_and_three_of_them_are_its_end(sqlite_bench: Workbench) -> None:
    program(sqlite_bench, "sh", "#!/bin/sh\nkill -SEGV $$\n", retry=[0])
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    attempts = sqlite_bench.attempts(job)
    assert [(each["outcome"], each["signal_number"], each["exit_status"]) for each in attempts] == [("signal", 11, None)] * 3
    assert (sqlite_bench.job(job)["state"], sqlite_bench.job(job)["crashes"]) == ("dead", 3)


def test_a_programs_own_137_is_told_apart_from_a_kill(sqlite_bench: Workbench) -> None:
    program(sqlite_bench, "sh", "#!/bin/sh\nexit 137\n", retry="none")
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    attempt = sqlite_bench.attempts(job)[0]
    assert (attempt["outcome"], attempt["exit_status"], attempt["signal_number"]) == ("signal", 137, None)


def test_a_kind_may_say_what_a_status_means(sqlite_bench: Workbench) -> None:
    program(sqlite_bench, "sh", "#!/bin/sh\nexit 3\n", exit_statuses={})
    sqlite_bench.write(
        "cron2queue.toml", '[jobs.export]\nhandler = "handlers/export"\n[jobs.export.exit-statuses]\n3 = "done"\n'
    )
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    assert (sqlite_bench.job(job)["state"], sqlite_bench.attempts(job)[0]["exit_status"]) == ("succeeded", 3)


def test_a_timeout_kills_the_program_and_its_daemons(sqlite_bench: Workbench) -> None:
    script = f"""#!/bin/sh
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > {sqlite_bench.folder}/daemon; exec sleep 600' >/dev/null 2>&1 3>&- &
sleep 600
"""
    program(sqlite_bench, "sh", script, timeout=0.5, grace=0.2, retry="none")
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    attempt = sqlite_bench.attempts(job)[0]
    assert (attempt["outcome"], sqlite_bench.job(job)["state"]) == ("timeout", "dead")
    assert not Path(f"/proc/{int(sqlite_bench.lines('daemon')[0])}").exists()


def test_a_program_over_its_memory_is_told_as_such(sqlite_bench: Workbench) -> None:
    script = "#!/usr/bin/env python3\nx = bytearray(120_000_000)\nimport time\ntime.sleep(600)\n"
    program(sqlite_bench, "python", script, memory_limit=60_000_000, retry="none")
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    attempt = sqlite_bench.attempts(job)[0]
    assert (attempt["outcome"], attempt["message"]) == ("out_of_memory", "it took more memory than it may")
    assert attempt["max_rss_bytes"] > 60_000_000


def test_output_is_kept_as_head_and_tail_with_secrets_masked(sqlite_bench: Workbench) -> None:
    script = "#!/bin/sh\necho head mysql://app:hunter2@db/x\nseq 1 100000\nprintf 'tail \\377 \\033[31m'\n"
    program(sqlite_bench, "sh", script)
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    output = sqlite_bench.attempts(job)[0]["output_tail"]
    assert output.startswith("head mysql://app:")
    assert "hunter2" not in output
    assert "bytes left out" in output
    assert output.endswith("100000\ntail \\xff \\x1b[31m")


def test_an_executable_that_is_missing_stops_the_worker_at_its_start(sqlite_bench: Workbench) -> None:
    sqlite_bench.write("cron2queue.toml", '[jobs.export]\nhandler = "handlers/none"\n')
    assert sqlite_bench.drain() == 2
    assert "cron2queue.toml:2: jobs.export.handler: there is no file" in sqlite_bench.log()


def test_a_program_that_vanished_after_the_start_could_not_start(sqlite_bench: Workbench) -> None:
    program(sqlite_bench, "sh", "#!/nonexistent/interpreter\n", retry="none")
    job = sqlite_bench.enqueue("export")
    sqlite_bench.drain()
    attempt = sqlite_bench.attempts(job)[0]
    assert (attempt["outcome"], attempt["exit_status"]) == ("could_not_start", None)
    assert "No such file" in attempt["diagnostic"]


# ---- the old command


def test_the_old_command_runs_as_cron_ran_it(sqlite_bench: Workbench) -> None:
    home = sqlite_bench.folder / "home"
    home.mkdir()
    sqlite_bench.write(
        "cron2queue.toml",
        f"""[jobs.old]
command = 'echo "$0 in $PWD, PATH=$PATH, LOGNAME=$LOGNAME, X=$X, leaked=$CRON2QUEUE_SECRET"; cat'
stdin = "first line\\nsecond line"
[jobs.old.environment]
HOME = "{home}"
X = "a b"
""",
    )
    job = sqlite_bench.enqueue("old")
    assert sqlite_bench.start("--drain", environment={"CRON2QUEUE_SECRET": "from the worker"}).wait(60) == 0
    name = pwd.getpwuid(os.geteuid()).pw_name
    assert sqlite_bench.attempts(job)[0]["output_tail"].split("\n") == [
        f"/bin/sh in {home}, PATH=/usr/bin:/bin, LOGNAME={name}, X=a b, leaked=",
        "first line",
        "second line",
    ]


def test_the_crontabs_assignments_come_after_crons_own_but_nobody_changes_who_runs_it() -> None:
    made = cron_environment({"PATH": "/opt/bin", "LOGNAME": "root2", "LANG": "C"}, shell="/bin/bash", home="/srv")
    assert made == {
        "SHELL": "/bin/bash",
        "PATH": "/opt/bin",
        "HOME": "/srv",
        "LOGNAME": pwd.getpwuid(os.geteuid()).pw_name,
        "LANG": "C",
    }


def test_as_root_a_command_runs_as_its_user() -> None:
    need_root("can become another user")
    done = run_command("id -un; id -Gn; pwd; echo $HOME $LOGNAME", user="nobody", home="/")
    assert done.output.split("\n") == ["nobody", "nogroup", "/", "/ nobody"]


def test_an_unknown_user_is_told() -> None:
    from cron2queue.runtime.worker.spawn import CouldNotStart

    with pytest.raises(CouldNotStart, match="not known on this host"):
        run_command("true", user="nobody-at-all")


def test_a_user_without_a_home_still_has_jobs_as_with_debian_cron(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-such-home")
    assert run_command("pwd; echo $HOME", home=missing).output.split("\n") == ["/", missing]
    unusable = f"{tmp_path}/{'x' * 300}"
    assert run_command("pwd", home=unusable).output == "/"


def test_run_command_works_outside_of_a_worker_and_raises_by_status() -> None:
    assert run_command("echo hi", home="/tmp").output == "hi"
    with pytest.raises(Permanent):
        run_command("exit 65", home="/tmp")
    with pytest.raises(RetryLater):
        run_command("exit 75", home="/tmp")
    with pytest.raises(CommandFailed) as caught:
        run_command("exit 3", home="/tmp")
    assert (caught.value.execution.end, caught.value.ending) == (ProgramEnd(exit_status=3), Ending.FAILED)


def test_a_python_handler_that_runs_the_old_command_hands_its_end_through(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("done gives-up waits", retry="none", timeout=0.6, grace=0.2)
    sqlite_bench.handlers("""
from cron2queue.runtime import run_command
@handler("done")
def done(job): run_command("echo did it", home="/tmp")
@handler("gives-up")
def gives_up(job): run_command("echo no; exit 78", home="/tmp")
@handler("waits")
def waits(job): run_command("sleep 600", home="/tmp")
""")
    jobs = {kind: sqlite_bench.enqueue(kind) for kind in ("done", "gives-up", "waits")}
    sqlite_bench.drain()
    ends = {kind: sqlite_bench.attempts(job)[0] for kind, job in jobs.items()}
    assert [(ends[kind]["outcome"], ends[kind]["exit_status"]) for kind in jobs] == [
        ("done", 0),
        ("permanent", 78),
        ("timeout", None),
    ]
    assert ends["done"]["output_tail"] == "did it"
