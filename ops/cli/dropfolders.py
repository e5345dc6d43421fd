"""Registering the drop folders of `pincite up`, with everything refused that would lose or double documents."""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from api.names import checked_directory
from api.problems import Problem
from db.connect import Database
from db.folders import folder_ids, known_files, list_folders, watch_folder, watched_folders
from ops.cli.connection import resolved
from ops.cli.options import UsageProblem
from ops.cli.sources import checked_folder, is_readable_directory
from pincite.settings import Settings


@dataclass(frozen=True, slots=True)
class DropFolder:
    """A directory that is kept in step, and the folder's name."""

    name: str
    directory: Path


def checked_drops(directories: Sequence[Path], settings: Settings) -> list[DropFolder]:
    """The drop folders that the directories stand for.

    Raises:
        UsageProblem: one does not exist or cannot be read, has no usable name, holds Pincite's own data, or two of
            them share a name.
    """
    drops: dict[str, DropFolder] = {}
    for given in directories:
        directory = resolved(given)
        if not is_readable_directory(directory):
            raise UsageProblem(f"--drop {given}: {_unusable(directory)}")
        try:
            checked_directory(str(directory), settings)
        except Problem as problem:
            # The API's example is the path of a document.
            what = str(problem.detail).partition(" Give another")[0]
            raise UsageProblem(f"--drop {given}: {what} Name a directory of documents, such as ~/papers.") from problem
        drop = DropFolder(checked_folder(directory.name), directory)
        other = drops.setdefault(drop.name, drop)
        if other.directory != directory:
            raise UsageProblem(
                f"--drop: {other.directory} and {directory} would both be the folder {drop.name!r}. Rename one of them."
            )
    _refuse_overlap(list(drops.values()))
    return list(drops.values())


def _refuse_overlap(drops: Sequence[DropFolder]) -> None:
    """Files below two drop folders would be indexed twice, and found twice in every answer."""
    for inner, outer in permutations(drops, 2):
        if inner.name != outer.name and inner.directory.is_relative_to(outer.directory):
            raise UsageProblem(
                f"--drop: {inner.directory} lies in {outer.directory}, which is the drop folder {outer.name!r}: its "
                "files would be indexed twice. Name one of them, or give one up with `pincite remove --folder NAME`."
            )


def _unusable(directory: Path) -> str:
    try:
        mode = directory.stat().st_mode
    except FileNotFoundError:
        return "the directory does not exist. Make it first, or name another."
    except OSError as error:
        return f"the directory cannot be reached: {error.strerror}. Name another, or run as an account that may."
    if not stat.S_ISDIR(mode):
        return "this is a file, not a directory. Name the directory it lies in, or add it with `pincite ingest`."
    return "this account cannot read the directory. Let it, or name another."


def register(database: Database, drops: Sequence[DropFolder]) -> None:
    """Make each directory a drop folder.

    Raises:
        UsageProblem: the name belongs to another directory, or to a folder with documents that would be lost.
    """
    _refuse_overlap([*registered(database), *drops])
    for drop in drops:
        found = database.run(lambda connection, name=drop.name: list_folders(connection, name))  # type: ignore[misc]
        if found and found[0].path is not None and found[0].path != str(drop.directory):
            raise UsageProblem(
                f"The folder {drop.name!r} is kept in step with {found[0].path}, not with {drop.directory}. Rename the "
                f"new directory, or give the old one up with `pincite remove --folder {drop.name}`."
            )
        if found and found[0].path is None:
            _refuse_loss(database, drop)
    for drop in drops:
        database.run(lambda connection, drop=drop: watch_folder(connection, drop.name, str(drop.directory)))  # type: ignore[misc]


def registered(database: Database) -> list[DropFolder]:
    """All drop folders, also those of earlier runs."""
    return [DropFolder(folder.name, Path(folder.path)) for folder in database.run(watched_folders)]


def _refuse_loss(database: Database, drop: DropFolder) -> None:
    """The watcher removes documents whose file is not in the directory; uploads of the same name would go."""
    folder_id = database.run(lambda connection: folder_ids(connection, [drop.name]))[drop.name]
    files = database.run(lambda connection: known_files(connection, folder_id))
    lost = [file.path for file in files if not file.removed and not (drop.directory / file.path).exists()]
    if lost:
        raise UsageProblem(
            f"There is a folder {drop.name!r} already, with {len(lost)} documents that are not in {drop.directory} "
            f"(such as {lost[0]!r}); they would be removed. Rename the directory, or remove the folder first with "
            f"`pincite remove --folder {drop.name}`."
        )
