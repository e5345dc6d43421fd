-- name: expire_leases
-- Documents whose worker stopped reporting: queued again, or failed as worker_lost after the last attempt.
WITH lost AS (
    SELECT id, lease, attempts >= %(max_attempts)s AS finished FROM documents
    WHERE state = 'running'
      AND (heartbeat_at < now() - make_interval(secs => %(heartbeat_lost_seconds)s) OR leased_until < now())
    ORDER BY id FOR UPDATE SKIP LOCKED
), closed AS (
    UPDATE attempts a SET outcome = 'lost', ended_at = now(), code = 'worker_lost', message = %(message)s
    FROM lost WHERE a.lease = lost.lease AND a.outcome = 'running'
)
UPDATE documents d SET
    state = CASE WHEN lost.finished THEN 'failed' ELSE 'queued' END::document_state,
    failure_code = CASE WHEN lost.finished THEN 'worker_lost' END,
    failure_message = CASE WHEN lost.finished THEN %(message)s END,
    failure_stage = CASE WHEN lost.finished THEN d.stage END,
    failure_permanent = CASE WHEN lost.finished THEN false END,
    failed_at = CASE WHEN lost.finished THEN now() END,
    finished_at = CASE WHEN lost.finished THEN now() END,
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, rung_at = NULL, queued_at = now()
FROM lost WHERE d.id = lost.id
RETURNING d.id, d.path, d.state;

-- name: requeue_running
-- Nobody works on anything, and no document is to blame: what was worked on is due again, and that try does not count.
UPDATE documents SET state = 'queued', attempts = greatest(attempts - 1, 0),
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, rung_at = NULL, queued_at = now()
WHERE state = 'running';

-- name: close_interrupted
-- Close the tries of documents that nobody works on any more.
UPDATE attempts SET outcome = 'lost', ended_at = now(), message = %(message)s WHERE outcome = 'running';

-- name: forgive_clock
-- Moments further ahead than Pincite ever sets them: the database's clock was set back, and they are counted from now.
UPDATE documents SET
    heartbeat_at = least(heartbeat_at, now()),
    leased_until = least(leased_until, now() + make_interval(secs => %(lease_seconds)s)),
    due_at = CASE WHEN due_at > now() + make_interval(secs => %(retry_seconds)s::float8 + %(slack_seconds)s::float8) THEN now() ELSE due_at END,
    rung_at = CASE WHEN rung_at > now() + make_interval(secs => %(slack_seconds)s::float8) THEN NULL ELSE rung_at END,
    queued_at = least(queued_at, now())
WHERE state IN ('queued', 'running', 'retrying') AND (
    heartbeat_at > now() + make_interval(secs => %(slack_seconds)s::float8)
    OR leased_until > now() + make_interval(secs => %(lease_seconds)s::float8 + %(slack_seconds)s::float8)
    OR due_at > now() + make_interval(secs => %(retry_seconds)s::float8 + %(slack_seconds)s::float8)
    OR rung_at > now() + make_interval(secs => %(slack_seconds)s::float8)
    OR queued_at > now() + make_interval(secs => %(slack_seconds)s::float8))
RETURNING id;

-- name: forgive_page_claims
-- Pages that somebody has taken for longer than anybody takes one: the database's clock was set back, and they are free.
UPDATE pages p SET claimed_until = NULL
FROM documents d
WHERE d.state IN ('queued', 'running', 'retrying') AND d.stage = 'extract' AND d.awaits_ocr
  AND p.document_id = d.id AND p.version = d.version AND p.awaits_ocr
  AND p.claimed_until > now() + make_interval(secs => %(claim_seconds)s::float8 + %(slack_seconds)s::float8)
RETURNING p.number;

-- name: wake_due
-- Documents whose time to be tried again has come.
UPDATE documents SET state = 'queued', due_at = NULL, rung_at = NULL, queued_at = now()
WHERE state = 'retrying' AND due_at <= now()
RETURNING id;

-- name: unheard_documents
-- Queued documents for which nobody rang, or rang so long ago that the ring must be lost.
SELECT id, version, stage, awaits_ocr FROM documents
WHERE state = 'queued'
  AND coalesce(rung_at, '-infinity') < now() - make_interval(secs =>
      CASE WHEN %(extract_queue_idle)s::bool OR %(ocr_queue_idle)s::bool OR %(embed_queue_idle)s::bool
           THEN %(grace_seconds)s::float8 ELSE %(patience_seconds)s::float8 END)
  AND (coalesce(rung_at, '-infinity') < now() - make_interval(secs => %(patience_seconds)s::float8) OR
       CASE WHEN stage <> 'extract' THEN %(embed_queue_idle)s::bool WHEN awaits_ocr THEN %(ocr_queue_idle)s::bool
            ELSE %(extract_queue_idle)s::bool END)
ORDER BY coalesce(rung_at, '-infinity'), id LIMIT %(limit)s;

-- name: queue_ages
-- By stage and state, the oldest document's age: how long a queued one has waited for a worker, a running one been worked on, one to be retried been here. OCR, which is a part of extraction with workers of its own, counts as a stage here.
WITH unfinished AS (
    SELECT CASE WHEN d.stage = 'extract' AND d.awaits_ocr THEN 'ocr' ELSE d.stage::text END AS stage, d.state, d.heartbeat_at,
           CASE d.state WHEN 'queued' THEN d.queued_at WHEN 'running' THEN a.started_at ELSE d.received_at END AS since
    FROM documents d LEFT JOIN attempts a ON a.document_id = d.id AND a.lease = d.lease AND a.outcome = 'running'
    WHERE d.state IN ('queued', 'running', 'retrying')
)
SELECT stage, state, count(*) AS documents,
       extract(epoch FROM now() - min(since))::double precision AS oldest_seconds,
       extract(epoch FROM now() - min(heartbeat_at))::double precision AS silent_seconds
FROM unfinished GROUP BY stage, state ORDER BY array_position(ARRAY['extract', 'ocr', 'chunk', 'embed'], stage), state;

-- name: workers_at_work
-- The workers that hold a document now: for how long, and how long ago they last reported.
SELECT a.worker, CASE WHEN d.stage = 'extract' AND d.awaits_ocr THEN 'ocr' ELSE d.stage::text END AS stage,
       extract(epoch FROM now() - a.started_at)::double precision AS working_seconds,
       extract(epoch FROM now() - d.heartbeat_at)::double precision AS silent_seconds
FROM documents d JOIN attempts a ON a.document_id = d.id AND a.lease = d.lease AND a.outcome = 'running'
WHERE d.state = 'running' ORDER BY a.worker, d.id;
