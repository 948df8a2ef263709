"""The job import-orders.

Today it runs the old command unchanged, exactly as cron did. This file is yours: put the work itself in here whenever
you like. A job may run more than once; `job.idempotency_key` is the same in every attempt.
"""

from typing import Any

from cron2queue.runtime import handler, run_command

COMMAND = ' /srv/app/bin/import-orders'
SHELL = '/bin/sh'
STDIN = None
USER = 'www-data'
ENVIRONMENT: dict[str, str] = {
    'PATH': '/usr/bin:/bin',
    'SHELL': '/bin/sh',
}


@handler('import-orders')
def import_orders(job: Any) -> None:
    """Run the old command; its exit status decides: 0 done, 75 try again, 64-66 and 76-78 give up."""
    run_command(COMMAND, shell=SHELL, environment=ENVIRONMENT, stdin=STDIN, user=USER)
