"""Tables as text: which fields, in which rows and columns, whatever stands between them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.documents import Cells, Extracted, PageKind
from pincite.failures import DocumentFailure, FailureCode
from workers.extract import assemble, extract
from workers.extract.csv_table import dialect_of
from workers.extract.options import ReaderOptions


def read(tmp_path: Path, data: str | bytes, options: ReaderOptions, name: str = "costs.csv") -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return extract(path, name, options)


def lines(extracted: Extracted) -> list[str]:
    return extracted.pages[0].text.split("\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_what_stands_between_the_fields_is_found(tmp_path: Path, options: ReaderOptions, delimiter: str) -> None:
    data = 'name,town,costs\nAnn,Bonn,12\n"Bob, Jr; |\tor so",Rome,7\n'.replace(",", delimiter, 2)
    rows = [["name", "town", "costs"], ["Ann", "Bonn", "12"], [f'"Bob{delimiter} Jr"', "Rome", "7"]]
    data = "\r\n".join(delimiter.join(row) for row in rows)
    extracted = read(tmp_path, data, options, "costs.tsv" if delimiter == "\t" else "costs.csv")
    shown = "\\|" if delimiter == "|" else "" if delimiter == "\t" else delimiter
    assert lines(extracted) == ["| name | town | costs |", "| Ann | Bonn | 12 |", f"| Bob{shown} Jr | Rome | 7 |"]
    assert extracted.page_kind is PageKind.SHEET
    assert extracted.pages[0].label is None
    assert extracted.pages[0].blocks[0].title == "| name | town | costs |"


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("1,5;2,5;3,5\n4,5;5,5;6,5", ";"),
        ("a;b\nx, y, z;1\nu;2\nv, w;3", ";"),
        ("one line of prose, with a comma", ","),
        ("alone\n1\n2", ","),
        ("a|b\n1|2", "|"),
        ("sep=#\na#b", "#"),
        ("", ","),
        ('a\tb\n"x;y;z"\t"p;q;r"', "\t"),
    ],
)
def test_delimiters(text: str, delimiter: str) -> None:
    assert dialect_of(text)[0].delimiter == delimiter


def test_rows_count_as_in_a_spreadsheet(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, 'sep=;\na;b\n"two\nlines";1\n\n;;x\n', options)
    assert lines(extracted) == ["| a | b |", "| two lines | 1 |", "", "| x |"]
    assert extracted.pages[0].places == (
        Cells(0, 9, 1, 1, 1, 2),
        Cells(10, 27, 2, 2, 1, 2),
        Cells(29, 34, 4, 4, 3, 3),
    )


def test_ragged_rows_and_gaps_keep_their_columns(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, "a,b,c\n1\n,2,3,4\n1,,3\n", options)
    assert lines(extracted) == ["| a | b | c |", "| 1 |", "|  | 2 | 3 | 4 |", "| 1 |  | 3 |"]


def test_quotation_marks(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, 'a,b\n"say ""hi""",5" pipe\n"a|b",\n', options)
    assert lines(extracted) == ["| a | b |", '| say "hi" | 5" pipe |', "| a\\|b |"]
    assert not extracted.warnings


def test_a_quotation_mark_that_never_closes_does_not_swallow_the_rows(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, 'a,b\n"open,1\n2,3\n', options)
    assert lines(extracted) == ["| a | b |", '| "open | 1 |', "| 2 | 3 |"]
    assert [warning.code for warning in extracted.warnings] == ["open_quote"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(tmp_path: Path, options: ReaderOptions, encoding: str) -> None:
    data = "Straße;Größe\nMünchen;12\nKöln;7\n".encode(encoding)
    assert lines(read(tmp_path, data, options)) == ["| Straße | Größe |", "| München | 12 |", "| Köln | 7 |"]


def test_leading_zeros_and_long_cells_stay(tmp_path: Path, options: ReaderOptions) -> None:
    long = "word " * 40_000
    assert lines(read(tmp_path, f"zip,note\n01234,{long}\n", options))[1] == f"| 01234 | {long.strip()} |"


def test_nothing_to_see(tmp_path: Path, options: ReaderOptions) -> None:
    with pytest.raises(DocumentFailure) as raised:
        assemble(read(tmp_path, ',,\n" ",\n', options))
    assert raised.value.code is FailureCode.NO_TEXT


def test_too_much(tmp_path: Path, options: ReaderOptions) -> None:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, "a,b\n" * 1_000, replace(options, max_characters=5_000))
    assert raised.value.code is FailureCode.TOO_LARGE


@given(st.lists(st.lists(st.text("ab ,;|\t\"'\n1.€", max_size=6), min_size=1, max_size=4), min_size=1, max_size=6))
def test_any_text_is_cut_into_records(rows: list[list[str]]) -> None:
    text = "\n".join(",".join(row) for row in rows)
    dialect, begin = dialect_of(text)
    records = list(dialect.records(text[begin:]))
    kept = "".join(field for record in records for field in record)
    assert [character for character in kept if character in "ab1€"] == [each for each in text if each in "ab1€"]
