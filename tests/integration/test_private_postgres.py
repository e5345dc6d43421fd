"""The private Postgres after crashes and in awkward places."""

import os
import stat
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from ops.services.cluster import Cluster, create, locate, server_environment
from ops.services.errors import ServiceError
from ops.services.installation import (
    make_data_directory,
    private_services,
    running,
)
from ops.services.postgres import Postgres
from ops.services.record import read_record
from tests.integration.installations import at, rows

pytestmark = pytest.mark.usefixtures("no_external_services")


ROOT = os.geteuid() == 0


def orphan_postgres(cluster: Cluster) -> subprocess.Popen[bytes]:
    """A server that nobody looks after, as after a crash that even the death signal missed."""
    account = cluster.account if ROOT else None
    return subprocess.Popen(
        [
            *(str(cluster.programs.path("postgres")), "-D", str(cluster.directory)),
            *("-c", "listen_addresses=", "-c", f"unix_socket_directories={cluster.socket_directory}"),
        ],
        env=server_environment(),
        cwd="/",
        stderr=subprocess.DEVNULL,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


def test_a_long_path_gets_a_short_socket(open_folder: Path) -> None:
    data = open_folder / ("long" * 20) / "data"
    with private_services(at(data)) as settings:
        short = read_record(data).socket_directory
        assert short is not None
        assert rows(settings) == 1
        assert stat.S_IMODE(Path(short).stat().st_mode) == 0o700
    assert not Path(short).exists()
    with private_services(at(data)) as settings:
        assert rows(settings) == 2


def test_a_server_left_by_a_crash_is_stopped_first(open_folder: Path) -> None:
    data = open_folder / "data"
    with private_services(at(data)) as settings:
        assert rows(settings) == 1
    cluster = locate(at(data))
    orphan = orphan_postgres(cluster)
    wait_for(cluster.socket_directory / ".s.PGSQL.5432")
    with private_services(at(data)) as settings:
        assert orphan.wait(10) == 0
        assert rows(settings) == 2


def test_a_killed_server_leaves_no_obstacle(open_folder: Path) -> None:
    postgres = Postgres(at(make_data_directory(at(open_folder / "data"))))
    url = postgres.start()
    assert postgres.pid is not None
    os.kill(postgres.pid, 9)
    while postgres.alive():
        time.sleep(0.01)
    assert postgres.start() == url
    psycopg.connect(url).close()
    postgres.stop()
    postgres.stop()
    assert not postgres.alive()


def test_a_reused_pid_in_the_lock_file_harms_nobody(open_folder: Path) -> None:
    data = open_folder / "data"
    with private_services(at(data)):
        pass
    cluster = locate(at(data))
    bystander = subprocess.Popen(["sleep", "300"], user=cluster.account.uid if ROOT else None)
    try:
        content = f"{bystander.pid}\n{cluster.directory}\n1700000000\n5432\n{cluster.socket_directory}\n\n\n"
        (cluster.directory / "postmaster.pid").write_text(content)
        (cluster.socket_directory / ".s.PGSQL.5432.lock").write_text(content)
        with private_services(at(data)) as settings:
            assert rows(settings) == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_cluster_in_use_is_not_touched(open_folder: Path) -> None:
    data = make_data_directory(at(open_folder / "data"))
    first, second = Postgres(at(data)), Postgres(at(data))
    url = first.start()
    try:
        with pytest.raises(ServiceError, match="in use by another Pincite"):
            second.start()
        psycopg.connect(url).close()
    finally:
        first.stop()


def test_a_half_made_cluster_is_made_anew(open_folder: Path) -> None:
    data = make_data_directory(at(open_folder / "data"))
    cluster = locate(at(data))
    create(cluster, data)
    half = cluster.directory.rename(cluster.directory.with_name("postgres.making"))
    (half / "global" / "pg_control").unlink()
    with private_services(at(data)) as settings:
        assert rows(settings) == 1
    assert not half.exists()


def test_a_cluster_of_another_version_is_refused(open_folder: Path) -> None:
    data = open_folder / "data"
    with private_services(at(data)):
        pass
    (data / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(ServiceError, match="is of Postgres 17"), private_services(at(data)):
        pass
    assert running(at(data)) is None
