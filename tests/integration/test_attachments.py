"""Attachments under their message: moved with it, never over another document, never back against a user's will."""

from collections.abc import Sequence

import pytest

from db.attachments import Attached, receive_attachments
from db.connect import Database
from db.contents import TextFacts, save_text
from db.documents import (
    Arrival,
    Listing,
    get_document,
    list_documents,
    move_document,
    receive_document,
    remove_document,
)
from db.pipeline import Claim, advance_document, index_document
from db.stamps import activate_stamp
from pincite.documents import CanonicalText, Stage, Stamp, State
from tests.fixtures.database import arrive, claim

A, B, C = (Attached(name, 3, digit * 64) for name, digit in (("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")))


def paths(database: Database) -> dict[str, int]:
    documents = database.run(lambda connection: list_documents(connection, Listing()))
    return {document.path: document.id for document in documents}


def take(database: Database, path: str = "m.eml", content: str = "1" * 64) -> Claim:
    held = claim(database, arrive(database, path, content))
    assert held is not None
    return held


def attach(database: Database, held: Claim, files: Sequence[Attached]) -> None:
    database.run(lambda connection: receive_attachments(connection, held, files))


def index(database: Database, held: Claim) -> None:
    """Make the message answer; what it says does not matter here."""

    def finish(connection: object) -> None:
        stamp = activate_stamp(connection, Stamp("m", 3, "f", "l"))  # type: ignore[arg-type]
        save_text(connection, held, CanonicalText("Text."), TextFacts("mail/1", "message/rfc822", ()))  # type: ignore[arg-type]
        index_document(connection, held, stamp.id, "c/1")  # type: ignore[arg-type]

    database.run(finish)


def move(database: Database, held: Claim, path: str) -> bool:
    arrival = Arrival(held.folder_id, path, 5, "1" * 64, 1, 1)
    return database.run(lambda connection: move_document(connection, held.id, arrival))


def test_a_message_drops_what_it_no_longer_has(database: Database) -> None:
    held = take(database)
    attach(database, held, [A, B])
    before = paths(database)
    assert set(before) == {"m.eml", "m.eml/a.txt", "m.eml/b.txt"}
    attach(database, held, [B, C])
    assert set(paths(database)) == {"m.eml", "m.eml/b.txt", "m.eml/c.txt"}
    assert paths(database)["m.eml/b.txt"] == before["m.eml/b.txt"]
    database.run(lambda connection: remove_document(connection, held.id))
    assert paths(database) == {}


def test_equal_names_stay_apart(database: Database) -> None:
    named = [Attached(name, 3, digit * 64) for name, digit in (("a.txt", "a"), ("2 a.txt", "b"), ("a.txt", "c"))]
    attach(database, take(database), named)
    assert set(paths(database)) == {"m.eml", "m.eml/a.txt", "m.eml/2 a.txt", "m.eml/3 a.txt"}


def test_a_message_renamed_while_it_is_read_has_its_attachments_below_it(database: Database) -> None:
    held = take(database)
    assert move(database, held, "sub/a-much-longer-name.eml")
    attach(database, held, [A])
    assert set(paths(database)) == {"sub/a-much-longer-name.eml", "sub/a-much-longer-name.eml/a.txt"}
    assert move(database, held, "m.eml")
    assert set(paths(database)) == {"m.eml", "m.eml/a.txt"}


def test_renaming_to_and_fro_with_a_removed_attachment(database: Database) -> None:
    held = take(database)
    attach(database, held, [A])
    gone = paths(database)["m.eml/a.txt"]
    database.run(lambda connection: remove_document(connection, gone))
    assert move(database, held, "n.eml")
    attach(database, held, [A])
    assert move(database, held, "m.eml")
    assert move(database, held, "n.eml")
    assert set(paths(database)) == {"n.eml", "n.eml/a.txt"}


def test_what_a_user_removed_stays_removed_while_its_message_answers(database: Database) -> None:
    held = take(database)
    attach(database, held, [A, B])
    index(database, held)
    gone = paths(database)["m.eml/a.txt"]
    database.run(lambda connection: remove_document(connection, gone))
    attach(database, held, [A, B])
    assert set(paths(database)) == {"m.eml", "m.eml/b.txt"}
    database.run(lambda connection: remove_document(connection, held.id))
    attach(database, take(database), [A, B])
    assert set(paths(database)) == {"m.eml", "m.eml/a.txt", "m.eml/b.txt"}


@pytest.mark.parametrize("content", ["a" * 64, "9" * 64])
def test_an_upload_and_an_attachment_never_take_each_others_place(database: Database, content: str) -> None:
    upload = arrive(database, "m.eml/a.txt", content)
    held = take(database)
    attach(database, held, [A])
    found = paths(database)
    assert set(found) == {"m.eml", "m.eml/a.txt", "m.eml/2 a.txt"}
    assert found["m.eml/a.txt"] == upload.id
    database.run(lambda connection: remove_document(connection, held.id))
    assert set(paths(database)) == {"m.eml/a.txt"}


def test_an_upload_does_not_replace_an_attachment(database: Database) -> None:
    held = take(database)
    attach(database, held, [A])
    arrival = Arrival(held.folder_id, "m.eml/a.txt", 5, "9" * 64)
    assert database.run(lambda connection: receive_document(connection, arrival)) is None
    attached = database.run(lambda connection: get_document(connection, paths(database)["m.eml/a.txt"]))
    assert attached is not None
    assert (attached.sha256, attached.state) == ("a" * 64, State.QUEUED)


def test_a_message_that_became_a_scan_has_no_attachments(database: Database) -> None:
    held = take(database)
    attach(database, held, [A])
    database.run(lambda connection: advance_document(connection, held, Stage.CHUNK))
    attach(database, take(database, content="2" * 64), [])
    assert set(paths(database)) == {"m.eml"}
