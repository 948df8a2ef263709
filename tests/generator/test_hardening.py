"""A unit takes away what its job does not need, and says what it had to leave."""

import pytest

from cron2queue.generator.hardening import hardening
from cron2queue.plan.model import Hardening


def names(level: Hardening, command: str) -> set[str]:
    return {line.partition("=")[0] for line in hardening(level, [command]) if not line.startswith("#")}


def test_levels_add_up() -> None:
    assert names(Hardening.OFF, "php a.php") == set()
    assert names(Hardening.BASIC, "php a.php") < names(Hardening.STRICT, "php a.php")


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("sudo -u shop php a.php", "NoNewPrivileges"),
        ("php a.php | mail -s done boss", "RestrictSUIDSGID"),
        ("/usr/sbin/sendmail -q", "NoNewPrivileges"),
        ("cp a /home/shop/b", "ProtectHome"),
        ("cp a /tmp/shared", "PrivateTmp"),
        ("docker exec web php a.php", "CapabilityBoundingSet"),
    ],
)
def test_what_a_command_needs_is_left_and_said(command: str, lost: str) -> None:
    assert lost not in names(Hardening.STRICT, command)
    assert any(line.startswith("# Left out") and lost in line for line in hardening(Hardening.STRICT, [command]))


def test_a_word_inside_another_is_no_need() -> None:
    assert "NoNewPrivileges" in names(Hardening.BASIC, "bin/mailinglist-sync /srv/shipping /srv/homepage")
