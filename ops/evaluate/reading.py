"""A folder of files as texts, read by the readers of the pipeline, in their sandbox, with OCR."""

import tempfile
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

from ops.cli.options import UsageProblem
from ops.cli.sources import find_sources
from pincite.documents import CanonicalText, Extracted
from pincite.failures import DocumentFailure
from pincite.settings import Settings
from workers.extract import assemble
from workers.reading import extract_in_sandbox, read_page_safely

_TEST_DATA = "*.jsonl"  # questions and their like: as documents they would answer themselves


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document with its canonical text. `path` is below the folder that was read."""

    path: str
    extracted: Extracted
    text: CanonicalText

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was read, and (path, why) of what could not be read. `left_out`: files that were not to be documents."""

    documents: tuple[ReadDocument, ...]
    failed: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def read_corpus(folder: Path, only: Sequence[str], given: Sequence[Path], settings: Settings) -> Corpus:
    """Read all files below `folder` that match one of the patterns `only` (none: all files).

    Files of JSON lines and the files `given` for other purposes are left out.

    Raises:
        UsageProblem: the folder is none, or holds nothing that can be read.
    """
    if not folder.is_dir():
        raise UsageProblem(f"{folder} is no directory; name the one that holds the documents.")
    others = {path.resolve() for path in given}
    documents: list[ReadDocument] = []
    failed: list[tuple[str, str]] = []
    left_out: list[str] = []
    found = find_sources([folder], "evaluation")
    failed += [(path, "it cannot be read") for path in found.unreadable]
    for source in found.sources:
        wanted = any(fnmatch(source.path, pattern) for pattern in only) if only else True
        if not wanted or fnmatch(source.path, _TEST_DATA) or source.location.resolve() in others:
            left_out.append(source.path)
            continue
        for path, outcome in _read(source.location, source.path, settings):
            if isinstance(outcome, DocumentFailure):
                failed.append((path, f"{outcome.code}: {outcome.message}"))
            else:
                documents.append(replace(outcome, path=_free(path, {document.path for document in documents})))
    if not documents:
        raise UsageProblem(f"No document could be read in {folder}{_first_of(failed)}.")
    return Corpus(tuple(documents), tuple(failed), tuple(left_out))


def _free(path: str, taken: Set[str]) -> str:
    """The path, with a number where another document has it: a message may hold two files of one name."""
    return next(name for number in count(1) if (name := path if number == 1 else f"{path} ({number})") not in taken)


def _first_of(failed: Sequence[tuple[str, str]]) -> str:
    return f"; {failed[0][0]}: {failed[0][1]}" if failed else ""


def _read(location: Path, path: str, settings: Settings) -> Iterator[tuple[str, ReadDocument | DocumentFailure]]:
    """The document at `location`, then those that are attached to it."""
    try:
        extracted = extract_in_sandbox(location, path.rpartition("/")[2], settings)
        extracted = _with_ocr(location, extracted, settings)
        yield path, ReadDocument(path, extracted, assemble(extracted))
    except DocumentFailure as failure:
        yield path, failure
        return
    with tempfile.TemporaryDirectory(prefix="pincite-evaluate-") as folder:
        for number, attachment in enumerate(extracted.attachments):
            kept = Path(folder) / str(number)
            kept.write_bytes(attachment.content)
            yield from _read(kept, f"{path}/{attachment.name.replace('/', '_')}", settings)


def _with_ocr(location: Path, extracted: Extracted, settings: Settings) -> Extracted:
    warnings = list(extracted.warnings)
    pages = []
    for page in extracted.pages:
        if page.awaits_ocr:
            read, told = read_page_safely(location, extracted.media_type, page, settings)
            pages.append(read)
            warnings += told
        else:
            pages.append(page)
    return replace(extracted, pages=tuple(pages), warnings=tuple(warnings))
