"""Pages whose truth is known because they are made here: columns, a table over pages, a scan."""

import io
from dataclasses import dataclass
from pathlib import Path

from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

WORDS = (
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "violin",
    "granite",
    "saddle",
    "orchard",
    "thunder",
    "velvet",
    "walnut",
    "beacon",
    "candle",
    "drift",
    "ember",
    "falcon",
    "glacier",
    "hammer",
    "island",
    "juniper",
    "kettle",
    "lagoon",
    "marble",
    "nettle",
    "otter",
    "pebble",
    "quarry",
    "ribbon",
    "saffron",
    "timber",
)


@dataclass(frozen=True, slots=True)
class Made:
    """A generated PDF with its sentences in reading order, and its table's rows where it has one."""

    name: str
    path: Path
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()


def sentence(number: int) -> str:
    """A sentence that occurs once: its number is in it."""
    words = [WORDS[(number * 7 + step * 11) % len(WORDS)] for step in range(9)]
    return f"Sentence {number} tells of {' '.join(words)}."


def columns(folder: Path, count: int, *, title: bool) -> Made:
    """One page in `count` columns, read column by column; with `title`, a line over the full width first."""
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    document.add_page()
    document.set_font("Helvetica", size=9)
    sentences = tuple(sentence(number) for number in range(12 * count))
    top = 60.0
    heading = "A title that runs over the full width of the page and belongs before all columns"
    if title:
        document.set_font("Helvetica", "B", size=14)
        document.set_xy(50, top)
        document.cell(495, 20, heading)
        document.set_font("Helvetica", size=9)
        top += 40
    width = (495 - 20 * (count - 1)) / count
    for column in range(count):
        document.set_xy(50 + column * (width + 20), top)
        document.multi_cell(width, 12, " ".join(sentences[12 * column : 12 * (column + 1)]), align="L")
    name = f"{count} columns{' with title' if title else ''}"
    path = folder / f"{name.replace(' ', '-')}.pdf"
    path.write_bytes(bytes(document.output()))
    return Made(name, path, ((heading, *sentences) if title else sentences))


def table(folder: Path, pages: int) -> Made:
    """A ruled table over some pages, its header row repeated, between two paragraphs."""
    document = FPDF(unit="pt", format="A4")
    document.set_font("Helvetica", size=10)
    header = ("Part", "Material", "Weight", "Remark")
    rows = tuple(
        (f"KR-{7000 + n}", WORDS[n % len(WORDS)].title(), f"{n * 3 % 97}.5 kg", f"{WORDS[n * 5 % 30]} {n}")
        for n in range(30 * pages)
    )
    for page in range(pages):
        document.add_page()
        document.set_xy(50, 50)
        document.multi_cell(495, 14, sentence(900 + page))
        document.set_xy(50, 90)
        for row in (header, *rows[30 * page : 30 * (page + 1)]):
            for cell in row:
                document.cell(120, 18, cell, border=1)
            document.set_xy(50, document.get_y() + 18)
    path = folder / "table.pdf"
    path.write_bytes(bytes(document.output()))
    return Made("ruled table", path, tuple(sentence(900 + page) for page in range(pages)), rows)


def scan(folder: Path, pages: int) -> Made:
    """A PDF of pictures of text at 200 dpi, as a scanner gives it."""
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    sentences = tuple(sentence(number) for number in range(20 * pages))
    for page in range(pages):
        picture = Image.new("L", (1654, 2339), 255)
        pen, font = ImageDraw.Draw(picture), ImageFont.load_default(34)
        for line, text in enumerate(sentences[20 * page : 20 * (page + 1)]):
            pen.text((120, 160 + 100 * line), text, fill=20, font=font)
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        document.add_page()
        document.image(buffer, 0, 0, 595, 842)
    path = folder / "scan.pdf"
    path.write_bytes(bytes(document.output()))
    return Made("scan", path, sentences)
