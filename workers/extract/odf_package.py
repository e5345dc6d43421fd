"""OpenDocument packages: their parts as XML trees, and whether they are protected."""

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.document_title import sane_title
from workers.extract.xml_part import Element, descendants, parse_xml
from workers.extract.zip_container import ZipContainer

_MANIFEST = "META-INF/manifest.xml"


class OpenDocument:
    """The parts of one OpenDocument file. `warnings` names the parts that had to be left out.

    Raises:
        DocumentFailure: ENCRYPTED.
    """

    def __init__(self, container: ZipContainer) -> None:
        self._container = container
        self.warnings: list[Warning] = []
        manifest = self.lesser_part(_MANIFEST)
        protected = next(descendants(manifest, "manifest:encryption-data"), None) is not None
        if protected or "encrypted-package" in container:
            raise DocumentFailure(FailureCode.ENCRYPTED, "It is a protected OpenDocument file")

    def part(self, name: str) -> Element:
        """The root of a part.

        Raises:
            DocumentFailure: CORRUPT, TOO_LARGE.
        """
        return parse_xml(self._container.read(name), name)

    def lesser_part(self, name: str) -> Element | None:
        """The root of a part that the document can be read without: None where it is missing or damaged."""
        if name not in self._container:
            return None
        try:
            return self.part(name)
        except DocumentFailure as failure:
            if failure.code is not FailureCode.CORRUPT:
                raise
            self.warnings.append(Warning("part_skipped", f"A part of the file was left out. {failure.detail}"))
            return None

    def title(self) -> str | None:
        """The title among the file's properties, where an author has given one."""
        titles = (each.text for each in descendants(self.lesser_part("meta.xml"), "dc:title"))
        return next(filter(None, map(sane_title, titles)), None)
