"""What a backup says of itself: `manifest.json`, and the check that the files are those it names."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from db.migrate import migrations
from ops.services.errors import ServiceError
from ops.services.programs import POSTGRES_MAJOR

MANIFEST, DUMP, SETTINGS, ORIGINALS = "manifest.json", "database.dump", "settings.env", "originals"
FORMAT = 1


class BackupError(ServiceError):
    """A backup cannot be made or used; the message says why and what to do next."""


@dataclass(frozen=True, slots=True)
class BackedUpFile:
    """A file of the backup by its path in it, with its size in bytes and its SHA-256."""

    path: Annotated[str, Field(pattern=r"^[^\x00]+$")]
    bytes: Annotated[int, Field(strict=True, ge=0)]
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`made_at` is ISO 8601. `migrations` is the state of the schema, `counts` what the database held, by name.

    `missing` are digests that documents name and the store could not give; `digest` is of all the other fields.
    """

    format: Annotated[int, Field(ge=1)]
    pincite: str
    made_at: str
    postgres: str
    migrations: list[str]
    model: str | None
    counts: dict[str, int]
    missing: list[str]
    files: list[BackedUpFile]
    digest: str = ""

    @property
    def bytes(self) -> int:
        """What all files take."""
        return sum(file.bytes for file in self.files)

    def sealed(self) -> str:
        """The JSON text, with the digest filled in."""
        return json.dumps(asdict(self) | {"digest": self.computed_digest()}, indent=1) + "\n"

    def computed_digest(self) -> str:
        """The SHA-256 of everything but the digest."""
        plain = {name: value for name, value in asdict(self).items() if name != "digest"}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def original_path(sha256: str) -> str:
    """Where an original lies in a backup."""
    return f"{ORIGINALS}/{sha256[:2]}/{sha256}"


def read_manifest(backup: Path) -> Manifest:
    """The manifest of a backup that this version can restore.

    Raises:
        BackupError: there is none, this account may not read it, it is damaged, or a newer Pincite or another
            Postgres made the backup.
    """
    try:
        content = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BackupError(
            f"{backup} is no backup: it has no {MANIFEST}. Name the directory that `pincite backup` made."
        ) from error
    except PermissionError as error:
        raise _closed(backup, MANIFEST) from error
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(backup, f"{MANIFEST} cannot be read: {error}") from error
    if isinstance(content, dict) and isinstance(content.get("format"), int) and content["format"] > FORMAT:
        raise _newer(backup, f"its format is {content['format']}, and this version knows up to {FORMAT}")
    manifest = _parsed(backup, content)
    if manifest.digest != manifest.computed_digest():
        raise damaged(backup, f"{MANIFEST} was changed")
    if unknown := sorted(set(manifest.migrations) - set(migrations())):
        raise _newer(backup, f"its database has {', '.join(unknown)}")
    if manifest.postgres.partition(".")[0] != POSTGRES_MAJOR:
        raise _newer(backup, f"its database is of Postgres {manifest.postgres}, and this one runs {POSTGRES_MAJOR}")
    return manifest


def check_files(backup: Path, manifest: Manifest) -> Iterator[BackedUpFile]:
    """Read every file and compare it with the manifest; each is given out once it is seen to be whole.

    Raises:
        BackupError: a file is missing, has other bytes, or may not be read by this account.
    """
    for file in manifest.files:
        path = backup / file.path
        try:
            inside = path.resolve().is_relative_to(backup.resolve())
            found = digest_of(path) if inside else ""
        except PermissionError as error:
            raise _closed(backup, file.path) from error
        except OSError as error:
            raise damaged(backup, f"{file.path}: {error.strerror or error}") from error
        if not inside:
            raise damaged(backup, f"{file.path} lies outside of it")
        if found != file.sha256:
            raise damaged(backup, f"{file.path} has other bytes than when it was made")
        yield file


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in lower-case hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def damaged(backup: Path, what: str) -> BackupError:
    """The problem of a backup that is not whole."""
    return BackupError(f"The backup {backup} is damaged: {what}. Nothing was restored; use another backup.")


def _closed(backup: Path, file: str) -> BackupError:
    return BackupError(
        f"This account may not read {file} of the backup {backup}. Nothing was restored; restore it as the account "
        "that made it, or let this one read all of it."
    )


def _newer(backup: Path, what: str) -> BackupError:
    return BackupError(
        f"The backup {backup} was made by another version of Pincite: {what}. Nothing was restored; "
        "install the version that made it, or a newer one."
    )


def _parsed(backup: Path, content: Any) -> Manifest:
    try:
        return TypeAdapter(Manifest).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise damaged(backup, f"{MANIFEST} is not as it was made ({where}: {first['msg']})") from error
