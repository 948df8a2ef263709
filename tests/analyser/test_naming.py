"""Names of jobs: readable, plain, unique."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.analyser.naming import Names, job_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cd /var/www && php bin/magento cron:run", "magento-cron-run"),
        ("php /var/www/shop/import_orders.php", "import-orders"),
        ("php bin/console app:import --env=prod", "app-import"),
        ("/opt/scripts/backup.sh", "backup"),
        ("mysqldump shop | gzip > /b/x", "mysqldump-shop"),
        ("certbot renew -q", "certbot-renew"),
        ("cd / && run-parts --report /etc/cron.daily", "run-parts-cron-daily"),
        ("python3 manage.py clearsessions", "clearsessions"),
        ("python -m shop.sync", "shop-sync"),
        ("wget -q -O - http://www.example.com/cron.php?key=1", "example-cron"),
        ("curl -fsS https://hc-ping.com/0dc7a1e4-7a04-4b2f-8f9f-000000000000", "hc-ping"),
        ("cd /x && bundle exec rake db:trim", "db-trim"),
        ("php -d memory_limit=-1 -f /var/www/nextcloud/cron.php", "nextcloud-cron"),
        ("/usr/share/drupal7/scripts/cron.sh", "drupal7-cron"),
        ("find /tmp -type f -mtime +3 -delete", "find"),
        ("tar czf /b/x.tgz /etc", "tar"),
        ("/opt/Äpfel/ñandú.sh", "nandu"),
        ("/opt/在庫確認.sh", "job"),
        ("php /var/www/почта.php", "php"),
        ("", "job"),
        ("12345", "job"),
    ],
)
def test_the_name_says_what_is_run(command: str, name: str) -> None:
    assert job_name(command) == name


@given(st.text(max_size=80))
def test_any_command_gets_a_name_that_fits_in_files_and_shells(command: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]*", job_name(command))
    assert len(job_name(command)) <= 48


def test_names_are_given_once() -> None:
    names = Names()
    assert [names.unique(name) for name in ("a", "a", "a-2", "a", "b")] == ["a", "a-2", "a-2-2", "a-3", "b"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("php /x/sync.php?token=abc123secret", "sync"),
        ("curl https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage", "api-bot"),
        ("/opt/x?password=hunTer2x9Qz --all", "x"),
        ("curl https://bob:hunTer2x9Qz@example.com/sync", "example-sync"),
        ("mysqldump -phunTer2x9Qz shop", "mysqldump"),
        ("curl https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/XyZabcdefghijklmnopqrst1", "hooks-services"),
        ("API_TOKEN=hunTer2x9Qz /opt/sync", "sync"),
    ],
)
def test_a_name_which_stands_in_files_and_metrics_holds_no_secret(command: str, name: str) -> None:
    assert job_name(command) == name
