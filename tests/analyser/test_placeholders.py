"""Placeholders that nobody filled in are found, and what only looks like one is left alone."""

import pytest
from judged import crontab, judged

from cron2queue.analyser import templates
from cron2queue.analyser.placeholders import placeholder


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("mysql -u <user> shop", "<user>"),
        ("mysql -p<password> shop", "<password>"),
        ("scp a <your-host>:/b", "<your-host>"),
        ("cd /srv/<app name>/bin && ./run", "<app name>"),
        ("curl https://<DOMAIN>/cron", "<DOMAIN>"),
        ("cd {{ root }}/bin", "{{ root }}"),
        ("cd {{root}}/bin", "{{root}}"),
        ("cd {{ item.path | default('/srv') }}", "{{ item.path | default('/srv') }}"),
        ("curl -s '${{ secrets.URL }}'", "${{ secrets.URL }}"),
        ("run {{ .Values.command }}", "{{ .Values.command }}"),
        ("<%= @path %>/bin/run", "<%= @path %>"),
        ("{% if x %}run{% endif %}", "{% if x %}"),
        ("@BINDIR@/run", "@BINDIR@"),
        ("%%PREFIX%%/bin/run", "%%PREFIX%%"),
        ("php /path/to/artisan schedule:run", "/path/to/artisan"),
        ("cd /full/path/to/moodle && run", "/full/path/to/moodle"),
    ],
)
def test_it_is_found_where_it_stands(command: str, found: str) -> None:
    span = placeholder(command)
    assert span is not None
    assert command[slice(*span)] == found


@pytest.mark.parametrize(
    "command",
    [
        "docker ps --format '{{.Names}}'",
        "docker ps --format {{.ID}}",
        "docker inspect -f '{{ json .State }}' x",
        "docker inspect -f '{{range .Mounts}}{{.Source}}{{end}}' x",
        "docker ps --format 'table {{ .Names }}'",
        "curl -s -w '%{http_code}' https://shop/",
        "mysql shop <dump.sql >out.log",
        "mysql shop <dump >out",
        "sort <in>out",
        "cat <host>all",
        "sort <(cut -f1 a) >(tee b)",
        "cat <<user>x",
        "run 2<user>x",
        "grep '<user>' x.xml",
        'mail -s "to <user>" x',
        "echo $((1<2))",
        "date +%%Y",
        "mail user@EXAMPLE.ORG",
        "a {} b {} c",
        "/srv/path/to/run",
        "/opt/a-path/to/run",
        "",
    ],
)
def test_what_only_looks_like_one_is_none(command: str) -> None:
    assert placeholder(command) is None


def test_whether_an_ignored_file_is_a_template_is_asked_once_and_not_at_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand entries of a file that cron ignores took minutes."""
    looked: list[bytes] = []
    is_template_line = templates.is_template_line
    monkeypatch.setattr(templates, "is_template_line", lambda file, raw: looked.append(raw) or is_template_line(file, raw))
    file = crontab("* * * * * /bin/run\n61 * * * * /bin/bad\n" * 50, kind="user")
    verdicts = judged(file).verdicts
    assert not file.loaded and len(verdicts) == 50 and all("ignores the whole file" in each.because for each in verdicts)
    assert 50 <= len(looked) <= 500
