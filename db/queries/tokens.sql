-- name: create_token
-- Keep the digest of a new token.
INSERT INTO tokens (name, sha256) VALUES (%(name)s, %(sha256)s) ON CONFLICT (name) DO NOTHING RETURNING id;

-- name: list_tokens
-- The tokens that open the API, without their secrets.
SELECT id, name, sha256, created_at FROM tokens ORDER BY id;

-- name: delete_token
-- A token that no longer opens anything.
DELETE FROM tokens WHERE name = %(name)s;
