"""Celery on RabbitMQ as it must be set to lose nothing: a quorum queue, late ack, prefetch of one, publisher confirms."""

import os

from celery import Celery
from kombu import Queue
from tally import Tally

tally = Tally()
app = Celery("rival_celery", broker=os.environ["RIVAL_URL"])
NAME = os.environ.get("RIVAL_QUEUE", "rival")
app.conf.update(
    broker_transport_options={"confirm_publish": True},
    task_queues=[Queue(NAME, routing_key=NAME, durable=True, queue_arguments={"x-queue-type": "quorum", "x-expires": 600_000})],
    task_default_queue=NAME,
    task_default_queue_type="quorum",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
)


@app.task(name="noop", ignore_result=True)
def noop() -> None:
    """Nothing, counted."""
    tally.add()


def fill(jobs: int) -> None:
    """Publish, each message confirmed before the next."""
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(jobs):
            noop.apply_async(producer=producer)


def work() -> None:
    """Until killed."""
    app.worker_main(
        ["worker", "--concurrency", "1", "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"]
    )
