"""Tables without rules, and what looks like one and is none."""

from collections.abc import Sequence

import pytest
from fpdf import FPDF

from pincite.documents import BlockKind
from tests import documents
from tests.unit.extract.test_pdf_tables import GIVEN, Read, assert_places, markdown, read, sheet
from workers.extract.pdf_running_prose import runs_on

__all__ = ["read"]

HEAD = ("Country", "People", "Capital", "Founded")
ROWS = [
    ("Austria", "8.9", "Vienna", "1156"),
    ("Czech Republic", "10.7", "Prague", "1085"),
    ("Portugal", "10.3", "Lisbon", "1143"),
    ("Slovenia", "2.1", "Ljubljana", "1991"),
    ("Switzerland", "8.7", "Bern", "1291"),
]
PROSE = documents.PARAGRAPH.split()


def table(document: FPDF, rows: Sequence[Sequence[str]], top: float = 100, lefts: Sequence[float] = ()) -> None:
    """Rows of cells without a line; cells that begin with a digit stand at the right of their column."""
    for number, row in enumerate(rows):
        for left, cell in zip(lefts or (60, 200, 300, 420), row, strict=False):
            shift = 40 - document.get_string_width(cell) if cell[:1].isdigit() and left > 60 else 0
            document.text(left + shift, top + 14 * number, cell)


def test_a_table_without_rules(read: Read) -> None:
    document = sheet()
    document.add_page()
    document.text(60, 60, "What the five countries of the survey have in common is shown by the numbers below.")
    table(document, [HEAD, *ROWS])
    document.text(60, 230, "None of the numbers was counted twice, and all of them are from the year before the last.")
    [page] = read(bytes(document.output())).pages
    [block] = page.blocks
    assert block.kind is BlockKind.TABLE
    assert page.text[block.start : block.end].split("\n") == [markdown(row) for row in (HEAD, *ROWS)]
    assert block.title == markdown(HEAD)
    assert page.text.startswith("What the five countries")
    assert page.text.endswith("before the last.")
    assert_places(page)
    lisbon = next(word for word in page.words if page.text[word.start : word.end] == "Lisbon")
    assert (round(lisbon.left * 595.28), round(lisbon.bottom * 841.89)) == (300, 144)


def test_columns_drawn_one_after_the_other(read: Read) -> None:
    document = sheet()
    document.add_page()
    for left, column in zip((60, 200, 300, 420), zip(HEAD, *ROWS, strict=True), strict=True):
        for number, cell in enumerate(column):
            document.text(left, 100 + 14 * number, cell)
    [page] = read(bytes(document.output())).pages
    assert page.text.split("\n") == [markdown(row) for row in (HEAD, *ROWS)]
    assert_places(page)


def test_a_table_of_names_and_numbers_has_no_header_row(read: Read) -> None:
    document = sheet()
    document.add_page()
    rows = [(name, people, founded) for name, people, _, founded in ROWS]
    table(document, rows)
    [page] = read(bytes(document.output())).pages
    [block] = page.blocks
    assert page.text.split("\n") == [markdown(row) for row in rows]
    assert block.title == ""


def test_empty_cells_and_wrapped_cells(read: Read) -> None:
    document = sheet()
    document.add_page()
    rows = [
        ("Part", "Use", "Pieces"),
        ("A-1", "Holds the lid", "4"),
        ("A-2", "Keeps water", "2"),
        ("", "out of it", ""),
    ]
    rows += [("B-7", "", "12"), ("C-3", "Stands on it", "8")]
    table(document, rows)
    [page] = read(bytes(document.output())).pages
    assert page.text.split("\n") == [
        "| Part | Use | Pieces |",
        "| A-1 | Holds the lid | 4 |",
        "| A-2 | Keeps water out of it | 2 |",
        "| B-7 |  | 12 |",
        "| C-3 | Stands on it | 8 |",
    ]
    assert_places(page)


def test_a_bold_first_row_over_words_is_a_header_row(read: Read) -> None:
    rows = [
        ("Room", "Colour", "Owner"),
        ("Kitchen", "green", "Anna"),
        ("Hall", "white", "Bert"),
        ("Cellar", "grey", "Ida"),
    ]
    document = sheet()
    document.add_page()
    document.set_font("Helvetica", "B", 10)
    table(document, rows[:1])
    document.set_font("Helvetica", "", 10)
    table(document, rows[1:], top=114)
    [page] = read(bytes(document.output())).pages
    [block] = page.blocks
    assert (block.title, page.text.split("\n")) == (markdown(rows[0]), [markdown(row) for row in rows])


