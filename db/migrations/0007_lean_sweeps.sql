-- The sweep finds what nobody rang for, and the pace what ended lately, without reading every row.

CREATE INDEX documents_unheard ON documents (coalesce(rung_at, '-infinity'::timestamptz), id) WHERE state = 'queued';
CREATE INDEX documents_finished ON documents (finished_at);
CREATE INDEX attempts_ended ON attempts (ended_at);
