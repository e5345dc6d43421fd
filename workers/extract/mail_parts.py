"""The parts of a message: which are its body, in which versions, and which are files of their own."""

import re
from dataclasses import dataclass, field
from email.message import Message

from pincite.documents import Attachment, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.cleaning import clean_text
from workers.extract.limits import check_parts
from workers.extract.mail_content import decoded_bytes, message_bytes, part_text
from workers.extract.mail_headers import header_text, parameter
from workers.extract.mail_pictures import is_logo, shown_pictures
from workers.extract.options import ReaderOptions

# Each message in a message is a document that holds all that are within it.
_DEEPEST_MESSAGE = 10
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SUFFIXES = {"text/html": ".html", "text/csv": ".csv", "text/markdown": ".md", "text/vtt": ".vtt"}
_REPORTS = frozenset({"message/delivery-status", "message/disposition-notification", "message/feedback-report"})
_LONGEST_NAME = 150
_PGP_MESSAGE = re.compile(r"\s*-----BEGIN PGP MESSAGE-----")


@dataclass(frozen=True, slots=True)
class Rendition:
    """One version of a stretch of the body: text, or markup."""

    text: str
    is_html: bool = False


@dataclass(slots=True)
class Letter:
    """A message taken apart within the limits of `options`.

    Each of `bodies` is one stretch of its body in all its versions; `files` are parts.
    """

    options: ReaderOptions
    bodies: list[list[Rendition]] = field(default_factory=list)
    files: list[Message] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    parts: int = 0


def take_apart(message: Message, options: ReaderOptions) -> Letter:
    """Sort the parts of a message.

    Raises:
        DocumentFailure: ENCRYPTED where the body is, TOO_LARGE.
        RecursionError: the parts are nested without end.
    """
    if _is_encrypted(message):
        raise _encrypted()
    letter = Letter(options)
    _sort(message, letter)
    for versions in letter.bodies:
        if any(_PGP_MESSAGE.match(version.text) for version in versions):
            raise _encrypted()
    shown = shown_pictures(version.text for versions in letter.bodies for version in versions if version.is_html)
    letter.files = [
        part for part in letter.files if part is message or not is_logo(part, shown, has_name=bool(_own_name(part)))
    ]
    return letter


def _encrypted() -> DocumentFailure:
    return DocumentFailure(FailureCode.ENCRYPTED, "The message is encrypted (PGP or S/MIME)")


def _is_encrypted(part: Message) -> bool:
    kind = part.get_content_type()
    signed = parameter(part, "content-type", "smime-type") in {"signed-data", "certs-only", "compressed-data"}
    return kind == "multipart/encrypted" or (kind in _SMIME and not signed)


def _sort(part: Message, letter: Letter) -> None:
    """Put a part, and what is below it, where it belongs."""
    letter.parts += 1
    check_parts(letter.parts, letter.options)
    kind = part.get_content_type()
    if kind in _SIGNATURES:
        return
    if kind == "multipart/alternative" and part.is_multipart():
        _sort_versions(part, letter)
    elif kind in _REPORTS and part.is_multipart():
        heads = ["\n".join(f"{name}: {header_text(group, name)}" for name in group) for group in _below(part)]
        letter.bodies.append([Rendition("\n\n".join(filter(None, heads)))])
    elif kind.startswith("message/") or _is_file(part):
        letter.files.append(part)
    elif part.is_multipart():
        for below in _below(part):
            _sort(below, letter)
    elif kind.startswith("text/"):
        letter.bodies.append([_rendition(part, kind, letter)])
    elif not kind.startswith("multipart/") and not _is_shown_within(part, kind):
        letter.files.append(part)


def _sort_versions(part: Message, letter: Letter) -> None:
    """The parts of an alternative show one thing; their texts are versions of one stretch of the body."""
    within = Letter(letter.options, parts=letter.parts)
    for below in _below(part):
        _sort(below, within)
    letter.parts = within.parts
    letter.files += within.files
    letter.warnings += within.warnings
    plain = [v for versions in within.bodies for v in versions if not v.is_html]
    marked = [v for versions in within.bodies for v in versions if v.is_html]
    if plain or marked:
        letter.bodies.append(_merged(plain, "\n\n", is_html=False) + _merged(marked, "\n", is_html=True))


def _merged(versions: list[Rendition], separator: str, *, is_html: bool) -> list[Rendition]:
    text = separator.join(version.text for version in versions)
    return [Rendition(text, is_html)] if versions else []


def _below(part: Message) -> list[Message]:
    # A payload that is text would be decoded here, by whatever charset the part names.
    payload = part.get_payload() if part.is_multipart() else []
    return [below for below in payload if isinstance(below, Message)]


def _is_file(part: Message) -> bool:
    if part.is_multipart():
        return False
    return header_text(part, "content-disposition").lower().startswith("attachment") or bool(_own_name(part))


def _is_shown_within(part: Message, kind: str) -> bool:
    """Whether a part without a name is sound or film in the text, that nobody saves."""
    shown = bool(part.get("content-id")) or header_text(part, "content-disposition").lower().startswith("inline")
    return shown and kind.startswith(("audio/", "video/"))


def _own_name(part: Message) -> str:
    return parameter(part, "content-disposition", "filename") or parameter(part, "content-type", "name")


def _rendition(part: Message, kind: str, letter: Letter) -> Rendition:
    text, warnings = part_text(part, kind)
    letter.warnings += warnings
    is_html = kind == "text/html"
    return Rendition(text if is_html else clean_text(text).strip("\n"), is_html)


def enclosed_files(letter: Letter) -> list[Attachment]:
    """The files of a message with their bytes and clean names; what cannot be taken out is left out, and said."""
    files: list[Attachment] = []
    for number, part in enumerate(letter.files, 1):
        below = _below(part)
        if not below:
            name = file_name(_own_name(part), number)
            suffix = "" if _own_name(part) else _SUFFIXES.get(part.get_content_type(), "")
            files.append(Attachment(f"{name}{suffix}", decoded_bytes(part)))
            continue
        content = message_bytes(part, below[0]) if _depth(below[0]) <= _DEEPEST_MESSAGE else None
        if content is None:
            message = (
                f"Attachment {number} is a message that is damaged, or holds messages nested more than "
                f"{_DEEPEST_MESSAGE} deep; it is left out."
            )
            letter.warnings.append(Warning("attachments_left_out", message))
            continue
        name = file_name(_own_name(part) or header_text(below[0], "subject"), number)
        files.append(Attachment(name if name.lower().endswith(".eml") else f"{name}.eml", content))
    return files


def _depth(message: Message) -> int:
    """How many messages lie within each other, this one counted."""
    deepest = 0
    stack = [(message, 1)]
    while stack:
        part, depth = stack.pop()
        deepest = max(deepest, depth)
        inner = part.get_content_type() == "message/rfc822"
        stack += [(below, depth + inner) for below in _below(part)]
    return deepest


def file_name(name: str, number: int) -> str:
    """A name that is safe as the last part of a path: no slash, nothing that does not print, no dots alone in front.

    `number` names a file that has no name left.
    """
    visible = "".join(c if c.isprintable() else " " for c in re.sub(r"[/\\]", "-", clean_text(name)))
    kept = " ".join(visible.split()).lstrip(". ")
    if len(kept) > _LONGEST_NAME:
        stem, dot, suffix = kept.rpartition(".")
        tail = f"{dot}{suffix}" if stem and len(suffix) <= 10 else ""
        kept = kept[: _LONGEST_NAME - len(tail)].rstrip() + tail
    return kept if any(c.isalnum() for c in kept) else f"attachment {number}"
