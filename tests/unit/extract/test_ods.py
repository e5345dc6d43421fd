"""OpenDocument spreadsheets: what a person sees in each cell, and where it stands."""

from dataclasses import replace
from pathlib import Path

import pytest

from pincite.documents import Cells, Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests.workbooks import ods, ods_row
from workers.extract import assemble, extract
from workers.extract.ods_cells import plain_number
from workers.extract.options import ReaderOptions

HIDING = (
    '<style:style style:name="Two" style:family="table"><style:table-properties table:display="false"/></style:style>'
)


def valued(kind: str, shown: str, value: str, note: str = "") -> str:
    note = f"<office:annotation>{note}</office:annotation>"
    return f'<table:table-cell office:value-type="{kind}" {value}><text:p>{shown}</text:p>{note}</table:table-cell>'


def read(tmp_path: Path, data: bytes, options: ReaderOptions) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, "costs.ods", options)


def failure(tmp_path: Path, data: bytes, options: ReaderOptions) -> FailureCode:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, data, options)
    return raised.value.code


def test_values_as_they_are_shown(tmp_path: Path, options: ReaderOptions) -> None:
    cells = [
        valued("date", "31.01.24", 'office:date-value="2024-01-31"'),
        valued("percentage", "25,6 %", 'office:value="0.256"'),
        valued("currency", "1.234,50 €", 'office:value="1234.5"'),
        valued("float", "1,234,567", 'office:value="1234567"'),
        valued("boolean", "WAHR", 'office:boolean-value="true"'),
        valued("time", "36:00", 'office:time-value="PT36H"'),
        '<table:table-cell office:value-type="float" office:value="2.50"/>',
        valued("string", "two<text:s/>or</text:p><text:p>a|b", "", "<text:p>a note</text:p>"),
    ]
    extracted = read(tmp_path, ods({"S": ods_row(*cells)}), options)
    assert extracted.pages[0].text == (
        "| 2024-01-31 | 25.6 % | 1234.50 € | 1234567 | TRUE | 36:00 | 2.5 | two or a\\|b |"
    )
    assert not extracted.warnings


@pytest.mark.parametrize(
    ("shown", "value", "scale", "plain"),
    [
        ("1.234", "1234", 1, "1234"),
        ("1.234", "1.234", 1, "1.234"),
        ("-1’234.50 CHF", "-1234.5", 1, "-1234.50 CHF"),
        ("1 234,6", "1234.567", 1, "1234.6"),
        ("00123", "123", 1, "00123"),
        ("1,23E+05", "123000", 1, "1,23E+05"),
        ("12,5%", "0.125", 100, "12.5%"),
        ("n/a", "5", 1, "n/a"),
        ("1,5", "not a number", 1, "1,5"),
        ("", "nan", 1, ""),
    ],
)
def test_the_value_tells_what_the_marks_between_digits_mean(shown: str, value: str, scale: int, plain: str) -> None:
    assert plain_number(shown, value, scale) == plain


def test_repetitions_and_covered_cells(tmp_path: Path, options: ReaderOptions) -> None:
    rows = [
        '<table:table-column table:number-columns-repeated="16384"/>',
        ods_row(
            '<table:table-cell table:number-columns-repeated="16384"/>', attributes='table:number-rows-repeated="4"'
        ),
        ods_row(
            '<table:table-cell table:number-columns-repeated="2"/>',
            "wide",
            "<table:covered-table-cell><text:p>under it</text:p></table:covered-table-cell>",
            "<table:covered-table-cell/>",
            '<table:table-cell table:number-columns-repeated="2"><text:p>twice</text:p></table:table-cell>',
        ),
        "<table:table-header-rows>",
        ods_row("same", attributes='table:number-rows-repeated="3"'),
        "</table:table-header-rows>",
        ods_row("<table:table-cell/>", attributes='table:number-rows-repeated="1048568"'),
    ]
    [page] = read(tmp_path, ods({"S": "".join(rows)}), options).pages
    assert page.text.split("\n") == ["|  | wide | twice | twice |", *["| same |"] * 3]
    places = [place for place in page.places if isinstance(place, Cells)]
    assert [(place.first_row, place.first_column, place.last_column) for place in places] == [
        (5, 3, 7),
        (6, 1, 1),
        (7, 1, 1),
        (8, 1, 1),
    ]


def test_hidden_sheets_rows_and_unsaved_formulas(tmp_path: Path, options: ReaderOptions) -> None:
    one = ods_row("x", attributes='table:visibility="filter"')
    one += ods_row('<table:table-cell table:formula="of:=SUM([.A1:.A9])"/>')
    inner = f"<table:table-cell><table:table>{ods_row('inner')}</table:table><text:p>outer</text:p></table:table-cell>"
    data = ods({"One": one, "Two": ods_row("secret"), "'file:///a.ods'#S": ods_row("linked"), "Three": ods_row(inner)},
               styles=HIDING + HIDING.replace("Two", "'file:///a.ods'#S"))  # fmt: skip
    extracted = read(tmp_path, data, options)
    assert [(page.label, page.text) for page in extracted.pages] == [
        ("One", "| x |\n| =SUM([.A1:.A9]) |"),
        ("Three", "| outer |"),
    ]
    assert [warning.code for warning in extracted.warnings] == ["formula_without_value", "hidden_cells", "hidden_sheet"]


def test_titles(tmp_path: Path, options: ReaderOptions) -> None:
    meta = "<m xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>Costs of 2024</dc:title></m>"
    assert read(tmp_path, ods({"S": ods_row("x")}, extra={"meta.xml": meta}), options).title == "Costs of 2024"
    broken = read(tmp_path, ods({"S": ods_row("x")}, extra={"meta.xml": "<m"}), options)
    assert (broken.title, [warning.code for warning in broken.warnings]) == (None, ["part_skipped"])


def test_what_cannot_be_read(tmp_path: Path, options: ReaderOptions) -> None:
    protected = {"META-INF/manifest.xml": "<m><manifest:encryption-data/></m>"}
    assert failure(tmp_path, ods({"S": ""}, extra=protected), options) is FailureCode.ENCRYPTED
    wide = '<table:table-cell table:number-columns-repeated="99999999"><text:p>x</text:p></table:table-cell>'
    assert failure(tmp_path, ods({"S": ods_row(wide)}), options) is FailureCode.CORRUPT
    tall = ods_row("x", attributes='table:number-rows-repeated="99999999"')
    assert failure(tmp_path, ods({"S": tall}), options) is FailureCode.CORRUPT
    assert failure(tmp_path, ods({"S": "<table:table-row>"}), options) is FailureCode.CORRUPT
    never = ods_row("x", attributes='table:number-rows-repeated="-1"')
    assert failure(tmp_path, ods({"S": never}), options) is FailureCode.CORRUPT


def test_a_sheet_full_of_repetitions_is_too_large(tmp_path: Path, options: ReaderOptions) -> None:
    full = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
    data = ods({"S": ods_row(full, attributes='table:number-rows-repeated="1048576"')})
    assert failure(tmp_path, data, replace(options, max_characters=5_000_000)) is FailureCode.TOO_LARGE


def test_an_empty_workbook_has_no_text(tmp_path: Path, options: ReaderOptions) -> None:
    with pytest.raises(DocumentFailure) as raised:
        assemble(read(tmp_path, ods({"S": ods_row("<table:table-cell/>", " ")}), options))
    assert raised.value.code is FailureCode.NO_TEXT
