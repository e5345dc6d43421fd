"""Pictures that are not read are told of: in full where there is no text, beside text only the large ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests import documents, office_documents
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions
from workers.extract.unread_pictures import UnreadPictures, inches

_DRAWING = (
    '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:extent cx="{}" cy="{}"/><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/>'
    "</wp:inline></w:drawing></w:r></w:p>"
)
_FRAME = (
    '<text:p><draw:frame xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" svg:width="{}cm"'
    ' svg:height="{}cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame></text:p>'
)


def word(sides: list[int], text: str) -> bytes:
    pictures = "".join(_DRAWING.format(side * 914_400, side * 914_400) for side in sides)
    return office_documents.bare_docx(pictures + f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")


def open_document(sides: list[int], text: str) -> bytes:
    pictures = "".join(_FRAME.format(side * 2.54, side * 2.54) for side in sides)
    return office_documents.bare_odt(f"{pictures}<text:p>{text}</text:p>")


def rich_text(sides: list[int], text: str) -> bytes:
    picture = r"{{\pict\pngblip\picwgoal{0}\pichgoal{0} 89504e47}}"
    both = r"{{\*\shppict" + picture + r"}}{{\nonshppict" + picture + "}}"
    return office_documents.rtf("".join(both.format(side * 1440) for side in sides) + rf"\pard {text}\par")


def read(tmp_path: Path, options: ReaderOptions, content: bytes, name: str) -> Extracted:
    path = tmp_path / name
    path.write_bytes(content)
    return extract(path, name, options)


@pytest.mark.parametrize(("name", "make"), [("a.docx", word), ("a.odt", open_document), ("a.rtf", rich_text)])
def test_pictures_in_office_documents(
    tmp_path: Path, options: ReaderOptions, name: str, make: Callable[[list[int], str], bytes]
) -> None:
    told = read(tmp_path, options, make([1, 3, 4], "Some text."), name)
    assert (told.text, [warning.code for warning in told.warnings]) == ("Some text.", ["pictures_not_read"])
    assert told.warnings[0].message.startswith("2 pictures were not read")
    assert read(tmp_path, options, make([1], "Some text."), name).warnings == ()
    assert read(tmp_path, options, make([], ""), name).warnings == ()
    with pytest.raises(DocumentFailure, match="1 picture was not read") as raised:
        assemble(read(tmp_path, options, make([1], ""), name))
    assert raised.value.code is FailureCode.NO_TEXT
    assert "export the document as PDF" in raised.value.detail


def test_a_book_of_scanned_pages_says_so(tmp_path: Path, options: ReaderOptions) -> None:
    pages = {"one": '<p><img alt="" src="one.xhtml"/></p>', "two": "<svg><image xlink:href='two.xhtml'/></svg>"}
    with pytest.raises(DocumentFailure, match="2 pictures were not read") as raised:
        assemble(read(tmp_path, options, documents.book_epub(pages), "a.epub"))
    assert raised.value.code is FailureCode.NO_TEXT


VML = 'xmlns:v="urn:schemas-microsoft-com:vml"'
MIXED = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
LARGE = _DRAWING.format(3 * 914_400, 3 * 914_400).removeprefix("<w:p>").removesuffix("</w:p>")


def old_drawing(style: str) -> str:
    return f'<w:r><w:pict><v:shape {VML} style="{style}"><v:imagedata/></v:shape></w:pict></w:r>'


ALTERNATIVES = (
    f"<mc:AlternateContent {MIXED}><mc:Choice>{LARGE}</mc:Choice>"
    f"<mc:Fallback>{old_drawing('width:300pt;height:200pt')}</mc:Fallback></mc:AlternateContent>"
)


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        (old_drawing("position:absolute; width:24pt; height:24.5pt"), 0),
        (old_drawing("width:300pt;height:200pt"), 1),
        (old_drawing("width:2000;height:1000"), 1),
        (f"<w:del>{LARGE}</w:del><w:moveFrom>{LARGE}</w:moveFrom>", 0),
        (ALTERNATIVES, 1),
    ],
)
def test_only_large_pictures_that_a_word_document_shows(
    tmp_path: Path, options: ReaderOptions, runs: str, count: int
) -> None:
    content = office_documents.bare_docx(f"<w:p>{runs}<w:r><w:t>Some text.</w:t></w:r></w:p>")
    warnings = read(tmp_path, options, content, "a.docx").warnings
    assert [warning.message.split(" not")[0] for warning in warnings] == ["1 picture was"] * count


@pytest.mark.parametrize(
    ("picture", "count"),
    [
        ("<img src='one.xhtml' width='20' height='20px' alt=''/>", 0),
        ("<img height='400' alt='' src='one.xhtml' width='600'/>", 1),
        ("<img src='one.xhtml' width='100%' height='20' alt=''/>", 1),
        ("<!-- <img src='one.xhtml' alt=''/> -->", 0),
        ("<img src='one.xhtml#part' alt=''/>", 1),
        ("<svg><image width='1' height='1' href='one.xhtml#part'/></svg>", 1),
    ],
)
def test_only_large_pictures_that_a_book_shows(
    tmp_path: Path, options: ReaderOptions, picture: str, count: int
) -> None:
    content = documents.book_epub({"one": f"<p>Some text.</p><p>{picture}</p>"})
    warnings = read(tmp_path, options, content, "a.epub").warnings
    assert [warning.message.split(" not")[0] for warning in warnings] == ["1 picture was"] * count


def test_a_picture_of_unknown_size_counts_as_large() -> None:
    pictures = UnreadPictures()
    pictures.add(None)
    assert pictures.warnings("text") == pictures.warnings("")
    assert (inches("1in"), inches("72pt"), inches("50%"), inches("")) == (1.0, 1.0, None, None)
