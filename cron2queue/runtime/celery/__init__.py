"""Running the same jobs under Celery: the job table stays the system of record, the broker carries their ids only."""
