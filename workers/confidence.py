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
    return mean_confidence(inside)


def document_confidence(pages: Iterable[PageText]) -> tuple[int, float | None]:
    """How many pages OCR has read, and the confidence over all their words."""
    read = [page for page in pages if page.source is TextSource.OCR]
    return len(read), mean_confidence([word for page in read for word in page.words])


def mean_confidence(words: Sequence[WordBox]) -> float | None:
    """The confidence of words that OCR has read; words of a text layer do not count."""
    read = [(word.confidence, word.end - word.start) for word in words if word.confidence is not None]
    characters = sum(length for _, length in read)
    if not characters:
        return None
    return sum(confidence * length for confidence, length in read) / characters
