-- name: server_versions
-- The versions of Postgres and pgvector.
SELECT current_setting('server_version') AS postgres,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector;
