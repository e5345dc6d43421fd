"""Bytes that were read once are not read again at another path, and equal passages are embedded once."""

from pathlib import Path

import psycopg

from db.documents import list_attempts, reread_documents
from db.folders import unwatch_folder, watch_folder
from pincite.documents import State
from tests.documents import image_png, mail_eml
from tests.fixtures.running import Running, wait_until

THOUSAND = 1_000


def embedded(running: Running, folder: str) -> int:
    """How many passages the model has embedded for a folder's documents, at all tries and for all versions."""
    with psycopg.connect(running.settings.database) as connection:
        row = connection.execute(
            b"""SELECT coalesce(sum(a.embedded), 0) FROM attempts a JOIN documents d ON d.id = a.document_id
                JOIN folders f ON f.id = d.folder_id WHERE f.name = %s""",
            [folder],
        ).fetchone()
    assert row is not None
    return int(row[0])


def chunks(running: Running, document: int) -> list[tuple[object, ...]]:
    """Each chunk of a document with its vector and lexemes."""
    with psycopg.connect(running.settings.database) as connection:
        return connection.execute(
            b"""SELECT c.header, c.content, c.locator, c.ocr_confidence, e.vector::text, l.lexemes::text, l.lexeme_count
                FROM chunks c JOIN embeddings e ON e.chunk_id = c.id
                JOIN lexical_entries l ON l.chunk_id = c.id WHERE c.document_id = %s ORDER BY c.ordinal""",
            [document],
        ).fetchall()


def test_a_copied_file_costs_no_reading_and_no_embedding(running: Running) -> None:
    files = {f"{n}.md": f"# Shelf {n}\n\nIt carries {n * 3} jars of plum jam.".encode() for n in range(5)}
    running.ingest("copied jam", files)
    first = running.settle("copied jam", 5)
    assert embedded(running, "copied jam") == 5
    running.ingest("copied jam again", files)
    second = running.settle("copied jam again", 5)
    assert {one.state for one in second.values()} == {State.INDEXED}
    assert embedded(running, "copied jam again") == 0
    for path, document in second.items():
        assert chunks(running, document.id) == chunks(running, first[path].id)
        assert (document.title, document.language, document.extractor) == (
            first[path].title,
            first[path].language,
            first[path].extractor,
        )


def test_the_copy_answers_when_the_first_is_removed(running: Running) -> None:
    text = b"The weather vane was forged by Ottilie Brandauer in the winter of the long frost."
    (one,) = running.ingest("copied vane", {"vane.txt": text})
    running.settle("copied vane", 1)
    running.ingest("copied vane again", {"vane.txt": text})
    running.settle("copied vane again", 1)
    running.ready().delete(f"/v1/documents/{one.id}")
    found = running.api.post(
        "/v1/search", json={"query": "who forged the weather vane?", "folders": ["copied vane again"]}
    )
    assert found.json()["hits"][0]["quote"].startswith("The weather vane was forged")


def test_only_the_changed_passages_of_a_document_are_embedded(running: Running) -> None:
    parts = [f"## Room {n}\n\n" + f"Room {n} holds {n} chairs, and a lamp for each of them. " * 12 for n in range(8)]
    running.ingest("copied rooms", {"rooms.md": "\n\n".join(["# Rooms", *parts]).encode()})
    first = running.settle("copied rooms", 1)["rooms.md"]
    before = embedded(running, "copied rooms")
    assert before == first.chunks >= 8
    vectors = {chunk[:2]: chunk[4] for chunk in chunks(running, first.id)}
    parts[3] = "## Room 3\n\nRoom 3 was given to the choir."
    running.ingest("copied rooms", {"rooms.md": "\n\n".join(["# Rooms", *parts]).encode()})
    wait_until(lambda: running.documents("copied rooms")["rooms.md"].searchable_version == 2)
    assert embedded(running, "copied rooms") - before == 1
    (new,) = [chunk for chunk in chunks(running, first.id) if chunk[:2] not in vectors]
    assert "given to the choir" in str(new[1])
    kept = {passage: vector for passage, vector in vectors.items() if "Room 3" not in str(passage[1])}
    assert {chunk[:2]: chunk[4] for chunk in chunks(running, first.id) if chunk != new} == kept


def test_a_message_that_becomes_a_copy_of_one_without_files_loses_its_own(running: Running) -> None:
    plain = mail_eml("The keys are with the porter.", "Keys")
    running.ingest(
        "copied mail", {"plain.eml": plain, "full.eml": mail_eml("See the file.", "File", {"a.txt": b"Box 7."})}
    )
    running.settle("copied mail", 3)
    running.ingest("copied mail", {"full.eml": plain})
    wait_until(lambda: running.documents("copied mail")["full.eml"].searchable_version == 2)
    assert set(running.settle("copied mail", 2)) == {"plain.eml", "full.eml"}


