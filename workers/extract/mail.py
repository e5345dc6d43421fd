"""Mail messages (RFC 5322 with MIME): the head's lines a reader sees, then the body. What is attached is handed on.

The canonical text is `Subject:`, `From:`, `To:`, `Cc:` and `Date:` as far as they are there, an empty line, and the
body: the plain text, or the HTML part where that says more.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email import policy
from email.feedparser import BytesFeedParser
from email.message import Message
from pathlib import Path

from pincite.documents import Attachment, Block, BlockKind, Extracted, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.decoding import decode
from workers.extract.html import read_markup
from workers.extract.limits import check_characters
from workers.extract.mail_headers import header_text
from workers.extract.mail_parts import Rendition, enclosed_files, take_apart
from workers.extract.options import ReaderOptions
from workers.extract.visible import has_visible_text

NAME, VERSION = "mail", 2

MOST_ATTACHMENTS = 200
_SHOWN = ("Subject", "From", "To", "Cc", "Date")
# Of the words of the version that is not kept, so many may be missing from the other before a reader is told.
_MISSING_SHARE = 0.2
_WORD = re.compile(r"\w+")
# Programs that write the plain text put the targets of links and pictures into it.
_LINK = re.compile(r"<?(?:https?|mailto|cid):[^\s>]+>?|\[(?:image|cid):[^\]]*\]", re.IGNORECASE)
_SEPARATOR = "\n\n"
_PIECE_BYTES = 1 << 20


def extract_mail(path: Path, options: ReaderOptions) -> Extracted:
    """Read a message. Whatever is malformed is read as far as it goes.

    Raises:
        DocumentFailure: ENCRYPTED (S/MIME, PGP), CORRUPT for a text without a mail head, TOO_LARGE.
    """
    warnings: list[Warning] = []
    message = _parsed(path, warnings)
    try:
        letter = take_apart(message, options)
        files = enclosed_files(letter)
    except RecursionError as error:
        raise DocumentFailure(FailureCode.TOO_LARGE, "Its parts are nested too deep (a fixed limit)") from error
    warnings += letter.warnings
    heads = [(name, header_text(message, name)) for name in _SHOWN]
    head = "\n".join(f"{name}: {value}" for name, value in heads if value)
    if not head and not len(message) and has_visible_text("".join(r.text for v in letter.bodies for r in v)):
        raise DocumentFailure(FailureCode.CORRUPT, "It is not a mail message: it does not begin with a mail head")
    body = _joined([Body(head, _whole(head)), *(_best(versions, warnings) for versions in letter.bodies)])
    check_characters(len(body.text), options)
    return Extracted(
        f"{NAME}/{VERSION}",
        text=body.text,
        blocks=body.blocks,
        title=header_text(message, "Subject") or None,
        attachments=tuple(_within_limits(files, options, warnings)),
        warnings=tuple(dict.fromkeys(warnings)),
    )


@dataclass(frozen=True, slots=True)
class Body:
    """Text with its blocks."""

    text: str
    blocks: tuple[Block, ...] = ()


def _parsed(path: Path, warnings: list[Warning]) -> Message:
    # The policies with parsed heads raise many exceptions on heads that are malformed; this one has none.
    parser = BytesFeedParser(policy=policy.compat32)
    try:
        for piece in _pieces(path, warnings):
            parser.feed(piece)
        return parser.close()
    except RecursionError as error:
        raise DocumentFailure(FailureCode.TOO_LARGE, "Its parts are nested too deep (a fixed limit)") from error


def _pieces(path: Path, warnings: list[Warning]) -> Iterator[bytes]:
    """The file's bytes from its head on, piece by piece: the whole would stand in memory beside its parts."""
    with path.open("rb") as file:
        first = file.read(_PIECE_BYTES)
        if first.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in first[:64]:
            # A message that a program saved as UTF-16; within, all is ASCII or was meant as UTF-8.
            decoded = decode(first + file.read())
            warnings += decoded.warnings
            first = decoded.text.encode("utf-8", "replace")
        yield first.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _best(versions: list[Rendition], warnings: list[Warning]) -> Body:
    """The version of a body that says more: plain text, unless HTML has words that it lacks."""
    plain = next((version for version in versions if not version.is_html), None)
    marked = next((version for version in versions if version.is_html), None)
    if marked is None:
        return Body(plain.text if plain else "")
    page = read_markup(marked.text)
    rich = Body(page.text, page.blocks)
    if plain is None or not has_visible_text(plain.text):
        return rich
    plain_words, rich_words = _words(plain.text), _words(page.text)
    only_plain, only_rich = (plain_words - rich_words).total(), (rich_words - plain_words).total()
    plain_wins = not only_rich or only_plain > only_rich
    lost, of = (only_rich, rich_words) if plain_wins else (only_plain, plain_words)
    if lost > of.total() * _MISSING_SHARE:
        kept, other = ("plain text", "HTML") if plain_wins else ("HTML", "plain text")
        message = f"The message has two texts that differ. The {kept} is read; the {other} has {lost} other words."
        warnings.append(Warning("versions_differ", message))
    return Body(plain.text) if plain_wins else rich


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_LINK.sub(" ", text).casefold()))


def _whole(text: str) -> tuple[Block, ...]:
    return (Block(BlockKind.PARAGRAPH, 0, len(text)),) if text else ()


def _joined(bodies: list[Body]) -> Body:
    parts: list[str] = []
    blocks: list[Block] = []
    position = 0
    for body in bodies:
        text = body.text
        if not has_visible_text(text):
            continue
        if position:
            parts.append(_SEPARATOR)
            position += len(_SEPARATOR)
        blocks += [replace(b, start=b.start + position, end=b.end + position) for b in body.blocks]
        parts.append(text)
        position += len(text)
    return Body("".join(parts), tuple(blocks))


def _within_limits(files: list[Attachment], options: ReaderOptions, warnings: list[Warning]) -> list[Attachment]:
    """The first files up to the limits on their number and on their bytes together."""
    kept: list[Attachment] = []
    room = options.max_file_mb << 20
    for file in files:
        room -= len(file.content)
        if room < 0 or len(kept) == MOST_ATTACHMENTS:
            break
        kept.append(file)
    if len(kept) < len(files):
        message = (
            f"{len(files) - len(kept)} of {len(files)} attachments are left out: a message may have "
            f"{MOST_ATTACHMENTS}, of {options.max_file_mb:,} MiB together (PINCITE_MAX_FILE_MB)."
        )
        warnings.append(Warning("attachments_left_out", message))
    return kept
