"""EPUB books: the chapters in reading order, read as HTML, with the headings of the whole book as its structure.

EPUB is a ZIP container: META-INF/container.xml names the package (OPF), whose spine lists the chapters in order.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from pincite.documents import Block, Extracted, Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.html import VOID, decode_markup, read_markup
from workers.extract.html_tree import collapse
from workers.extract.limits import check_characters, check_parts
from workers.extract.options import ReaderOptions
from workers.extract.unread_pictures import UnreadPictures, inches
from workers.extract.xml_part import Element, parse_xml
from workers.extract.zip_container import ZipContainer, open_container

NAME, VERSION = "epub", 2

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
# These scramble the first bytes of fonts and hide no text.
_FONT_OBFUSCATION = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})
_CHAPTER_SUFFIXES = (".xhtml", ".html", ".htm")
# To a parser of HTML `<title/>` opens an element that the rest of the page stands in.
_EMPTY_ELEMENT = re.compile(r"""<([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*/>""")
_PICTURE = re.compile(r"<(?:\w+:)?(img|image)\s([^<>]*)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class _Package:
    """What the package says: the book's title, and its chapters as paths in the container."""

    title: str | None
    chapters: tuple[str, ...]


def extract_epub(path: Path, options: ReaderOptions) -> Extracted:
    """Read an EPUB 2 or 3 book.

    Raises:
        DocumentFailure: ENCRYPTED under rights management, CORRUPT, TOO_LARGE.
    """
    with open_container(path, options) as container:
        return _Book(container, options).read()


class _Book:
    """Reads one book; `markup` counts the characters of its chapters as they stand in the container."""

    def __init__(self, container: ZipContainer, options: ReaderOptions) -> None:
        self._container, self._options = container, options
        self._markup = 0
        self._warnings: list[Warning] = []
        self._pictures = UnreadPictures()
        self._counted: set[str] = set()

    def read(self) -> Extracted:
        """The book's text, its blocks and title."""
        self._check_rights()
        package = self._package()
        parts: list[str] = []
        blocks: list[Block] = []
        position = 0
        for chapter in package.chapters:
            markup = self._chapter(chapter)
            self._count_pictures(chapter, markup)
            page = read_markup(markup)
            if not page.text:
                continue
            if position:
                parts.append(_SEPARATOR)
                position += len(_SEPARATOR)
            blocks += [replace(b, start=b.start + position, end=b.end + position) for b in page.blocks]
            parts.append(page.text)
            position += len(page.text)
        return Extracted(
            f"{NAME}/{VERSION}",
            text="".join(parts),
            blocks=tuple(blocks),
            title=package.title,
            warnings=(*self._warnings, *self._pictures.warnings("".join(parts))),
        )

    def _count_pictures(self, chapter: str, markup: str) -> None:
        """Count the pictures of a chapter but for the cover; one that is shown often counts once."""
        for match in _PICTURE.finditer(_COMMENT.sub("", markup)):
            told = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(match[2])}
            source = told.get("src") or told.get("xlink:href") or told.get("href") or ""
            place = unquote(unescape(source).partition("#")[0])
            name = posixpath.normpath(posixpath.join(posixpath.dirname(chapter), place))
            if place and name in self._container and name not in self._counted:
                self._counted.add(name)
                # Within a drawing (SVG) the units are its own.
                self._pictures.add(_square_inches(told) if match[1].lower() == "img" else None)

    def _check_rights(self) -> None:
        if _ENCRYPTION not in self._container:
            return
        tree = self._xml(_ENCRYPTION)
        for method in _named(tree, "EncryptionMethod"):
            if method.get("Algorithm") not in _FONT_OBFUSCATION:
                raise DocumentFailure(FailureCode.ENCRYPTED, "It is under digital rights management (DRM)")

    def _package(self) -> _Package:
        name = self._package_name()
        tree = self._xml(name)
        titles = (collapse("".join(title.itertext())) for title in _named(tree, "title"))
        title = next(filter(None, titles), None)
        folder = posixpath.dirname(name)
        manifest = {item.get("id"): item for item in _named(tree, "item")}
        self._counted |= {posixpath.normpath(posixpath.join(folder, name)) for name in _covers(tree)}
        chapters = [
            posixpath.normpath(posixpath.join(folder, unquote((item.get("href") or "").partition("#")[0])))
            for reference in _named(tree, "itemref")
            if (item := manifest.get(reference.get("idref"))) is not None and _is_chapter(item)
        ]
        if not chapters:
            raise _corrupt(f"{name} names no chapters in its reading order (spine)")
        check_parts(len(chapters), self._options)
        return _Package(title, tuple(dict.fromkeys(chapters)))

    def _package_name(self) -> str:
        if _CONTAINER in self._container:
            for root in _named(self._xml(_CONTAINER), "rootfile"):
                name = unquote(root.get("full-path") or "")
                if name in self._container:
                    return name
        for name in self._container.names:
            if name.lower().endswith(".opf"):
                return name
        raise _corrupt(f"It has no package: {_CONTAINER} names none that is there")

    def _xml(self, name: str) -> Element:
        return parse_xml(self._container.read(name), name)

    def _chapter(self, name: str) -> str:
        """The chapter's markup; empty, with a warning, where the container does not hold it or it is no text."""
        if name not in self._container:
            self._warnings.append(Warning("missing_chapter", f"The book names {name[:200]!r} but does not hold it."))
            return ""
        data = self._container.read(name)
        if not data:
            return ""
        try:
            decoded = decode_markup(data)
        except DocumentFailure as failure:
            self._warnings.append(Warning("unreadable_chapter", f"{name[:200]!r} is left out. {failure.detail}."))
            return ""
        self._markup += len(decoded.text)
        check_characters(self._markup, self._options)
        self._warnings += decoded.warnings
        return _as_html(decoded.text)


def _covers(package: Element) -> Iterator[str]:
    """The pictures that the package names as the book's cover, in the ways of EPUB 2 and 3."""
    identities = {meta.get("content") for meta in _named(package, "meta") if meta.get("name") == "cover"}
    for item in _named(package, "item"):
        if item.get("id") in identities or "cover-image" in (item.get("properties") or "").split():
            yield unquote(item.get("href") or "")


def _is_chapter(item: Element) -> bool:
    # The list of contents repeats the headings; its links lead nowhere in a text.
    if "nav" in (item.get("properties") or "").split():
        return False
    kind, name = (item.get("media-type") or "").lower(), (item.get("href") or "").partition("#")[0].lower()
    return kind in _CHAPTER_TYPES or name.endswith(_CHAPTER_SUFFIXES)


def _square_inches(told: dict[str, str]) -> float | None:
    """The size that an `img` asks for in its attributes, which count pixels; None where it leaves that open."""
    width, height = (inches(f"{told.get(side, '').strip().removesuffix('px')}px") for side in ("width", "height"))
    return None if width is None or height is None else width * height


def _as_html(markup: str) -> str:
    """XHTML as a parser of HTML understands it: empty elements with an end tag, marked sections as text."""
    markup = _CDATA.sub(lambda match: match[1].replace("&", "&amp;").replace("<", "&lt;"), markup)
    return _EMPTY_ELEMENT.sub(_with_end_tag, markup)


def _with_end_tag(match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if name.lower() in VOID else f"<{name}{match[2]}></{name}>"


def _named(tree: Element, name: str) -> Iterator[Element]:
    """The elements of that name in whatever namespace: books of three decades differ in it."""
    return iter(tree.iter(f"{{*}}{name}"))


def _corrupt(detail: str) -> DocumentFailure:
    return DocumentFailure(FailureCode.CORRUPT, detail)
