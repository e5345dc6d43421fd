"""PDF files of any script without a font file: each glyph is a box of a Type 3 font, and the font's map to Unicode
(ISO 32000-1, 9.10.3) says what it stands for. Or fonts that the reader is to have, with a predefined CMap.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SIZE, LEADING, MARGIN = 12, 30, 40
_WIDTH, _HEIGHT = 700, 842
_MIRRORED = str.maketrans("()[]«»", ")(][»«")
# Emoji with what modifies and joins them; flags; a letter with its marks, joiners and variation selectors.
_JOINED = "\u200c\u200d\ufe0e\ufe0f\u20e3"
_CLUSTER = re.compile(
    r"[\U0001f1e6-\U0001f1ff]{2}|.(?:[\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef]|\u200d.)*", re.DOTALL
)
# Runs that are read left to right within writing from right to left; Latin words, and digits of any script.
_ARABIC_DIGIT = "[\u0660-\u0669\u06f0-\u06f9]"
_LEFT_TO_RIGHT = re.compile(
    r"[A-Za-z](?:[A-Za-z0-9 .-]*[A-Za-z0-9](?: \([A-Za-z]+\))?)?|[0-9](?:[0-9.,:]*[0-9])?%?"
    rf"|{_ARABIC_DIGIT}+(?:/{_ARABIC_DIGIT}+)*"
)


def clusters(text: str) -> list[str]:
    """What a reader sees as single signs, roughly as UAX #29 has it."""
    found: list[str] = []
    for piece in _CLUSTER.findall(text):
        mark = unicodedata.combining(piece[0]) or piece[0] in _JOINED or unicodedata.category(piece[0]) == "Mn"
        jamo = "\u1160" <= piece[0] <= "\u11ff"
        if found and (mark or jamo):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def visual(text: str, *, marks_apart: bool = False) -> list[str]:
    """The signs of a line in the order in which programs draw writing from right to left: from the left."""
    drawn: list[str] = []
    position = 0
    for match in _LEFT_TO_RIGHT.finditer(text):
        drawn = clusters(match[0]) + _turned(text[position : match.start()], marks_apart) + drawn
        position = match.end()
    return _turned(text[position:], marks_apart) + drawn


def _turned(text: str, marks_apart: bool) -> list[str]:
    signs = [*text.translate(_MIRRORED)] if marks_apart else clusters(text.translate(_MIRRORED))
    return signs[::-1]


@dataclass
class GlyphFont:
    """A font that grows: one code for each text that a glyph stands for."""

    codes: dict[str, int] = field(default_factory=lambda: {" ": 32})

    def code(self, sign: str) -> int:
        if sign not in self.codes:
            self.codes[sign] = 32 + len(self.codes)
        assert self.codes[sign] < 256
        return self.codes[sign]


def _is_mark(sign: str) -> bool:
    return all(unicodedata.category(each) in {"Mn", "Cf"} for each in sign)


def glyph_pdf(pages: Sequence[Sequence[Sequence[str]]], right_to_left: bool = False) -> bytes:
    """Pages of lines of signs in the order they are drawn from the left; lines begin at the right if told so."""
    font = GlyphFont()
    contents = [_content(lines, font, right_to_left) for lines in pages]
    signs = {code: sign for sign, code in sorted(font.codes.items(), key=lambda item: item[1])}
    first, last = min(signs), max(signs)
    names = " ".join(f"{code} /g{code}" for code in signs)
    widths = " ".join(str(_width(sign)) for sign in signs.values())
    procedures = " ".join(f"/g{code} {5 + at} 0 R" for at, code in enumerate(signs))
    dictionary = (
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 700] /FontMatrix [0.001 0 0 0.001 0 0] /Resources << >> "
        f"/CharProcs << {procedures} >> /Encoding << /Type /Encoding /Differences [{names}] >> "
        f"/FirstChar {first} /LastChar {last} /Widths [{widths}] /ToUnicode 4 0 R >>"
    )
    return _file(dictionary.encode(), [_to_unicode(signs), *map(_box, signs.values())], contents)


def _box(sign: str) -> bytes:
    """The drawing of a glyph."""
    width = _width(sign)
    box = f" 50 0 {width - 100} 700 re f" if width and sign != " " else ""
    return _stream(f"{width} 0 0 0 {width} 700 d1{box}".encode())


def _to_unicode(signs: Mapping[int, str]) -> bytes:
    """The CMap from codes to UTF-16, in blocks of at most 100 as the format asks."""
    pairs = [f"<{code:02x}> <{sign.encode('utf-16-be').hex()}>" for code, sign in signs.items()]
    blocks = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]
    mapped = "\n".join(f"{len(block)} beginbfchar\n{chr(10).join(block)}\nendbfchar" for block in blocks)
    return _stream(
        f"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Signs def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange\n{mapped}\nendcmap end end".encode()
    )


def predefined_pdf(pages: Sequence[Sequence[str]], cmap: str, collection: str) -> bytes:
    """Pages of lines in a font that is not in the file; `cmap`, such as UniGB-UTF16-H, maps UTF-16 to `collection`."""
    contents = []
    for lines in pages:
        shown = [
            f"1 0 0 1 {MARGIN} {_HEIGHT - 60 - at * LEADING} Tm <{line.encode('utf-16-be').hex()}> Tj"
            for at, line in enumerate(lines)
        ]
        contents.append(f"BT /F1 {SIZE} Tf {' '.join(shown)} ET".encode())
    font = f"<< /Type /Font /Subtype /Type0 /BaseFont /Songs /Encoding /{cmap} /DescendantFonts [4 0 R] >>"
    descendant = (
        f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Songs /CIDSystemInfo << /Registry (Adobe) /Ordering "
        f"({collection}) /Supplement 2 >> /DW 1000 /FontDescriptor 5 0 R >>"
    )
    descriptor = (
        "<< /Type /FontDescriptor /FontName /Songs /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 /Ascent 880 "
        "/Descent -120 /StemV 80 >>"
    )
    return _file(font.encode(), [descendant.encode(), descriptor.encode()], contents)


def _width(sign: str) -> int:
    if sign == " ":
        return 300
    if _is_mark(sign):
        return 0
    return 1000 if unicodedata.east_asian_width(sign[0]) in "WF" else 500


def _content(lines: Sequence[Sequence[str]], font: GlyphFont, right_to_left: bool) -> bytes:
    shown = []
    for at, line in enumerate(lines):
        length = sum(map(_width, line)) * SIZE / 1000
        left = _WIDTH - MARGIN - length if right_to_left else MARGIN
        codes = "".join(f"{font.code(sign):02x}" for sign in line)
        shown.append(f"1 0 0 1 {left:.2f} {_HEIGHT - 60 - at * LEADING} Tm <{codes}> Tj")
    return f"BT /F1 {SIZE} Tf {' '.join(shown)} ET".encode()


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def _file(font: bytes, parts: Sequence[bytes], contents: Sequence[bytes]) -> bytes:
    """The catalogue, the page tree, the font as object 3, its parts from 4 on, then each page with its content."""
    first = 4 + len(parts)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        font,
        *parts,
    ]
    for at, content in enumerate(contents):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_WIDTH} {_HEIGHT}] /Contents {first + 2 * at + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(_stream(content))
    data = b"%PDF-1.7\n"
    offsets = []
    for number, item in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer
