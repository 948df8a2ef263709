"""What every engine promises: each policy kept or refused with a reason, and files that can be read back."""

import inspect
import re
import shutil
import subprocess
from collections.abc import Callable
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest

from cron2queue.errors import UsageError
from cron2queue.generator.engine import Engine, engine_named, engines
from cron2queue.runtime.settings import Overlap

Convert = Callable[..., Any]
ENGINES = sorted(engines())
TEXT = "PATH=/usr/bin:/bin\n*/5 * * * * root bin/work --all%one%two\n0 3 1,15 * 5 root bin/nightly\n@reboot root bin/boot\n"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_named(request.param)


def test_every_policy_is_kept_or_refused_with_a_reason(engine: Engine) -> None:
    assert set(engine.overlaps) == set(Overlap)
    for policy, reason in engine.overlaps.items():
        assert reason == "" or len(reason.split()) >= 5, policy
    assert engine.overlaps[Overlap.SKIP] == ""


def test_an_engine_explains_itself(engine: Engine) -> None:
    assert len((inspect.getdoc(type(engine)) or "").split()) > 8


@pytest.mark.parametrize("policy", list(Overlap))
def test_what_is_promised_is_what_convert_does(engine: Engine, policy: Overlap, convert: Convert) -> None:
    name = engine.engine_name()
    prepared = convert(
        "17 4 * * * root bin/work\n",
        decisions={"work": "guard" if name == "guard" else "queue"},
        engine=name,
    )
    again = convert(
        "17 4 * * * root bin/work\n", engine=name, edit=lambda plan: plan.replace('overlap = "skip"', f'overlap = "{policy}"')
    )
    assert prepared.draft.refused == {}
    if engine.overlaps[policy]:
        assert engine.overlaps[policy] in again.draft.refused["work"]
    else:
        assert again.draft.refused == {}


def test_artifacts_have_safe_paths_and_modes(engine: Engine, convert: Convert, tmp_path: Path) -> None:
    name = engine.engine_name()
    decision = "guard" if name == "guard" else "queue"
    prepared = convert(TEXT, decisions=dict.fromkeys(("work", "nightly", "boot"), decision), engine=name)
    assert set(prepared.draft.refused) <= {"boot"}, "only a start of the machine may be beyond a target"
    for artifact in prepared.product.artifacts:
        assert not artifact.path.startswith("/")
        assert ".." not in artifact.path.split("/")
        assert artifact.mode in (0o600, 0o640, 0o644, 0o755)
        assert (tmp_path / "out" / artifact.path).read_bytes() == artifact.content


def test_a_scope_over_several_hosts_is_kept_or_refused(engine: Engine, convert: Convert) -> None:
    name = engine.engine_name()
    decision = "guard" if name == "guard" else "queue"
    convert("17 4 * * * root bin/work\n", decisions={"work": decision}, engine=name)
    again = convert(
        "17 4 * * * root bin/work\n", engine=name, edit=lambda plan: plan.replace('scope = "host"', 'scope = "database"')
    )
    refused = again.draft.refused.get("work", "")
    assert engine.database_scope in refused
    assert bool(engine.database_scope) == bool(refused)


def test_an_unknown_engine_is_told_with_what_was_meant(convert: Convert) -> None:
    with pytest.raises(UsageError, match="no engine"):
        engine_named("sqlqueu")
    with pytest.raises(UsageError, match="no engine"):
        convert("17 4 * * * root bin/work\n", engine="celary")


def test_one_job_can_have_another_engine(convert: Convert, tmp_path: Path) -> None:
    convert(TEXT, decisions={"work": "queue", "nightly": "queue"}, zone="UTC", timezone="UTC")
    convert(TEXT, zone="UTC", edit=lambda plan: plan + '\n[engines]\nnightly = "systemd"\n')
    assert (tmp_path / "out/units/systemd/cron2queue-shop-nightly.timer").exists()
    assert not (tmp_path / "out/units/systemd/cron2queue-shop-work.timer").exists()


def test_a_start_that_systemd_would_move_is_refused_with_a_way_out(convert: Convert) -> None:
    prepared = convert("30 2 * * * root bin/nightly\n", decisions={"nightly": "queue"}, engine="systemd")
    assert "2027-03-28" in prepared.draft.refused["nightly"]
    assert 'schedule = "30 3 * * *"' in prepared.draft.refused["nightly"]
    again = convert(
        "30 2 * * * root bin/nightly\n",
        engine="systemd",
        edit=lambda plan: plan.replace('schedule = "30 2 * * *"', 'schedule = "30 3 * * *"'),
    )
    assert again.draft.refused == {}


