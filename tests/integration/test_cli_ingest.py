"""`pincite ingest` on real services."""

import os
from pathlib import Path

import pytest

from db.documents import get_document
from db.folders import watch_folder
from ops.cli.border import ExitCode
from pincite.documents import State
from pincite.originals import Originals
from tests.fixtures.cli import all_documents, answer


def test_ingest_queues_what_is_new_and_leaves_what_is_known(run, papers, database):
    first = run("ingest", str(papers))
    assert first.exit_code == 0
    assert "2 files for papers: 2 new, 0 changed, 0 known already; 1 passed over" in first.stderr
    assert first.stdout == ""
    (papers / "a.txt").write_text("The first text, changed.")
    second = run("ingest", str(papers))
    assert "0 new, 1 changed, 1 known already" in second.stderr
    assert [(d["folder"], d["path"], d["state"]) for d in all_documents(database)] == [
        ("papers", "a.txt", State.QUEUED),
        ("papers", "sub/b.txt", State.QUEUED),
    ]


def test_ingest_of_a_directory_without_files_says_so(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run("ingest", str(tmp_path / "empty")).stderr == "Nothing was added: no file was found there.\n"
    (tmp_path / "empty" / ".hidden").write_text("x")
    assert "Nothing was added: 1 passed over" in run("ingest", str(tmp_path / "empty")).stderr


def test_ingest_keeps_the_bytes(run, papers, database, tmp_path):
    run("ingest", str(papers))
    document = database.run(lambda connection: get_document(connection, all_documents(database)[0]["id"]))
    with Originals(str(tmp_path / "data" / "originals")).open(document.sha256) as stream:
        assert stream.read() == b"The first text."


def test_a_file_over_the_limit_is_recorded_and_the_others_come_in(run, papers, database):
    (papers / "big.bin").write_bytes(b"x" * (1 << 20) + b"y")
    result = run("ingest", str(papers), PINCITE_MAX_FILE_MB="1")
    assert result.exit_code == ExitCode.FAILED
    assert "2 new" in result.stderr
    failed = answer(run("failed", "--json"))
    assert failed["failed"] == 1
    [group] = failed["codes"]
    assert group["code"] == "too_large"
    assert "PINCITE_MAX_FILE_MB is 1" in group["documents"][0]["failure"]["message"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file at hand that fails when it is read")
def test_a_file_that_cannot_be_read_is_recorded_and_the_others_come_in(run, papers):
    result = run("ingest", "/proc/self/mem", str(papers / "a.txt"))
    assert result.exit_code == ExitCode.FAILED
    assert "1 new, 0 changed, 0 known already, 1 unreadable" in result.stderr
    [group] = answer(run("failed", "--json"))["codes"]
    assert (group["code"], group["documents"][0]["sha256"]) == ("read_error", None)
    assert "Input/output error" in group["documents"][0]["failure"]["message"]


def test_ingest_does_not_fill_the_disk(run, papers, database):
    result = run("ingest", str(papers), PINCITE_MIN_FREE_DISK_MB=str(1 << 40))
    assert result.exit_code == ExitCode.FAILED
    assert "PINCITE_MIN_FREE_DISK_MB" in result.stderr
    assert all_documents(database) == []


def test_ingest_with_the_broker_away_loses_nothing_and_says_it_once(run, papers, database):
    result = run("ingest", str(papers), CELERY_BROKER_URL="redis://127.0.0.1:1/0")
    assert result.exit_code == 0
    assert result.stderr.count("the sweep rings for them") == 1
    assert len(all_documents(database)) == 2


def test_ingest_into_a_drop_folder_of_another_directory_is_refused(run, papers, database, tmp_path):
    database.run(lambda connection: watch_folder(connection, "papers", str(papers)))
    other = tmp_path / "other.txt"
    other.write_text("x")
    result = run("ingest", str(other), "--folder", "papers")
    assert result.exit_code == ExitCode.USAGE
    assert f"kept in step with {papers}. Put the files there" in result.stderr
    inside = run("ingest", str(papers / "sub" / "b.txt"), "--folder", "papers")
    assert inside.exit_code == ExitCode.USAGE
    assert "b.txt needs no `pincite ingest`" in inside.stderr
    assert "Put the files there" not in inside.stderr
    assert run("ingest", str(papers)).exit_code == 0


def test_a_name_that_is_not_unicode_comes_in(run, papers, database):
    Path(os.fsdecode(os.fsencode(papers) + b"/caf\xe9.txt")).write_text("x")
    assert run("ingest", str(papers)).exit_code == 0
    assert "caf\\xe9.txt" in {document["path"] for document in all_documents(database)}
