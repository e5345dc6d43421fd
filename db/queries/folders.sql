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
    root_device = CASE WHEN folders.path = excluded.path THEN folders.root_device END
RETURNING id;

-- name: unwatch_folder
-- The folder is a drop folder no longer; its documents stay as they are.
UPDATE folders SET path = NULL, root_device = NULL, watch_note = NULL, scanned_at = NULL
WHERE name = %(name)s AND path IS NOT NULL;

-- name: watched_folders
-- The drop folders.
SELECT id, name, path, root_device FROM folders WHERE path IS NOT NULL ORDER BY id;

-- name: record_scan
-- A drop folder was scanned: which device it lies on, and what the operator should know.
UPDATE folders SET root_device = coalesce(%(device)s, root_device), watch_note = %(note)s, scanned_at = now()
WHERE id = %(folder_id)s;

-- name: known_files
-- What the watcher knows of a drop folder's files. A removed one that keeps the file's time was removed by a user while the file stayed.
SELECT id, path, bytes, sha256, state, source_modified_ns AS modified_ns, source_inode AS inode
FROM documents WHERE folder_id = %(folder_id)s AND parent_id IS NULL AND (state <> 'removed' OR source_modified_ns IS NOT NULL);

-- name: list_folders
-- Every folder with its counts by state; with a name, that one only.
SELECT f.name, f.path, f.watch_note, f.scanned_at,
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
