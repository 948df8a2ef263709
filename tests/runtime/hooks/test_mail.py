"""Mail as cron sends it."""

import email
import email.policy

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.hooks.mail import command, message, recipients


def test_recipients_are_those_of_a_mailto() -> None:
    assert recipients("root, ops@example.org") == ("root", "ops@example.org")


@pytest.mark.parametrize("value", ["-oQ/tmp", "a b", "x@y\nBcc: z", "", " , ", "`id`", "a;b", "|cat", "ops@example.org -X"])
def test_what_could_be_an_option_a_header_or_a_command_is_no_recipient(value: str) -> None:
    with pytest.raises(UsageError):
        recipients(value)


def test_the_command_is_the_one_that_debians_cron_executes() -> None:
    assert command(("root",)) == ["/usr/sbin/sendmail", "-FCronDaemon", "-i", "-B8BITMIME", "-oem", "root"]


def test_foreign_text_adds_no_header_and_steers_no_terminal() -> None:
    data = message(("root",), "dead\nBcc: all@example.org \x1b[2J" + "x" * 500, "out\x1b[2J\r\nBcc: x\n.\nend ü\udcff")
    read = email.message_from_bytes(data, policy=email.policy.default)
    assert read["Bcc"] is None
    assert read["Auto-Submitted"] == "auto-generated"
    assert "\\x0aBcc" in read["Subject"]
    body = read.get_content()
    assert "\x1b" not in body and "end ü\\xff" in body and "\n.\n" in body
