-- name: tune_lexical
-- For this transaction: a plan for this very query, by one process and without compiling it; so small a part of the index takes less time than either.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('max_parallel_workers_per_gather', '0', true),
       set_config('jit', 'off', true);

-- name: lexical
-- The best chunks by BM25 (k1 1.2, b 0.75; Robertson and Zaragoza 2009) among those that fit a query of lexical keys: (chunk id, score, lexemes held), best first, ties by id. Of the matches, `most` are looked at.
WITH weights AS (
    -- how much each lexeme says
    SELECT term, idf FROM unnest(%(terms)s::text[], %(idfs)s::double precision[]) AS weight (term, idf)
), answering AS (
    -- the matches that may answer
    SELECT e.chunk_id, e.lexeme_count, e.lexemes
    FROM lexical_entries e
    JOIN documents d ON d.id = e.document_id AND d.searchable_version = e.version
    WHERE e.stamp_id = %(stamp_id)s
      AND lexical_keys(e.lexemes, e.lexeme_count, e.folder_id, e.language) @@ %(query)s::tsquery
      AND (%(folder_ids)s::bigint[] IS NULL OR e.folder_id = ANY(%(folder_ids)s::bigint[]))
    LIMIT %(most)s
), occurrences AS (
    -- how often each lexeme stands in each of them
    SELECT a.chunk_id, a.lexeme_count, o.lexeme AS term, cardinality(o.positions) AS frequency
    FROM answering a
    CROSS JOIN LATERAL unnest(ts_filter(setweight(a.lexemes, 'A', %(terms)s::text[]), '{a}')) AS o
)
SELECT o.chunk_id, array_agg(o.term) AS held,
       sum(w.idf * o.frequency * 2.2
           / (o.frequency + 1.2 * (0.25 + 0.75 * o.lexeme_count / %(mean_length)s::double precision))) AS score
FROM occurrences o JOIN weights w USING (term)
GROUP BY o.chunk_id
ORDER BY score DESC, o.chunk_id LIMIT %(limit)s;

-- name: lexical_totals
-- How many chunks are stored under a stamp, and how many lexemes they have in all.
SELECT coalesce(sum(chunks), 0)::bigint AS chunks, coalesce(sum(lexemes), 0)::bigint AS lexemes FROM (
    SELECT chunks, lexemes FROM lexical_totals WHERE stamp_id = %(stamp_id)s
    UNION ALL
    SELECT chunks, lexemes FROM lexical_changes WHERE stamp_id = %(stamp_id)s
) AS counted;

-- name: lexical_counts
-- In how many stored chunks each of these keys stands; keys of no chunk are left out.
SELECT key, sum(chunks)::bigint AS chunks FROM (
    SELECT key, chunks FROM lexeme_counts WHERE stamp_id = %(stamp_id)s AND key = ANY(%(keys)s::text[])
    UNION ALL
    SELECT changed.key, changed.chunks
    FROM lexical_changes p CROSS JOIN LATERAL unnest(p.keys, p.counts) AS changed (key, chunks)
    WHERE p.stamp_id = %(stamp_id)s AND changed.key = ANY(%(keys)s::text[])
) AS counted
GROUP BY key HAVING sum(chunks) > 0;

-- name: lexemes_in_folders
-- Which of these lexemes any chunk that may answer in the folders has; each comes with its query of lexical keys.
SELECT asked.lexeme FROM unnest(%(lexemes)s::text[], %(queries)s::text[]) AS asked (lexeme, query)
WHERE EXISTS (
    SELECT FROM lexical_entries e
    JOIN documents d ON d.id = e.document_id AND d.searchable_version = e.version
    WHERE e.stamp_id = %(stamp_id)s
      AND lexical_keys(e.lexemes, e.lexeme_count, e.folder_id, e.language) @@ asked.query::tsquery
      AND e.folder_id = ANY(%(folder_ids)s::bigint[])
);

-- name: lexical_languages
-- The languages of the stored chunks of each folder, for the stems of a query.
SELECT split_part(key, '/', 2)::bigint AS folder_id, split_part(key, '/', 3) AS language FROM (
    SELECT key, chunks FROM lexeme_counts
    WHERE stamp_id = %(stamp_id)s AND key COLLATE "C" >= '/' AND key COLLATE "C" < '0'
    UNION ALL
    SELECT changed.key, changed.chunks
    FROM lexical_changes p CROSS JOIN LATERAL unnest(p.keys, p.counts) AS changed (key, chunks)
    WHERE p.stamp_id = %(stamp_id)s AND changed.key COLLATE "C" >= '/' AND changed.key COLLATE "C" < '0'
) AS counted
WHERE split_part(key, '/', 3) <> ''
GROUP BY key HAVING sum(chunks) > 0;

-- name: fold_lexical_changes
-- Add the oldest changes to the counts, so many at most; none while another session does so.
SELECT fold_lexical_changes(%(most)s);

-- name: indexed_passages
-- The passages that are indexed under a stamp, by chunk id, those above one id. Until the transaction ends nobody takes them away: whoever does so is waited for, or waits, at the document.
SELECT c.id AS chunk_id, c.header, c.content, t.language
FROM embeddings e
JOIN chunks c ON c.id = e.chunk_id
JOIN documents d ON d.id = c.document_id
LEFT JOIN texts t ON t.document_id = c.document_id AND t.version = c.version
WHERE e.stamp_id = %(stamp_id)s AND e.chunk_id > %(after)s
ORDER BY e.chunk_id LIMIT %(limit)s
FOR SHARE OF d FOR KEY SHARE OF c;
