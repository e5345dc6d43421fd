"""The content of one part of a message: its bytes without the transfer encoding, and its text."""

import codecs
import re
from email.errors import MessageError
from email.message import Message
from email.policy import Compat32

from pincite.documents import Warning
from pincite.failures import DocumentFailure
from workers.extract.decoding import decode
from workers.extract.encodings import bare_name
from workers.extract.html import decode_markup
from workers.extract.mail_headers import header_text, parameter

_TOKEN = re.compile(r"[\w-]+")
# A transfer encoding carries these safely, so in mail the name can be right; files of texts never need it.
_WIDE = {"utf16": "utf-16", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "utf32": "utf-32", "utf7": "utf-7"}
_QUOTED = re.compile(r"((?:> ?)*)(.*)", re.DOTALL)


def decoded_bytes(part: Message) -> bytes:
    """The bytes of a part that has no parts; where the transfer encoding is broken, as far as they can be read."""
    _name_transfer_encoding(part)
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def message_bytes(part: Message, inner: Message) -> bytes | None:
    """The message in a message, its heads as they stand; `part` is what holds it. None where it cannot be written."""
    try:
        data = inner.as_bytes(policy=_AS_IS)
    except (MessageError, ValueError, LookupError, TypeError, AttributeError):
        return None  # the parser takes in some malformed messages that it cannot give out
    if len(inner):
        return data
    # Some programs encode it, which the standard forbids.
    shell = Message()
    shell["Content-Transfer-Encoding"] = header_text(part, "content-transfer-encoding")
    shell.set_payload(data.decode("ascii", "surrogateescape"))
    return decoded_bytes(shell)


class _AsIs(Compat32):
    """Writes heads without folding them anew, which some malformed ones do not survive."""

    def fold_binary(self, name: str, value: str) -> bytes:
        return f"{name}: {value}\n".encode("utf-8", "surrogateescape")


_AS_IS = _AsIs(mangle_from_=False)


def _name_transfer_encoding(part: Message) -> None:
    """Write the name of the transfer encoding as the decoder knows it: without a comment, a semicolon or spaces."""
    said = header_text(part, "content-transfer-encoding")
    words = _TOKEN.match(said)
    if words and said:
        del part["Content-Transfer-Encoding"]
        part["Content-Transfer-Encoding"] = words[0].lower()


def part_text(part: Message, kind: str) -> tuple[str, tuple[Warning, ...]]:
    """The text of a part in its own encoding, else in the one that fits; with a warning for what fits none."""
    data = decoded_bytes(part)
    if not data.strip():
        return "", ()
    charset = parameter(part, "content-type", "charset")
    text = _wide(data, charset)
    warnings: tuple[Warning, ...] = ()
    if text is None:
        try:
            decoded = decode_markup(data, charset or None) if kind == "text/html" else decode(data, charset or None)
            text, warnings = decoded.text, decoded.warnings
        except DocumentFailure as failure:
            text = data.decode("utf-8", "replace")
            message = (
                f"A part of the message fits no encoding, and what cannot be read shows as \ufffd. {failure.detail}."
            )
            warnings = (Warning("undecodable", message),)
    if parameter(part, "content-type", "format").lower() == "flowed":
        text = _unflowed(text, joins_words=parameter(part, "content-type", "delsp").lower() == "yes")
    return text, warnings


def _wide(data: bytes, charset: str) -> str | None:
    codec = _WIDE.get(bare_name(charset))
    if codec is None or data.startswith(codecs.BOM_UTF8):
        return None
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _unflowed(text: str, *, joins_words: bool) -> str:
    """`format=flowed` (RFC 3676): a line that ends with a space goes on in the next of the same quote depth."""
    lines: list[str] = []
    depth_before, flows = "", False
    for line in text.replace("\r\n", "\n").split("\n"):
        match = _QUOTED.fullmatch(line)
        quoted, content = (match[1].replace(" ", ""), match[2]) if match else ("", line)
        content = content.removeprefix(" ") if not quoted else content
        if flows and content and quoted == depth_before and content != "-- ":
            before = lines.pop()
            lines.append(f"{before[:-1] if joins_words else before}{content}")
        else:
            lines.append(line if quoted else content)
        depth_before, flows = quoted, content.endswith(" ") and content != "-- "
    return "\n".join(line.rstrip(" ") if line != "-- " else line for line in lines)
