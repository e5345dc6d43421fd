"""Pages as pictures, with the quoted words marked: pages of a text layer and pages that OCR has read."""

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Ignore
from fastapi.testclient import TestClient
from PIL import Image

from api.page_pictures import DRAWN_AT_ONCE, PagePictures
from api.problems import Problem
from db.connect import Database
from db.documents import get_document, remove_document
from db.pages import FoundPage, find_page
from pincite.documents import Stage
from pincite.sandbox import Limits
from pincite.settings import Settings
from tests import documents
from tests.fixtures.api import upload
from workers.context import WorkerContext
from workers.ocr_pages import read_pages
from workers.pipeline import extract_document
from workers.step import Step, run_step

LINES = ["The tenant pays the rent in March.", "Invoice number 48213 is overdue.", "The heating was repaired."]
STEPS = (Step(Stage.EXTRACT, extract_document), Step(Stage.EXTRACT, read_pages, awaits_ocr=True))


@pytest.fixture
def context(api_settings: Settings) -> Iterator[WorkerContext]:
    made = WorkerContext(api_settings)
    yield made
    made.database.close()


def read(client: TestClient, context: WorkerContext, content: bytes, name: str) -> int:
    """A document whose canonical text is made."""
    document = upload(client, content, name).json()
    for step in STEPS:
        try:
            run_step(step, context, document["id"], document["version"])
        except Ignore:  # handed on to OCR, or no OCR was due
            continue
    details = context.database.run(lambda connection: get_document(connection, document["id"]))
    assert details is not None
    assert details.stage is Stage.CHUNK, details
    return details.id


def picture(client: TestClient, path: str) -> Image.Image:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), answer.text
    return Image.open(io.BytesIO(answer.content)).convert("RGB")


def place_of(client: TestClient, document_id: int, quote: str) -> tuple[int, int]:
    text = client.get(f"/v1/documents/{document_id}/text").json()["text"]
    return text.index(quote), text.index(quote) + len(quote)


def is_yellow(colour: Any) -> bool:
    red, green, blue = colour
    return bool(blue < min(red, green) - 60)


def brightness(colour: Any) -> int:
    return int(sum(colour))


def found_page(database: Database, document_id: int, number: int = 1) -> FoundPage:
    page = database.run(lambda connection: find_page(connection, document_id, number))
    assert page is not None
    return page


