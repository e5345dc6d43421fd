"""The record of one installation: `services.json` in its data directory, written whole or not at all."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ops.services.errors import ServiceError

NAME = "services.json"


@dataclass(frozen=True, slots=True)
class Record:
    """What another terminal, or the next start, has to know.

    The addresses hold only while the installation's lock is held. `cluster`, `socket_directory` and
    `state_directory` are set only where they lie outside the data directory. `restoring` names the backup whose
    restore has begun and not ended. `stopped_in_order` says how the last `pincite up` ended: False while it runs.
    """

    supervisor_pid: int | None = None
    database_url: str | None = None
    broker_url: str | None = None
    api_url: str | None = None
    cluster: str | None = None
    socket_directory: str | None = None
    state_directory: str | None = None
    restoring: str | None = None
    stopped_in_order: bool | None = None


def read_record(data: Path) -> Record:
    """The record of this data directory; an empty one where none was written yet.

    Raises:
        ServiceError: the file cannot be read or is not a record.
    """
    path = data / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Record()
    except (OSError, ValueError) as error:
        raise ServiceError(
            f"{path} cannot be read ({error}). Run as the account that owns it, or restore the file; "
            "it says where the database of this installation lies."
        ) from error
    known = {field.name for field in fields(Record)}
    return Record(**{name: value for name, value in content.items() if name in known})


def update_record(data: Path, **changes: Any) -> Record:
    """Change fields of the record. Only the holder of the installation's lock may call this."""
    record = replace(read_record(data), **changes)
    write_private(data / NAME, json.dumps(asdict(record), indent=2) + "\n")
    return record


def write_private(path: Path, text: str, owner: tuple[int, int] | None = None) -> None:
    """Write a file of mode 0600, atomically, never through a symbolic link; `owner` is (uid, gid)."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if owner is not None:
                os.fchown(file.fileno(), *owner)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
