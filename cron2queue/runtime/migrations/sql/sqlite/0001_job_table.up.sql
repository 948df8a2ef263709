-- cron2queue, step 1 (expand): the job table. Every statement may be repeated.

CREATE TABLE IF NOT EXISTS c2q_migrations (
    step INTEGER NOT NULL,
    name TEXT NOT NULL,
    needs INTEGER NOT NULL,
    applied_at INTEGER NOT NULL,
    PRIMARY KEY (step)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_jobs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    job_key BLOB,
    dedupe BLOB,
    unique_until INTEGER,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    lease TEXT,
    worker TEXT,
    ordering_key BLOB,
    turn BLOB,
    limit_key BLOB,
    held_by BLOB,
    held_rank INTEGER,
    owner BLOB,
    progress REAL,
    phase TEXT,
    result_ref TEXT,
    message TEXT,
    trace_context TEXT,
    created_at INTEGER NOT NULL,
    ready_at INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    cancel_requested_at INTEGER,
    cancel_requested_by TEXT
) STRICT;

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
    job_id INTEGER NOT NULL,
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    lease TEXT NOT NULL,
    worker TEXT,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    exit_status INTEGER,
    signal_number INTEGER,
    wait_seconds REAL,
    run_seconds REAL,
    max_rss_bytes INTEGER,
    message TEXT,
    diagnostic TEXT,
    output_tail TEXT,
    PRIMARY KEY (job_id, run)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_inbox (
    consumer BLOB NOT NULL,
    message_id BLOB NOT NULL,
    processed_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, message_id)
) STRICT;

CREATE INDEX IF NOT EXISTS c2q_inbox_processed ON c2q_inbox (processed_at);

CREATE TABLE IF NOT EXISTS c2q_workers (
    token TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT NOT NULL,
    kinds TEXT NOT NULL,
    queues TEXT NOT NULL,
    beat_counter INTEGER NOT NULL,
    rss_bytes INTEGER,
    running INTEGER,
    started_at INTEGER NOT NULL,
    beat_at INTEGER NOT NULL,
    PRIMARY KEY (token)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_queues (
    name TEXT NOT NULL,
    paused_at INTEGER,
    paused_by TEXT,
    concurrency INTEGER,
    depth_limit INTEGER,
    age_limit REAL,
    alert_depth INTEGER,
    alert_age REAL,
    locked INTEGER NOT NULL,
    PRIMARY KEY (name)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_limits (
    scope TEXT NOT NULL,
    name BLOB NOT NULL,
    concurrency INTEGER,
    rate REAL,
    burst INTEGER,
    tokens REAL,
    refilled_at INTEGER,
    paused_until INTEGER,
    locked INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_controls (
    id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    restart_mark INTEGER NOT NULL,
    host TEXT,
    PRIMARY KEY (id)
) STRICT;

INSERT INTO c2q_controls (id, version, restart_mark) SELECT 1, 1, 0 WHERE NOT EXISTS (SELECT 1 FROM c2q_controls);

CREATE TABLE IF NOT EXISTS c2q_subscriptions (
    event TEXT NOT NULL,
    kind TEXT NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    PRIMARY KEY (event, kind)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_ticks (
    entry BLOB NOT NULL,
    last_nominal INTEGER NOT NULL,
    PRIMARY KEY (entry)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_operations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    done_at INTEGER NOT NULL,
    done_by TEXT NOT NULL,
    verb TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT,
    job_id INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS c2q_operations_job ON c2q_operations (job_id);

CREATE TABLE IF NOT EXISTS c2q_rollups (
    period INTEGER NOT NULL,
    kind TEXT NOT NULL,
    queue TEXT NOT NULL,
    series TEXT NOT NULL,
    rung INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (period, kind, queue, series, rung)
) STRICT;

CREATE TABLE IF NOT EXISTS c2q_marks (
    name BLOB NOT NULL,
    value INTEGER NOT NULL,
    noted_at INTEGER NOT NULL,
    PRIMARY KEY (name)
) STRICT;
