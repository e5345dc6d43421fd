"""The words of a PDF page with their places, read from pdfium's text page with few calls: about three for each word."""

import ctypes
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from workers.extract.cleaning import clean_rendered
from workers.extract.pdf_bidi import RIGHT_TO_LEFT, Letter, logical_words
from workers.extract.pdf_calls import font_size, is_generated, loose_box, matrix_of, origin, read_box, read_matrix
from workers.extract.pdf_glyphs import Glyphs, is_suspect
from workers.extract.pdf_spacing import SPACED_DOTS, TOUCHING, Word, append, touches, with_ellipses

# pdfium writes U+FFFE where a hyphen breaks a word over two lines (older versions: U+0002).
_TOKEN = re.compile("[\0\t]|[^ \t\xa0\u2000-\u200a\u3000\0\ufffe\x02]+[\ufffe\x02]?")
_TO_CLEAN = re.compile("[\x00-\x1f\x7f-\x9f\xad\u200b\u2028\u2029\ufb00-\ufb06\ufeff\ufffe\uffff\ud800-\udfff]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-z]")
_BREAKS = "\ufffe\x02"
_LINE_END = re.compile(r"[\r\n]+")
_PIECES = frozenset("|‖")
_UPRIGHT_WITHIN = 5  # degrees
_SPAN = re.Match.span
_WHITE = 0.12  # of the height of a glyph's box
_INNER_COMMA = re.compile(r",(?=[^\W\d_]|[(\[{])")


@dataclass(frozen=True, slots=True)
class Frame:
    """How page coordinates become points from the top left of the page as shown."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    @classmethod
    def of(cls, page: pdfium.PdfPage) -> "Frame":
        box = pdfium_c.FS_RECTF()
        pdfium_c.FPDF_GetPageBoundingBox(page, box)
        width, height = page.get_size()
        return cls(box.left, box.bottom, width, height, page.get_rotation())

    def point(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point of the page, in points from the top left as shown."""
        across, up = x - self.left, y - self.bottom
        if self.rotation == 0:
            return across, self.height - up
        if self.rotation == 90:
            return up, across
        if self.rotation == 180:
            return self.width - across, up
        return self.width - up, self.height - across

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Left, top, right, bottom as shown."""
        if self.rotation == 0 and left <= right and bottom <= top:
            x, y, height = self.left, self.bottom, self.height
            return left - x, height - (top - y), right - x, height - (bottom - y)
        (first, second), (third, fourth) = self.point(left, bottom), self.point(right, top)
        return min(first, third), min(second, fourth), max(first, third), max(second, fourth)


def page_characters(textpage: pdfium.PdfTextPage) -> str:
    """The text layer with exactly one code point for each of pdfium's characters."""
    raw = textpage.raw
    count = pdfium_c.FPDFText_CountChars(raw)
    if count <= 0:
        return ""
    buffer = bytearray(4 * count + 2)
    pdfium_c.FPDFText_GetText(raw, 0, count, ctypes.c_ushort.from_buffer(buffer))
    text = buffer.decode("utf-16-le", "surrogatepass").rstrip("\0")
    if len(text) == count and "\0" not in text:
        return text
    # Characters without a Unicode value are left out of the text, and indexes no longer agree.
    ask = pdfium_c.FPDFText_GetUnicode
    return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in (ask(raw, at) for at in range(count)))


def read_words(textpage: pdfium.PdfTextPage, characters: str, frame: Frame) -> list[Word]:
    """The words in the order of the page's content, cleaned; `characters` as `page_characters` gives them."""
    reader = _Reader(textpage, frame)
    characters = reader.composed(characters)
    words: list[Word] = []
    turned = RIGHT_TO_LEFT.search(characters) is not None
    mostly = turned and len(RIGHT_TO_LEFT.findall(characters)) > len(_LATIN.findall(characters))
    for number, (start, end) in enumerate(_lines(characters)):
        if turned and (
            RIGHT_TO_LEFT.search(characters, start, end) or (mostly and not _LETTER.search(characters, start, end))
        ):
            line = reader.right_to_left(characters, start, end, mostly)
        else:
            line = reader.left_to_right(characters, start, end)
        for word in line:
            word.line = number
            if word.text not in _PIECES or not (words and _is_piece(words[-1], word)):
                words.append(word)
    return words


