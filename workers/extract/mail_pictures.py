"""Pictures that a message shows in its text: logos and icons are no documents of their own, photos and scans are."""

import io
import re
from collections.abc import Iterable
from email.message import Message
from urllib.parse import unquote

from pincite.failures import DocumentFailure
from pincite.picture_file import opened
from workers.extract.mail_content import decoded_bytes
from workers.extract.mail_headers import header_text

# A photo, a screenshot or a scan of text that somebody pasted into a message is larger.
_LARGEST_LOGO = 40_000  # pixels
_REFERENCE = re.compile(r"\bcid:([^\s\"'<>)\\]+)", re.IGNORECASE)


def shown_pictures(markup: Iterable[str]) -> frozenset[str]:
    """The Content-IDs that the HTML of a message shows (RFC 2392)."""
    return frozenset(unquote(match[1]) for text in markup for match in _REFERENCE.finditer(text))


def is_logo(part: Message, shown: frozenset[str], *, has_name: bool) -> bool:
    """Whether a part is a small picture that belongs to the text: nobody attached it, and it has no name or is shown.

    `shown`: the Content-IDs that the HTML shows. `has_name`: the part has a file name.
    """
    disposition = header_text(part, "content-disposition").lower()
    if part.get_content_maintype() != "image" or disposition.startswith("attachment"):
        return False
    identity = header_text(part, "content-id").strip(" <>")
    within = identity in shown or (not has_name and bool(identity or disposition.startswith("inline")))
    return within and _is_small(part, unread=not has_name)


def _is_small(part: Message, *, unread: bool) -> bool:
    """`unread`: the answer for what cannot be opened. The reader of a file with a name says what is wrong with it."""
    if part.get_content_subtype() == "svg+xml":
        return True  # a drawing: whoever pastes a page of text pastes its picture
    try:
        with opened(io.BytesIO(decoded_bytes(part))) as picture:
            return picture.width * picture.height <= _LARGEST_LOGO
    except DocumentFailure:
        return unread
