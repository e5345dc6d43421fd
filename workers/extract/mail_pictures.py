"""Pictures that a message shows in its text: logos, icons and signatures are no documents of their own."""

import io
import re
from collections.abc import Iterable
from email.message import Message
from urllib.parse import unquote

from PIL import Image

from workers.extract.mail_content import decoded_bytes
from workers.extract.mail_headers import header_text

# A screenshot or a scan of text that somebody pasted into a message is larger.
_LARGEST_LOGO = 500 * 300  # pixels
_REFERENCE = re.compile(r"\bcid:([^\s\"'<>)\\]+)", re.IGNORECASE)


def shown_pictures(markup: Iterable[str]) -> frozenset[str]:
    """The Content-IDs that the HTML of a message shows (RFC 2392)."""
    return frozenset(unquote(match[1]) for text in markup for match in _REFERENCE.finditer(text))


def is_logo(part: Message, shown: frozenset[str]) -> bool:
    """Whether a part is a small picture that the text shows, by its Content-ID or because it says it is inline."""
    if part.get_content_maintype() != "image":
        return False
    by_name = header_text(part, "content-id").strip(" <>") in shown
    inline = header_text(part, "content-disposition").lower().startswith("inline")
    return (by_name or inline) and _is_small(part)


def _is_small(part: Message) -> bool:
    if part.get_content_subtype() == "svg+xml":
        return True  # a drawing: whoever pastes a page of text pastes its picture
    try:
        with Image.open(io.BytesIO(decoded_bytes(part))) as picture:
            return picture.width * picture.height <= _LARGEST_LOGO
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return False  # its own reader says what is wrong with it
