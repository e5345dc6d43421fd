"""Chunks of sheets: whole rows under their header row, with the exact range of cells as their place."""

import pytest

from pincite.documents import CanonicalText, Chunk, Extracted, PageKind
from pincite.embedding import TokenCounter, token_counter
from pincite.locators import RangeLocator, locate, resolve, resolve_fragment
from pincite.settings import Settings
from workers.chunk import chunk
from workers.extract import assemble
from workers.extract.options import ReaderOptions
from workers.extract.sheets import Row, SheetPages, Value
from workers.reading import reader_options

TOKENS: TokenCounter = token_counter(Settings(model="all-MiniLM-L6-v2"))
HEAD = "| Number | Customer | Note | Price |"


@pytest.fixture
def options() -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": "unused"}))


def sheets(found: dict[str | None, list[Row]], options: ReaderOptions) -> CanonicalText:
    pages = SheetPages(options)
    for name, rows in found.items():
        pages.add(name, pages.collected(rows), [])
    return assemble(Extracted("made/1", pages=tuple(pages.pages), page_kind=PageKind.SHEET))


def table(count: int, note: str = "delivered to the back door", first_row: int = 1) -> list[Row]:
    head = dict(enumerate(("Number", "Customer", "Note", "Price"), 2))
    rows = [Row(first_row, head)]
    for number in range(1, count + 1):
        cells = {2: Value(str(number)), 3: f"Customer {number}", 4: note, 5: Value(f"{number * 1.25:.2f} €")}
        rows.append(Row(first_row + number, cells))
    return rows


def places(text: CanonicalText, chunks: list[Chunk]) -> list[str]:
    found = []
    for item in chunks:
        locator = locate(text, item.start, item.end, item.section)
        assert isinstance(locator, RangeLocator)
        assert resolve(locator, text) == item.content == text.text[item.start : item.end]
        assert resolve_fragment(locator.fragment, text) == item.content
        found.append(locator.label)
    return found


@pytest.mark.parametrize("name", ["Costs & more", None])
def test_a_long_sheet(options: ReaderOptions, name: str | None) -> None:
    text = sheets({name: table(500, first_row=11)}, options)
    chunks = chunk(text, "costs.xlsx", TOKENS)
    assert len(chunks) > 20
    row = 11
    for item, place in zip(chunks, places(text, chunks), strict=True):
        lines = item.content.split("\n")
        assert all(line.startswith("| ") and line.endswith(" |") for line in lines)
        assert place == f"{f'{name}!' if name else ''}B{row}:E{row + len(lines) - 1}"
        assert (HEAD in item.header) is (row > 11)
        assert HEAD in item.embedded_text
        assert not name or name in item.header
        assert item.tokens <= TOKENS.window
        row += len(lines)
    assert row == 11 + 501


def test_a_row_over_the_window_is_cut_and_the_others_are_not(options: ReaderOptions) -> None:
    rows = table(20)
    rows[10].cells[4] = "a very long story, " * 300
    text = sheets({"S": rows}, options)
    chunks = chunk(text, "costs.xlsx", TOKENS)
    ranges = [locate(text, item.start, item.end).label for item in chunks]
    cut = [label for label in ranges if label.endswith(("11:E11", "11:D11"))]
    assert len(cut) > 3
    assert set(cut) == {"S!B11:D11", "S!B11:E11"}
    whole = [item for item, label in zip(chunks, ranges, strict=True) if label not in cut]
    assert all(line.startswith("| ") and line.endswith(" |") for item in whole for line in item.content.split("\n"))
    assert "".join("".join(item.content.split()) for item in chunks) == "".join(text.text.split())


def test_parts_of_a_wide_row_name_their_own_cells(options: ReaderOptions) -> None:
    row = Row(7, {column: f"value number {column}" for column in range(1, 1_001) if column % 10})
    text = sheets({"Wide": [row]}, options)
    assert resolve_fragment("#sheet=Wide&range=A7:ALL7", text) == text.text
    chunks = chunk(text, "wide.xlsx", TOKENS)
    assert len(chunks) > 10
    for item in chunks:
        locator = locate(text, item.start, item.end)
        assert isinstance(locator, RangeLocator)
        shown = resolve_fragment(locator.fragment, text)
        assert set(item.content.split()) <= {*shown.split(), "|"}
        assert len(shown) < len(item.content) + 2 * 100


def test_no_chunk_runs_over_the_end_of_a_sheet(options: ReaderOptions) -> None:
    text = sheets({"One": table(3), "Empty": [], "Two": table(2, first_row=5)}, options)
    assert places(text, chunk(text, "costs.xlsx", TOKENS)) == ["One!B1:E4", "Two!B5:E7"]


def test_the_caption_of_a_table_goes_with_every_part(options: ReaderOptions) -> None:
    rows = [Row(1, {2: "Costs of the garden"}), *table(100, first_row=3)]
    chunks = chunk(sheets({"S": rows}, options), "costs.xlsx", TOKENS)
    assert len(chunks) > 3
    assert all("Costs of the garden" in item.embedded_text and HEAD in item.embedded_text for item in chunks)
