"""Pages and texts of all formats become one canonical text."""

from dataclasses import replace

from pincite.documents import Block, CanonicalText, Extracted, PageSpan, PageText, Place, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.language import detect_language
from workers.extract.visible import has_visible_text

PAGE_SEPARATOR = "\n\n"
PAGE_FAILED = "page_failed"


def assemble(extracted: Extracted) -> CanonicalText:
    """The canonical text of a document, with `text[page.start:page.end]` equal to each page's own text.

    Pages are joined with an empty line; a page without text has `start == end`. Pure: the same value gives the
    same text.

    Raises:
        DocumentFailure: NO_TEXT where there is nothing to see (white space, zero-width marks); OCR_FAILED
            where that is so because OCR failed on pages (warnings with the code `page_failed`).
    """
    text, spans = _join(extracted.pages) if extracted.pages else (extracted.text, ())
    if not has_visible_text(text):
        raise _without_text(extracted.warnings, len(extracted.pages))
    blocks, places = extracted.blocks, extracted.places
    if extracted.pages:
        blocks, places = _placed(extracted.pages, spans)
    return CanonicalText(
        text=text,
        pages=spans,
        blocks=blocks,
        title=extracted.title,
        language=detect_language(text),
        page_kind=extracted.page_kind,
        places=places,
    )


def _placed(pages: tuple[PageText, ...], spans: tuple[PageSpan, ...]) -> tuple[tuple[Block, ...], tuple[Place, ...]]:
    """The pages' blocks and places, with offsets into the canonical text."""
    blocks: list[Block] = []
    places: list[Place] = []
    for page, span in zip(pages, spans, strict=True):
        blocks += [replace(block, start=block.start + span.start, end=block.end + span.start) for block in page.blocks]
        places += [replace(place, start=place.start + span.start, end=place.end + span.start) for place in page.places]
    return tuple(blocks), tuple(places)


def _join(pages: tuple[PageText, ...]) -> tuple[str, tuple[PageSpan, ...]]:
    parts: list[str] = []
    spans: list[PageSpan] = []
    position = 0
    for page in pages:
        if page.text and position:
            parts.append(PAGE_SEPARATOR)
            position += len(PAGE_SEPARATOR)
        start, position = position, position + len(page.text)
        parts.append(page.text)
        spans.append(PageSpan(page.number, start, position, page.label, page.source, page.confidence))
    return "".join(parts), tuple(spans)


def _without_text(warnings: tuple[Warning, ...], pages: int) -> DocumentFailure:
    failed = [warning for warning in warnings if warning.code == PAGE_FAILED]
    if failed:
        detail = f"{len(failed)} of {pages} pages failed; the first: {failed[0].message}"
        return DocumentFailure(FailureCode.OCR_FAILED, detail)
    notes = " ".join(warning.message for warning in warnings[:3])
    return DocumentFailure(FailureCode.NO_TEXT, notes)
