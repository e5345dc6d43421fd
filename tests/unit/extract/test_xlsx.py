"""Excel workbooks: what a person sees in each cell, where it stands, and what hostile ones end as."""

import io
import zipfile
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from random import Random

import pytest
import xlsxwriter

from pincite.documents import BlockKind, Cells, Extracted, PageKind
from pincite.failures import DocumentFailure, FailureCode
from tests.workbooks import cell, sheet_data, xlsx, zipped
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions


def read(tmp_path: Path, data: bytes, options: ReaderOptions) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(data)
    return extract(path, "costs.xlsx", options)


def failure(tmp_path: Path, data: bytes, options: ReaderOptions) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, data, options)
    return raised.value


def text_of(tmp_path: Path, inner: str, options: ReaderOptions, **parts: object) -> str:
    return read(tmp_path, xlsx({"S": inner}, **parts), options).pages[0].text  # type: ignore[arg-type]


def test_a_workbook_of_another_program(tmp_path: Path, options: ReaderOptions) -> None:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as book:
        book.set_properties({"title": "Costs of 2024"})
        sheet = book.add_worksheet("Costs")
        sheet.write_row("A1", ["Day", "Seen", "Share", "Price", "Paid", "Note"])
        shown = [
            (date(2024, 1, 31), "dd.mm.yy"),
            (datetime(2024, 2, 1, 14, 30), "d/m/yy h:mm"),
            (0.25, "0%"),
            (1234.5, '#,##0.00 "€"'),
        ]
        for column, (value, code) in enumerate(shown):
            sheet.write(1, column, value, book.add_format({"num_format": code}))
        sheet.write_row("E2", [True, "a|b\nc"])

    extracted = read(tmp_path, buffer.getvalue(), options)
    assert extracted.page_kind is PageKind.SHEET
    assert extracted.title == "Costs of 2024"
    [page] = extracted.pages
    head = "| Day | Seen | Share | Price | Paid | Note |"
    assert page.label == "Costs"
    assert page.text == f"{head}\n| 2024-01-31 | 2024-02-01 14:30 | 25% | 1234.50 € | TRUE | a\\|b c |"
    assert [(block.kind, block.title) for block in page.blocks] == [(BlockKind.TABLE, head)]
    assert page.places == (
        Cells(0, len(head), 1, 1, 1, 6),
        Cells(len(head) + 1, len(page.text), 2, 2, 1, 6),
    )
    assert not extracted.warnings


def test_texts_of_all_kinds(tmp_path: Path, options: ReaderOptions) -> None:
    strings = [
        "<t>plain</t>",
        "<r><t>ri</t></r><r><t>ch</t></r>",
        "<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>",
    ]
    cells = "".join(f"<c t='s'><v>{at}</v></c>" for at in range(3))
    cells += "<c t='str'><f>A1</f><v>made</v></c><c t='e'><v>#DIV/0!</v></c><c t='d'><v>2024-01-31T00:00:00</v></c>"
    cells += "<c t='inlineStr'><is><t>a_x000D_b _x005F_x0041_ 🤠</t></is></c><c t='b'><v>0</v></c><c><v>n.d.</v></c>"
    assert text_of(tmp_path, f"<sheetData><row>{cells}</row></sheetData>", options, strings=strings) == (
        "| plain | rich | 東京 | made | #DIV/0! | 2024-01-31 | a b _x0041_ 🤠 | FALSE | n.d. |"
    )


def test_the_strict_kind_and_1904(tmp_path: Path, options: ReaderOptions) -> None:
    inner = f"<sheetData><row>{cell('A1', 43860, 1)}</row></sheetData>"
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    parts = {"namespace": strict, "formats": ["d.m.yyyy"], "properties": "date1904='1'"}
    assert text_of(tmp_path, inner, options, **parts) == "| 2024-01-31 |"


def test_number_formats_that_are_no_numbers_show_numbers_as_they_are(tmp_path: Path, options: ReaderOptions) -> None:
    inner = f"<sheetData><row>{cell('A1', 0.25, 1)}{cell('B1', 4, 2)}</row></sheetData>"
    data = xlsx({"S": inner}, formats=["0%", "0.00"])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
        styles = archive.read("xl/styles.xml").decode()
    members["xl/styles.xml"] = styles.replace("'200'", f"'{'9' * 5_000}'")
    assert read(tmp_path, zipped(members), options).pages[0].text == "| 0.25 | 4.00 |"


