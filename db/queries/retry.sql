-- name: failed_documents
-- Failed documents that fit the narrowing of a retry.
SELECT d.id, d.version, d.stage, d.awaits_ocr, f.name AS folder, d.path, d.failure_code AS code,
       d.sha256 IS NOT NULL AS kept
FROM documents d JOIN folders f ON f.id = d.folder_id
WHERE d.state = 'failed'
  AND (%(ids)s::bigint[] IS NULL OR d.id = ANY(%(ids)s::bigint[]))
  AND (%(folder)s::text IS NULL OR f.name = %(folder)s)
  AND (%(code)s::text IS NULL OR d.failure_code = %(code)s)
  AND (%(older_than)s::double precision IS NULL OR d.failed_at <= now() - make_interval(secs => %(older_than)s))
  AND (%(newer_than)s::double precision IS NULL OR d.failed_at > now() - make_interval(secs => %(newer_than)s))
ORDER BY d.id;

-- name: requeue_documents
-- Failed documents back in the queue at the stage where they failed; their attempts rows stay. Where OCR found nothing, extraction starts anew, so that every page is read again. Those whose bytes were never kept are left to their source.
UPDATE documents SET state = 'queued', attempts = 0,
    awaits_ocr = awaits_ocr AND failure_code NOT IN ('no_text', 'ocr_failed'), rung_at = NULL, queued_at = now(), finished_at = NULL,
    failure_code = NULL, failure_message = NULL, failure_stage = NULL, failure_permanent = NULL, failed_at = NULL
WHERE id = ANY(%(ids)s::bigint[]) AND state = 'failed' AND sha256 IS NOT NULL
RETURNING id, version, stage, awaits_ocr;

-- name: forget_source
-- Make the watcher read these failed files anew at its next scan, because their bytes were never kept.
UPDATE documents SET source_modified_ns = NULL, source_inode = NULL
WHERE id = ANY(%(ids)s::bigint[]) AND state = 'failed' AND sha256 IS NULL
RETURNING id;
