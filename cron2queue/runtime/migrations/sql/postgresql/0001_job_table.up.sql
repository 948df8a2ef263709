-- cron2queue, step 1 (expand): the job table. Every statement may be repeated.

CREATE TABLE IF NOT EXISTS c2q_migrations (
    step INTEGER NOT NULL,
    name VARCHAR(128) NOT NULL,
    needs INTEGER NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (step)
);

CREATE TABLE IF NOT EXISTS c2q_jobs (
    id BIGSERIAL NOT NULL,
    public_id VARCHAR(32) NOT NULL,
    queue VARCHAR(64) NOT NULL,
    kind VARCHAR(128) NOT NULL,
    job_key BYTEA,
    dedupe BYTEA,
    unique_until BIGINT,
    payload TEXT NOT NULL,
    state VARCHAR(16) NOT NULL,
    priority INTEGER NOT NULL,
    run_at BIGINT NOT NULL,
    due_at BIGINT,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    lease VARCHAR(64),
    worker VARCHAR(64),
    ordering_key BYTEA,
    turn BYTEA,
    limit_key BYTEA,
    held_by BYTEA,
    held_rank INTEGER,
    owner BYTEA,
    progress FLOAT(53),
    phase VARCHAR(200),
    result_ref VARCHAR(1000),
    message VARCHAR(1000),
    trace_context VARCHAR(1000),
    created_at BIGINT NOT NULL,
    ready_at BIGINT,
    started_at BIGINT,
    finished_at BIGINT,
    cancel_requested_at BIGINT,
    cancel_requested_by VARCHAR(255),
    PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS c2q_jobs_claim ON c2q_jobs (queue, state, priority, id);

CREATE UNIQUE INDEX IF NOT EXISTS c2q_jobs_dedupe ON c2q_jobs (dedupe) WHERE dedupe IS NOT NULL;

CREATE INDEX IF NOT EXISTS c2q_jobs_due ON c2q_jobs (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS c2q_jobs_finished ON c2q_jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS c2q_jobs_held ON c2q_jobs (held_by, held_rank, id) WHERE held_by IS NOT NULL;

CREATE INDEX IF NOT EXISTS c2q_jobs_owner ON c2q_jobs (owner, id) WHERE owner IS NOT NULL;

CREATE UNIQUE INDEX IF NOT EXISTS c2q_jobs_public_id ON c2q_jobs (public_id);

CREATE UNIQUE INDEX IF NOT EXISTS c2q_jobs_turn ON c2q_jobs (turn) WHERE turn IS NOT NULL;

CREATE INDEX IF NOT EXISTS c2q_jobs_worker ON c2q_jobs (worker) WHERE worker IS NOT NULL;

CREATE TABLE IF NOT EXISTS c2q_attempts (
    job_id BIGINT NOT NULL,
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    lease VARCHAR(64) NOT NULL,
    worker VARCHAR(64),
    started_at BIGINT,
    ended_at BIGINT NOT NULL,
    outcome VARCHAR(32) NOT NULL,
    exit_status INTEGER,
    signal_number INTEGER,
    wait_seconds FLOAT(53),
    run_seconds FLOAT(53),
    max_rss_bytes BIGINT,
    message VARCHAR(1000),
    diagnostic TEXT,
    output_tail TEXT,
    PRIMARY KEY (job_id, run)
);

CREATE TABLE IF NOT EXISTS c2q_inbox (
    consumer BYTEA NOT NULL,
    message_id BYTEA NOT NULL,
    processed_at BIGINT NOT NULL,
    PRIMARY KEY (consumer, message_id)
);

CREATE INDEX IF NOT EXISTS c2q_inbox_processed ON c2q_inbox (processed_at);

CREATE TABLE IF NOT EXISTS c2q_workers (
    token VARCHAR(64) NOT NULL,
    host VARCHAR(255) NOT NULL,
    pid INTEGER NOT NULL,
    version VARCHAR(64) NOT NULL,
    kinds TEXT NOT NULL,
    queues TEXT NOT NULL,
    beat_counter BIGINT NOT NULL,
    rss_bytes BIGINT,
    running INTEGER,
    started_at BIGINT NOT NULL,
    beat_at BIGINT NOT NULL,
    PRIMARY KEY (token)
);

CREATE TABLE IF NOT EXISTS c2q_queues (
    name VARCHAR(64) NOT NULL,
    paused_at BIGINT,
    paused_by VARCHAR(255),
    concurrency INTEGER,
    depth_limit INTEGER,
    age_limit FLOAT(53),
    alert_depth INTEGER,
    alert_age FLOAT(53),
    locked BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE IF NOT EXISTS c2q_limits (
    scope VARCHAR(8) NOT NULL,
    name BYTEA NOT NULL,
    concurrency INTEGER,
    rate FLOAT(53),
    burst INTEGER,
    tokens FLOAT(53),
    refilled_at BIGINT,
    paused_until BIGINT,
    locked BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);

CREATE TABLE IF NOT EXISTS c2q_controls (
    id INTEGER NOT NULL,
    version BIGINT NOT NULL,
    restart_mark BIGINT NOT NULL,
    host VARCHAR(255),
    PRIMARY KEY (id)
);

INSERT INTO c2q_controls (id, version, restart_mark) SELECT 1, 1, 0 WHERE NOT EXISTS (SELECT 1 FROM c2q_controls);

CREATE TABLE IF NOT EXISTS c2q_subscriptions (
    event VARCHAR(128) NOT NULL,
    kind VARCHAR(128) NOT NULL,
    queue VARCHAR(64) NOT NULL,
    priority INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    PRIMARY KEY (event, kind)
);

CREATE TABLE IF NOT EXISTS c2q_ticks (
    entry BYTEA NOT NULL,
    last_nominal BIGINT NOT NULL,
    PRIMARY KEY (entry)
);

CREATE TABLE IF NOT EXISTS c2q_operations (
    id BIGSERIAL NOT NULL,
    done_at BIGINT NOT NULL,
    done_by VARCHAR(255) NOT NULL,
    verb VARCHAR(32) NOT NULL,
    target VARCHAR(1000) NOT NULL,
    detail TEXT,
    job_id BIGINT,
    PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS c2q_operations_job ON c2q_operations (job_id);

CREATE TABLE IF NOT EXISTS c2q_rollups (
    period BIGINT NOT NULL,
    kind VARCHAR(128) NOT NULL,
    queue VARCHAR(64) NOT NULL,
    series VARCHAR(32) NOT NULL,
    rung INTEGER NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (period, kind, queue, series, rung)
);

CREATE TABLE IF NOT EXISTS c2q_marks (
    name BYTEA NOT NULL,
    value BIGINT NOT NULL,
    noted_at BIGINT NOT NULL,
    PRIMARY KEY (name)
);
