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

from db.named import execute
from pincite.niceness import step_back_like_us

Result = TypeVar("Result")

_TRIES_ON_CONFLICT = 5

# The most connections of one worker process and of the API, and what people, checks and Postgres itself need beside.
WORKER_CONNECTIONS = 3
API_CONNECTIONS = 10
_SPARE_CONNECTIONS = 20

# Classes of SQLSTATE that mean the server and not the statement: connection, resources, operator.
_UNAVAILABLE = ("08", "53", "57P", "58")


def connections_needed(workers: int) -> int:
    """How many connections an installation with so many worker processes may open, beside watcher, sweep and API."""
    return (workers + 2) * WORKER_CONNECTIONS + API_CONNECTIONS + _SPARE_CONNECTIONS


class DatabaseUnavailableError(Exception):
    """Postgres cannot be reached, or gave up on us; trying again later may help."""


class StatementTimeoutError(Exception):
    """A statement took longer than allowed, and Postgres ended it."""


class Database:
    """A pool of connections. Create it in the process that uses it, never before a fork.

    `timeout`: seconds to wait for a connection. `statement_seconds`: how long one statement may take; None: no limit.
    `steps_back`: the server's process for a connection gets this process's nice value, where it is on this machine.
    """

    def __init__(
        self,
        url: str,
        *,
        max_size: int = 4,
        timeout: float = 10,
        statement_seconds: float | None = None,
        steps_back: bool = False,
    ) -> None:
        self._statement_seconds = statement_seconds
        self._steps_back = steps_back
        self._pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            timeout=timeout,
            open=True,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            kwargs={"connect_timeout": 10, "application_name": "pincite"},
        )

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """A connection inside a transaction: committed at the end of the block, rolled back on an exception.

        Raises:
            DatabaseUnavailableError: no connection could be had, or it broke.
            StatementTimeoutError: a statement took longer than `statement_seconds`.
        """
        try:
            with self._pool.connection() as connection:
                yield connection
        except psycopg.errors.QueryCanceled as error:
            raise StatementTimeoutError(str(error).strip()) from error
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed) as error:
            if error.sqlstate is not None and not error.sqlstate.startswith(_UNAVAILABLE):
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

    def _configure(self, connection: Connection[Any]) -> None:
        try:
            register_vector(connection)
        except psycopg.ProgrammingError:
            # A database without our tables: the first query says so, and `pincite migrate` is the answer.
            connection.rollback()
        # Over a socket of this machine the server's process ids are ours too.
        if self._steps_back and connection.info.host.startswith("/"):
            step_back_like_us(connection.info.backend_pid, "postgres")
        if self._statement_seconds is not None:
            execute(connection, "limit_statements", {"milliseconds": str(int(self._statement_seconds * 1000))})
        connection.commit()
