"""Files of the wild, where a checkout has them beside it: each is read, or fails for a reason of the list."""

from pathlib import Path

import pytest

from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from workers.reading import extract_in_sandbox

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = sorted(path for folder in ("pdfs", "office") for path in (DATA / folder).glob("*.*") if path.is_file())
EXPECTED = {
    "encrypted-aes256-known.pdf": FailureCode.ENCRYPTED,
    "encrypted-unknown.pdf": FailureCode.ENCRYPTED,
    "password_protected.xlsx": FailureCode.ENCRYPTED,
    "fuzzed-poppler-742.pdf": FailureCode.CORRUPT,
    "truncated-crazyones.pdf": FailureCode.CORRUPT,
    "zero-pages.pdf": FailureCode.CORRUPT,
    "empty-0-bytes.pdf": FailureCode.EMPTY_FILE,
    "empty.txt": FailureCode.EMPTY_FILE,
    "fake-encrypted.eml": FailureCode.ENCRYPTED,
    "invalid.vtt": FailureCode.CORRUPT,
    "legacy_sample.doc": FailureCode.UNSUPPORTED_TYPE,
}
AWAITING_OCR = {
    "mixed-scan-and-text.pdf": [2],
    "scan-two-column-linn.pdf": [1],
    "scan-four-directions.pdf": [1, 2, 3, 4],
    "no-tounicode-truetype.pdf": [1],
}
READABLE = {
    ".pdf",
    ".png",
    ".jpg",
    ".tif",
    ".tiff",
    ".txt",
    ".md",
    ".html",
    ".jsonl",
    ".eml",
    ".epub",
    ".vtt",
    ".srt",
    ".docx",
    ".odt",
    ".pptx",
    ".rtf",
    ".xlsx",
    ".ods",
    ".csv",
}

pytestmark = pytest.mark.skipif(not FILES, reason="the checkout has no shared data beside it")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_is_read_or_fails_by_the_list(path: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"data": tmp_path, "extract_seconds": 60})
    code, waiting = _outcome(path, settings)
    if path.suffix not in READABLE or path.name in EXPECTED:
        assert code is EXPECTED.get(path.name, FailureCode.UNSUPPORTED_TYPE)
    else:
        assert code is None
        if path.suffix == ".pdf":
            assert waiting == AWAITING_OCR.get(path.name, [])


def _outcome(path: Path, settings: Settings) -> tuple[FailureCode | None, list[int]]:
    try:
        extracted = extract_in_sandbox(path, path.name, settings)
    except DocumentFailure as failure:
        return failure.code, []
    return None, [page.number for page in extracted.pages if page.awaits_ocr]
