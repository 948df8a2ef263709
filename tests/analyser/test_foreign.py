"""What is no crontab is said so in one sentence, under every daemon; what is a crontab never is."""

import pytest
from judged import crontab, judged, standing

from cron2queue.analyser.finding import Severity

FOREIGN = {
    "a Kubernetes manifest": (
        'apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: hello\nspec:\n  schedule: "*/5 * * * *"\n  jobTemplate:\n',
        '---\n# the nightly job\nkind: "CronJob"\napiVersion: "batch/v1"\nspec:\n  schedule: 0 3 * * *\n',
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  crontab: |\n    0 3 * * * /opt/a.sh\n",
    ),
    "a GitHub workflow": (
        "name: nightly\non:\n  schedule:\n    - cron: '0 3 * * *'\njobs:\n  build:\n    runs-on: ubuntu-latest\n",
        "on:\n  push:\njobs:\n  a:\n    steps:\n      - run: echo ${{ github.ref }}\n",
        "on:\r\n  schedule:\r\n    - cron: '0 3 * * *'\r\n",
    ),
    "a Compose file": ('services:\n  cron:\n    image: shop\n    labels:\n      ofelia.job-exec.a.schedule: "@every 5m"\n',),
    "a YAML file": (
        "nightly:\n  schedule: '0 3 * * *'\n  script:\n    - make nightly\n",
        "jobs:\n- name: a\n  cron: '* * * * *'\n",
    ),
    "a systemd unit": (
        "[Unit]\nDescription=Backup\n\n[Timer]\nOnCalendar=daily\n\n[Install]\nWantedBy=timers.target\n",
        "# nightly\n[Timer]\nOnCalendar=*-*-* 03:00\n[Install]\nWantedBy=timers.target\n",
    ),
    "an INI file": ('[job-exec "a"]\nschedule = @hourly\ncommand = touch /tmp/a\n[x]\n',),
    "a shell script": (
        "#!/bin/bash\nset -e\ncd /opt/app\nfor f in *.txt; do\n  echo $f\ndone\n",
        "#! /usr/bin/env bash\n\n/opt/a.sh -x\nexit 0\n",
        "#!/bin/sh\nif [ -f /etc/on ]; then\n  /opt/a.sh\nfi\n",
    ),
    "a Python script": (
        "#!/usr/bin/python3.11\nimport os\n\nprint(os.getcwd())\n",
        "#!/usr/bin/env python3\nfrom x import y\ny()\n",
    ),
    "a PHP program": ("<?php\n$schedule->command('a')->daily();\nreturn 0;\n",),
    "a page of HTML": ("<!DOCTYPE html>\n<html>\n<body>Sign in</body>\n</html>\n",),
    "a JSON file": ('{\n  "schedule": "0 3 * * *",\n  "command": "/opt/a.sh"\n}\n',),
    "a Windows batch file": ("@echo off\nschtasks /create /tn x /sc daily\n",),
}
CRONTABS = (
    "#!/bin/sh\n0 3 * * * root /opt/a.sh\n",
    "#!/bin/bash\nSHELL=/bin/bash\n61 * * * * root /opt/a.sh\n",
    "61 * * * * root /opt/a.sh\n0 24 * * * root /opt/b.sh\n",
    "schedule: nightly\n0 3 * * * root /opt/a.sh\n",
    "[Timer]\n0 3 * * * root /opt/a.sh\n",
    "set -e\n0 3 * * * root /opt/a.sh\n0 4 * * * root /opt/b.sh\n",
    "<<<<<<< HEAD\n0 1 * * * root a\n=======\n0 2 * * * root a\n>>>>>>> x\n",
    "{{ minute }} * * * * root /opt/a.sh\n",
    "apiVersion: {{ version }}\nkind: CronJob\n{{ minute }} * * * * root /opt/a.sh\n",
    "",
    "# nothing\n",
)
DIALECTS = ["debian", "cronie", "busybox", "systemd-cron", "freebsd", "openbsd"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in FOREIGN.items() for text in texts])
def test_what_is_no_crontab_is_told_once_with_its_remedy(what: str, text: str, dialect: str) -> None:
    result = judged(crontab(text, dialect=dialect))
    (finding,) = standing(result, "C2Q119")
    assert finding.message.startswith(f"this is no crontab but {what}: ")
    assert finding.remedy
    assert finding.place.line is None
    assert {place.line for place in finding.related} == {line.number for line in crontab(text, dialect=dialect).malformed}
    assert [each.code for each in result.findings if each.severity is Severity.ERROR] == ["C2Q119"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", CRONTABS)
def test_a_crontab_with_a_strange_line_stays_one(text: str, dialect: str) -> None:
    result = judged(crontab(text, dialect=dialect))
    assert not standing(result, "C2Q119")
    bad = [line.number for line in crontab(text, dialect=dialect).malformed]
    assert not bad or [each for each in result.findings if each.place.line in bad] or result.not_judged


def test_a_template_is_told_as_one() -> None:
    (text, *_) = FOREIGN["a Kubernetes manifest"]
    assert not standing(judged(crontab(text, path="chart/cronjob.yaml.tmpl")), "C2Q119")
