"""What a name says of a job's trade, and what it does not: an application's words are about its records."""

import pytest

from cron2queue.analyser.trades import (
    BACKUP,
    CLEANUP,
    INDEX,
    MAIL,
    MONITOR,
    PAYMENT,
    POLL,
    QUEUE,
    TRANSFER,
    UPKEEP,
    Trade,
    trade_of,
)


@pytest.mark.parametrize(
    ("command", "trade"),
    [
        ("php artisan horizon:snapshot", MONITOR),
        ("php artisan metrics:snapshot", MONITOR),
        ("/usr/bin/php8.2 /srv/app/artisan telescope:snapshot", None),
        ("php bin/console app:dump-routes", None),
        ("php bin/console fos:js-routing:dump", None),
        ("composer dump-autoload", None),
        ("python3 manage.py snapshot_balances", None),
        ("bundle exec rake prices:snapshot", TRANSFER),
        ("php bin/console app:orders:archive", CLEANUP),
        ("/srv/matomo/console core:archive --url=http://stats", INDEX),
        ("php artisan subscriptions:renew", PAYMENT),
        ("php artisan prices:update", TRANSFER),
        ("python manage.py update_index", INDEX),
        ("python manage.py update_exchange", None),
    ],
)
def test_the_task_of_an_application_is_about_its_records(command: str, trade: Trade | None) -> None:
    assert trade_of(command) is trade


@pytest.mark.parametrize(
    "command",
    [
        "php artisan backup:run",
        "php artisan db:snapshot",
        "php artisan snapshot:create --database",
        "python manage.py dumpdata -o /b/all.json",
        "python manage.py dbbackup",
        "bundle exec rake db:dump",
        "gitlab-rake gitlab:backup:create CRON=1",
        "wp db export /b/wp.sql",
        "drush sql:dump --result-file=/b/x.sql",
        "make backup",
        "/opt/snapshot.sh",
        "/usr/local/bin/zfs-snapshot daily",
        "mysqldump shop",
        "/opt/dump_orders.sh",
    ],
)
def test_a_backup_stays_a_backup(command: str) -> None:
    assert trade_of(command) is BACKUP


@pytest.mark.parametrize(
    ("command", "trade"),
    [
        ("/opt/update-prices.sh", TRANSFER),
        ("/opt/update_search_index.py", INDEX),
        ("/opt/restart-queue.sh", QUEUE),
        ("/opt/renew-reminders.sh", MAIL),
        ("/opt/push_metrics.py", MONITOR),
        ("test $(df / | wc -l) -gt 90 && echo disk | mail -s disk root", MONITOR),
        ("pgrep nginx > /dev/null || echo down | mail -s down root", MONITOR),
        ("echo hello | mail -s hello root", MAIL),
        ("/opt/send_heartbeat.sh", MONITOR),
        ("php bin/console app:metrics:send", MONITOR),
        ("/opt/push-stock.sh", TRANSFER),
        ("/opt/process_feed.php", TRANSFER),
        ("/opt/process_queue.php", QUEUE),
        ("/opt/process.php", POLL),
        ("/opt/send_report.php", MAIL),
        ("/opt/push_notifications.php", MAIL),
        ("php artisan orders:process", PAYMENT),
        ("/opt/update-geoip.sh", UPKEEP),
        ("certbot renew -q", UPKEEP),
        ("apt-get update", UPKEEP),
        ("/usr/bin/geoipupdate", UPKEEP),
    ],
)
def test_a_vague_word_yields_to_one_that_tells_more(command: str, trade: Trade) -> None:
    assert trade_of(command) is trade
