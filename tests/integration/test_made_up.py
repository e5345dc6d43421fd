"""What benchmarks measure on is what writers make: the index as the schema has it, and statistics that are right."""

import psycopg

from api.retrieval.lexical import search_lexical
from db.made_up import copy_lexical_entries, lexical_bytes, made_up_documents
from db.search import Leg
from ops.benchmarks.lexical_chunks import FOLDERS, PER_DOCUMENT, entries, make_questions

CHUNKS = 10 * PER_DOCUMENT

DEFINITION = b"SELECT indexdef FROM pg_indexes WHERE indexname = 'lexical_entries_keys'"
TRIGGERS = b"SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'lexical_entries'::regclass ORDER BY tgname"
COUNTED = b"SELECT key, chunks FROM lexeme_counts ORDER BY key"
RECOUNTED = b"""SELECT key, count(*) FROM lexical_entries
                CROSS JOIN LATERAL unnest(tsvector_to_array(
                    lexical_keys(lexemes, lexeme_count, folder_id, language))) AS key
                GROUP BY key ORDER BY key"""
TOTALS = b"SELECT chunks, lexemes FROM lexical_totals"
RETOTALLED = b"SELECT count(*), sum(lexeme_count) FROM lexical_entries"


def test_a_copied_index_is_as_writers_leave_it(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:

        def rows(query: bytes) -> list[tuple[object, ...]]:
            return connection.execute(query).fetchall()

        before = rows(DEFINITION), rows(TRIGGERS)
        made_up_documents(connection, CHUNKS, PER_DOCUMENT, FOLDERS)
        copy_lexical_entries(connection, entries(CHUNKS))
        assert (rows(DEFINITION), rows(TRIGGERS)) == before
        counted = rows(COUNTED)
        assert len(counted) > CHUNKS
        assert counted == rows(RECOUNTED)
        assert rows(TOTALS) == rows(RETOTALLED)
        assert lexical_bytes(connection).entries > 0
        # Each question has common words, so that it finds something among so few chunks.
        found = [search_lexical(connection, question, Leg(1, 3, None, 10)).found for question in make_questions(4)]
        assert all(found)
