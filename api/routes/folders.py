"""Folders: their counts, plain ones, and drop folders."""

from typing import Any

from fastapi import APIRouter, Response
from psycopg import Connection

from api.models.folders import Folder, FolderBody, FolderList, folder_of
from api.names import check_permitted, checked_directory, checked_folder
from api.problems import Problem
from api.runtime import Runtime, RuntimeOf
from db import folders

router = APIRouter(prefix="/v1/folders", tags=["folders"])


@router.get("")
def list_folders(runtime: RuntimeOf) -> FolderList:
    """Every folder with its documents by state, its chunks, and its failures by code."""
    return FolderList(folders=runtime.database.run(_listed))


@router.get("/{name}")
def get_folder(name: str, runtime: RuntimeOf) -> Folder:
    """One folder with its documents by state, its chunks, and its failures by code."""
    return find_folder(runtime, name)


@router.post("", status_code=201)
def make_folder(body: FolderBody, response: Response, runtime: RuntimeOf) -> Folder:
    """Make a folder: 201; 200 where it is there already.

    With `path` it is a drop folder: what lies in the directory, on the machine that runs the watcher, is added and
    follows its changes from the next scan on. Only directories below PINCITE_DROP_ROOTS can be named.
    """
    name = checked_folder(body.name)
    path = None if body.path is None else checked_directory(body.path, runtime.settings)
    if path is not None:
        watched = {folder.name: folder.path for folder in runtime.database.run(folders.watched_folders)}
        check_permitted(name, path, runtime.settings, watched)
    if not runtime.database.run(lambda connection: _make(connection, name, path)):
        response.status_code = 200
    return find_folder(runtime, name)


def find_folder(runtime: Runtime, name: str) -> Folder:
    """A folder by name.

    Raises:
        Problem: there is none (404 `unknown_folder`).
    """
    found = runtime.database.run(lambda connection: _listed(connection, name)) if name.isprintable() else []
    if not found:
        raise unknown_folder(name)
    return found[0]


def unknown_folder(name: str) -> Problem:
    """The answer to a folder that does not exist."""
    return Problem(404, "unknown_folder", f"There is no folder {name!r}. `GET /v1/folders` lists those that there are.")


def _listed(connection: Connection[Any], name: str | None = None) -> list[Folder]:
    failures = folders.count_failures(connection, name)
    return [folder_of(details, failures) for details in folders.list_folders(connection, name)]


def _make(connection: Connection[Any], name: str, path: str | None) -> bool:
    """Make the folder; False where it is there as it was asked for."""
    known = folders.list_folders(connection, name)
    if path is None:
        folders.ensure_folder(connection, name)
        return not known
    if known and known[0].path != path and known[0].documents:
        raise Problem(
            409,
            "folder_in_use",
            f"The folder {name!r} already has {known[0].documents} documents from elsewhere, which a drop folder "
            "would remove. Choose another name, or remove them first.",
        )
    folders.watch_folder(connection, name, path)
    return not known or known[0].path != path
