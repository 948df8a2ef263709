"""The story: a grown crontab is audited, converted, and worked off; one job is retried, one dies and is given back."""

import gzip
import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import tomlkit

from cron2queue.bundled import data_root
from cron2queue.cli.demonstration.stage import Stage
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

AT = "2026-11-29T06:00:00+01:00"  # when the bundled logs end
ZONE = "Europe/Berlin"
FLAKY, BROKEN, QUIET = "import-orders", "export-feed", "send-mails"
JOBS = (FLAKY, BROKEN, QUIET)
MISSING_FILE = Path("srv/etc/marketplace.key")


def play(stage: Stage) -> None:
    """The whole story in order; raises DemonstrationFailed at the first step that does not hold."""
    _set_up(stage)
    _audit(stage)
    _convert(stage)
    _edit(stage)
    _enqueue(stage)
    _work(stage)
    _revive(stage)
    _end(stage)


def _set_up(stage: Stage) -> None:
    shop = data_root("examples") / "shop"
    shutil.copytree(shop / "srv", stage.folder / "srv")
    (stage.folder / "srv/var").mkdir()
    crontab = _moved((shop / "crontab").read_bytes(), stage)
    (stage.folder / "crontab").write_bytes(crontab)
    (stage.folder / "logs").mkdir()
    for log in sorted((shop / "logs").iterdir()):
        data = gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes()
        (stage.folder / "logs" / log.name.removesuffix(".gz")).write_bytes(_moved(data, stage))
    stage.heading("A crontab, grown over ten years, and a week of its logs")
    stage.tell(f"Everything stays in {stage.folder}; no root, no network, no server.")
    stage.tell("The shop is invented. Three of its commands are real small scripts in srv/bin, so that they can be run.")


def _moved(text: bytes, stage: Stage) -> bytes:
    """The shop's files lie in the demonstration's folder instead of /srv/shop."""
    return text.replace(b"/srv/shop", bytes(stage.folder / "srv"))


def _audit(stage: Stage) -> None:
    stage.heading("1  Audit: what is broken, what to queue, what to leave alone")
    colors = ("--color", "always" if stage.color else "never")
    promised = ("C2Q301", "C2Q401", "MIGRATION ORDER", "stays")
    stage.run("audit", "crontab", "--logs", "logs", "--timezone", ZONE, "--at", AT, *colors, expect=(1,), says=promised)
    stage.tell("Status 1 says that there are errors. Nothing was written.")


def _convert(stage: Stage) -> None:
    stage.heading("2  Convert: a plan and all that follows from it, written into a folder")
    sources = ("convert", "crontab", "--into", "c2q", "--logs", "logs", "--timezone", ZONE, "--at", AT)
    settings = ("--set", f"lock-folder={stage.folder / 'locks'}", "--database", f"sqlite:///{stage.folder / 'jobs.db'}")
    stage.run(*sources, *settings)
    (stage.folder / "locks").mkdir(mode=0o700)
    stage.run("diff", "c2q", expect=(1,), says=("enqueue import-orders", r"\%F"), show=False)


def _edit(stage: Stage) -> None:
    stage.heading("3  Edit the plan: the feed becomes a job too; three attempts, a second and then two apart")
    stage.tell("They run as you here, not as www-data.")
    path = stage.folder / "c2q" / "cron2queue.toml"
    plan = tomlkit.parse(path.read_text(encoding="utf-8"))
    me = pwd.getpwuid(os.geteuid()).pw_name
    for name in JOBS:
        plan["jobs"][name].update({"decision": "queue", "queue": "critical", "max-attempts": 3, "retry": [1, 2]})
    for job in plan["jobs"].values():
        if job["decision"] == "queue":
            job["user"] = me
    path.write_text(tomlkit.dumps(plan), encoding="utf-8")
    stage.run("convert", "crontab", "--into", "c2q", "--logs", "logs", "--timezone", ZONE, "--at", AT, "--quiet", show=False)
    stage.require(
        os.path.isfile(stage.folder / "c2q/handlers/export_feed.py"), "the edited plan made no handler for export-feed"
    )
    stage.run("migrate", "up", "--plan", "c2q/cron2queue.toml")


