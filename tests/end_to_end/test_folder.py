"""A folder of documents, from bytes to answers, on real workers."""

import psycopg
import pytest

from api.retrieval.lexical import search_lexical
from db.contents import load_text
from db.documents import list_attempts
from db.folders import count_failures, list_folders
from db.retry import RetryRequest, failed_documents, requeue_documents
from db.search import Leg
from db.stamps import active_stamp
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode
from tests.documents import encrypted_pdf, image_png, mixed_pdf, text_pdf
from tests.fixtures.running import Running

GOOD = 95


def good_files() -> dict[str, bytes]:
    """Ninety-four small texts and a PDF, each with a number of its own."""
    texts = {
        f"notes/{number:03}.md": f"# Pump {number}\n\nPump P-{number:04} was greased on day {number}.\n".encode()
        for number in range(GOOD - 1)
    }
    return texts | {"report.pdf": text_pdf(["Page one is about valves.", "Page two is about gaskets."])}


def bad_files() -> dict[str, tuple[bytes, FailureCode]]:
    """Five files that fail for five reasons."""
    return {
        "bad/empty.txt": (b"", FailureCode.EMPTY_FILE),
        "bad/blank.txt": (b" \n \n", FailureCode.NO_TEXT),
        "bad/locked.pdf": (encrypted_pdf("Only for some.", "secret"), FailureCode.ENCRYPTED),
        "bad/cut.pdf": (text_pdf(["A whole page."])[:200], FailureCode.CORRUPT),
        "bad/program.bin": (bytes(range(256)) * 40, FailureCode.UNSUPPORTED_TYPE),
    }


@pytest.fixture(scope="module")
def hundred(running: Running) -> Running:
    """The folder `hundred`: 95 good files and 5 bad ones, all in their final state."""
    bad = {path: content for path, (content, _) in bad_files().items()}
    running.ingest("hundred", good_files() | bad)
    running.settle("hundred", GOOD + len(bad), 240)
    return running


def test_one_bad_file_never_fails_a_folder(hundred: Running) -> None:
    documents = hundred.documents("hundred")
    failed = {path: document.failure_code for path, document in documents.items() if document.state is State.FAILED}
    assert failed == {path: code for path, (_, code) in bad_files().items()}
    assert sum(document.state is State.INDEXED for document in documents.values()) == GOOD
    for path in failed:
        document = documents[path]
        assert document.failure_permanent
        assert document.failure_message
        assert FAILURES[FailureCode(document.failure_code or "")].next_action in document.failure_message
        assert hundred.originals.exists(document.sha256 or "")


def test_counters_equal_counts(hundred: Running) -> None:
    (folder,) = hundred.database.run(lambda connection: list_folders(connection, "hundred"))
    assert (folder.indexed, folder.failed, folder.documents) == (GOOD, 5, GOOD + 5)
    failures = hundred.database.run(lambda connection: count_failures(connection, "hundred"))
    assert sum(count.documents for count in failures) == 5
    with psycopg.connect(hundred.settings.database) as connection:
        counted = connection.execute(
            b"""SELECT count(*), count(DISTINCT c.document_id), count(e.chunk_id)
                FROM chunks c JOIN documents d ON d.id = c.document_id AND c.version = d.searchable_version
                JOIN folders f ON f.id = d.folder_id LEFT JOIN embeddings e ON e.chunk_id = c.id
                WHERE f.name = 'hundred'"""
        ).fetchone()
        wrong = connection.execute(
            b"""SELECT count(*) FROM documents d
                WHERE d.chunks <> (SELECT count(*) FROM chunks c
                                   WHERE c.document_id = d.id AND c.version = d.searchable_version)"""
        ).fetchone()
    assert counted == (folder.chunks, GOOD, folder.chunks)
    assert wrong == (0,)


def test_every_chunk_is_a_slice_of_its_document(hundred: Running) -> None:
    with psycopg.connect(hundred.settings.database) as connection:
        different = connection.execute(
            b"""SELECT c.id FROM chunks c JOIN texts t USING (document_id, version)
                WHERE substr(t.text, c.start_offset + 1, c.end_offset - c.start_offset) <> c.content"""
        ).fetchall()
    assert different == []


def test_the_right_document_is_found(hundred: Running) -> None:
    stamp = hundred.database.run(active_stamp)
    assert stamp is not None
    leg = Leg(stamp.id, stamp.dimensions, None, 3)
    found_by_words = hundred.database.run(lambda connection: search_lexical(connection, "Which pump was P-0042?", leg))
    best = found_by_words.found[0]
    with psycopg.connect(hundred.settings.database) as connection:
        found = connection.execute(
            b"SELECT d.path FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.id = %s", [best.chunk_id]
        ).fetchone()
    assert found == ("notes/042.md",)


