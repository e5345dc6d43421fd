"""Text is cleaned once, here, before anything counts its characters.

Whatever leaves these functions can be stored, indexed and quoted as it is: no NUL, no lone surrogate, `\\n` as the
only line end. Offsets are taken afterwards, so they are exact in the canonical text.
"""

import re

# C0 and C1 controls but tab and line feed, byte order marks, and the two code points that are no characters.
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")

# pdfium marks a word that is broken over two lines with U+FFFE (older versions: U+0002) in place of hyphen and break.
_BROKEN_WORD = re.compile("(?:[\ufffe\x02]|\u00ad[ \t]*\n)[ \t]*(?P<next>.?)")
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
    0x00AD: None,
}
_TRAILING_SPACES = re.compile("[ \t\u00a0]+$", re.MULTILINE)


def clean_text(text: str) -> str:
    """Make `text` storable and change nothing that an author meant: for files that are text already."""
    text = pair_surrogates(text)
    text = _LINE_ENDS.sub("\n", text)
    return _UNWANTED.sub("", text)


def clean_rendered(text: str) -> str:
    """Clean text that a program has laid out (PDF, HTML): broken words joined, ligatures expanded, line ends bare."""
    text = _LINE_ENDS.sub("\n", pair_surrogates(text))
    text = _BROKEN_WORD.sub(_join, text)
    text = _UNWANTED.sub("", text).translate(_LIGATURES)
    return _TRAILING_SPACES.sub("", text)


def pair_surrogates(text: str) -> str:
    """Put UTF-16 pairs together that arrived as two code points, and drop halves that stand alone."""
    if not _SURROGATES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _join(match: re.Match[str]) -> str:
    following = match["next"]
    # "Schwarz-Weiß" and "Lucene-BM25" keep their hyphen; "exam-ple" was only broken by the line's end.
    if following.isupper() or following.isdecimal():
        return f"-{following}"
    return following
