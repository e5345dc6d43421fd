"""Pages read by the real Tesseract."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from pincite.documents import PageText, TextSource, Warning
from pincite.settings import Settings
from tests import documents
from workers import ocr
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions
from workers.reading import reader_options
from workers.tesseract_probe import find_tesseract

LINES = ["The tenant pays the rent in March.", "Invoice number 48213 is overdue.", "The heating was repaired."]


@pytest.fixture
def options(tmp_path: Path) -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": tmp_path / "data"}))


def read_page(
    path: Path, media_type: str, page: PageText, options: ReaderOptions
) -> tuple[PageText, tuple[Warning, ...]]:
    return ocr.read_page(path, media_type, page, options, find_tesseract(options.ocr_languages))


def read(tmp_path: Path, options: ReaderOptions, data: bytes, name: str) -> list[tuple[PageText, tuple[Warning, ...]]]:
    path = tmp_path / "original"
    path.write_bytes(data)
    extracted = extract(path, name, options)
    return [read_page(path, extracted.media_type, page, options) for page in extracted.pages]


def lines_of(page: PageText) -> list[str]:
    return [line for line in page.text.split("\n") if line]


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_scan_is_read_in_all_four_directions(tmp_path: Path, options: ReaderOptions, turned: int) -> None:
    [(page, warnings)] = read(tmp_path, options, documents.scanned_pdf([LINES], turned=turned), "scan.pdf")
    # Whether a narrow space is seen is up to Tesseract; the letters and their order are not.
    assert [line.replace(" ", "") for line in lines_of(page)] == [line.replace(" ", "") for line in LINES]
    assert (page.source, page.awaits_ocr, warnings) == (TextSource.OCR, False, ())
    assert page.confidence is not None
    assert 0.8 < page.confidence <= 1
    first = page.words[0]
    assert page.text[first.start : first.end] == "The"
    across, down = (first.left + first.right) / 2, (first.top + first.bottom) / 2
    corner = {0: (0, 0), 90: (0, 1), 180: (1, 1), 270: (1, 0)}[turned]
    assert (round(across), round(down)) == corner


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
def test_pictures_of_all_modes(tmp_path: Path, options: ReaderOptions, mode: str) -> None:
    [(page, _)] = read(tmp_path, options, documents.image_png(LINES, mode), "scan.png")
    assert lines_of(page) == LINES


@pytest.mark.parametrize(("mode", "orientation"), [("CMYK", 1), ("L", 6)])
def test_photographs(tmp_path: Path, options: ReaderOptions, mode: str, orientation: int) -> None:
    [(page, _)] = read(tmp_path, options, documents.image_jpeg(LINES, mode, orientation), "scan.jpg")
    assert lines_of(page) == LINES
    assert (page.width or 0) > (page.height or 0)


def test_each_frame_is_a_page(tmp_path: Path, options: ReaderOptions) -> None:
    pages = read(tmp_path, options, documents.image_tiff([[line] for line in LINES]), "fax.tiff")
    assert [(page.number, page.text) for page, _ in pages] == list(enumerate(LINES, start=1))


def test_a_page_number_over_a_scan_does_not_stand_for_the_page(tmp_path: Path, options: ReaderOptions) -> None:
    [(page, _)] = read(tmp_path, options, documents.scanned_pdf([LINES], layer="Page 3"), "scan.pdf")
    assert LINES[1] in page.text
    assert page.source is TextSource.OCR


def test_a_font_without_unicode_is_read_from_the_picture(tmp_path: Path, options: ReaderOptions) -> None:
    [(page, _)] = read(tmp_path, options, documents.unmapped_pdf(documents.PARAGRAPH), "odd.pdf")
    assert "pays the rent on the third working day" in page.text
    assert page.source is TextSource.OCR


def test_an_empty_scan_keeps_a_small_layer_as_text(tmp_path: Path, options: ReaderOptions) -> None:
    # The layer is hidden under the picture's white paper in this test, so OCR sees nothing at all.
    path = tmp_path / "original"
    path.write_bytes(documents.image_png([]))
    page = PageText(1, "Annex B", TextSource.TEXT, awaits_ocr=True)
    read, warnings = read_page(path, "image/png", page, options)
    assert (read.text, read.source, read.confidence, warnings) == ("Annex B", TextSource.TEXT, None, ())


@pytest.mark.parametrize(
    ("script", "language", "line"),
    [
        ("Cyrillic", "rus", "Договор аренды заключён между сторонами, которые обязуются соблюдать его условия"),
        # Of such letters as Latin has too, Tesseract is not sure.
        ("Cyrillic", "rus", "Арендатор платит арендную плату на третий рабочий день месяца"),
        # Read with the words of Latin languages it is less than nonsense, and yet none of it is right.
        ("Greek", "ell", "Ο ενοικιαστής πληρώνει το ενοίκιο την τρίτη εργάσιμη ημέρα του μήνα"),
    ],
)
def test_a_script_without_data_names_what_to_install(
    tmp_path: Path, options: ReaderOptions, script: str, language: str, line: str
) -> None:
    [(_, warnings)] = read(tmp_path, options, foreign_scan([line] * 12), "scan.png")
    [warning] = [each for each in warnings if each.code == "script_unsupported"]
    assert f"written in {script} script, which the languages of" in warning.message
    assert "PINCITE_OCR_LANGUAGES (eng+deu)" in warning.message
    named = warning.message.split("data for its language (")[1].split(")")[0]
    assert language in named.replace(" or ", ", ").split(", ")
    assert "PINCITE_TESSDATA" in warning.message


def foreign_scan(lines: list[str]) -> bytes:
    """A picture of lines in letters beyond Latin, where a font has them."""
    picture = Image.new("L", (1700, 1100), 255)
    pen = ImageDraw.Draw(picture)
    try:
        font = ImageFont.truetype("DejaVuSans.ttf", 36)
    except OSError:
        pytest.skip("the font DejaVu Sans is not here")
    for index, line in enumerate(lines):
        pen.text((80, 80 + index * 70), line, fill=0, font=font)
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def test_a_poor_picture_is_read_and_flagged(tmp_path: Path) -> None:
    strict = reader_options(Settings.model_validate({"data": tmp_path, "low_confidence": 0.999}))
    [(page, [warning])] = read(tmp_path, strict, documents.image_png(LINES), "scan.png")
    assert lines_of(page) == LINES
    assert (warning.code, warning.page) == ("low_confidence", 1)


def test_a_page_of_200_inches_is_skipped_and_the_other_read(tmp_path: Path, options: ReaderOptions) -> None:
    [(page, [warning])] = read(tmp_path, options, documents.huge_page_pdf("x"), "poster.pdf")
    assert (page.text, warning.code) == ("", "page_skipped")
    assert "200 x 200 inches" in warning.message


def test_a_scan_in_the_middle_of_a_text_takes_its_place(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "original"
    path.write_bytes(documents.mixed_pdf(["Before it.", *documents.PARAGRAPH.split(". ")], LINES, ["After it."]))
    extracted = extract(path, "mixed.pdf", options)
    assert [page.awaits_ocr for page in extracted.pages] == [False, True, False]
    pages = [
        read_page(path, extracted.media_type, page, options)[0] if page.awaits_ocr else page for page in extracted.pages
    ]
    text = assemble(type(extracted)(extracted.extractor, pages=tuple(pages)))
    assert text.text.index("Before it.") < text.text.index(LINES[1]) < text.text.index("After it.")
    assert [span.source.value for span in text.pages] == ["text", "ocr", "text"]