def test_a_formula_without_a_result_shows_itself(tmp_path: Path, options: ReaderOptions) -> None:
    cells = "<c><f>SUM(B1:B9)</f></c><c><f>1+1</f><v>2</v></c><c t='str'><f>\"\"</f><v></v></c><c><f>NOW()</f><v/></c>"
    extracted = read(tmp_path, xlsx({"S": f"<sheetData><row>{cells}</row></sheetData>"}), options)
    assert extracted.pages[0].text == "| =SUM(B1:B9) | 2 | =NOW() |"
    [warning] = extracted.warnings
    assert (warning.code, warning.page) == ("formula_without_value", 1)
    assert "2 formulas" in warning.message


def test_hidden_sheets_are_left_out_and_hidden_rows_are_not(tmp_path: Path, options: ReaderOptions) -> None:
    rows = f"<sheetData><row>{cell('A1', 'seen')}</row><row hidden='1'>{cell('A2', 'folded')}</row></sheetData>"
    columns = f"<cols><col min='2' max='3' hidden='1'/></cols><sheetData><row>{cell('C1', 'kept')}</row></sheetData>"
    data = xlsx({"One": rows, "Two": sheet_data([["secret"]]), "Three": columns}, hidden=["Two"])
    extracted = read(tmp_path, data, options)
    assert [(page.number, page.label, page.text) for page in extracted.pages] == [
        (1, "One", "| seen |\n| folded |"),
        (2, "Three", "| kept |"),
    ]
    assert [(warning.code, warning.page) for warning in extracted.warnings] == [
        ("hidden_cells", 1),
        ("hidden_sheet", None),
        ("hidden_cells", 2),
    ]


def test_where_cells_stand_in_a_sheet_with_gaps(tmp_path: Path, options: ReaderOptions) -> None:
    third = f"<row r='3'><c r='B3' s='0'/>{cell('D3', 1)}{cell('C3', 'x')}</row>"
    inner = f"<sheetData>{third}<row r='9'>{cell('AA9', 2)}</row></sheetData>"
    extracted = read(tmp_path, xlsx({"S": inner}), options)
    assert extracted.pages[0].text == "| x | 1 |\n\n| 2 |"
    assert extracted.pages[0].places == (Cells(0, 9, 3, 3, 3, 4), Cells(11, 16, 9, 9, 27, 27))
    assert [block.kind for block in extracted.pages[0].blocks] == [BlockKind.TABLE, BlockKind.PARAGRAPH]


def test_merged_cells(tmp_path: Path, options: ReaderOptions) -> None:
    inner = sheet_data([["a", "covered"], ["covered", "covered"], ["b", 1]])
    inner += "<mergeCells><mergeCell ref='A1:B2'/></mergeCells>"
    extracted = read(tmp_path, xlsx({"S": inner}), options)
    assert extracted.pages[0].text == "| a |\n\n| b | 1 |"


def test_a_ghost_range_is_not_shown(tmp_path: Path, options: ReaderOptions) -> None:
    ghosts = "".join(f"<row r='{row}'><c r='A{row}' s='1'/><c r='XFD{row}' s='1'/></row>" for row in range(2, 20_000))
    inner = f"<dimension ref='A1:XFD1048576'/><sheetData><row>{cell('A1', 'only')}</row>{ghosts}"
    inner += f"<row r='1048576'>{cell('XFD1048576', 7)}</row></sheetData>"
    extracted = read(tmp_path, xlsx({"S": inner}), options)
    assert extracted.pages[0].text == "| only |\n\n| 7 |"
    assert extracted.pages[0].places[-1] == Cells(10, 15, 1_048_576, 1_048_576, 16_384, 16_384)


def test_an_empty_workbook_has_no_text(tmp_path: Path, options: ReaderOptions) -> None:
    for data in (xlsx({"S": ""}), xlsx({"S": sheet_data([["x"]])}, hidden=["S"]), xlsx({})):
        with pytest.raises(DocumentFailure) as raised:
            assemble(read(tmp_path, data, options))
        assert raised.value.code is FailureCode.NO_TEXT


