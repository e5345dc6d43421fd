-- name: receive_document
-- Record a file whose bytes are in the originals store: a new document, a new version of a changed or removed one, or no row when the same bytes are known at that path (or the folder no longer watches `root`, or an attachment stands there).
INSERT INTO documents (folder_id, path, name, bytes, sha256, source_modified_ns, source_inode, source_changed_ns,
                       parent_id)
SELECT f.id, %(path)s, %(name)s, %(bytes)s, %(sha256)s, %(modified_ns)s, %(inode)s, %(changed_ns)s, %(parent_id)s
FROM folders f WHERE f.id = %(folder_id)s AND (%(root)s::text IS NULL OR f.path = %(root)s) FOR SHARE
ON CONFLICT (folder_id, path_digest(path)) DO UPDATE SET
    version = documents.version + 1, bytes = excluded.bytes, sha256 = excluded.sha256, media_type = NULL,
    state = 'queued', stage = 'extract', awaits_ocr = false, attempts = 0,
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, due_at = NULL, rung_at = NULL,
    failure_code = NULL, failure_message = NULL, failure_stage = NULL, failure_permanent = NULL, failed_at = NULL,
    source_modified_ns = excluded.source_modified_ns, source_inode = excluded.source_inode,
    source_changed_ns = excluded.source_changed_ns,
    parent_id = excluded.parent_id, received_at = now(), queued_at = now(), started_at = NULL, finished_at = NULL
WHERE documents.state = 'removed'
   OR (documents.sha256 IS DISTINCT FROM excluded.sha256 AND documents.parent_id IS NOT DISTINCT FROM excluded.parent_id)
RETURNING id, version, (xmax = 0) AS created;

-- name: receive_unreadable
-- Record a file whose bytes could not be kept: it is failed at once, with the reason, and an earlier version goes on answering. No row when the folder no longer watches `root`.
INSERT INTO documents (folder_id, path, name, bytes, state, failure_code, failure_message, failure_stage,
                       failure_permanent, failed_at, finished_at, source_modified_ns, source_inode, source_changed_ns)
SELECT f.id, %(path)s, %(name)s, %(bytes)s, 'failed'::document_state, %(code)s, %(message)s, 'extract'::document_stage,
       %(permanent)s, now(), now(), %(modified_ns)s, %(inode)s, %(changed_ns)s
FROM folders f WHERE f.id = %(folder_id)s AND (%(root)s::text IS NULL OR f.path = %(root)s) FOR SHARE
ON CONFLICT (folder_id, path_digest(path)) DO UPDATE SET
    version = documents.version + 1, bytes = excluded.bytes, sha256 = NULL, media_type = NULL, parent_id = NULL,
    state = 'failed', stage = 'extract', awaits_ocr = false, attempts = 0,
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, due_at = NULL, rung_at = NULL,
    failure_code = excluded.failure_code, failure_message = excluded.failure_message, failure_stage = 'extract',
    failure_permanent = excluded.failure_permanent, failed_at = now(), finished_at = now(), received_at = now(),
    source_modified_ns = excluded.source_modified_ns, source_inode = excluded.source_inode,
    source_changed_ns = excluded.source_changed_ns
RETURNING id, version, (xmax = 0) AS created;

-- name: record_refusal
-- Write down as a try that a file could not be taken in, so that the reason outlives its mending.
INSERT INTO attempts (document_id, version, stage, number, lease, worker, ended_at, outcome, code, message)
VALUES (%(document_id)s, %(version)s, 'extract', 1, gen_random_uuid(), 'arrival', now(), 'failed', %(code)s, %(message)s);

-- name: abandon_attempts
-- Close the open attempts of versions that nobody works on any more.
UPDATE attempts SET outcome = 'superseded', ended_at = now()
WHERE document_id = %(document_id)s AND outcome = 'running' AND version < %(version)s;

-- name: touch_document
-- The file's times or inode changed but its bytes did not.
UPDATE documents SET source_modified_ns = %(modified_ns)s, source_inode = %(inode)s, source_changed_ns = %(changed_ns)s,
    source_read_at = now()
WHERE folder_id = %(folder_id)s AND path_digest(path) = path_digest(%(path)s)
  AND (state <> 'removed' OR source_modified_ns IS NOT NULL);

