"""Connections: one pool per process, and the one border where driver errors become ours."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

Result = TypeVar("Result")

_TRIES_ON_CONFLICT = 5


class DatabaseUnavailableError(Exception):
    """Postgres cannot be reached, or gave up on us; trying again later may help."""


class Database:
    """A pool of connections. Create it in the process that uses it, never before a fork."""

    def __init__(self, url: str, *, max_size: int = 4, timeout: float = 10) -> None:
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            timeout=timeout,
            open=True,
            configure=_configure,
            check=ConnectionPool.check_connection,
            kwargs={"connect_timeout": 10, "application_name": "pincite"},
        )

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """A connection inside a transaction: committed at the end of the block, rolled back on an exception.

        Raises:
            DatabaseUnavailableError: no connection could be had, or it broke.
        """
        try:
            with self._pool.connection() as connection:
                yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed) as error:
            if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
                raise
            raise DatabaseUnavailableError(str(error).strip()) from error

    def run(self, work: Callable[[Connection[Any]], Result]) -> Result:
        """Run `work` in one transaction, and again from the start where Postgres broke a deadlock.

        Raises:
            DatabaseUnavailableError: no connection could be had, or it broke.
        """
        for attempt in range(_TRIES_ON_CONFLICT):
            try:
                with self.transaction() as connection:
                    return work(connection)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure) as error:
                if attempt + 1 == _TRIES_ON_CONFLICT:
                    raise DatabaseUnavailableError(str(error).strip()) from error
                time.sleep(random.uniform(0.01, 0.1) * (attempt + 1))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()


def _configure(connection: Connection[Any]) -> None:
    register_vector(connection)
    connection.commit()
