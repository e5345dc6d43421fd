"""WebVTT and SubRip: what is said, as running text, with the time of every stretch of it.

The canonical text is built here from the cues' texts. Cues follow each other with a space, so that sentences run on;
an empty line stands where the talk pauses or the speaker changes. Captions that roll, where each cue shows the line
before once more, give every line once.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.documents import Cue, Extracted, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_text
from workers.extract.cues import Passage, Subtitles, read_srt, read_vtt
from workers.extract.decoding import Decoded, decode
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions
from workers.extract.visible import has_visible_text

NAME, VERSION = "subtitles", 2

# A silence that is longer ends the paragraph.
_PAUSE_SECONDS = 3.0
# A line that is shown again later than this after it went was said again.
_ROLL_SECONDS = 1.0
# Of the pairs of neighbouring cues, the share that must show one line twice before captions count as rolling.
_ROLLING_SHARE = 0.25
_CJK = (
    "\u2e80",
    "\ud7ff",
    "\uf900",
    "\ufaff",
    "\uff00",
    "\uffef",
    "\U00020000",
    "\U0003ffff",
    "\U000e0100",
    "\U000e01ef",
)


def extract_vtt(path: Path, options: ReaderOptions) -> Extracted:
    """Read a WebVTT file. Styles, notes, regions and tags are left out; a voice becomes `Name: `.

    Raises:
        DocumentFailure: CORRUPT where the first line is not `WEBVTT`, UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    decoded = decode(path.read_bytes())
    text = clean_text(decoded.text)
    head = text.split("\n", 1)[0]
    if not head.startswith("WEBVTT") or head[6:7] not in {"", " ", "\t"}:
        detail = f"It is not a WebVTT file: its first line is {head[:40]!r} and has to be 'WEBVTT'"
        raise DocumentFailure(FailureCode.CORRUPT, detail)
    return _extracted(decoded, read_vtt(text), options)


def extract_srt(path: Path, options: ReaderOptions) -> Extracted:
    """Read a SubRip file.

    Raises:
        DocumentFailure: CORRUPT for a text without a single line of times, UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    decoded = decode(path.read_bytes())
    text = clean_text(decoded.text)
    subtitles = read_srt(text)
    if not subtitles.timed and has_visible_text(text):
        detail = "It is not a SubRip file: no line has times such as '00:00:01,500 --> 00:00:04,000'"
        raise DocumentFailure(FailureCode.CORRUPT, detail)
    return _extracted(decoded, subtitles, options)


def _extracted(decoded: Decoded, subtitles: Subtitles, options: ReaderOptions) -> Extracted:
    check_characters(sum(len(line) for passage in subtitles.passages for line in passage.lines), options)
    passages = sorted(subtitles.passages, key=lambda passage: passage.begin_seconds)
    text, places = _running_text(_without_repeats(passages))
    return Extracted(
        f"{NAME}/{VERSION}",
        text=text,
        title=subtitles.title,
        warnings=decoded.warnings + _warnings(subtitles),
        places=places,
    )


def _warnings(subtitles: Subtitles) -> tuple[Warning, ...]:
    found: list[Warning] = []
    if subtitles.untimed:
        message = (
            f"Cues without times that can be read: {subtitles.untimed}. Their text is kept, and cited with the time "
            "between the cues beside it."
        )
        found.append(Warning("cue_without_time", message))
    if subtitles.backwards:
        message = f"Cues that end before they begin: {subtitles.backwards}. They are cited with their begin alone."
        found.append(Warning("cue_ends_early", message))
    return tuple(found)


def _without_repeats(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without the lines that rolling captions show again; all of them where captions do not roll."""
    pairs = list(itertools.pairwise(passages))
    rolling = sum(_rolls(before, after) for before, after in pairs)
    if rolling < max(1, len(pairs) * _ROLLING_SHARE):
        return list(passages)
    kept = list(passages[:1])
    for before, after in pairs:
        lines = after.lines[_shown_again(before, after) :]
        if lines:
            kept.append(Passage(after.begin_seconds, after.end_seconds, after.speaker, lines))
    return kept


def _rolls(before: Passage, after: Passage) -> bool:
    """Whether lines move up from one cue to the next; two equal cues show nothing, someone may say it twice."""
    again = _shown_again(before, after)
    return 0 < again < max(len(before.lines), len(after.lines))


def _shown_again(before: Passage, after: Passage) -> int:
    """How many lines at the end of one cue are the first lines of the next."""
    if after.begin_seconds - before.end_seconds > _ROLL_SECONDS:
        return 0
    longest = min(len(before.lines), len(after.lines))
    return next((n for n in range(longest, 0, -1) if before.lines[-n:] == after.lines[:n]), 0)


def _running_text(passages: Sequence[Passage]) -> tuple[str, tuple[Cue, ...]]:
    """The canonical text, and for each passage its place in it with its times."""
    parts: list[str] = []
    places: list[Cue] = []
    position = 0
    for separator, text, passage in _separated(passages):
        parts += (separator, text)
        start = position + len(separator)
        position = start + len(text)
        places.append(Cue(start, position, passage.begin_seconds, passage.end_seconds))
    return "".join(parts), tuple(places)


@dataclass(slots=True)
class _Before:
    """What came before a passage: its speaker, its last character, and when the last one so far ended."""

    speaker: str
    last: str
    end_seconds: float


def _separated(passages: Sequence[Passage]) -> Iterator[tuple[str, str, Passage]]:
    """Each passage with its text and what stands between it and the one before."""
    before: _Before | None = None
    for passage in passages:
        text = _joined(passage.lines)
        fresh = (
            before is None
            or passage.speaker != before.speaker
            or passage.begin_seconds - before.end_seconds > _PAUSE_SECONDS
        )
        if fresh and passage.speaker:
            text = f"{passage.speaker}: {text}"
        separator = "" if before is None else "\n\n" if fresh else _space(before.last, text[0])
        yield separator, text, passage
        ended = max(before.end_seconds, passage.end_seconds) if before else passage.end_seconds
        before = _Before(passage.speaker, text[-1], ended)


def _joined(lines: Sequence[str]) -> str:
    text = ""
    for line in lines:
        text += f"{_space(text[-1], line[0])}{line}" if text else line
    return text


def _space(left: str, right: str) -> str:
    """What stands where two lines meet: nothing between Chinese, Japanese and full-width characters, which have no
    spaces between words."""
    return "" if _is_wide(left) and _is_wide(right) else " "


def _is_wide(character: str) -> bool:
    hangul = "\uac00" <= character <= "\ud7ff" or "\u3130" <= character <= "\u318f"
    return not hangul and any(first <= character <= last for first, last in zip(_CJK[::2], _CJK[1::2], strict=True))