def test_the_header_row_on_the_next_page_is_kept_once(read: Read) -> None:
    document = sheet()
    for rows, top in ((ROWS[:3], 730), (ROWS[2:], 60)):
        document.add_page()
        table(document, [HEAD, *rows], top=top)
    first, second = read(bytes(document.output())).pages
    assert first.text.split("\n") == [markdown(row) for row in (HEAD, *ROWS[:3])]
    assert second.text.split("\n") == [markdown(row) for row in ROWS[2:]]
    assert (second.blocks[0].title, second.furniture) == (markdown(HEAD), markdown(HEAD))


def lines_of(words: int, count: int, shift: int = 0) -> list[str]:
    return [" ".join(PROSE[(at * 5 + shift + word) % len(PROSE)] for word in range(words)) for at in range(count)]


@pytest.mark.parametrize("words", [2, 3, 5])
def test_columns_of_prose_are_no_table(read: Read, words: int) -> None:
    document = sheet()
    document.add_page()
    columns = [lines_of(words, 12, shift) for shift in range(3)]
    table(document, list(zip(*columns, strict=True)), lefts=(60, 220, 380))
    [page] = read(bytes(document.output())).pages
    assert "|" not in page.text


NO_TABLES = {
    "contents": [
        ("1", "Introduction", "3"), ("1.1", "The rent", "4"), ("1.2", "The heating", "9"), ("2", "Notice", "12"),
    ],
    "contents with leaders": [(f"{at}", "Chapter . . . . . . .", f"{at * 7}") for at in range(1, 8)],
    "a matrix": [("1", "0", "0"), ("0", "1", "0"), ("0", "0", "1"), ("2", "4", "7")],
    "a matrix of symbols": [("a", "b", "c"), ("d", "e", "f"), ("x", "y", "2"), ("u", "v", "3")],
    "addresses": [
        ("Harbour Ltd", "Phone 030 1234", "Bank of Hull"), ("5 Quay Street", "Fax 030 1235", "IBAN DE02 1203"),
        ("10115 Berlin", "mail@harbour.example", "BIC BYLADEM1"), ("Germany", "harbour.example", "VAT 812"),
    ],
    "names": [
        ("Anna Berg", "Carl Dorn", "Emil Fuchs"), ("Hull", "Leeds", "York"),
        ("a@x.example", "c@x.example", "e@x.example"),
    ],
    "an index": [
        ("apple", "12", "plum", "7"), ("barley", "4", "quince", "31"), ("cherry", "9", "rye", "2"),
        ("date", "1", "salt", "3"),
    ],
    "two rows": [("Country", "People", "Founded"), ("Austria", "8.9", "1156")],
    "two columns": [(name, people) for name, people, *_ in ROWS],
}  # fmt: skip


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_only_looks_like_a_table_is_none(read: Read, name: str) -> None:
    document = sheet()
    document.add_page()
    table(document, NO_TABLES[name])
    [page] = read(bytes(document.output())).pages
    assert "|" not in page.text
    assert not [block for block in page.blocks if block.kind is BlockKind.TABLE]
    for row in NO_TABLES[name]:
        for cell in row:
            assert cell in page.text


MUSEUM = [
    "The museum was opened by the", "mayor in 1962. Since then the", "collection has grown steadily,",
    "and a second house was built in", "the park. In winter it is closed", "on Mondays and on feast days.",
]  # fmt: skip


def test_a_list_of_numbers_beside_a_column_of_prose_is_no_table(read: Read) -> None:
    visitors = [("Month", "Visitors"), *zip(("January", "February", "March", "April", "May"), "35678", strict=True)]
    document = sheet()
    document.add_page()
    table(document, visitors, lefts=(50, 150))
    table(document, [(line,) for line in MUSEUM], lefts=(320,))
    [page] = read(bytes(document.output())).pages
    assert "|" not in page.text
    assert "\n".join(MUSEUM) in page.text


