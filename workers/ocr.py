"""OCR of one page with Tesseract. `workers.reading` runs it in the sandbox.

A page that cannot be read is a page without text and a warning.
"""

import os
import shlex
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytesseract
from PIL import Image

from pincite.documents import PageText, TextSource, Warning
from workers.extract.canonical import PAGE_FAILED
from workers.extract.options import ReaderOptions
from workers.extract.quality import count_letters, is_readable
from workers.ocr_layout import NOTHING, Reading, read_table, turned_back
from workers.page_picture import PageTooLargeError, page_picture
from workers.tesseract_probe import Tesseract

_POOR_CONFIDENCE = 0.6
_GOOD_CONFIDENCE = 0.8
_FEW_WORDS = 4
_BLANK_CONTRAST = 24
_TURNS = {
    90: Image.Transpose.ROTATE_90,
    270: Image.Transpose.ROTATE_270,
    180: Image.Transpose.ROTATE_180,
}


class PageFailedError(Exception):
    """Tesseract ended with an error, or did not end in time."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Tesseract with its options and the moment (of `time.monotonic`) at which the page's time is over."""

    tesseract: Tesseract
    languages: str
    dpi: int
    deadline: float

    def read(self, picture: Image.Image) -> Reading:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise PageFailedError("its time was over")
        # More threads than one per process make a full machine slower by factors.
        os.environ["OMP_THREAD_LIMIT"] = "1"
        pytesseract.pytesseract.tesseract_cmd = self.tesseract.program
        data = f"--tessdata-dir {shlex.quote(self.tesseract.data)} " if self.tesseract.data else ""
        with tempfile.TemporaryDirectory(prefix="pincite-ocr-") as directory:
            file = Path(directory) / "page.ppm"
            try:
                picture.save(file)
                # Not `image_to_data`: that starts the program once more for its version, and waits without end.
                table = pytesseract.run_and_get_output(
                    str(file),
                    extension="tsv",
                    lang=self.languages,
                    config=f"-c tessedit_create_tsv=1 {data}--dpi {self.dpi}",
                    timeout=left,
                )
            except (RuntimeError, OSError, UnicodeDecodeError) as error:
                raise PageFailedError(_what_tesseract_said(error)) from error
        return read_table(table, picture.width, picture.height)


def read_page(
    path: Path, media_type: str, page: PageText, options: ReaderOptions, tesseract: Tesseract
) -> tuple[PageText, tuple[Warning, ...]]:
    """Read one page that awaits OCR; the text of its own layer, if any, is kept where OCR does no better.

    Takes up to PINCITE_OCR_PAGE_SECONDS.

    Raises:
        DocumentFailure: CORRUPT or TOO_LARGE where the page cannot be drawn.
    """
    deadline = time.monotonic() + options.ocr_page_seconds
    try:
        drawn = page_picture(path, media_type, page.number, options)
        reader = _Reader(tesseract, options.ocr_languages, drawn.dpi, deadline)
        reading = read_upright(drawn.picture, reader.read)
    except PageTooLargeError as error:
        return without_ocr(page, f"Page {page.number} was not read by OCR: {error}.", "page_skipped")
    except PageFailedError as error:
        return without_ocr(page, f"OCR of page {page.number} failed: {error}.")
    return _better(page, reading, options)


def without_ocr(page: PageText, reason: str, code: str = PAGE_FAILED) -> tuple[PageText, tuple[Warning, ...]]:
    """The page as it stands when OCR could not help: its own layer's text, or none, and why."""
    source = TextSource.TEXT if page.text else TextSource.NONE
    return replace(page, source=source, awaits_ocr=False), (Warning(code, reason, page.number),)


def read_upright(picture: Image.Image, read: Callable[[Image.Image], Reading]) -> Reading:
    """Read the picture, turned by quarters where it makes little sense as it is. Boxes refer to `picture`.

    Raises:
        PageFailedError: the first reading failed; later ones only make it better.
    """
    if _is_blank(picture):
        return NOTHING
    best = read(picture)
    if not _is_poor(best):
        return best
    for degrees, turn in _TURNS.items():
        try:
            reading = turned_back(read(picture.transpose(turn)), degrees)
        except PageFailedError:
            break
        if reading.weight > best.weight:
            best = reading
        if (best.confidence or 0.0) >= _GOOD_CONFIDENCE and len(best.words) > _FEW_WORDS:
            break
    return best


def _what_tesseract_said(error: Exception) -> str:
    message = " ".join(str(error).split())[:300]
    if "timeout" in message:
        return "it took longer than PINCITE_OCR_PAGE_SECONDS allows"
    return message.rstrip(".") or type(error).__name__


def _is_poor(reading: Reading) -> bool:
    return (reading.confidence or 0.0) < _POOR_CONFIDENCE or len(reading.words) < _FEW_WORDS


def _is_blank(picture: Image.Image) -> bool:
    grey = picture.convert("L")
    lowest, highest = grey.reduce(4).getextrema() if min(grey.size) >= 8 else grey.getextrema()
    return bool(float(highest) - float(lowest) < _BLANK_CONTRAST)  # type: ignore[arg-type]


def _better(page: PageText, reading: Reading, options: ReaderOptions) -> tuple[PageText, tuple[Warning, ...]]:
    """The page with OCR's text, or with its own where that is the better one."""
    readable = is_readable(page.text)
    if page.text and (not reading.words or (readable and not _tells_more(reading, page.text))):
        kept = replace(page, source=TextSource.TEXT, awaits_ocr=False)
        if readable:
            return kept, ()
        message = f"The text of page {page.number} may be garbled, and OCR found none; check quotes against the page."
        return kept, (Warning("unreliable_text", message, page.number),)
    read = replace(
        page,
        text=reading.text,
        source=TextSource.OCR if reading.words else TextSource.NONE,
        confidence=reading.confidence,
        words=reading.words,
        awaits_ocr=False,
    )
    if reading.confidence is None or reading.confidence >= options.low_confidence:
        return read, ()
    message = (
        f"OCR read page {page.number} with a confidence of {reading.confidence:.2f}; check quotes against the page."
    )
    return read, (Warning("low_confidence", message, page.number),)


def _tells_more(reading: Reading, text: str) -> bool:
    confident = (reading.confidence or 0.0) >= _POOR_CONFIDENCE
    return confident and count_letters(reading.text) > 1.5 * count_letters(text)
