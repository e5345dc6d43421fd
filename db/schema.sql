-- The whole schema as it stands after all migrations. A test builds one database from this file and one from
-- db/migrations/ and compares the two.
--
-- Offsets (start_offset, end_offset) count code points of texts.text, half open.

CREATE EXTENSION IF NOT EXISTS vector;

-- The state diagram of a document:
--   queued   -> running            a worker took the lease for the row's stage
--   running  -> queued             the stage is done and the next is due, or a slice of OCR was handed back
--   running  -> indexed            the last stage is done: the document answers
--   running  -> retrying           a failure that may pass; due_at says when it is tried again
--   running  -> failed             a permanent failure, or the last attempt
--   retrying -> queued             due_at has come (the sweep)
--   failed   -> queued             somebody asked for a retry
--   any      -> removed            gone from answers; a file of the same path brings it back as a new version
CREATE TYPE document_state AS ENUM ('queued', 'running', 'retrying', 'indexed', 'failed', 'removed');

-- The work that is due next, in order.
CREATE TYPE document_stage AS ENUM ('extract', 'chunk', 'embed');

-- How one attempt ended:
--   running      it has not ended, or its worker died and the sweep has not seen it yet
--   done         the stage's result was saved
--   handed_back  a slice of a long document was saved and the rest is queued again
--   retry        it failed and is tried again
--   failed       it failed for good
--   lost         its worker died or stopped reporting
--   superseded   the document changed or was removed meanwhile; the result was thrown away
CREATE TYPE attempt_outcome AS ENUM ('running', 'done', 'handed_back', 'retry', 'failed', 'lost', 'superseded');

CREATE TYPE page_text_source AS ENUM ('text', 'ocr', 'none');

