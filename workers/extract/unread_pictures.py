"""Pictures that a document shows and that are not read, counted, so that nobody takes its text for all of it."""

import re

from pincite.documents import Warning
from workers.extract.visible import has_visible_text

_LARGE = 6.0  # square inches: a picture that may hold a paragraph or a table; logos and icons are smaller

_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)(in|cm|mm|pt|px)")
_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72, "px": 1 / 96}


def inches(length: str) -> float | None:
    """A length such as `2.5cm` in inches; None where it is none, or a share of something."""
    match = _LENGTH.fullmatch(length)
    return float(match[1]) * _UNITS[match[2]] if match else None


class UnreadPictures:
    """Counts the pictures of one document, and those of them that may hold a piece of text."""

    def __init__(self) -> None:
        self._count = 0
        self._large = 0

    def add(self, square_inches: float | None) -> None:
        """Count one; of unknown size (None) it counts as large."""
        self._count += 1
        self._large += square_inches is None or square_inches >= _LARGE

    def warnings(self, text: str) -> tuple[Warning, ...]:
        """What a reader of a document with this text should know. Beside text, small pictures are not worth a word."""
        count = self._large if has_visible_text(text) else self._count
        if not count:
            return ()
        pictures = "1 picture was" if count == 1 else f"{count:,} pictures were"
        message = (
            f"{pictures} not read: in documents of this type OCR reads no pictures. If they show text, save them as "
            "picture files, or export the document as PDF, and add that."
        )
        return (Warning("pictures_not_read", message),)
