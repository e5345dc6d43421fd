-- name: lock_migrations
-- Wait until no other migrator runs; the lock ends with the session.
SELECT pg_advisory_lock(%(key)s::bigint);

-- name: create_migrations_table
-- The record of what was applied.
CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());

-- name: applied_migrations
-- Names of the migrations that this database has.
SELECT name FROM schema_migrations ORDER BY name;

-- name: record_migration
-- Remember that a migration was applied.
INSERT INTO schema_migrations (name) VALUES (%(name)s);
