"""`pincite backup` and `pincite restore` on private services, without workers."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from db.backup import frozen, held_originals, may_let_go
from db.connect import Database
from db.documents import get_document
from db.retry import RetryRequest, retry_failed
from ops.cli import app
from ops.cli.border import ExitCode
from ops.services.backup import make_backup, run_program
from ops.services.backup_manifest import (
    DUMP,
    MANIFEST,
    SETTINGS,
    BackedUpFile,
    BackupError,
    Manifest,
    check_files,
    digest_of,
    read_manifest,
)
from ops.services.installation import private_services
from ops.services.record import read_record
from pincite.documents import State
from pincite.originals import Originals
from pincite.settings import Settings
from tests.fixtures.backups import PASSAGES, pincite
from tests.fixtures.services import reachable_folder
from workers.context import WorkerContext
from workers.sweep import KEEP_UNUSED_SECONDS, let_go


def test_a_restored_installation_holds_the_same_and_works_on(backed_up: Path) -> None:
    data = backed_up / "restored"
    result = pincite("restore", str(backed_up / "backup"), "--data", str(data))
    assert result.exit_code == ExitCode.DONE, result.output
    assert f"pincite up --data {data}" in result.stderr
    assert read_record(data).restoring is None
    with private_services(Settings(data=data)) as settings:
        database, store = Database(settings.database), Originals(settings.originals)
        documents = {
            details.path: details
            for number in range(1, 6)
            if (details := database.run(lambda connection, number=number: get_document(connection, number)))
        }
        assert {path: details.state for path, details in documents.items()} == {
            "a.txt": State.INDEXED,
            "broken.pdf": State.FAILED,
            "working.txt": State.QUEUED,
            "lost.txt": State.QUEUED,
            "unreadable.txt": State.QUEUED,
        }
        # The try that the backup cut off does not count, and what has failed can be retried.
        assert documents["working.txt"].attempts == 0
        assert documents["a.txt"].sha256 is not None
        with store.open(documents["a.txt"].sha256) as stream:
            assert stream.read() == b"the bytes"
        requeued = database.run(lambda connection: retry_failed(connection, RetryRequest(code="corrupt"))).requeued
        assert [document.path for document in requeued] == ["broken.pdf"]
        with database.transaction() as connection:
            contents = [row[0] for row in connection.execute(b"SELECT content FROM chunks ORDER BY ordinal")]
        assert contents == list(PASSAGES)
        database.close()


def test_a_restore_never_goes_into_an_installation(backed_up: Path) -> None:
    before = sorted(path.name for path in (backed_up / "data").iterdir())
    result = pincite("restore", str(backed_up / "backup"), "--data", str(backed_up / "data"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "holds an installation or other files already" in result.stderr
    assert sorted(path.name for path in (backed_up / "data").iterdir()) == before


def test_each_backup_gets_a_directory_of_its_own(backed_up: Path) -> None:
    result = pincite("backup", str(backed_up / "backup"), "--data", str(backed_up / "data"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "is there already" in result.stderr
    assert not list(backed_up.glob(".*.making"))


def test_places_stay_and_everything_is_on_the_disk(backed_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synchronise, synchronised = os.fsync, set()

    def recorded(descriptor: int) -> None:
        synchronised.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        synchronise(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    places = {"PINCITE_DROP_ROOTS": str(backed_up), "PINCITE_TESSDATA": str(backed_up / "tessdata")}
    places |= {"PINCITE_LLM_BASE_URL": "http://127.0.0.1:9/v1", "PINCITE_LLM_MODEL": "m", "PINCITE_LLM_API_KEY": "sk"}
    environment = {**places, "PINCITE_OCR_LANGUAGES": "eng"}
    pincite("backup", str(backed_up / "second"), "--data", str(backed_up / "data"), **environment)
    lines = (backed_up / "second" / SETTINGS).read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["PINCITE_OCR_LANGUAGES=eng"]
    (making,) = {path for path in synchronised if path.name.endswith(".making")}
    names = {path.relative_to(backed_up / "second") for path in (backed_up / "second").rglob("*")}
    assert {making / name for name in names} <= synchronised
    assert backed_up in synchronised


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(BackupError, match=r"pg_nothing cannot be executed: No such file.*Install Pincite anew"):
        run_program("pg_nothing", ())


@contextmanager
def as_an_ordinary_account() -> Iterator[None]:
    """Without root's rights, which would let every file be read."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A directory that nobody but root may look into."""
    with reachable_folder() as folder:
        directory = folder / "closed"
        directory.mkdir()
        (directory / "backup").mkdir()
        (directory / "backup" / MANIFEST).write_text("{}")
        directory.chmod(0)
        yield directory
        directory.chmod(0o700)


def test_a_place_that_this_account_may_not_use_is_told_in_one_line(closed: Path) -> None:
    with as_an_ordinary_account(), pytest.raises(BackupError, match="cannot be used by this account: Permission"):
        make_backup(Settings(data=closed / "data"), closed / "new")


def test_a_backup_that_this_account_may_not_read_is_not_called_damaged(closed: Path) -> None:
    with as_an_ordinary_account(), pytest.raises(BackupError) as raised:
        read_manifest(closed / "backup")
    assert "This account may not read manifest.json" in str(raised.value)
    assert "damaged" not in str(raised.value)
    closed.chmod(0o755)
    dump = closed / "backup" / DUMP
    dump.write_bytes(b"x")
    dump.chmod(0)
    manifest = Manifest(1, "", "", "", [], None, {}, [], [BackedUpFile(DUMP, 1, hashlib.sha256(b"x").hexdigest())])
    with as_an_ordinary_account(), pytest.raises(BackupError, match=r"may not read database\.dump"):
        list(check_files(closed / "backup", manifest))