def _producer(stage: Stage, name: str) -> str:
    """The command of the generated crontab that cron would start for this job."""
    data = (stage.folder / "c2q/crontab.new").read_bytes()
    written = parse(data, path="crontab.new", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    found = [each.command for each in written.entries if f"enqueue {name} " in each.command]
    stage.require(len(found) == 1, f"crontab.new has {len(found)} producer lines for {name}, expected 1")
    return found[0].strip().removesuffix(" --quiet")


def _enqueue(stage: Stage) -> None:
    stage.heading("4  Enqueue: what cron will run, run by hand; the second time it is the same tick, so no second job")
    for name in JOBS:
        stage.shell(["/bin/sh", "-c", _producer(stage, name)], _producer(stage, name))
    again = ["/bin/sh", "-c", _producer(stage, QUIET)]
    said = stage.shell(again, f"(the producer of {QUIET} again)")
    if "duplicate" not in said:  # the minute turned between the two, so this was the next tick
        said = stage.shell(again, f"(the producer of {QUIET} again, in the same minute)")
    stage.require("duplicate" in said, "the same tick twice was not recognised as a duplicate")


def _worker_command() -> list[str]:
    return [sys.executable, "-m", "cron2queue", "worker", "--plan", "c2q/cron2queue.toml", "--children", "1", "--drain"]


def _drain(stage: Stage) -> str:
    """Two workers side by side, until nothing is left to do; what both logged."""
    command = _worker_command()
    print(f"\n$ {shlex.join(['cron2queue', *command[3:]])}    (twice, side by side)", flush=True)
    running = [
        subprocess.Popen(
            command, cwd=stage.folder, env=stage.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(2)
    ]
    logs = [worker.communicate(timeout=60)[0] for worker in running]
    for number, log in enumerate(logs, start=1):
        print("".join(f"worker {number} | {line}\n" for line in log.splitlines()), end="", flush=True)
    stage.require(all(worker.returncode == 0 for worker in running), "a worker did not end with status 0")
    return "".join(logs)


def _jobs(stage: Stage) -> dict[str, dict[str, object]]:
    """The jobs by kind, as `jobs list --format json` tells them."""
    listed = json.loads(stage.run("jobs", "list", "--plan", "c2q/cron2queue.toml", "--format", "json", show=False))
    return {job["kind"]: job for job in listed}


def _work(stage: Stage) -> None:
    stage.heading("5  Work: two workers; one job fails once and is retried, one fails for good")
    _drain(stage)
    jobs = _jobs(stage)
    states = {name: (jobs[name]["state"], jobs[name]["attempts"]) for name in JOBS}
    expected = {FLAKY: ("succeeded", 2), BROKEN: ("dead", 3), QUIET: ("succeeded", 1)}
    stage.require(states == expected, f"the jobs ended as {states}, expected {expected}")
    stage.tell("\nThe orders were fetched at the second attempt, where cron would have waited five minutes:")
    stage.run("jobs", "show", str(jobs[FLAKY]["id"]), "--plan", "c2q/cron2queue.toml", says=("exit 75", "ATTEMPT 2"))


def _revive(stage: Stage) -> None:
    stage.heading("6  The dead job: see why it died, mend the cause, give it another chance")
    plan = ("--plan", "c2q/cron2queue.toml")
    stage.run("dead", "list", *plan, says=(BROKEN,))
    stage.tell(f"\n(the missing key is put at {MISSING_FILE})")
    key = stage.folder / MISSING_FILE
    key.parent.mkdir()
    key.write_text("a key for the demonstration\n", encoding="utf-8")
    stage.run("dead", "requeue", *plan, "--kind", BROKEN)
    _drain(stage)
    stage.require(_jobs(stage)[BROKEN]["state"] == "succeeded", "the requeued job did not succeed")
    stage.require(os.path.isfile(stage.folder / "srv/var/feed.csv"), "the requeued job wrote no feed")


def _end(stage: Stage) -> None:
    stage.heading("7  Status: one screen")
    stage.run("status", "--plan", "c2q/cron2queue.toml")
    stage.heading("Done")
    stage.tell(f"Look around in {stage.folder}: c2q/REVIEW.md is the best place to begin.")
    stage.tell("Your own crontab:  cron2queue audit     (reads only, needs no root)")
