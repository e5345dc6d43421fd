-- When the bytes of a watched file were last read to see whether they are still the same.

ALTER TABLE documents ADD COLUMN source_read_at timestamptz;
