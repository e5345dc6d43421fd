"""OpenDocument texts, from a few lines of XML each."""

from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests.office_documents import bare_odt, odf_title
from workers.extract.odt import extract_odt
from workers.extract.options import ReaderOptions

NUMBERED = (
    '<text:list-style style:name="L">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/>'
    "</text:list-style>"
    '<style:style style:name="P1" style:parent-style-name="Title"/>'
    '<style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>'
    '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
)


def read(tmp_path: Path, options: ReaderOptions, data: bytes) -> Extracted:
    path = tmp_path / "letter.odt"
    path.write_bytes(data)
    return extract_odt(path, options)


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, extracted.text[block.start : block.end]) for block in extracted.blocks]


def item(*content: str) -> str:
    return f"<text:list-item>{''.join(content)}</text:list-item>"


def test_headings_lists_and_code(tmp_path: Path, options: ReaderOptions) -> None:
    nested = f"<text:list>{item('<text:p>oil</text:p>')}{item('<text:p>gas</text:p>')}</text:list>"
    body = (
        '<text:p text:style-name="P1">Lease</text:p><text:h text:outline-level="2">Rent</text:h>'
        '<text:p>Due<text:s text:c="2"/>on <text:span>the\n third</text:span>'
        '<text:span text:style-name="H">no</text:span>'
        "<text:line-break/>day</text:p>"
        f'<text:list text:style-name="L">{item("<text:p>heat</text:p>", nested)}'
        f"{item('<text:p>water</text:p>')}</text:list>"
        f"<text:list>{item('<text:p>dot</text:p>')}</text:list>"
        '<text:p text:style-name="P2">a<text:s text:c="2"/>b</text:p><text:p text:style-name="P2">c</text:p>'
    )
    extracted = read(tmp_path, options, bare_odt(body, NUMBERED))
    assert shown(extracted) == [
        ("heading", 1, "Lease"),
        ("heading", 2, "Rent"),
        ("paragraph", 0, "Due on the third\nday"),
        ("list", 0, "1. heat\n  1.a) oil\n  1.b) gas\n2. water"),
        ("list", 0, "- dot"),
        ("code", 0, "a  b\nc"),
    ]
    assert extracted.title == "Lease"


def test_tables_with_merged_and_repeated_cells(tmp_path: Path, options: ReaderOptions) -> None:
    def cell(text: str, twice: str = "") -> str:
        more = f' table:number-columns-{twice}="2"' if twice else ""
        return f"<table:table-cell{more}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    body = (
        "<table:table><table:table-header-rows><table:table-row>"
        f"{cell('2023')}{cell('2024')}</table:table-row></table:table-header-rows>"
        f"<table:table-row>{cell('wide', 'spanned')}{covered}</table:table-row>"
        '<table:table-row table:number-rows-repeated="2">'
        f"{cell('x', 'repeated')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table>'
    )
    extracted = read(tmp_path, options, bare_odt(body))
    assert extracted.text == "| 2023 | 2024 |\n| wide |  |\n| x | x |\n| x | x |"
    assert extracted.blocks[0].title == "| 2023 | 2024 |"


def test_boxes_notes_comments_and_changes(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>old</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        '<text:p>Rent<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>Cold.</text:p></text:note-body></text:note> rises<office:annotation><dc:creator>Ann</dc:creator>"
        "<text:p>Really?</text:p></office:annotation><draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box>"
        "</draw:frame></text:p><text:section><text:p>inside</text:p></text:section>"
    )
    extracted = read(tmp_path, options, bare_odt(body))
    assert extracted.text == "Rent[1] rises\n\nBoxed\n\ninside\n\nFootnotes\n\n[1] Cold.\n\nComments\n\nReally?"


def test_formulas_and_the_title(tmp_path: Path, options: ReaderOptions) -> None:
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><msup><mi>a</mi><mn>2</mn></msup><mo>=</mo>'
        "<mfrac><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac></mrow><annotation>a^2</annotation>"
        "</semantics></math>"
    )
    body = '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    parts = {"Object 1/content.xml": formula, "meta.xml": odf_title("On squares")}
    extracted = read(tmp_path, options, bare_odt(body, parts=parts))
    assert extracted.text == "So a^2=(x+1)/2"
    assert extracted.title == "On squares"


def test_a_protected_file_says_so(tmp_path: Path, options: ReaderOptions) -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<m:file-entry m:full-path="content.xml">'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, options, bare_odt("", parts={"META-INF/manifest.xml": manifest}))
    assert raised.value.code is FailureCode.ENCRYPTED