@pytest.mark.parametrize(
    "inner",
    [
        "<sheetData><row><c t='s'><v>5</v></c></row></sheetData>",
        "<sheetData><row r='0'><c><v>5</v></c></row></sheetData>",
        "<sheetData><row r='x'><c><v>5</v></c></row></sheetData>",
        "<sheetData><row><c r='ABCD1'><v>5</v></c></row></sheetData>",
        "<sheetData><row><c r='XFE1'><v>5</v></c></row></sheetData>",
        "<sheetData><row><c s='y'><v>5</v></c></row></sheetData>",
        "<sheetData/><mergeCells><mergeCell ref='A1:'/></mergeCells>",
        "<sheetData><row>",
    ],
)
def test_nonsense_is_corrupt(tmp_path: Path, options: ReaderOptions, inner: str) -> None:
    assert failure(tmp_path, xlsx({"S": inner}), options).code is FailureCode.CORRUPT


def test_a_binary_workbook_is_not_read(tmp_path: Path, options: ReaderOptions) -> None:
    relations = (
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='a' "
        "Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument' "
        "Target='xl/workbook.bin'/></Relationships>"
    )
    data = zipped({"[Content_Types].xml": "<Types/>", "_rels/.rels": relations, "xl/workbook.bin": b"\x83\x01"})
    assert failure(tmp_path, data, options).code is FailureCode.UNSUPPORTED_TYPE


def test_entities_are_not_expanded(tmp_path: Path, options: ReaderOptions) -> None:
    shared = "<!DOCTYPE sst [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
    shared += "<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><si><t>x&b;&f;</t></si></sst>"
    data = replaced(
        xlsx({"S": "<sheetData><row><c t='s'><v>0</v></c></row></sheetData>"}), "xl/sharedStrings.xml", shared
    )
    assert read(tmp_path, data, options).pages[0].text == "| x |"


@pytest.mark.parametrize("index", ["-1", "7", "first", "9" * 5000])
def test_a_shared_text_that_there_is_none_of_is_corrupt(tmp_path: Path, options: ReaderOptions, index: str) -> None:
    shared = "<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><si><t>Rent</t></si></sst>"
    data = xlsx({"S": f"<sheetData><row><c t='s'><v>{index}</v></c></row></sheetData>"})
    assert failure(tmp_path, replaced(data, "xl/sharedStrings.xml", shared), options).code is FailureCode.CORRUPT


def test_too_much_is_refused_early(tmp_path: Path, options: ReaderOptions) -> None:
    data = xlsx({"S": sheet_data([["x" * 50] * 20] * 50)})
    small = replace(options, max_characters=10_000)
    assert failure(tmp_path, data, small).code is FailureCode.TOO_LARGE
    bomb = replaced(xlsx({"S": ""}), "xl/worksheets/sheet1.xml", b"<worksheet>" + b" " * 40_000_000)
    assert failure(tmp_path, bomb, options).code is FailureCode.TOO_LARGE
    assert failure(tmp_path, xlsx({"S": "", "T": ""}), replace(options, max_pages=1)).code is FailureCode.TOO_LARGE


def test_broken_bytes_end_by_the_list(tmp_path: Path, options: ReaderOptions) -> None:
    random = Random(5)
    sheet = f"<cols><col min='1' max='2'/></cols>{sheet_data([['a', 1, True], ['b', 2.5, False]] * 5)}"
    whole = (
        f"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'>{sheet}"
        "<mergeCells><mergeCell ref='A1:B1'/></mergeCells></worksheet>"
    ).encode()
    base = xlsx({"S": ""}, formats=["0%"])
    outcomes = set()
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(random.randrange(1, 4)):
            broken[random.randrange(len(broken))] = random.choice(b"0129<>/='\" rstvbe\x00\xff")
        try:
            read(tmp_path, replaced(base, "xl/worksheets/sheet1.xml", bytes(broken)), options)
        except DocumentFailure as raised:
            outcomes.add(raised.code)
    assert outcomes <= {FailureCode.CORRUPT}


def replaced(data: bytes, name: str, content: str | bytes) -> bytes:
    """The container with another content for one member."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members: dict[str, str | bytes] = {member: archive.read(member) for member in archive.namelist()}
    return zipped({**members, name: content})
