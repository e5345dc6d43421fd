"""XML of office files: parsed without trust, its names without the accidents of namespaces.

Elements and attributes are named as the standards print them, `w:p` or `text:h`, whichever prefix the file uses and
whichever of the two sets of namespaces (Transitional and Strict) an Office Open XML file was saved with.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias, TypeVar

from lxml import etree

from pincite.failures import DocumentFailure, FailureCode

# lxml tells no types, so to the type checker this is anything.
Element: TypeAlias = etree._Element
Default = TypeVar("Default", bound=int | None)

_OOXML = ("http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/")
_PREFIXES = {
    "wordprocessingml/2006/main": "w",
    "wordprocessingml/main": "w",
    "presentationml/2006/main": "p",
    "presentationml/main": "p",
    "spreadsheetml/2006/main": "x",
    "spreadsheetml/main": "x",
    "drawingml/2006/main": "a",
    "drawingml/main": "a",
    "drawingml/2006/diagram": "dgm",
    "drawingml/diagram": "dgm",
    "drawingml/2006/chart": "c",
    "drawingml/chart": "c",
    "officeDocument/2006/math": "m",
    "officeDocument/math": "m",
    "officeDocument/2006/relationships": "r",
    "officeDocument/relationships": "r",
    "package/2006/relationships": "rel",
    "markup-compatibility/2006": "mc",
}
_OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
_OTHERS = {
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.w3.org/1999/xlink": "xlink",
    "http://www.w3.org/1998/Math/MathML": "math",
    "http://www.w3.org/XML/1998/namespace": "xml",
}
# Entities are not expanded, nothing is fetched, and what is nested or stuffed beyond the parser's limits is refused.
WITHOUT_TRUST = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


def parse_xml(data: bytes, name: str) -> Element:
    """The root of the XML in `data`, read `WITHOUT_TRUST`; `name` is the part's, for the message.

    Raises:
        DocumentFailure: CORRUPT.
    """
    try:
        root = etree.fromstring(data, etree.XMLParser(**WITHOUT_TRUST))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise not_well_formed(name, error) from error
    if root is None:
        raise DocumentFailure(FailureCode.CORRUPT, f"Its part {name[:200]!r} is empty")
    return root


def not_well_formed(part: str, error: Exception) -> DocumentFailure:
    """What to raise (CORRUPT) where the parser could not read the part of that name."""
    return DocumentFailure(FailureCode.CORRUPT, f"Its part {part[:200]!r} is not well-formed XML: {str(error)[:200]}")


def name_of(element: Element) -> str:
    """The element's name with its usual prefix; empty for what is no element (an entity left alone)."""
    return _short(element.tag) if isinstance(element.tag, str) else ""


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """The value of the attribute `name`, which has a prefix where its namespace has one."""
    if element is not None:
        for key, value in element.attrib.items():
            if _short(str(key)) == name:
                return str(value)
    return default


def whole_number(value: str, default: Default, digits: int = 6) -> int | Default:
    """The number that an attribute holds, or `default` where it holds none or one of more than so many digits."""
    return int(value) if value.isdecimal() and len(value) <= digits else default


def child(element: Element | None, *names: str) -> Element | None:
    """The first child of that name; with more names, its child in turn."""
    for name in names:
        if element is None:
            return None
        element = next(children(element, name), None)
    return element


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """The children with one of the names, in order."""
    if element is not None:
        for each in element:
            if name_of(each) in names:
                yield each


def descendants(element: Element | None, *names: str) -> Iterator[Element]:
    """The elements below with one of the names, in the order of the document."""
    if element is not None:
        for each in element.iterdescendants():
            if name_of(each) in names:
                yield each


@lru_cache(maxsize=4096)
def _short(qualified: str) -> str:
    if not qualified.startswith("{"):
        return qualified
    namespace, local = qualified[1:].split("}", 1)
    prefix = _prefix(namespace)
    return f"{prefix}:{local}" if prefix else f"?:{local}"


def _prefix(namespace: str) -> str:
    for start in _OOXML:
        if namespace.startswith(start):
            return _PREFIXES.get(namespace.removeprefix(start), "")
    if namespace.startswith(_OPEN_DOCUMENT):
        return namespace.removeprefix(_OPEN_DOCUMENT).split(":")[0]
    return _OTHERS.get(namespace, "")
