-- name: lexeme_counts
-- In how many passages that may answer each lexeme stands; lexemes of none are left out.
SELECT asked.lexeme, count(*) AS chunks
FROM unnest(%(lexemes)s::text[], %(queries)s::text[]) AS asked (lexeme, query)
JOIN embeddings e ON e.stamp_id = %(stamp_id)s AND e.lexemes @@ asked.query::tsquery
JOIN chunks c ON c.id = e.chunk_id
JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
WHERE %(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[])
GROUP BY asked.lexeme;
