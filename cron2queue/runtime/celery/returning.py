"""What becomes of a message whose job found no room: its id goes to the end of its queue, as a message of its own.

Given back, it would count as a delivery that failed, and the broker gives up what has failed twenty times.
"""

from celery import Celery
from celery.exceptions import Reject

from cron2queue.runtime.celery.broker import Topology
from cron2queue.runtime.celery.deliveries import Delivery
from cron2queue.runtime.celery.publishing import Publisher, Ready


def send_anew(app: Celery, topology: Topology, delivery: Delivery) -> None:
    """Publish the id once more; the broker has it when this returns, and the old message may be acknowledged.

    A kill in between leaves two messages, of which one will find nothing to do. Raises Reject, so that the broker keeps
    the old one, when it does not take the new.
    """
    publisher = Publisher(app, topology)
    row = Ready(delivery.public_id, delivery.kind, delivery.priority, 0)
    try:
        taken = publisher.send(delivery.queue, [row])
    except publisher.errors():
        taken = []
    finally:
        publisher.reset()
    if not taken:
        raise Reject("no room under the limit of its queue", requeue=True)
