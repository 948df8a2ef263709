"""Which files are of one machine, and what is a template."""

from dataclasses import replace

import pytest
from judged import crontab, judged, standing

from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.templates import is_template, is_template_head, is_template_path


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/etc/crontab", ""),
        ("/etc/cron.d/shop", ""),
        ("web1/etc/crontab", "web1"),
        ("/backup/web2/etc/cron.d/shop", "/backup/web2"),
        ("/backup/web2/var/spool/cron/crontabs/root", "/backup/web2"),
        ("crontab.txt", ""),
        ("-", ""),
    ],
)
def test_the_host_is_the_folder_above_its_etc_or_var(path: str, host: str) -> None:
    assert host_of(crontab("", path=path)) == host


def test_a_named_host_counts_more_than_the_path() -> None:
    assert host_of(replace(crontab("", path="web1/etc/crontab"), host="db1")) == "db1"


@pytest.mark.parametrize("text", ["{{ minute }}", "{% if x %}", "<%= @hour %>", "%{hostname}", "@VERSION@", "x {{a}} y"])
def test_placeholders_are_templates(text: str) -> None:
    assert is_template(text)


@pytest.mark.parametrize(
    "text", ["$(date +%F)", "awk '{print $1}'", "${HOME}/x", "user@host.example", "find . -exec rm {} +", "%Y%m"]
)
def test_shell_is_no_template(text: str) -> None:
    assert not is_template(text)


def test_variables_in_schedule_or_user_are_a_template() -> None:
    assert is_template_head("${MINUTE} * * * *")
    assert is_template_head("$MINUTE * * * * root")
    assert not is_template_head("0 1 * * *")


@pytest.mark.parametrize("path", ["cron.j2", "a/b.erb", "crontab.tmpl", "x.template"])
def test_names_tell_templates_too(path: str) -> None:
    assert is_template_path(path)
    assert not is_template_path("/etc/crontab")


def test_a_lock_on_two_hosts_is_told_once_with_both() -> None:
    line = "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php\n"
    result = judged(*(crontab(line, path=f"{name}/etc/cron.d/shop") for name in ("web1", "web2", "web3")))
    (finding,) = standing(result, "C2Q319")
    assert "3 hosts (web1, web2, web3)" in finding.message
    assert [place.path for place in finding.related] == ["web2/etc/cron.d/shop", "web3/etc/cron.d/shop"]
