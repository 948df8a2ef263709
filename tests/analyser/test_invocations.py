"""What really runs behind wrappers."""

import pytest

from cron2queue.analyser.guards import holds_lock, locks_of, time_limit
from cron2queue.analyser.invocations import invocations, main_invocation


@pytest.mark.parametrize(
    ("command", "program", "words"),
    [
        ("/usr/bin/flock -n -E 75 /run/l /usr/bin/timeout -k 10 240 /usr/bin/php a.php", "php", ("a.php",)),
        ("flock -xn /tmp/l -c 'php a.php'", "php", ("a.php",)),
        ("sudo -u www-data php /x.php", "php", ("/x.php",)),
        ("su - deploy -c 'cd /x; rake a:b'", "rake", ("a:b",)),
        ("solo -port=2050 ./symfony log:rotate", "symfony", ("log:rotate",)),
        ("bash -lc 'ruby x.rb'", "ruby", ("x.rb",)),
        ("nice -n 10 ionice -c3 rsync a b", "rsync", ("a", "b")),
        ("nice -19 rsync a", "rsync", ("a",)),
        ("env -i A=1 php x", "php", ("x",)),
        ("docker exec -u 33 app php cron.php", "php", ("cron.php",)),
        ("docker compose exec -T app php x", "php", ("x",)),
        ("ssh web1 'php x'", "php", ("x",)),
        ("test -x /a && perl -e 'sleep int(rand(9))' && certbot -q renew", "certbot", ("-q", "renew")),
        ("command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1", ("1", "1")),
        ("[ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "sessionclean", ()),
        ("cd /var/www && A=1 php x", "php", ("x",)),
        ("bash /opt/x.sh", "bash", ("/opt/x.sh",)),
        ("ps aux | grep -q x || /etc/init.d/x start", "x", ("start",)),
    ],
)
def test_the_program_for_whose_sake_the_line_exists_is_found(command: str, program: str, words: tuple[str, ...]) -> None:
    main = main_invocation(command)
    assert main is not None
    assert (main.program, main.words) == (program, words)


def test_an_empty_line_runs_nothing() -> None:
    assert main_invocation("") is None
    assert invocations("   ") == ()


def test_shells_inside_shells_end_somewhere() -> None:
    command = "true"
    for _ in range(6):
        command = "sh -c '" + command.replace("'", "'\\''") + "'"
    assert len(invocations(command)) == 1


@pytest.mark.parametrize(
    ("command", "file", "skips"),
    [
        ("flock -n /run/l x", "/run/l", True),
        ("flock -xn /run/l -c 'x; y'", "/run/l", True),
        ("flock /run/l x", "/run/l", False),
        ("flock -w 5 /run/l x", "/run/l", True),
        ("flock --timeout=5 /run/l x", "/run/l", True),
        ("(flock -n 9 || exit 1; x) 9>/run/l", "/run/l", True),
        ("(flock 9; x) 9>/run/l", "/run/l", False),
        ("run-one x", None, True),
        ("setlock -n /run/l x", "/run/l", True),
        ("setlock /run/l x", "/run/l", False),
        ("lockf -s -t 0 /run/l x", "/run/l", True),
        ("lockf -k /run/l x", "/run/l", False),
        ("lckdo /run/l x", "/run/l", True),
        ("lckdo -W 9 /run/l x", "/run/l", True),
        ("lckdo -w /run/l x", "/run/l", False),
        ("lockrun --lockfile=/run/l -- x", None, True),
        ("lockrun --lockfile=/run/l --wait -- x", None, False),
        ("with-lock-ex -q /run/l x", "/run/l", True),
        ("with-lock-ex -w /run/l x", "/run/l", False),
    ],
)
def test_a_lock_tells_its_file_and_whether_a_second_start_ends(command: str, file: str | None, skips: bool) -> None:
    (lock,) = locks_of(command)[:1]
    assert (lock.file, lock.skips) == (file, skips)


def test_locks_by_hand_count_as_locks() -> None:
    assert holds_lock("pgrep -f import.php || php import.php")
    assert not holds_lock("php import.php")
    assert not holds_lock("php unlock_orders.php")


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        ("timeout 240 x", 240),
        ("timeout -k 10 5m x", 300),
        ("flock -n /l timeout 1h30m x", 5400),
        ("curl -m 30 http://x", 30),
        ("curl --max-time 15 http://x", 15),
        ("x", None),
        ("php set_timeout.php", None),
    ],
)
def test_time_limits_are_read_in_seconds(command: str, seconds: float | None) -> None:
    assert time_limit(command) == seconds


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("[ -f /run/x ] || (touch /run/x; php /x/send.php; rm /run/x)", "php"),
        ("rm -f /tmp/x && /opt/a", "a"),
        ("mkdir -p /b && tar czf /b/x.tgz /etc", "tar"),
        ("cd /x && rm -rf cache/*", "rm"),
        ("touch /run/alive", "touch"),
        ("sleep 5", "sleep"),
    ],
)
def test_a_chore_is_the_job_only_where_nothing_else_is(command: str, program: str) -> None:
    main = main_invocation(command)
    assert main is not None
    assert main.program == program


@pytest.mark.parametrize(
    "command",
    [
        "[ -f /run/x ] || (touch /run/x; php /x/send.php; rm /run/x)",
        "test -e /run/x && exit; touch /run/x; /opt/a; rm -f /run/x",
        "[ ! -e /run/x.pid ] && { echo $$ > /run/x.pid; /opt/a; rm /run/x.pid; }",
        "mkdir /run/x.lock && { /opt/a; rmdir /run/x.lock; }",
        "cronic solo -silent -port=2037 ./symfony sphinx:rebuild",
        "pgrep -f a.php || php a.php",
    ],
)
def test_a_file_that_is_looked_for_and_made_is_a_lock_by_hand(command: str) -> None:
    assert holds_lock(command)


@pytest.mark.parametrize(
    "command",
    [
        "[ -f /etc/x ] && touch /run/y; /opt/a",
        "test -x /opt/a && /opt/a > /var/log/a.log",
        "mkdir -p /b && /opt/a && rm -rf /b",
        "touch /run/alive; /opt/a",
    ],
)
def test_a_file_that_is_made_for_another_purpose_is_no_lock(command: str) -> None:
    assert not holds_lock(command)
