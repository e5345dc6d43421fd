"""The pictures on a slide: where they stand, how much of it they cover, and the slide as OCR sees it.

Pictures, shapes filled with one and the slide's background count; those of its layout are decoration.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workers.extract.ooxml_package import Relation
from workers.extract.pptx_shapes import counterparts, placeholder_of
from workers.extract.xml_part import Element, attribute, child, name_of

SLIDE_SIZE = (9_144_000, 6_858_000)  # of 4:3, where a file does not say

_READABLE = (".png", ".jpg", ".jpeg", ".jfif", ".tif", ".tiff", ".gif", ".bmp")
_LARGEST_SIDE = 51_206_400  # the standard's bound: 56 inches
_WHOLE = 100_000.0  # the unit of crops
_DEGREE = 60_000


@dataclass(frozen=True, slots=True)
class SlidePicture:
    """A picture on a slide: the container's name for it, and its place in shares (0 to 1) of the slide's sides.

    `crop` is what is cut off at left, top, right and bottom, in shares of the picture; `turned` is in degrees clockwise
    about the middle of its place.
    """

    part: str
    left: float
    top: float
    right: float
    bottom: float
    crop: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    turned: float = 0.0

    @property
    def is_readable(self) -> bool:
        """Whether it is made of pixels: drawings (EMF, WMF, SVG) are not."""
        return self.part.lower().endswith(_READABLE)


@dataclass(frozen=True, slots=True)
class _Form:
    """Lengths and places of a group's inside in those of the slide: `scale * place + offset`, across and down."""

    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)


_Box = tuple[float, float, float, float]  # left, top, width, height


def slide_size(presentation: Element) -> tuple[int, int]:
    """Width and height of the slides, in the units of the file (1/914400 inch)."""
    told = child(presentation, "p:sldSz")
    sides = (_number(attribute(told, "cx")), _number(attribute(told, "cy")))
    return sides if all(0 < side <= _LARGEST_SIDE for side in sides) else SLIDE_SIZE


def pictures_of(
    slide: Element, relations: dict[str, Relation], size: tuple[int, int], above: Sequence[Element]
) -> list[SlidePicture]:
    """The pictures on a slide, the lowest first; `above` are the shape trees of its layout and master."""
    background = child(slide, "p:cSld", "p:bg", "p:bgPr", "a:blipFill")
    found = [_picture(background, relations, (0, 0, *size), size, 0.0)]
    for shape, form in _shapes(child(slide, "p:cSld", "p:spTree")):
        fill = child(shape, "p:blipFill")
        if fill is None:
            fill = child(shape, "p:spPr", "a:blipFill")
        place = _place(shape, above) if fill is not None else None
        if place is not None:
            box, turned = place
            (across, down), (left, top) = form.scale, form.offset
            seen = (box[0] * across + left, box[1] * down + top, box[2] * across, box[3] * down)
            found.append(_picture(fill, relations, seen, size, turned))
    return [picture for picture in found if picture is not None]


def covered(pictures: Iterable[SlidePicture]) -> float:
    """The share of the slide (0 to 1) under the pictures."""
    return min(1.0, sum(map(_share, pictures)))


def largest(pictures: Iterable[SlidePicture]) -> float:
    """The share of the slide (0 to 1) under the largest of the pictures: many icons together hold no paragraph."""
    return max(map(_share, pictures), default=0.0)


def _share(picture: SlidePicture) -> float:
    across = min(1.0, picture.right) - max(0.0, picture.left)
    down = min(1.0, picture.bottom) - max(0.0, picture.top)
    return max(0.0, across) * max(0.0, down)


def _shapes(tree: Element | None) -> Iterator[tuple[Element, _Form]]:
    """All shapes, those of groups too, in the order in which they lie on each other."""
    stack = [(each, _Form()) for each in reversed(tree if tree is not None else [])]
    while stack:
        shape, form = stack.pop()
        if name_of(shape) == "p:grpSp":
            inner = _inside(shape, form)
            stack.extend((each, inner) for each in reversed(shape))
        else:
            yield shape, form


def _inside(group: Element, form: _Form) -> _Form:
    told = child(group, "p:grpSpPr", "a:xfrm")
    outer, inner = _box(told, "a:off", "a:ext"), _box(told, "a:chOff", "a:chExt")
    if outer is None or inner is None:
        return form
    scale = (outer[2] / inner[2], outer[3] / inner[3])
    offset = (outer[0] - inner[0] * scale[0], outer[1] - inner[1] * scale[1])
    (across, down), (left, top) = form.scale, form.offset
    return _Form(
        (scale[0] * across, scale[1] * down),
        (offset[0] * across + left, offset[1] * down + top),
    )


def _place(shape: Element, above: Sequence[Element]) -> tuple[_Box, float] | None:
    """Where the shape stands, or its placeholder on the layout, and by how many degrees it is turned."""
    placeholder = placeholder_of(shape)
    for each in (shape, *(counterparts(placeholder, above) if placeholder else ())):
        form = child(each, "p:spPr", "a:xfrm")
        box = _box(form, "a:off", "a:ext")
        if box is not None:
            return box, _number(attribute(form, "rot")) / _DEGREE % 360
    return None


def _box(form: Element | None, corner: str, extent: str) -> _Box | None:
    start, sides = child(form, corner), child(form, extent)
    if start is None or sides is None:
        return None
    width, height = _number(attribute(sides, "cx")), _number(attribute(sides, "cy"))
    left, top = _number(attribute(start, "x")), _number(attribute(start, "y"))
    return (left, top, width, height) if width > 0 and height > 0 else None


def _picture(
    fill: Element | None, relations: dict[str, Relation], box: _Box, size: tuple[int, int], turned: float
) -> SlidePicture | None:
    relation = relations.get(attribute(child(fill, "a:blip"), "r:embed"))
    if relation is None:
        return None
    left, top = box[0] / size[0], box[1] / size[1]
    right, bottom = left + box[2] / size[0], top + box[3] / size[1]
    cut = child(fill, "a:srcRect")
    crop = [min(max(_number(attribute(cut, side)) / _WHOLE, 0.0), 1.0) for side in ("l", "t", "r", "b")]
    if crop[0] + crop[2] >= 1 or crop[1] + crop[3] >= 1:
        return None
    return SlidePicture(relation.target, left, top, right, bottom, (crop[0], crop[1], crop[2], crop[3]), turned)


def _number(value: str) -> int:
    try:
        return int(value) if len(value) < 12 else 0
    except ValueError:
        return 0
