-- name: claim_document
-- Take the lease of a document for one stage, and count the attempt; no row when that stage is not due.
UPDATE documents SET
    state = 'running', attempts = attempts + 1, lease = gen_random_uuid(),
    leased_until = now() + make_interval(secs => %(lease_seconds)s), heartbeat_at = now(), rung_at = NULL,
    started_at = coalesce(started_at, now())
WHERE id = %(document_id)s AND version = %(version)s AND stage = %(stage)s::document_stage
  AND awaits_ocr = %(awaits_ocr)s AND state = 'queued'
RETURNING id, version, folder_id, path, name, sha256, bytes, media_type, attempts, lease, searchable_version;

-- name: open_attempt
-- Write down that a try has begun, before it begins.
INSERT INTO attempts (document_id, version, stage, number, lease, worker)
VALUES (%(document_id)s, %(version)s, %(stage)s::document_stage, %(number)s, %(lease)s, %(worker)s);

-- name: close_attempt
-- Write down how a try ended.
UPDATE attempts SET outcome = %(outcome)s::attempt_outcome, ended_at = now(), code = %(code)s, message = %(message)s
WHERE lease = %(lease)s AND outcome = 'running';

-- name: renew_heartbeat
-- The worker lives and still holds the lease; no row when it does not.
UPDATE documents SET heartbeat_at = now() WHERE id = %(document_id)s AND lease = %(lease)s RETURNING id;

-- name: hold_lease
-- Lock the row for the transaction that saves results; no row when the lease is lost.
SELECT id FROM documents WHERE id = %(document_id)s AND version = %(version)s AND lease = %(lease)s FOR UPDATE;

-- name: advance_document
-- The stage's result is saved: the next stage, or the rest of this one, is due. The chain carries it on.
UPDATE documents SET
    state = 'queued', stage = %(stage)s::document_stage, awaits_ocr = %(awaits_ocr)s, attempts = 0,
    media_type = coalesce(%(media_type)s, media_type),
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, rung_at = now(), queued_at = now()
WHERE id = %(document_id)s AND lease = %(lease)s;

-- name: postpone_document
-- The try failed in a way that may pass: it is due again later; `anew` starts extraction from the first page.
UPDATE documents SET
    state = 'retrying', due_at = now() + make_interval(secs => %(seconds)s),
    awaits_ocr = awaits_ocr AND NOT %(anew)s,
    lease = NULL, leased_until = NULL, heartbeat_at = NULL
WHERE id = %(document_id)s AND lease = %(lease)s;

-- name: fail_document
-- The document failed for good; its bytes and an earlier version that answers stay.
UPDATE documents SET
    state = 'failed', failure_code = %(code)s, failure_message = %(message)s, failure_stage = stage,
    failure_permanent = %(permanent)s, failed_at = now(), finished_at = now(),
    media_type = coalesce(%(media_type)s, media_type),
    lease = NULL, leased_until = NULL, heartbeat_at = NULL
WHERE id = %(document_id)s AND lease = %(lease)s;

-- name: save_text
-- The canonical text of a version, replacing what an earlier try left.
INSERT INTO texts (document_id, version, sha256, bytes, media_type, text, characters, title, language, blocks, warnings, extractor, pages, ocr_pages, ocr_confidence,
                   page_kind, places, reader_options)
VALUES (%(document_id)s, %(version)s, %(sha256)s, %(bytes)s, %(media_type)s, %(text)s, length(%(text)s), %(title)s, %(language)s, %(blocks)s, %(warnings)s, %(extractor)s,
        %(pages)s, %(ocr_pages)s, %(ocr_confidence)s, %(page_kind)s, %(places)s, %(reader_options)s)
ON CONFLICT (document_id, version) DO UPDATE SET
    text = excluded.text, characters = excluded.characters, title = excluded.title, language = excluded.language, blocks = excluded.blocks,
    warnings = excluded.warnings, extractor = excluded.extractor, pages = excluded.pages,
    ocr_pages = excluded.ocr_pages, ocr_confidence = excluded.ocr_confidence,
    page_kind = excluded.page_kind, places = excluded.places, reader_options = excluded.reader_options;

