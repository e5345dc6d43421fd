-- Full text leaves the table of vectors: a narrow table of its own, an index by lexeme and strength, and statistics that
-- every write carries along. Why: docs/decisions/0008-a-lexical-index-by-strength.md.

-- A worker that still runs must not write between the copy and the end of the columns.
LOCK TABLE embeddings IN SHARE ROW EXCLUSIVE MODE;

CREATE FUNCTION lexical_keys(lexemes tsvector, lexeme_count integer, folder_id bigint, language text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
RETURN array_to_tsvector(
    ARRAY['/' || folder_id, '/' || folder_id || '/' || language]
    || (SELECT array_agg(lexeme || chr(97 + width_bucket(
            greatest(cardinality(positions), 1) / (0.3::double precision + 0.007::double precision * lexeme_count),
            '{0.5,0.71,1,1.41,2,2.83,4,5.66,8}'::double precision[]
        ))) FROM unnest(lexemes))
);

CREATE TABLE lexical_entries (
    chunk_id     bigint NOT NULL REFERENCES chunks ON DELETE CASCADE,
    stamp_id     integer NOT NULL REFERENCES stamps,
    document_id  bigint NOT NULL,
    version      integer NOT NULL,
    folder_id    bigint NOT NULL,
    language     text NOT NULL,
    lexeme_count integer NOT NULL,
    lexemes      tsvector NOT NULL,
    PRIMARY KEY (chunk_id, stamp_id)
) WITH (toast_tuple_target = 8160);

CREATE TABLE lexeme_counts (
    stamp_id integer NOT NULL REFERENCES stamps,
    key      text COLLATE "C" NOT NULL,
    chunks   bigint NOT NULL,
    PRIMARY KEY (stamp_id, key)
);

CREATE TABLE lexical_totals (
    stamp_id integer PRIMARY KEY REFERENCES stamps,
    chunks   bigint NOT NULL,
    lexemes  bigint NOT NULL
);

CREATE TABLE lexical_changes (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stamp_id integer NOT NULL REFERENCES stamps,
    chunks   bigint NOT NULL,
    lexemes  bigint NOT NULL,
    keys     text[] COLLATE "C" NOT NULL,
    counts   bigint[] NOT NULL
);

CREATE FUNCTION note_lexical_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lexical_changes (stamp_id, chunks, lexemes, keys, counts)
    WITH totals AS (
        SELECT stamp_id, count(*) AS chunks, sum(lexeme_count) AS lexemes FROM entries GROUP BY stamp_id
    ), counted AS (
        SELECT stamp_id, key, count(*) AS chunks
        FROM entries CROSS JOIN LATERAL
             unnest(tsvector_to_array(lexical_keys(lexemes, lexeme_count, folder_id, language))) AS key
        GROUP BY stamp_id, key
    )
    SELECT t.stamp_id, t.chunks * TG_ARGV[0]::integer, t.lexemes * TG_ARGV[0]::integer,
           array_agg(c.key), array_agg(c.chunks * TG_ARGV[0]::integer)
    FROM totals t JOIN counted c USING (stamp_id) GROUP BY t.stamp_id, t.chunks, t.lexemes;
    RETURN NULL;
END
$$;

CREATE FUNCTION fold_lexical_changes(most integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[];
BEGIN
    -- One at a time: two that met the same keys in different orders would wait for each other for ever.
    IF NOT pg_try_advisory_xact_lock(7815265) THEN
        RETURN 0;
    END IF;
    ids := ARRAY(SELECT id FROM lexical_changes ORDER BY id LIMIT most);
    MERGE INTO lexical_totals t
    USING (
        SELECT stamp_id, sum(chunks) AS chunks, sum(lexemes) AS lexemes
        FROM lexical_changes WHERE id = ANY(ids) GROUP BY stamp_id
    ) c
    ON t.stamp_id = c.stamp_id
    WHEN MATCHED THEN UPDATE SET chunks = t.chunks + c.chunks, lexemes = t.lexemes + c.lexemes
    WHEN NOT MATCHED THEN INSERT (stamp_id, chunks, lexemes) VALUES (c.stamp_id, c.chunks, c.lexemes);
    MERGE INTO lexeme_counts l
    USING (
        SELECT p.stamp_id, u.key, sum(u.chunks) AS chunks
        FROM lexical_changes p CROSS JOIN LATERAL unnest(p.keys, p.counts) AS u (key, chunks)
        WHERE p.id = ANY(ids) GROUP BY p.stamp_id, u.key HAVING sum(u.chunks) <> 0
    ) c
    ON l.stamp_id = c.stamp_id AND l.key = c.key
    WHEN MATCHED AND l.chunks + c.chunks = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET chunks = l.chunks + c.chunks
    WHEN NOT MATCHED THEN INSERT (stamp_id, key, chunks) VALUES (c.stamp_id, c.key, c.chunks);
    DELETE FROM lexical_changes WHERE id = ANY(ids);
    RETURN cardinality(ids);
END
$$;

CREATE TRIGGER lexical_entries_added AFTER INSERT ON lexical_entries
REFERENCING NEW TABLE AS entries FOR EACH STATEMENT EXECUTE FUNCTION note_lexical_changes('1');
CREATE TRIGGER lexical_entries_deleted AFTER DELETE ON lexical_entries
REFERENCING OLD TABLE AS entries FOR EACH STATEMENT EXECUTE FUNCTION note_lexical_changes('-1');
CREATE TRIGGER lexical_entries_changed_from AFTER UPDATE ON lexical_entries
REFERENCING OLD TABLE AS entries FOR EACH STATEMENT EXECUTE FUNCTION note_lexical_changes('-1');
CREATE TRIGGER lexical_entries_changed_to AFTER UPDATE ON lexical_entries
REFERENCING NEW TABLE AS entries FOR EACH STATEMENT EXECUTE FUNCTION note_lexical_changes('1');

INSERT INTO lexical_entries (chunk_id, stamp_id, document_id, version, folder_id, language, lexeme_count, lexemes)
SELECT e.chunk_id, e.stamp_id, c.document_id, c.version, d.folder_id, coalesce(t.language, 'en'), e.lexeme_count, e.lexemes
FROM embeddings e
JOIN chunks c ON c.id = e.chunk_id
JOIN documents d ON d.id = c.document_id
LEFT JOIN texts t ON t.document_id = c.document_id AND t.version = c.version;
SELECT fold_lexical_changes(1000);

CREATE INDEX lexical_entries_document ON lexical_entries (document_id);
CREATE INDEX lexical_entries_keys ON lexical_entries
USING gin (lexical_keys(lexemes, lexeme_count, folder_id, language)) WITH (gin_pending_list_limit = 512);

ALTER TABLE embeddings DROP COLUMN lexemes, DROP COLUMN lexeme_count;
