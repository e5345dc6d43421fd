"""Whether lines one under the other are prose that runs on from each to the next, not the cells of a column. Pure."""

import itertools
import re
from collections.abc import Sequence
from statistics import median

_MOST_WORDS = 3
_LEAST_RUNNING = 0.5  # of the steps from one to the next; where the lines are long, less shows it
_LEAST_RUNNING_OF_LONG = 0.3
# Writing without spaces: Thai and its neighbours, Chinese, Japanese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d]")
_LETTERS_OF_WORD = 4
_END = re.compile("[.!?:;…。！？][\"'”’»)]*$")
_OPEN_END = re.compile(r"[,，、\-‐]$")


def word_count(text: str) -> int:
    """The words of a line; where none are parted by spaces, so many letters count as one."""
    return len(text.split()) + max(0, len(_UNSPACED.findall(text)) - 1) // _LETTERS_OF_WORD


def runs_on(texts: Sequence[str]) -> bool:
    """Whether the texts of a column, from the top, are lines of prose: most begin amid a sentence."""
    if len(texts) < 2:
        return False
    words = median(map(word_count, texts))
    if words > _MOST_WORDS and 2 * sum(map(_has_no_case, texts)) > len(texts):
        return True
    steps = [_goes_on(one, other) for one, other in itertools.pairwise(texts)]
    if words > _MOST_WORDS:
        return sum(steps) >= _LEAST_RUNNING_OF_LONG * len(steps)
    # Names in small letters are a column, and so are single words.
    return words > 1 and _is_mixed(texts) and sum(steps) >= _LEAST_RUNNING * len(steps)


def has_open_ends(texts: Sequence[str]) -> bool:
    """Whether single words, as they may stand in very narrow prose, go on in the next line."""
    inside = texts[:-1]
    if any(_OPEN_END.search(text) for text in inside):
        return True
    return _is_mixed(texts) and any(_goes_on(one, other) for one, other in itertools.pairwise(texts))


def _goes_on(text: str, following: str) -> bool:
    return following[:1].islower() and not _END.search(text)


def _is_mixed(texts: Sequence[str]) -> bool:
    """Whether some begin with a capital."""
    return any(text[:1].isupper() for text in texts)


def _has_no_case(text: str) -> bool:
    return text[:1].isalpha() and not text[:1].islower() and not text[:1].isupper()
