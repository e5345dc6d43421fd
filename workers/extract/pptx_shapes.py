"""The shapes of a slide in reading order: from the top, and from the left where they stand side by side.

A shape without a place of its own has that of its placeholder on the layout, or on the master.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.extract.xml_part import Element, attribute, child, children, descendants, name_of

TITLES = frozenset({"title", "ctrTitle"})
FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})

_PROPERTIES = ("p:nvSpPr", "p:nvGraphicFramePr", "p:nvPicPr", "p:nvGrpSpPr", "p:nvCxnSpPr")
_SHAPES = ("p:sp", "p:graphicFrame", "p:pic", "p:grpSp", "p:cxnSp")
# Shapes whose tops differ by less than this share of an inch stand side by side.
_SAME_ROW = 914_400 // 8
# A placeholder's kind on a slide, and what stands for it on layouts and masters.
_STAND_INS = {"": "body", "ctrTitle": "title", "subTitle": "body", "obj": "body"}


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What a shape is a placeholder for: `title`, `body`, `dt`; empty for a plain one. `index` pairs it up."""

    kind: str
    index: str


def shapes_of(tree: Element, above: Sequence[Element]) -> list[Element]:
    """The shapes right below a shape tree or group in reading order; `above` are the trees of layout and master."""
    placed = [(_place(each, above), each) for each in children(tree, *_SHAPES)]
    known = sorted((item for item in placed if item[0] is not None), key=lambda item: item[0] or (0, 0))
    rows: list[list[tuple[int, Element]]] = []
    row_top = 0
    for place, shape in known:
        top, left = place or (0, 0)
        if not rows or top - row_top > _SAME_ROW:
            rows.append([])
            row_top = top
        rows[-1].append((left, shape))
    ordered = [shape for row in rows for _, shape in sorted(row, key=lambda item: item[0])]
    return ordered + [shape for place, shape in placed if place is None]


def placeholder_of(shape: Element) -> Placeholder | None:
    """What the shape is a placeholder for; None where it is none."""
    for properties in children(shape, *_PROPERTIES):
        found = child(properties, "p:nvPr", "p:ph")
        if found is not None:
            return Placeholder(attribute(found, "type"), attribute(found, "idx"))
    return None


def counterparts(placeholder: Placeholder, above: Sequence[Element]) -> Iterator[Element]:
    """The placeholders on layout and master that the slide's own one takes after."""
    for tree in above:
        candidates = [(each, placeholder_of(each)) for each in descendants(tree, "p:sp")]
        same_index = (
            each for each, found in candidates if found and placeholder.index and found.index == placeholder.index
        )
        same_kind = (each for each, found in candidates if found and _kind(found.kind) == _kind(placeholder.kind))
        match = next(same_index, None)
        if match is None:
            match = next(same_kind, None)
        if match is not None:
            yield match


def _kind(kind: str) -> str:
    return _STAND_INS.get(kind, kind)


def _place(shape: Element, above: Sequence[Element]) -> tuple[int, int] | None:
    """Top and left in the units of the file (1/914400 inch)."""
    placeholder = placeholder_of(shape)
    for each in (shape, *(counterparts(placeholder, above) if placeholder else ())):
        offset = _offset(each)
        if offset is not None:
            return offset
    return None


def _offset(shape: Element) -> tuple[int, int] | None:
    form = child(shape, "p:xfrm") if name_of(shape) == "p:graphicFrame" else None
    for holder in children(shape, "p:spPr", "p:grpSpPr"):
        form = child(holder, "a:xfrm")
    offset = child(form, "a:off")
    try:
        return (int(attribute(offset, "y")), int(attribute(offset, "x"))) if offset is not None else None
    except ValueError:
        return None
