"""Sentences of a text that arrives bit by bit: the same ones, however it is cut into bits."""

import re
from collections.abc import Iterator

from api.answering.markers import BEGINS_MARKER, MARKER
from api.answering.quotations import is_open

LONGEST = 2000  # characters; then a piece ends at a space, or anywhere
_AHEAD = 100  # so far a marker behind a full stop may reach

_FULL_WIDTH = "。！？｡"
_END = re.compile(rf"\n|[.!?…؟۔।{_FULL_WIDTH}]+[\"'”“’»«›‹)\]）」』】]*")
_SPACE = re.compile(r"[^\S\n]*")

# Short forms that end no sentence, and those that end none before a number.
_SHORT = frozenset(
    {"al", "approx", "ca", "cf", "dr", "e.g", "i.e", "mr", "mrs", "ms", "prof", "resp", "st", "vs"}
    | {"bspw", "bzw", "d.h", "evtl", "fr", "gem", "ggf", "hr", "inkl", "o.ä", "sog", "u.a", "u.u", "vgl", "z.b"}
)
_SHORT_BEFORE_NUMBER = frozenset(
    {"abb", "abs", "art", "arts", "ch", "cl", "eq", "fig", "figs", "kap", "max", "min", "no", "nos", "nr", "p", "para"}
    | {"pp", "rs", "s", "sec", "tab", "vol", "vols", "ziff"}
    | {"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"}
)
_MONTH = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Quartal)\b"
)
_LONGEST_MONTH = 10
_ENDS_MARKER = re.compile(r"[\]】］〕\n]")
_LAST_WORD = re.compile(r"[^\W_](?:[\w.]*\w)?$")
_LIST_NUMBER = re.compile(r"\s*(?:[-*•]\s*)?(?:\d{1,3}|[a-zA-Z])")


class Sentences:
    """Cuts a text into sentences and lines. Each keeps the white space before it, and the markers behind its end."""

    def __init__(self) -> None:
        self._buffer = ""
        self._seen = 0  # so far no sentence ends, whatever comes

    def feed(self, text: str) -> Iterator[str]:
        """The sentences that are whole now, and known to be."""
        self._buffer += text
        yield from self._whole(final=False)

    def finish(self) -> Iterator[str]:
        """What is left, when nothing more comes."""
        yield from self._whole(final=True)
        if self._buffer.strip():
            yield self._buffer
        self._buffer = ""

    def _whole(self, *, final: bool) -> Iterator[str]:
        while True:
            # Only so much is looked at, so that the cuts do not depend on how much has come already.
            window = self._buffer[: LONGEST + _AHEAD]
            is_full = len(window) == LONGEST + _AHEAD
            end, self._seen = _first_end(window, self._seen, final=final and not is_full)
            if end is None and is_full:
                end = _forced_end(window)
            if end is None:
                return
            piece, self._buffer, self._seen = self._buffer[:end], self._buffer[end:], 0
            yield piece


def _first_end(window: str, seen: int, *, final: bool) -> tuple[int | None, int]:
    """Where the first sentence ends (None: not known yet, or not within the window), and how far that is settled."""
    begin = max(len(window) - len(window.lstrip()), seen)
    for match in _END.finditer(window, begin):
        if match[0] == "\n":
            return match.start() if match.start() <= LONGEST else None, match.start()
        end, has_markers = _behind_markers(window, match.end())
        following = _SPACE.match(window, end)
        assert following is not None
        # What comes next decides; at the end all of it is the last sentence.
        if following.end() == len(window) or (not final and _undecided(window, following.end())):
            return None, match.start()
        if _ends(window, match, window[end:], has_markers=has_markers):
            return end if end <= LONGEST else None, match.start()
        begin = match.end()
    return None, begin


def _behind_markers(window: str, end: int) -> tuple[int, bool]:
    has_markers = False
    while True:
        space = _SPACE.match(window, end)
        assert space is not None
        marker = MARKER.match(window, space.end())
        if marker is None or window.startswith("(", marker.end()):  # `[1](address)` is a link
            return end, has_markers
        end, has_markers = marker.end(), True


def _undecided(window: str, place: int) -> bool:
    """Whether a marker or a name of a month may begin here whose end has not come yet."""
    following = window[place:]
    if BEGINS_MARKER.match(following):
        return len(following) < _AHEAD and not _ENDS_MARKER.search(following)
    return following.isalpha() and len(following) < _LONGEST_MONTH


def _ends(window: str, match: re.Match[str], rest: str, *, has_markers: bool) -> bool:
    """Whether a sentence ends at these marks, with `rest` behind them and their markers."""
    following = rest.lstrip()
    if not following:
        return False
    if rest[0] == following[0] and not has_markers and match[0][0] not in _FULL_WIDTH:
        return False  # no space: `3.5`, `example.org`
    if following[0].islower() and rest[0] != "\n":
        return False
    before = window[: match.start()]
    if match[0] == "." and not has_markers and _is_short_form(before, following):
        return False
    return not is_open(window[: match.end()])


def _is_short_form(before: str, following: str) -> bool:
    if _LIST_NUMBER.fullmatch(before):
        return True
    found = _LAST_WORD.search(before[-40:])
    word = found[0] if found else ""
    if len(word) == 1 and word.isalpha():
        return True  # J. Smith
    if word.lower() in _SHORT or (word.lower() in _SHORT_BEFORE_NUMBER and following[0].isdigit()):
        return True
    return word.isdecimal() and len(word) <= 2 and _MONTH.match(following) is not None


def _forced_end(window: str) -> int:
    begin = len(window) - len(window.lstrip())
    space = max(window.rfind(character, begin, LONGEST) for character in " \t")
    return space if space > begin else LONGEST
