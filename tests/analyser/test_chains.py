"""Which entries are chained by time, and which are the same job."""

import pytest
from judged import judged

from cron2queue.analyser.sameness import essence


def chained(text: str) -> list[int]:
    return [chain.gap_seconds for chain in judged(text).chains]


@pytest.mark.parametrize(
    "text",
    [
        "0 2 * * * root /opt/export_orders.sh /srv/out/orders\n30 2 * * * root /opt/upload.sh /srv/out/orders\n",
        "0 1 * * * root mysqldump -A > /backup/db.sql\n30 1 * * * root rsync -a /backup/ host:/srv\n",
        "0 1 * * 0 root /opt/build_catalog.sh\n45 1 * * 0 root /opt/publish_catalog.sh\n",
        "0 * * * * root /opt/export.sh /srv/x/y\n10 * * * * root /opt/upload.sh /srv/x/y\n",
        "0 2 * * * root /opt/export.sh /srv/x/y\n"
        + "".join(f"{minute} 2 * * * root /opt/{minute}.sh\n" for minute in range(30))
        + "30 2 * * * root /opt/upload.sh /srv/x/y\n",
    ],
)
def test_a_maker_and_a_taker_of_the_same_thing_are_a_chain(text: str) -> None:
    assert len(chained(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "0 2 * * * root /opt/backup.sh\n30 2 * * * root /opt/report.sh\n",
        "0 2 * * * root /opt/export.sh /srv/x/y\n0 2 * * * root /opt/upload.sh /srv/x/y\n",
        "0 2 * * * root /opt/export.sh /srv/x/y\n30 5 * * * root /opt/upload.sh /srv/x/y\n",
        "0 2 * * 1 root /opt/export.sh /srv/x/y\n30 2 * * 2 root /opt/upload.sh /srv/x/y\n",
        "0 * * * * root /opt/export.sh /srv/x/y\n10 8-18 * * * root /opt/upload.sh /srv/x/y\n",
        "*/5 * * * * root /opt/export.sh /srv/x/y\n*/5 * * * * root /opt/upload.sh /srv/x/y\n",
        "30 2 * * * root /opt/upload.sh /srv/x/y\n0 3 * * * root /opt/export.sh /srv/x/y\n",
        "0 2 * * * root php /usr/bin/export.php\n30 2 * * * root php /usr/bin/upload.php\n",
    ],
)
def test_nothing_is_a_chain_by_its_time_alone(text: str) -> None:
    assert chained(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("php /x/a.php", "/usr/bin/php /x/a.php > /dev/null 2>&1"),
        ("php /x/a.php", "flock -n /tmp/l timeout 5 nice -n 10 php /x/a.php >> /var/log/a.log"),
        ("cd /x && ./a.sh", "cd /x ; ./a.sh"),
    ],
)
def test_locks_limits_and_logs_do_not_make_another_job(one: str, other: str) -> None:
    assert essence(one) == essence(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("php /x/a.php de", "php /x/a.php at"),
        ("cd /x && ./a.sh", "cd /y && ./a.sh"),
        ("mysqldump a > /b/a.sql", "mysqldump a > /b/b.sql"),
        ("mysql shop < a.sql", "mysql shop < b.sql"),
        ("SHOP=de /opt/a", "SHOP=at /opt/a"),
        ("ssh web1 /opt/a", "ssh web2 /opt/a"),
        ("docker exec a php x", "docker exec b php x"),
        ("echo 'a'", "echo 'b'"),
    ],
)
def test_words_folders_files_settings_and_machines_make_another_job(one: str, other: str) -> None:
    assert essence(one) != essence(other)


def test_a_pause_before_the_job_makes_another_moment_and_no_duplicate() -> None:
    text = "* * * * * root sleep 10; /opt/limit.sh\n* * * * * root sleep 20; /opt/limit.sh\n"
    assert not [finding for finding in judged(text).findings if finding.code == "C2Q502"]
