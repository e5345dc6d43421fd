from dataclasses import replace
from pathlib import Path

import pytest
from fpdf import FPDF

from workers.extract import extract
from workers.extract.options import ReaderOptions
from workers.extract.pdf_glyphs import is_suspect
from workers.extract.pdf_lines import runs
from workers.extract.pdf_spacing import Word, touches, with_ellipses

SIZE = 10.0


def word(text: str, left: float, right: float, base: float = 100.0, line: int = 0) -> Word:
    return Word(text, left, base - 8, right, base + 2, base, SIZE, line, int(left))


def text_of(tmp_path: Path, options: ReaderOptions, pieces: list[tuple[float, str]]) -> str:
    """What is read from pieces of text that are drawn one after the other on one line, from given places on."""
    document = FPDF(unit="pt", format="A4")
    document.add_page()
    document.set_font("Helvetica", size=SIZE)
    for left, text in pieces:
        document.text(left, 100, text)
    path = tmp_path / "line.pdf"
    document.output(str(path))
    [page] = extract(path, path.name, options).pages
    return page.text


def width(text: str) -> float:
    document = FPDF(unit="pt")
    document.set_font("Helvetica", size=SIZE)
    return float(document.get_string_width(text))


@pytest.mark.parametrize(
    ("earlier", "later", "gap", "expected"),
    [
        ("P", "Q", 0.2, True),
        ("(X/", "Y)", -0.7, True),
        ("P", "Q", 1.0, False),
        ("P", "Q", -3.0, False),
        ("world", "Hello", 0.0, False),
        ("T", "Hello", 0.0, True),
    ],
)
def test_a_space_that_shows_nowhere(earlier: str, later: str, gap: float, expected: bool) -> None:
    assert touches(word(earlier, 0, 20), word(later, 20 + gap, 40)) is expected


def test_other_lines_and_broken_words_do_not_touch() -> None:
    first, second = word("P", 0, 10), word("Q", 10, 20)
    assert touches(first, second)
    assert not touches(first, replace(second, base=106.0))
    assert not touches(replace(first, broken=True), second)


@pytest.mark.parametrize(("count", "gap", "expected"), [(3, 1.7, ["..."]), (4, 1.7, ["."] * 4), (3, 2.8, ["."] * 3)])
def test_three_stops_that_thin_spaces_part_are_an_ellipsis(count: int, gap: float, expected: list[str]) -> None:
    dots = [word(".", 10 + at * (3 + gap), 13 + at * (3 + gap)) for at in range(count)]
    read = with_ellipses([word("a,", 0, 8), *dots, word(", z", 90, 99)])
    assert [one.text for one in read] == ["a,", *expected, ", z"]
    assert read[len(expected)].right == dots[-1].right


def test_parts_of_a_fraction_stand_apart_and_scripts_do_not() -> None:
    stacked = runs([word("2", 0, 5, 107, line=0), word("|z|", 5.5, 20, 100, line=1)])
    assert [line.text for line in stacked] == ["2 |z|"]
    script = replace(word("2", 20, 24, 96, line=2), size=7.0)
    assert [line.text for line in runs([word("z", 5.5, 20, 100, line=1), script])] == ["z2"]


def test_an_accent_that_is_drawn_late_goes_to_its_letter(tmp_path: Path, options: ReaderOptions) -> None:
    over = 50 + width("No") + (width("e") - width("¨")) / 2
    assert text_of(tmp_path, options, [(50, "Noel"), (over, "¨"), (90, "kommt")]) == "Noël kommt"


def test_an_accent_that_stands_alone_stays(tmp_path: Path, options: ReaderOptions) -> None:
    assert text_of(tmp_path, options, [(50, "Das ´ ist ein Akut")]) == "Das ´ ist ein Akut"


@pytest.mark.parametrize(("gap", "expected"), [(1.7, "(cos x, sin x)"), (0.0, "(cos x,sin x)")])
def test_white_behind_a_comma_is_a_space(tmp_path: Path, options: ReaderOptions, gap: float, expected: str) -> None:
    assert text_of(tmp_path, options, [(50, "(cos x,"), (50 + width("(cos x,") + gap, "sin x)")]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Haus", False),
        ("2026", False),
        ("00", True),
        ("2000,", False),
        ("(falls", True),
        ("(falls)", False),
        ("Ffj", True),
    ],
)
def test_which_words_are_looked_at_again(text: str, expected: bool) -> None:
    assert is_suspect(text) is expected
