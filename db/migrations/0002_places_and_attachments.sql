-- Slides, sheets and recordings as places in a text; blocks and furniture of pages; attachments under their message.

ALTER TABLE documents ADD COLUMN parent_id bigint REFERENCES documents ON DELETE CASCADE;
CREATE INDEX documents_parent ON documents (parent_id) WHERE parent_id IS NOT NULL;

ALTER TABLE texts
    ADD COLUMN page_kind text NOT NULL DEFAULT 'page' CHECK (page_kind IN ('page', 'slide', 'sheet')),
    ADD COLUMN places jsonb NOT NULL DEFAULT '[]';

ALTER TABLE pages
    ADD COLUMN blocks jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN furniture text NOT NULL DEFAULT '';