-- name: load_text
-- The canonical text of a version with its blocks.
SELECT text, title, language, blocks, page_kind, places FROM texts
WHERE document_id = %(document_id)s AND version = %(version)s;

-- name: load_page_spans
-- Where the pages of a version lie in its canonical text.
SELECT number, start_offset AS start, end_offset AS "end", label, source, confidence
FROM pages WHERE document_id = %(document_id)s AND version = %(version)s AND start_offset IS NOT NULL ORDER BY number;

-- name: clear_chunks
-- Drop the chunks that an earlier try of this version left.
DELETE FROM chunks WHERE document_id = %(document_id)s AND version = %(version)s;

-- name: insert_chunk
-- One chunk.
INSERT INTO chunks (document_id, version, ordinal, start_offset, end_offset, content, section, header, tokens, locator, ocr_confidence)
VALUES (%(document_id)s, %(version)s, %(ordinal)s, %(start)s, %(end)s, %(content)s, %(section)s, %(header)s, %(tokens)s,
        %(locator)s, %(ocr_confidence)s);

-- name: load_chunks
-- The chunks of a version that have no vector of a stamp yet, in order.
SELECT c.id, c.ordinal, c.start_offset AS start, c.end_offset AS "end", c.content, c.section, c.header, c.tokens
FROM chunks c
WHERE c.document_id = %(document_id)s AND c.version = %(version)s
  AND NOT EXISTS (SELECT FROM embeddings e WHERE e.chunk_id = c.id AND e.stamp_id = %(stamp_id)s)
ORDER BY c.ordinal LIMIT %(limit)s;

-- name: insert_embedding
-- The vector of one chunk.
INSERT INTO embeddings (chunk_id, stamp_id, vector) VALUES (%(chunk_id)s, %(stamp_id)s, %(vector)s)
ON CONFLICT (chunk_id, stamp_id) DO UPDATE SET vector = excluded.vector;

-- name: insert_lexical_entries
-- The lexemes of chunks, in one statement: each statement notes once what it changed in the statistics.
INSERT INTO lexical_entries (chunk_id, stamp_id, document_id, version, folder_id, language, lexeme_count, lexemes)
SELECT c.id, %(stamp_id)s, c.document_id, c.version, d.folder_id, coalesce(t.language, 'en'), entry.lexeme_count,
       entry.lexemes::tsvector
FROM unnest(%(chunk_ids)s::bigint[], %(lexeme_counts)s::integer[], %(lexemes)s::text[])
     AS entry (chunk_id, lexeme_count, lexemes)
JOIN chunks c ON c.id = entry.chunk_id
JOIN documents d ON d.id = c.document_id
LEFT JOIN texts t ON t.document_id = c.document_id AND t.version = c.version
ON CONFLICT (chunk_id, stamp_id) DO UPDATE SET
    language = excluded.language, lexeme_count = excluded.lexeme_count, lexemes = excluded.lexemes;

-- name: index_document
-- The last stage is done: this version answers from now on, with its counters.
UPDATE documents d SET
    state = 'indexed', searchable_version = version, attempts = 0, chunker = %(chunker)s,
    chunks = (SELECT count(*) FROM chunks c JOIN embeddings e ON e.chunk_id = c.id AND e.stamp_id = %(stamp_id)s
              WHERE c.document_id = d.id AND c.version = d.version),
    stamp_id = %(stamp_id)s, finished_at = now(), lease = NULL, leased_until = NULL, heartbeat_at = NULL
WHERE id = %(document_id)s AND lease = %(lease)s;

-- name: load_draft
-- What extraction found out before OCR: title, extractor, warnings, what the pages are.
SELECT title, extractor, warnings, page_kind FROM texts WHERE document_id = %(document_id)s AND version = %(version)s;

-- name: text_language
-- The language of a version's text.
SELECT language FROM texts WHERE document_id = %(document_id)s AND version = %(version)s;
