-- cron2queue, step 1 (expand): the job table. Every statement may be repeated.

CREATE TABLE IF NOT EXISTS c2q_migrations (
    step INTEGER NOT NULL,
    name VARCHAR(128) NOT NULL,
    needs INTEGER NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (step)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_jobs (
    id BIGINT NOT NULL AUTO_INCREMENT,
    public_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    queue VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_key VARBINARY(1024),
    dedupe BINARY(32),
    unique_until BIGINT,
    payload LONGTEXT NOT NULL,
    state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    priority INTEGER NOT NULL,
    run_at BIGINT NOT NULL,
    due_at BIGINT,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    lease VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
    worker VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
    ordering_key VARBINARY(255),
    turn BINARY(32),
    limit_key VARBINARY(1024),
    held_by BINARY(32),
    held_rank INTEGER,
    owner VARBINARY(255),
    progress DOUBLE,
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
    PRIMARY KEY (id),
    KEY c2q_jobs_claim (queue, state, priority, id),
    UNIQUE KEY c2q_jobs_dedupe (dedupe),
    KEY c2q_jobs_due (due_at),
    KEY c2q_jobs_finished (finished_at),
    KEY c2q_jobs_held (held_by, held_rank, id),
    KEY c2q_jobs_owner (owner, id),
    UNIQUE KEY c2q_jobs_public_id (public_id),
    UNIQUE KEY c2q_jobs_turn (turn),
    KEY c2q_jobs_worker (worker)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_attempts (
    job_id BIGINT NOT NULL,
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    lease VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    worker VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin,
    started_at BIGINT,
    ended_at BIGINT NOT NULL,
    outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    exit_status INTEGER,
    signal_number INTEGER,
    wait_seconds DOUBLE,
    run_seconds DOUBLE,
    max_rss_bytes BIGINT,
    message VARCHAR(1000),
    diagnostic LONGTEXT,
    output_tail LONGTEXT,
    PRIMARY KEY (job_id, run)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_inbox (
    consumer VARBINARY(128) NOT NULL,
    message_id VARBINARY(1024) NOT NULL,
    processed_at BIGINT NOT NULL,
    PRIMARY KEY (consumer, message_id),
    KEY c2q_inbox_processed (processed_at)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_workers (
    token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    host VARCHAR(255) NOT NULL,
    pid INTEGER NOT NULL,
    version VARCHAR(64) NOT NULL,
    kinds LONGTEXT NOT NULL,
    queues LONGTEXT NOT NULL,
    beat_counter BIGINT NOT NULL,
    rss_bytes BIGINT,
    running INTEGER,
    started_at BIGINT NOT NULL,
    beat_at BIGINT NOT NULL,
    PRIMARY KEY (token)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_queues (
    name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    paused_at BIGINT,
    paused_by VARCHAR(255),
    concurrency INTEGER,
    depth_limit INTEGER,
    age_limit DOUBLE,
    alert_depth INTEGER,
    alert_age DOUBLE,
    locked BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_limits (
    scope VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name VARBINARY(1024) NOT NULL,
    concurrency INTEGER,
    rate DOUBLE,
    burst INTEGER,
    tokens DOUBLE,
    refilled_at BIGINT,
    paused_until BIGINT,
    locked BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_controls (
    id INTEGER NOT NULL,
    version BIGINT NOT NULL,
    restart_mark BIGINT NOT NULL,
    host VARCHAR(255),
    PRIMARY KEY (id)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

INSERT INTO c2q_controls (id, version, restart_mark) SELECT 1, 1, 0 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM c2q_controls);

CREATE TABLE IF NOT EXISTS c2q_subscriptions (
    event VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    queue VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    priority INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    PRIMARY KEY (event, kind)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_ticks (
    entry VARBINARY(255) NOT NULL,
    last_nominal BIGINT NOT NULL,
    PRIMARY KEY (entry)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_operations (
    id BIGINT NOT NULL AUTO_INCREMENT,
    done_at BIGINT NOT NULL,
    done_by VARCHAR(255) NOT NULL,
    verb VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    target VARCHAR(1000) NOT NULL,
    detail LONGTEXT,
    job_id BIGINT,
    PRIMARY KEY (id),
    KEY c2q_operations_job (job_id)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_rollups (
    period BIGINT NOT NULL,
    kind VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    queue VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    series VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    rung INTEGER NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (period, kind, queue, series, rung)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS c2q_marks (
    name VARBINARY(255) NOT NULL,
    value BIGINT NOT NULL,
    noted_at BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE=InnoDB CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COLLATE utf8mb4_bin;
