"""What a worker's log says of the attempts that did not succeed; the others are many, and speak through the metrics."""

import logging

from cron2queue.runtime.jobs import Cancelled, Crashed, Done, GiveUp, Released, RetryAt, Settlement

log = logging.getLogger("cron2queue.worker")


def tell(settlement: Settlement) -> None:
    """One line for an attempt that was settled otherwise than with success."""
    outcome, job = settlement.outcome, settlement.job
    if isinstance(outcome, Done):
        return
    record = settlement.record
    facts = {
        "kind": job.kind,
        "job": job.public_id,
        "attempt": f"{job.attempt}/{job.max_attempts}",
        "ending": record.outcome_name,
    }
    if outcome.message:
        facts["because"] = outcome.message
    log.log(_level(settlement), _what_follows(settlement), extra=facts)


def _is_last(settlement: Settlement) -> bool:
    if isinstance(settlement.outcome, GiveUp):
        return True
    return isinstance(settlement.outcome, RetryAt | Crashed) and settlement.job.attempt >= settlement.job.max_attempts


def _level(settlement: Settlement) -> int:
    return logging.WARNING if _is_last(settlement) else logging.INFO


def _what_follows(settlement: Settlement) -> str:
    if isinstance(settlement.outcome, Cancelled):
        return "cancelled"
    if isinstance(settlement.outcome, Released):
        return "given back, no attempt used"
    if _is_last(settlement):
        return "dead"
    return f"failed, again in {settlement.retry_delay or 0:.1f} s"
