-- name: server_versions
-- The versions of Postgres and pgvector.
SELECT current_setting('server_version') AS postgres,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector;

-- name: recent_work
-- What was finished within the last seconds.
SELECT count(*) FILTER (WHERE state = 'indexed') AS indexed, count(*) FILTER (WHERE state = 'failed') AS failed,
       coalesce(sum(chunks) FILTER (WHERE state = 'indexed'), 0)::bigint AS chunks
FROM documents WHERE finished_at > now() - make_interval(secs => %(seconds)s) AND state IN ('indexed', 'failed');
