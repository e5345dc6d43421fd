"""Where exceptions become one clear line for the user and an exit code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from ops.cli.options import UsageProblem


class ExitCode(IntEnum):
    """What the exit codes of `pincite` mean."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_RUNNING = 3
    UNAVAILABLE = 4
    WORSE = 5
    INTERRUPTED = 130
    NOBODY_READS = 141


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong and what to do next, in the user's words."""

    text: str
    exit_code: ExitCode


class CommandFailed(Exception):
    """The command could not do what it was asked to; the message says what to do next."""


class Border(TyperGroup):
    """The group of all commands. No expected error passes it as a traceback."""

    def invoke(self, ctx: Any) -> Any:
        with translated():
            return super().invoke(ctx)


@contextmanager
def translated() -> Iterator[None]:
    """Turn expected exceptions of the block into a line on standard error and an exit code.

    Raises:
        typer.Exit: with the code.
    """
    try:
        yield
    except KeyboardInterrupt:
        from ops.cli.output import say

        say("Interrupted.")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        from ops.cli.output import give_up

        give_up(sys.stdout)  # as in `pincite show 2 | head -1`
        raise typer.Exit(ExitCode.NOBODY_READS) from None
    except Exception as error:
        problem = describe(error)
        if problem is None:
            raise
        from ops.cli.output import say

        say(problem.text)
        raise typer.Exit(problem.exit_code) from None


def describe(error: Exception) -> Problem | None:
    """The problem that an exception stands for; None for one that nobody foresaw."""
    match error:
        case UsageProblem():
            return Problem(str(error), ExitCode.USAGE)
        case CommandFailed():
            return Problem(str(error), ExitCode.FAILED)
    return _describe_settings(error) or _describe_service(error) or _describe_store(error)


def _describe_settings(error: Exception) -> Problem | None:
    from pydantic import ValidationError
    from pydantic_settings import SettingsError as UnreadableSettings

    from pincite.settings import SettingsError

    match error:
        case SettingsError():
            return Problem(str(error), ExitCode.USAGE)
        case ValidationError():
            return Problem(f"The settings are wrong. {_wrong_settings(error)}", ExitCode.USAGE)
        case UnreadableSettings():
            return Problem(f"The settings cannot be read: {error}. Check the environment and .env.", ExitCode.USAGE)
    return None


def _wrong_settings(error: Any) -> str:
    lines = []
    for item in error.errors(include_url=False, include_context=False):
        name = str(item["loc"][0]) if item["loc"] else ""
        variable = name if name.isupper() or not name else f"PINCITE_{name.upper()}"
        message = str(item["msg"]).removeprefix("Value error, ")
        lines.append(f"{variable}: {message}" if variable else message)
    return f"{'; '.join(lines)}. Correct this in the environment or in .env."


def _describe_service(error: Exception) -> Problem | None:
    from ops.services.errors import NotRunningError, ServiceError

    match error:
        case NotRunningError():
            return Problem(f"{str(error).rstrip('.')}.", ExitCode.NOT_RUNNING)
        case ServiceError():
            return Problem(str(error), ExitCode.UNAVAILABLE)
    return None


def _describe_store(error: Exception) -> Problem | None:
    from psycopg.errors import UndefinedColumn, UndefinedTable

    from db.connect import DatabaseUnavailableError
    from db.migrate import MigrationError
    from db.stamps import StampMismatchError
    from pincite.doorbell import BrokerUnavailableError
    from pincite.failures import DocumentFailure
    from pincite.originals import OriginalsUnavailableError

    unavailable: dict[type[Exception] | tuple[type[Exception], ...], str] = {
        DatabaseUnavailableError: f"The database does not answer: {error}. `pincite doctor` shows what is wrong.",
        BrokerUnavailableError: f"The broker does not answer: {error}. `pincite doctor` shows what is wrong.",
        OriginalsUnavailableError: f"The store of originals cannot be used: {error}. See `pincite doctor`.",
        (UndefinedTable, UndefinedColumn): "The database has not the tables of this Pincite: run `pincite migrate`.",
    }
    for kinds, text in unavailable.items():
        if isinstance(error, kinds):
            return Problem(text, ExitCode.UNAVAILABLE)
    if isinstance(error, MigrationError | StampMismatchError):
        return Problem(str(error), ExitCode.FAILED)
    return Problem(error.message, ExitCode.FAILED) if isinstance(error, DocumentFailure) else None
