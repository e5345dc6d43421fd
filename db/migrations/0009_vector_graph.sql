-- Vector indexes with a wider search while they are built (ef_construction 200 instead of 64): topics far apart stay
-- reachable from one another. The indexes there are become new ones.

CREATE OR REPLACE FUNCTION create_vector_index(stamp integer, dimensions integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS embeddings_vector_%1$s ON embeddings '
        'USING hnsw ((vector::vector(%2$s)) vector_cosine_ops) WITH (m = 16, ef_construction = 200) WHERE stamp_id = %1$s',
        stamp, dimensions
    );
END
$$;

DO $$
DECLARE
    stamp record;
BEGIN
    FOR stamp IN SELECT id, dimensions FROM stamps WHERE to_regclass('embeddings_vector_' || id) IS NOT NULL LOOP
        EXECUTE format('DROP INDEX embeddings_vector_%s', stamp.id);
        PERFORM create_vector_index(stamp.id, stamp.dimensions);
    END LOOP;
END
$$;
