"""The closed list of reasons for which a document can fail.

Each reason has a stable code, says whether trying again by itself can help, and tells the user what to do next.
"""

from dataclasses import dataclass
from enum import StrEnum


class FailureCode(StrEnum):
    """Stable names: stored in the database, given out by the API, used by `pincite retry --code`."""

    UNSUPPORTED_TYPE = "unsupported_type"
    EMPTY_FILE = "empty_file"
    NO_TEXT = "no_text"
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    TOO_LARGE = "too_large"
    EXTRACT_TIMEOUT = "extract_timeout"
    OUT_OF_MEMORY = "out_of_memory"
    WORKER_LOST = "worker_lost"
    OCR_UNAVAILABLE = "ocr_unavailable"
    OCR_FAILED = "ocr_failed"
    READ_ERROR = "read_error"
    MODEL_UNAVAILABLE = "model_unavailable"
    DATABASE_UNAVAILABLE = "database_unavailable"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class FailureKind:
    """What a code means. `permanent`: the same bytes will fail the same way, so no automatic retry."""

    meaning: str
    permanent: bool
    next_action: str


FAILURES: dict[FailureCode, FailureKind] = {
    FailureCode.UNSUPPORTED_TYPE: FailureKind(
        "Pincite does not read this type of file.",
        True,
        "Convert it to PDF, HTML or text and add it again.",
    ),
    FailureCode.EMPTY_FILE: FailureKind(
        "The file has no bytes.",
        True,
        "Check the source: the copy may have been cut short. Then add the file again.",
    ),
    FailureCode.NO_TEXT: FailureKind(
        "No text was found, neither in the file nor by OCR.",
        True,
        "Check that it shows readable text; for a scan in another language, set PINCITE_OCR_LANGUAGES and retry.",
    ),
    FailureCode.ENCRYPTED: FailureKind(
        "The file is protected by a password.",
        True,
        "Save a copy without the password and add that.",
    ),
    FailureCode.CORRUPT: FailureKind(
        "The file is damaged and cannot be read.",
        True,
        "If the message names no better step, open it in its own program, save it anew, and add it again.",
    ),
    FailureCode.TOO_LARGE: FailureKind(
        "The file, or what it unpacks to, is over a limit.",
        True,
        "Split the file, or raise the limit that the message names and retry.",
    ),
    FailureCode.EXTRACT_TIMEOUT: FailureKind(
        "Reading the file took longer than allowed.",
        False,
        "Raise PINCITE_EXTRACT_SECONDS and retry, or split the file.",
    ),
    FailureCode.OUT_OF_MEMORY: FailureKind(
        "Reading the file took more memory than allowed.",
        False,
        "Raise PINCITE_EXTRACT_MEMORY_MB and retry, or split the file.",
    ),
    FailureCode.WORKER_LOST: FailureKind(
        "The worker died while it worked on this file, every time.",
        False,
        "Look at the worker's log; retry when the cause is gone. The file is kept.",
    ),
    FailureCode.OCR_UNAVAILABLE: FailureKind(
        "Tesseract, or its data for a language, is missing.",
        False,
        "Run `pincite doctor`, install what it names, then `pincite retry --code ocr_unavailable`.",
    ),
    FailureCode.OCR_FAILED: FailureKind(
        "Tesseract could not read a page.",
        False,
        "Retry; if it fails again, scan the page anew.",
    ),
    FailureCode.READ_ERROR: FailureKind(
        "The file's bytes could not be read.",
        False,
        "Check that the file is still there and that Pincite may read it, then retry.",
    ),
    FailureCode.MODEL_UNAVAILABLE: FailureKind(
        "The embedding model could not be used.",
        False,
        "Run `pincite doctor`, check PINCITE_MODEL, then `pincite retry --code model_unavailable`.",
    ),
    FailureCode.DATABASE_UNAVAILABLE: FailureKind(
        "The database did not answer.",
        False,
        "Check Postgres; documents are retried by themselves when it is back.",
    ),
    FailureCode.INTERNAL: FailureKind(
        "Pincite made a mistake.",
        False,
        "Please report it with the message below; then retry.",
    ),
}


class DocumentFailure(Exception):
    """The document cannot be processed, for a reason from the closed list.

    `detail` adds what was seen (a limit with its value, a library's message); it is shown to the user.
    """

    def __init__(self, code: FailureCode, detail: str = "") -> None:
        self.code = code
        self.detail = detail
        super().__init__(code, detail)

    @property
    def kind(self) -> FailureKind:
        """Meaning, permanence and next action of the code."""
        return FAILURES[self.code]

    @property
    def message(self) -> str:
        """One text for the user: what happened, what was seen, what to do."""
        detail = f" {self.detail.rstrip('.')}." if self.detail else ""
        return f"{self.kind.meaning}{detail} {self.kind.next_action}"
