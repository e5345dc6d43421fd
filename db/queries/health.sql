-- name: server_versions
-- The versions of Postgres and pgvector.
SELECT current_setting('server_version') AS postgres,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector;

-- name: recent_work
-- What was finished within the last seconds.
SELECT count(*) FILTER (WHERE state = 'indexed') AS indexed, count(*) FILTER (WHERE state = 'failed') AS failed,
       coalesce(sum(chunks) FILTER (WHERE state = 'indexed'), 0)::bigint AS chunks
FROM documents WHERE finished_at > now() - make_interval(secs => %(seconds)s) AND state IN ('indexed', 'failed');

-- name: stalled_documents
-- Unfinished documents that have not moved for so long, the longest first. Running ones move with each heartbeat; those that wait for a retry not before it is due; queued ones moved when they arrived or their last try ended.
WITH unfinished AS (
    -- when each of them last moved
    SELECT d.id, d.folder_id, d.path, d.stage, d.state, d.heartbeat_at,
           CASE d.state
               WHEN 'running' THEN greatest(d.heartbeat_at, tries.last_at)
               WHEN 'retrying' THEN d.due_at
               ELSE greatest(d.received_at, tries.last_at)
           END AS moved_at
    FROM documents d
    LEFT JOIN LATERAL (
        SELECT max(coalesce(a.ended_at, a.started_at)) AS last_at FROM attempts a WHERE a.document_id = d.id
    ) tries ON true
    WHERE d.state IN ('queued', 'running', 'retrying')
)
SELECT u.id, f.name AS folder, u.path, u.stage, u.state, u.moved_at, u.heartbeat_at, count(*) OVER () AS documents
FROM unfinished u JOIN folders f ON f.id = u.folder_id
WHERE u.moved_at < now() - make_interval(secs => %(seconds)s)
ORDER BY u.moved_at, u.id LIMIT %(limit)s;

-- name: limit_statements
-- For this session: a statement that takes longer is ended.
SELECT set_config('statement_timeout', %(milliseconds)s, false);
