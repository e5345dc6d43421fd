"""Lines that stand once are text, wherever they stand; running heads that repeat or change are kept apart."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF

from pincite.documents import Extracted
from workers.extract import extract
from workers.extract.options import ReaderOptions

Read = Callable[[list[list[str]]], Extracted]

LETTERHEAD = ["Hallmann GmbH, Heating and Plumbing", "Dorfstrasse 5, 4020 Linz"]
ANNEX = [
    "Annex A. The emergency number of the plumber is 0664 555 1212.",
    "It is answered day and night, also on holidays.",
]
TOPICS = ["boiler", "valve", "tank", "pump", "meter", "pipe", "tap"]
GIVEN = Path(__file__).parents[4] / "shared" / "data" / "pdfs"


def body(number: int, lines: int = 6) -> list[str]:
    return [f"The {TOPICS[number % 7]} was checked in {word} by the fitter" for word in "abcdefghijklmnopq"[:lines]]


@pytest.fixture
def read(tmp_path: Path, options: ReaderOptions) -> Read:
    """Reads pages of lines that stand 14 points apart; an empty one leaves its place white."""

    def read_pages(pages: list[list[str]]) -> Extracted:
        document = FPDF(unit="pt", format="A4")
        document.set_auto_page_break(False)
        document.set_font("Helvetica", size=11)
        for lines in pages:
            document.add_page()
            for at, line in enumerate(lines):
                if line:
                    document.text(60, 50 + 14 * at, line)
        path = tmp_path / "original"
        path.write_bytes(bytes(document.output()))
        return extract(path, "file.pdf", options)

    return read_pages


@pytest.mark.parametrize("more", [[], body(2, 14)], ids=["alone", "full page"])
@pytest.mark.parametrize("white", [[], [""]], ids=["tight", "clear"])
def test_a_page_without_the_letterhead_keeps_its_first_lines(white: list[str], more: list[str], read: Read) -> None:
    pages = [LETTERHEAD + white + body(number) for number in range(5)]
    pages[2] = ANNEX + more
    extracted = read(pages)
    assert extracted.pages[2].text.split() == " ".join(pages[2]).split()
    assert extracted.pages[2].furniture == ""
    assert [page.furniture for page in extracted.pages if page.number != 3] == ["\n".join(LETTERHEAD)] * 4
    assert extracted.warnings == ()


def test_a_title_in_place_of_the_letterhead_is_text(read: Read) -> None:
    pages = [[*LETTERHEAD, "", *body(number)] for number in range(5)]
    pages[2] = ["Annex A", "", "", *body(2)]
    assert read(pages).pages[2].text.startswith("Annex A")


def test_sentences_that_begin_alike_are_text(read: Read) -> None:
    same = "This page regulates the ordinary matters of the house."
    pages = [[f"Lease agreement, page {number}. {same}", *body(number, 3)] for number in range(1, 8)]
    pages[3] = ["Lease agreement, page 4. Notice is to be given three months before the end of a quarter."]
    for page, lines in zip(read(pages).pages, pages, strict=True):
        assert page.text.split() == " ".join(lines).split()


def test_a_line_of_its_own_among_lines_that_begin_alike(read: Read) -> None:
    pages = [[f"Day {number}. Nothing was found on the sea bed, and", *body(number, 3)] for number in range(1, 7)]
    pages[2] = ["Day 3. The lost anchor was found and brought to the", "museum."]
    for page, lines in zip(read(pages).pages, pages, strict=True):
        assert page.text.split() == " ".join(lines).split()


def test_heads_that_change_with_the_section_are_kept_apart(read: Read) -> None:
    titles = ["Boilers", "Boilers", "Valves", "Valves", "Tanks", "Pumps", "Pumps"]
    pages = [[f"{number} {title}", "", "", *body(number)] for number, title in enumerate(titles, start=7)]
    for page, lines in zip(read(pages).pages, pages, strict=True):
        assert page.furniture == lines[0]
        assert page.text.split() == " ".join(lines[3:]).split()


def test_a_changing_head_without_white_below_is_text(read: Read) -> None:
    titles = ["Boilers", "Boilers", "Valves", "Valves", "Tanks", "Pumps", "Pumps"]
    pages = [[f"{number} {title}", *body(number)] for number, title in enumerate(titles, start=7)]
    assert read(pages).pages[4].text.startswith("11 Tanks")


def test_a_page_of_a_title_alone_keeps_it(read: Read) -> None:
    titles = ["Boilers", "Boilers", "Valves", "Valves", "Closing remarks", "Pumps", "Pumps"]
    pages = [[f"{number} {title}", "", "", *body(number)] for number, title in enumerate(titles, start=7)]
    pages[4] = pages[4][:1]
    extracted = read(pages)
    assert extracted.pages[4].text == "11 Closing remarks"
    assert extracted.warnings == ()


def test_a_page_of_furniture_alone_is_told_of(read: Read) -> None:
    pages = [[*LETTERHEAD, "", *body(number)] for number in range(5)]
    pages[2] = LETTERHEAD
    extracted = read(pages)
    assert extracted.pages[2].text == ""
    assert [(warning.code, warning.page) for warning in extracted.warnings] == [("only_running_heads", 3)]


@pytest.mark.skipif(not GIVEN.is_dir(), reason="needs the given files")
@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("federal-register-15p", ["Federal Register / Vol. 85, No. 152 /", "VerDate Sep", "jbell on DSK"]),
        ("geotopo-book", ["1.4. ZUSAMMENHANG", "1.6. WEGE UND KNOTEN", "5.1. KRÜMMUNG VON KURVEN"]),
        ("huge-400p", ["Any line marked with a #", "is for Official Use Only", "Cat. No. 28171E"]),
    ],
)
def test_heads_of_given_files_are_in_no_text(name: str, heads: list[str], options: ReaderOptions) -> None:
    extracted = extract(GIVEN / f"{name}.pdf", f"{name}.pdf", options)
    text = "\n".join(page.text for page in extracted.pages)
    assert [head for head in heads if head in text] == []
    furniture = "\n".join(page.furniture for page in extracted.pages)
    assert [head for head in heads if head not in furniture] == []
