-- name: clear_pages
-- Drop the pages that an earlier try of this version left.
DELETE FROM pages WHERE document_id = %(document_id)s AND version = %(version)s;

-- name: insert_page
-- A page as the extractor gave it, or with its place in the canonical text when that is known.
INSERT INTO pages (document_id, version, number, label, width, height, source, confidence, words, warnings, awaits_ocr,
                   text, start_offset, end_offset, blocks, furniture)
VALUES (%(document_id)s, %(version)s, %(number)s, %(label)s, %(width)s, %(height)s, %(source)s::page_text_source,
        %(confidence)s, %(words)s, %(warnings)s, %(awaits_ocr)s, %(text)s, %(start)s, %(end)s,
        %(blocks)s, %(furniture)s);

-- name: save_page
-- A page that OCR has read; nothing when it was read already.
UPDATE pages SET text = %(text)s, blocks = %(blocks)s, furniture = %(furniture)s, source = %(source)s::page_text_source, confidence = %(confidence)s, words = %(words)s,
                 warnings = %(warnings)s, awaits_ocr = false
WHERE document_id = %(document_id)s AND version = %(version)s AND number = %(number)s AND awaits_ocr;

-- name: place_page
-- Where a page lies in the canonical text; its own copy of the text is no longer needed.
UPDATE pages SET start_offset = %(start)s, end_offset = %(end)s, text = NULL, blocks = '[]'
WHERE document_id = %(document_id)s AND version = %(version)s AND number = %(number)s;

-- name: load_pages
-- The pages of a version with their texts, in order.
SELECT number, text, source, label, width, height, confidence, words, warnings, awaits_ocr, blocks, furniture
FROM pages WHERE document_id = %(document_id)s AND version = %(version)s ORDER BY number;

-- name: take_page
-- Take the first page that awaits OCR and that nobody reads, for a while; no row when there is none, or the document's lease is with nobody.
UPDATE pages SET claimed_until = now() + make_interval(secs => %(seconds)s)
WHERE (document_id, version, number) = (
    SELECT p.document_id, p.version, p.number FROM pages p
    JOIN documents d ON d.id = p.document_id AND d.version = p.version
    WHERE p.document_id = %(document_id)s AND p.version = %(version)s AND p.awaits_ocr
      AND (p.claimed_until IS NULL OR p.claimed_until < now())
      AND d.state = 'running' AND d.stage = 'extract' AND d.awaits_ocr
    ORDER BY p.number LIMIT 1 FOR UPDATE OF p SKIP LOCKED)
RETURNING number, text, source, label, width, height, confidence, words, warnings, awaits_ocr, blocks, furniture;

-- name: release_pages
-- Pages that somebody has taken are free for others at once: one, or all of a version.
UPDATE pages SET claimed_until = NULL
WHERE document_id = %(document_id)s AND version = %(version)s AND awaits_ocr AND claimed_until IS NOT NULL
  AND (%(number)s::int IS NULL OR number = %(number)s::int);

-- name: count_unread
-- How many pages of a version await OCR.
SELECT count(*) FROM pages WHERE document_id = %(document_id)s AND version = %(version)s AND awaits_ocr;

-- name: find_reading
-- A version whose pages are being read by OCR, with the file to read them from.
SELECT id, version, sha256, media_type FROM documents
WHERE id = %(document_id)s AND version = %(version)s AND sha256 IS NOT NULL
  AND state = 'running' AND stage = 'extract' AND awaits_ocr;

-- name: hold_reading
-- Keep the row while a page of it is saved; no row when that version's pages are no longer wanted.
SELECT id FROM documents
WHERE id = %(document_id)s AND version = %(version)s AND stage = 'extract' AND awaits_ocr
  AND state IN ('queued', 'running') FOR SHARE;

-- name: find_page
-- A page of the version that answers, else of the one that is worked on: the file it is drawn from, its place in the canonical text, its words. Only the file where there is no such page.
SELECT t.version, t.sha256, t.media_type, t.pages, p.number,
       p.start_offset AS start, p.end_offset AS "end", p.words
FROM documents d
JOIN texts t ON t.document_id = d.id AND t.version = coalesce(d.searchable_version, d.version)
LEFT JOIN pages p ON p.document_id = d.id AND p.version = t.version AND p.number = %(number)s
WHERE d.id = %(document_id)s;
