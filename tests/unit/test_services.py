"""The parts of the private services that need no server."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from ops.services.accounts import Account, can_reach, permits
from ops.services.child import Backoff
from ops.services.children import NAMES, children, children_environment
from ops.services.errors import AlreadyRunningError, NotRunningError, ServiceError
from ops.services.installation import connect, open_installation, private_settings, running
from ops.services.leftovers import Run, end_leftovers
from ops.services.processes import LOG_BYTES, Identity, log_tail, open_log
from ops.services.record import Record, read_record, update_record, write_private
from ops.services.valkey import Address, configuration, free_port, port_is_free
from pincite.settings import Settings

DATABASE, BROKER = "postgresql://u@h/d", "redis://:p@h:1/0"


def settings(data: Path, **values: object) -> Settings:
    return Settings.model_validate({"data": data, **values})


@pytest.mark.parametrize(
    ("mode", "bits", "allowed"), [(0o711, 1, True), (0o700, 1, False), (0o710, 1, False), (0o704, 5, False)]
)
def test_other_accounts_get_the_last_three_bits(tmp_path: Path, mode: int, bits: int, allowed: bool) -> None:
    tmp_path.chmod(mode)
    stranger = Account("stranger", os.getuid() + 7, tmp_path.stat().st_gid + 7)
    assert permits(tmp_path, stranger, bits) is allowed


def test_the_owner_and_the_group_get_their_own_bits(tmp_path: Path) -> None:
    tmp_path.chmod(0o710)
    status = tmp_path.stat()
    assert permits(tmp_path, Account("member", status.st_uid + 7, status.st_gid), 1)
    assert not permits(tmp_path, Account("member", status.st_uid + 7, status.st_gid), 4)
    tmp_path.chmod(0o077)  # the owner is not helped by what others may do
    assert not permits(tmp_path, Account("owner", status.st_uid, status.st_gid), 1)


def test_one_closed_parent_is_enough_to_be_out_of_reach(tmp_path: Path) -> None:
    inner = tmp_path / "closed" / "open"
    inner.mkdir(parents=True)
    inner.chmod(0o777)
    (tmp_path / "closed").chmod(0o700)
    assert not can_reach(inner, Account("stranger", os.getuid() + 7, inner.stat().st_gid + 7))


def test_restarts_back_off_and_a_long_life_forgives() -> None:
    backoff = Backoff()
    assert [backoff.after(lived=30) for _ in range(7)] == [0.5, 1, 2, 4, 8, 10, 10]
    assert not backoff.broken
    assert backoff.after(lived=61) == 0.5


def test_what_ends_at_once_again_and_again_is_broken_and_tried_slowly() -> None:
    backoff = Backoff()
    assert [backoff.after(lived=1) for _ in range(4)] == [0.5, 1, 2, 4]
    assert not backoff.broken
    assert [backoff.after(lived=1) for _ in range(5)] == [8, 16, 32, 60, 60]
    assert backoff.broken
    assert backoff.after(lived=30) == 10
    assert not backoff.broken


def test_valkey_configuration_is_closed_and_durable(tmp_path: Path) -> None:
    directory = tmp_path / 'a "quoted" name'
    lines = configuration(directory, Address(7777, "secret")).splitlines()
    assert 'requirepass "secret"' in lines
    assert {"bind 127.0.0.1", "protected-mode yes", "port 7777", "maxmemory-policy noeviction"} <= set(lines)
    assert {"appendonly yes", "appendfsync everysec", "aof-load-truncated yes"} <= set(lines)
    assert f'dir "{tmp_path}/a \\"quoted\\" name"' in lines


def test_a_free_port_is_free() -> None:
    assert port_is_free("127.0.0.1", free_port("127.0.0.1"))


def test_the_record_is_private_whole_and_keeps_other_fields(tmp_path: Path) -> None:
    assert read_record(tmp_path) == Record()
    update_record(tmp_path, cluster="/c")
    update_record(tmp_path, api_url="http://a")
    assert read_record(tmp_path) == Record(cluster="/c", api_url="http://a")
    assert stat.S_IMODE((tmp_path / "services.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["services.json"]


def test_an_unreadable_record_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "services.json").write_text("{")
    with pytest.raises(ServiceError, match="restore the file"):
        read_record(tmp_path)


def test_private_files_never_follow_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("untouched")
    link.symlink_to(target)
    write_private(link, "new")
    assert target.read_text() == "untouched"
    assert link.read_text() == "new"
    assert not link.is_symlink()


def test_logs_are_private_and_bounded(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "x.log"
    with open_log(log) as file:
        file.write(b"one\ntwo\nthree\n")
    assert log_tail(log, lines=2) == "two\nthree"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    os.truncate(log, LOG_BYTES + 1)
    open_log(log).close()
    assert log.stat().st_size == 0
    assert log.with_name("x.log.1").stat().st_size == LOG_BYTES + 1


def test_a_pid_with_another_start_time_is_another_process() -> None:
    me = Identity.of(os.getpid())
    assert me is not None
    assert me.process() is not None
    assert Identity(me.pid, me.created - 100).process() is None


def test_leftovers_of_a_living_supervisor_are_not_touched(tmp_path: Path) -> None:
    me = Identity.of(os.getpid())
    assert me is not None
    Run(tmp_path, "token", me).record({})
    with pytest.raises(AlreadyRunningError, match=str(me.pid)):
        end_leftovers(tmp_path)


def test_leftovers_of_a_copied_data_directory_are_not_ours(tmp_path: Path) -> None:
    me = Identity.of(os.getpid())
    assert me is not None
    Run(tmp_path, "token", me).record({})
    content = json.loads((tmp_path / "children.json").read_text())
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "children.json").write_text(json.dumps(content))
    assert end_leftovers(copy) == 0


def test_nothing_runs_on_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)
    assert running(settings(tmp_path)) is None
    with pytest.raises(NotRunningError) as caught:
        connect(settings(tmp_path / "none"))
    missing = tmp_path / "none"
    assert str(caught.value) == (f"Pincite is not running for {missing}: start it with `pincite up --data {missing}`")


def test_external_addresses_are_used_as_they_are(tmp_path: Path) -> None:
    external = settings(tmp_path, database_url=DATABASE, broker_url=BROKER)
    assert connect(external) is external


def test_children_see_every_setting_that_was_set(tmp_path: Path) -> None:
    given = settings(tmp_path, database_url=DATABASE, broker_url=BROKER, port=9000, low_confidence=0.5)
    environment = children_environment(given)
    assert environment["DATABASE_URL"] == DATABASE
    assert environment["CELERY_BROKER_URL"] == BROKER
    assert environment["PINCITE_DATA"] == str(tmp_path)
    assert environment["PINCITE_PORT"] == "9000"
    assert environment["PINCITE_ORIGINALS_URL"] == str(tmp_path / "originals")
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["TMPDIR"] == str(tmp_path / "tmp")
    # Tesseract gets its own limit; this one would hold the model to a single thread as well.
    assert "OMP_THREAD_LIMIT" not in environment


def test_temporary_files_of_a_killed_run_go_with_the_next_start(tmp_path: Path) -> None:
    given = settings(tmp_path, database_url=DATABASE, broker_url=BROKER)
    left = tmp_path / "tmp" / "pymp-left" / "file"
    left.parent.mkdir(parents=True)
    left.write_text("of a worker that was killed")
    with open_installation(given):
        assert list((tmp_path / "tmp").iterdir()) == []
        assert stat.S_IMODE((tmp_path / "tmp").stat().st_mode) == 0o700
        left.parent.mkdir()
    assert not (tmp_path / "tmp").exists()


def test_children_read_back_the_same_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(tmp_path, database_url=DATABASE, broker_url=BROKER, host="::1", settle_seconds=0.5)
    for name, value in children_environment(given).items():
        monkeypatch.setenv(name, value)
    read = Settings()
    assert (read.host, read.settle_seconds, read.data) == ("::1", 0.5, tmp_path)
    assert (read.database, read.broker) == (DATABASE, BROKER)


def test_paths_hold_where_the_children_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "lib::/opt/lib")
    monkeypatch.setenv("TESSDATA_PREFIX", "words")
    monkeypatch.setenv("PINCITE_TESSDATA", "tessdata")
    monkeypatch.setenv("PINCITE_ORIGINALS_URL", "kept")
    environment = children_environment(settings(Path("data"), database_url=DATABASE, broker_url=BROKER))
    assert environment["PINCITE_DATA"] == str(tmp_path / "data")
    assert environment["PINCITE_TESSDATA"] == str(tmp_path / "tessdata")
    assert environment["PINCITE_ORIGINALS_URL"] == str(tmp_path / "kept")
    assert environment["PYTHONPATH"] == f"{tmp_path / 'lib'}:/opt/lib"
    assert environment["TESSDATA_PREFIX"] == str(tmp_path / "words")
    assert environment["PYTHONSAFEPATH"] == "1"


def test_the_table_of_children(tmp_path: Path) -> None:
    given = settings(tmp_path, database_url=DATABASE, broker_url=BROKER, extract_workers=3, worker_nice=7)
    table = {child.name: child for child in children(given)}
    assert list(table) == list(NAMES) == ["extract", "ocr", "embed", "sweep", "dropfolder", "api"]
    assert table["extract"].argv[0] == sys.executable
    assert list(table["extract"].argv)[table["extract"].argv.index("-c") + 1] == "3"
    assert (table["extract"].nice, table["api"].nice) == (7, 0)
    assert {"-B", "solo", str(tmp_path / "beat-schedule")} <= set(table["sweep"].argv)


def test_private_services_are_private_whatever_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", DATABASE)
    monkeypatch.setenv("CELERY_BROKER_URL", BROKER)
    monkeypatch.setenv("PINCITE_ORIGINALS_URL", "s3://bucket")
    monkeypatch.setenv("PINCITE_FUSION", "plain")
    here = private_settings(tmp_path, port=0)
    assert (here.database_url, here.broker_url, here.originals_url) == (None, None, None)
    assert (here.data, here.port, here.fusion) == (tmp_path, 0, "plain")
