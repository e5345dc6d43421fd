import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fpdf import FPDF

from pincite.documents import BlockKind, Extracted, PageText
from pincite.embedding import token_counter
from pincite.settings import Settings
from workers.chunk import chunk
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions

GIVEN = Path(__file__).parents[4] / "shared" / "data" / "pdfs"
HEAD = ("Item", "Price in euro")
ROWS = [(f"Thing number {at}", f"{at * 11},50") for at in range(1, 91)]

Read = Callable[[bytes], Extracted]


@pytest.fixture
def read(tmp_path: Path, options: ReaderOptions) -> Read:
    def read_bytes(data: bytes) -> Extracted:
        path = tmp_path / "original"
        path.write_bytes(data)
        return extract(path, "file.pdf", options)

    return read_bytes


def sheet() -> FPDF:
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    document.set_font("Helvetica", size=10)
    return document


def markdown(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def over_pages(rows: Sequence[Sequence[str]], each: int, heads: Sequence[Sequence[str]] = (HEAD,)) -> FPDF:
    """A ruled table with its header rows on each page."""
    document = sheet()
    for at in range(0, len(rows), each):
        document.add_page()
        with document.table(width=300, col_widths=(1, 1), num_heading_rows=0, first_row_as_headings=False) as table:
            for row in (*heads, *rows[at : at + each]):
                table.row(row)
    return document


def assert_places(page: PageText) -> None:
    """Words cover the text in order, and hold no white space."""
    for before, after in itertools.pairwise(page.words):
        assert before.end <= after.start
    for word in page.words:
        seen = page.text[word.start : word.end]
        assert seen.split() == [seen]
        assert 0 <= word.left < word.right <= 1
        assert 0 <= word.top < word.bottom <= 1
    for one, other in itertools.pairwise(page.blocks):
        assert one.end <= other.start


def test_a_header_row_on_each_page_is_kept_once(read: Read) -> None:
    pages = read(bytes(over_pages(ROWS, 30).output())).pages
    head = markdown(HEAD)
    for number, page in enumerate(pages):
        expected = [markdown(row) for row in ROWS[30 * number : 30 * number + 30]]
        assert page.text.split("\n") == ([head] if number == 0 else []) + expected
        assert page.furniture == ("" if number == 0 else head)
        [block] = page.blocks
        assert (block.kind, block.title) == (BlockKind.TABLE, head)
        assert_places(page)


def test_a_chunk_from_a_later_page_is_embedded_with_the_header_row_and_quotes_it_not(read: Read) -> None:
    text = assemble(read(bytes(over_pages(ROWS, 30).output())))
    chunks = chunk(text, "prices.pdf", token_counter(Settings.model_validate({})))
    later = [each for each in chunks if each.start >= text.pages[1].start]
    assert later
    for each in later:
        assert markdown(HEAD) in each.header
        assert markdown(HEAD) not in each.content
        assert text.text[each.start : each.end] == each.content


def test_header_rows_over_several_columns_are_kept_once(read: Read) -> None:
    heads = (("Prices", ""), HEAD)
    first, second = read(bytes(over_pages(ROWS, 45, heads).output())).pages
    assert first.text.split("\n")[:3] == [markdown(row) for row in (*heads, ROWS[0])]
    assert second.text.split("\n")[0] == markdown(ROWS[45])
    assert second.furniture.split("\n") == [markdown(row) for row in heads]


def test_a_row_that_also_stands_among_the_rows_is_no_header(read: Read) -> None:
    rows = [("Boeing Company", "23 people"), ("Safeway", "15 people"), ("Boeing Company", "23 people")] * 4
    pages = read(bytes(over_pages(rows, 6, heads=()).output())).pages
    assert [page.text.count("\n") + 1 for page in pages] == [6, 6]
    assert [page.furniture for page in pages] == ["", ""]


def two_tables(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], top: float) -> bytes:
    """Ruled tables on two pages, the first from `top` on; a first row that ends with an exclamation mark is bold."""
    document = sheet()
    for rows, start in ((first, top), (second, 40)):
        document.add_page()
        for number, row in enumerate(rows):
            document.set_font("Helvetica", "B" if row[-1].endswith("!") else "", 10)
            for column, cell in enumerate(row):
                document.text(64 + 150 * column, start + 13 + 18 * number, cell)
                document.rect(60 + 150 * column, start + 18 * number, 150, 18)
    return bytes(document.output())


