"""`python -m cron2queue` is the `cron2queue` command."""

from cron2queue.cli.app import main

if __name__ == "__main__":
    main()