# A word's text, its first and last character, where its run of characters begins, and whether a hyphen was taken off.
_Token = tuple[str, int, int, int, bool]


class _Reader:
    """Asks pdfium for places; the structures that it fills are made once for each page."""

    def __init__(self, textpage: pdfium.PdfTextPage, frame: Frame) -> None:
        self._raw = textpage.raw
        self._frame = frame
        self._across, self._height = frame.left, frame.bottom + frame.height
        self._glyphs = Glyphs(textpage)
        self._box = pdfium_c.FS_RECTF()
        self._box_at = ctypes.byref(self._box)
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._x_at, self._y_at = ctypes.byref(self._x), ctypes.byref(self._y)
        self._matrix = pdfium_c.FS_MATRIX()
        self._matrix_at = ctypes.byref(self._matrix)

    def composed(self, characters: str) -> str:
        """The characters without accents of their own: to be called before lines are read."""
        return self._glyphs.composed(characters)

    def left_to_right(self, characters: str, start: int, end: int) -> list[Word]:
        parted = self._parted if _INNER_COMMA.search(characters, start, end) else _spans
        spans = parted(characters, start, end)
        dirty = _TO_CLEAN.search(characters, start, end) is not None
        if dirty or self._glyphs.accented:
            tokens = list(self._cleaned(characters, spans, dirty))
        else:
            reread = self._glyphs.reread
            tokens = [
                (
                    reread(characters, first, stop) if is_suspect(text := characters[first:stop]) else text,
                    first,
                    stop - 1,
                    first,
                    False,
                )
                for first, stop in spans
            ]
        if not tokens:
            return []
        words = self._placed(tokens, *self._turn_and_scale(tokens[0][1]))
        return with_ellipses(words) if characters.find(SPACED_DOTS, start, end) >= 0 else words

    def _cleaned(self, characters: str, spans: Iterable[tuple[int, int]], dirty: bool) -> Iterator[_Token]:
        """The words with their accents, without what does not show."""
        accented = self._glyphs.accented.keys()
        for begin, stop in spans:
            broken = characters[stop - 1] in _BREAKS
            first, end = begin, stop - broken
            text = characters[first:end]
            if is_suspect(text) or (accented and not accented.isdisjoint(range(first, end))):
                text = self._glyphs.reread(characters, first, end)
            if dirty and _TO_CLEAN.search(characters, begin, stop):
                text = "".join(clean_rendered(text).replace("\u200b", "").split())
                while characters[first] == "\u200b" and first + 1 < end:
                    first += 1
            if text:
                yield text, first, end - 1, begin, broken

    def _parted(self, characters: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where words stand, parted also behind a comma where white shows that pdfium has not marked."""
        for first, last in _spans(characters, start, end):
            begin = first
            for comma in _INNER_COMMA.finditer(characters, first, last):
                if self._shows_white(comma.start()):
                    yield begin, comma.end()
                    begin = comma.end()
            yield begin, last

    def _shows_white(self, at: int) -> bool:
        """Whether a thin space or a wider one stands behind the character at an index."""
        loose_box(self._raw, at, self._box_at)
        _, top, right, bottom = read_box(self._box)
        loose_box(self._raw, at + 1, self._box_at)
        left, *_ = read_box(self._box)
        return bool(_WHITE * (top - bottom) < left - right < top - bottom)

    def right_to_left(self, characters: str, start: int, end: int, mostly: bool) -> list[Word]:
        letters = []
        for at in range(start, end):
            origin(self._raw, at, self._x_at, self._y_at)
            generated = characters[at] == " " and is_generated(self._raw, at) == 1
            letters.append(Letter(characters[at], at, self._x.value, self._y.value, generated))
        words: list[Word] = []
        upright = self._is_upright(start)
        for text, indexes in logical_words(letters, upright=upright, right_to_left_page=mostly):
            clean = "".join(clean_rendered(text).split())
            if not clean:
                continue
            turn, scale = self._turn_and_scale(indexes[0])
            word, *boxes = (self._placed([(clean, at, at, at, False)], turn, scale)[0] for at in indexes)
            for box in boxes:
                word.left, word.right = min(word.left, box.left), max(word.right, box.right)
                word.top, word.bottom = min(word.top, box.top), max(word.bottom, box.bottom)
            words.append(word)
        return words

    def _is_upright(self, at: int) -> bool:
        known = matrix_of(self._raw, at, self._matrix_at)
        a, b, *_ = read_matrix(self._matrix)
        return not known or (a > 0 and abs(b) < 0.1 * a)

    def _turn_and_scale(self, at: int) -> tuple[int, float]:
        if not matrix_of(self._raw, at, self._matrix_at):
            return 0, 1.0
        a, b, c, d, _, _ = read_matrix(self._matrix)
        if not (b or c or self._frame.rotation) and a > 0:
            return 0, abs(d) or 1.0
        turn = round(self._frame.rotation - math.degrees(math.atan2(b, a))) % 360
        nearest = round(turn / 90) * 90
        turn = nearest % 360 if abs(turn - nearest) <= _UPRIGHT_WITHIN else turn
        return turn, math.hypot(c, d) or 1.0

    def _placed(self, tokens: Iterable[_Token], turn: int, scale: float) -> list[Word]:
        """The words of a line with their places; those between which nothing shows are one."""
        raw, box, box_at, y = self._raw, self._box, self._box_at, self._y
        rotated, across, height = self._frame.rotation != 0, self._across, self._height
        words: list[Word] = []
        known, size, before = math.nan, 0.0, -2
        for text, first, last, begin, broken in tokens:
            loose_box(raw, first, box_at)
            left, top, right, bottom = read_box(box)
            if bottom != known or rotated:
                # Words of one line whose boxes reach equally low share size and base line.
                origin(raw, first, self._x_at, self._y_at)
                known, size = bottom, font_size(raw, first) * scale
            if last != first:
                loose_box(raw, last, box_at)
                other_left, other_top, other_right, other_bottom = read_box(box)
                left = other_left if other_left < left else left
                right = other_right if other_right > right else right
                bottom = other_bottom if other_bottom < bottom else bottom
                top = other_top if other_top > top else top
            if rotated:
                word = self._shown(text, (left, bottom, right, top), size, first)
                word.turn, word.broken = turn, broken
            else:
                left, right, base = left - across, right - across, height - y.value
                word = Word(text, left, height - top, right, height - bottom, base, size, 0, first, turn, broken)
            # Most words are told apart by the white before them, without a call.
            if begin - before != 1 or turn or word.left - words[-1].right >= TOUCHING * size:
                words.append(word)
            elif touches(words[-1], word) and is_generated(raw, before) == 1:
                append(words[-1], word)
            else:
                words.append(word)
            before = last + 1 + broken
        return words

    def _shown(self, text: str, box: tuple[float, float, float, float], size: float, first: int) -> Word:
        """A word of a rotated page; `box` is on the page as it is stored."""
        base = self._frame.point(self._x.value, self._y.value)[1]
        return Word(text, *self._frame.box(*box), base, size, 0, first)


def _is_piece(above: Word, word: Word) -> bool:
    """A tall bar is drawn in pieces, one under the other."""
    return above.text == word.text and abs(above.left - word.left) < 1 and above.line != word.line


def _spans(characters: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return map(_SPAN, _TOKEN.finditer(characters, start, end))


def _lines(characters: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _LINE_END.finditer(characters):
        yield start, match.start()
        start = match.end()
    yield start, len(characters)