def test_a_daemon_that_cron_starts_at_boot_becomes_a_service_that_is_looked_after(convert: Convert, tmp_path: Path) -> None:
    text = "@reboot www-data cd /srv && node ws.js &\n@reboot www-data bin/once && bin/twice\n"
    names = [job.name for job in convert(text).merged.plan.jobs]
    assert convert(text, decisions=dict.fromkeys(names, "queue"), engine="systemd").draft.refused == {}
    convert(text, edit=lambda plan: plan.replace('engine = "sqlqueue"', 'engine = "systemd"'))
    daemon, once = ((tmp_path / f"out/units/systemd/cron2queue-shop-{name}.service").read_text() for name in names)
    assert 'ExecStart=/bin/sh -c "cd /srv && node ws.js"' in daemon
    assert "Restart=always" in daemon
    assert "Type=oneshot" in once
    assert "bin/once && bin/twice" in once
    assert "WantedBy=multi-user.target" in daemon


def seconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|min|)", text).groups()  # type: ignore[union-attr]
    return int(number) * (60 if unit == "min" else 1)


@pytest.mark.parametrize("name", ["sqlqueue", "celery"])
def test_what_ends_while_the_database_is_away_is_started_again_for_as_long_as_it_takes(
    name: str, convert: Convert, tmp_path: Path
) -> None:
    convert(TEXT, decisions=dict.fromkeys(("work", "nightly", "boot"), "queue"), engine=name)
    kept_up = 0
    for path in (tmp_path / "out/units/systemd").glob("*.service"):
        unit = RawConfigParser(strict=False)
        unit.read_string(path.read_text())
        if unit.get("Service", "Restart", fallback="no") == "always":
            interval = seconds(unit.get("Unit", "StartLimitIntervalSec", fallback="10s"))
            burst = int(unit.get("Unit", "StartLimitBurst", fallback="5"))
            assert burst * seconds(unit["Service"]["RestartSec"]) > interval or not interval, path.name
            kept_up += 1
    for path in (tmp_path / "out/units/supervisor").glob("*.conf"):
        programs = RawConfigParser(strict=False, comment_prefixes=(";",), inline_comment_prefixes=None)
        programs.read(path)
        for each in programs.sections():  # an end within startsecs is a failed start: three of them, and Supervisor gives up
            assert programs[each].getint("startretries") >= 1_000_000 and programs[each].getint("startsecs") >= 5
            kept_up += 1
    assert kept_up >= 2


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("level", ["off", "basic", "strict"])
def test_units_pass_systemds_own_check(level: str, convert: Convert, tmp_path: Path) -> None:
    from cron2queue.plan.model import Hardening

    names = dict.fromkeys(("work", "nightly", "boot"), "queue")
    options = {"harden": Hardening(level), "zone": "UTC", "timezone": "UTC"}
    prepared = convert(TEXT, decisions=names, engine="systemd", **options)
    assert prepared.draft.refused == {}
    units = sorted(map(str, (tmp_path / "out/units/systemd").iterdir()))
    assert len(units) == 5
    verify(units)
    convert(TEXT, decisions=names, edit=lambda plan: plan.replace('engine = "systemd"', 'engine = "sqlqueue"'), **options)
    service = next((tmp_path / "out/units/systemd").glob("*worker@.service"))
    verify([str(service).replace("@.", "@default.")], named=service)
    score = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", str(tmp_path / "out/units/systemd/cron2queue-shop-work.service")],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "SYSTEMD_COLORS": "0"},
    )
    assert "Overall exposure level" in score.stdout, score.stderr
    exposure = float(score.stdout.rpartition("service: ")[2].split()[0])
    assert exposure < {"off": 11, "basic": 8, "strict": 6}[level]


def verify(units: list[str], named: Path | None = None) -> None:
    if named is not None:
        shutil.copyfile(named, units[0])
    ran = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = [line for line in ran.stderr.splitlines() if "cron2queue-shop" in line and "DeferReactivation" not in line]
    assert said == []
