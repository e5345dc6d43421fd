"""The text of an OpenDocument paragraph as a person sees it, with its boxes, notes, comments and formulas."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from workers.extract.odt_styles import OdtStyles
from workers.extract.xml_part import Element, attribute, child, descendants, name_of, whole_number

_SPACE = re.compile(r"\s+")
_LEFT_OUT = frozenset(
    {
        "text:ruby-text", "text:hidden-text", "text:hidden-paragraph", "text:change", "text:change-start",
        "svg-compatible:title", "svg-compatible:desc", "text:tracked-changes", "text:script",
        "office:annotation-end", "office:event-listeners", "drawing:image",
    }
)  # fmt: skip
_MOST_SPACES = 1_000


@dataclass(slots=True)
class Remarks:
    """What the paragraphs so far have called: notes as (mark, body), by kind, and comments."""

    footnotes: list[tuple[str, Element]] = field(default_factory=list)
    endnotes: list[tuple[str, Element]] = field(default_factory=list)
    comments: list[Element] = field(default_factory=list)


class ParagraphReader:
    """Reads paragraphs. `formula` gives the text of an embedded object by its reference, empty where it is none."""

    def __init__(self, styles: OdtStyles, formula: Callable[[str], str]) -> None:
        self.remarks = Remarks()
        self._styles = styles
        self._formula = formula

    def read(self, paragraph: Element) -> tuple[str, list[Element]]:
        """The text, not yet tidied, and the text boxes that hang on the paragraph."""
        parts: list[str] = []
        boxes: list[Element] = []
        stack: list[Element | str] = []
        _push(stack, paragraph)
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(_SPACE.sub(" ", item))
            elif name_of(item) == "drawing:text-box":
                boxes.append(item)
            elif not self._is_left_out(item):
                sign = self._sign(item)
                if sign is None:
                    _push(stack, item)
                else:
                    parts.append(sign)
        return "".join(parts), boxes

    def _is_left_out(self, element: Element) -> bool:
        return name_of(element) in _LEFT_OUT or self._styles.is_hidden(attribute(element, "text:style-name"))

    def _sign(self, element: Element) -> str | None:
        """What an element stands for as a whole; None where its content counts."""
        match name_of(element):
            case "text:line-break" | "text:tab" as name:
                return "\n" if name == "text:line-break" else "\t"
            case "text:s":
                return " " * min(whole_number(attribute(element, "text:c"), 1), _MOST_SPACES)
            case "text:note":
                return self._note(element)
            case "office:annotation":
                return self._comment(element)
            case "drawing:object":
                return f" {self._formula(attribute(element, 'xlink:href'))} "
        return None

    def _comment(self, annotation: Element) -> str:
        self.remarks.comments.append(annotation)
        return ""

    def _note(self, note: Element) -> str:
        mark = "".join(next(descendants(note, "text:note-citation"), note).itertext()).strip()[:20]
        body = child(note, "text:note-body")
        if body is None:
            return ""
        of_end = attribute(note, "text:note-class") == "endnote"
        (self.remarks.endnotes if of_end else self.remarks.footnotes).append((mark, body))
        return f"[{mark}]"


def _push(stack: list[Element | str], element: Element) -> None:
    """Put the content of an element on the stack, so that it comes off in order."""
    for each in reversed(element):
        if each.tail:
            stack.append(each.tail)
        stack.append(each)
    if element.text:
        stack.append(element.text)