-- Paths can be longer than what fits into an index, so that uniqueness goes by their digest.
CREATE FUNCTION path_digest(path text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sha256(convert_to(path, 'UTF8'));

-- A named set of documents. With a path it is a drop folder: the watcher keeps it in step with that directory.
CREATE TABLE folders (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    path        text,
    root_device bigint,      -- st_dev of the directory: another value means that a mount came or went
    watch_note  text,        -- what the watcher wants the operator to know, such as a refused mass deletion
    scanned_at  timestamptz, -- the last complete scan
    created_at  timestamptz NOT NULL DEFAULT now(),
    root_inode  bigint,      -- another value means that the directory is another one
    polling_reason text,     -- why the watcher goes by scans alone; NULL: it hears of changes
    ignored     integer NOT NULL DEFAULT 0,    -- files and directories that the last scan passed over
    ignored_paths jsonb NOT NULL DEFAULT '[]'  -- the first of them: [path, reason]
);

-- What vectors and lexemes were made with. Rows of two stamps never meet in one query; the active one answers.
CREATE TABLE stamps (
    id             integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model          text NOT NULL,
    dimensions     integer NOT NULL CHECK (dimensions BETWEEN 1 AND 2000),
    fingerprint    text NOT NULL,       -- digest of weights, tokenizer, pooling and prefixes
    lexemes        text NOT NULL,       -- version of the text analysis
    active         boolean NOT NULL DEFAULT false,
    gate_threshold double precision,    -- largest distance that still answers; NULL: not calibrated
    created_at     timestamptz NOT NULL DEFAULT now(),
    gate_signal    text,                -- what it was calibrated on; it is used for no other
    UNIQUE (model, dimensions, fingerprint, lexemes)
);
CREATE UNIQUE INDEX stamps_one_active ON stamps (active) WHERE active;

-- One row per (folder, path), for ever: the sha256 says whether the file changed. Postgres is the truth, the broker
-- a doorbell: `stage` and `state` say what is due, and the sweep rings for whatever nobody rang for.
CREATE TABLE documents (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    folder_id          bigint NOT NULL REFERENCES folders ON DELETE CASCADE,
    path               text NOT NULL CHECK (length(path) BETWEEN 1 AND 16384),
    name               text NOT NULL,
    version            integer NOT NULL DEFAULT 1, -- counts contents seen at this path
    searchable_version integer,                    -- the version that answers; NULL: none
    media_type         text,
    bytes              bigint NOT NULL,
    sha256             text CHECK (sha256 ~ '^[0-9a-f]{64}$'), -- NULL: the bytes could not be read

    state              document_state NOT NULL DEFAULT 'queued',
    stage              document_stage NOT NULL DEFAULT 'extract',
    awaits_ocr         boolean NOT NULL DEFAULT false, -- extraction goes on in the OCR queue
    attempts           integer NOT NULL DEFAULT 0,     -- tries at this stage since it last made progress
    lease              uuid,                           -- the right to write results; changes with every attempt
    leased_until       timestamptz,
    heartbeat_at       timestamptz,
    due_at             timestamptz,                    -- retrying: not before this
    rung_at            timestamptz,                    -- queued: when the doorbell was last rung; NULL: never

    failure_code       text,
    failure_message    text,
    failure_stage      document_stage,
    failure_permanent  boolean,
    failed_at          timestamptz,

    chunks             integer NOT NULL DEFAULT 0,     -- of the version that answers
    chunker            text,
    stamp_id           integer REFERENCES stamps,

    source_modified_ns bigint, -- the watched file's modification time and inode, to see changes without reading it
    source_inode       bigint,

    received_at        timestamptz NOT NULL DEFAULT now(),
    started_at         timestamptz,
    finished_at        timestamptz,
    parent_id          bigint REFERENCES documents ON DELETE CASCADE, -- the message that it was attached to
    source_changed_ns  bigint, -- the watched file's change time (st_ctime_ns), which no program sets back
    queued_at          timestamptz NOT NULL DEFAULT now(), -- queued: since when it waits for a worker
    source_read_at     timestamptz, -- when the watched file was last read to compare it; NULL: not since received_at

    CHECK ((state = 'running') = (lease IS NOT NULL)),
    CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
    CHECK ((state = 'retrying') = (due_at IS NOT NULL)),
    CHECK (state <> 'indexed' OR searchable_version = version)
);
CREATE UNIQUE INDEX documents_path ON documents (folder_id, path_digest(path));
CREATE INDEX documents_folder_state ON documents (folder_id, state);
CREATE INDEX documents_sha256 ON documents (sha256);
CREATE INDEX documents_parent ON documents (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX documents_unheard ON documents (coalesce(rung_at, '-infinity'::timestamptz), id) WHERE state = 'queued';
CREATE INDEX documents_finished ON documents (finished_at);
CREATE INDEX documents_unfinished ON documents (state, stage) WHERE state IN ('queued', 'running', 'retrying');

-- The canonical text of each version: what chunks and quotes are slices of.
CREATE TABLE texts (
    document_id    bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    version        integer NOT NULL,
    sha256         text NOT NULL,               -- the bytes that it was made from, which citations open
    bytes          bigint NOT NULL,
    media_type     text,
    text           text NOT NULL,
    characters     integer NOT NULL,
    title          text,
    language       text,
    blocks         jsonb NOT NULL DEFAULT '[]', -- [kind, start, end, level, title]
    warnings       jsonb NOT NULL DEFAULT '[]', -- {code, message, page}
    extractor      text NOT NULL,
    pages          integer,                     -- NULL: a format without pages
    ocr_pages      integer NOT NULL DEFAULT 0,
    ocr_confidence double precision,            -- weighted by characters; NULL: no words from OCR
    page_kind      text NOT NULL DEFAULT 'page' CHECK (page_kind IN ('page', 'slide', 'sheet')),
    places         jsonb NOT NULL DEFAULT '[]', -- cues: [start, end, seconds, seconds]; cells: [start, end, rows, columns]
    reader_options text NOT NULL DEFAULT '',    -- the settings that it was read with (JSON); '': not known
    PRIMARY KEY (document_id, version)
);

CREATE INDEX texts_sha256 ON texts (sha256);

-- The pages of each version. While extraction goes on, `text` holds each page's text and OCR saves page by page;
-- when the canonical text is made, the offsets are filled in and `text` is emptied.
CREATE TABLE pages (
    document_id  bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    version      integer NOT NULL,
    number       integer NOT NULL CHECK (number >= 1),
    label        text,
    width        double precision, -- points
    height       double precision,
    source       page_text_source NOT NULL,
    confidence   double precision,
    words        jsonb NOT NULL DEFAULT '[]', -- OCR: [start, end, left, top, right, bottom, confidence], page offsets
    warnings     jsonb NOT NULL DEFAULT '[]',
    awaits_ocr   boolean NOT NULL DEFAULT false,
    text         text,
    start_offset integer,
    end_offset   integer,
    blocks       jsonb NOT NULL DEFAULT '[]', -- as in texts, with page offsets, until the canonical text is made
    furniture    text NOT NULL DEFAULT '',    -- running heads and the like, kept out of the canonical text
    claimed_until timestamptz,                -- until when a worker reads it by OCR; NULL: nobody does
    PRIMARY KEY (document_id, version, number)
);

-- Slices of the canonical text. `content` is the quote; header and content together are what is embedded.
CREATE TABLE chunks (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id    bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    version        integer NOT NULL,
    ordinal        integer NOT NULL,
    start_offset   integer NOT NULL CHECK (start_offset >= 0),
    end_offset     integer NOT NULL,
    content        text NOT NULL CHECK (length(content) = end_offset - start_offset AND content <> ''),
    section        text[] NOT NULL DEFAULT '{}',
    header         text NOT NULL DEFAULT '',
    tokens         integer NOT NULL, -- word pieces of header and content with the model's special tokens
    locator        jsonb NOT NULL,
    ocr_confidence double precision,
    UNIQUE (document_id, version, ordinal)
);

CREATE INDEX chunks_passage ON chunks USING hash (md5(header || E'\n' || content)); -- equal passages

-- What the dense leg runs over: the unit vector of each chunk, by stamp. The last of a version's is written in the
-- transaction that makes the version answer; those of a long document come in slices before it, and do not answer.
CREATE TABLE embeddings (
    chunk_id     bigint NOT NULL REFERENCES chunks ON DELETE CASCADE,
    stamp_id     integer NOT NULL REFERENCES stamps,
    vector       vector NOT NULL,
    PRIMARY KEY (chunk_id, stamp_id)
);

-- The keys under which the lexical leg finds a chunk. A lexeme ends with its strength in this chunk, a letter from a
-- (weakest) to j: the frequency of the lexeme over the length of the chunk as BM25 weighs it, with a mean length of 128.
-- Beside the lexemes stand the folder and its language, `/12` and `/12/en`.
CREATE FUNCTION lexical_keys(lexemes tsvector, lexeme_count integer, folder_id bigint, language text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
RETURN array_to_tsvector(
    ARRAY['/' || folder_id, '/' || folder_id || '/' || language]
    || (SELECT array_agg(lexeme || chr(97 + width_bucket(
            greatest(cardinality(positions), 1) / (0.3::double precision + 0.007::double precision * lexeme_count),
            '{0.5,0.71,1,1.41,2,2.83,4,5.66,8}'::double precision[]
        ))) FROM unnest(lexemes))
);

-- What the lexical leg runs over: per chunk and stamp, the lexemes with their positions, those of the header too. Written
-- with the vectors. Folder, document and version stand here again so that a match is known to answer without more tables.
CREATE TABLE lexical_entries (
    chunk_id     bigint NOT NULL REFERENCES chunks ON DELETE CASCADE,
    stamp_id     integer NOT NULL REFERENCES stamps,
    document_id  bigint NOT NULL,
    version      integer NOT NULL,
    folder_id    bigint NOT NULL,
    language     text NOT NULL,    -- whose stems the lexemes are
    lexeme_count integer NOT NULL, -- length of the chunk for BM25
    lexemes      tsvector NOT NULL,
    PRIMARY KEY (chunk_id, stamp_id)
) WITH (toast_tuple_target = 8160);

CREATE INDEX lexical_entries_document ON lexical_entries (document_id);
CREATE INDEX lexical_entries_keys ON lexical_entries
USING gin (lexical_keys(lexemes, lexeme_count, folder_id, language)) WITH (gin_pending_list_limit = 512);

-- In how many chunks each key stands: what BM25 and the choice of candidates need to know. All stored chunks count, those
-- of a version that does not answer yet too. The truth is this plus `lexical_changes`.
CREATE TABLE lexeme_counts (
    stamp_id integer NOT NULL REFERENCES stamps,
    key      text COLLATE "C" NOT NULL,
    chunks   bigint NOT NULL,
    PRIMARY KEY (stamp_id, key)
);

-- How many chunks there are, and how many lexemes in all of them.
CREATE TABLE lexical_totals (
    stamp_id integer PRIMARY KEY REFERENCES stamps,
    chunks   bigint NOT NULL,
    lexemes  bigint NOT NULL
);

-- What every statement on lexical_entries has changed: rows are only ever added, so that writers never wait for each other.
-- The sweep folds them into the counts.
CREATE TABLE lexical_changes (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stamp_id integer NOT NULL REFERENCES stamps,
    chunks   bigint NOT NULL,
    lexemes  bigint NOT NULL,
    keys     text[] COLLATE "C" NOT NULL,
    counts   bigint[] NOT NULL
);

-- One row for what a statement added ('1') or took away ('-1').
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

-- Add the oldest changes to the counts, so many at most; gives how many.
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

-- Every try that was ever made, so that a retry keeps the earlier diagnosis.
CREATE TABLE attempts (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    version     integer NOT NULL,
    stage       document_stage NOT NULL,
    number      integer NOT NULL, -- of the tries at this stage since it last made progress
    lease       uuid NOT NULL UNIQUE,
    worker      text NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    outcome     attempt_outcome NOT NULL DEFAULT 'running',
    code        text,
    message     text,
    embedded    integer          -- passages that the model embedded in this try; equal ones elsewhere lend their vectors
);
CREATE INDEX attempts_document ON attempts (document_id, id);
CREATE INDEX attempts_ended ON attempts (ended_at);
CREATE INDEX attempts_running ON attempts (document_id) WHERE outcome = 'running';

-- Bearer tokens of the API. Only the digest is kept.
CREATE TABLE tokens (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
    sha256     text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The HNSW index of one stamp: vectors of different sizes share the column, so the index casts to the stamp's size.
CREATE FUNCTION create_vector_index(stamp integer, dimensions integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS embeddings_vector_%1$s ON embeddings '
        'USING hnsw ((vector::vector(%2$s)) vector_cosine_ops) WITH (m = 16, ef_construction = 200) WHERE stamp_id = %1$s',
        stamp, dimensions
    );
END
$$;

-- A document as the API and the command line show it. Text facts, and the file that citations open, are those of the
-- version that answers, else of the version that is worked on.
CREATE VIEW document_details AS
SELECT d.id, f.name AS folder, d.folder_id, d.path, d.name, d.version, d.media_type, d.bytes, d.sha256,
       d.state, d.stage, d.awaits_ocr, d.searchable_version,
       (d.searchable_version IS NOT NULL AND s.active) IS TRUE AS searchable,
       d.failure_code, d.failure_stage, d.failure_message, d.failure_permanent, d.failed_at,
       d.attempts, d.due_at, d.heartbeat_at,
       coalesce(t.warnings, '[]'::jsonb) AS warnings,
       t.pages, t.characters, d.chunks, t.language, t.title,
       coalesce(t.ocr_pages, 0) AS ocr_pages, t.ocr_confidence,
       t.extractor, d.chunker, s.model, s.dimensions,
       coalesce(t.sha256, d.sha256) AS file_sha256, coalesce(t.media_type, d.media_type) AS file_media_type,
       d.received_at, d.started_at, d.finished_at
FROM documents d
JOIN folders f ON f.id = d.folder_id
LEFT JOIN texts t ON t.document_id = d.id AND t.version = coalesce(d.searchable_version, d.version)
LEFT JOIN stamps s ON s.id = d.stamp_id;
