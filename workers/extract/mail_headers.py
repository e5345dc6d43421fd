"""Heads of a message and of its parts as text, however they were encoded."""

import base64
import binascii
import quopri
import re
from email.message import Message

from pincite.failures import DocumentFailure
from workers.extract.cleaning import clean_text
from workers.extract.decoding import decode
from workers.extract.encodings import codec_of

_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?[^?\s]{1,60}\?[bBqQ]\?)")
_FEWEST_TO_COUNT = 20


def header_text(part: Message, name: str) -> str:
    """A head's value on one line, encoded words and raw bytes decoded; empty where it is not there."""
    return readable(_raw(part, name))


def parameter(part: Message, head: str, name: str) -> str:
    """A parameter of a head, such as `filename` of `Content-Disposition`, in any of the ways that they are encoded."""
    # What is not ASCII would come out as replacement characters.
    shell = Message()
    shell[head] = _as_text(_raw(part, head))
    try:
        value = shell.get_param(name, "", head)
    except (ValueError, LookupError, TypeError, AttributeError):  # what the parser raises on malformed parameters
        return ""
    if isinstance(value, tuple):
        charset, _, text = value
        raw = text.encode("latin-1", "replace")
        return readable(_decoded(raw, charset))
    return readable(str(value or ""))


def readable(value: str) -> str:
    """A raw value, in which bytes beyond ASCII stand as lone surrogates, as clean text on one line."""
    value = _ENCODED_WORD.sub(_word, _BETWEEN_WORDS.sub(r"\1", _as_text(value)))
    return " ".join(clean_text(value).split())


def _raw(part: Message, name: str) -> str:
    wanted = name.lower()
    return next((str(value) for key, value in part.raw_items() if key.lower() == wanted), "")


def _as_text(value: str) -> str:
    return value if value.isascii() else _decoded(value.encode("utf-8", "surrogateescape"), None)


def _word(match: re.Match[str]) -> str:
    charset, kind, text = match.groups()
    charset = charset.partition("*")[0]  # RFC 2231 lets a language follow
    data = text.encode("utf-8", "replace")
    if kind in "bB":
        try:
            data = base64.b64decode(data + b"=" * (-len(data) % 4))
        except binascii.Error:
            return match[0]
    else:
        data = quopri.decodestring(data, header=True)
    return _decoded(data, charset)


def _decoded(data: bytes, charset: str | None) -> str:
    # A head is short: what it says goes first, and statistics come into it only where there is something to count.
    for codec in (codec_of(charset), "utf-8"):
        try:
            if codec:
                return data.decode(codec)
        except UnicodeDecodeError:
            continue
    try:
        return decode(data).text if len(data) >= _FEWEST_TO_COUNT else data.decode("cp1252", "replace")
    except DocumentFailure:
        return data.decode("utf-8", "replace")
