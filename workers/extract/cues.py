"""The syntax of WebVTT (W3C) and SubRip: cues with their times, speakers and lines."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workers.extract.cleaning import clean_text
from workers.extract.visible import has_visible_text

_ARROW = "-->"
_TIME = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?!\S)")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_SRT_TIMES = re.compile(r"[\s\d:.,]*\d\s*-->")
_EMPTY_LINES = re.compile(r"\n{2,}")
_NUMBER = re.compile(r"\s*\d+\s*")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_VTT_TAG = re.compile(r"<[^<>]*>")
_VOICE = re.compile(r"<(/?)v(?:\.[^\s<>]*)?(?:\s+([^<>]*))?>")
# What players of SubRip know: some HTML, and the overrides of SubStation Alpha such as {\an8}.
_SRT_TAG = re.compile(r"</?(?:i|b|u|s|c|em|strong|font|span|ruby|rt|br)(?:[\s.][^<>]*)?/?>|\{\\[^{}]*\}", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"(?:NOTE(?:\s|$)|(?:STYLE|REGION)\s*$)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines that one speaker says from `begin_seconds` to `end_seconds`; `speaker` is empty where nobody is named."""

    begin_seconds: float
    end_seconds: float
    speaker: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class Subtitles:
    """What a file holds. `timed` counts lines of times, `untimed` cues without, `backwards` ends before their begin."""

    passages: list[Passage] = field(default_factory=list)
    title: str | None = None
    timed: int = 0
    untimed: int = 0
    backwards: int = 0


@dataclass(slots=True)
class _RawCue:
    """A cue with its lines as they stand; without times, or not yet."""

    lines: list[str]
    begin: float | None = None
    end: float | None = None


def read_vtt(text: str) -> Subtitles:
    """The cues of a WebVTT text whose first line is known to be right."""
    head, _, body = text.partition("\n")
    # The head ends with the first empty line, or where a cue begins without one.
    lines = body.split("\n")
    begin = next((n for n, line in enumerate(lines) if not line or _ARROW in line), len(lines))
    found = Subtitles(title=head[6:].strip(" \t-") or None)
    raw: list[_RawCue] = []
    for block in _blocks("\n".join(lines[begin:]), _EMPTY_LINES):
        if not _NOT_SHOWN.match(block[0]):
            raw += _cues(block, found, numbered=False)
    _give_times(found, raw)
    found.passages += [passage for cue in raw for passage in _voices(cue)]
    return found


def read_srt(text: str) -> Subtitles:
    """The cues of a SubRip text; none where no line has times."""
    found = Subtitles()
    raw: list[_RawCue] = []
    for block in _blocks(text, _BLANK_LINES):
        cues = _cues(block, found, numbered=True)
        if cues[0].begin is None:
            if len(cues[0].lines) > 1 and _is_number(cues[0].lines[0]):
                del cues[0].lines[0]
            elif raw:
                raw[-1].lines += cues.pop(0).lines  # an empty line within a cue
        raw += cues
    if found.timed:
        _give_times(found, raw)
        found.passages += [
            Passage(cue.begin or 0.0, cue.end or 0.0, "", shown)
            for cue in raw
            if (shown := _shown(_SRT_TAG.sub("", "\n".join(cue.lines))))
        ]
    return found


def _blocks(text: str, separator: re.Pattern[str]) -> Iterator[list[str]]:
    for block in separator.split(text):
        if block.strip():
            yield block.strip("\n").split("\n")


def _cues(block: list[str], found: Subtitles, *, numbered: bool) -> list[_RawCue]:
    """The cues of lines without an empty line between, usually one; at least one. `numbered`: as in SubRip."""
    at = [n for n, line in enumerate(block) if _ARROW in line and (not numbered or _SRT_TIMES.match(line))]
    if not at:
        return [_RawCue(block)]
    named = at[0] > 0 and (not numbered or at[0] == 1 or _is_number(block[at[0] - 1]))
    before = block[: at[0] - named]
    cues = [_RawCue(before)] if before else []
    for first, behind in zip(at, [*at[1:], len(block)], strict=True):
        lines = block[first + 1 : behind]
        if numbered and behind < len(block) and lines and _is_number(lines[-1]):
            lines.pop()  # the number of the cue that follows without an empty line
        cues.append(_timed(block[first], lines, found))
    return cues


def _timed(line: str, lines: list[str], found: Subtitles) -> _RawCue:
    match = _TIMES.match(line)
    if match is None:
        return _RawCue(lines)
    found.timed += 1
    begin, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:])
    found.backwards += end < begin
    return _RawCue(lines, begin, max(begin, end))


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return float(f"{whole}.{fraction or 0}")


def _is_number(line: str) -> bool:
    return _NUMBER.fullmatch(line) is not None


def _give_times(found: Subtitles, raw: list[_RawCue]) -> None:
    """A cue without times gets the time between its neighbours."""
    ended = 0.0
    begins: float | None = None
    for cue in reversed(raw):
        if cue.begin is None:
            cue.end = begins
        else:
            begins = cue.begin
    for cue in raw:
        if cue.begin is None:
            cue.begin, cue.end = ended, max(ended, cue.end or 0.0)
            found.untimed += 1
        ended = cue.end or 0.0


def _voices(cue: _RawCue) -> Iterator[Passage]:
    """The passages of a WebVTT cue, one for each voice in turn."""
    payload = "\n".join(cue.lines)
    speaker, position = "", 0
    spoken: list[tuple[str, str]] = []
    for match in _VOICE.finditer(payload):
        spoken.append((speaker, payload[position : match.start()]))
        speaker = "" if match[1] else " ".join(_shown(match[2] or ""))
        position = match.end()
    spoken.append((speaker, payload[position:]))
    for voice, text in spoken:
        if lines := _shown(_VTT_TAG.sub("", text)):
            yield Passage(cue.begin or 0.0, cue.end or 0.0, voice, lines)


def _shown(text: str) -> tuple[str, ...]:
    """The lines of a text without tags as a viewer reads them, none empty."""
    plain = clean_text(_ENTITY.sub(lambda match: html.unescape(match[0]), text))
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    return tuple(line for line in lines if has_visible_text(line))
