"""The keys of the lexical index say what the choice of candidates takes them to say."""

from bisect import bisect

import psycopg

from api.retrieval.candidates import BOUNDS, STRENGTHS


def test_strengths_begin_in_the_index_where_the_choice_of_candidates_says(database_url: str) -> None:
    seen = set()
    with psycopg.connect(database_url) as connection:
        for frequency in range(1, 13):
            for length in (12, 40, 90, 128, 200, 420):
                literal = f"'word':{','.join(map(str, range(1, frequency + 1)))}"
                row = connection.execute(
                    b"SELECT tsvector_to_array(lexical_keys(%s::tsvector, %s, 1, 'en'))", (literal, length)
                ).fetchone()
                assert row is not None
                # BM25 with k1 1.2 and b 0.75 at a mean length of 128, as the schema says.
                ratio = frequency / (0.3 + 0.007 * length)
                expected = STRENGTHS[bisect(BOUNDS[1:-1], ratio)]
                assert f"word{expected}" in row[0], (frequency, length)
                seen.add(expected)
    assert seen == set(STRENGTHS)
