-- name: find_twin
-- A document with the same bytes, read with the same settings by today's extractor, that answers; none for what was read here before (it is to be read anew), for messages with attachments, or with a warning whose cause may have passed. Kept as it is for this transaction.
SELECT d.id AS document_id, t.version, t.media_type
FROM texts t
JOIN documents d ON d.id = t.document_id AND d.searchable_version = t.version
JOIN unnest(%(media_types)s::text[], %(extractors)s::text[]) AS current (media_type, extractor)
  ON current.media_type = t.media_type AND current.extractor = t.extractor
WHERE t.sha256 = %(sha256)s AND d.id <> %(document_id)s
  AND t.reader_options = %(reader_options)s
  AND lower(substring(d.name FROM '[.][^.]*$')) IS NOT DISTINCT FROM lower(substring(%(name)s FROM '[.][^.]*$'))
  AND NOT EXISTS (SELECT FROM jsonb_array_elements(t.warnings) AS warning WHERE warning->>'code' = ANY(%(passing)s::text[]))
  AND NOT EXISTS (SELECT FROM documents attached WHERE attached.parent_id = d.id)
  AND NOT EXISTS (SELECT FROM texts own WHERE own.document_id = %(document_id)s AND own.sha256 = %(sha256)s
                                          AND own.version < %(version)s)
ORDER BY d.id LIMIT 1
FOR SHARE OF d SKIP LOCKED;

-- name: clear_text
-- Drop the text that an earlier try of this version left.
DELETE FROM texts WHERE document_id = %(document_id)s AND version = %(version)s;

-- name: copy_text
-- The canonical text of another document's version as that of this one.
INSERT INTO texts (document_id, version, sha256, bytes, media_type, text, characters, title, language, blocks, warnings,
                   extractor, pages, ocr_pages, ocr_confidence, page_kind, places, reader_options)
SELECT %(document_id)s, %(version)s, sha256, bytes, media_type, text, characters, title, language, blocks, warnings,
       extractor, pages, ocr_pages, ocr_confidence, page_kind, places, reader_options
FROM texts WHERE document_id = %(twin_id)s AND version = %(twin_version)s;

-- name: copy_pages
-- The pages of another document's version as those of this one.
INSERT INTO pages (document_id, version, number, label, width, height, source, confidence, words, warnings, awaits_ocr,
                   text, start_offset, end_offset, blocks, furniture)
SELECT %(document_id)s, %(version)s, number, label, width, height, source, confidence, words, warnings, awaits_ocr,
       text, start_offset, end_offset, blocks, furniture
FROM pages WHERE document_id = %(twin_id)s AND version = %(twin_version)s;

-- name: known_vectors
-- For these chunks, the vectors of equal passages (header and content) under one stamp, where there are any.
SELECT c.id AS chunk_id, known.vector
FROM chunks c
CROSS JOIN LATERAL (
    SELECT e.vector
    FROM (
        -- a passage that stands thousands of times is not looked through whole
        SELECT id FROM chunks equal
        WHERE md5(equal.header || E'\n' || equal.content) = md5(c.header || E'\n' || c.content)
          AND equal.header = c.header AND equal.content = c.content AND equal.id <> c.id
        LIMIT 50
    ) o
    JOIN embeddings e ON e.chunk_id = o.id AND e.stamp_id = %(stamp_id)s
    LIMIT 1
) known
WHERE c.id = ANY(%(chunk_ids)s::bigint[]);

-- name: count_embedded
-- Write down how many passages the model embedded in the try that runs.
UPDATE attempts SET embedded = %(embedded)s WHERE lease = %(lease)s AND outcome = 'running';
