"""The numbers that Word shows before paragraphs: worked out as it counts, since the file does not hold them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from workers.extract.list_labels import BULLET, decimal, letters, roman
from workers.extract.xml_part import Element, attribute, child, children, whole_number

_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_FORMATS: dict[str, Callable[[int], str]] = {
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
    "ordinal": lambda number: f"{number}.",
}


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    legal: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class _List:
    """One `w:num`: the abstract list it counts in, its own levels, and where it starts anew."""

    abstract: str
    levels: dict[int, _Level]
    restarts: dict[int, int]


class Numbering:
    """The lists of a document and where their counters stand."""

    def __init__(self, root: Element | None) -> None:
        self._abstract: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        linked = _linked(root)
        for each in children(root, "w:abstractNum"):
            identity = attribute(each, "w:abstractNumId")
            source = linked.get(attribute(child(each, "w:numStyleLink"), "w:val"), each)
            self._abstract[identity] = _levels(source)
        for each in children(root, "w:num"):
            self._lists[attribute(each, "w:numId")] = self._list(each)

    def level_of_style(self, list_id: str, style: str) -> int:
        """The level of the list that is bound to this paragraph style; 0 where none is."""
        found = self._lists.get(list_id)
        return next((index for index, level in found.levels.items() if level.style == style), 0) if found else 0

    def label(self, list_id: str, level: int) -> str:
        """The mark of the next paragraph of the list, `-` or `2.3`; empty where the list shows none or is not known."""
        found = self._lists.get(list_id)
        form = found.levels.get(level) if found else None
        if found is None or form is None:
            return ""
        counters = self._counters.setdefault(found.abstract, {})
        if list_id not in self._begun:
            self._begun.add(list_id)
            for index, start in found.restarts.items():
                counters[index] = start - 1
        counters[level] = counters.get(level, form.start - 1) + 1
        for deeper in [index for index in counters if index > level]:
            del counters[deeper]
        if form.form == "bullet":
            return BULLET
        if form.form == "none":
            return ""
        return _PLACE.sub(lambda place: _shown(found, counters, int(place[1]) - 1, form.legal), form.pattern).strip()

    def _list(self, number: Element) -> _List:
        abstract = attribute(child(number, "w:abstractNumId"), "w:val")
        levels = dict(self._abstract.get(abstract, {}))
        restarts: dict[int, int] = {}
        for override in children(number, "w:lvlOverride"):
            index = whole_number(attribute(override, "w:ilvl"), 0)
            own = child(override, "w:lvl")
            if own is not None:
                levels[index] = _level(own)
            start = child(override, "w:startOverride")
            if start is not None:
                restarts[index] = whole_number(attribute(start, "w:val"), 1)
        return _List(abstract, levels, restarts)


def _shown(found: _List, counters: dict[int, int], index: int, legal: bool) -> str:
    level = found.levels.get(index, _Level())
    number = counters.setdefault(index, level.start)
    return decimal(number) if legal else _FORMATS.get(level.form, decimal)(number)


def _linked(root: Element | None) -> dict[str, Element]:
    """The abstract lists that define a list style, by the style's id."""
    found = ((attribute(child(each, "w:styleLink"), "w:val"), each) for each in children(root, "w:abstractNum"))
    return {style: each for style, each in found if style}


def _levels(abstract: Element) -> dict[int, _Level]:
    found = ((whole_number(attribute(each, "w:ilvl"), 0), _level(each)) for each in children(abstract, "w:lvl"))
    return {index: level for index, level in found if index < _LEVELS}


def _level(element: Element) -> _Level:
    legal = child(element, "w:isLgl")
    return _Level(
        start=whole_number(attribute(child(element, "w:start"), "w:val"), 1),
        form=attribute(child(element, "w:numFmt"), "w:val", "decimal"),
        pattern=attribute(child(element, "w:lvlText"), "w:val"),
        legal=legal is not None and attribute(legal, "w:val", "1") not in {"0", "false", "off"},
        style=attribute(child(element, "w:pStyle"), "w:val"),
    )
