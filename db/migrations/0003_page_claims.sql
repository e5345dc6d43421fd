-- Several workers read the pages of one document: each takes one page until a moment.

ALTER TABLE pages ADD COLUMN claimed_until timestamptz;
