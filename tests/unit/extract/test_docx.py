"""Word documents, from a few lines of XML each."""

from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests.office_documents import bare_docx, zipped
from workers.extract.docx import extract_docx
from workers.extract.options import ReaderOptions

STYLES = """
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/>
  <w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Eigene"><w:name w:val="Eigene"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="Klausel"><w:name w:val="Klausel"/>
  <w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>"""
NUMBERING = """
<w:abstractNum w:abstractNumId="0">
  <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1">
  <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2">
  <w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Article %1"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="1"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>"""


def read(tmp_path: Path, options: ReaderOptions, data: bytes) -> Extracted:
    path = tmp_path / "letter.docx"
    path.write_bytes(data)
    return extract_docx(path, options)


def outcome(tmp_path: Path, options: ReaderOptions, data: bytes) -> str:
    """The text, or the code of the failure."""
    try:
        return read(tmp_path, options, data).text
    except DocumentFailure as failure:
        return failure.code


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, extracted.text[block.start : block.end]) for block in extracted.blocks]


def p(text: str, style: str = "", more: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f'<w:p><w:pPr>{named}{more}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def item(text: str, number: int, level: int = 0) -> str:
    return p(text, more=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{text if text.startswith('<') else p(text)}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def test_headings_go_by_outline_level_whatever_the_style_is_called(tmp_path: Path, options: ReaderOptions) -> None:
    body = p("Vertrag", "Titel") + p("Miete", "berschrift1") + p("Fällig", "Eigene")
    body += p("Direkt", more='<w:outlineLvl w:val="2"/>') + p("Text") + p("a  = 1", "Code") + p("  b", "Code")
    extracted = read(tmp_path, options, bare_docx(body, {"styles": STYLES}))
    assert shown(extracted) == [
        ("heading", 1, "Vertrag"),
        ("heading", 1, "Miete"),
        ("heading", 1, "Fällig"),
        ("heading", 3, "Direkt"),
        ("paragraph", 0, "Text"),
        ("code", 0, "a  = 1\n  b"),
    ]
    assert extracted.title == "Vertrag"


def test_lists_have_the_numbers_that_word_shows(tmp_path: Path, options: ReaderOptions) -> None:
    body = item("one", 1) + item("sub", 1, 1) + item("sub", 1, 1) + item("two", 1) + item("sub", 1, 1)
    body += p("between") + item("three", 1) + item("anew", 4) + item("on", 4)
    body += p("Rent", "Klausel") + p("Heat", "Klausel") + p("dot") + item("point", 3)
    extracted = read(tmp_path, options, bare_docx(body, {"styles": STYLES, "numbering": NUMBERING}))
    assert shown(extracted) == [
        ("list", 0, "1. one\n  1.a) sub\n  1.b) sub\n2. two\n  2.a) sub"),
        ("paragraph", 0, "between"),
        ("list", 0, "3. three\n5. anew\n6. on\nArticle I Rent\nArticle II Heat"),
        ("paragraph", 0, "dot"),
        ("list", 0, "- point"),
    ]


@pytest.mark.parametrize("digits", ["9" * 5_000, "0" * 5_000], ids=["nines", "zeros"])
def test_levels_that_are_no_numbers_are_as_if_not_said(tmp_path: Path, options: ReaderOptions, digits: str) -> None:
    level, outline = f'<w:ilvl w:val="{digits}"/>', f'<w:outlineLvl w:val="{digits}"/>'
    styles = f"""
<w:style w:type="paragraph" w:styleId="Numbered"><w:name w:val="Numbered"/>
  <w:pPr>{outline}<w:numPr>{level}<w:numId w:val="1"/></w:numPr></w:pPr></w:style>"""
    body = p("plain", more=outline) + p("styled", "Numbered") + item("direct", 1, 1)
    body += p("own", more=f'<w:numPr>{level}<w:numId w:val="1"/></w:numPr>')
    extracted = read(tmp_path, options, bare_docx(body, {"styles": styles, "numbering": NUMBERING}))
    assert shown(extracted) == [
        ("paragraph", 0, "plain"),
        ("list", 0, "1. styled\n  1.a) direct\n2. own"),
    ]


def test_tables_are_rows_with_a_known_header(tmp_path: Path, options: ReaderOptions) -> None:
    nested = p("in") + table(cell("x") + cell("y")) + p("out")
    body = table(
        cell("What") + cell("How | much"),
        cell("oil", '<w:gridSpan w:val="2"/>'),
        cell("gas", '<w:vMerge w:val="restart"/>') + cell(nested),
        cell("hidden", "<w:vMerge/>") + cell("6"),
    )
    extracted = read(tmp_path, options, bare_docx(body))
    assert extracted.text == "| What | How \\| much |\n| oil |  |\n| gas | in x y out |\n|  | 6 |"
    assert extracted.blocks[0].title == "| What | How \\| much |"


def test_a_declared_header_and_deleted_rows(tmp_path: Path, options: ReaderOptions) -> None:
    header = "<w:trPr><w:tblHeader/></w:trPr>"
    body = table(header + cell("2023") + cell("2024"), header + cell("a") + cell("b"), cell("1") + cell("2"))
    body = body.replace("</w:tbl>", f"<w:tr><w:trPr><w:del/></w:trPr>{cell('gone')}</w:tr></w:tbl>")
    extracted = read(tmp_path, options, bare_docx(body))
    assert extracted.text == "| 2023 | 2024 |\n| a | b |\n| 1 | 2 |"
    assert extracted.blocks[0].title == "| 2023 | 2024 |\n| a | b |"


def test_a_table_of_one_cell_is_a_frame(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, options, bare_docx(table(cell(p("first") + p("second")))))
    assert [kind for kind, _, _ in shown(extracted)] == ["paragraph", "paragraph"]


def test_tracked_changes_show_the_new_text(tmp_path: Path, options: ReaderOptions) -> None:
    def run(text: str) -> str:
        return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'

    body = (
        f"<w:p>{run('Rent is ')}<w:del><w:r><w:delText>500</w:delText></w:r></w:del><w:ins>{run('600')}</w:ins>"
        f"<w:moveFrom>{run('away')}</w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"
        f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{run('joined ')}</w:p><w:p>{run('line')}</w:p>"
    )
    assert read(tmp_path, options, bare_docx(body)).text == "Rent is 600\n\njoined line"


def test_links_fields_boxes_and_signs(tmp_path: Path, options: ReaderOptions) -> None:
    box = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
    body = (
        '<w:p><w:hyperlink r:id="rId9"><w:r><w:t>our page</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>A</w:t><w:br/>'
        '<w:t>B</w:t><w:noBreakHyphen/><w:t>C</w:t><w:instrText>PAGE</w:instrText><w:sym w:char="F0B7"/>'
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
        f"</w:r></w:p><w:sdt><w:sdtContent>{p('controlled')}</w:sdtContent></w:sdt>"
    )
    extracted = read(tmp_path, options, bare_docx(body))
    assert extracted.text == "our page A\nB-C\n\nIn the box\n\ncontrolled"


def test_notes_and_comments_follow_the_text(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        '<w:p><w:r><w:t>Rent</w:t><w:footnoteReference w:id="7"/><w:t> rises</w:t>'
        '<w:endnoteReference w:id="2"/></w:r></w:p>'
    )
    parts = {
        "footnotes": f'<w:footnote w:id="0">{p("-")}</w:footnote><w:footnote w:id="7">{p("Cold rent.")}</w:footnote>',
        "endnotes": f'<w:endnote w:id="2">{p("Since May.")}</w:endnote>',
        "comments": f'<w:comment w:id="1" w:author="Ann">{p("Really?")}</w:comment>',
        "header1": p("Running head"),
    }
    extracted = read(tmp_path, options, bare_docx(body, parts))
    assert extracted.text == (
        "Rent[1] rises[i]\n\nFootnotes\n\n[1] Cold rent.\n\nEndnotes\n\n[i] Since May.\n\nComments\n\nReally?"
    )


def test_formulas_are_readable(tmp_path: Path, options: ReaderOptions) -> None:
    def run(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    body = (
        f"<w:p><w:r><w:t>So</w:t></w:r><m:oMath><m:sSup><m:e>{run('a')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>{run('=')}"
        f"<m:f><m:num>{run('x+1')}</m:num><m:den>{run('2')}</m:den></m:f>"
        f"<m:rad><m:deg/><m:e>{run('y')}</m:e></m:rad></m:oMath></w:p>"
    )
    assert read(tmp_path, options, bare_docx(body)).text == "So a^2=(x+1)/2√(y)"


def test_a_damaged_lesser_part_is_a_warning(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, options, bare_docx(p("Text"), {"styles": "<w:style>"}))
    assert extracted.text == "Text"
    assert [warning.code for warning in extracted.warnings] == ["part_skipped"]


@pytest.mark.parametrize("body", ["<w:p>", "&#1;", "<w:r/></w:p>"])
def test_xml_that_is_not_well_formed_is_corrupt(tmp_path: Path, options: ReaderOptions, body: str) -> None:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, options, bare_docx(body))
    assert raised.value.code is FailureCode.CORRUPT


def test_entities_are_not_expanded(tmp_path: Path, options: ReaderOptions) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the key")
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    document = (
        f'<!DOCTYPE d [<!ENTITY x SYSTEM "{secret.as_uri()}"><!ENTITY e0 "boom">{bomb}]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
        "<w:p><w:r><w:t>safe &x;&e9;</w:t></w:r></w:p></w:body></w:document>"
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="d.xml"/>'
        "</Relationships>"
    )
    found = outcome(tmp_path, options, zipped({"_rels/.rels": rels, "d.xml": document}))
    assert found in {"safe", FailureCode.CORRUPT}


def test_deep_nesting_is_read_or_refused(tmp_path: Path, options: ReaderOptions) -> None:
    for depth in (20, 60, 90, 2_000):
        body = "<w:tbl><w:tr><w:tc>" * depth + p("deep") + "</w:tc><w:tc/></w:tr></w:tbl>" * depth
        found = outcome(tmp_path, options, bare_docx(body))
        assert "deep" in found or (found is FailureCode.CORRUPT and depth > 60)


def test_text_hidden_by_a_style_stays_out(tmp_path: Path, options: ReaderOptions) -> None:
    def style(kind: str, name: str, vanish: str = "", based_on: str = "") -> str:
        base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
        run = f"<w:rPr>{vanish}</w:rPr>" if vanish else ""
        return f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{base}{run}</w:style>'

    def run(text: str, properties: str = "") -> str:
        return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"

    def paragraph(style: str, *runs: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{"".join(runs)}</w:p>'

    on, off = "<w:vanish/>", '<w:vanish w:val="0"/>'
    styles = (
        style("character", "Hint", on)
        + style("character", "Deep", based_on="Hint")
        + style("character", "Plain", off, "Hint")
        + style("paragraph", "Draft", on)
        + style("paragraph", "Draft2", based_on="Draft")
    )
    hint, deep, plain = (f'<w:rStyle w:val="{name}"/>' for name in ("Hint", "Deep", "Plain"))
    body = (
        f"<w:p>{run('shown ')}{run('h1', hint)}{run('h2', deep)}"
        f"{run('plain', plain)}{run(' said', hint + off)}</w:p>"
        + paragraph("Draft", run("h3"), run("own", off))
        + paragraph("Draft2", run("h4"), run("both", hint))
        + table(cell(paragraph("Draft", run("h5"))) + cell(p("kept")))
    )
    extracted = read(tmp_path, options, bare_docx(body, {"styles": styles}))
    assert extracted.text == "shown plain said\n\nown\n\nboth\n\n|  | kept |"


def test_a_document_that_is_hidden_by_default_shows_what_says_so(tmp_path: Path, options: ReaderOptions) -> None:
    styles = "<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>"
    body = '<w:p><w:r><w:t>a</w:t></w:r><w:r><w:rPr><w:vanish w:val="false"/></w:rPr><w:t>b</w:t></w:r></w:p>'
    assert read(tmp_path, options, bare_docx(body, {"styles": styles})).text == "b"
