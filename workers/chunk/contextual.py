"""The contextual strategy: chunks of about `TARGET` characters under a header that says where they stand.

Units are packed by characters first and counted in word pieces once; only what is over the window is split
further: between units, then inside one at lines or sentences, then at words, then at characters. Nothing is lost
and nothing truncated. A heading line opens the first chunk of its section. A page break ends a section, so that
each chunk lies on one page and its citation names that page alone.
"""

from dataclasses import dataclass
from itertools import groupby

from pincite.documents import CanonicalText, Chunk
from pincite.embedding import TokenCounter
from workers.chunk.headers import Headers
from workers.chunk.units import Section, Sizes, Unit, refine, sections

CONTEXTUAL = "contextual/2"
TARGET = 512  # characters

# Prose has 4 to 5 characters to a word piece: what is longer than this would not fit the window anyway.
_LONGEST_CHARACTERS_PER_TOKEN = 6


@dataclass(frozen=True, slots=True)
class Draft:
    """Units that are to become one chunk. `header` is part of what has to fit the window.

    A part of a table that does not hold the header row has that row as the last line of its header.
    """

    section: tuple[str, ...]
    header: str
    units: tuple[Unit, ...]

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end


def contextual_chunks(text: CanonicalText, name: str, tokens: TokenCounter) -> list[Chunk]:
    """Chunks that cover the whole text; see `workers.chunk.chunk`."""
    sizes = Sizes(TARGET, max(TARGET, tokens.window * _LONGEST_CHARACTERS_PER_TOKEN))
    headers = Headers(text.title, name, tokens)
    drafts = [
        Draft(section.path, headers.of(section.path, units[0].table_head), tuple(units))
        for section in _joined_headings(sections(text, sizes))
        for units in _packed(section)
    ]
    fitted = sorted(_fitted(text.text, drafts, headers, tokens), key=lambda pair: pair[0].start)
    return [
        Chunk(
            ordinal,
            draft.start,
            draft.end,
            text.text[draft.start : draft.end],
            draft.section,
            draft.header,
            count,
        )
        for ordinal, (draft, count) in enumerate(fitted)
    ]


def _joined_headings(found: list[Section]) -> list[Section]:
    """Sections without text of their own give their heading lines to the section that follows on the same page."""
    joined: list[Section] = []
    for section in found:
        before = joined[-1] if joined else None
        if (
            before is not None
            and not before.units
            and before.page == section.page
            and section.headings
            and section.headings[-1].end - before.headings[0].start <= TARGET // 2
        ):
            section.headings = before.headings + section.headings
            joined.pop()
        joined.append(section)
    return joined


def _packed(section: Section) -> list[list[Unit]]:
    """Units side by side as long as their text, the heading lines not counted, keeps to the target."""
    headings = _pack(section.headings)
    packed = _pack(section.units)
    if len(headings) != 1 or not packed:
        return headings + packed
    first = packed[0][0]
    packed[0][0] = Unit(section.headings[0].start, first.end, first.by_lines, first.table_head)
    return packed


def _pack(units: list[Unit]) -> list[list[Unit]]:
    packed: list[list[Unit]] = []
    for unit in units:
        if packed and unit.end - packed[-1][0].start <= TARGET and unit.row == packed[-1][-1].row:
            packed[-1].append(unit)
        else:
            packed.append([unit])
    return packed


def _fitted(text: str, drafts: list[Draft], headers: Headers, tokens: TokenCounter) -> list[tuple[Draft, int]]:
    """The drafts that fit the window, each with its word pieces, after splitting those that do not.

    Raises:
        ValueError: the model's window is too small for a single character.
    """
    fitted: list[tuple[Draft, int]] = []
    while drafts:
        too_long: list[Draft] = []
        for draft, count in zip(drafts, tokens.counts([_embedded(text, draft) for draft in drafts]), strict=True):
            if count <= tokens.window:
                fitted.append((draft, count))
            else:
                too_long += _split(text, draft, headers, -(-count // tokens.window))
        drafts = too_long
    return fitted


def _split(text: str, draft: Draft, headers: Headers, parts: int) -> list[Draft]:
    """Two or more drafts of about equal length, cut between units where there is more than one."""
    units = draft.units
    if len(units) == 1:
        units = tuple(refine(text, units[0], parts))
    if len(units) == 1:
        raise ValueError(f"one character and its header do not fit the model's window: {draft.header!r}")
    length = draft.end - draft.start

    def part_of(unit: Unit) -> int:
        return (unit.start + unit.end - 2 * draft.start) * parts // (2 * length)

    groups = [tuple(group) for _, group in groupby(units, part_of)]
    return [Draft(draft.section, headers.of(draft.section, group[0].table_head), group) for group in groups]


def _embedded(text: str, draft: Draft) -> str:
    content = text[draft.start : draft.end]
    return f"{draft.header}\n{content}" if draft.header else content
