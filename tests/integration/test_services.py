"""One data directory, one installation: found again, found by others, side by side with its neighbours."""

import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from ops.services.cluster import locate
from ops.services.errors import AlreadyRunningError, NotRunningError, ServiceError
from ops.services.installation import (
    connect,
    open_installation,
    private_services,
    running,
)
from pincite.settings import Settings
from tests.integration.installations import at, broker, modes, rows

pytestmark = pytest.mark.usefixtures("no_external_services")


def test_a_second_start_finds_the_same_data_at_the_same_addresses(open_folder: Path) -> None:
    before = modes(open_folder)
    with private_services(at(open_folder / "data")) as first:
        assert rows(first) == 1
        with psycopg.connect(first.database, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        broker(first).rpush("queue", "ring")
    with private_services(at(open_folder / "data")) as second:
        assert rows(second) == 2
        assert broker(second).lrange("queue", 0, -1) == [b"ring"]
        assert (second.database, second.broker) == (first.database, first.broker)
    assert modes(open_folder) == before


def test_no_account_can_look_in(open_folder: Path) -> None:
    with private_services(at(open_folder / "data")):
        data = open_folder / "data"
        assert stat.S_IMODE(data.stat().st_mode) & 0o067 == 0
        entries = [path for path in data.rglob("*") if "postgres" not in path.relative_to(data).parts[0]]
        open_entries = [path for path in entries if path.parent == data and path.stat().st_mode & 0o077]
        assert open_entries == []
        secrets_in_files = [data / "services.json", *(data / "valkey").glob("*.*")]
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in secrets_in_files if path.is_file())
        assert stat.S_IMODE((data / "postgres").stat().st_mode) == 0o700


def test_postgres_has_no_port_and_valkey_only_a_local_one_with_a_password(open_folder: Path) -> None:
    with open_installation(at(open_folder / "data")) as installation:
        pids = {service.name: service.pid for service in installation.services}
        assert psutil.Process(pids["postgres"]).net_connections(kind="inet") == []
        listening = psutil.Process(pids["valkey"]).net_connections(kind="inet")
        assert {one.laddr.ip for one in listening} == {"127.0.0.1"}
        password = installation.settings.broker.split(":")[2].split("@")[0]
        assert not any(password in word for word in psutil.Process(pids["valkey"]).cmdline())
        stranger = redis.Redis(port=listening[0].laddr.port, socket_timeout=5)
        with pytest.raises(redis.AuthenticationError):
            stranger.ping()


def test_the_callers_postgres_variables_change_nothing(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "1", "PGDATA": "/nowhere", "PGUSER": "x", "PGDATABASE": "y"}.items():
        monkeypatch.setenv(name, value)
    with private_services(at(open_folder / "data")) as settings:
        assert rows(settings) == 1


def test_two_installations_side_by_side(open_folder: Path) -> None:
    with private_services(at(open_folder / "one")) as one, private_services(at(open_folder / "two")) as two:
        assert rows(one) == 1
        assert rows(two) == 1
        broker(one).set("here", "one")
        assert broker(two).get("here") is None
        found = running(at(open_folder / "one"))
        assert found is not None
        assert found.database_url == one.database


def test_one_data_directory_is_one_installation(open_folder: Path) -> None:
    data = open_folder / "data"
    with private_services(at(data)) as settings:
        told = rf"already running for {data} \(process {os.getpid()}\)"
        with pytest.raises(AlreadyRunningError, match=told), private_services(at(data)):
            pass
        assert rows(settings) == 1


def test_another_terminal_finds_the_running_installation(open_folder: Path) -> None:
    data = open_folder / "data"
    with open_installation(at(data)) as installation:
        installation.publish("http://127.0.0.1:8420")
        script = (
            "from pathlib import Path; from pincite.settings import Settings;"
            "from ops.services.installation import connect, running;"
            f"s = Settings(data=Path({str(data)!r}));"
            "print(connect(s).database, connect(s).broker, running(s).api_url, running(s).supervisor_pid)"
        )
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        settings = installation.settings
        assert said.split() == [settings.database, settings.broker, "http://127.0.0.1:8420", str(os.getpid())]
    assert running(at(data)) is None
    assert "secret" not in (data / "services.json").read_text()
    with pytest.raises(NotRunningError):
        connect(at(data))


def test_only_what_is_missing_is_started(open_folder: Path) -> None:
    with private_services(at(open_folder / "one")) as one:
        given = Settings(data=open_folder / "two", database_url=one.database_url)
        with open_installation(given) as two:
            assert [service.name for service in two.services] == ["valkey"]
            assert two.settings.database == one.database
        assert not (open_folder / "two" / "postgres").exists()


@contextmanager
def as_another_account() -> Iterator[None]:
    """Root becomes `nobody` for the block; anyone else is kept out by mode bits alone."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_directory_out_of_reach_is_told_apart_from_one_of_another_account(open_folder: Path) -> None:
    closed = open_folder / "closed"
    (closed / "data").mkdir(parents=True)
    (closed / "data" / "lock").touch(mode=0o600)
    closed.chmod(0)
    with as_another_account(), pytest.raises(ServiceError, match=f"may not enter {closed}"):
        running(at(closed / "data"))
    closed.chmod(0o711)
    (closed / "data").chmod(0o711)
    (closed / "data" / "lock").chmod(0)
    with as_another_account(), pytest.raises(ServiceError, match="belongs to another account"):
        running(at(closed / "data"))


def test_a_database_out_of_reach_is_named(open_folder: Path) -> None:
    (open_folder / "data" / "postgres").mkdir(parents=True)
    (open_folder / "data" / "postgres" / "PG_VERSION").write_text("18")
    (open_folder / "data" / "postgres").chmod(0)
    try:
        with as_another_account(), pytest.raises(ServiceError, match="cannot be reached"):
            locate(at(open_folder / "data"))
    finally:
        (open_folder / "data" / "postgres").chmod(0o700)
