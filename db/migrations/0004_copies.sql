-- What was read once is not read again at another path, and equal passages share one computation of their vector.

ALTER TABLE texts ADD COLUMN reader_options text NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN embedded integer;
CREATE INDEX chunks_passage ON chunks USING hash (md5(header || E'\n' || content));
