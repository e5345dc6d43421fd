-- Since when a queued document waits for a worker: rung_at cannot tell, because the sweep rings again.

ALTER TABLE documents ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();
