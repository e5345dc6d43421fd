"""Slides that are pictures of text, read by the real Tesseract."""

import io
import re
import zipfile
from pathlib import Path

import pptx
import pytest
from celery.exceptions import Ignore
from fastapi.testclient import TestClient
from PIL import Image
from pptx.util import Inches

from db.contents import load_text
from pincite.documents import PageText, TextSource, Warning
from pincite.locators import locate, resolve
from pincite.settings import Settings
from tests.documents import drawn, image_png
from tests.fixtures.api import upload
from tests.integration.test_ocr_pages import EXTRACT, OCR
from tests.office_documents import Shown, pictured_pptx, zipped
from workers.context import WorkerContext
from workers.extract import extract, media_type
from workers.ocr_slides import slide_picture
from workers.reading import read_page_safely, reader_options
from workers.step import run_step

LINES = ["The tenant pays the rent in March.", "Invoice number 48213 is overdue.", "The heating was repaired."]


def slide_png(size: tuple[int, int] = (1600, 1200)) -> bytes:
    written = io.BytesIO()
    drawn(LINES, size, 48).save(written, "PNG")
    return written.getvalue()


def read(tmp_path: Path, *slides: Shown) -> list[tuple[PageText, tuple[Warning, ...]]]:
    settings = Settings.model_validate({"data": tmp_path / "data"})
    path = tmp_path / "deck.pptx"
    path.write_bytes(pictured_pptx(slides))
    pages = extract(path, path.name, reader_options(settings)).pages
    return [read_page_safely(path, media_type.PPTX, page, settings) for page in pages]


@pytest.mark.parametrize("turned", [0, 90])
def test_a_scanned_slide_has_its_words_with_places_and_confidence(tmp_path: Path, turned: int) -> None:
    place = (0, 0, 10, 7.5) if not turned else (1.25, 0.9375, 7.5, 5.625)
    [(page, warnings)] = read(tmp_path, Shown(slide_png(), place, turned=turned))
    assert [line for line in page.text.split("\n") if line] == LINES
    assert (page.source, page.awaits_ocr, warnings) == (TextSource.OCR, False, ())
    assert (page.confidence or 0) > 0.8
    first = page.words[0]
    assert page.text[first.start : first.end] == "The"
    across, down = (first.left + first.right) / 2, (first.top + first.bottom) / 2
    # Turned clockwise about its middle, the picture's top left is at the slide's top right.
    assert (across, down) == pytest.approx((0.09, 0.1) if not turned else (0.72, 0.09), abs=0.03)
    assert all(0 <= word.left < word.right <= 1 and 0 <= word.top < word.bottom <= 1 for word in page.words)


def test_what_was_read_stands_between_the_slides_text_and_its_notes(tmp_path: Path) -> None:
    [(page, _)] = read(tmp_path, Shown(slide_png(), text="Lease 7", notes="Say it slowly."))
    assert page.text.split() == " ".join(["Lease 7", *LINES, "Notes", "Say it slowly."]).split()
    assert [page.text[word.start : word.end] for word in page.words] == " ".join(LINES).split()
    blocks = [page.text[block.start : block.end] for block in page.blocks]
    assert (blocks[0], blocks[-2:]) == ("Lease 7", ["Notes", "Say it slowly."])
    assert "\n\n".join(blocks) == page.text


def test_what_is_cut_off_is_not_read(tmp_path: Path) -> None:
    halves = Image.new("L", (2480, 600), 255)
    halves.paste(Image.open(io.BytesIO(image_png(["Left half is hidden."]))), (0, 0))
    halves.paste(Image.open(io.BytesIO(image_png(["Right half is shown."]))), (1240, 0))
    written = io.BytesIO()
    halves.save(written, "PNG")
    hanging = Shown(written.getvalue(), (-10, 2, 20, 4.84))
    [(cropped, _), (hung, _)] = read(tmp_path, Shown(written.getvalue(), (0, 2, 10, 4.84), crop_left=0.5), hanging)
    assert (cropped.text, hung.text) == ("Right half is shown.", "Right half is shown.")