@pytest.mark.parametrize("part", [DUMP, "originals", "manifest", "cut"])
def test_a_damaged_backup_is_refused_before_anything_is_made(copy: Path, tmp_path: Path, part: str) -> None:
    if part == DUMP:
        content = bytearray((copy / DUMP).read_bytes())
        content[len(content) // 2] ^= 1
        (copy / DUMP).write_bytes(content)
    elif part == "originals":
        next(path for path in (copy / "originals").rglob("*") if path.is_file()).unlink()
    elif part == "manifest":
        text = (copy / MANIFEST).read_text()
        (copy / MANIFEST).write_text(text.replace('"documents": 6', '"documents": 3'))
    else:
        (copy / MANIFEST).write_text((copy / MANIFEST).read_text()[:200])
    result = pincite("restore", str(copy), "--data", str(tmp_path / "new"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "is damaged" in result.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "change",
    [{"migrations": 5}, {"migrations": [[1]]}, {"postgres": 18}, {"counts": [1]}, {"format": "x"}, {"format": 0},
     {"files": [{"path": "a", "bytes": -5, "sha256": "0"}]}, {"files": [{"path": "a\0b", "bytes": 1, "sha256": "0"}]}],
    ids=str,
)  # fmt: skip
def test_a_manifest_that_nobody_made_is_damaged(copy: Path, change: dict[str, object]) -> None:
    """Whoever changes a manifest can reckon its digest anew."""
    content = json.loads((copy / MANIFEST).read_text()) | change
    plain = {name: value for name, value in content.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    (copy / MANIFEST).write_text(json.dumps(plain | {"digest": digest}))
    with pytest.raises(BackupError, match="is damaged"):
        read_manifest(copy)


def test_a_manifest_without_end_is_damaged(copy: Path) -> None:
    (copy / MANIFEST).write_text("[" * 200_000)
    with pytest.raises(BackupError, match="is damaged"):
        read_manifest(copy)


@pytest.mark.parametrize("change", [{"format": 99}, {"migrations": ["9999_from_the_future"]}, {"postgres": "99.1"}])
def test_a_backup_of_another_version_is_refused(copy: Path, tmp_path: Path, change: dict[str, object]) -> None:
    manifest = read_manifest(copy)
    plain = json.loads((copy / MANIFEST).read_text()) | change
    changed = type(manifest)(**(plain | {"files": manifest.files}))
    (copy / MANIFEST).write_text(changed.sealed())
    result = pincite("restore", str(copy), "--data", str(tmp_path / "new"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "made by another version of Pincite" in result.stderr
    assert "install the version that made it" in result.stderr
    assert not (tmp_path / "new").exists()


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    result = pincite("restore", str(tmp_path), "--data", str(tmp_path / "new"))
    assert (result.exit_code, "is no backup" in result.stderr) == (ExitCode.UNAVAILABLE, True)


def test_a_restore_that_fails_leaves_nothing(backed_up: Path, copy: Path) -> None:
    # A dump that is whole by its digest, and that pg_restore cannot read.
    (copy / DUMP).write_bytes(b"no dump")
    manifest = read_manifest(copy)
    files = [BackedUpFile(DUMP, 7, digest_of(copy / DUMP)), *(file for file in manifest.files if file.path != DUMP)]
    plain = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(type(manifest)(**(plain | {"files": files})).sealed())
    result = pincite("restore", str(copy), "--data", str(backed_up / "failing"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "pg_restore failed" in result.stderr
    assert not (backed_up / "failing").exists()


def test_servers_of_ones_own_have_their_own_tools(tmp_path: Path) -> None:
    for command in ("backup", "restore"):
        environment = {"DATABASE_URL": "postgresql://example/x", "COLUMNS": "200"}
        result = CliRunner().invoke(app, [command, str(tmp_path / "b")], env=environment)
        assert result.exit_code == ExitCode.UNAVAILABLE
        assert "with its own tools (pg_dump" in result.stderr


def test_a_directory_without_an_installation_is_not_backed_up(tmp_path: Path) -> None:
    result = pincite("backup", str(tmp_path / "b"), "--data", str(tmp_path / "nothing"))
    assert result.exit_code == ExitCode.FAILED
    assert "There is no installation" in result.stderr
    assert not (tmp_path / "nothing").exists()


def test_room_is_looked_at_first(backed_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(backed_up)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    result = pincite("backup", str(backed_up / "large"), "--data", str(backed_up / "data"))
    assert (result.exit_code, "MiB free" in result.stderr) == (ExitCode.UNAVAILABLE, True)
    assert not (backed_up / "large").exists()
    result = pincite("restore", str(backed_up / "backup"), "--data", str(backed_up / "large"))
    assert (result.exit_code, "MiB free" in result.stderr) == (ExitCode.UNAVAILABLE, True)
    assert not (backed_up / "large").exists()


def test_no_bytes_are_let_go_while_a_backup_copies(
    services: Settings, database_url: str, database: Database, tmp_path: Path
) -> None:
    changes = {"database_url": SecretStr(database_url), "originals_url": str(tmp_path / "originals")}
    context = WorkerContext(services.model_copy(update=changes))
    unused = context.originals.put(BytesIO(b"no document needs this"), 100)
    old = time.time() - KEEP_UNUSED_SECONDS - 60
    compartment = int(unused.sha256[:2], 16)
    os.utime(tmp_path / "originals" / unused.sha256[:2] / unused.sha256, (old, old))
    with held_originals(database_url) as connection:
        with frozen(connection) as snapshot:
            assert snapshot
        assert not database.run(may_let_go)
        let_go(context, compartment)
        assert context.originals.exists(unused.sha256)
    let_go(context, compartment)
    assert not context.originals.exists(unused.sha256)
    context.database.close()
