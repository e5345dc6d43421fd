"""The private Valkey after crashes, with a taken port and a damaged file."""

import os
import shutil
from pathlib import Path

import pytest
import redis

from ops.services.installation import (
    make_data_directory,
)
from ops.services.valkey import Valkey
from tests.integration.installations import at

pytestmark = pytest.mark.usefixtures("no_external_services")


def make_directory(path: Path) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def test_valkey_takes_another_port_where_its_own_is_taken(open_folder: Path) -> None:
    settings = at(make_data_directory(at(open_folder / "data")))
    first = Valkey(settings)
    url = first.start()
    second = Valkey(at(make_data_directory(at(open_folder / "copy"))))
    first.stop()
    shutil.copy(open_folder / "data" / "valkey" / "address.json", make_directory(open_folder / "copy" / "valkey"))
    assert second.start() == url
    second.stop()
    assert first.start() == url
    third = Valkey(at(open_folder / "copy"))
    try:
        other = third.start()
        assert other != url
        assert redis.Redis.from_url(other).ping()
    finally:
        third.stop()
        first.stop()


@pytest.mark.parametrize("damage", ["tail", "middle"])
def test_valkey_starts_with_a_damaged_append_only_file(open_folder: Path, damage: str) -> None:
    valkey = Valkey(at(make_data_directory(at(open_folder / "data"))))
    client = redis.Redis.from_url(valkey.start())
    client.set("first", "1" * 100)
    client.set("second", "2" * 100)
    client.close()
    valkey.stop()
    directory = open_folder / "data" / "valkey" / "appendonlydir"
    file = next(directory.glob("*.incr.aof"))
    if damage == "tail":
        os.truncate(file, file.stat().st_size - 20)
    else:
        file.write_bytes(b"garbage" + file.read_bytes()[30:])
    client = redis.Redis.from_url(valkey.start())
    try:
        assert client.get("first") == (b"1" * 100 if damage == "tail" else None)
        assert client.get("second") is None
        assert (directory.with_name("appendonlydir.broken")).exists() is (damage == "middle")
    finally:
        valkey.stop()


def test_a_valkey_left_by_a_crash_is_stopped_first(open_folder: Path) -> None:
    settings = at(make_data_directory(at(open_folder / "data")))
    crashed, heir = Valkey(settings), Valkey(settings)
    url = crashed.start()
    redis.Redis.from_url(url).set("kept", "yes")
    assert heir.start() == url
    try:
        assert not crashed.alive()
        assert redis.Redis.from_url(url).get("kept") == b"yes"
    finally:
        heir.stop()
