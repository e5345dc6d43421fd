-- name: dense
-- The nearest chunks by cosine distance: (chunk id, rank, score = distance), nearest first, ties by id.
WITH nearest AS MATERIALIZED (
    SELECT e.chunk_id, e.vector::vector({dimensions}) <=> %(query)s::vector({dimensions}) AS score
    FROM embeddings e
    JOIN chunks c ON c.id = e.chunk_id
    JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
    WHERE e.stamp_id = {stamp_id}
      AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]))
    ORDER BY e.vector::vector({dimensions}) <=> %(query)s::vector({dimensions})
    LIMIT %(limit)s
)
SELECT chunk_id, row_number() OVER (ORDER BY score, chunk_id)::int AS rank, score
FROM nearest ORDER BY rank;

-- name: dense_exact
-- The same as dense without the index, for a folder so small that the index gives up before it has found enough of it.
WITH answering AS MATERIALIZED (
    -- the vectors of the folders
    SELECT e.chunk_id, e.vector
    FROM embeddings e
    JOIN chunks c ON c.id = e.chunk_id
    JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
    WHERE e.stamp_id = {stamp_id} AND d.folder_id = ANY(%(folder_ids)s::bigint[])
), measured AS (
    -- how far each is from the query
    SELECT chunk_id, vector::vector({dimensions}) <=> %(query)s::vector({dimensions}) AS score FROM answering
)
SELECT chunk_id, row_number() OVER (ORDER BY score, chunk_id)::int AS rank, score
FROM measured ORDER BY rank LIMIT %(limit)s;

-- name: tune_dense
-- For this transaction: a candidate list as long as the answer, and go on scanning until filters are satisfied.
SELECT set_config('hnsw.ef_search', least(greatest(%(limit)s::int, 100), 1000)::text, true),
       set_config('hnsw.iterative_scan', 'strict_order', true),
       set_config('hnsw.max_scan_tuples', '200000', true),
       set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: chunk_details
-- What a hit shows of these chunks; chunks that stopped answering meanwhile are left out.
SELECT c.id, c.document_id, d.name AS document_name, f.name AS folder, d.path, d.media_type, c.content, c.section,
       c.header, c.start_offset AS start, c.end_offset AS "end", c.locator, c.ocr_confidence
FROM chunks c
JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
JOIN folders f ON f.id = d.folder_id
WHERE c.id = ANY(%(chunk_ids)s::bigint[]);

-- name: distances
-- The exact cosine distance of these chunks to the query.
SELECT e.chunk_id, e.vector::vector({dimensions}) <=> %(query)s::vector({dimensions}) AS score
FROM embeddings e WHERE e.stamp_id = {stamp_id} AND e.chunk_id = ANY(%(chunk_ids)s::bigint[]);

-- name: unfinished_documents
-- How many documents of the folders are still on their way to an answer.
SELECT count(*) FROM documents
WHERE state IN ('queued', 'running', 'retrying')
  AND (%(folder_ids)s::bigint[] IS NULL OR folder_id = ANY(%(folder_ids)s::bigint[]));
