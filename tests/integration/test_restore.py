"""`pincite restore` where others work on the directory, where the backup changes under it, and after it was killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ops.cli.border import ExitCode
from ops.services.backup_manifest import DUMP, MANIFEST, SETTINGS, BackupError, Manifest
from ops.services.errors import AlreadyRunningError
from ops.services.record import read_record, update_record
from ops.services.restore import restore_backup
from pincite.settings import Settings
from tests.fixtures.backups import pincite
from tests.fixtures.running import wait_until

pytestmark = pytest.mark.usefixtures("no_external_services")


class Held:
    """A file of a backup that cannot be read before `release`: a pipe with the same content."""

    def __init__(self, path: Path) -> None:
        self._path, self._content = path, path.read_bytes()
        path.unlink()
        os.mkfifo(path)

    def wait(self) -> int:
        """Wait until somebody reads it; gives the descriptor to write to."""
        opened: list[int] = []

        def has_reader() -> bool:
            with suppress(OSError):  # ENXIO: nobody reads it yet
                opened.append(os.open(self._path, os.O_WRONLY | os.O_NONBLOCK))
            return bool(opened)

        wait_until(has_reader)
        return opened[0]

    def release(self, descriptor: int) -> None:
        """Let the reader go on; whoever reads it next finds a file again."""
        os.write(descriptor, self._content)
        self._path.unlink()
        self._path.write_bytes(self._content)
        os.close(descriptor)


@contextmanager
def restoring(data: Path, backup: Path) -> Iterator[Future[Manifest]]:
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(restore_backup, Settings(data=data), backup)


def test_one_restore_at_a_time_and_a_dump_that_changes_is_not_used(
    backed_up: Path, copy: Path, open_folder: Path
) -> None:
    data, held = open_folder / "data", Held(copy / SETTINGS)
    with restoring(data, copy) as first:
        descriptor = held.wait()  # the first has checked the dump, and is checking the next file
        with pytest.raises(AlreadyRunningError, match=f"process {os.getpid()}"):
            restore_backup(Settings(data=data), backed_up / "backup")
        assert read_record(data).restoring == str(copy)
        with (copy / DUMP).open("ab") as dump:
            dump.write(b"more")
        held.release(descriptor)
    with pytest.raises(BackupError, match=f"{DUMP} changed while it was restored"):
        first.result()
    assert not data.exists()


def test_an_installation_that_came_meanwhile_is_left_alone(copy: Path, open_folder: Path) -> None:
    data, held = open_folder / "data", Held(copy / MANIFEST)
    with restoring(data, copy) as late:
        descriptor = held.wait()
        (data / "originals").mkdir(parents=True)
        update_record(data, api_url="http://127.0.0.1:1")
        before = read_record(data)
        held.release(descriptor)
    with pytest.raises(BackupError, match="holds an installation or other files already"):
        late.result()
    assert (data / "originals").is_dir()
    assert read_record(data) == before


def test_a_killed_restore_is_known_and_done_again(backed_up: Path, copy: Path, open_folder: Path) -> None:
    data, held = open_folder / "data", Held(copy / SETTINGS)
    command = [sys.executable, "-c", "from ops.cli import main; main()", "restore", str(copy), "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as killed:
        descriptor = held.wait()
        killed.send_signal(signal.SIGKILL)
        _, said = killed.communicate()
    os.close(descriptor)
    assert "Restore only backups you made yourself" in said
    result = pincite("token", "list", "--data", str(data))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert "was interrupted" in result.stderr
    assert "restore again" in result.stderr
    result = pincite("restore", str(backed_up / "backup"), "--data", str(data))
    assert result.exit_code == ExitCode.DONE, result.output
    assert read_record(data).restoring is None


def test_a_part_of_a_restore_is_not_built_upon(backed_up: Path, open_folder: Path) -> None:
    data = open_folder / "data"
    (data / "originals").mkdir(parents=True)
    update_record(data, restoring="/somewhere/backup")
    result = pincite("restore", str(backed_up / "backup"), "--data", str(data))
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert f"A restore of /somewhere/backup into {data} was interrupted" in result.stderr
    assert f"Delete {data} and restore again" in result.stderr
    assert (data / "originals").is_dir()


def test_what_lay_in_the_directory_stays_when_a_restore_fails(copy: Path, open_folder: Path) -> None:
    (open_folder / "data" / "lost+found").mkdir(parents=True)
    (copy / DUMP).write_bytes(b"other bytes")
    result = pincite("restore", str(copy), "--data", str(open_folder / "data"))
    assert (result.exit_code, "is damaged" in result.stderr) == (ExitCode.UNAVAILABLE, True)
    assert [path.name for path in (open_folder / "data").iterdir()] == ["lost+found"]
