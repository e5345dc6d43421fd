"""From a file to its text: the table of formats and the one way in.

To add a format: one file here, one line in `EXTRACTORS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract import (
    csv_table,
    docx,
    epub,
    html,
    image,
    mail,
    markdown,
    media_type,
    ods,
    odt,
    pdf,
    pptx,
    rtf,
    subtitles,
    text,
    xlsx,
)
from workers.extract.canonical import assemble
from workers.extract.limits import check_file
from workers.extract.options import ReaderOptions

__all__ = ["EXTRACTORS", "Extractor", "assemble", "current_extractors", "extract"]


@dataclass(frozen=True, slots=True)
class Extractor:
    """A reader of one format family. Its version goes up when the same file would give another text."""

    name: str
    version: int
    extract: Callable[[Path, ReaderOptions], Extracted]


_PDF = Extractor(pdf.NAME, pdf.VERSION, pdf.extract_pdf)
_IMAGE = Extractor(image.NAME, image.VERSION, image.extract_image)
_ODS = Extractor(ods.NAME, ods.VERSION, ods.extract_ods)
_CSV = Extractor(csv_table.NAME, csv_table.VERSION, csv_table.extract_csv)
_ODT = Extractor(odt.NAME, odt.VERSION, odt.extract_odt)

EXTRACTORS: dict[str, Extractor] = {
    media_type.PDF: _PDF,
    media_type.PNG: _IMAGE,
    media_type.JPEG: _IMAGE,
    media_type.TIFF: _IMAGE,
    media_type.HTML: Extractor(html.NAME, html.VERSION, html.extract_html),
    media_type.MARKDOWN: Extractor(markdown.NAME, markdown.VERSION, markdown.extract_markdown),
    media_type.MAIL: Extractor(mail.NAME, mail.VERSION, mail.extract_mail),
    media_type.EPUB: Extractor(epub.NAME, epub.VERSION, epub.extract_epub),
    media_type.VTT: Extractor(subtitles.NAME, subtitles.VERSION, subtitles.extract_vtt),
    media_type.SRT: Extractor(subtitles.NAME, subtitles.VERSION, subtitles.extract_srt),
    media_type.XLSX: Extractor(xlsx.NAME, xlsx.VERSION, xlsx.extract_xlsx),
    media_type.ODS: _ODS,
    media_type.OTS: _ODS,
    media_type.CSV: _CSV,
    media_type.TSV: _CSV,
    media_type.DOCX: Extractor(docx.NAME, docx.VERSION, docx.extract_docx),
    media_type.ODT: _ODT,
    media_type.OTT: _ODT,
    media_type.PPTX: Extractor(pptx.NAME, pptx.VERSION, pptx.extract_pptx),
    media_type.RTF: Extractor(rtf.NAME, rtf.VERSION, rtf.extract_rtf),
    media_type.PLAIN: Extractor(text.NAME, text.VERSION, text.extract_text),
}


def current_extractors() -> dict[str, str]:
    """The extractor, such as `pdf/2`, that reads each media type today."""
    return {found: f"{extractor.name}/{extractor.version}" for found, extractor in EXTRACTORS.items()}


def extract(path: Path, name: str, options: ReaderOptions) -> Extracted:
    """Read the file at `path`, which its owner calls `name`. Hostile files belong in the sandbox: run it there.

    Raises:
        DocumentFailure: the file cannot be read, for a reason from the closed list.
    """
    try:
        found = media_type.detect(path, name)
        extractor = EXTRACTORS.get(found)
        if extractor is None:
            raise DocumentFailure(FailureCode.UNSUPPORTED_TYPE, _unsupported(found))
        check_file(path, options)
        return replace(extractor.extract(path, options), media_type=found)
    except OSError as error:
        raise DocumentFailure(FailureCode.READ_ERROR, error.strerror or str(error)) from error


def _unsupported(found: str) -> str:
    if archive := media_type.ARCHIVES.get(found):
        return f"It is {archive}: unpack it and add the files in it"
    if found in media_type.OLDER_OFFICE:
        return "It is an older Office file (.doc, .xls, .ppt): save it as .docx, .xlsx or .pptx and add that"
    return f"Its type is {found}"
