-- name: keep_snapshot
-- For this transaction, as its first statement: all queries see the documents as the first of them does.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: dense
-- The nearest chunks by cosine distance, found by the vector index: (chunk id, rank, score = distance), nearest first, ties by id; fewer than asked for where the nearest %(candidates)s vectors do not hold as many that may answer.
WITH candidates AS (
    -- the vectors nearest to the query, whoever's they are; read one after the other, as long as more are needed
    SELECT e.chunk_id, e.vector::vector({dimensions}) <=> %(query)s::vector({dimensions}) AS score
    FROM embeddings e
    WHERE e.stamp_id = {stamp_id}
    ORDER BY e.vector::vector({dimensions}) <=> %(query)s::vector({dimensions})
    LIMIT %(candidates)s
), nearest AS MATERIALIZED (
    -- those that may answer; OFFSET keeps this from becoming a join, which could want all candidates first
    SELECT n.chunk_id, n.score
    FROM candidates n
    WHERE EXISTS (
        SELECT FROM chunks c
        JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
        WHERE c.id = n.chunk_id
          AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]))
        OFFSET 0
    )
    LIMIT %(limit)s
)
SELECT chunk_id, row_number() OVER (ORDER BY score, chunk_id)::int AS rank, score
FROM nearest ORDER BY rank;

-- name: dense_exact
-- The same as dense, but exact: the distance of every vector that may answer is computed, without the index.
WITH answering AS MATERIALIZED (
    -- the vectors that may answer
    SELECT e.chunk_id, e.vector
    FROM embeddings e
    JOIN chunks c ON c.id = e.chunk_id
    JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
    WHERE e.stamp_id = {stamp_id}
      AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]))
), measured AS (
    -- how far each is from the query
    SELECT chunk_id, vector::vector({dimensions}) <=> %(query)s::vector({dimensions}) AS score FROM answering
)
SELECT chunk_id, row_number() OVER (ORDER BY score, chunk_id)::int AS rank, score
FROM measured ORDER BY rank LIMIT %(limit)s;

-- name: answering_chunks
-- How many chunks of the folders answer, by the counters of their documents; counting ends where it exceeds %(enough)s.
SELECT coalesce(sum(chunks), 0) FROM (
    SELECT chunks FROM documents
    WHERE searchable_version IS NOT NULL
      AND (%(folder_ids)s::bigint[] IS NULL OR folder_id = ANY(%(folder_ids)s::bigint[]))
    LIMIT %(enough)s + 1
) AS answering;

-- name: tune_planner
-- For this transaction: plan for the values at hand, because a folder of ten chunks needs another plan than all of them.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: tune_dense
-- For this transaction: a candidate list longer than the answer, go on scanning while more is needed, with room for what was seen, and no plan that sorts all vectors instead of reading the index.
SELECT set_config('hnsw.ef_search', %(ef_search)s::text, true),
       set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', '200000', true),
       set_config('hnsw.scan_mem_multiplier', '16', true),
       set_config('enable_sort', 'off', true),
       set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: untune_dense
-- Let the transaction's other queries sort again.
SELECT set_config('enable_sort', 'on', true);

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
