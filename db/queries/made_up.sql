-- name: made_up_documents
-- Made-up documents that answer, for benchmarks in an empty database: one chunk in `per_document` of each, its number as its text.
WITH stamp AS (
    INSERT INTO stamps (model, dimensions, fingerprint, lexemes, active) VALUES ('none', 3, 'none', 'none', true)
), folder AS (
    INSERT INTO folders (name) SELECT 'folder ' || n FROM generate_series(1, %(folders)s::int) n
), document AS (
    INSERT INTO documents (folder_id, path, name, bytes, state, searchable_version, chunks, stamp_id)
    SELECT 1 + mod(n, %(folders)s::int), n, n, 1, 'indexed', 1, %(per_document)s, 1
    FROM generate_series(1, %(chunks)s::int / %(per_document)s::int) n
)
INSERT INTO chunks (document_id, version, ordinal, start_offset, end_offset, content, tokens, locator)
SELECT 1 + n / %(per_document)s::int, 1, mod(n, %(per_document)s::int), 0, length(n::text), n::text, 1, '{}'
FROM generate_series(0, %(chunks)s::int - 1) n;

-- name: stop_counting
-- Let the triggers of the lexical entries rest, while very many are copied in.
ALTER TABLE lexical_entries DISABLE TRIGGER USER;

-- name: go_on_counting
-- Let the triggers of the lexical entries work again.
ALTER TABLE lexical_entries ENABLE TRIGGER USER;

-- name: drop_lexical_index
-- Drop the index of keys, to make it at once when all entries are there.
DROP INDEX lexical_entries_keys;

-- name: create_lexical_index
-- The index of keys as the schema has it.
CREATE INDEX lexical_entries_keys ON lexical_entries
USING gin (lexical_keys(lexemes, lexeme_count, folder_id, language)) WITH (gin_pending_list_limit = 512);

-- name: copy_lexical_entries
-- Copy entries in.
COPY lexical_entries (chunk_id, stamp_id, document_id, version, folder_id, language, lexeme_count, lexemes) FROM STDIN;

-- name: count_all_lexemes
-- The statistics from the entries that are there, in place of what was counted.
WITH total AS (
    INSERT INTO lexical_totals (stamp_id, chunks, lexemes)
    SELECT stamp_id, count(*), sum(lexeme_count) FROM lexical_entries GROUP BY stamp_id
)
INSERT INTO lexeme_counts (stamp_id, key, chunks)
SELECT 1, word, ndoc
FROM ts_stat('SELECT lexical_keys(lexemes, lexeme_count, folder_id, language) FROM lexical_entries');

-- name: lexical_bytes
-- How many bytes the lexical index takes: its entries, their index of keys, and the statistics.
SELECT pg_table_size('lexical_entries') + pg_relation_size('lexical_entries_pkey')
       + pg_relation_size('lexical_entries_document') AS entries,
       pg_relation_size('lexical_entries_keys') AS keys,
       pg_total_relation_size('lexeme_counts') + pg_total_relation_size('lexical_changes') AS statistics;

-- name: settle_made_up
-- Bring tables that were just filled into the state in which autovacuum leaves them, and tell the planner of their sizes; outside of a transaction.
VACUUM (ANALYZE) lexical_entries, lexeme_counts, lexical_totals, documents, chunks;