def yellow_share(shown: Image.Image, box: tuple[float, float, float, float]) -> float:
    """How much of a box (shares of the page) is yellow; black letters count as what they stand on."""
    left, top, right, bottom = box
    across, down = shown.size
    area = round(left * across), round(top * down), round(right * across), round(bottom * down)
    pixels: list[Any] = list(shown.crop(area).get_flattened_data())
    paper = [colour for colour in pixels if sum(colour[:2]) > 300]
    return sum(map(is_yellow, paper)) / len(paper)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (documents.text_pdf(["\n".join(LINES)]), "text.pdf"),
        (documents.scanned_pdf([LINES]), "scan.pdf"),
        (documents.scanned_pdf([LINES], turned=90), "turned.pdf"),
        (documents.image_png(LINES), "scan.png"),
        (documents.rotated_pdf("\n".join(LINES), 90), "rotated.pdf"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_words_of_a_quote_are_marked_and_no_others(
    client: TestClient, context: WorkerContext, content: bytes, name: str
) -> None:
    document_id = read(client, context, content, name)
    start, end = place_of(client, document_id, "48213 is overdue")
    marked = picture(client, f"/v1/documents/{document_id}/pages/1.png?start={start}&end={end}")
    assert 400 <= max(marked.size) <= 1600
    page = found_page(context.database, document_id)
    assert page.start is not None
    inside = outside = 0
    for word in page.placed_words:
        share = yellow_share(marked, (word.left, word.top, word.right, word.bottom))
        if page.start + word.start < end and start < page.start + word.end:
            inside += 1
            assert share > 0.95, word
        else:
            outside += 1
            assert share < 0.2, word
    assert inside == 3
    assert outside >= 10
    plain = picture(client, f"/v1/documents/{document_id}/pages/1.png")
    assert plain.size == marked.size
    assert not any(map(is_yellow, plain.get_flattened_data()))
    # The marks hide no ink: what is dark on the plain page is the darkest of the marked one.
    assert min(map(brightness, marked.get_flattened_data())) < 300


def test_the_ink_lies_under_the_marks(client: TestClient, context: WorkerContext) -> None:
    document_id = read(client, context, documents.scanned_pdf([LINES]), "scan.pdf")
    start, end = place_of(client, document_id, LINES[1])
    shown = picture(client, f"/v1/documents/{document_id}/pages/1.png?start={start}&end={end}")
    plain = picture(client, f"/v1/documents/{document_id}/pages/1.png")
    yellow = [is_yellow(colour) or brightness(colour) < 250 for colour in shown.get_flattened_data()]
    rows = {index // shown.width for index, marked in enumerate(yellow) if marked}
    # The second line was drawn at 100 + 34 * 1.7 of 1754 pixels.
    line = shown.height * (100 + 34 * 1.7) / 1754
    marked_rows = [row for row in rows if is_yellow(shown.getpixel((round(shown.width * 100 / 1240) + 1, row)))]
    assert marked_rows
    assert line - 12 < min(marked_rows) < max(marked_rows) < line + 60
    assert plain.getpixel((2, 2)) == shown.getpixel((2, 2)) == (255, 255, 255)


def test_a_quote_over_two_pages_is_marked_on_both(client: TestClient, context: WorkerContext) -> None:
    content = documents.image_tiff([[LINES[0]], [LINES[1]]])
    document_id = read(client, context, content, "fax.tiff")
    start, _ = place_of(client, document_id, "March")
    _, end = place_of(client, document_id, "Invoice")
    for number in (1, 2):
        shown = picture(client, f"/v1/documents/{document_id}/pages/{number}.png?start={start}&end={end}")
        assert any(map(is_yellow, shown.get_flattened_data()))


def test_it_is_kept_by_the_browser_until_it_changes(client: TestClient, context: WorkerContext) -> None:
    document_id = read(client, context, documents.image_png(LINES), "scan.png")
    path = f"/v1/documents/{document_id}/pages/1.png"
    first = client.get(path)
    assert first.headers["cache-control"].startswith("private")
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"{path}?start=0&end=3").headers["etag"] != first.headers["etag"]


class TestRefusals:
    @pytest.fixture
    def document_id(self, client: TestClient, context: WorkerContext) -> int:
        return read(client, context, documents.text_pdf(["\n".join(LINES), "The end."]), "lease.pdf")

    @pytest.mark.parametrize(
        ("query", "status", "code"),
        [
            ("1.png?start=5", 422, "bad_range"),
            ("1.png?start=5&end=5", 422, "bad_range"),
            ("1.png?start=9&end=5", 422, "bad_range"),
            ("1.png?start=90000&end=90010", 422, "bad_range"),
            ("2.png?start=0&end=5", 422, "bad_range"),
            ("1.png?start=-1&end=5", 422, "validation_failed"),
            ("1.png?start=a&end=5", 422, "validation_failed"),
            ("3.png", 404, "unknown_page"),
            ("0.png", 422, "validation_failed"),
            ("x.png", 422, "validation_failed"),
        ],
    )
    def test_by_name(self, client: TestClient, document_id: int, query: str, status: int, code: str) -> None:
        answer = client.get(f"/v1/documents/{document_id}/pages/{query}")
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    def test_unknown_unread_without_pages_and_removed(
        self, client: TestClient, context: WorkerContext, document_id: int
    ) -> None:
        def code(identifier: int) -> tuple[int, str]:
            answer = client.get(f"/v1/documents/{identifier}/pages/1.png")
            return answer.status_code, answer.json()["code"]

        assert code(999_999) == (404, "unknown_document")
        assert code(upload(client, documents.text_pdf(["x"]), "new.pdf").json()["id"]) == (409, "not_extracted")
        assert code(read(client, context, b"A note of some words.", "note.txt")) == (409, "no_pages")
        context.database.run(lambda connection: remove_document(connection, document_id))
        assert code(document_id) == (410, "removed")

    def test_a_page_that_cannot_be_drawn(self, client: TestClient, context: WorkerContext, document_id: int) -> None:
        page = found_page(context.database, document_id)
        with context.originals.as_file(page.sha256) as path:
            path.chmod(0o600)
            path.write_bytes(b"%PDF-1.7 and nothing more")
        answer = client.get(f"/v1/documents/{document_id}/pages/1.png")
        assert (answer.status_code, answer.json()["code"]) == (409, "not_drawable")


def test_a_page_that_hangs_gives_its_place_back_and_the_others_are_told(tmp_path: Path) -> None:
    hangs, whole = tmp_path / "hangs", tmp_path / "whole"
    os.mkfifo(hangs)  # to open it for reading waits for a writer, who never comes
    whole.write_bytes(documents.image_png(LINES))
    pictures = PagePictures(Limits(3, 512), waiting_seconds=0.5)
    codes: list[str] = []

    def ask() -> None:
        with pytest.raises(Problem) as refused:
            pictures.draw(hangs, "image/png", 1, ())
        codes.append(refused.value.code)

    first = [threading.Thread(target=ask) for _ in range(DRAWN_AT_ONCE)]
    for thread in first:
        thread.start()
    time.sleep(0.5)
    ask()
    for thread in first:
        thread.join()
    assert codes == ["busy", "picture_timeout", "picture_timeout"]
    assert pictures.draw(whole, "image/png", 1, ()).startswith(b"\x89PNG")
    pictures.close()


def test_the_process_of_the_api_never_loads_pdfium() -> None:
    code = "import sys, api.app; sys.exit('pypdfium2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