-- name: move_document
-- A file was renamed: the same document at a new path, with nothing done again; a removed one that stood there makes way, any other (an attachment) does not.
WITH cleared AS (
    DELETE FROM documents
    WHERE folder_id = %(folder_id)s AND path_digest(path) = path_digest(%(new_path)s) AND state = 'removed' AND id <> %(document_id)s
    RETURNING id
)
UPDATE documents SET path = %(new_path)s, name = %(name)s,
    source_modified_ns = %(modified_ns)s, source_inode = %(inode)s, source_changed_ns = %(changed_ns)s,
    source_read_at = now()
WHERE id = %(document_id)s AND state <> 'removed' AND (SELECT count(*) FROM cleared) >= 0
  AND NOT EXISTS (SELECT FROM documents o WHERE o.folder_id = %(folder_id)s AND path_digest(o.path) = path_digest(%(new_path)s)
                  AND o.state <> 'removed' AND o.id <> %(document_id)s);

-- name: move_attachments
-- The attachments of a renamed message go with it, and the attachments of messages among them.
WITH RECURSIVE below AS (
    SELECT id FROM documents WHERE parent_id = %(document_id)s
    UNION ALL
    SELECT d.id FROM documents d JOIN below b ON d.parent_id = b.id
)
UPDATE documents SET path = %(new_path)s || substr(path, length(%(old_path)s) + 1)
WHERE id IN (SELECT id FROM below) AND starts_with(path, %(old_path)s || '/');

-- name: clear_removed_below
-- Removed documents that stand where the attachments of a renamed message will go make way.
DELETE FROM documents
WHERE folder_id = %(folder_id)s AND state = 'removed' AND starts_with(path, %(new_path)s || '/');

-- name: find_occupant
-- The document that stands at a path, removed or not, and what it is attached to.
SELECT id, parent_id, state, sha256 FROM documents
WHERE folder_id = %(folder_id)s AND path_digest(path) = path_digest(%(path)s);

-- name: attachments
-- The documents that were attached to one.
SELECT id, path FROM documents WHERE parent_id = %(document_id)s AND state <> 'removed' ORDER BY id;

-- name: find_document
-- The document at a path of a folder, removed or not.
SELECT * FROM document_details WHERE folder_id = %(folder_id)s AND path_digest(path) = path_digest(%(path)s);

-- name: get_document
-- One document by its id, removed or not.
SELECT * FROM document_details WHERE id = %(document_id)s;

-- name: list_documents
-- Documents in order of id, after a cursor; removed ones only when asked for by state.
SELECT * FROM document_details
WHERE id > %(after)s
  AND (%(folder)s::text IS NULL OR folder = %(folder)s)
  AND (%(state)s::document_state IS NULL OR state = %(state)s::document_state)
  AND (%(code)s::text IS NULL OR failure_code = %(code)s)
  AND (state <> 'removed' OR %(state)s::document_state = 'removed')
ORDER BY id
LIMIT %(limit)s;

-- name: list_attempts
-- Every try that was made at a document, oldest first.
SELECT version, stage, number, worker, started_at, ended_at, outcome, code, message, embedded
FROM attempts WHERE document_id = %(document_id)s ORDER BY id;

-- name: list_pages
-- The pages of the version that answers, else of the one that is worked on.
SELECT p.number, p.label, p.width, p.height, p.source, p.confidence, p.awaits_ocr,
       p.start_offset, p.end_offset, jsonb_array_length(p.words) AS words
FROM pages p JOIN documents d ON d.id = p.document_id AND p.version = coalesce(d.searchable_version, d.version)
WHERE d.id = %(document_id)s ORDER BY p.number;

-- name: read_text
-- A slice of the canonical text (code points) and its full length; no row when there is none.
SELECT substr(t.text, %(start)s::int + 1, greatest(%(end)s::int - %(start)s::int, 0)) AS text, t.characters
FROM texts t JOIN documents d ON d.id = t.document_id AND t.version = coalesce(d.searchable_version, d.version)
WHERE d.id = %(document_id)s AND d.state <> 'removed';

