"""`pincite failed`: what failed, why, and what can be done."""

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.options import CodeOption, DataOption, FolderOption, JsonOption, checked_code, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.documents import DocumentDetails

LimitOption = Annotated[
    int, typer.Option("--limit", min=1, metavar="N", help="The most documents to list for each code; JSON has all.")
]


def failed(
    data: DataOption = None,
    folder: FolderOption = None,
    code: CodeOption = None,
    limit: LimitOption = 50,
    json: JsonOption = False,
) -> None:
    """List failed documents by reason, with what to do about each."""
    from ops.cli.connection import connected
    from ops.cli.documents import all_failed, check_folder
    from ops.cli.output import print_json, say

    code = checked_code(code)
    with connected(load_settings(data)) as here:
        check_folder(here.database, folder)
        documents = all_failed(here.database, folder, code)
    groups = by_code(documents)
    if json:
        print_json({"failed": len(documents), "codes": [_group_json(name, group) for name, group in groups]})
    elif not groups:
        say("No document has failed.")
    for number, (name, group) in enumerate([] if json else groups):
        _print_group(name, group, limit, first=number == 0)


def by_code(documents: "Sequence[DocumentDetails]") -> "list[tuple[str, list[DocumentDetails]]]":
    """Failed documents in groups of one code, the largest first."""

    def code_of(document: "DocumentDetails") -> str:
        return document.failure_code or ""

    groups = [(code, list(group)) for code, group in groupby(sorted(documents, key=code_of), code_of)]
    return sorted(groups, key=lambda group: (-len(group[1]), group[0]))


def _group_json(code: str, documents: "Sequence[DocumentDetails]") -> dict[str, Any]:
    from ops.cli.documents import document_json
    from pincite.failures import FAILURES, FailureCode

    kind = FAILURES[FailureCode(code)]
    return {
        "code": code,
        "meaning": kind.meaning,
        "permanent": kind.permanent,
        "next_action": kind.next_action,
        "documents": [document_json(document) for document in documents],
    }


def _print_group(code: str, documents: "Sequence[DocumentDetails]", limit: int, *, first: bool) -> None:
    from ops.cli.output import many, moment, print_table, tell
    from pincite.failures import FAILURES, FailureCode

    kind = FAILURES[FailureCode(code)]
    if not first:
        tell()
    tell(f"{code}: {many(len(documents), 'document')}. {kind.meaning}")
    tell(f"Next: {kind.next_action}")
    rows = [
        (
            document.id,
            f"{document.folder}: {document.path}",
            detail(document),
            document.attempts,
            moment(document.failed_at),
        )
        for document in documents[:limit]
    ]
    print_table(["id", "document", "what was seen", "attempts", "when"], rows, numbers=["id", "attempts"])
    if len(documents) > limit:
        tell(f"... and {len(documents) - limit} more: use --limit, or --json for all.")


def detail(document: "DocumentDetails") -> str:
    """What the message says of this document; the meaning of its code where it says no more than that."""
    return seen(document.failure_code or "", document.failure_message or "")


def seen(code: str, message: str) -> str:
    """What a failure's message says beyond its code; the meaning of the code where it says no more than that."""
    from pincite.failures import FAILURES, FailureCode

    kind = FAILURES[FailureCode(code)]
    return message.removeprefix(kind.meaning).removesuffix(kind.next_action).strip() or kind.meaning
