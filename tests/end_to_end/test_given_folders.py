"""Folders of awkward files dropped whole: every file ends, for a reason that fits, and nothing is left running."""

from pathlib import Path

import psutil
import pytest

from pincite.documents import State
from pincite.failures import FailureCode
from tests.fixtures.running import Running, wait_until

DATA = Path(__file__).parents[2].parent / "shared" / "data"

ENDS = {
    "encrypted-aes256-known.pdf": "encrypted",
    "encrypted-unknown.pdf": "encrypted",
    "password_protected.xlsx": "encrypted",
    "empty-0-bytes.pdf": "empty_file",
    "empty.txt": "empty_file",
    "fake-text-all-whitespace.txt": "no_text",
    "fuzzed-poppler-742.pdf": "corrupt",
    "truncated-crazyones.pdf": "corrupt",
    "zero-pages.pdf": "corrupt",
    "geotopo-book.pdf": None,
    "scan-four-directions.pdf": None,
    "no-tounicode-truetype.pdf": None,
    "xobject-recursion.pdf": None,
    "fake-text-utf-16-le.txt": None,
    "multipage-phototest-eurotext.tiff": None,
    "wiki_duck.html": None,
    "word_sample.docx": None,
    "Strict.docx": None,
    "fake-power-point-malformed.pptx": None,
    "xlsx_04_inflated.xlsx": None,
    "emoji.xlsx": None,
    "empty.xlsx": "no_text",
    "simple.odt": None,
    "odf_table_with_title_01.ods": None,
    "csv-semicolon.csv": None,
    "stanley-cups-utf-16.csv": None,
    "eml_with_attachment.eml": None,
    "eml_with_attachment.eml/test.txt": None,
    "fake-encrypted.eml": "encrypted",
    "winter-sports.epub": None,
    "youtube_dl.vtt": None,
    "invalid.vtt": "corrupt",
    "sample.srt": None,
    "legacy_sample.doc": "unsupported_type",
    "legacy_sample.xls": "unsupported_type",
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["pdfs", "office"])
def test_every_file_ends_for_a_reason_that_fits(running: Running, name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the awkward files are not here")
    files = {path.name: path.read_bytes() for path in sorted((DATA / name).iterdir()) if path.is_file()}
    running.ingest(name, files)
    attached = {path for path in ENDS if "/" in path and path.partition("/")[0] in files}
    documents = running.settle(name, len(files) + len(attached), 800)
    assert set(documents) == set(files) | attached
    for path, document in documents.items():
        assert document.state in {State.INDEXED, State.FAILED}
        if document.state is State.FAILED:
            assert FailureCode(document.failure_code or "") is not FailureCode.INTERNAL, path
            assert document.failure_message
        if path in ENDS:
            assert document.failure_code == ENDS[path], path
    wait_until(lambda: not _readers(), 30, lambda: str(_readers()))


def _readers() -> list[psutil.Process]:
    """Processes that read a document at this moment: Tesseract, and jobs of the sandbox below its server."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            name, parent = process.name(), process.parent()
            below_sandbox = parent is not None and "sandbox_server" in " ".join(parent.cmdline())
        except psutil.NoSuchProcess:
            continue
        if name.startswith("tesseract") or below_sandbox:
            found.append(process)
    return found
