import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF

from pincite.documents import BlockKind, Extracted, PageText
from tests import documents
from tests.glyph_pdf import glyph_pdf, visual
from workers.extract import extract
from workers.extract.options import ReaderOptions
from workers.extract.pdf_bidi import Letter, logical_words

LEFT = [f"left column line {number} of words" for number in range(1, 9)]
MIDDLE = [f"middle column line {number} here" for number in range(1, 9)]
RIGHT = [f"right column line {number} of words" for number in range(1, 9)]

Read = Callable[[bytes], Extracted]


@pytest.fixture
def read(tmp_path: Path, options: ReaderOptions) -> Read:
    def read_bytes(data: bytes) -> Extracted:
        path = tmp_path / "original"
        path.write_bytes(data)
        return extract(path, "file.pdf", options)

    return read_bytes


def sheet(size: float = 10) -> FPDF:
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    document.set_font("Helvetica", size=size)
    return document


def down(document: FPDF, left: float, top: float, lines: list[str]) -> None:
    for number, line in enumerate(lines):
        document.text(left, top + 12 * number, line)


def assert_places(page: PageText) -> None:
    """Words cover the text in order, and stand where they were drawn."""
    for before, after in itertools.pairwise(page.words):
        assert before.end <= after.start
    for word in page.words:
        seen = page.text[word.start : word.end]
        assert seen.split() == [seen]
        assert 0 <= word.left < word.right <= 1
        assert 0 <= word.top < word.bottom <= 1
        assert word.confidence is None
    for one, other in itertools.pairwise(page.blocks):
        assert one.end <= other.start


def test_two_columns_are_read_one_after_the_other(read: Read) -> None:
    document = sheet()
    document.add_page()
    document.text(150, 60, "A title over both of the columns on this page")
    down(document, 60, 100, LEFT)
    down(document, 320, 100, RIGHT)
    document.text(60, 230, "And one line at the foot that runs over both columns of the page as the title does")
    [page] = read(bytes(document.output())).pages
    lines = [line for line in page.text.split("\n") if line]
    assert lines[1:-1] == LEFT + RIGHT
    assert lines[0].startswith("A title")
    assert lines[-1].startswith("And one line")
    assert_places(page)


def test_columns_drawn_row_by_row(read: Read) -> None:
    document = sheet()
    document.add_page()
    for number in range(8):
        document.text(60, 100 + 12 * number, LEFT[number])
        document.text(240, 100 + 12 * number, MIDDLE[number])
        document.text(420, 100 + 12 * number, RIGHT[number])
    [page] = read(bytes(document.output())).pages
    assert [line for line in page.text.split("\n") if line] == LEFT + MIDDLE + RIGHT


def test_what_is_drawn_last_but_stands_first_is_read_first(read: Read) -> None:
    document = sheet()
    document.add_page()
    down(document, 60, 200, LEFT)
    document.text(60, 100, "The head of the page")
    [page] = read(bytes(document.output())).pages
    assert page.text.startswith("The head of the page\n\nleft column line 1")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a well known exam-", "ple of it", "a well known example\nof it"),
        ("ein Buch in Schwarz-", "Weiß gedruckt", "ein Buch in Schwarz-Weiß\ngedruckt"),
        ("no hyphen here", "and none there", "no hyphen here\nand none there"),
    ],
)
def test_words_broken_at_line_ends(read: Read, first: str, second: str, expected: str) -> None:
    document = sheet()
    document.add_page()
    down(document, 60, 100, [first, second])
    [page] = read(bytes(document.output())).pages
    assert page.text == expected
    assert_places(page)


def test_paragraphs_by_white_and_by_indent(read: Read) -> None:
    document = sheet()
    document.add_page()
    down(document, 60, 100, LEFT[:3])
    document.text(75, 136, "an indented line opens a paragraph")
    document.text(60, 148, "and this one goes on with it")
    document.text(60, 180, "white stands over this one")
    [page] = read(bytes(document.output())).pages
    assert [part.count("\n") for part in page.text.split("\n\n")] == [2, 1, 0]


