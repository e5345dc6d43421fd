-- name: ensure_stamp
-- Record a stamp; the first one becomes active.
INSERT INTO stamps (model, dimensions, fingerprint, lexemes, active)
VALUES (%(model)s, %(dimensions)s, %(fingerprint)s, %(lexemes)s, NOT EXISTS (SELECT FROM stamps WHERE active))
ON CONFLICT (model, dimensions, fingerprint, lexemes) DO NOTHING;

-- name: active_stamp
-- The stamp whose vectors answer.
SELECT id, model, dimensions, fingerprint, lexemes, gate_threshold, gate_signal FROM stamps WHERE active;

-- name: create_vector_index
-- The HNSW index of a stamp.
SELECT create_vector_index(%(stamp_id)s, %(dimensions)s);

-- name: lock_stamps
-- One process at a time records stamps and builds their index; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(7815263);

-- name: set_gate_threshold
-- Keep the gate's threshold with the stamp and the signal that it was calibrated on, or forget it; no row when that one does not answer.
UPDATE stamps SET gate_threshold = %(threshold)s::double precision, gate_signal = %(signal)s
WHERE id = %(stamp_id)s AND active RETURNING id;

-- name: set_lexemes
-- All lexemes of a stamp are made by this text analysis now, for which no threshold was calibrated.
UPDATE stamps SET lexemes = %(lexemes)s, gate_threshold = NULL, gate_signal = NULL WHERE id = %(stamp_id)s;
