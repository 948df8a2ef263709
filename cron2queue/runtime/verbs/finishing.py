"""The usual case of a settle, one statement on some backends: all of one claim have ended well and have nothing to say."""

from collections.abc import Sequence
from typing import NamedTuple

from cron2queue.runtime.backend import Backend, Want
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Job, Settlement
from cron2queue.runtime.limits import Controls
from cron2queue.runtime.runs import Plain
from cron2queue.runtime.verbs import claiming, settling


class Finishing(NamedTuple):
    """Ends that `finish` writes with nothing before or behind it."""

    claim: str
    worker: str
    ended: list[Plain]


def finishing(settlements: Sequence[Settlement], backend: Backend, controls: Controls) -> Finishing | None:
    """These ends as such, if they are, and if that makes them one statement: then it needs no transaction around it."""
    if not backend.finish_is_single or controls.limits or any(each.job.ordering_key is not None for each in settlements):
        return None
    finished, others = settling.told_apart(settlements)
    if others or len(finished) != 1:
        return None
    (((claim, worker), ended),) = finished.items()
    return Finishing(claim, worker, sorted(ended))


def finish_and_claim(
    session: Session, backend: Backend, controls: Controls, settlements: Sequence[Settlement], ends: Finishing, want: Want
) -> tuple[list[bool], list[Job]]:
    """Settle and claim in one statement. Raises Stale, with the ends written, if the snapshot is too old to claim by."""
    ids, rows = backend.finish_and_take(session, settling.PLAINLY, ends.claim, ends.worker, ends.ended, want)
    if len(ids) < len(settlements):
        ids |= settling.settled_before(session, [each for each in settlements if each.job.id not in ids])
    return [each.job.id in ids for each in settlements], claiming.answered(session, controls, rows, want)
