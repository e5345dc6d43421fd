-- name: throughput
-- What was finished within the last seconds, and since when within them work was done (NULL: no try has ended).
SELECT count(*) AS documents, coalesce(sum(t.pages), 0)::bigint AS pages,
       coalesce(sum(d.chunks) FILTER (WHERE d.state = 'indexed'), 0)::bigint AS chunks,
       (SELECT least(%(seconds)s::double precision, greatest(1, extract(epoch FROM now() - min(a.started_at))))
        FROM attempts a
        WHERE a.ended_at > now() - make_interval(secs => %(seconds)s) AND a.worker <> 'arrival')::double precision AS seconds
FROM documents d
LEFT JOIN texts t ON t.document_id = d.id AND t.version = d.searchable_version AND d.state = 'indexed'
WHERE d.finished_at > now() - make_interval(secs => %(seconds)s) AND d.state IN ('indexed', 'failed') AND d.sha256 IS NOT NULL;

-- name: stage_work
-- By stage: how many unfinished documents have it still before them, and how many have passed it (or failed in it) within the last seconds.
WITH passed AS (
    -- what went through each stage lately
    SELECT a.stage, count(DISTINCT (a.document_id, a.version)) AS documents
    FROM attempts a JOIN documents d ON d.id = a.document_id
    WHERE a.ended_at > now() - make_interval(secs => %(seconds)s) AND a.worker <> 'arrival'
      AND (a.outcome = 'failed' OR (a.outcome = 'done' AND (
          d.version > a.version OR d.stage > a.stage OR d.state NOT IN ('queued', 'running', 'retrying'))))
    GROUP BY a.stage
)
SELECT s.stage,
       (SELECT count(*) FROM documents d
        WHERE d.state IN ('queued', 'running', 'retrying') AND d.stage <= s.stage) AS documents,
       coalesce(passed.documents, 0) AS passed
FROM unnest(enum_range(NULL::document_stage)) AS s (stage) LEFT JOIN passed ON passed.stage = s.stage
ORDER BY s.stage;
