-- What the threshold of the gate was calibrated on: one of another signal is not used. What was calibrated before held for
-- the cosine distance alone.

ALTER TABLE stamps ADD COLUMN gate_signal text;
UPDATE stamps SET gate_signal = 'cosine/1' WHERE gate_threshold IS NOT NULL;
