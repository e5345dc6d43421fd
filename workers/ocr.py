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
from pincite.page_picture import PagePicture, PageTooLargeError, Resolution, page_picture
from workers.extract.canonical import PAGE_FAILED
from workers.extract.media_type import PPTX
from workers.extract.options import ReaderOptions
from workers.extract.quality import count_letters, is_readable
from workers.ocr_layout import NOTHING, Reading, read_table, turned_back
from workers.ocr_sight import Sight, languages_in, read_sight
from workers.ocr_slides import beside_own_text, slide_picture
from workers.tesseract_probe import Tesseract

SCRIPT_UNSUPPORTED = "script_unsupported"

_POOR_CONFIDENCE = 0.6
_GOOD_CONFIDENCE = 0.8
_NONSENSE = 0.45
_FEW_WORDS = 4
_MANY_WORDS = 10
_BLANK_CONTRAST = 24
_TURNS = {
    90: Image.Transpose.ROTATE_90,
    270: Image.Transpose.ROTATE_270,
    180: Image.Transpose.ROTATE_180,
}


# Pillow loads its formats on first use; here it is once for all pages, before the sandbox forks.
Image.preinit()


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
        """Its words.

        Raises:
            PageFailedError: Tesseract ended with an error, or the time is over.
        """
        config = f"-c tessedit_create_tsv=1 {_data_option(self.tesseract.data)}--dpi {self.dpi}"
        return read_table(self._run(picture, "tsv", self.languages, config), picture.width, picture.height)

    def see(self, picture: Image.Image) -> Sight | None:
        """Its direction and script; None where that cannot be told, for instance because it shows too few letters."""
        if not self.tesseract.can_see:
            return None
        try:
            config = f"--psm 0 {_data_option(self.tesseract.sight_data)}--dpi {self.dpi}"
            return read_sight(self._run(picture, "osd", "osd", config))
        except PageFailedError:
            return None

    def _run(self, picture: Image.Image, extension: str, languages: str, config: str) -> str:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise PageFailedError("its time was over")
        # More threads than one per process make a full machine slower by factors.
        os.environ["OMP_THREAD_LIMIT"] = "1"
        pytesseract.pytesseract.tesseract_cmd = self.tesseract.program
        with tempfile.TemporaryDirectory(prefix="pincite-ocr-") as directory:
            file = Path(directory) / "page.ppm"
            try:
                picture.save(file)
                # Not `image_to_data`: that starts the program once more for its version, and waits without end.
                said: str = pytesseract.run_and_get_output(
                    str(file), extension=extension, lang=languages, config=config, timeout=left
                )
            except (RuntimeError, OSError, UnicodeDecodeError) as error:
                raise PageFailedError(_what_tesseract_said(error)) from error
        return said


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
        drawn, left_out = _drawn(path, media_type, page.number, options)
        reader = _Reader(tesseract, options.ocr_languages, drawn.dpi, deadline)
        reading, sight = read_upright(drawn.picture, reader.read, reader.see)
    except PageTooLargeError as error:
        return without_ocr(page, f"Page {page.number} was not read by OCR: {error}.", "page_skipped")
    except PageFailedError as error:
        late = f"it took longer than {options.ocr_page_seconds:g} seconds (PINCITE_OCR_PAGE_SECONDS)"
        reason = late if time.monotonic() >= deadline else str(error)
        return without_ocr(page, f"OCR of {place_of(page, media_type)} failed: {reason}.")
    if media_type == PPTX and page.text:
        read, notes = _added(page, reading, options)
    else:
        read, notes = _better(page, reading, options, place_of(page, media_type))
    if read.source is TextSource.OCR:
        if sight is None and (reading.confidence or 0.0) < _GOOD_CONFIDENCE:
            sight = reader.see(drawn.picture)
        notes += _foreign_script(place_of(page, media_type), page.number, reading, sight, options)
    return read, notes + _left_out(page, left_out)


def place_of(page: PageText, media_type: str) -> str:
    """What a reader calls the page, within a sentence."""
    return f"slide {page.number}" if media_type == PPTX else f"page {page.number}"


def _drawn(path: Path, media_type: str, number: int, options: ReaderOptions) -> tuple[PagePicture, tuple[str, ...]]:
    """The page, and why each of its pictures that is not on it was left out."""
    if media_type == PPTX:
        return slide_picture(path, number, options)
    return page_picture(path, media_type, number, Resolution(options.ocr_dpi, options.ocr_max_pixels)), ()


def _left_out(page: PageText, reasons: tuple[str, ...]) -> tuple[Warning, ...]:
    if not reasons:
        return ()
    pictures = "1 picture" if len(reasons) == 1 else f"{len(reasons):,} pictures"
    message = f"{pictures} on slide {page.number} could not be read by OCR, the others were: {reasons[0]}."
    return (Warning("pictures_not_read", message, page.number),)


