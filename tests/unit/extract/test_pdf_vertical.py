"""Pages written in columns from right to left, top to bottom."""

from collections.abc import Sequence

import pytest
from PIL import ImageFont

from pincite.documents import PageText
from tests.unit.extract.test_pdf_tables import Read, assert_places, read

__all__ = ["read"]

TITLE = "賃貸借契約"
COLUMNS = [
    "契約書の賃料は毎月三日に",
    "支払うものとする。賃貸人は",
    "暖房を五日以内に修理して、",
    "通知を受けた日に知らせる。",
]
LOWER = ["第二条の敷金は契約の終了", "後一か月以内に返すものと", "する。利息は付けない。"]
SIZE, PITCH, APART = 12, 13, 20


class Page:
    """A page of one embedded font that is written down (`V`) or across (`H`); its shapes are not what it says."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._drawn: list[str] = []

    def text(self, font: str, size: float, place: tuple[float, float], text: str) -> None:
        for letter in text:
            self._codes.setdefault(letter, 20 + len(self._codes))
        codes = "".join(f"{self._codes[letter]:04x}" for letter in text)
        self._drawn.append(f"BT /{font} {size} Tf 1 0 0 1 {place[0]} {place[1]} Tm <{codes}> Tj ET")

    def column(self, right: float, top: float, text: str, one_by_one: bool) -> None:
        """`right` and `top` are those of the column's letters."""
        if not one_by_one:
            return self.text("V", SIZE, (right - SIZE / 2, top), text)
        for number, letter in enumerate(text):
            self.text("H", SIZE, (right - SIZE, top - SIZE - PITCH * number), letter)
        return None

    def bytes(self) -> bytes:
        font = ImageFont.load_default(20)
        assert isinstance(font, ImageFont.FreeTypeFont)
        letters = "\n".join(f"<{code:04x}> <{ord(letter):04x}>" for letter, code in self._codes.items())
        named = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{len(self._codes)} beginbfchar\n{letters}\n"
            "endbfchar endcmap end end"
        )
        face = b"/Type/Font/Subtype/Type0/BaseFont/X/DescendantFonts[7 0 R]/ToUnicode 9 0 R"
        return _pdf(
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</V 5 0 R/H 6 0 R>>>>>>",
            _stream("\n".join(self._drawn).encode()),
            b"<<%s/Encoding/Identity-V>>" % face,
            b"<<%s/Encoding/Identity-H>>" % face,
            b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
            b"/Supplement 0>>/DW 1000/CIDToGIDMap/Identity/FontDescriptor 8 0 R>>",
            b"<</Type/FontDescriptor/FontName/X/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 880/Descent -120"
            b"/StemV 80/CapHeight 700/FontFile2 10 0 R>>",
            _stream(named.encode()),
            _stream(bytes(font.font_bytes)),
        )


def _stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)


