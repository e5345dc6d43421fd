"""Grids of tables, whatever way they are drawn."""

import itertools
from collections.abc import Callable

import pytest
from fpdf import FPDF

from pincite.documents import BlockKind
from tests.unit.extract.test_pdf_tables import Read, assert_places, markdown, read, sheet

__all__ = ["read"]

ROWS = [
    ("Item", "Colour", "Maker"),
    ("Thing one", "blue", "Anna"),
    ("Thing two", "red", "Bert"),
    ("A third", "grey", "Ida"),
]
ACROSS = [60, 180, 300, 420]
DOWN = [100, 118, 136, 154, 172]
HEIGHT = 841.89

Draw = Callable[[FPDF], None]


def line_by_line(document: FPDF) -> None:
    for top in DOWN:
        document.line(ACROSS[0], top, ACROSS[-1], top)
    for left in ACROSS:
        document.line(left, DOWN[0], left, DOWN[-1])


def side_by_side(document: FPDF) -> None:
    for top, (left, right) in itertools.product(DOWN, itertools.pairwise(ACROSS)):
        document.line(left, top, right, top)
    for left, (top, bottom) in itertools.product(ACROSS, itertools.pairwise(DOWN)):
        document.line(left, top, left, bottom)


def in_one_path(document: FPDF) -> None:
    lines = [f"{ACROSS[0]} {HEIGHT - top} m {ACROSS[-1]} {HEIGHT - top} l" for top in DOWN]
    lines += [f"{left} {HEIGHT - DOWN[0]} m {left} {HEIGHT - DOWN[-1]} l" for left in ACROSS]
    document._out(f"{' '.join(lines)} S")


def in_one_moved_path(document: FPDF) -> None:
    lines = [f"0 {DOWN[0] - top} m {ACROSS[-1] - ACROSS[0]} {DOWN[0] - top} l" for top in DOWN]
    lines += [f"{left - ACROSS[0]} 0 m {left - ACROSS[0]} {DOWN[0] - DOWN[-1]} l" for left in ACROSS]
    document._out(f"q 1 0 0 1 {ACROSS[0]} {HEIGHT - DOWN[0]} cm {' '.join(lines)} S Q")


def as_cells_in_one_path(document: FPDF) -> None:
    cells = itertools.product(itertools.pairwise(ACROSS), itertools.pairwise(DOWN))
    boxes = [f"{left} {HEIGHT - bottom} {right - left} {bottom - top} re" for (left, right), (top, bottom) in cells]
    document._out(f"{' '.join(boxes)} S")


def as_corners(document: FPDF) -> None:
    for (left, right), (top, bottom) in itertools.product(itertools.pairwise(ACROSS), itertools.pairwise(DOWN)):
        document._out(f"{left} {HEIGHT - top} m {left} {HEIGHT - bottom} l {right} {HEIGHT - bottom} l S")
    document.line(ACROSS[0], DOWN[0], ACROSS[-1], DOWN[0])
    document.line(ACROSS[-1], DOWN[0], ACROSS[-1], DOWN[-1])


def thin_boxes(document: FPDF) -> None:
    for top in DOWN:
        document.rect(ACROSS[0], top, ACROSS[-1] - ACROSS[0], 0.5, style="F")
    for left in ACROSS:
        document.rect(left, DOWN[0], 0.5, DOWN[-1] - DOWN[0], style="F")


def thin_boxes_in_one_path(document: FPDF) -> None:
    boxes = [f"{ACROSS[0]} {HEIGHT - top} {ACROSS[-1] - ACROSS[0]} 0.5 re" for top in DOWN]
    boxes += [f"{left} {HEIGHT - DOWN[-1]} 0.5 {DOWN[-1] - DOWN[0]} re" for left in ACROSS]
    document._out(f"{' '.join(boxes)} f")


def in_pieces(document: FPDF, piece: float, gap: float) -> None:
    for top in DOWN:
        for step in range(int((ACROSS[-1] - ACROSS[0]) // (piece + gap))):
            left = ACROSS[0] + step * (piece + gap)
            document.line(left, top, left + piece, top)
    for left in ACROSS:
        for step in range(int((DOWN[-1] - DOWN[0]) // (piece + gap))):
            top = DOWN[0] + step * (piece + gap)
            document.line(left, top, left, top + piece)


def dashes(document: FPDF) -> None:
    in_pieces(document, 8, 4)


def short_dashes(document: FPDF) -> None:
    in_pieces(document, 3, 2)


def dots(document: FPDF) -> None:
    in_pieces(document, 1, 2)


def by_a_dash_pattern(document: FPDF) -> None:
    document.set_dash_pattern(3, 2)
    line_by_line(document)


GRIDS = [
    line_by_line, side_by_side, in_one_path, in_one_moved_path, as_cells_in_one_path, as_corners, thin_boxes,
    thin_boxes_in_one_path, dashes, short_dashes, dots, by_a_dash_pattern,
]  # fmt: skip


@pytest.mark.parametrize("draw", GRIDS)
def test_a_grid_is_a_table_whatever_way_it_is_drawn(read: Read, draw: Draw) -> None:
    document = sheet()
    document.add_page()
    for top, row in zip(DOWN, ROWS, strict=False):
        for left, cell in zip(ACROSS, row, strict=False):
            document.text(left + 6, top + 13, cell)
    draw(document)
    [page] = read(bytes(document.output())).pages
    assert page.text.split("\n") == [markdown(row) for row in ROWS]
    [block] = page.blocks
    assert (block.kind, block.title) == (BlockKind.TABLE, markdown(ROWS[0]))
    assert_places(page)


def test_dotted_leaders_and_a_curve_are_no_grid(read: Read) -> None:
    document = sheet()
    document.add_page()
    lines = ["Introduction", "Rent and its day", "Heating in the winter", "Notice of the end"]
    for number, line in enumerate(lines):
        document.text(60, 100 + 16 * number, line)
        document.text(400, 100 + 16 * number, str(number + 3))
        for step in range(60):
            document.line(180 + 3 * step, 100 + 16 * number, 181 + 3 * step, 100 + 16 * number)
    document._out("60 500 m 100 700 200 300 300 500 c 300 400 l 60 400 l 60 500 l S")
    [page] = read(bytes(document.output())).pages
    assert "|" not in page.text