def paged(count: int) -> FPDF:
    document = sheet()
    for number in range(1, count + 1):
        document.add_page()
        document.text(60, 40, f"Annual report of the harbour   {number}")
        down(document, 60, 120, [f"Body text {word} of page {chr(96 + number)}" for word in ("alpha", "beta", "gamma")])
        document.text(290, 810, str(number))
        with document.rotation(45, 300, 420):
            document.set_font_size(60)
            document.text(150, 420, "DRAFT")
            document.set_font_size(10)
    return document


def test_furniture_is_kept_apart(read: Read) -> None:
    pages = read(bytes(paged(5).output())).pages
    for number, page in enumerate(pages, start=1):
        assert page.text.startswith("Body text alpha")
        assert "harbour" not in page.text
        assert "DRAFT" not in page.text
        assert set(page.furniture.split("\n")) == {f"Annual report of the harbour {number}", str(number), "DRAFT"}
        assert_places(page)


def test_two_pages_that_only_share_a_line_keep_it(read: Read) -> None:
    pages = read(documents.text_pdf(["Page 1", "Page 2", "Page 3"])).pages
    assert [page.text for page in pages] == ["Page 1", "Page 2", "Page 3"]


def test_a_ruled_table_over_two_pages(read: Read) -> None:
    document = sheet()
    rows = [("Item", "Price in euro"), *((f"Thing number {at}", f"{at * 11},50") for at in range(1, 7))]
    for part in (rows[:4], rows[4:]):
        document.add_page()
        with document.table(width=300, col_widths=(1, 1)) as table:
            for row in part:
                table.row(row)
    first, second = read(bytes(document.output())).pages
    head = "| Item | Price in euro |"
    assert first.text.split("\n") == [head, *(f"| Thing number {at} | {at * 11},50 |" for at in (1, 2, 3))]
    assert second.text.split("\n") == [f"| Thing number {at} | {at * 11},50 |" for at in (4, 5, 6)]
    for page in (first, second):
        [block] = page.blocks
        assert (block.kind, block.title, page.text[block.start : block.end]) == (BlockKind.TABLE, head, page.text)
        assert_places(page)


def test_a_table_with_level_rules_only(read: Read) -> None:
    document = sheet()
    document.add_page()
    rows = [("Land", "People", "Capital"), ("Austria", "8.9", "Vienna"), ("Czech Republic", "10.7", "Prague")]
    for number, row in enumerate(rows):
        for place, cell in zip((60, 200, 300), row, strict=True):
            document.text(place, 112 + 14 * number, cell)
    for height in (100, 116, 146):
        document.line(60, height, 360, height)
    down(document, 60, 200, LEFT)
    [page] = read(bytes(document.output())).pages
    [block] = page.blocks
    assert page.text[block.start : block.end].split("\n") == [f"| {' | '.join(row)} |" for row in rows]
    assert block.title == "| Land | People | Capital |"
    assert_places(page)


def test_columns_of_text_between_rules_are_no_table(read: Read) -> None:
    document = sheet()
    document.add_page()
    down(document, 60, 100, LEFT)
    down(document, 240, 100, MIDDLE)
    down(document, 420, 100, RIGHT)
    for height in (80, 147, 220):
        document.line(60, height, 560, height)
    [page] = read(bytes(document.output())).pages
    assert [line for line in page.text.split("\n") if line] == LEFT + MIDDLE + RIGHT


def test_a_drawing_is_no_table(read: Read) -> None:
    document = sheet()
    document.add_page()
    document.line(100, 100, 100, 300)
    document.line(50, 200, 300, 200)
    for tick in range(3):
        document.line(95, 120 + 60 * tick, 105, 120 + 60 * tick)
        document.text(80, 120 + 60 * tick, str(tick))
    [page] = read(bytes(document.output())).pages
    assert not page.blocks
    assert "|" not in page.text


def test_headings_by_type_and_by_outline(read: Read) -> None:
    document = sheet()
    document.add_page()
    document.set_font_size(20)
    document.text(60, 60, "Leases")
    document.set_font_size(14)
    document.text(60, 100, "Rent and its day")
    document.set_font_size(10)
    down(document, 60, 140, LEFT)
    [page] = read(bytes(document.output())).pages
    assert [(block.level, block.title) for block in page.blocks] == [(1, "Leases"), (2, "Rent and its day")]

    document = sheet()
    document.add_page()
    document.start_section("Rent and its day", level=0)
    document.text(60, 60, "3 Rent and its day")
    down(document, 60, 100, LEFT)
    [page] = read(bytes(document.output())).pages
    assert [(block.kind, block.level, block.title) for block in page.blocks] == [
        (BlockKind.HEADING, 1, "3 Rent and its day")
    ]


