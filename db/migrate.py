"""Bring a database to the current schema: numbered files of db/migrations/, each once, each in its own transaction."""

from importlib import resources
from typing import Any

import psycopg
from psycopg import Connection

from db.connect import DatabaseUnavailableError
from db.named import statement

_LOCK = 0x70696E63697465  # "pincite": one migrator at a time


class MigrationError(Exception):
    """The database has migrations that this version of Pincite does not know."""


def migrations() -> dict[str, str]:
    """The SQL of every migration by name, in order."""
    files = [f for f in resources.files("db").joinpath("migrations").iterdir() if f.name.endswith(".sql")]
    return {f.name.removesuffix(".sql"): f.read_text(encoding="utf-8") for f in sorted(files, key=lambda f: f.name)}


def applied_migrations(connection: Connection[Any]) -> list[str]:
    """The names of the migrations that this database has, in order; none where it has not even their table."""
    try:
        with connection.transaction():
            return sorted(name for (name,) in connection.execute(statement("applied_migrations")).fetchall())
    except psycopg.errors.UndefinedTable:
        return []


def migrate(url: str) -> list[str]:
    """Apply what is missing and give the names of what was applied.

    Raises:
        MigrationError: the database is newer than this code.
        DatabaseUnavailableError: Postgres cannot be reached.
    """
    known = migrations()
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            connection.execute(statement("lock_migrations"), {"key": _LOCK})
            connection.execute(statement("create_migrations_table"))
            applied = set(applied_migrations(connection))
            if unknown := applied - set(known):
                raise MigrationError(
                    f"The database was made by a newer Pincite (it has {', '.join(sorted(unknown))}). "
                    "Install that version or use another database."
                )
            missing = [name for name in known if name not in applied]
            for name in missing:
                with connection.transaction():
                    connection.execute(known[name].encode())
                    connection.execute(statement("record_migration"), {"name": name})
            return missing
    except psycopg.OperationalError as error:
        raise DatabaseUnavailableError(str(error).strip()) from error
