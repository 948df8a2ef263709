"""`python -m cron2queue.runtime enqueue|work|lock|relay`: the lean command line of producers and workers.

Cron starts `enqueue` each minute: nothing is imported here that it does not need.
"""

import sys

from cron2queue.errors import Cron2QueueError, UsageError

BUG = 70


def _asked(arguments: list[str]) -> str:
    """The command; without one that is known, the help or the complaint of argparse, which ends the process."""
    if arguments and arguments[0] in _COMMANDS:
        return arguments[0]
    import argparse

    parser = argparse.ArgumentParser(prog="python -m cron2queue.runtime", description="Producers and workers, lean.")
    parser.add_argument("command", choices=list(_COMMANDS))
    return str(parser.parse_args(arguments[:1] or ["--help"]).command)


def main(arguments: list[str]) -> int:
    """Run one command; its exit status as in docs/reference/exit-statuses.md."""
    command = _asked(arguments)
    try:
        return _COMMANDS[command](arguments[1:])
    except Cron2QueueError as trouble:
        from cron2queue.redaction import redact
        from cron2queue.text import safe_text

        lines = [safe_text(redact(line)) for line in str(trouble).split("\n")]
        print("cron2queue: " + "\n".join(lines), file=sys.stderr)
        return trouble.exit_status
    except Exception as bug:
        import logging

        logging.getLogger("cron2queue").critical("a bug in cron2queue: %s: %s", type(bug).__name__, bug, exc_info=bug)
        return BUG


def _work(arguments: list[str]) -> int:
    from cron2queue.runtime.worker.commandline import main as work

    return work(arguments)


def _lock(arguments: list[str]) -> int:
    from cron2queue.runtime.locks.command import main as lock

    return lock(arguments)


def _enqueue(arguments: list[str]) -> int:
    from cron2queue.runtime.producer import main as enqueue

    return enqueue(arguments)


def _relay(arguments: list[str]) -> int:
    try:
        from cron2queue.runtime.celery.relaying import main as relay
    except ModuleNotFoundError as missing:
        raise UsageError(f"the relay needs {missing.name}", remedy="pip install 'cron2queue[celery]'") from None
    return relay(arguments)


_COMMANDS = {"enqueue": _enqueue, "work": _work, "lock": _lock, "relay": _relay}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
