"""What a file is: its content decides first, its name second."""

import errno
import re
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from pincite.failures import DocumentFailure, FailureCode
from workers.extract.decoding import decode
from workers.extract.zip_container import BOUNDED_METHODS, DAMAGE

PDF = "application/pdf"
PNG, JPEG, TIFF = "image/png", "image/jpeg", "image/tiff"
HTML, MARKDOWN, PLAIN = "text/html", "text/markdown", "text/plain"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
OTS = f"{ODS}-template"
CSV, TSV = "text/csv", "text/tab-separated-values"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
MAIL, EPUB, VTT, SRT = "message/rfc822", "application/epub+zip", "text/vtt", "application/x-subrip"
ODT, OTT = "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template"
RTF = "application/rtf"
OLE = "application/x-ole-storage"
OLDER_OFFICE = frozenset({"application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint", OLE})
BINARY = "application/octet-stream"

ARCHIVES = {
    "application/zip": "a ZIP archive",
    "application/x-tar": "a tar archive",
    "application/gzip": "compressed with gzip",
    "application/x-bzip2": "compressed with bzip2",
    "application/x-xz": "compressed with xz",
    "application/zstd": "compressed with Zstandard",
    "application/x-7z-compressed": "a 7-Zip archive",
    "application/vnd.rar": "a RAR archive",
}

_HEAD_BYTES = 64 * 1024

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),
    (b"MM\x00+", TIFF),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"\x00\x00\x00\x0cjP  ", "image/jp2"),
    (b"{\\rtf", RTF),
    (b"%!PS", "application/postscript"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"AT&TFORM", "image/vnd.djvu"),
)

_BY_SUFFIX: dict[str, str] = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".csv": CSV,
    ".tsv": TSV,
    ".vtt": VTT,
    ".srt": SRT,
    ".eml": MAIL,
    ".mbox": "application/mbox",
    ".svg": "image/svg+xml",
    ".ipynb": "application/x-ipynb+json",
}
# Programs write these as binary data, so text under such a name is a broken copy: an error page, a pointer file.
_NEVER_TEXT: dict[str, str] = {
    ".pdf": "a PDF",
    ".png": "a PNG image",
    ".jpg": "a JPEG image",
    ".jpeg": "a JPEG image",
    ".tif": "a TIFF image",
    ".tiff": "a TIFF image",
    ".docx": "a Word document",
    ".xlsx": "an Excel workbook",
    ".pptx": "a PowerPoint presentation",
    ".odt": "an OpenDocument text",
    ".ods": "an OpenDocument spreadsheet",
    ".odp": "an OpenDocument presentation",
    ".epub": "an EPUB book",
    ".zip": "a ZIP archive",
}
_HTML_START = re.compile(
    r"(?:<\?xml[^>]{0,200}>|<!--.{0,2000}?-->|\s)*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE | re.DOTALL
)

_SRT_START = re.compile(r"\s*\d+[ \t]*\r?\n(?:\d+:)?\d+:\d+[,.]\d+[ \t]*-->[ \t]*\d")
# A mail head by itself looks like notes; these lines in it are written by programs only.
_MAIL_START = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,80}(?:From [^\n]{0,300}\n)?[A-Za-z][A-Za-z0-9-]{0,60}:[ \t\r\n]")
_MAIL_HEAD = re.compile(r"(?:[A-Za-z][\w-]{0,60}:[^\n]*\n(?:[ \t][^\n]*\n)*)+")
_MAIL_PROGRAMS = re.compile(r"^(?:Message-ID|MIME-Version|Received|Return-Path):", re.IGNORECASE | re.MULTILINE)
_NOTES = frozenset({".txt", ".text", ".log"})