def test_a_retry_brings_back_what_was_mended(running: Running) -> None:
    (received,) = running.ingest("mended", {"a.txt": b"The spare key hangs behind the third door."}, ring=False)
    digest = running.documents("mended")["a.txt"].sha256
    assert digest is not None
    with running.originals.open(digest) as stream:
        content = stream.read()
    running.originals.delete(digest)
    document = running.settle("mended", 1)["a.txt"]
    assert (document.state, document.failure_code) == (State.FAILED, FailureCode.READ_ERROR)
    assert not document.failure_permanent
    attempts = running.database.run(lambda connection: list_attempts(connection, received.id))
    assert [a.outcome for a in attempts] == ["retry"] * (running.settings.max_attempts - 1) + ["failed"]

    running.ingest("mended", {"copy.txt": content})
    failed = running.database.run(lambda c: failed_documents(c, RetryRequest(folder="mended", code="read_error")))
    running.database.run(lambda connection: requeue_documents(connection, [one.id for one in failed]))
    documents = running.settle("mended", 2)
    assert documents["a.txt"].state is State.INDEXED
    attempts = running.database.run(lambda connection: list_attempts(connection, received.id))
    assert [a.code for a in attempts if a.outcome == "failed"] == [FailureCode.READ_ERROR]


def test_a_document_that_nobody_rang_for_is_found(running: Running) -> None:
    running.ingest("unrung", {"a.txt": b"Nobody rang for this one."}, ring=False)
    assert running.settle("unrung", 1)["a.txt"].state is State.INDEXED


def test_scans_are_read_page_by_page(running: Running) -> None:
    scan = ["The boiler was inspected", "on the second of May."]
    running.ingest(
        "scans",
        {
            "mixed.pdf": mixed_pdf(["The first page has text."], scan, ["The last page has text."]),
            "sign.png": image_png(["Fire assembly point", "behind the workshop"]),
        },
    )
    documents = running.settle("scans", 2)
    mixed, sign = documents["mixed.pdf"], documents["sign.png"]
    assert (mixed.state, sign.state) == (State.INDEXED, State.INDEXED)
    assert (mixed.pages, mixed.ocr_pages) == (3, 1)
    assert mixed.ocr_confidence is not None
    assert mixed.ocr_confidence > 0.8
    text = running.database.run(lambda connection: load_text(connection, mixed.id, mixed.version))
    assert text is not None
    assert [page.number for page in text.pages] == [1, 2, 3]
    second = text.pages[1]
    assert "boiler was inspected" in text.text[second.start : second.end].replace("\n", " ")
    with psycopg.connect(running.settings.database) as connection:
        rows = connection.execute(
            b"SELECT locator ->> 'fragment', ocr_confidence FROM chunks WHERE document_id = %s ORDER BY ordinal",
            [mixed.id],
        ).fetchall()
    assert [fragment for fragment, _ in rows] == ["#page=1", "#page=2", "#page=3"]
    assert rows[0][1] is None
    assert rows[1][1] == pytest.approx(mixed.ocr_confidence)


def test_a_retry_of_a_scan_reads_its_pages_again(running: Running) -> None:
    (received,) = running.ingest("blank", {"blank.png": image_png([])})

    def tries() -> list[tuple[str, str | None]]:
        attempts = running.database.run(lambda connection: list_attempts(connection, received.id))
        return [(attempt.outcome, attempt.code) for attempt in attempts]

    assert running.settle("blank", 1)["blank.png"].failure_code == FailureCode.NO_TEXT
    once = tries()
    assert once == [("done", None), ("failed", "no_text")]
    running.database.run(lambda connection: requeue_documents(connection, [received.id]))
    assert running.settle("blank", 1)["blank.png"].failure_code == FailureCode.NO_TEXT
    assert tries() == once * 2


def test_the_old_version_answers_until_the_new_one_is_indexed(running: Running) -> None:
    running.ingest("changing", {"a.md": b"# Opening hours\n\nThe archive opens at nine."})
    first = running.settle("changing", 1)["a.md"]
    running.ingest("changing", {"a.md": b""})
    broken = running.settle("changing", 1)["a.md"]
    assert (broken.state, broken.version, broken.searchable_version) == (State.FAILED, 2, 1)
    assert broken.searchable
    running.ingest("changing", {"a.md": b"# Opening hours\n\nThe archive opens at ten."})
    third = running.settle("changing", 1)["a.md"]
    assert (third.id, third.version, third.searchable_version) == (first.id, 3, 3)
    with psycopg.connect(running.settings.database) as connection:
        rows = connection.execute(b"SELECT version, content FROM chunks WHERE document_id = %s", [first.id]).fetchall()
        texts = connection.execute(b"SELECT version FROM texts WHERE document_id = %s", [first.id]).fetchall()
    assert [version for version, _ in rows] == [3]
    assert "at ten" in rows[0][1]
    assert texts == [(3,)]
