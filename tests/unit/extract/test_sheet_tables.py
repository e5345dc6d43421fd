"""Where the tables of a sheet begin and end, and what their head is."""

import re

from pincite.documents import Cells
from workers.extract.options import ReaderOptions
from workers.extract.sheet_tables import Area, Row, Table, Value, tables, without_covered
from workers.extract.sheets import SheetPages


def rows(drawn: str) -> list[Row]:
    """A sheet as it is drawn: a line for each row, cells between bars, digits are values."""
    found = []
    for number, line in enumerate(drawn.strip("\n").split("\n"), 1):
        cells = {at: text.strip() for at, text in enumerate(line.split("|"), 1) if text.strip()}
        if cells:
            found.append(
                Row(number, {at: Value(text) if re.match(r"\d", text) else text for at, text in cells.items()})
            )
    return found


def heads(found: list[Table]) -> list[list[list[str]]]:
    return [[list(row.cells.values()) for row in table.rows[: table.head]] for table in found]


def found_in(drawn: str) -> list[Table]:
    return list(tables(rows(drawn)))


def test_empty_rows_end_a_table() -> None:
    found = found_in("a|b\n1|2\n\n\nc|d\n3|4\n5|6")
    assert [len(table.rows) for table in found] == [2, 3]
    assert heads(found) == [[["a", "b"]], [["c", "d"]]]


def test_a_row_of_names_over_values_is_the_head_and_so_are_years() -> None:
    assert heads(found_in("name|2023|2024\nx|1|2\ny|3|4")) == [[["name", "2023", "2024"]]]
    assert heads(found_in("1|2\n3|4\n5|6")) == [[]]
    assert heads(found_in("x|17|2\ny|1|2\nz|3|4")) == [[]]


def test_two_rows_of_names() -> None:
    assert heads(found_in("|north||south|\nyear|in|out|in|out\n1999|1|2|3|4\n2000|5|6|7|8")) == [
        [["north", "south"], ["year", "in", "out", "in", "out"]]
    ]


def test_names_over_texts_do_not_come_again_below() -> None:
    assert heads(found_in("name|town\nAnn|Bonn\nBob|Rome")) == [[["name", "town"]]]
    assert heads(found_in("yes|no\nno|yes\nyes|no")) == [[]]
    assert heads(found_in("Ann|Bonn\nBob|Rome")) == [[]]
    assert heads(found_in(f"name|town\n{'long ' * 40}|Rome\nBob|Paris")) == [[["name", "town"]]]
    assert heads(found_in(f"name|{'long ' * 40}\nAnn|Rome\nBob|Paris")) == [[]]


def test_a_lone_cell_over_a_table_is_its_caption() -> None:
    expected = [[["Costs of May"], ["item", "cost"]]]
    assert heads(found_in("Costs of May\nitem|cost\npen|1\nink|2")) == expected
    assert heads(found_in("Costs of May\n\nitem|cost\npen|1\nink|2")) == expected
    assert len(found_in("Costs of May\n\n\nitem|cost\npen|1\nink|2")) == 2


def test_tables_side_by_side_are_read_one_after_the_other() -> None:
    found = found_in("a|b||c|d\n1|2||3|4\n5|6||7|8\n||||\n9|9|||")
    assert [[list(row.cells) for row in table.rows] for table in found[:2]] == [[[1, 2]] * 3, [[4, 5]] * 3]
    assert len(found) == 3


def test_a_narrow_column_left_free_does_not_tear_a_table() -> None:
    assert len(found_in("name||2023|2024\nx||1|2\ny||3|4")) == 1


def test_tables_that_meet_at_a_corner_are_two() -> None:
    found = found_in("a|b||\n1|2||\n3|4||\n||c|d\n||5|6\n||7|8")
    assert heads(found) == [[["a", "b"]], [["c", "d"]]]


def test_merged_cells_show_their_first_cell_only() -> None:
    sheet = rows("a|a|b\na|a|1\nx|y|2")
    without_covered(sheet, [Area(1, 2, 1, 2)])
    assert [row.cells for row in sheet] == [{1: "a", 3: "b"}, {3: "1"}, {1: "x", 2: "y", 3: "2"}]


def test_merged_areas_without_end_take_bounded_time() -> None:
    sheet = [Row(number, {5: "x"}) for number in range(1, 10_001)]
    without_covered(sheet, [Area(1, 1_048_576, 1, 2)] * 100_000)
    assert all(row.cells for row in sheet)


def test_a_thin_scatter_of_cells_is_not_padded(options: ReaderOptions) -> None:
    pages = SheetPages(options)
    columns = {number: number * 7_919 % 16_001 for number in range(1, 5_001)}
    pages.add("S", pages.collected(Row(number, {column: "x"}) for number, column in columns.items()), [])
    assert pages.pages[0].text == "\n".join(["| x |"] * 5_000)
    cells = [(place.first_row, place.first_column) for place in pages.pages[0].places if isinstance(place, Cells)]
    assert cells == list(columns.items())


def test_rows_out_of_order_are_put_in_order(options: ReaderOptions) -> None:
    pages = SheetPages(options)
    found = pages.collected([Row(3, {1: "c"}), Row(1, {2: "b"}), Row(3, {1: "d"}), Row(2, {})])
    assert found == [Row(1, {2: "b"}), Row(3, {1: "d"})]
