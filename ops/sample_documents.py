"""Makes the sample documents that cannot be written by hand: `python -m ops.sample_documents`.

Dates and the seed of the noise are fixed, and fonts come with the libraries, so that a second run writes the
same bytes. Three of the files are meant to fail: one is encrypted, one is damaged, one is empty.
"""

import codecs
import random
import sys
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from ops import sample_texts

try:
    from fpdf import FPDF
    from fpdf.enums import EncryptionMethod
except ModuleNotFoundError as error:
    message = "Making the sample documents needs fpdf2, which is not installed: pip install 'pincite[dev]'"
    raise ModuleNotFoundError(message, name=error.name) from error

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
MADE_ON = datetime(2024, 9, 20, 8, 0, tzinfo=UTC)
SEED = 2347
DOTS_PER_INCH = 200
A4_PIXELS = (1654, 2339)
A5_PIXELS = (1165, 1654)


class Handbook(FPDF):
    """A4 pages with a running footer that names the page by its label."""

    def footer(self) -> None:
        """The running line at the foot of every page."""
        self.set_y(-18)
        self.set_font("Times", "I", 9)
        self.cell(0, 6, f"Kestrel Ridge Station Handbook - {self.get_page_label()}", align="C")


def new_pdf(title: str, kind: type[FPDF] = FPDF) -> FPDF:
    """An empty A4 document with the fixed date."""
    pdf = kind(format="A4")
    pdf.set_creation_date(MADE_ON)
    pdf.set_title(title)
    pdf.set_margin(25)
    return pdf


