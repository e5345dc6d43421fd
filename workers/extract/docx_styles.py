"""What the styles of a Word document say of its paragraphs and runs: outline level, list, code, hidden text.

Style ids are in the author's language and names of built-in styles always in English, so both are looked at, up the
chain of styles that a style is based on.
"""

import re
from dataclasses import dataclass

from workers.extract.xml_part import Element, attribute, child, children, whole_number

_HEADING = re.compile(r"heading\s*([1-9])$", re.I)
_CODE = re.compile(
    r"(?:html preformatted|plain text|source ?code|code|codeblock|listing|verbatim)(?: block| text)?$", re.I
)
_BODY_LEVEL = 9  # the outline level of body text
_LONGEST_CHAIN = 30
_OFF = frozenset({"0", "false", "off", "none"})


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """`heading` counts from 1 and is 0 for body text; the list is None where the style has none."""

    heading: int = 0
    is_title: bool = False
    is_code: bool = False
    list_id: str | None = None
    list_level: int | None = None


@dataclass(slots=True)
class _Definition:
    name: str
    based_on: str
    properties: Element | None
    run_properties: Element | None


class Styles:
    """The paragraph and character styles of a document, from the root of its styles part; none where it is missing."""

    def __init__(self, root: Element | None) -> None:
        self._definitions: dict[str, _Definition] = {}
        self._known: dict[str, ParagraphStyle] = {}
        self._hiding: dict[str, bool] = {}
        self._hidden_unless_said = is_on(child(root, "w:docDefaults", "w:rPrDefault", "w:rPr", "w:vanish"))
        self.default = ""
        for style in children(root, "w:style"):
            if attribute(style, "w:type", "paragraph") not in {"paragraph", "numbering", "character"}:
                continue
            identity = attribute(style, "w:styleId")
            self._definitions[identity] = _Definition(
                attribute(child(style, "w:name"), "w:val"),
                attribute(child(style, "w:basedOn"), "w:val"),
                child(style, "w:pPr"),
                child(style, "w:rPr"),
            )
            if attribute(style, "w:default") in {"1", "true"} and attribute(style, "w:type") == "paragraph":
                self.default = identity

    def style(self, identity: str) -> ParagraphStyle:
        """What the style with this id, and those it is based on, say."""
        if identity not in self._known:
            self._known[identity] = self._resolved(identity)
        return self._known[identity]

    def hides(self, run: Element, paragraph_style: str) -> bool:
        """Whether a `w:r` in a paragraph of this style is hidden text.

        What the run says itself holds; else its character style and the paragraph's, of which each turns over what
        the other says (ECMA-376 part 1, 17.7.3: toggle properties).
        """
        own = child(run, "w:rPr", "w:vanish")
        if own is not None:
            return is_on(own)
        character_style = attribute(child(run, "w:rPr", "w:rStyle"), "w:val")
        by_styles = self._style_hides(paragraph_style) != self._style_hides(character_style)
        return by_styles or self._hidden_unless_said

    def _style_hides(self, identity: str) -> bool:
        if identity not in self._hiding:
            said = (child(each.run_properties, "w:vanish") for each in self._chain(identity))
            self._hiding[identity] = is_on(next((switch for switch in said if switch is not None), None))
        return self._hiding[identity]

    def _resolved(self, identity: str) -> ParagraphStyle:
        chain = self._chain(identity)
        names = [identity, *(definition.name for definition in chain)]
        outline = _first(chain, "w:outlineLvl")
        list_id = _first(chain, "w:numPr", "w:numId")
        return ParagraphStyle(
            heading=outline_heading(outline) if outline else _named_heading(names),
            is_title=any(name.lower() == "title" for name in names),
            is_code=any(_CODE.match(name) for name in names),
            list_id=list_id or None,
            list_level=whole_number(_first(chain, "w:numPr", "w:ilvl"), None),
        )

    def _chain(self, identity: str) -> list[_Definition]:
        chain: list[_Definition] = []
        while identity in self._definitions and len(chain) < _LONGEST_CHAIN:
            chain.append(self._definitions[identity])
            identity = chain[-1].based_on
        return chain


def is_on(switch: Element | None) -> bool:
    """Whether a property such as `w:vanish` is there and not switched off."""
    return switch is not None and attribute(switch, "w:val", "1") not in _OFF


def outline_heading(outline: str) -> int:
    """The heading level, from 1, of an outline level, which is counted from 0; 0 for body text."""
    level = whole_number(outline, _BODY_LEVEL)
    return level + 1 if level < _BODY_LEVEL else 0


def _first(chain: list[_Definition], *path: str) -> str:
    for definition in chain:
        value = attribute(child(definition.properties, *path), "w:val")
        if value:
            return value
    return ""


def _named_heading(names: list[str]) -> int:
    for name in names:
        match = _HEADING.match(name)
        if match:
            return int(match[1])
    return 0
