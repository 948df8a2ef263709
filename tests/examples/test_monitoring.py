"""The monitoring examples: rules that fire when they should, a dashboard that loads, units and lines that their tools read."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from cron2queue.cli.app import COMMANDS
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

FOLDER = Path(__file__).resolve().parents[2] / "examples/monitoring"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")


def promtool(*arguments: str) -> str:
    ran = subprocess.run([str(PROMTOOL), *arguments], cwd=FOLDER, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    return read


def expressions() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]


@needs_promtool
def test_prometheus_reads_the_rules_and_the_configuration() -> None:
    assert "SUCCESS" in promtool("check", "rules", "alert-rules.yml")
    assert "SUCCESS" in promtool("check", "config", "--syntax-only", "prometheus.yml")


@needs_promtool
def test_the_rules_fire_when_they_should_and_not_before() -> None:
    assert "SUCCESS" in promtool("test", "rules", "alert-rules-test.yml")


@needs_promtool
def test_prometheus_reads_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    plain = [re.sub(r"\$__rate_interval", "5m", re.sub(r"\$(instance|queue|kind)\b", ".*", each)) for each in expressions()]
    rules = "".join(f"  - record: r:{number}\n    expr: |\n      {each}\n" for number, each in enumerate(plain))
    (tmp_path / "rules.yml").write_text("groups:\n- name: dashboard\n  rules:\n" + rules)
    assert f"SUCCESS: {len(plain)} rules found" in promtool("check", "rules", str(tmp_path / "rules.yml"))


def test_every_alert_has_a_severity_a_sentence_and_a_remedy() -> None:
    text = (FOLDER / "alert-rules.yml").read_text(encoding="utf-8")
    alerts = text.split("- alert: ")[1:]
    assert len(alerts) >= 12
    for alert in alerts:
        assert re.search(r"severity: (critical|warning)", alert) and "summary: " in alert and "remedy: " in alert


def test_the_dashboard_has_panels_that_do_not_overlap_and_ids_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_the_dashboard_asks_for_no_data_source_by_a_fixed_name() -> None:
    names = {variable["name"] for variable in dashboard()["templating"]["list"]}
    assert names == {"datasource", "instance", "queue", "kind"}
    used = set(re.findall(r"\$(\w+)", " ".join(expressions()))) - {"__rate_interval"}
    assert used <= names


def test_the_cron_lines_are_entries_and_call_commands_with_options_that_exist() -> None:
    data = (FOLDER / "cron-lines").read_bytes()
    file = parse(data, path="cron-lines", dialect=dialect_named("debian"), kind=Kind.USER)
    assert len(file.entries) == 3 and not file.malformed
    known = {name for name, _ in COMMANDS}
    for entry in file.entries:
        command, *options = entry.command.split("/bin/cron2queue ")[1].split()
        assert command in known
        said = run(command, "--help").out
        assert all(option in said for option in options if option.startswith("--"))


def test_the_unit_starts_the_endpoint_on_the_port_that_prometheus_scrapes() -> None:
    unit = (FOLDER / "metrics.service").read_text(encoding="utf-8")
    listens = re.findall(r"--listen (\S+)", unit)
    assert listens == re.findall(r'targets: \["([^"]+)"\]', (FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
