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

-- name: lexical
-- The best chunks by BM25 (k1 1.2, b 0.75; Robertson and Zaragoza 2009) over the query's lexemes: (chunk id, rank, score, coverage = its share of the idf of all lexemes asked for), best first, ties by id.
WITH terms AS (
    -- each lexeme of the query once
    SELECT DISTINCT unnest(%(terms)s::text[]) AS term
), matching AS MATERIALIZED (
    -- chunks that hold any of them and may answer
    SELECT e.chunk_id, e.lexemes, e.lexeme_count
    FROM embeddings e
    JOIN chunks c ON c.id = e.chunk_id
    JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
    WHERE e.stamp_id = %(stamp_id)s AND e.lexemes @@ %(query)s::tsquery
      AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]))
), occurrences AS MATERIALIZED (
    -- how often each of them stands in each such chunk
    SELECT m.chunk_id, m.lexeme_count, l.lexeme AS term, greatest(cardinality(l.positions), 1) AS frequency
    FROM matching m CROSS JOIN LATERAL unnest(m.lexemes) AS l
    WHERE l.lexeme IN (SELECT term FROM terms)
), frequencies AS (
    -- in how many of the chunks that may answer each stands
    SELECT term, count(*) AS chunks FROM occurrences GROUP BY term
), corpus AS (
    -- how many chunks there are, and how long they are
    SELECT greatest(count(*), 1) AS chunks, greatest(avg(e.lexeme_count), 1) AS mean_length
    FROM embeddings e
    JOIN chunks c ON c.id = e.chunk_id
    JOIN documents d ON d.id = c.document_id AND d.searchable_version = c.version
    WHERE e.stamp_id = %(stamp_id)s
      AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]))
), weights AS (
    -- how much each says: a lexeme that no chunk holds says most
    SELECT t.term, ln(1 + (corpus.chunks - f.chunks + 0.5) / (f.chunks + 0.5)) AS idf
    FROM terms t CROSS JOIN corpus CROSS JOIN LATERAL (
        SELECT coalesce((SELECT chunks FROM frequencies WHERE term = t.term), 0) AS chunks
    ) AS f
), scored AS (
    SELECT o.chunk_id, (sum(w.idf) / (SELECT sum(idf) FROM weights))::double precision AS coverage,
           sum(w.idf * o.frequency * 2.2
               / (o.frequency + 1.2 * (0.25 + 0.75 * o.lexeme_count / corpus.mean_length)))::double precision AS score
    FROM occurrences o JOIN weights w USING (term) CROSS JOIN corpus
    GROUP BY o.chunk_id
)
SELECT chunk_id, row_number() OVER (ORDER BY score DESC, chunk_id)::int AS rank, score, coverage
FROM scored ORDER BY rank LIMIT %(limit)s;

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

-- name: searchable_languages
-- The languages of the documents that answer, for the stems of a query.
SELECT DISTINCT t.language FROM documents d
JOIN texts t ON t.document_id = d.id AND t.version = d.searchable_version
WHERE t.language IS NOT NULL AND (%(folder_ids)s::bigint[] IS NULL OR d.folder_id = ANY(%(folder_ids)s::bigint[]));

-- name: unfinished_documents
-- How many documents of the folders are still on their way to an answer.
SELECT count(*) FROM documents
WHERE state IN ('queued', 'running', 'retrying')
  AND (%(folder_ids)s::bigint[] IS NULL OR folder_id = ANY(%(folder_ids)s::bigint[]));
