-- name: server_versions
-- The versions of Postgres and pgvector, and how many connections the server takes.
SELECT current_setting('server_version') AS postgres, current_setting('max_connections')::int AS connections,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector;

-- name: recent_work
-- What was finished within the last seconds.
SELECT count(*) FILTER (WHERE state = 'indexed') AS indexed, count(*) FILTER (WHERE state = 'failed') AS failed,
       coalesce(sum(chunks) FILTER (WHERE state = 'indexed'), 0)::bigint AS chunks
FROM documents WHERE finished_at > now() - make_interval(secs => %(seconds)s) AND state IN ('indexed', 'failed');

-- name: stalled_documents
-- Unfinished documents that have not moved for so long, the longest first. Running ones move with each heartbeat; those that wait for a retry not before it is due; queued ones moved when they were queued or their last try ended.
WITH unfinished AS (
    -- when each of them last moved
    SELECT d.id, d.folder_id, d.path, d.stage, d.state, d.heartbeat_at,
           CASE d.state
               WHEN 'running' THEN greatest(d.heartbeat_at, tries.last_at)
               WHEN 'retrying' THEN d.due_at
               ELSE greatest(d.queued_at, tries.last_at)
           END AS moved_at,
           tries.worker, coalesce(tries.work_seconds, 0)::double precision AS work_seconds,
           CASE d.state
               WHEN 'running' THEN extract(epoch FROM tries.started_at - greatest(d.queued_at, tries.before_at))
               WHEN 'queued' THEN extract(epoch FROM now() - greatest(d.queued_at, tries.last_at))
           END::double precision AS queue_seconds
    FROM documents d
    LEFT JOIN LATERAL (
        SELECT max(coalesce(a.ended_at, a.started_at)) AS last_at, max(a.ended_at) AS before_at,
               max(a.started_at) AS started_at, (array_agg(a.worker ORDER BY a.id DESC))[1] AS worker,
               sum(extract(epoch FROM coalesce(a.ended_at, now()) - a.started_at))
                   FILTER (WHERE a.version = d.version AND a.stage = d.stage) AS work_seconds
        FROM attempts a WHERE a.document_id = d.id
    ) tries ON true
    WHERE d.state IN ('queued', 'running', 'retrying')
)
SELECT u.id, f.name AS folder, u.path, u.stage, u.state, u.moved_at, u.heartbeat_at, u.worker, u.queue_seconds,
       u.work_seconds, count(*) OVER () AS documents
FROM unfinished u JOIN folders f ON f.id = u.folder_id
WHERE u.moved_at < now() - make_interval(secs => %(seconds)s)
ORDER BY u.moved_at, u.id LIMIT %(limit)s;

-- name: limit_statements
-- For this session: a statement that takes longer is ended.
SELECT set_config('statement_timeout', %(milliseconds)s, false);

-- name: is_working
-- Whether any try began or ended lately.
SELECT EXISTS (
    SELECT FROM attempts
    WHERE (ended_at > now() - make_interval(secs => %(seconds)s)
           OR (outcome = 'running' AND started_at > now() - make_interval(secs => %(seconds)s)))
      AND worker <> 'arrival'
);

-- name: server_clock
-- What time it is for Postgres.
SELECT clock_timestamp();

-- name: stale_counts
-- How many indexed documents are of another extractor of their format, another chunker, or a stamp that does not answer.
SELECT count(*) FILTER (WHERE t.extractor <> current.extractor) AS extractor,
       count(*) FILTER (WHERE d.chunker <> %(chunker)s) AS chunker,
       count(*) FILTER (WHERE s.active IS FALSE) AS stamp
FROM documents d
LEFT JOIN texts t ON t.document_id = d.id AND t.version = d.searchable_version
LEFT JOIN unnest(%(media_types)s::text[], %(extractors)s::text[]) AS current (media_type, extractor)
  ON current.media_type = t.media_type
LEFT JOIN stamps s ON s.id = d.stamp_id
WHERE d.state = 'indexed';

-- name: stale_entries
-- Indexed documents of another chunker (where one is given), or (where none is) of a stamp that does not answer.
SELECT d.id, d.path FROM documents d JOIN folders f ON f.id = d.folder_id JOIN stamps s ON s.id = d.stamp_id
WHERE d.state = 'indexed' AND (%(folder)s::text IS NULL OR f.name = %(folder)s)
  AND CASE WHEN %(chunker)s::text IS NULL THEN NOT s.active ELSE d.chunker <> %(chunker)s END
ORDER BY d.id;