def without_ocr(page: PageText, reason: str, code: str = PAGE_FAILED) -> tuple[PageText, tuple[Warning, ...]]:
    """The page as it stands when OCR could not help: its own layer's text, or none, and why."""
    source = TextSource.TEXT if page.text else TextSource.NONE
    return replace(page, source=source, awaits_ocr=False), (Warning(code, reason, page.number),)


def read_upright(
    picture: Image.Image,
    read: Callable[[Image.Image], Reading],
    see: Callable[[Image.Image], Sight | None],
) -> tuple[Reading, Sight | None]:
    """Read the picture, turned by quarters where it makes little sense as it is; boxes refer to `picture`.

    Gives also what was seen of it, where that was asked for because it made little sense.

    Raises:
        PageFailedError: the first reading failed; later ones only make it better.
    """
    if _is_blank(picture):
        return NOTHING, None
    best = read(picture)
    if not _is_poor(best):
        return best, None
    sight = see(picture)
    for degrees in _directions(sight):
        try:
            reading = turned_back(read(picture.transpose(_TURNS[degrees])), degrees)
        except PageFailedError:
            break
        if reading.weight > best.weight:
            best = reading
        if (best.confidence or 0.0) >= _GOOD_CONFIDENCE and len(best.words) > _FEW_WORDS:
            break
    return best, sight


def _directions(sight: Sight | None) -> list[int]:
    """The turns to try, in order: the one that was seen first, and only that one where it was seen well."""
    if sight is None:
        return list(_TURNS)
    seen = [degrees for degrees in _TURNS if degrees == sight.degrees]
    return seen if sight.is_sure_of_direction else seen + [degrees for degrees in _TURNS if degrees != sight.degrees]


def _data_option(directory: str | None) -> str:
    return f"--tessdata-dir {shlex.quote(directory)} " if directory else ""


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


def _added(page: PageText, reading: Reading, options: ReaderOptions) -> tuple[PageText, tuple[Warning, ...]]:
    """The slide with OCR's text beside its own, where that makes sense: many a picture shows no words."""
    kept = replace(page, source=TextSource.TEXT, awaits_ocr=False)
    confidence = reading.confidence or 0.0
    if confidence >= _POOR_CONFIDENCE:
        return beside_own_text(page, reading), _doubts(f"slide {page.number}", page.number, confidence, options)
    if len(reading.words) < _FEW_WORDS:  # a photograph
        return kept, ()
    message = (
        f"OCR makes no sense of the picture on slide {page.number} (confidence {confidence:.2f}): only the slide's own "
        "text was taken. If the picture shows text, add a sharper one."
    )
    return kept, (Warning("pictures_not_read", message, page.number),)


def _doubts(place: str, number: int, confidence: float | None, options: ReaderOptions) -> tuple[Warning, ...]:
    if confidence is None or confidence >= options.low_confidence:
        return ()
    kind = place.partition(" ")[0]
    message = f"OCR read {place} with a confidence of {confidence:.2f}; check quotes against the {kind}."
    return (Warning("low_confidence", message, number),)


def _better(
    page: PageText, reading: Reading, options: ReaderOptions, place: str
) -> tuple[PageText, tuple[Warning, ...]]:
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
        blocks=reading.blocks,
        furniture="",
        awaits_ocr=False,
    )
    return read, _doubts(place, page.number, reading.confidence, options)


def _tells_more(reading: Reading, text: str) -> bool:
    confident = (reading.confidence or 0.0) >= _POOR_CONFIDENCE
    return confident and count_letters(reading.text) > 1.5 * count_letters(text)


def _foreign_script(
    place: str, number: int, reading: Reading, sight: Sight | None, options: ReaderOptions
) -> tuple[Warning, ...]:
    """A warning where the page makes little sense because its script is none of the languages'."""
    confidence = reading.confidence or 0.0
    if confidence >= _GOOD_CONFIDENCE:
        return ()
    makes_no_sense = confidence < _NONSENSE and len(reading.words) >= _MANY_WORDS
    script = sight.foreign_script(options.ocr_languages) if sight else None
    if script and sight and sight.is_sure_of_script:
        seen = f"is written in {script} script, which"
    elif makes_no_sense and (script or sight is None):
        seen = f"seems to be written in {f'{script} script, which' if script else 'a script that'}"
    else:
        return ()
    message = (
        f"{place.capitalize()} {seen} the languages of PINCITE_OCR_LANGUAGES ({options.ocr_languages}) do not cover: "
        f"its text is not to be trusted. Install Tesseract's data for its language{_named(script)} or name their "
        "directory in PINCITE_TESSDATA, add that language to PINCITE_OCR_LANGUAGES, and reindex it."
    )
    return (Warning(SCRIPT_UNSUPPORTED, message, number),)


def _named(script: str | None) -> str:
    languages = languages_in(script) if script else ()
    if not languages:
        return ""
    return f" ({', '.join(languages[:-1])} or {languages[-1]})" if len(languages) > 1 else f" ({languages[0]})"
