"""Whose reading a document with the same bytes may borrow."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from db.attachments import Attached, receive_attachments
from db.connect import Database
from db.contents import TextFacts, load_text, save_text
from db.copies import copy_reading
from db.pages import load_pages, place_pages, save_pages
from db.pipeline import Claim, advance_document
from pincite.documents import CanonicalText, PageSpan, PageText, Stage, TextSource, Warning
from tests.fixtures.database import arrive, claim

EXTRACTORS = {"application/pdf": "pdf/7", "text/plain": "text/2"}
PASSING = ("page_failed",)
TEXT = CanonicalText("One page.", (PageSpan(1, 0, 9, None, TextSource.TEXT, None),), title="A title", language="en")


def claimed(database: Database, path: str) -> Claim:
    held = claim(database, arrive(database, path))
    assert held is not None
    return held


def indexed(database: Database, url: str, path: str, facts: TextFacts) -> Claim:
    """A document that answers, read as `facts` say."""
    held = claimed(database, path)
    with database.transaction() as connection:
        save_text(connection, held, TEXT, facts)
        save_pages(connection, held, [PageText(1, "One page.", TextSource.TEXT)])
        place_pages(connection, held, TEXT.pages)
        advance_document(connection, held, Stage.EMBED, media_type=facts.media_type)
    with psycopg.connect(url) as connection:
        connection.execute(
            b"UPDATE documents SET state = 'indexed', searchable_version = version WHERE id = %s", [held.id]
        )
    return held


def facts(extractor: str = "pdf/7", options: str = "now", warnings: tuple[Warning, ...] = ()) -> TextFacts:
    return TextFacts(extractor, "application/pdf", warnings, 1, reader_options=options)


def borrow(database: Database, held: Claim) -> str | None:
    return database.run(lambda connection: copy_reading(connection, held, EXTRACTORS, "now", PASSING))


def test_text_and_pages_come_along(database: Database, database_url: str) -> None:
    mild = Warning("low_confidence", "Page 1 is hard to read.", 1)
    lender = indexed(database, database_url, "a.pdf", facts(warnings=(mild,)))
    held = claimed(database, "b/renamed.PDF")
    assert borrow(database, held) == "application/pdf"
    read: Callable[[Claim], Any] = lambda one: database.run(  # noqa: E731
        lambda connection: (load_text(connection, one.id, one.version), load_pages(connection, one))
    )
    assert read(held) == read(lender)
    assert borrow(database, held) == "application/pdf", "a second try does the same again"


@pytest.mark.parametrize(
    ("path", "lent"),
    [
        ("b.pdf", facts(extractor="pdf/6")),
        ("b.pdf", facts(options="then")),
        ("b.pdf", facts(options="")),
        ("b.pdf", facts(warnings=(Warning("page_failed", "OCR of page 1 failed.", 1),))),
        ("b.txt", facts()),
        ("b", facts()),
    ],
    ids=["older extractor", "other settings", "unknown settings", "passing warning", "other ending", "no ending"],
)
def test_what_might_read_otherwise_is_not_borrowed(
    database: Database, database_url: str, path: str, lent: TextFacts
) -> None:
    indexed(database, database_url, "a.pdf", lent)
    assert borrow(database, claimed(database, path)) is None


def test_what_does_not_answer_is_not_borrowed(database: Database, database_url: str) -> None:
    lender = indexed(database, database_url, "a.pdf", facts())
    with psycopg.connect(database_url) as connection:
        connection.execute(
            b"UPDATE documents SET state = 'queued', searchable_version = NULL WHERE id = %s", [lender.id]
        )
    assert borrow(database, claimed(database, "b.pdf")) is None


def test_a_message_with_attachments_lends_nothing(database: Database, database_url: str) -> None:
    lender = indexed(database, database_url, "a.pdf", facts())
    with database.transaction() as connection:
        receive_attachments(connection, lender, [Attached("c.txt", 1, "c" * 64)])
    assert borrow(database, claimed(database, "b.pdf")) is None


def test_a_document_that_was_read_before_is_read_anew(database: Database, database_url: str) -> None:
    indexed(database, database_url, "a.pdf", facts())
    held = claimed(database, "b.pdf")
    with database.transaction() as connection:
        save_text(connection, held, TEXT, facts())
        connection.execute(b"UPDATE documents SET version = 2 WHERE id = %s", [held.id])
    again = Claim(**{name: getattr(held, name) for name in Claim.__slots__} | {"version": 2})
    assert borrow(database, again) is None
