-- name: hold_originals
-- Keep the sweep from letting go of bytes until this session unlocks or ends.
SELECT pg_advisory_lock_shared(7815264);

-- name: release_originals
-- The sweep may let go of unused bytes again.
SELECT pg_advisory_unlock_shared(7815264);

-- name: may_let_go
-- Whether nobody copies the originals at this moment; until the transaction ends nobody begins to.
SELECT pg_try_advisory_xact_lock(7815264);

-- name: export_snapshot
-- The name by which pg_dump sees the same moment as this transaction.
SELECT pg_export_snapshot();

-- name: backup_facts
-- What a backup holds, counted.
SELECT current_setting('server_version') AS postgres, pg_database_size(current_database()) AS database_bytes,
       (SELECT count(*) FROM folders) AS folders, (SELECT count(*) FROM documents) AS documents,
       (SELECT count(*) FROM documents WHERE state = 'indexed') AS indexed,
       (SELECT count(*) FROM documents WHERE state = 'failed') AS failed,
       (SELECT count(*) FROM documents WHERE state IN ('queued', 'running', 'retrying')) AS unfinished,
       (SELECT count(*) FROM documents WHERE state = 'removed') AS removed,
       (SELECT count(*) FROM chunks) AS chunks, (SELECT count(*) FROM attempts) AS attempts,
       (SELECT model FROM stamps WHERE active) AS model;

-- name: referenced_originals
-- The digests of all bytes that a document names. The bytes of a removed document that has no text any more may be gone.
SELECT sha256, max(bytes)::bigint AS bytes, bool_or(needed) AS needed FROM (
    SELECT sha256, bytes, state <> 'removed' AS needed FROM documents WHERE sha256 IS NOT NULL
    UNION ALL
    SELECT sha256, bytes, true FROM texts
) named GROUP BY sha256 ORDER BY sha256;

-- name: forget_rings
-- No message of the old broker came along: let the sweep ring for all that is queued, and count their waiting from now.
UPDATE documents SET rung_at = NULL, queued_at = now() WHERE state = 'queued';

-- name: release_all_pages
-- Nobody reads a page of a restored database by OCR.
UPDATE pages SET claimed_until = NULL WHERE claimed_until IS NOT NULL;
