"""`pincite backup` and `pincite restore` on private services, without workers."""

import json
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from db.backup import frozen, held_originals, may_let_go
from db.connect import Database
from db.documents import get_document
from db.migrate import migrate
from db.retry import RetryRequest, retry_failed
from ops.cli import app
from ops.cli.border import ExitCode
from ops.services.backup_manifest import DUMP, MANIFEST, read_manifest
from ops.services.installation import private_services
from ops.services.record import read_record, update_record
from pincite.documents import State
from pincite.originals import Originals
from pincite.settings import Settings
from tests.fixtures.database import arrive, claim
from tests.fixtures.indexed import Indexed, fail, index
from tests.fixtures.services import reachable_folder
from workers.context import WorkerContext
from workers.sweep import KEEP_UNUSED_SECONDS, let_go

PASSAGES = ("The pump runs at 40 bar.", "Every valve is closed by hand.")


def pincite(*arguments: str):
    # COLUMNS keeps messages on one line; no servers of the environment are spoken to.
    environment = {"DATABASE_URL": None, "CELERY_BROKER_URL": None, "PINCITE_DATA": None, "COLUMNS": "200"}
    return CliRunner().invoke(app, list(arguments), env=environment)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A folder with the data directory `data` of an installation, and `backup`, made of it while it is stopped."""
    with reachable_folder() as folder:
        with private_services(Settings(data=folder / "data")) as settings:
            migrate(settings.database)
            database, store = Database(settings.database), Originals(settings.originals)
            kept = store.put(BytesIO(b"the bytes"), 100)
            index(database, Indexed(PASSAGES, sha256=kept.sha256))
            fail(database, arrive(database, "broken.pdf", store.put(BytesIO(b"broken"), 100).sha256), "corrupt")
            assert claim(database, arrive(database, "working.txt", store.put(BytesIO(b"work"), 100).sha256))
            arrive(database, "lost.txt", "f" * 64)
            database.close()
        result = pincite("backup", str(folder / "backup"), "--data", str(folder / "data"))
        assert result.exit_code == ExitCode.FAILED, result.output
        # The backup is made all the same, and what the store could not give is named.
        assert "1 originals that documents name are lost" in result.stderr
        assert "ffffffff" in result.stderr
        assert "4 documents (1 indexed, 1 failed, 2 unfinished), 2 chunks" in result.stdout
        yield folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A copy of the backup that the test may spoil."""
    return Path(shutil.copytree(made / "backup", tmp_path / "copy"))


def test_a_restored_installation_holds_the_same_and_works_on(made: Path) -> None:
    data = made / "restored"
    result = pincite("restore", str(made / "backup"), "--data", str(data))
    assert result.exit_code == ExitCode.DONE, result.output
    assert f"pincite up --data {data}" in result.stderr
    assert read_record(data).restoring is None
    with private_services(Settings(data=data)) as settings:
        database, store = Database(settings.database), Originals(settings.originals)
        documents = {
            details.path: details
            for number in range(1, 5)
            if (details := database.run(lambda connection, number=number: get_document(connection, number)))
        }
        assert {path: details.state for path, details in documents.items()} == {
            "a.txt": State.INDEXED,
            "broken.pdf": State.FAILED,
            "working.txt": State.QUEUED,
            "lost.txt": State.QUEUED,
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


def test_a_restore_never_goes_into_an_installation(made: Path) -> None:
    before = sorted(path.name for path in (made / "data").iterdir())
    result = pincite("restore", str(made / "backup"), "--data", str(made / "data"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "holds an installation or other files already" in result.stderr
    assert sorted(path.name for path in (made / "data").iterdir()) == before


def test_each_backup_gets_a_directory_of_its_own(made: Path) -> None:
    result = pincite("backup", str(made / "backup"), "--data", str(made / "data"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "is there already" in result.stderr
    assert not list(made.glob(".*.making"))


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
        (copy / MANIFEST).write_text(text.replace('"documents": 4', '"documents": 3'))
    else:
        (copy / MANIFEST).write_text((copy / MANIFEST).read_text()[:200])
    result = pincite("restore", str(copy), "--data", str(tmp_path / "new"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "is damaged" in result.stderr
    assert not (tmp_path / "new").exists()


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


def test_a_restore_that_fails_leaves_nothing(made: Path, copy: Path) -> None:
    # A dump that is whole by its digest, and that pg_restore cannot read.
    (copy / DUMP).write_bytes(b"no dump")
    manifest = read_manifest(copy)
    from ops.services.backup_manifest import BackedUpFile, digest_of

    files = [BackedUpFile(DUMP, 7, digest_of(copy / DUMP)), *(file for file in manifest.files if file.path != DUMP)]
    plain = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(type(manifest)(**(plain | {"files": files})).sealed())
    result = pincite("restore", str(copy), "--data", str(made / "failing"))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "pg_restore failed" in result.stderr
    assert not (made / "failing").exists()


def test_a_half_restored_directory_is_not_started(open_folder: Path) -> None:
    data = open_folder / "data"
    data.mkdir()
    update_record(data, restoring="/somewhere/backup")
    result = pincite("token", "list", "--data", str(data))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "was interrupted" in result.stderr
    assert "restore again" in result.stderr


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


def test_room_is_looked_at_first(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(made)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    result = pincite("backup", str(made / "large"), "--data", str(made / "data"))
    assert (result.exit_code, "MiB free" in result.stderr) == (ExitCode.UNAVAILABLE, True)
    assert not (made / "large").exists()
    result = pincite("restore", str(made / "backup"), "--data", str(made / "large"))
    assert (result.exit_code, "MiB free" in result.stderr) == (ExitCode.UNAVAILABLE, True)
    assert not (made / "large").exists()


def test_no_bytes_are_let_go_while_a_backup_copies(
    services: Settings, database_url: str, database: Database, tmp_path: Path
) -> None:
    import os
    import time

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
