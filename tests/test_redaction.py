"""Secrets go out of anything shown or stored; ordinary text stays as it is, and no text takes long."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redaction_corpus import CANARY, SHAPE_FRAMES, SHAPES, forms

from cron2queue.redaction import MASK, redact
from cron2queue.redaction.names import Strength, strength

ORDINARY = (Path(__file__).parent / "redaction_ordinary.txt").read_text(encoding="utf-8").splitlines()


def test_the_corpus_holds_at_least_200_forms() -> None:
    assert len(forms()) + len(SHAPES) >= 200
    assert all(CANARY in form for form in forms())


@pytest.mark.parametrize("form", forms())
def test_the_secret_goes_and_the_rest_can_still_be_read(form: str) -> None:
    shown = redact(form)
    assert CANARY not in shown
    assert MASK in shown
    before = form.split(CANARY, 1)[0].split()
    assert not before or before[0].split("=")[0].split(":")[0].strip("{'\"") in shown


@pytest.mark.parametrize("form", forms())
def test_redacting_twice_changes_nothing_more(form: str) -> None:
    assert redact(redact(form)) == redact(form)


@pytest.mark.parametrize("form", [f"{first} && {second}" for first, second in zip(forms(), reversed(forms()), strict=True)])
def test_two_secrets_on_one_line_both_go(form: str) -> None:
    assert CANARY not in redact(form)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("frame", SHAPE_FRAMES)
def test_keys_of_known_services_go_wherever_they_stand(shape: str, frame: str) -> None:
    shown = redact(frame.format(shape))
    assert shape[-8:] not in shown
    assert MASK in shown


def test_a_private_key_goes_whole_even_when_its_end_is_missing() -> None:
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
    body = "MIIEpAIBAAKCAQEA\nabcdef\n"
    assert redact(f"x {begin}\n{body}{end} y") == f"x {begin}{MASK}{end} y"
    assert body.split()[0] not in redact(f"x {begin}\n{body}")


def test_at_most_two_ordinary_lines_in_a_hundred_are_masked() -> None:
    masked = [line for line in ORDINARY if redact(line) != line]
    assert len(masked) <= len(ORDINARY) * 0.02, masked


@pytest.mark.parametrize(
    "line",
    [
        "mysqldump -p\"$DB_PASS\" shop",
        "mysqldump --password=${DB_PASS} shop",
        "mysqldump --password=$(cat /etc/pw) shop",
        "PGPASSWORD=$PW pg_dump shop",
        "restic --password-file /root/pw backup",
        "curl -H \"Authorization: Bearer $TOKEN\" https://example.com",
        "openssl rsa -passin env:PW -in k",
    ],
)  # fmt: skip
def test_what_only_points_to_a_secret_stays_readable(line: str) -> None:
    assert redact(line) == line


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DB_PASSWORD", Strength.STRONG), ("PGPASSWORD", Strength.STRONG), ("--api-key", Strength.STRONG),
        ("keyStorePassword", Strength.STRONG), ("X-Auth-Token", Strength.STRONG), ("AWS_SECRET_ACCESS_KEY", Strength.STRONG),
        ("key", Strength.WEAK), ("auth", Strength.WEAK), ("PWD", Strength.NONE), ("PASSENGER_ENV", Strength.NONE),
        ("PASSWORD_FILE", Strength.NONE), ("--no-password", Strength.NONE), ("KEYBOARD", Strength.NONE), ("", Strength.NONE),
        ("public_key", Strength.NONE), ("GIT_ASKPASS", Strength.NONE),
    ],
)  # fmt: skip
def test_a_name_tells_how_surely_its_value_is_a_secret(name: str, expected: Strength) -> None:
    assert strength(name) is expected


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_redacted(text: str) -> None:
    assert isinstance(redact(text), str)


PUMPS = (
    "a", "=", "a=", "eyJ", "eyJa.", "http://", "http://a:b@", "' ", '"', "'", '"\\"', "-", "--a ", "pass", "pass=",
    "password: ",    "key=", "%", " mysql -p", "curl -u a:b ", "\\", "`", "a:b@c ", "x@", "authorization: ",
    "bearer ", "login a password b ",
    "identified by '", "A1b", "sk-", "ghp_", "|", "sh -c \"'", "A1b/", "echo a | sudo -S ", "/", "$(", "<<<", "a 'b c' ", " ",
    "-H 'x: ", "\udcff", "é",
)  # fmt: skip


@pytest.mark.timeout(20)  # a quadratic reader would need minutes, a linear one a fraction of a second
@pytest.mark.parametrize("pump", PUMPS)
def test_a_pump_string_of_200_kb_is_read_in_linear_time(pump: str) -> None:
    text = (pump * (200_000 // len(pump) + 1))[:200_000]
    shown = redact(text)
    assert shown[:1] in (text[:1], MASK[:1])
