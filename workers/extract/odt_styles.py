"""What the styles of an OpenDocument text say: which are titles, code or hidden, and what marks lists have."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workers.extract.list_labels import BULLET, decimal, letters, roman
from workers.extract.xml_part import Element, attribute, children, descendants, name_of, whole_number

_FORMS: dict[str, Callable[[int], str]] = {
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
}
_LONGEST_CHAIN = 30


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How items of one level are marked. `form` is empty where they show no number, `-` for bullets."""

    form: str = BULLET
    prefix: str = ""
    suffix: str = ""
    shown_levels: int = 1
    start: int = 1


class OdtStyles:
    """The styles of a document, from the roots of its parts; what stands in a later one counts."""

    def __init__(self, roots: Iterable[Element | None]) -> None:
        self._parents: dict[str, str] = {}
        self._hidden: set[str] = set()
        self._lists: dict[str, dict[int, ListLevel]] = {}
        self.outline: dict[int, ListLevel] = {}
        for root in roots:
            for style in descendants(root, "style:style"):
                self._add(style)
            for each in descendants(root, "text:list-style"):
                self._lists[attribute(each, "style:name")] = _levels(each)
            for each in descendants(root, "text:outline-style"):
                self.outline = _levels(each)

    def is_a(self, style: str, *names: str) -> bool:
        """Whether the style, or one that it is based on, is one of the named."""
        return any(each in names for each in self._chain(style))

    def is_hidden(self, style: str) -> bool:
        """Whether text in this style is not shown."""
        return style in self._hidden

    def list_levels(self, name: str) -> dict[int, ListLevel]:
        """The levels of a list style, from 1; empty where it is not known."""
        return self._lists.get(name, {})

    def _add(self, style: Element) -> None:
        name = attribute(style, "style:name")
        self._parents[name] = attribute(style, "style:parent-style-name")
        if any(attribute(each, "text:display") == "none" for each in children(style, "style:text-properties")):
            self._hidden.add(name)

    def _chain(self, style: str) -> list[str]:
        chain: list[str] = []
        while style and len(chain) < _LONGEST_CHAIN:
            chain.append(style)
            style = self._parents.get(style, "")
        return chain


class ItemCounter:
    """Counts the items of one list style and its levels, which count from 1."""

    def __init__(self, levels: dict[int, ListLevel]) -> None:
        self._levels = levels
        self._numbers: dict[int, int] = {}

    def restart(self, level: int) -> None:
        """Let the level, and those within it, begin anew."""
        self._numbers = {each: number for each, number in self._numbers.items() if each < level}

    def label(self, level: int, start: int | None = None) -> str:
        """The mark of the next item of a level, `-` or `2.3`; `start` is the number that the item itself names."""
        form = self._levels.get(level, ListLevel())
        number = start if start is not None else self._numbers.get(level, form.start - 1) + 1
        self.restart(level)
        self._numbers[level] = number
        if form.form in {"", BULLET}:
            return form.form
        first = max(level - form.shown_levels + 1, 1)
        return f"{form.prefix}{'.'.join(self._shown(each) for each in range(first, level + 1))}{form.suffix}".strip()

    def _shown(self, level: int) -> str:
        form = self._levels.get(level, ListLevel())
        number = self._numbers.setdefault(level, form.start)
        return _FORMS.get(form.form, decimal)(number)


def _levels(style: Element) -> dict[int, ListLevel]:
    levels: dict[int, ListLevel] = {}
    for each in style:
        numbered = name_of(each) in {"text:list-level-style-number", "text:outline-level-style"}
        levels[whole_number(attribute(each, "text:level"), 1)] = ListLevel(
            attribute(each, "style:num-format") if numbered else BULLET,
            attribute(each, "style:num-prefix"),
            attribute(each, "style:num-suffix"),
            whole_number(attribute(each, "text:display-levels"), 1),
            whole_number(attribute(each, "text:start-value"), 1),
        )
    return levels
