"""Numbers as a person reads them in a cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.extract.number_formats import formatter, general
from workers.extract.serial_dates import iso_moment

ACCOUNTING = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0%", 0.25, "25%"),
        ("0.0 %", 0.256, "25.6 %"),
        ("0.00", 2.675, "2.68"),
        ("0.00", -0.001, "0.00"),
        ("0", 1234.0, "1234"),
        ("#,##0.00", 1234567.891, "1234567.89"),
        ("[$€-407] #,##0.00", -12.5, "-€ 12.50"),
        ('#,##0.00\\ "€"', 12.345, "12.35 €"),
        ("$#,##0_);($#,##0)", -1200, "($1200)"),
        ("$#,##0_);[Red]($#,##0)", 1200, "$1200"),
        (ACCOUNTING, -5, "-5.00 €"),
        (ACCOUNTING, 0, "- €"),
        ("00000", 123, "00123"),
        ("0.##", 2.5, "2.5"),
        ("0.##", 2, "2"),
        (".00", 0.5, ".50"),
        ("#", 0, ""),
        (";;;", 5, ""),
        ('"n/a"', 4, "n/a"),
        ('"Q"0', 3, "Q3"),
        ('General "kg"', 5.5, "5.5 kg"),
        ("@", 7, "7"),
        ("0.00E+00", 12345, "1.23E+04"),
        ('0.0,,"M"', 12345678, "12.3M"),
        ("# ?/?", 0.5, "0.5"),
        ("[<10]0.00;0", 9.5, "9.50"),
        ("[<10]0.00;0", 19.5, "20"),
        ("0", 1e300, "1E+300"),
        ("", 1.5, "1.5"),
    ],
)
def test_numbers(code: str, value: float, shown: str) -> None:
    assert formatter(code)(value) == shown


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("yyyy-mm-dd", 45322, "2024-01-31"),
        ("dd.mm.yyyy hh:mm", 45322.604166, "2024-01-31 14:30"),
        ('d "de" mmmm', 45322, "2024-01-31"),
        ("[$-407]dddd, d. mmmm yyyy", 45322, "2024-01-31"),
        ("mmm yyyy", 45322, "2024-01"),
        ("yyyy", 45322, "2024"),
        ("mmmm", 45322, "2024-01-31"),
        ("h:mm AM/PM", 0.75, "18:00"),
        ("h:mm:ss", 0.5 + 1 / 86400, "12:00:01"),
        ("[h]:mm", 1.5, "36:00"),
        ("[mm]:ss", 1 / 24, "60:00"),
        ("[ss]", 0.001, "86"),
        ("yyyy-mm-dd", 59, "1900-02-28"),
        ("yyyy-mm-dd", 61, "1900-03-01"),
        ("yyyy-mm-dd", -1, "-1"),
        ("yyyy-mm-dd", 1e9, "1000000000"),
    ],
)
def test_dates(code: str, value: float, shown: str) -> None:
    assert formatter(code)(value) == shown


def test_days_count_from_1904_where_the_workbook_says_so() -> None:
    assert formatter("yyyy-mm-dd", from_1904=True)(45322 - 1462) == "2024-01-31"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3.0, "3"), (0.1 + 0.2, "0.3"), (-2.5, "-2.5"), (123456789012.0, "123456789012"), (12345678901.5, "12345678901.5"),
     (1e-7, "1E-07"), (1e20, "1E+20"), (-0.0, "0")],
)  # fmt: skip
def test_without_a_format(value: float, shown: str) -> None:
    assert general(value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31T00:00:00", "2024-01-31"),
        ("2024-01-31T14:30:00.25Z", "2024-01-31 14:30:00"),
    ],
)
def test_moments(text: str, shown: str) -> None:
    assert iso_moment(text) == shown


@given(
    st.text('0#?.,;%@_*\\"[]$€-()/ EGeneralymdhsAMPM+<>=19', max_size=40),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_code_shows_any_number(code: str, value: float) -> None:
    assert isinstance(formatter(code)(value), str)
