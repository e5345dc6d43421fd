"""What the tests of private installations ask of them."""

from pathlib import Path

import psycopg
import redis

from pincite.settings import Settings


def at(data: Path) -> Settings:
    return Settings(data=data)


def rows(settings: Settings) -> int:
    """Add a row to a table of our own; how many there are now."""
    with psycopg.connect(settings.database) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (n integer)")
        connection.execute("INSERT INTO kept VALUES (1)")
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def broker(settings: Settings) -> redis.Redis:
    return redis.Redis.from_url(settings.broker, socket_timeout=5)


def modes(path: Path) -> dict[Path, tuple[int, int, int]]:
    return {
        one: (status.st_mode, status.st_uid, status.st_gid) for one in (path, *path.parents) if (status := one.stat())
    }