def write_text(pdf: FPDF, text: str) -> None:
    """Set paragraphs, `# ` headings and blocks of `| ` table rows from the present position on."""
    for block in text.strip().split("\n\n"):
        if block.startswith("| "):
            pdf.set_font("Times", size=11)
            with pdf.table(text_align="LEFT", width=150, align="LEFT") as table:
                for line in block.splitlines():
                    table.row([cell.strip() for cell in line.removeprefix("| ").split("|")])
            continue
        heading = block.startswith("# ")
        pdf.set_font("Times", "B" if heading else "", 15 if heading else 11.5)
        if heading:
            pdf.start_section(block.removeprefix("# "))
        paragraph = block.removeprefix("# ").replace("\n", " ")
        pdf.multi_cell(0, 6.5, paragraph, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(2.5)


def handbook() -> bytes:
    """Eight pages with the labels i, ii, 1 to 6, an outline and a table."""
    pdf = new_pdf("Kestrel Ridge Station Handbook", Handbook)
    for number, text in enumerate(sample_texts.HANDBOOK_FRONT, start=1):
        pdf.add_page(label_style="r", label_start=number)
        write_text(pdf, text)
    for number, text in enumerate(sample_texts.HANDBOOK_CHAPTERS, start=1):
        pdf.add_page(label_style="D", label_start=number)
        write_text(pdf, text)
    return bytes(pdf.output())


def encrypted_pdf() -> bytes:
    """A PDF that asks for a password. RC4, because its bytes do not depend on chance as those of AES do."""
    pdf = new_pdf("Visitor register 2019")
    pdf.set_encryption("owner of the register", "open sesame", EncryptionMethod.RC4)
    pdf.add_page()
    write_text(pdf, sample_texts.VISITOR_REGISTER)
    return bytes(pdf.output())


def damaged_pdf() -> bytes:
    """A PDF whose copy was cut short: its catalogue, at the end of the file, has not arrived."""
    noise = random.Random(SEED)
    pdf = new_pdf("Telemetry export")
    pdf.add_page()
    write_text(pdf, sample_texts.TELEMETRY_HEADING)
    pdf.set_font("Courier", size=10)
    for hour in range(31 * 24):
        when = f"2024-03-{hour // 24 + 1:02} {hour % 24:02}:00"
        reading = f"{noise.uniform(23.2, 27.5):.1f} V  -{noise.randint(60, 95)} dBm"
        pdf.cell(0, 5, f"{when}  {reading}", new_x="LMARGIN", new_y="NEXT")
    whole = bytes(pdf.output())
    return whole[: len(whole) // 3]


def typed_page(text: str, size: tuple[int, int], points: int) -> Image.Image:
    """Typed lines on grey paper, as 8-bit grey of `size` pixels."""
    font = ImageFont.load_default(points * DOTS_PER_INCH / 72)
    page = Image.new("L", size, 236)
    draw = ImageDraw.Draw(page)
    left = top = size[0] // 9
    for line in text.splitlines():
        draw.text((left, top), line, font=font, fill=30)
        top += round(points * DOTS_PER_INCH / 72 * 1.5)
    return page


def scanned(page: Image.Image, noise: random.Random, specks: int) -> Image.Image:
    """The page as a cheap scanner sees it: a little askew, with specks of dust, in black and white."""
    askew = page.rotate(noise.uniform(-0.5, 0.5), Image.Resampling.BICUBIC, fillcolor=236)
    draw = ImageDraw.Draw(askew)
    for _ in range(specks):
        x, y = noise.randrange(askew.width), noise.randrange(askew.height)
        draw.rectangle((x, y, x + noise.randint(0, 1), y), fill=60)
    return askew.point(lambda grey: 255 if grey > 150 else 0, mode="1")


def utf_16_log() -> bytes:
    """One line per paragraph, Windows line ends, UTF-16 with a byte order mark."""
    paragraphs = [block.replace("\n", " ") for block in sample_texts.LAKE_GAUGE_LOG.strip().split("\n\n")]
    return codecs.BOM_UTF16_LE + "".join(f"{text}\r\n\r\n" for text in paragraphs).encode("utf-16-le")


def write_inspection_scan(path: Path) -> None:
    """Two scanned pages without a text layer."""
    noise = random.Random(SEED)
    pages = [scanned(typed_page(text, A4_PIXELS, 13), noise, 160) for text in sample_texts.INSPECTION_SCAN]
    pages[0].save(
        path,
        format="PDF",
        save_all=True,
        append_images=pages[1:],
        resolution=DOTS_PER_INCH,
        title="Scan",
        creationDate=MADE_ON.timetuple(),
        modDate=MADE_ON.timetuple(),
    )


def write_fuel_notes(path: Path) -> None:
    """A TIFF of two frames."""
    noise = random.Random(SEED)
    frames = [scanned(typed_page(text, A5_PIXELS, 13), noise, 80) for text in sample_texts.FUEL_NOTES]
    frames[0].save(
        path,
        format="TIFF",
        save_all=True,
        append_images=frames[1:],
        compression="group4",
        dpi=(DOTS_PER_INCH, DOTS_PER_INCH),
    )


def write_shelter_sign(path: Path) -> None:
    """A sign on a grey wall, as a photograph."""
    sign = Image.new("L", (1300, 900), 240)
    draw = ImageDraw.Draw(sign)
    draw.rectangle((12, 12, 1287, 887), outline=25, width=8)
    for row, line in enumerate(sample_texts.SHELTER_SIGN.splitlines()):
        font = ImageFont.load_default(84 if row == 0 else 58)
        draw.text((650, 100 + row * 100), line, font=font, fill=25, anchor="mm")
    wall = Image.new("L", (1500, 1100), 170)
    wall.paste(sign, (100, 100))
    photograph = wall.rotate(0.8, Image.Resampling.BICUBIC, fillcolor=170)
    photograph.save(path, format="JPEG", quality=60, dpi=(DOTS_PER_INCH, DOTS_PER_INCH))


def write_samples(samples: Path) -> list[Path]:
    """Write every made sample below `samples` and return their paths."""
    contents = {
        "handbook/station-handbook.pdf": handbook(),
        "archive/visitor-register-2019.pdf": encrypted_pdf(),
        "archive/telemetry-export.pdf": damaged_pdf(),
        "minutes/minutes-draft.txt": b"",
        "notes/lake-gauge-field-log.txt": utf_16_log(),
    }
    pictures = {
        "reports/2023-09-mast-inspection-scan.pdf": write_inspection_scan,
        "reports/2024-10-fuel-delivery-notes.tiff": write_fuel_notes,
        "signs/emergency-shelter.jpg": write_shelter_sign,
    }
    paths = [samples / name for name in (*contents, *pictures)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (samples / name).write_bytes(content)
    for name, write in pictures.items():
        write(samples / name)
    return paths


if __name__ == "__main__":
    for written in write_samples(SAMPLES):
        sys.stdout.write(f"{written.relative_to(SAMPLES.parent)}  {written.stat().st_size} bytes\n")
