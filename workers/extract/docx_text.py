"""The text of a Word paragraph as a person sees it: insertions in, deletions and hidden text out, fields by result."""

from collections.abc import Callable
from dataclasses import dataclass, field

from workers.extract.list_labels import roman
from workers.extract.office_math import linear_formula
from workers.extract.xml_part import Element, attribute, name_of

_LEFT_OUT = frozenset(
    {
        "w:pPr", "w:rPr", "w:del", "w:moveFrom", "w:delText", "w:instrText", "w:delInstrText", "w:fldData", "w:rt",
        "w:sdtPr", "w:sdtEndPr", "w:footnoteRef", "w:endnoteRef", "w:annotationRef", "w:softHyphen", "w:sectPr",
    }
)  # fmt: skip
_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_PRIVATE = range(0xE000, 0xF900)  # symbol fonts keep their pictures here


@dataclass(slots=True)
class Notes:
    """The footnotes and endnotes that the text has called so far, by id, in the order of their numbers."""

    footnotes: list[str] = field(default_factory=list)
    endnotes: list[str] = field(default_factory=list)

    def mark(self, reference: Element) -> str:
        """The number in brackets that stands at this reference: `[1]`, for endnotes `[i]`."""
        of_foot = name_of(reference) == "w:footnoteReference"
        called = self.footnotes if of_foot else self.endnotes
        called.append(attribute(reference, "w:id"))
        return f"[{len(called) if of_foot else roman(len(called))}]"


@dataclass(slots=True)
class ParagraphText:
    """A paragraph's text, not yet tidied, and the contents of the text boxes that hang on it."""

    text: str
    boxes: list[Element]


def paragraph_text(paragraph: Element, notes: Notes, is_hidden: Callable[[Element], bool]) -> ParagraphText:
    """Read one `w:p` (or a run container); note references are counted in `notes`. `is_hidden` judges each `w:r`."""
    parts: list[str] = []
    boxes: list[Element] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        name = name_of(element)
        if name in _LEFT_OUT or (name == "w:r" and is_hidden(element)):
            continue
        if name == "w:t":
            parts.append(element.text or "")
        elif name in _SIGNS:
            parts.append(_SIGNS[name])
        elif name == "w:sym":
            parts.append(_symbol(attribute(element, "w:char")))
        elif name == "m:oMath":
            parts.append(f" {linear_formula(element)} ")
        elif name in {"w:footnoteReference", "w:endnoteReference"}:
            parts.append(notes.mark(element))
        elif name == "w:txbxContent":
            boxes.append(element)
        else:
            stack.extend(reversed(element))
    return ParagraphText("".join(parts), boxes)


def _symbol(code: str) -> str:
    try:
        point = int(code, 16)
        return "" if point in _PRIVATE else chr(point)
    except (ValueError, OverflowError):
        return ""
