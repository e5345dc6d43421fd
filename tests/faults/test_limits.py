"""Every limit of docs/operations.md is met once, and says what it is documented to say."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from pydantic import SecretStr

from pincite.documents import PageText, Stage, TextSource
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from tests.documents import bomb_png, image_png, image_tiff, mail_eml, text_pdf
from tests.faults.test_bombs import content_bomb
from tests.office_documents import bare_docx, word_docx
from workers.context import WorkerContext
from workers.extract import extract
from workers.extract.canonical import assemble
from workers.reading import extract_in_sandbox, read_page_safely, reader_options
from workers.step import failure_of

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
MEGABYTE = 2**20


def documented() -> dict[str, tuple[str, str, str, str]]:
    """Limit -> default, setting, code, what the message says."""
    table = OPERATIONS.split("## Limits")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| `(\w+)` \| `(\w+)` \| (.+?) \|$", table, re.MULTILINE)
    return {limit: (default, setting, code, message) for limit, default, setting, code, message in rows}


def reading(name: str, content: bytes, **changes: float) -> Callable[[Path], DocumentFailure]:
    """The failure of a file in the sandbox, with some settings changed."""

    def fail(folder: Path) -> DocumentFailure:
        (folder / "file").write_bytes(content)
        settings = Settings.model_validate({"data": folder, **changes})
        with pytest.raises(DocumentFailure) as raised:
            extract_in_sandbox(folder / "file", name, settings)
        return raised.value

    return fail


def stage_time(folder: Path) -> DocumentFailure:
    urls = {"database_url": SecretStr("postgresql:///none"), "broker_url": SecretStr("redis://127.0.0.1:1/0")}
    context = WorkerContext(Settings.model_validate({"data": folder, **urls}))
    context.database.close()
    assert failure_of(SoftTimeLimitExceeded(), Stage.EMBED, context).code is FailureCode.INTERNAL
    return failure_of(SoftTimeLimitExceeded(), Stage.EXTRACT, context)


def page_time(folder: Path) -> DocumentFailure:
    (folder / "scan").write_bytes(image_png(["a page"]))
    settings = Settings.model_validate({"data": folder, "ocr_page_seconds": 0.01})
    page = PageText(1, "", TextSource.NONE, width=600, height=800, awaits_ocr=True)
    read, warnings = read_page_safely(folder / "scan", "image/png", page, settings)
    found = extract(folder / "scan", "scan.png", reader_options(settings))
    with pytest.raises(DocumentFailure) as raised:
        assemble(replace(found, pages=(read,), warnings=warnings))
    return raised.value


def spacious_docx(megabytes: int) -> bytes:
    """A Word document whose text is so many MiB of white space, packed to almost nothing."""
    return bare_docx(f"<w:p>{' ' * megabytes * MEGABYTE}</w:p>")


LONG = "A line of words that is read by and by. " * 60
PRODUCED: dict[str, Callable[[Path], DocumentFailure]] = {
    "size of the file, in MiB": reading("a.txt", b"a line\n" * MEGABYTE, max_file_mb=1),
    "what a container unpacks to in all, in MiB": reading("a.docx", spacious_docx(2), max_file_mb=1),
    "one part of a container, unpacked, in MiB": reading("a.docx", spacious_docx(2), max_part_mb=1),
    "how many times its packed size a part unpacks to": reading("a.docx", spacious_docx(9)),
    "parts of a container or a message": reading("a.docx", word_docx(["words"]), max_parts=2),
    "pages, slides, sheets, frames": reading("a.pdf", text_pdf(["one", "two"]), max_pages=1),
    "characters of text": reading("a.txt", b"more than ten characters", max_characters=10),
    "pixels of a picture file": reading("a.png", bomb_png()),
    "time to read the file, in seconds": reading("a.pdf", text_pdf([LONG] * 200), extract_seconds=0.05),
    "memory to read the file, in MiB": reading("a.pdf", content_bomb(400), extract_memory_mb=256, extract_seconds=60),
    "time of one stage, in seconds": stage_time,
    "time for the OCR of a page, in seconds": page_time,
}


def test_every_documented_limit_is_met_here() -> None:
    assert set(documented()) == set(PRODUCED)


@pytest.mark.parametrize("limit", sorted(PRODUCED))
def test_a_limit_says_what_it_is_documented_to_say(tmp_path: Path, limit: str) -> None:
    default, setting, code, says = documented()[limit]
    field = setting.removeprefix("PINCITE_").lower()
    assert str(Settings.model_fields[field].default) == default
    failure = PRODUCED[limit](tmp_path)
    assert failure.code == code
    assert says in failure.detail
    assert setting in failure.message


@pytest.mark.parametrize(
    ("name", "content", "limit"),
    [
        ("a.eml", mail_eml("words", files={f"{n}.txt": b"x" for n in range(9)}), {"max_parts": 5}),
        ("a.tiff", image_tiff([["one"], ["two"]]), {"max_pixels": 1000}),
    ],
)
def test_other_formats_keep_the_same_limits(tmp_path: Path, name: str, content: bytes, limit: dict[str, float]) -> None:
    failure = reading(name, content, **limit)(tmp_path)
    [setting] = limit
    assert (failure.code, f"(PINCITE_{setting.upper()})" in failure.detail) == (FailureCode.TOO_LARGE, True)


def test_a_picture_over_the_usual_limit_is_read_where_the_setting_allows_it(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bomb_png(10_000, 9_500))
    settings = Settings.model_validate({"data": tmp_path, "max_pixels": 100_000_000})
    assert len(extract_in_sandbox(tmp_path / "large", "large.png", settings).pages) == 1
