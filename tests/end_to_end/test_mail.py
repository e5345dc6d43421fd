"""A message and its files: documents of their own, under the message, that come, move and go with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.documents import get_document, remove_document
from db.folders import unwatch_folder, watch_folder
from pincite.documents import State
from tests.documents import mail_eml, text_pdf
from tests.fixtures.running import Running, wait_until

TEXT, PDF, INNER = "mail.eml/notes.txt", "mail.eml/valve.pdf", "mail.eml/older.eml"


def letter() -> bytes:
    files = {"valve.pdf": text_pdf(["The valve closes at nine bar."]), "notes.txt": b"The pump was greased in May."}
    return mail_eml("Both reports are attached.", "Reports", files)


def letter_with_letter() -> bytes:
    older = mail_eml("The older letter.", "Older", {"list.txt": b"Gaskets, bolts, washers."})
    return mail_eml("See the older letter.", "Newer", {"older.eml": older})


@pytest.fixture
def drop(running: Running, tmp_path: Path) -> Iterator[Path]:
    """A directory that is watched as the folder `post`."""
    running.database.run(lambda connection: watch_folder(connection, "post", str(tmp_path)))
    yield tmp_path
    running.database.run(lambda connection: unwatch_folder(connection, "post"))


def test_attached_files_are_documents_under_the_message(running: Running) -> None:
    running.ingest("letters", {"mail.eml": letter()})
    documents = running.settle("letters", 3)
    assert set(documents) == {"mail.eml", TEXT, PDF}
    assert {document.state for document in documents.values()} == {State.INDEXED}
    assert documents[PDF].media_type == "application/pdf"
    found = running.ready().post("/v1/search", json={"query": "At what pressure does the valve close?"}).json()
    (hit,) = [hit for hit in found["hits"] if hit["document"]["path"] == PDF]
    assert hit["quote"] == "The valve closes at nine bar."
    assert hit["locator"]["fragment"] == "#page=1"

    files = {"notes.txt": b"The pump was greased in June."}
    running.ingest("letters", {"mail.eml": mail_eml("One report is attached.", "Reports", files)})
    wait_until(lambda: set(running.documents("letters")) == {"mail.eml", TEXT})
    changed = running.settle("letters", 2)[TEXT]
    assert (changed.id, changed.version) == (documents[TEXT].id, 2)

    running.database.run(lambda connection: remove_document(connection, documents["mail.eml"].id))
    assert running.documents("letters") == {}
    gone = running.database.run(lambda connection: get_document(connection, documents[TEXT].id))
    assert gone is not None
    assert gone.state is State.REMOVED


def test_a_drop_folder_leaves_attachments_alone_and_moves_them_with_their_message(running: Running, drop: Path) -> None:
    (drop / "mail.eml").write_bytes(letter_with_letter())
    documents = running.settle("post", 3)
    assert set(documents) == {"mail.eml", INNER, f"{INNER}/list.txt"}

    # The watcher scans twice while the message is the only file there.
    (drop / "other.txt").write_text("Another letter.")
    running.settle("post", 4)
    (drop / "other.txt").unlink()
    wait_until(lambda: "other.txt" not in running.documents("post"))
    assert running.documents("post") == documents

    (drop / "mail.eml").rename(drop / "kept.eml")
    wait_until(lambda: "kept.eml" in running.documents("post"))
    moved = {path: document.id for path, document in running.documents("post").items()}
    assert moved == {path.replace("mail.eml", "kept.eml", 1): document.id for path, document in documents.items()}

    (drop / "kept.eml").unlink()
    wait_until(lambda: running.documents("post") == {})
