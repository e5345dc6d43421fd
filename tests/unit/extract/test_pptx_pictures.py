"""Pictures on slides: where they stand, and which slides await OCR."""

from pathlib import Path

import pytest

from pincite.documents import Extracted
from tests.documents import image_png
from tests.office_documents import Shown, pictured_pptx
from workers.extract.ooxml_package import Relation
from workers.extract.options import ReaderOptions
from workers.extract.pptx import extract_pptx
from workers.extract.pptx_pictures import SLIDE_SIZE, SlidePicture, covered, largest, pictures_of
from workers.extract.xml_part import parse_xml

NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATIONS = {"one": Relation("image", "ppt/media/one.png"), "drawing": Relation("image", "ppt/media/a.emf")}
ALL_CUT = '<a:srcRect l="60000" r="40000"/>'
WORDS = "The tenant pays the rent on the third working day of each month, and in advance. " * 2


def read(tmp_path: Path, options: ReaderOptions, *slides: Shown) -> Extracted:
    path = tmp_path / "deck.pptx"
    path.write_bytes(pictured_pptx(slides))
    return extract_pptx(path, options)


def found(shapes: str, background: str = "") -> list[SlidePicture]:
    markup = f"<p:sld {NAMES}><p:cSld>{background}<p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    return pictures_of(parse_xml(markup.encode(), "slide"), RELATIONS, SLIDE_SIZE, ())


def form(name: str, left: int, top: int, width: int, height: int, inner: str = "", turn: str = "0") -> str:
    place = f'<a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/>'
    return f'<p:{name}><a:xfrm rot="{turn}">{place}{inner}</a:xfrm></p:{name}>'


def test_a_slide_that_is_a_picture_awaits_ocr_and_one_with_text_does_not(
    tmp_path: Path, options: ReaderOptions
) -> None:
    picture = image_png(["The tenant pays."])
    extracted = read(
        tmp_path,
        options,
        Shown(picture),
        Shown(picture, text="A title"),
        Shown(picture, text=WORDS, place=(1, 2, 8, 5)),
        Shown(picture, text=WORDS, place=(9, 6, 1, 0.5)),  # a logo
        Shown(picture, notes=WORDS),
    )
    assert [page.awaits_ocr for page in extracted.pages] == [True, True, False, False, True]
    assert [page.text for page in extracted.pages[:2]] == ["", "A title"]
    [warning] = extracted.warnings
    assert warning.code == "pictures_not_read"
    assert warning.message.startswith("Pictures on slide 3 were not read")


def test_a_group_moves_and_scales_what_is_in_it() -> None:
    width, height = SLIDE_SIZE
    inner = f'<a:chOff x="1000" y="1000"/><a:chExt cx="{width // 2}" cy="{height // 2}"/>'
    picture = (
        '<p:pic><p:blipFill><a:blip r:embed="one"/><a:srcRect l="25000" b="-5000"/></p:blipFill>'
        f"{form('spPr', 1000, 1000, width // 2, height // 4, turn='5400000')}</p:pic>"
    )
    [seen] = found(f"<p:grpSp>{form('grpSpPr', 0, 0, width, height, inner)}{picture}</p:grpSp>")
    assert (seen.left, seen.top, seen.right, seen.bottom) == pytest.approx((0, 0, 1, 0.5))
    assert (seen.crop, seen.turned, seen.part) == ((0.25, 0, 0, 0), 90, "ppt/media/one.png")


def test_backgrounds_and_filled_shapes_are_pictures_too() -> None:
    fill = '<a:blipFill><a:blip r:embed="{}"/></a:blipFill>'
    shape = f'<p:sp><p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="685800"/></a:xfrm>{fill}</p:spPr></p:sp>'
    background, drawing = found(shape.format("drawing"), f"<p:bg><p:bgPr>{fill.format('one')}</p:bgPr></p:bg>")
    assert (background.left, background.top, background.right, background.bottom) == (0, 0, 1, 1)
    assert (background.is_readable, drawing.is_readable) == (True, False)
    assert covered([drawing]) == pytest.approx(0.01)


@pytest.mark.parametrize(
    "shape",
    [
        '<p:pic><p:blipFill><a:blip r:embed="gone"/></p:blipFill></p:pic>',
        '<p:pic><p:blipFill><a:blip r:embed="one"/></p:blipFill></p:pic>',  # stands nowhere
        f'<p:pic><p:blipFill><a:blip r:embed="one"/></p:blipFill>{form("spPr", 0, 0, 0, 5)}</p:pic>',
        f'<p:pic><p:blipFill><a:blip r:embed="one"/>{ALL_CUT}</p:blipFill>{form("spPr", 0, 0, 9, 9)}</p:pic>',
    ],
)
def test_what_shows_nothing_is_no_picture(shape: str) -> None:
    assert found(shape) == []


def test_many_icons_are_no_large_picture() -> None:
    icon, photo = SlidePicture("one.png", 0.1, 0.1, 0.3, 0.3), SlidePicture("two.png", 0.5, -1.0, 2.0, 0.5)
    assert covered([icon] * 9) == pytest.approx(0.36)
    assert largest([icon] * 9) == pytest.approx(0.04)
    assert largest([icon, photo]) == pytest.approx(0.25)
    assert largest([]) == 0.0
