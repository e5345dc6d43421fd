-- name: ensure_folder
-- The folder of that name, made if it is new.
WITH made AS (
    INSERT INTO folders (name) VALUES (%(name)s) ON CONFLICT (name) DO NOTHING RETURNING id
)
SELECT id FROM made UNION ALL SELECT id FROM folders WHERE name = %(name)s LIMIT 1;

-- name: watch_folder
-- Make a folder a drop folder, or point it to another directory.
INSERT INTO folders (name, path) VALUES (%(name)s, %(path)s)
ON CONFLICT (name) DO UPDATE SET
    path = excluded.path,
    root_device = CASE WHEN folders.path = excluded.path THEN folders.root_device END,
    root_inode = CASE WHEN folders.path = excluded.path THEN folders.root_inode END
RETURNING id;

-- name: unwatch_folder
-- The folder is a drop folder no longer; its documents stay as they are.
UPDATE folders SET path = NULL, root_device = NULL, root_inode = NULL, watch_note = NULL, scanned_at = NULL,
    polling_reason = NULL, ignored = 0, ignored_paths = '[]'
WHERE name = %(name)s AND path IS NOT NULL;

-- name: watched_folders
-- The drop folders.
SELECT id, name, path, root_device, root_inode FROM folders WHERE path IS NOT NULL ORDER BY id;

-- name: lock_scan
-- Whether this transaction may scan a drop folder: of several watchers one does.
SELECT pg_try_advisory_xact_lock(7402, %(folder_id)s::int) AS locked;

-- name: record_scan
-- A drop folder was scanned: which directory it was, what the operator should know, and what was passed over. Nothing changes when the folder no longer watches `root`.
UPDATE folders SET root_device = coalesce(%(device)s, root_device), root_inode = coalesce(%(inode)s, root_inode),
    watch_note = %(note)s, polling_reason = %(polling_reason)s, ignored = coalesce(%(ignored)s, ignored),
    ignored_paths = coalesce(%(ignored_paths)s, ignored_paths), scanned_at = now()
WHERE id = %(folder_id)s AND path = %(root)s;

-- name: still_watches
-- Whether a folder watches `root`, and goes on to do so until the transaction ends.
SELECT true FROM folders WHERE id = %(folder_id)s AND path = %(root)s FOR SHARE;

-- name: known_files
-- What the watcher knows of a drop folder's files. A removed one that keeps the file's time was removed by a user while the file stayed.
SELECT id, path, bytes, coalesce(source_modified_ns, 0) AS modified_ns, coalesce(source_inode, 0) AS inode,
       coalesce(source_changed_ns, 0) AS changed_ns, sha256, state = 'removed' AS removed, state = 'failed' AS failed,
       extract(epoch FROM now() - greatest(received_at, source_read_at))::float8 AS unread_seconds
FROM documents WHERE folder_id = %(folder_id)s AND parent_id IS NULL AND (state <> 'removed' OR source_modified_ns IS NOT NULL);

-- name: mark_read
-- These documents' files were read and are what they were, as far as the folder still watches `root`.
UPDATE documents d SET source_read_at = now() FROM folders f
WHERE d.id = ANY(%(ids)s::bigint[]) AND f.id = d.folder_id AND f.path = %(root)s;

-- name: list_folders
-- Every folder with its counts by state; with a name, that one only.
SELECT f.name, f.path, f.watch_note, f.polling_reason, f.scanned_at, f.ignored, f.ignored_paths,
       count(d.id) FILTER (WHERE d.state <> 'removed') AS documents,
       count(d.id) FILTER (WHERE d.state = 'queued') AS queued,
       count(d.id) FILTER (WHERE d.state = 'running') AS running,
       count(d.id) FILTER (WHERE d.state = 'retrying') AS retrying,
       count(d.id) FILTER (WHERE d.state = 'indexed') AS indexed,
       count(d.id) FILTER (WHERE d.state = 'failed') AS failed,
       count(d.id) FILTER (WHERE d.state = 'removed') AS removed,
       coalesce(sum(d.chunks), 0)::bigint AS chunks,
       coalesce(sum(d.bytes) FILTER (WHERE d.state <> 'removed'), 0)::bigint AS bytes
FROM folders f LEFT JOIN documents d ON d.folder_id = f.id
WHERE %(name)s::text IS NULL OR f.name = %(name)s
GROUP BY f.id ORDER BY f.name;

-- name: count_failures
-- Failed documents by folder and code.
SELECT f.name AS folder, d.failure_code AS code, count(*) AS documents
FROM documents d JOIN folders f ON f.id = d.folder_id
WHERE d.state = 'failed' AND (%(folder)s::text IS NULL OR f.name = %(folder)s)
GROUP BY f.name, d.failure_code ORDER BY f.name, d.failure_code;

-- name: folder_ids
-- The ids of folders by name.
SELECT id, name FROM folders WHERE name = ANY(%(names)s);
