"""Office Open XML packages (DOCX, PPTX): parts as XML trees, and the relations between them."""

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from pincite.documents import Warning
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.document_title import sane_title
from workers.extract.xml_part import Element, attribute, children, descendants, name_of, parse_xml
from workers.extract.zip_container import ZipContainer

_TEXTS = frozenset({"w:t", "a:t", "m:t"})


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another one names: what for (`styles`, `slide`), and its name in the container."""

    kind: str
    target: str


class Package:
    """The parts of one file. `warnings` names the parts that had to be left out."""

    def __init__(self, container: ZipContainer) -> None:
        self._container = container
        self.warnings: list[Warning] = []
        self.main = next(
            (relation.target for relation in self.relations("").values() if relation.kind == "officeDocument"), ""
        )
        if not self.main:
            raise DocumentFailure(FailureCode.CORRUPT, "It does not say which of its parts is the document")

    def part(self, name: str) -> Element:
        """The root of a part, each alternative in it decided.

        Raises:
            DocumentFailure: CORRUPT, TOO_LARGE.
        """
        root = parse_xml(self._container.read(name), name)
        _decide_alternatives(root)
        return root

    def bytes_of(self, name: str) -> bytes:
        """A part that is no XML.

        Raises:
            DocumentFailure: CORRUPT, TOO_LARGE.
        """
        return self._container.read(name)

    def lesser_part(self, name: str) -> Element | None:
        """The root of a part that the document can be read without: where it is damaged, None and a warning."""
        try:
            return self.part(name)
        except DocumentFailure as failure:
            if failure.code is not FailureCode.CORRUPT:
                raise
            self.warnings.append(Warning("part_skipped", f"A part of the file was left out. {failure.detail}"))
            return None

    def relations(self, name: str) -> dict[str, Relation]:
        """What the part names, by relation id; the whole package's where `name` is empty. Web links are left out."""
        folder, file = posixpath.split(name)
        listing = posixpath.join(folder, "_rels", f"{file}.rels")
        if listing not in self._container:
            return {}
        root = self.part(listing) if not name or name == self.main else self.lesser_part(listing)
        found: dict[str, Relation] = {}
        for each in children(root, "rel:Relationship"):
            if attribute(each, "TargetMode") != "External":
                target = unquote(attribute(each, "Target")).replace("\\", "/")
                whole = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                found[attribute(each, "Id")] = Relation(attribute(each, "Type").rsplit("/", 1)[-1], whole)
        return found

    def related(self, relations: dict[str, Relation], kind: str) -> Element | None:
        """The first related part of that kind, if there is one that can be read."""
        for relation in relations.values():
            if relation.kind == kind and relation.target in self._container:
                return self.lesser_part(relation.target)
        return None

    def title(self) -> str | None:
        """The title among the file's properties, where an author has given one."""
        properties = self.related(self.relations(""), "core-properties")
        titles = (each.text for each in descendants(properties, "dc:title"))
        return next(filter(None, map(sane_title, titles)), None)


def _decide_alternatives(root: Element) -> None:
    """Put in place of each `mc:AlternateContent` its first choice, or its fallback where no choice holds text.

    Both say the same in two dialects, such as a text box for new and for old programs.
    """
    for alternatives in list(descendants(root, "mc:AlternateContent")):
        parent = alternatives.getparent()
        branches = [*children(alternatives, "mc:Choice"), *children(alternatives, "mc:Fallback")]
        chosen = next((branch for branch in branches if _holds_text(branch)), branches[0] if branches else None)
        place = parent.index(alternatives)
        parent[place : place + 1] = list(chosen) if chosen is not None else []


def _holds_text(branch: Element) -> bool:
    return any(name_of(each) in _TEXTS and each.text for each in branch.iterdescendants())