FOOT, MIDDLE = 730, 60
OWN_ROWS = {
    "entries": ([("Name", "Anna Keller"), ("Street", "Quay 5"), ("Town", "Hull")],
                [("Name", "Anna Keller"), ("Phone", "0301234"), ("Mail", "a@b.example")], FOOT),
    "words": ([("Rest", "Day"), ("Work", "Day"), ("Work", "Night")], [("Rest", "Day"), ("Work", "Late")], FOOT),
    "numbers": ([("North", "12"), ("South", "15"), ("East", "9")], [("North", "12"), ("West", "4")], FOOT),
    "another table": ([("Team", "Points"), ("Ajax", "3"), ("Hull", "4")], [("Team", "Points"), ("York", "3")], MIDDLE),
    "another bold table": ([("Room", "Owner!"), ("Hall", "Ida")], [("Room", "Owner!"), ("Attic", "Bert")], MIDDLE),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN_ROWS)
def test_an_equal_first_row_is_kept_where_it_may_be_the_tables_own(read: Read, name: str) -> None:
    rows, more, top = OWN_ROWS[name]
    first, second = read(two_tables(rows, more, top)).pages
    assert first.text.split("\n") == [markdown(row) for row in rows]
    assert (second.text.split("\n"), second.furniture) == ([markdown(row) for row in more], "")


def test_a_bold_row_is_a_header_row_without_numbers_below(read: Read) -> None:
    head = ("Room", "Owner!")
    _, second = read(two_tables([head, ("Hall", "Ida")], [head, ("Attic", "Bert"), ("Yard", "Anna")], FOOT)).pages
    assert second.text.split("\n") == [markdown(("Attic", "Bert")), markdown(("Yard", "Anna"))]
    assert (second.furniture, second.blocks[0].title) == (markdown(head), markdown(head))


def test_an_equal_row_of_data_below_the_header_is_kept(read: Read) -> None:
    rows = [("", "Sales"), ("North", "10"), ("South", "20")]
    _, second = read(two_tables(rows, [*rows[:2], ("West", "30")], FOOT)).pages
    assert second.text.split("\n") == [markdown(("North", "10")), markdown(("West", "30"))]
    assert second.furniture == markdown(rows[0])


def test_another_table_with_the_same_header_row_keeps_it(read: Read) -> None:
    document = sheet()
    for title in ("Prices of the summer", "What the winter costs"):
        document.add_page()
        document.cell(0, 20, title, new_x="LMARGIN", new_y="NEXT")
        with document.table(width=300, col_widths=(1, 1), first_row_as_headings=False) as table:
            for row in (HEAD, *ROWS[:4]):
                table.row(row)
    for page in read(bytes(document.output())).pages:
        assert markdown(HEAD) in page.text.split("\n")
        assert page.furniture == ""


def test_a_line_that_says_continued_does_not_part_a_table(read: Read) -> None:
    document = sheet()
    for number in (0, 1):
        document.add_page()
        if number:
            document.cell(0, 20, "Table 1 (continued)", new_x="LMARGIN", new_y="NEXT")
        with document.table(width=300, col_widths=(1, 1), first_row_as_headings=False) as table:
            for row in (HEAD, *ROWS[4 * number : 4 * number + 4]):
                table.row(row)
    _, second = read(bytes(document.output())).pages
    assert second.text.split("\n") == ["Table 1 (continued)", "", *map(markdown, ROWS[4:8])]
    assert second.furniture == markdown(HEAD)


@pytest.mark.skipif(not GIVEN.is_dir(), reason="the given documents are not here")
def test_the_header_row_of_a_long_given_table_is_known_on_each_page(read: Read) -> None:
    pages = read((GIVEN / "warn-report-table-16p.pdf").read_bytes()).pages
    head = "| Notice Date | Effective | Received | Company | City | No. Of | Layoff/Closure |"
    for page in pages[:15]:
        block = next(block for block in page.blocks if block.kind is BlockKind.TABLE)
        assert block.title == head
        rows = page.text[block.start : block.end].split("\n")
        assert all(row.count("|") == 8 for row in rows)
        assert (head in rows) == (page.number == 1)
    [summary] = [block for block in pages[15].blocks if block.kind is BlockKind.TABLE]
    assert summary.title.startswith("| Summary by Month | Notices |")
