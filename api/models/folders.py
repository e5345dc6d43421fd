"""Folders as the API shows them."""

from datetime import datetime

from pydantic import BaseModel


class FailureCount(BaseModel):
    """How many documents of a folder failed with one code, what it means and what to do."""

    code: str
    documents: int
    message: str
    permanent: bool
    next_action: str


class Folder(BaseModel):
    """A folder with its counts. `path` is the directory that a drop folder mirrors."""

    name: str
    path: str | None
    watch_note: str | None
    scanned_at: datetime | None
    documents: int
    states: dict[str, int]
    chunks: int
    bytes: int
    failures: list[FailureCount]


class FolderList(BaseModel):
    """All folders."""

    folders: list[Folder]


class FolderBody(BaseModel):
    """A drop folder: a name, and the absolute path of the directory that it mirrors."""

    name: str
    path: str
