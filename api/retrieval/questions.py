"""What can be asked: the request of a search, and how a query is made clean."""

import re
from dataclasses import dataclass
from enum import StrEnum

LONGEST_QUERY = 10_000  # characters
MOST_HITS = 100

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # what no document can hold: NUL, lone surrogates


class QueryError(ValueError):
    """The question cannot be searched for; `code` is stable and the message says what to change."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class UnknownFolderError(LookupError):
    """A search names folders that do not exist."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        listed = ", ".join(repr(name) for name in names)
        super().__init__(f"There is no folder {listed}. `GET /v1/folders` lists those that there are.")


class Mode(StrEnum):
    """Which legs of a search run."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search. `folders` None means all of them; `limit` (1 to 100) is the most hits to give back.

    `rerank` None does as the settings say.
    """

    query: str
    folders: tuple[str, ...] | None = None
    limit: int = 10
    mode: Mode = Mode.HYBRID
    rerank: bool | None = None


def clean_query(text: str) -> str:
    """The query without what no document can hold (NUL, lone surrogates), and without space around it.

    Raises:
        QueryError: nothing is left (`empty_query`), or it has more than 10,000 characters (`query_too_long`).
    """
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            "query_too_long",
            f"The question has {len(text):,} characters; at most {LONGEST_QUERY:,} are searched for. Shorten it.",
        )
    query = UNSTORABLE.sub("", text).strip()
    if not query:
        raise QueryError("empty_query", "The question is empty. Ask for something with at least one visible character.")
    return query


def check_request(request: SearchRequest) -> None:
    """See that the limit and the folders make sense.

    Raises:
        QueryError: they do not (`bad_request`).
    """
    if not 1 <= request.limit <= MOST_HITS:
        raise QueryError("bad_request", f"limit is {request.limit}; it must lie between 1 and {MOST_HITS}.")
    if request.folders is not None and not request.folders:
        raise QueryError("bad_request", "folders is an empty list. Name a folder, or leave it out to search them all.")
