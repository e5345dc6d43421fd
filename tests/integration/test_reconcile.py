"""What scans of a drop folder make of files as people and programs leave them."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from db.documents import get_document, remove_document
from pincite.documents import State
from pincite.originals import Original
from tests.fixtures.drop import Drop, without_rights

ODD_NAMES = [
    "emoji 😀.txt",
    "x" * 251 + ".txt",
    "\u202egnp.txt",
    "two\nlines.txt",
    "-rf.txt",
    "trailing space.txt ",
    " ",
    "Straße.txt",
    "STRASSE.TXT",
    "strasse.txt",
    "caf\u00e9.txt",
    "cafe\u0301.txt",
    "tab\tand\x1b[31mred.txt",
    "back\\slash.txt",
    "per%20cent.txt",
]


def test_a_file_saved_by_renaming_over_it_is_a_new_version(drop: Drop) -> None:
    drop.write("report.txt", "First draft.")
    first = drop.scanned()["report.txt"]
    drop.write("report.txt~", "First draft.")
    drop.write("5A3F2B10.tmp", "Second draft.").rename(drop.root / "report.txt")
    found = drop.scanned()
    assert set(found) == {"report.txt"}
    assert (found["report.txt"].id, found["report.txt"].version) == (first.id, 2)


def test_two_files_that_swap_names_swap_contents(drop: Drop) -> None:
    drop.write("a.txt", "Apples.")
    drop.write("b.txt", "Bananas.")
    before = drop.scanned()
    (drop.root / "a.txt").rename(drop.root / "c")
    (drop.root / "b.txt").rename(drop.root / "a.txt")
    (drop.root / "c").rename(drop.root / "b.txt")
    after = drop.scanned()
    assert {path: one.id for path, one in after.items()} == {path: one.id for path, one in before.items()}
    assert (after["a.txt"].sha256, after["b.txt"].sha256) == (before["b.txt"].sha256, before["a.txt"].sha256)


def test_a_chain_of_renames_ends_with_what_lies_there(drop: Drop) -> None:
    for name in "abc":
        drop.write(name, f"The text of {name}.")
    before = drop.scanned()
    for old, new in (("c", "d"), ("b", "c"), ("a", "b")):
        (drop.root / old).rename(drop.root / new)
    after = drop.scanned()
    assert {path: one.sha256 for path, one in after.items()} == {
        new: before[old].sha256 for old, new in (("a", "b"), ("b", "c"), ("c", "d"))
    }


def test_a_renamed_directory_with_copies_in_it_keeps_every_document(drop: Drop) -> None:
    for path in ("old/a.txt", "old/b.txt", "old/deep/a.txt"):
        drop.write(path, "The same text thrice.")
    before = drop.scanned()
    (drop.root / "old").rename(drop.root / "new")
    after = drop.scanned()
    assert len({one.id for one in after.values()}) == 3
    assert {one.id for one in after.values()} == {one.id for one in before.values()}
    assert after["new/b.txt"].id == before["old/b.txt"].id


def test_a_file_renamed_and_edited_at_once_is_another(drop: Drop) -> None:
    drop.write("draft.txt", "A draft.")
    before = drop.scanned()["draft.txt"]
    (drop.root / "draft.txt").rename(drop.root / "final.txt")
    drop.write("final.txt", "The final text, which is longer.")
    found = drop.scanned()
    assert set(found) == {"final.txt"}
    assert found["final.txt"].id != before.id


@pytest.mark.parametrize("moment", [978_300_000, 4_102_444_800], ids=["long ago", "in the future"])
def test_modification_times_are_no_water_mark(drop: Drop, moment: int) -> None:
    os.utime(drop.write("letter.txt", "Dear Ms Finch"), (moment, moment))
    first = drop.scanned()["letter.txt"]
    os.utime(drop.write("letter.txt", "Dear Mr Finch"), (moment, moment))
    assert (first.version, drop.scanned()["letter.txt"].version) == (1, 2)


def test_links_pipes_and_sockets_are_passed_over_and_hard_links_are_files(drop: Drop) -> None:
    file = drop.write("a.txt", "Read me.")
    (drop.root / "hard.txt").hardlink_to(file)
    (drop.root / "soft.txt").symlink_to(file)
    (drop.root / "loop").symlink_to(drop.root)
    (drop.root / "dangling.txt").symlink_to("nowhere")
    os.mkfifo(drop.root / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(drop.root / "socket"))
        found = drop.scanned()
    assert set(found) == {"a.txt", "hard.txt"}
    assert drop.folder.ignored == 5
    assert sorted(map(tuple, drop.folder.ignored_paths)) == [
        ("dangling.txt", "symbolic link"),
        ("loop", "symbolic link"),
        ("pipe.txt", "no regular file"),
        ("socket", "no regular file"),
        ("soft.txt", "symbolic link"),
    ]


def test_odd_names_are_documents_of_their_own(drop: Drop) -> None:
    for name in ODD_NAMES:
        drop.write(name, f"The file {name!r}.")
    stored = dict.fromkeys(ODD_NAMES, 1)
    for name in (b"caf\xe9.txt", b"caf\\xe9.txt", b"\xff" * 255):
        Path(os.fsdecode(os.fsencode(drop.root) + b"/" + name)).write_bytes(name)
    stored |= {"caf\\xe9.txt": 1, "caf\\x5cxe9.txt": 1, "\\xff" * 255: 1}
    assert {path: one.version for path, one in drop.scanned().items()} == stored
    assert {path: one.version for path, one in drop.scanned().items()} == stored


def test_an_unreadable_file_has_a_reason_and_goes_on_answering(drop: Drop) -> None:
    file = drop.write("locked.txt", "Only for some eyes.")
    file.chmod(0o644)
    before = drop.scanned()["locked.txt"]
    with without_rights(drop):
        file_mode(drop, file, 0)
        locked = drop.scanned()["locked.txt"]
        assert (locked.state, locked.failure_code, locked.id) == (State.FAILED, "read_error", before.id)
        assert "Permission denied" in (locked.failure_message or "")
        file_mode(drop, file, 0o644)
        healed = drop.scanned()["locked.txt"]
    assert (healed.state, healed.sha256) == (State.QUEUED, before.sha256)


@pytest.mark.parametrize("mode", [0, 0o444], ids=["cannot be listed", "cannot be entered"])
def test_nothing_below_an_unreadable_directory_is_removed(drop: Drop, mode: int) -> None:
    drop.root.chmod(0o755)
    drop.write("closed/a.txt", "Behind a door.").chmod(0o644)
    drop.write("open.txt", "In the open.").chmod(0o644)
    before = drop.scanned()
    with without_rights(drop):
        file_mode(drop, drop.root / "closed", mode)
        assert set(drop.scanned()) == set(before)
        assert "cannot be read (closed" in drop.note
        file_mode(drop, drop.root / "closed", 0o755)
        assert {path: one.version for path, one in drop.scanned().items()} == dict.fromkeys(before, 1)
    assert drop.note == ""


def file_mode(drop: Drop, path: Path, mode: int) -> None:
    """Change a mode as the file's owner, whoever we are now."""
    me = os.geteuid()
    os.seteuid(drop.root.stat().st_uid)
    path.chmod(mode)
    os.seteuid(me)


