"""What the fonts of a PDF page's words tell: which are bold, and which have letters of one width."""

import re
from collections.abc import Sequence

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.pdf_calls import font_name, font_of_object, text_object
from workers.extract.pdf_lines import Line
from workers.extract.pdf_spacing import Word

_BOLD_WEIGHT = 600
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|CMBX|SFBX|-Bd", re.I)
_EVEN = re.compile(r"mono|courier|consol|CMTT|SFTT|typewriter|menlo|lettergothic|fixed", re.I)


class Fonts:
    """Asks for the fonts of one text page, each looked at once."""

    def __init__(self, textpage: pdfium.PdfTextPage) -> None:
        self._raw = textpage.raw
        self._kinds: dict[str, tuple[bool, bool]] = {}
        self._kinds_by_font: dict[int, tuple[bool, bool]] = {}  # by the address of the font

    def is_bold(self, word: Word) -> bool:
        """Whether the word's first character is in a bold font."""
        return self._kind(word.first)[0]

    def read(self, lines: Sequence[Line]) -> None:
        """Set `bold` and `even` from the font of each line's first word."""
        for line in lines:
            if line.words:
                line.bold, line.even = self._kind(line.words[0].first)

    def _kind(self, at: int) -> tuple[bool, bool]:
        font = font_of_object(text_object(self._raw, at))
        kind = self._kinds_by_font.get(font)
        if kind is None:
            kind = self._kind_by_name(at)
            if font is not None:
                self._kinds_by_font[font] = kind
        return kind

    def _kind_by_name(self, at: int) -> tuple[bool, bool]:
        name = font_name(self._raw, at)
        kind = self._kinds.get(name)
        if kind is None:
            bold = bool(_BOLD.search(name)) or pdfium_c.FPDFText_GetFontWeight(self._raw, at) >= _BOLD_WEIGHT
            kind = self._kinds[name] = bold, bool(_EVEN.search(name))
        return kind
