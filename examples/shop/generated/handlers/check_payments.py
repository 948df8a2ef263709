"""The job check-payments.

Today it runs the old command unchanged, exactly as cron did. This file is yours: put the work itself in here whenever
you like. A job may run more than once; `job.idempotency_key` is the same in every attempt.
"""

from typing import Any

from cron2queue.runtime import handler, run_command

COMMAND = ' /usr/bin/php /srv/shop/bin/check_payments.php 2>&1 > /srv/shop/var/payments.log'
SHELL = '/bin/sh'
STDIN = None
USER = 'www-data'
ENVIRONMENT: dict[str, str] = {
    'MAILTO': 'root',
    'PATH': '/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin',
    'SHELL': '/bin/sh',
}


@handler('check-payments')
def check_payments(job: Any) -> None:
    """Run the old command; its exit status decides: 0 done, 75 try again, 64-66 and 76-78 give up."""
    run_command(COMMAND, shell=SHELL, environment=ENVIRONMENT, stdin=STDIN, user=USER)