def test_a_file_that_changes_while_it_is_read_waits(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    file = drop.write("ledger.txt", "Half of the ledger.")
    put: Callable[[BinaryIO, int], Original] = drop.context.originals.put  # type: ignore[assignment]

    def put_slowly(stream: BinaryIO, limit: int) -> Original:
        original = put(stream, limit)
        with file.open("a") as writer:
            writer.write(" The other half.")
        return original

    with monkeypatch.context() as patched:
        patched.setattr(drop.context.originals, "put", put_slowly)
        assert drop.scanned() == {}
    assert drop.scanned()["ledger.txt"].bytes == file.stat().st_size


def test_a_removed_document_stays_removed_while_only_its_times_change(drop: Drop) -> None:
    file = drop.write("a.txt", "Nobody wants this.")
    document = drop.scanned()["a.txt"]
    drop.context.database.run(lambda connection: remove_document(connection, document.id))
    file.chmod(0o600)
    os.utime(file, (1, 1))
    assert drop.scanned() == {}
    file.write_text("Somebody wants this.")
    assert drop.scanned()["a.txt"].id == document.id


def test_a_file_that_moves_to_where_an_attachment_stands_makes_its_way(drop: Drop) -> None:
    """A message gave way to a directory of its name, and a file moved in under an attachment's name."""
    drop.write("mail.eml", "From: a@example.org\n\nHello")
    drop.write("plan.txt", "The plan.")
    mail = drop.scanned()["mail.eml"]
    with drop.context.database.transaction() as connection:
        connection.execute(
            b"INSERT INTO documents (folder_id, path, name, bytes, parent_id)"
            b" SELECT folder_id, path || '/plan.txt', 'plan.txt', 8, id FROM documents WHERE id = %s",
            [mail.id],
        )
    (drop.root / "mail.eml").unlink()
    (drop.root / "mail.eml").mkdir()
    (drop.root / "plan.txt").rename(drop.root / "mail.eml" / "plan.txt")
    drop.scan()
    found = drop.scanned()
    assert set(found) == {"mail.eml/plan.txt"}
    gone = drop.context.database.run(lambda connection: get_document(connection, mail.id))
    assert gone is not None
    assert gone.state is State.REMOVED


def test_while_one_watcher_scans_a_folder_another_leaves_it_alone(drop: Drop) -> None:
    other = drop.again()
    drop.write("a.txt", "One text.")
    scanned: list[bool] = []
    inner = drop.context.originals.put

    def put(stream: BinaryIO, limit: int) -> Original:
        scanned.append(other.scan())
        assert other.documents() == {}
        return inner(stream, limit)

    drop.context.originals.put = put  # type: ignore[method-assign]
    assert drop.scanned()["a.txt"].version == 1
    assert scanned == [False]
    drop.context.originals.put = inner  # type: ignore[method-assign]
    assert other.scanned()["a.txt"].version == 1