def _pdf(*objects: bytes) -> bytes:
    out, starts = b"%PDF-1.5\n", []
    for number, content in enumerate(objects, start=1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    places = b"".join(b"%010d 00000 n \n" % start for start in starts)
    count = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>" % (count, places, count)
    return out + table + b"\nstartxref\n%d\n%%%%EOF" % len(out)


def written(columns: Sequence[str], one_by_one: bool, top: float = 760) -> Page:
    page = Page()
    for number, column in enumerate(columns):
        page.column(500 - APART * number, top, column, one_by_one)
    return page


def box_of(page: PageText, text: str) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in points of the one word that holds the text."""
    [word] = [word for word in page.words if text in page.text[word.start : word.end]]
    return round(word.left * 595), round(word.top * 842), round(word.right * 595), round(word.bottom * 842)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_columns_are_read_from_right_to_left(read: Read, one_by_one: bool) -> None:
    [page] = read(written(COLUMNS, one_by_one).bytes()).pages
    assert page.text.split("\n") == COLUMNS
    assert_places(page)
    for number, column in enumerate(COLUMNS):
        left, top, right, bottom = box_of(page, column)
        assert abs(right - (500 - APART * number)) <= 1
        assert right - left == SIZE
        assert abs(top - 82) <= 2
        assert abs(bottom - 82 - (PITCH if one_by_one else SIZE) * len(column)) <= 4


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_level_title_comes_first_and_a_page_number_last(read: Read, one_by_one: bool) -> None:
    page = written(COLUMNS, one_by_one, top=700)
    page.text("H", 10, (290, 40), "17")
    page.text("H", 18, (200, 790), TITLE)
    [shown] = read(page.bytes()).pages
    assert shown.text == "\n\n".join([TITLE, "\n".join(COLUMNS), "17"])
    assert_places(shown)


def test_letters_drawn_row_by_row(read: Read) -> None:
    page = Page()
    for number in range(12):
        for at, column in enumerate(COLUMNS):
            page.text("H", SIZE, (488 - APART * at, 748 - PITCH * number), column[number])
    [shown] = read(page.bytes()).pages
    assert shown.text.split("\n") == [column[:12] for column in COLUMNS]
    assert_places(shown)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_two_tiers_are_read_one_after_the_other(read: Read, one_by_one: bool) -> None:
    page = written(COLUMNS, one_by_one, top=760)
    for number, column in enumerate(LOWER):
        page.column(500 - APART * number, 400, column, one_by_one)
    [shown] = read(page.bytes()).pages
    assert shown.text.split() == COLUMNS + LOWER
    assert_places(shown)


def test_two_digits_side_by_side_stay_in_their_column(read: Read) -> None:
    page = Page()
    page.column(500, 760, "契約は平成", one_by_one=True)
    page.text("H", SIZE / 2, (488, 750 - PITCH * 5), "29")
    page.column(500, 760 - PITCH * 6, "年に終わる", one_by_one=True)
    page.column(480, 760, COLUMNS[0], one_by_one=True)
    [shown] = read(page.bytes()).pages
    assert shown.text.replace(" ", "").split("\n") == ["契約は平成29年に終わる", COLUMNS[0]]
    assert_places(shown)


def test_level_lines_stay_level(read: Read) -> None:
    page = Page()
    for number, line in enumerate(COLUMNS):
        page.text("H", SIZE, (60, 760 - APART * number), line)
    for number, line in enumerate(COLUMNS):
        for at, letter in enumerate(line):
            page.text("H", SIZE, (60 + SIZE * at, 600 - APART * number), letter)
    [shown] = read(page.bytes()).pages
    assert shown.text.split() == COLUMNS + COLUMNS
    assert_places(shown)


def rows_of(rows: Sequence[Sequence[str]], leading: float, column_by_column: bool) -> bytes:
    page = Page()
    cells = [(column, number, cell) for number, row in enumerate(rows) for column, cell in enumerate(row)]
    for column, number, cell in sorted(cells) if column_by_column else cells:
        page.text("H", SIZE, (60 + 70 * column, 700 - leading * number), cell)
    return page.bytes()


NAMES = ["張偉", "王芳", "李娜", "劉洋", "陳静"]
ROWS = {
    "people": list(zip(NAMES, "男女女男女", ["25", "31", "28", "40", "33"], strict=True)),
    "items": [(number, f"第{number}の項目は大切です") for number in "一二三四五"],
    "grades": list(zip(["国語", "数学", "理科", "社会", "英語"], "優良可優良", strict=True)),
    "days": [(day, f"予定その{day}") for day in "日月火水木金土"],
    "letters only": [(day, "休", sign) for day, sign in zip("日月火水木金土", "晴雨曇晴雪晴雨", strict=True)],
    "letters among numbers": [(str(number), sign) for number, sign in enumerate("晴雨曇晴雪", start=10)],
}


@pytest.mark.parametrize("column_by_column", [False, True])
@pytest.mark.parametrize("leading", [13, 15, 16])
@pytest.mark.parametrize("name", ROWS)
def test_single_letters_in_rows_stay_in_their_rows(
    read: Read, name: str, leading: float, column_by_column: bool
) -> None:
    rows = ROWS[name]
    [shown] = read(rows_of(rows, leading, column_by_column)).pages
    assert sorted(shown.text.split()) == sorted(cell for row in rows for cell in row)
    if not column_by_column:
        assert shown.text.split("\n") == [" ".join(row) for row in rows]
    assert_places(shown)


def test_columns_beside_level_lines_run_down(read: Read) -> None:
    page = written(COLUMNS, one_by_one=True)
    for number, line in enumerate(LOWER):
        page.text("H", SIZE, (60, 700 - 17 * number), line)
    [shown] = read(page.bytes()).pages
    assert "\n".join(COLUMNS) in shown.text
    assert shown.text.split("\n\n")[-1].split("\n")[-len(LOWER) :] == LOWER
    assert_places(shown)


def test_one_column_alone_runs_down(read: Read) -> None:
    page = Page()
    page.column(500, 760, COLUMNS[0], one_by_one=True)
    page.text("H", SIZE, (60, 500), LOWER[0])
    [shown] = read(page.bytes()).pages
    assert COLUMNS[0] in shown.text.split("\n")
