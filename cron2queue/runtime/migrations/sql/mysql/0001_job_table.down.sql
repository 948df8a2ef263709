-- cron2queue, step 1, taken back: all jobs and their history go.
-- The record goes first: a step that is half gone must not stand there as applied.

DROP TABLE IF EXISTS c2q_migrations;

DROP TABLE IF EXISTS c2q_marks;

DROP TABLE IF EXISTS c2q_rollups;

DROP TABLE IF EXISTS c2q_operations;

DROP TABLE IF EXISTS c2q_ticks;

DROP TABLE IF EXISTS c2q_subscriptions;

DROP TABLE IF EXISTS c2q_controls;

DROP TABLE IF EXISTS c2q_limits;

DROP TABLE IF EXISTS c2q_queues;

DROP TABLE IF EXISTS c2q_workers;

DROP TABLE IF EXISTS c2q_inbox;

DROP TABLE IF EXISTS c2q_attempts;

DROP TABLE IF EXISTS c2q_jobs;