@pytest.mark.parametrize("leading", [14, 12])
def test_a_table_ends_at_a_column_of_prose(read: Read, leading: int) -> None:
    rows = [(name, people, founded) for name, people, _, founded in (HEAD, *ROWS)]
    document = sheet()
    document.add_page()
    table(document, rows, lefts=(40, 150, 220))
    for number, line in enumerate(MUSEUM):
        document.text(340, 100 + leading * number, line)
    [page] = read(bytes(document.output())).pages
    [block] = page.blocks
    assert page.text[block.start : block.end].split("\n") == [markdown(row) for row in rows]
    assert "\n".join(MUSEUM) in page.text
    assert_places(page)


def test_a_column_of_sentences_stays_in_its_table(read: Read) -> None:
    rows = [
        ("No.", "Speaker", "Words"),
        ("1", "Judge", "Were you at home"),
        ("2", "Witness", "Yes, your honour, I was"),
        ("3", "Judge", "When did you go out"),
        ("4", "Witness", "At nine, I believe."),
    ]
    document = sheet()
    document.add_page()
    table(document, rows, lefts=(50, 140, 230))
    [page] = read(bytes(document.output())).pages
    assert page.text.split("\n") == [markdown(row) for row in rows]


UNDER_BOLD = {
    "prose": [
        ("Our service", "Our prices", "Our people"), ("We come to", "They are low", "They learned"),
        ("your house", "and honest,", "their craft"), ("and repair", "and you pay", "in a long"),
        ("what broke.", "at the end.", "hard school."),
    ],
    "prose of single words": [
        ("Service", "Prices", "People"), ("We", "They", "They"), ("repair", "stay", "learned"),
        ("everything", "low", "for"), ("quickly", "always", "years"),
    ],
    "authors": [
        ("Anna Keller", "Bernd Maier", "Carla Rossi"), ("Dept. of Law", "Sloan School", "Informatics"),
        ("University of Bonn", "MIT", "ETH Zurich"), ("anna@uni.example", "bernd@mit.example", "carla@eth.example"),
    ],
    "authors in single words": [
        ("Keller", "Maier", "Rossi"), ("Law", "Economics", "Informatics"), ("Bonn", "Boston", "Zurich"),
        ("anna@uni.example", "bernd@mit.example", "carla@eth.example"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", UNDER_BOLD)
def test_a_bold_row_alone_makes_no_table(read: Read, name: str) -> None:
    rows = UNDER_BOLD[name]
    document = sheet()
    document.add_page()
    document.set_font("Helvetica", "B", 10)
    table(document, rows[:1], lefts=(50, 200, 350))
    document.set_font("Helvetica", "", 10)
    table(document, rows[1:], top=114, lefts=(50, 200, 350))
    [page] = read(bytes(document.output())).pages
    assert "|" not in page.text
    for cell in (cell for row in rows for cell in row):
        assert cell in page.text


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["The landlord repairs", "the heating within", "five days, and", "pays for it."], True),
        (["green", "white", "grey", "black"], False),
        (["per month", "per year", "in euro", "per day"], False),
        (["Holds the lid", "Keeps the water in", "Stands on it", "Turns"], False),
        (["賃料は毎月三日に支払うものとし賃貸人は", "暖房を五日以内に修理して通知を受けた日", "に知らせるもの"], True),
        (["東京都", "大阪府", "京都府"], False),
        (["يدفع المستأجر الأجرة في اليوم", "الثالث من كل شهر ويصلح", "المؤجر التدفئة خلال خمسة أيام"], True),
        (["مصر", "لبنان", "الأردن"], False),
    ],
)
def test_whether_a_column_runs_on(column: list[str], expected: bool) -> None:
    assert runs_on(column) is expected


@pytest.mark.skipif(not GIVEN.is_dir(), reason="the given documents are not here")
@pytest.mark.parametrize(
    "name", ["geotopo-book", "crazyones", "rtl-arabic-latin", "two-column-paper-2p", "form-pdflatex"]
)
def test_given_prose_has_no_tables(read: Read, name: str) -> None:
    pages = read((GIVEN / f"{name}.pdf").read_bytes()).pages
    assert not [page.number for page in pages for block in page.blocks if block.kind is BlockKind.TABLE]