def detect(path: Path, name: str) -> str:
    """The media type of the file at `path`, which its owner calls `name`.

    Raises:
        DocumentFailure: EMPTY_FILE, READ_ERROR; ENCRYPTED for a protected Office file; CORRUPT where the name
            promises a format that the content is not; UNSUPPORTED_TYPE for binary data of no known kind.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise DocumentFailure(FailureCode.READ_ERROR, f"{error.strerror or error}") from error
    if not head:
        raise DocumentFailure(FailureCode.EMPTY_FILE)
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    return _by_magic(path, head, suffix) or _by_text(head, suffix)


def _by_magic(path: Path, head: bytes, suffix: str) -> str | None:
    bare = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if bare.startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head[:1024]):
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(path, suffix)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _ole_type(path)
    return _by_inner_magic(head) or next((media_type for magic, media_type in _MAGIC if head.startswith(magic)), None)


def _by_inner_magic(head: bytes) -> str | None:
    """Kinds that a few bytes at the very start do not tell."""
    if head[:4] == b"RIFF" and len(head) >= 12:
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}.get(head[8:12], BINARY)
    if head[257:262] == b"ustar":
        return "application/x-tar"
    if head[4:8] == b"ftyp":
        return "image/heic" if head[8:12] in {b"heic", b"heix", b"mif1", b"avif"} else "video/mp4"
    if head.startswith(b"BM") and b"\x00" in head[:16]:
        return "image/bmp"
    return None


def _zip_type(path: Path, suffix: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = frozenset(archive.namelist())
            declared = _declared(archive) if "mimetype" in names else ""
    except (*DAMAGE, OSError) as error:
        if suffix in _NEVER_TEXT:
            detail = f"The ZIP container of the file cannot be read: {error}"
            raise DocumentFailure(FailureCode.CORRUPT, detail) from error
        return "application/zip"
    if declared:
        return declared
    if suffix == ".epub" and "META-INF/container.xml" in names:
        return EPUB
    for folder, media_type in (("word/", DOCX), ("xl/", XLSX), ("ppt/", PPTX)):
        if "[Content_Types].xml" in names and any(member.startswith(folder) for member in names):
            return media_type
    return "application/zip"


def _declared(archive: zipfile.ZipFile) -> str:
    # Read no further, and only what unpacks no further: the member may unpack to anything.
    if archive.getinfo("mimetype").compress_type not in BOUNDED_METHODS:
        return ""
    try:
        with archive.open("mimetype") as member:
            return member.read(100).decode("ascii", "replace").strip()
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise zipfile.BadZipFile("the directory points before its beginning") from error


def _ole_type(path: Path) -> str:
    # The directory of an OLE container names its streams in UTF-16; it may lie anywhere in the file.
    contains = _stream_finder(path.read_bytes())
    if contains("EncryptedPackage"):
        raise DocumentFailure(FailureCode.ENCRYPTED, "It is a protected Office file")
    for stream, media_type in (
        ("WordDocument", "application/msword"),
        ("Workbook", "application/vnd.ms-excel"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
        ("__substg1.0_", "application/vnd.ms-outlook"),
    ):
        if contains(stream):
            return media_type
    return OLE


def _stream_finder(data: bytes) -> Callable[[str], bool]:
    return lambda stream: stream.encode("utf-16-le") in data


def _by_text(head: bytes, suffix: str) -> str:
    if suffix == ".eml" and _MAIL_START.match(head):
        return MAIL  # its parts may be of any encoding, or none
    try:
        start = decode(_without_cut_character(head)).text.lstrip("\ufeff")
    except DocumentFailure as failure:
        if suffix in _NEVER_TEXT:
            raise _broken_promise(suffix, "Its first bytes are not those of that format") from failure
        raise
    if _HTML_START.match(start):
        return HTML
    if start.startswith("WEBVTT") and (len(start) == 6 or start[6] in " \t\r\n"):
        return VTT
    if suffix in _NEVER_TEXT and start.strip():
        seen = f"It is text that begins with {start.strip()[:40]!r}: give it the name of what it is (such as .txt)"
        raise _broken_promise(suffix, f"{seen} and add it again, or fetch it anew")
    if _SRT_START.match(start):
        return SRT
    return _BY_SUFFIX.get(suffix) or (MAIL if suffix not in _NOTES and _is_mail(start) else PLAIN)


def _without_cut_character(head: bytes) -> bytes:
    """The head of a longer file may end within a character of several bytes; a line end is never part of one."""
    if len(head) < _HEAD_BYTES:
        return head
    end = head.rfind(b"\n") if b"\x00" not in head else 0
    return head[:end] if end > 0 else head[: len(head) & ~3]


def _is_mail(start: str) -> bool:
    head = _MAIL_HEAD.match(start.replace("\r\n", "\n"))
    return head is not None and "from:" in head[0].lower() and _MAIL_PROGRAMS.search(head[0]) is not None


def _broken_promise(suffix: str, seen: str) -> DocumentFailure:
    detail = f"Its name says that it is {_NEVER_TEXT[suffix]}, but it is not. {seen}"
    return DocumentFailure(FailureCode.CORRUPT, detail)
