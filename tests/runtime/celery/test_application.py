"""celery_app.py as Celery and the relay load it: one sentence for what is wrong, and its owner's settings for both."""

import subprocess
import sys
from pathlib import Path

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.celery.address import BROKER_VARIABLE
from cron2queue.runtime.celery.application import application_beside

NOWHERE = "amqp://guest:guest@127.0.0.1:1//"
PLAN = '[jobs.a]\nhandler = "command"\ncommand = "true"\ntimeout = 60\n'
APPLICATION = """
from pathlib import Path
from cron2queue.runtime.celery.application import application_or_exit
app = application_or_exit(Path(__file__).resolve().parent / "cron2queue.toml")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(BROKER_VARIABLE, NOWHERE)
    (tmp_path / "cron2queue.toml").write_text(PLAN)
    (tmp_path / "celery_app.py").write_text(APPLICATION)
    return tmp_path


@pytest.mark.parametrize("program", ["worker", "beat"])
@pytest.mark.parametrize(
    ("plan", "broker", "said"),
    [
        (PLAN.replace("60", "true"), NOWHERE, "timeout"),
        (PLAN.replace("60", str(8 * 86400)), NOWHERE, "lower its timeout"),
        ("[jobs.a]", NOWHERE, "handler"),
        (PLAN, "http://h", "no broker"),
        (PLAN, "amqp://u:SECRET@h:port//", "cannot be read"),
        (PLAN + "must-not-be-lost = true\n", "redis://h/0", "must not be lost"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, program: str, plan: str, broker: str, said: str
) -> None:
    (folder / "cron2queue.toml").write_text(plan)
    monkeypatch.setenv(BROKER_VARIABLE, broker)
    command = [sys.executable, "-P", "-m", "celery", "-A", "celery_app", program]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert ran.stderr.startswith("cron2queue: ") and said in ran.stderr
    assert "Traceback" not in ran.stderr and "SECRET" not in ran.stderr


def test_settings_of_its_owner_hold_for_the_relay_too(folder: Path) -> None:
    own = "import ours\napp.conf.update(broker_use_ssl=ours.TLS)\n"
    (folder / "ours.py").write_text("TLS = {'ca_certs': '/etc/ssl/own.pem'}\n")
    (folder / "celery_app.py").write_text(APPLICATION + own)
    app = application_beside(folder / "cron2queue.toml")
    assert app.conf.broker_use_ssl == {"ca_certs": "/etc/ssl/own.pem"}
    assert app.connection_for_write().ssl == {"ca_certs": "/etc/ssl/own.pem"}
    assert app.conf.task_acks_late


def test_without_the_file_the_plan_is_enough(folder: Path) -> None:
    (folder / "celery_app.py").unlink()
    assert application_beside(folder / "cron2queue.toml").conf.broker_url == NOWHERE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app = 1 / 0", "ZeroDivisionError"),
        ("app = 7", "no Celery application"),
        ("other = 7", "no Celery application"),
        ("app =", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named(folder: Path, text: str, said: str) -> None:
    (folder / "celery_app.py").write_text(text)
    with pytest.raises(UsageError, match=said) as trouble:
        application_beside(folder / "cron2queue.toml")
    assert trouble.value.place == str(folder / "celery_app.py")


MODULE = """
from cron2queue.runtime.handlers import handler

@handler("ours.export", queue="exports", timeout=90, grace=5)
def export(job):
    job.result("exported")
"""


def test_kinds_of_handler_modules_are_tasks_and_their_queues_are_declared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "cron2queue.toml").write_text(f'[project]\nname = "t"\nhandlers = ["ours"]\n\n{PLAN}')
    (folder / "ours.py").write_text(MODULE)
    app = application_beside(folder / "cron2queue.toml")
    assert {name for name in app.tasks if name.startswith("c2q.")} == {"c2q.a", "c2q.ours.export"}
    assert [queue.name for queue in app.conf.task_queues] == ["c2q.t.default", "c2q.t.exports"]
    assert app.tasks["c2q.ours.export"].time_limit > 95


def test_a_handler_module_that_cannot_be_loaded_is_told(folder: Path) -> None:
    (folder / "cron2queue.toml").write_text(f'[project]\nhandlers = ["ours"]\n\n{PLAN}')
    (folder / "ours.py").write_text("import nothing_of_that_name\n")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "celery", "-A", "celery_app", "worker"], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert "nothing_of_that_name" in ran.stderr and "Traceback" not in ran.stderr
