"""RTF taken apart: control words, signs, groups and text, and what the numbers of code pages and fonts stand for."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>.)"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)

# Control words and signs that stand for a character.
SIGNS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ",
    "qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "nestcell": " ", "nestrow": " ", "~": "\u00a0", "_": "-", "\t": "\t",
}  # fmt: skip
# `\fcharset` to Python's codec; the others have the document's own code page.
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_CODE_PAGES = {10000: "mac_roman", 10006: "mac_greek", 10007: "mac_cyrillic", 65001: "utf-8"}


@dataclass(frozen=True, slots=True)
class Token:
    """One of: a control word with its number, a control sign, a brace, or bytes of text (as Latin-1 characters)."""

    word: str = ""
    number: int | None = None
    sign: str = ""
    brace: str = ""
    text: str = ""


def tokens(data: str) -> Iterator[Token]:
    """The tokens of an RTF file; binary data is passed over. `data` is the file decoded as Latin-1."""
    position = 0
    while match := _TOKEN.match(data, position):
        position = match.end()
        if word := match["word"]:
            number = int(match["number"]) if match["number"] else None
            if word == "bin":
                position += max(number or 0, 0)
            yield Token(word=word, number=number)
        elif match["hex"]:
            yield Token(text=chr(int(match["hex"], 16)))
        elif match["sign"]:
            yield Token(sign=match["sign"])
        elif match["brace"]:
            yield Token(brace=match["brace"])
        elif match["text"]:
            yield Token(text=match["text"])


def code_page(number: int | None, otherwise: str) -> str:
    """The codec of `\\ansicpg` or `\\cpg`."""
    name = _CODE_PAGES.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return otherwise


def charset(number: int | None, otherwise: str) -> str:
    """The codec of `\\fcharset`."""
    return _CHARSETS.get(number if number is not None else -1, otherwise)
