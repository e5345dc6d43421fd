"""Bytes to text: byte order marks first, then UTF-16 without a mark, encodings with escapes, UTF-8, and what is left
by the file's own word or by statistics.
"""

import codecs
import unicodedata
from dataclasses import dataclass

from charset_normalizer import from_bytes

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.encodings import ESCAPED, SWITCHES_ALPHABET, codec_of
from workers.extract.script_evidence import encoding_by_script, western_text

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = frozenset(map(chr, range(32))) - frozenset("\t\n\r\x0b\x0c\x1b")
_SAMPLE_BYTES = 1 << 20
_SHORT = 10  # bytes; of fewer, statistics make two-byte characters or those of mainframes
_NOT_SHORT = (
    *("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"),
    *("cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, not yet cleaned, the encoding it was read with, and what could not be read."""

    text: str
    encoding: str
    warnings: tuple[Warning, ...] = ()


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode a text file. `declared` is an encoding that the file itself names; it is tried before guessing,
    if it is one of `workers.extract.encodings`.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE where the bytes are not text.
    """
    decoded = _by_mark(data) or _by_trial(data, declared) or _by_statistics(data)
    if decoded is None:
        raise not_text("the bytes fit no known text encoding")
    controls = sum(character in _CONTROLS for character in decoded.text)
    if controls > max(1, len(decoded.text) // 20):
        raise not_text(f"{controls} of {len(decoded.text)} characters are control characters")
    return decoded


def not_text(reason: str) -> DocumentFailure:
    """The failure for bytes that no reader of text can take."""
    return DocumentFailure(FailureCode.UNSUPPORTED_TYPE, f"It is binary data, not text: {reason}")


def _by_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            return Decoded(text, encoding.removesuffix("-sig"), _unreadable(text, encoding))
    return None


def _by_trial(data: bytes, declared: str | None) -> Decoded | None:
    if SWITCHES_ALPHABET.search(data) and data.isascii() and (escaped := _escaped(data)):
        return escaped
    for encoding in (_wide_encoding(data), "utf-8", codec_of(declared)):
        if encoding is None:
            continue
        try:
            return Decoded(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
    return _nearly_utf8(data) or _by_script(data) or _western(data)


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: zero bytes that stand nearly all on one side of the pairs."""
    sample = data[: _SAMPLE_BYTES & ~1]
    low, high = sample[1::2].count(0), sample[0::2].count(0)
    pairs = len(sample) // 2
    if pairs < 2 or len(data) % 2 or max(low, high) < pairs * 0.3 or min(low, high) > pairs * 0.05:
        return None
    return "utf-16-le" if low > high else "utf-16-be"


def _escaped(data: bytes) -> Decoded | None:
    """The one of the encodings with escapes that reads most; a few characters may be broken, as by a cut."""
    texts = [(data.decode(encoding, "replace"), encoding) for encoding in ESCAPED]
    unread = [sum(map(text.count, "\ufffd\x1b\x0e\x0f")) for text, _ in texts]
    fewest = min(unread)
    text, encoding = texts[unread.index(fewest)]
    if fewest > len(text) * 0.01 + 1:
        return None
    return Decoded(text, encoding, _unreadable(text, encoding))


def _nearly_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few broken bytes, such as a file that was cut within a character."""
    text = data.decode("utf-8", "replace")
    broken, beyond_ascii = text.count("\ufffd"), sum(character > "\x7f" for character in text)
    if broken > len(text) * 0.001 + 1 or beyond_ascii - broken < broken * 2:
        return None
    return Decoded(text, "utf-8", _unreadable(text, "utf-8"))


def _by_script(data: bytes) -> Decoded | None:
    encoding = encoding_by_script(data)
    if encoding is None:
        return None
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, _unreadable(text, encoding))


def _western(data: bytes) -> Decoded | None:
    # Statistics need more text than a note or a list has; in short files they take "é" for Central European.
    text = western_text(data)
    if text is None or b"\x00" in data:
        return None
    upper = sum(character > "\x7f" for character in text)
    return Decoded(text, "cp1252") if len(data) < _SHORT or upper <= len(text) * 0.5 else None


def _by_statistics(data: bytes) -> Decoded | None:
    unlikely = list(_NOT_SHORT) if len(data) < _SHORT else None
    best = from_bytes(data[:_SAMPLE_BYTES], cp_exclusion=unlikely).best()
    if best is None:
        return None
    text = data.decode(best.encoding, "replace")
    strange = sum(unicodedata.category(character) in {"Cn", "Co", "Cs"} for character in text[:10_000])
    if strange > len(text[:10_000]) * 0.02:
        return None
    return Decoded(text, best.encoding, _unreadable(text, best.encoding))


def _unreadable(text: str, encoding: str) -> tuple[Warning, ...]:
    broken = text.count("\ufffd")
    if not broken:
        return ()
    message = f"{broken} characters could not be read as {encoding.removesuffix('-sig')} and show as \ufffd."
    return (Warning("undecodable", message),)
