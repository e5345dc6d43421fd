"""Numbers, signs of several letters and lines without letters on right-to-left pages of PDFs."""

from pathlib import Path

import pytest

from tests.glyph_pdf import glyph_pdf, visual
from workers.extract import extract
from workers.extract.options import ReaderOptions

HEBREW = "השוכר משלם את שכר הדירה ביום השלישי בכל חודש"
ARABIC = "يدفع المستأجر الإيجار في اليوم الثالث من كل شهر"


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        # After an Arabic letter a hyphen parts numbers (UAX #9, W2), after a Hebrew one it does not (W4).
        ("التاريخ 2024-03-12 يوم الثلاثاء", visual("التاريخ 2024-03-12 يوم الثلاثاء")),
        ("هاتف 050-1234567 للاتصال", visual("هاتف 050-1234567 للاتصال")),
        ("النسبة 15% فقط", [*visual(" فقط"), *"%15", *visual("النسبة ")]),
        ("النظام Windows 11 الجديد", visual("النظام Windows 11 الجديد")),
        ("טלפון 03-1234567 בבית", [*visual(" בבית"), *"03-1234567", *visual("טלפון ")]),
        ("1990-1995", [*"1990-1995"]),
        ("5.", [*".5"]),
        ("(5)", [*"(5)"]),
        ("12:30", [*"12:30"]),
        ("כוס ½ סוכר… בבקשה", visual("כוס ½ סוכר… בבקשה")),
        ("חום 20℃ היום", [*visual(" היום"), "℃", *"20", *visual("חום ")]),
    ],
)
def test_numbers_and_signs_on_a_right_to_left_page(
    tmp_path: Path, options: ReaderOptions, line: str, drawn: list[str]
) -> None:
    before = ARABIC if "ا" in line else HEBREW
    path = tmp_path / "page.pdf"
    path.write_bytes(glyph_pdf([[visual(before), drawn]], right_to_left=True))
    [page] = extract(path, path.name, options).pages
    assert page.text.split("\n") == [before, line]
