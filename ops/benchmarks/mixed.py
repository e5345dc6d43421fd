"""Small documents of many kinds, no two alike, and large ones: what a drop folder gets all at once."""

import csv
import io
import random
from email.message import EmailMessage

from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from ops.benchmarks.generated import WORDS

# Every so many small documents, one is a picture that needs OCR.
SCAN_EVERY = 25
# Of a generated text page; they are about seven chunks.
SENTENCES_PER_PAGE = 24
_SENTENCES = 12
_NUMBERS_APART = 1000


def names(number: int) -> list[str]:
    """The six names that sentence `number` is about: each is in a few hundredths of all sentences' chunks."""
    chosen = random.Random(number)
    return [f"{chosen.choice(WORDS)}{chosen.choice(WORDS)}" for _ in range(6)]


def sentence(number: int) -> str:
    """A sentence that occurs once: its number is in it."""
    first, second, third, fourth, fifth, sixth = names(number)
    return f"Report {number}: the {first} of {second} met {third} near the {fourth}, and {fifth} kept the {sixth}."


def small(number: int) -> tuple[str, bytes]:
    """Name and bytes of small document `number`: one or two chunks of text that no other number has."""
    sentences = [sentence(number * _NUMBERS_APART + line) for line in range(_SENTENCES)]
    if number % SCAN_EVERY == 0:
        return f"{number:06}.png", picture(sentences[:3])
    makers = (_markdown, _text, _pdf, _html, _csv, _mail)
    suffixes = ("md", "txt", "pdf", "html", "csv", "eml")
    kind = number % len(makers)
    return f"{number:06}.{suffixes[kind]}", makers[kind](number, sentences)


def picture(lines: list[str]) -> bytes:
    """A PNG of lines of text, as a phone or a scanner gives it."""
    image = Image.new("L", (1400, 60 + 70 * len(lines)), 255)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(28)
    for line, text in enumerate(lines):
        pen.text((40, 40 + 70 * line), text, fill=20, font=font)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def scanned_pdf(pages: int, first: int) -> bytes:
    """A scan of so many pages, with sentences from number `first` on."""
    document = FPDF(unit="pt", format="A4")
    document.set_auto_page_break(False)
    for page in range(pages):
        lines = [sentence(first + 20 * page + line) for line in range(20)]
        document.add_page()
        document.image(io.BytesIO(picture(lines)), 0, 0, 595, 620)
    return bytes(document.output())


def text_pdf(pages: int, first: int) -> bytes:
    """A PDF with a text layer of so many pages, with sentences from number `first` on."""
    document = FPDF(unit="pt", format="A4")
    document.set_font("Helvetica", size=9)
    for page in range(pages):
        document.add_page()
        for line in range(SENTENCES_PER_PAGE):
            document.text(50, 80 + 14 * line, sentence(first + SENTENCES_PER_PAGE * page + line))
    return bytes(document.output())


def _markdown(number: int, sentences: list[str]) -> bytes:
    half = len(sentences) // 2
    text = f"# Note {number}\n\n{' '.join(sentences[:half])}\n\n## More\n\n{' '.join(sentences[half:])}\n"
    return text.encode()


def _text(_number: int, sentences: list[str]) -> bytes:
    return "\n".join(sentences).encode()


def _pdf(_number: int, sentences: list[str]) -> bytes:
    document = FPDF(unit="pt", format="A4")
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.multi_cell(495, 14, " ".join(sentences), align="L")
    return bytes(document.output())


def _html(number: int, sentences: list[str]) -> bytes:
    paragraphs = "".join(f"<p>{text}</p>" for text in sentences)
    return f"<!doctype html><title>Page {number}</title><h1>Page {number}</h1>{paragraphs}".encode()


def _csv(number: int, sentences: list[str]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["Part", "Remark", "Count"])
    writer.writerows([f"KR-{number}-{line}", text, line * 3] for line, text in enumerate(sentences[:6]))
    return buffer.getvalue().encode()


def _mail(number: int, sentences: list[str]) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "ada@example.org", "ben@example.org"
    message["Subject"] = f"Message {number}"
    message.set_content("\n".join(sentences))
    return message.as_bytes()
