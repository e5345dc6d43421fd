"""OCR confidence of chunks and documents: means over words, weighted by their characters. None: no words."""

from collections.abc import Iterable, Mapping, Sequence

from pincite.documents import Chunk, PageSpan, PageText, TextSource, WordBox
from pincite.locators import pages_of


def chunk_confidence(chunk: Chunk, spans: Sequence[PageSpan], words: Mapping[int, Sequence[WordBox]]) -> float | None:
    """The confidence of the words that OCR has read in this chunk; `words` are given by page number."""
    inside = [
        word
        for span in pages_of(spans, chunk.start, chunk.end)
        for word in words.get(span.number, ())
        if span.start + word.start < chunk.end and chunk.start < span.start + word.end
    ]
    return _weighted(inside)


def document_confidence(pages: Iterable[PageText]) -> tuple[int, float | None]:
    """How many pages OCR has read, and the confidence over all their words."""
    read = [page for page in pages if page.source is TextSource.OCR]
    return len(read), _weighted([word for page in read for word in page.words])


def _weighted(words: Sequence[WordBox]) -> float | None:
    characters = sum(word.end - word.start for word in words)
    if not characters:
        return None
    return sum(word.confidence * (word.end - word.start) for word in words) / characters
