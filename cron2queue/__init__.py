"""cron2queue: from a grown crontab to reliable jobs. Importing this package imports nothing else."""

__version__ = "0.1.0"
