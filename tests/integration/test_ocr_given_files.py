"""Scans whose words are known: how many of them OCR reads, and in which order."""

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from pincite.documents import Extracted, Warning
from pincite.failures import DocumentFailure
from pincite.settings import Settings
from workers.extract import extract
from workers.ocr import read_page
from workers.reading import reader_options
from workers.tesseract_probe import find_tesseract

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the given files are not here")


def read(path: Path, languages: str = "eng+deu") -> tuple[list[str], list[Warning]]:
    """The text of each page, and the warnings."""
    settings = Settings.model_validate({"data": path.parent, "ocr_languages": languages})
    options = reader_options(settings)
    tesseract = find_tesseract(languages, settings.tessdata)
    extracted: Extracted = extract(path, path.name, options)
    texts: list[str] = []
    warnings: list[Warning] = []
    for page in extracted.pages:
        told: tuple[Warning, ...] = ()
        if page.awaits_ocr:
            page, told = read_page(path, extracted.media_type, page, options, tesseract)  # noqa: PLW2901
        texts.append(page.text)
        warnings += told
    return texts, warnings


def words_of(text: str) -> list[str]:
    """Words of two letters or digits and more, words that a line's end breaks joined, ligatures expanded."""
    plain = unicodedata.normalize("NFKC", text)
    return re.findall(r"\w{2,}", re.sub(r"(?<=[^\W\d_])-\n+(?=[a-zäöüß])", "", plain).lower())


def without_accents(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))


def in_order(truth: str, read_text: str) -> float:
    """The share of the words of `truth` that were read, in its order."""
    expected, got = words_of(truth), words_of(read_text)
    blocks = SequenceMatcher(None, expected, got, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(expected)


def recall(truth: str, read_text: str) -> float:
    """The share of the words of `truth` that were read, in any order."""
    expected = words_of(truth)
    return sum((Counter(expected) & Counter(words_of(read_text))).values()) / len(expected)


@pytest.mark.parametrize(
    ("file", "truth"),
    [
        ("pdfs/scan-two-column-linn.pdf", "pdfs/ground_truth/scan-two-column-linn.txt"),
        ("pdfs/mixed-scan-and-text.pdf", "pdfs/ground_truth/mixed-scan-and-text.txt"),
        ("office/phototest.tif", "office/reference/phototest.tif.txt"),
        ("office/phototest-rotated-R.png", "office/reference/phototest-rotated-R.png.txt"),
        ("office/8087_054.3B.tif", "office/reference/8087_054.3B.tif.txt"),
    ],
)
def test_the_words_of_a_scan_in_reading_order(file: str, truth: str) -> None:
    texts, warnings = read(DATA / file)
    assert all(texts)
    assert in_order((DATA / truth).read_text(), "\n".join(texts)) >= 0.97
    assert warnings == []


@pytest.mark.parametrize("file", ["eurotext.tif", "multipage-phototest-eurotext.tiff"])
def test_six_languages_with_the_data_of_two(file: str) -> None:
    # English and German data know no `á`, `ã` or `ç`: these letters lose their accents or get others.
    texts, _ = read(DATA / "office" / file)
    truth = (DATA / "office" / "reference" / f"{file}.txt").read_text()
    assert recall(truth, "\n".join(texts)) >= 0.9
    assert recall(without_accents(truth), without_accents("\n".join(texts))) >= 0.97


@pytest.mark.parametrize("file", ["eurotext.tif", "multipage-phototest-eurotext.tiff"])
def test_six_languages_with_the_data_of_their_script(file: str) -> None:
    texts, warnings = read(DATA / "office" / file, _latin())
    truth = (DATA / "office" / "reference" / f"{file}.txt").read_text()
    assert in_order(truth, "\n".join(texts)) >= 0.97
    assert warnings == []


def _latin() -> str:
    """The name of the data for all languages in Latin letters: programs keep it in one of two places."""
    missing = ""
    for name in ("script/Latin", "Latin"):
        try:
            find_tesseract(name, Settings().tessdata)
        except DocumentFailure as failure:
            missing = missing or failure.detail
        else:
            return name
    pytest.skip(f"{missing}; PINCITE_TESSDATA may name a directory that has it")


def test_a_sheet_that_lies_in_each_of_four_directions() -> None:
    texts, warnings = read(DATA / "pdfs" / "scan-four-directions.pdf")
    truth = (DATA / "pdfs" / "ground_truth" / "scan-two-column-linn.txt").read_text()
    assert [round(in_order(truth, text), 1) for text in texts] == [1.0] * 4
    assert warnings == []


def test_a_font_without_a_map_gives_the_words_that_a_person_sees() -> None:
    texts, warnings = read(DATA / "pdfs" / "no-tounicode-truetype.pdf")
    assert "\n".join(texts).split() == ["Phone"]
    assert warnings == []


def test_a_script_without_data_is_named() -> None:
    _, warnings = read(DATA / "office" / "hebrew.png")
    assert [warning.code for warning in warnings] == ["low_confidence", "script_unsupported"]
    assert "Hebrew" in warnings[1].message
    assert "PINCITE_OCR_LANGUAGES (eng+deu)" in warnings[1].message
    assert "Install Tesseract's data for its language (heb or yid)" in warnings[1].message
