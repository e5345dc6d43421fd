"""Folders: their counts, and drop folders."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from api.models.folders import FailureCount, Folder, FolderBody, FolderList
from api.names import checked_directory, checked_folder
from api.problems import Problem
from api.runtime import Runtime, runtime_of
from db import folders
from pincite.documents import State
from pincite.failures import FAILURES, FailureCode

router = APIRouter(prefix="/v1/folders", tags=["folders"])

RuntimeOf = Annotated[Runtime, Depends(runtime_of)]


@router.get("")
def list_folders(runtime: RuntimeOf) -> FolderList:
    """Every folder with its documents by state, its chunks, and its failures by code."""
    with runtime.database.transaction() as connection:
        found = folders.list_folders(connection)
        failures = folders.count_failures(connection)
    return FolderList(folders=[_folder(details, failures) for details in found])


@router.get("/{name}")
def get_folder(name: str, runtime: RuntimeOf) -> Folder:
    """One folder with its documents by state, its chunks, and its failures by code."""
    return find_folder(runtime, name)


@router.post("", status_code=201)
def watch_folder(body: FolderBody, response: Response, runtime: RuntimeOf) -> Folder:
    """Make a drop folder: what lies in the directory is added, and follows its changes.

    The directory must exist on the machine that runs the watcher; the watcher begins at its next scan.
    """
    name = checked_folder(body.name)
    path = checked_directory(body.path, runtime.settings)
    with runtime.database.transaction() as connection:
        known = folders.list_folders(connection, name)
        if known and known[0].path != path and known[0].documents:
            raise Problem(
                409,
                "folder_in_use",
                f"The folder {name!r} already has {known[0].documents} documents from elsewhere, which a drop folder "
                "would remove. Choose another name, or remove them first.",
            )
        folders.watch_folder(connection, name, path)
    if known and known[0].path == path:
        response.status_code = 200
    return find_folder(runtime, name)


def find_folder(runtime: Runtime, name: str) -> Folder:
    """A folder by name.

    Raises:
        Problem: there is none (404 `unknown_folder`).
    """
    with runtime.database.transaction() as connection:
        found = folders.list_folders(connection, name) if name.isprintable() else []
        failures = folders.count_failures(connection, name) if found else []
    if not found:
        raise unknown_folder(name)
    return _folder(found[0], failures)


def unknown_folder(name: str) -> Problem:
    """The answer to a folder that does not exist."""
    return Problem(404, "unknown_folder", f"There is no folder {name!r}. `GET /v1/folders` lists those that there are.")


def _folder(details: folders.FolderDetails, failures: Sequence[folders.FailureCount]) -> Folder:
    return Folder(
        name=details.name,
        path=details.path,
        watch_note=details.watch_note,
        scanned_at=details.scanned_at,
        documents=details.documents,
        states={state.value: getattr(details, state.value) for state in State},
        chunks=details.chunks,
        bytes=details.bytes,
        failures=[_failure(count) for count in failures if count.folder == details.name],
    )


def _failure(count: folders.FailureCount) -> FailureCount:
    kind = FAILURES[FailureCode(count.code)]
    return FailureCount(
        code=count.code,
        documents=count.documents,
        message=kind.meaning,
        permanent=kind.permanent,
        next_action=kind.next_action,
    )
