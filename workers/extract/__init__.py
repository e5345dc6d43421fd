"""From a file to its text: the table of formats and the one way in.

To add a format: one file here, one line in `EXTRACTORS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract import html, image, markdown, media_type, pdf, text
from workers.extract.canonical import assemble
from workers.extract.limits import check_file
from workers.extract.options import ReaderOptions

__all__ = ["EXTRACTORS", "Extractor", "assemble", "extract"]


@dataclass(frozen=True, slots=True)
class Extractor:
    """A reader of one format family. Its version goes up when the same file would give another text."""

    name: str
    version: int
    extract: Callable[[Path, ReaderOptions], Extracted]


_PDF = Extractor(pdf.NAME, pdf.VERSION, pdf.extract_pdf)
_IMAGE = Extractor(image.NAME, image.VERSION, image.extract_image)

EXTRACTORS: dict[str, Extractor] = {
    media_type.PDF: _PDF,
    media_type.PNG: _IMAGE,
    media_type.JPEG: _IMAGE,
    media_type.TIFF: _IMAGE,
    media_type.HTML: Extractor(html.NAME, html.VERSION, html.extract_html),
    media_type.MARKDOWN: Extractor(markdown.NAME, markdown.VERSION, markdown.extract_markdown),
    media_type.PLAIN: Extractor(text.NAME, text.VERSION, text.extract_text),
}


def extract(path: Path, name: str, options: ReaderOptions) -> Extracted:
    """Read the file at `path`, which its owner calls `name`. Hostile files belong in the sandbox: run it there.

    Raises:
        DocumentFailure: the file cannot be read, for a reason from the closed list.
    """
    try:
        found = media_type.detect(path, name)
        extractor = EXTRACTORS.get(found)
        if extractor is None:
            raise DocumentFailure(FailureCode.UNSUPPORTED_TYPE, f"Its type is {found}")
        check_file(path, options)
        return replace(extractor.extract(path, options), media_type=found)
    except OSError as error:
        raise DocumentFailure(FailureCode.READ_ERROR, error.strerror or str(error)) from error
