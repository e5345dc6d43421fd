"""Only what an older extractor has read is read anew, and it answers meanwhile."""

import psycopg

from db.connect import Database
from db.contents import TextFacts, save_text
from db.documents import get_document, reread_documents, stale_documents
from db.pipeline import advance_document
from pincite.documents import CanonicalText, Stage, State
from tests.fixtures.database import arrive, claim
from workers.extract import current_extractors


def indexed(database: Database, url: str, path: str, extractor: str, media_type: str) -> int:
    """A document that was read by `extractor`; where its vectors come from does not matter here."""
    held = claim(database, arrive(database, path))
    assert held is not None
    facts = TextFacts(extractor, media_type, ())
    database.run(lambda connection: save_text(connection, held, CanonicalText("Some text."), facts))
    database.run(lambda connection: advance_document(connection, held, Stage.EMBED, media_type=media_type))
    with psycopg.connect(url) as connection:
        connection.execute(
            b"UPDATE documents SET state = 'indexed', searchable_version = version WHERE id = %s", [held.id]
        )
    return held.id


def test_only_the_stale_ones_are_read_anew(database: Database, database_url: str) -> None:
    current = current_extractors()["text/plain"]
    old = indexed(database, database_url, "old.txt", "text/0", "text/plain")
    indexed(database, database_url, "new.txt", current, "text/plain")
    indexed(database, database_url, "gone.xyz", "xyz/1", "application/x-no-longer-read")
    found = database.run(lambda connection: stale_documents(connection, current_extractors(), None))
    assert [document.path for document in found] == ["old.txt"]
    assert database.run(lambda connection: stale_documents(connection, current_extractors(), "other")) == []
    (due,) = database.run(lambda connection: reread_documents(connection, [old]))
    assert (due.id, due.version, due.stage) == (old, 2, Stage.EXTRACT)
    document = database.run(lambda connection: get_document(connection, old))
    assert document is not None
    assert (document.state, document.searchable_version) == (State.QUEUED, 1)
    assert database.run(lambda connection: reread_documents(connection, [old])) == []