def test_a_copied_scan_is_not_recognised_again(running: Running) -> None:
    scan = image_png(["The harbour master keeps", "the second key."])
    running.ingest("copied scan", {"key.png": scan})
    first = running.settle("copied scan", 1)["key.png"]
    running.ingest("copied scan", {"spare.png": scan})
    second = running.settle("copied scan", 2)["spare.png"]
    assert (second.ocr_pages, second.ocr_confidence) == (first.ocr_pages, first.ocr_confidence)
    attempts = running.database.run(lambda connection: list_attempts(connection, second.id))
    assert [attempt.stage for attempt in attempts] == ["extract", "chunk", "embed"]
    with psycopg.connect(running.settings.database) as connection:
        words = connection.execute(
            b"SELECT count(DISTINCT words) FROM pages WHERE document_id IN (%s, %s)", [first.id, second.id]
        ).fetchone()
    assert words == (1,)


def test_a_document_that_is_to_be_read_anew_is_read(running: Running) -> None:
    """Two copies do not lend each other the very text that somebody wants made anew."""
    text = b"The ferry leaves at noon."
    received = running.ingest("copied ferry", {"a.txt": text, "b.txt": text})
    running.settle("copied ferry", 2)
    with psycopg.connect(running.settings.database) as connection:
        connection.execute(b"UPDATE texts SET text = 'x' || substr(text, 2) WHERE document_id = %s", [received[1].id])
    running.database.run(lambda connection: reread_documents(connection, [received[0].id]))
    running.database.run(lambda connection: reread_documents(connection, [received[1].id]))
    wait_until(lambda: all(one.searchable_version == 2 for one in running.documents("copied ferry").values()))
    for one in received:
        assert running.ready().get(f"/v1/documents/{one.id}/text").json()["text"] == text.decode()


def test_a_thousand_files_renamed_touched_and_copied_cost_no_embedding(running: Running, tmp_path: Path) -> None:
    name, root = "thousand", tmp_path / "drop"
    shelf = root / "shelf"
    shelf.mkdir(parents=True)
    for n in range(THOUSAND):
        (shelf / f"{n:04}.txt").write_text(f"Jar {n} was filled in week {n % 52} and weighs {n + 300} grams.")
    running.database.run(lambda connection: watch_folder(connection, name, str(root)))
    try:
        first = running.settle(name, THOUSAND, 280)
        assert {one.state for one in first.values()} == {State.INDEXED}
        assert embedded(running, name) == THOUSAND

        shelf.rename(root / "cupboard")
        wait_until(lambda: set(running.documents(name)) == {f"cupboard/{n:04}.txt" for n in range(THOUSAND)}, 120)
        renamed = running.settle(name, THOUSAND)
        assert {one.id for one in renamed.values()} == {one.id for one in first.values()}
        assert embedded(running, name) == THOUSAND

        scans = scan_count(running, name)
        for file in (root / "cupboard").iterdir():
            file.touch()
        wait_until(lambda: modified_times(running, name) == {f.stat().st_mtime_ns for f in root.glob("*/*")}, 120)
        assert scan_count(running, name) > scans
        assert embedded(running, name) == THOUSAND

        (root / "copy").mkdir()
        for file in (root / "cupboard").iterdir():
            (root / "copy" / file.name).write_bytes(file.read_bytes())
        both = running.settle(name, 2 * THOUSAND, 280)
        assert {one.state for one in both.values()} == {State.INDEXED}
        assert sum(one.chunks for one in both.values()) == 2 * THOUSAND
        assert embedded(running, name) == THOUSAND
    finally:
        running.database.run(lambda connection: unwatch_folder(connection, name))


def scan_count(running: Running, folder: str) -> float:
    with psycopg.connect(running.settings.database) as connection:
        row = connection.execute(b"SELECT extract(epoch FROM scanned_at) FROM folders WHERE name = %s", [folder])
        found = row.fetchone()
    assert found is not None
    return float(found[0])


def modified_times(running: Running, folder: str) -> set[int]:
    with psycopg.connect(running.settings.database) as connection:
        rows = connection.execute(
            b"""SELECT source_modified_ns FROM documents d JOIN folders f ON f.id = d.folder_id
                WHERE f.name = %s AND d.state <> 'removed'""",
            [folder],
        ).fetchall()
    return {int(row[0]) for row in rows}