def test_a_picture_without_words_leaves_the_slide_as_it_is(tmp_path: Path) -> None:
    [(page, warnings)] = read(tmp_path, Shown(image_png([]), text="Our town"))
    assert (page.text, page.source, page.confidence, warnings) == ("Our town", TextSource.TEXT, None, ())


def test_a_damaged_picture_is_told_of_by_its_slide(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(pictured_pptx([Shown(slide_png(), text="Our town")]))) as deck:
        members = {name: deck.read(name) for name in deck.namelist()}
    members["ppt/media/image1.png"] = members["ppt/media/image1.png"][:60] + bytes(1000)
    path = tmp_path / "deck.pptx"
    path.write_bytes(zipped(members))
    settings = Settings.model_validate({"data": tmp_path / "data"})
    [page] = extract(path, path.name, reader_options(settings)).pages
    read_page, [warning] = read_page_safely(path, media_type.PPTX, page, settings)
    assert (read_page.text, read_page.source) == ("Our town", TextSource.TEXT)
    assert (warning.code, warning.page) == ("page_failed", 1)
    assert warning.message.startswith("OCR of slide 1 failed")


def test_the_picture_of_a_slide_stays_within_the_pixels(tmp_path: Path) -> None:
    path = tmp_path / "deck.pptx"
    path.write_bytes(pictured_pptx([Shown(slide_png((3000, 2250)))]))
    options = reader_options(Settings.model_validate({"data": tmp_path, "ocr_max_pixels": 1_000_000}))
    drawn_slide, left_out = slide_picture(path, 1, options)
    assert drawn_slide.picture.width * drawn_slide.picture.height <= 1_010_000
    assert not left_out


@pytest.mark.parametrize("fault", ["damaged", "too large"])
def test_one_picture_that_cannot_be_read_leaves_the_others(tmp_path: Path, fault: str) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    faulty = slide_png((1600, 1200) if fault == "damaged" else (3000, 2000))
    faulty = faulty[: len(faulty) // 2] if fault == "damaged" else faulty
    slide.shapes.add_picture(io.BytesIO(slide_png()), 0, 0, Inches(8), Inches(6))
    slide.shapes.add_picture(io.BytesIO(faulty), Inches(8), Inches(6), Inches(2), Inches(1.5))
    path = tmp_path / "deck.pptx"
    presentation.save(str(path))
    settings = Settings.model_validate({"data": tmp_path / "data", "max_pixels": 5_000_000})
    [page] = extract(path, path.name, reader_options(settings)).pages
    read_page, [warning] = read_page_safely(path, media_type.PPTX, page, settings)
    assert [line for line in read_page.text.split("\n") if line] == LINES
    assert (warning.code, warning.page) == ("pictures_not_read", 1)
    assert warning.message.startswith("1 picture on slide 1 could not be read by OCR")
    assert ("PINCITE_MAX_PIXELS" in warning.message) == (fault == "too large")


def test_a_scanned_deck_has_its_slides_for_places(client: TestClient, api_settings: Settings) -> None:
    context = WorkerContext(api_settings.model_copy(update={"ocr_workers": 1}))
    try:
        deck = pictured_pptx([Shown(slide_png()), Shown(slide_png(), text="The second slide")])
        document = upload(client, deck, "deck.pptx").json()
        identity = document["id"], document["version"]
        with pytest.raises(Ignore):
            run_step(EXTRACT, context, *identity)
        run_step(OCR, context, *identity)
        text = context.database.run(lambda connection: load_text(connection, *identity))
    finally:
        context.database.close()
    told = client.get(f"/v1/documents/{document['id']}").json()
    assert (told["stage"], told["ocr"]["pages"], told["pages"]) == ("chunk", 2, 2)
    assert told["ocr"]["confidence"] > 0.8
    assert text is not None
    starts = [match.start() for match in re.finditer(re.escape(LINES[1]), text.text)]
    places = [locate(text, start, start + len(LINES[1])) for start in starts]
    assert [place.fragment for place in places] == ["#slide=1", "#slide=2"]
    assert [resolve(place, text) for place in places] == [LINES[1]] * 2
