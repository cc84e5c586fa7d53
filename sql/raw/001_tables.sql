-- The raw tables: what was asked, who answered, what it cost, what came back. Append only; every other number is a view over them.
-- No keys are declared: the one writer merges by key (generator/warehouse.py), so that its memory does not grow with the rows already stored;
-- `quality.duplicate` proves it.

-- One row is one item of a data set. cluster_id is the unit that is resampled.
CREATE TABLE item (
    item_id VARCHAR NOT NULL, task VARCHAR NOT NULL, cluster_id VARCHAR NOT NULL,
    gold JSON, inputs JSON, annotation JSON, source VARCHAR, source_sha256 VARCHAR
);

-- One row is one request that a study asks for. The newest grid_id of a study is its boundary; older ones stay.
CREATE TABLE grid (
    study VARCHAR NOT NULL, grid_id VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL,
    request_key VARCHAR NOT NULL, pin_provider VARCHAR, pin_precision VARCHAR,
    protocol VARCHAR NOT NULL, model_id VARCHAR NOT NULL, thinking BOOLEAN NOT NULL, task VARCHAR NOT NULL, item_id VARCHAR NOT NULL,
    arm VARCHAR NOT NULL, template VARCHAR NOT NULL, replicate INTEGER NOT NULL
);

-- One row is one call to a model, successful or not. completion_id is a digest of request_key and attempt.
CREATE TABLE completion (
    completion_id VARCHAR NOT NULL, request_key VARCHAR NOT NULL, attempt INTEGER NOT NULL, run_id VARCHAR,
    protocol VARCHAR NOT NULL, model_id VARCHAR NOT NULL, thinking BOOLEAN NOT NULL, task VARCHAR NOT NULL, item_id VARCHAR NOT NULL,
    arm VARCHAR NOT NULL, template VARCHAR NOT NULL, replicate INTEGER NOT NULL, rollout_id VARCHAR, turn INTEGER,
    prompt_set VARCHAR, prompt_sha256 VARCHAR, request JSON, temperature DOUBLE, max_tokens INTEGER, seed BIGINT,
    provider VARCHAR, served_model VARCHAR, "precision" VARCHAR, engine VARCHAR, engine_version VARCHAR, generation_id VARCHAR,
    prompt_tokens BIGINT, completion_tokens BIGINT, reasoning_tokens BIGINT, cost_usd DOUBLE, started_at TIMESTAMP, latency_s DOUBLE,
    http_status INTEGER, response VARCHAR, response_bytes BLOB, error JSON
);

-- One row is one finished tool-use rollout, written last: views read only rollouts that have it.
CREATE TABLE rollout (rollout_id VARCHAR NOT NULL, attempt INTEGER NOT NULL, run_id VARCHAR, max_calls INTEGER, end_reason VARCHAR);

-- One row is one image returned to a model, or drawn as a counterfactual of it (draw 0 was shown).
CREATE TABLE observation (
    rollout_id VARCHAR NOT NULL, turn INTEGER NOT NULL, call_index INTEGER NOT NULL, requested JSON, executed JSON, frame VARCHAR,
    kind VARCHAR, draw INTEGER NOT NULL, image_sha256 VARCHAR, width INTEGER, height INTEGER, seed BIGINT, error VARCHAR
);

-- One row is one reading of option log-probabilities at a checkpoint of a rollout.
CREATE TABLE probe (
    rollout_id VARCHAR NOT NULL, turn INTEGER NOT NULL, call_index INTEGER NOT NULL, stage VARCHAR NOT NULL, draw INTEGER NOT NULL,
    attempt INTEGER NOT NULL, run_id VARCHAR, provider VARCHAR, "precision" VARCHAR, engine_version VARCHAR,
    options JSON, request JSON, http_status INTEGER, response VARCHAR, error JSON
);

-- One row is one image that was sent, and what normalising changed.
CREATE TABLE image (
    image_sha256 VARCHAR NOT NULL, source_sha256 VARCHAR, width INTEGER, height INTEGER, mode VARCHAR, format VARCHAR, n_bytes BIGINT, changes JSON
);

-- One row is one invocation of a writing command.
CREATE TABLE run (run_id VARCHAR NOT NULL, study VARCHAR, command VARCHAR, git_revision VARCHAR, packages JSON, started_at TIMESTAMP);
