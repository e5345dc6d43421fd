"""Large XML parts, read element by element in bounded memory and without trust."""

from collections.abc import Iterator
from typing import IO

from lxml import etree

from workers.extract.xml_part import WITHOUT_TRUST, Element, not_well_formed


def stream_elements(file: IO[bytes], part: str, *names: str) -> Iterator[Element]:
    """Each element with one of the local `names`, in whichever namespace, when it ends.

    It is emptied, and what stood before it let go, as soon as the next is asked for. The XML is read `WITHOUT_TRUST`.
    `part` is the part's name, for the message.

    Raises:
        DocumentFailure: CORRUPT where the XML is not well formed.
    """
    events = etree.iterparse(file, events=("end",), tag=[f"{{*}}{name}" for name in names], **WITHOUT_TRUST)
    try:
        for _, element in events:
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]
    except etree.XMLSyntaxError as error:
        raise not_well_formed(part, error) from error
