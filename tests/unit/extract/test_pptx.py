"""Presentations as python-pptx writes them, and broken ones."""

import io
import zipfile
from pathlib import Path

from pincite.documents import Extracted, PageKind
from tests.office_documents import scattered_pptx, slides_pptx, table_pptx, zipped
from workers.extract.options import ReaderOptions
from workers.extract.pptx import extract_pptx


def read(tmp_path: Path, options: ReaderOptions, data: bytes) -> Extracted:
    path = tmp_path / "talk.pptx"
    path.write_bytes(data)
    return extract_pptx(path, options)


def test_a_slide_is_a_page_with_its_title_first(tmp_path: Path, options: ReaderOptions) -> None:
    data = slides_pptx([("Rent", ["It rises.", "In May."]), ("Heat", ["Oil"])], "The lease", notes="Say it slowly.")
    extracted = read(tmp_path, options, data)
    assert extracted.page_kind is PageKind.SLIDE
    assert extracted.title == "The lease"
    assert [(page.number, page.label) for page in extracted.pages] == [(1, "Rent"), (2, "Heat")]
    first = extracted.pages[0]
    assert first.text == "Rent\n\n- It rises.\n- In May.\n\nNotes\n\nSay it slowly."
    assert [(block.kind.value, block.level) for block in first.blocks] == [
        ("heading", 1),
        ("list", 0),
        ("heading", 2),
        ("paragraph", 0),
    ]


def test_shapes_are_read_from_the_top_left(tmp_path: Path, options: ReaderOptions) -> None:
    boxes = [(5.0, 1.05, "right"), (1.0, 4.0, "below"), (1.0, 1.0, "left"), (3.0, 2.0, "middle")]
    assert read(tmp_path, options, scattered_pptx(boxes)).pages[0].text == "left\n\nright\n\nmiddle\n\nbelow"


def test_tables_are_rows(tmp_path: Path, options: ReaderOptions) -> None:
    rows = [["What", "", "Note"], ["oil", "5", "a"], ["gas", "6", "b"]]
    page = read(tmp_path, options, table_pptx(rows, (0, 0, 0, 1))).pages[0]
    assert page.text == "| What |  | Note |\n| oil | 5 | a |\n| gas | 6 | b |"
    assert page.blocks[0].title.startswith("| What |  | Note |")


def test_a_missing_slide_is_a_warning(tmp_path: Path, options: ReaderOptions) -> None:
    data = slides_pptx([("Rent", ["It rises."]), ("Heat", ["Oil"])])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["ppt/slides/slide1.xml"] = members["ppt/slides/slide1.xml"][:-40]
    extracted = read(tmp_path, options, zipped(members))
    assert [page.text for page in extracted.pages] == ["", "Heat\n\n- Oil"]
    assert [warning.code for warning in extracted.warnings] == ["part_skipped", "slide_skipped"]
    assert extracted.warnings[1].page == 1


def test_damaged_relations_of_a_slide_are_told_of_once(tmp_path: Path, options: ReaderOptions) -> None:
    with zipfile.ZipFile(io.BytesIO(slides_pptx([("Rent", ["It rises."])]))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["ppt/slides/_rels/slide1.xml.rels"] = b"<Relationships"
    extracted = read(tmp_path, options, zipped(members))
    assert "It rises." in extracted.pages[0].text
    assert [warning.code for warning in extracted.warnings] == ["part_skipped"]
