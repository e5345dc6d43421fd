"""The operating-system account that runs Postgres, and which folders it can reach.

Postgres refuses to run as root. Pincite never makes an account, and never changes a folder that it did not make.
"""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from ops.services.errors import ServiceError
from pincite.settings import Settings

CANDIDATES = ("pincite", "postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """An existing account. `uid` and `gid` are numbers of the operating system."""

    name: str
    uid: int
    gid: int


def is_root() -> bool:
    return os.geteuid() == 0


def account_of(uid: int) -> Account:
    """The account with this number.

    Raises:
        ServiceError: the number has no entry in the password database.
    """
    try:
        entry = pwd.getpwuid(uid)
    except KeyError as error:
        raise ServiceError(
            f"User id {uid} has no entry in /etc/passwd, and Postgres does not run without one. "
            "Add the entry, or set DATABASE_URL to a Postgres of your own."
        ) from error
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def service_account(settings: Settings) -> Account:
    """Who runs Postgres: oneself, or, for root, `service_user` or the first of pincite, postgres, nobody.

    Raises:
        ServiceError: there is no such account, or it is root.
    """
    if not is_root():
        return account_of(os.geteuid())
    names = (settings.service_user,) if settings.service_user else CANDIDATES
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ServiceError(
        f"Postgres does not run as root, and no ordinary account was found ({', '.join(names)}). "
        "Name an existing one in PINCITE_SERVICE_USER, or set DATABASE_URL to a Postgres of your own."
    )


def permits(path: Path, account: Account, bits: int) -> bool:
    """Whether the mode of `path` gives `account` the permissions `bits` (4 read, 2 write, 1 enter or execute)."""
    status = path.stat()
    shift = 6 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 0
    return (status.st_mode >> shift) & bits == bits


def can_reach(path: Path, account: Account, bits: int = 1) -> bool:
    """Whether `account` can enter every folder above `path` and has `bits` on `path` itself."""
    resolved = path.resolve()
    return all(permits(parent, account, 1) for parent in resolved.parents) and permits(resolved, account, bits)