def test_lists_and_listings_are_blocks(read: Read) -> None:
    document = sheet()
    document.add_page()
    down(document, 60, 100, ["First some words.", "1. one item", "2. another item", "3. a third"])
    document.set_font("Courier", size=10)
    down(document, 60, 200, ["while True:", "    wait()"])
    [page] = read(bytes(document.output())).pages
    assert [(block.kind, page.text[block.start : block.end].split("\n")[0]) for block in page.blocks] == [
        (BlockKind.LIST, "1. one item"),
        (BlockKind.CODE, "while True:"),
    ]


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_words_stand_where_the_page_shows_them(read: Read, degrees: int) -> None:
    [page] = read(documents.rotated_pdf("Alpha beta gamma", degrees)).pages
    assert page.text == "Alpha beta gamma"
    assert_places(page)
    first, last = page.words[0], page.words[-1]
    across, along = last.left - first.left, last.top - first.top
    assert {0: across > 0.05, 90: along > 0.05, 180: across < -0.05, 270: along < -0.05}[degrees]


def test_text_written_up_the_page_comes_after_the_rest(read: Read) -> None:
    document = sheet()
    document.add_page()
    with document.rotation(90, 30, 500):
        document.text(30, 500, "written up the margin")
    down(document, 60, 100, LEFT)
    [page] = read(bytes(document.output())).pages
    assert page.text == "\n".join(LEFT) + "\n\nwritten up the margin"
    assert_places(page)


def letters(text: str, shared: str = "") -> list[Letter]:
    """Letters from right to left; those in `shared` stand on one place, as glyphs for several letters do."""
    at = text.find(shared) if shared else -1
    return [
        Letter(letter, index, -float(at if at <= index < at + len(shared) else index), 0.0)
        for index, letter in enumerate(text)
    ]


def test_right_to_left_lines_are_put_in_logical_order() -> None:
    def words(line: list[Letter]) -> list[str]:
        return [text for text, _ in logical_words(line)]

    assert words(letters("حلول فعالة")) == ["حلول", "فعالة"]
    assert words(letters("\u0627\u0625\u0644\u0646", shared="\u0625\u0644")) == ["\u0627\u0644\u0625\u0646"]
    assert words(letters("\u0623\u064a \u064b\u0636\u0627")) == ["\u0623\u064a\u0636\u064b\u0627"]
    latin = [Letter(letter, at, float(at - 10), 0.0) for at, letter in enumerate("Python")]
    assert words([*latin, Letter("\u0645", 6, -11.0, 0.0), Letter("\u0646", 7, -12.0, 0.0)]) == [
        "Python",
        "\u0645\u0646",
    ]


def test_the_last_line_of_a_right_to_left_paragraph_is_not_indented(read: Read) -> None:
    lines = ["השוכר משלם את שכר הדירה ביום השלישי בכל חודש", "והמשכיר מתקן את החימום בתוך חמישה ימים בלבד"]
    drawn = [visual(line) for line in lines]
    assert [page.text for page in read(glyph_pdf([drawn], right_to_left=True)).pages] == ["\n".join(lines)]


@pytest.mark.parametrize(
    "line",
    [
        "גרסה Windows 11 ומספר 48213 עד 31.3.2027",
        "הקובץ (lease.pdf) של הדיירת החדשה Anna Maria Keller (Berlin)",
        "שעה 12:30, 15% מתוך 1,250.50 לפי סעיף 7",
        "הוזמן ב-Python וב-Rust 3 פעמים",
        "العقد ٤٨٢١٣ بتاريخ ٣١/٣/٢٠٢٧ مع Anna Keller",
    ],
)
def test_latin_words_and_numbers_within_right_to_left_writing(line: str, read: Read) -> None:
    before = "השוכר משלם את שכר הדירה ביום השלישי בכל חודש ועוד דמי ועד"
    [page] = read(glyph_pdf([[visual(before), visual(line)]], right_to_left=True)).pages
    assert page.text == f"{before}\n{line}"