-- name: count_states
-- How many of these documents are in each state.
SELECT state, count(*) AS documents FROM documents WHERE id = ANY(%(ids)s::bigint[]) GROUP BY state;

-- name: mark_rung
-- The doorbell was rung for these documents.
UPDATE documents SET rung_at = now() WHERE id = ANY(%(document_ids)s) AND state = 'queued';

-- name: forget_gone
-- These removed documents' files are gone too: a file that comes back at that path is a new one.
UPDATE documents SET source_modified_ns = NULL, source_inode = NULL, source_changed_ns = NULL
WHERE id = ANY(%(ids)s::bigint[]) AND state = 'removed';

-- name: remove_document
-- Take a document out of answers at once and void any lease, so that work in flight cannot bring it back.
UPDATE documents SET state = 'removed', searchable_version = NULL, chunks = 0, attempts = 0, awaits_ocr = false,
    lease = NULL, leased_until = NULL, heartbeat_at = NULL, due_at = NULL, rung_at = NULL,
    failure_code = NULL, failure_message = NULL, failure_stage = NULL, failure_permanent = NULL, failed_at = NULL,
    finished_at = now()
WHERE id = %(document_id)s AND state <> 'removed'
RETURNING version + 1 AS version;

-- name: delete_texts
-- Forget the text of a document's versions below one, but with keep_answering not of the one that answers.
DELETE FROM texts WHERE document_id = %(document_id)s AND version < %(version)s
  AND NOT (%(keep_answering)s AND version = (SELECT coalesce(searchable_version, 0) FROM documents WHERE id = %(document_id)s));

-- name: delete_pages
-- Forget the pages of a document's versions below one, but with keep_answering not of the one that answers.
DELETE FROM pages WHERE document_id = %(document_id)s AND version < %(version)s
  AND NOT (%(keep_answering)s AND version = (SELECT coalesce(searchable_version, 0) FROM documents WHERE id = %(document_id)s));

-- name: delete_lexical_entries
-- Forget the lexemes of a document's versions below one in one statement, which notes once what it changed in the statistics; with keep_answering not of the one that answers.
DELETE FROM lexical_entries WHERE document_id = %(document_id)s AND version < %(version)s
  AND NOT (%(keep_answering)s AND version = (SELECT coalesce(searchable_version, 0) FROM documents WHERE id = %(document_id)s));

-- name: delete_chunks
-- Forget the chunks, and with them the vectors, of a document's versions below one, but with keep_answering not of the one that answers.
DELETE FROM chunks WHERE document_id = %(document_id)s AND version < %(version)s
  AND NOT (%(keep_answering)s AND version = (SELECT coalesce(searchable_version, 0) FROM documents WHERE id = %(document_id)s));

-- name: used_originals
-- Which of these digests a document still needs: its current bytes, those of a version that answers, or those of one removed only lately.
SELECT sha256 FROM documents
WHERE sha256 = ANY(%(digests)s) AND (state <> 'removed' OR finished_at > now() - make_interval(secs => %(seconds)s))
UNION
SELECT sha256 FROM texts WHERE sha256 = ANY(%(digests)s);

-- name: stale_documents
-- Indexed documents that another version of their format's extractor has read.
SELECT d.id, d.path FROM documents d
JOIN folders f ON f.id = d.folder_id
JOIN texts t ON t.document_id = d.id AND t.version = d.searchable_version
JOIN unnest(%(media_types)s::text[], %(extractors)s::text[]) AS current (media_type, extractor)
  ON current.media_type = t.media_type
WHERE d.state = 'indexed' AND t.extractor <> current.extractor
  AND (%(folder)s::text IS NULL OR f.name = %(folder)s)
ORDER BY d.id;

-- name: reread_documents
-- Indexed documents from the first stage again, as a new version of the same bytes; the old one answers meanwhile.
UPDATE documents SET version = version + 1, state = 'queued', stage = 'extract', awaits_ocr = false, attempts = 0,
    rung_at = NULL, queued_at = now(), started_at = NULL, finished_at = NULL
WHERE id = ANY(%(ids)s::bigint[]) AND state = 'indexed' AND sha256 IS NOT NULL
RETURNING id, version, stage, awaits_ocr;
