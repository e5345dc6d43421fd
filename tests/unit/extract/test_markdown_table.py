from workers.extract.markdown_table import Cell, markdown_rows


def rows(*lines: str) -> list[list[Cell]]:
    return [[Cell(text.strip()) for text in line.split(",")] for line in lines]


def test_merged_cells_stand_once_and_keep_the_columns() -> None:
    table = [
        [Cell("Class", 2), Cell("Note", rows=2)],
        [Cell("a"), Cell("b")],
        [Cell("1", rows=9), Cell("2"), Cell("3")],
        [Cell("4"), Cell("5")],
    ]
    lines, header = markdown_rows(table)
    assert lines == ["| Class |  | Note |", "| a | b |  |", "| 1 | 2 | 3 |", "|  | 4 | 5 |"]
    assert header == 2


def test_empty_rows_and_right_columns_are_left_out() -> None:
    assert markdown_rows(rows("a,b,", ",,", "c,,"))[0] == ["| a | b |", "| c |  |"]
    assert markdown_rows(rows(",", ",")) == ([], 0)
    assert markdown_rows([]) == ([], 0)


def test_a_row_of_numbers_or_a_single_label_is_no_header() -> None:
    assert markdown_rows(rows("2023,2024", "a,b"))[1] == 0
    assert markdown_rows(rows("What,", "a,b"))[1] == 0
    assert markdown_rows(rows("What,How", "a,b"))[1] == 1
    assert markdown_rows(rows("What,How"))[1] == 0


def test_a_declared_header_counts_shown_rows() -> None:
    assert markdown_rows(rows(",", "2023,2024", "a,b"), 2)[1] == 1


def test_spans_beyond_reason_are_cut() -> None:
    lines, _ = markdown_rows([[Cell("a", 10**9), Cell("b"), Cell("c")], [Cell("d")]])
    assert lines[0].startswith("| a |")
    assert lines[0].endswith("| b | c |")
    assert len(lines[0]) < 5_000
