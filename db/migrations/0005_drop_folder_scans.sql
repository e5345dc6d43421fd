-- What a scan of a drop folder goes by and tells: the file's change time, the directory's inode, why the folder is
-- polled, and what was passed over.

ALTER TABLE folders ADD COLUMN root_inode bigint;
ALTER TABLE folders ADD COLUMN polling_reason text;
ALTER TABLE folders ADD COLUMN ignored integer NOT NULL DEFAULT 0;
ALTER TABLE folders ADD COLUMN ignored_paths jsonb NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN source_changed_ns bigint;
