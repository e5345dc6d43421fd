"""Footnotes and endnotes of an RTF file, with the marks that stand for them in the text."""

from collections.abc import Iterator

from workers.extract.list_labels import roman


class Notes:
    """Numbers notes as they come: `[1]` for footnotes, `[i]` for endnotes. A note begins as a footnote."""

    def __init__(self) -> None:
        self._footnotes: list[str] = []
        self._endnotes: list[str] = []
        self._open: list[tuple[list[str], int]] = []

    def begin(self) -> str:
        """Open a note; its mark."""
        return self._added(self._footnotes)

    def make_endnote(self) -> tuple[str, str]:
        """Turn the note that has just begun (`\\ftnalt`) into an endnote; the mark it had and the one it has now."""
        kind, number = self._open.pop()
        old = self._mark(kind, number)
        del kind[number - 1 :]
        return old, self._added(self._endnotes)

    def end(self, text: str) -> None:
        """Close the note that was opened last, with its text; one without is not shown."""
        kind, number = self._open.pop()
        if text:
            kind[number - 1] = f"{self._mark(kind, number)} {text}"

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The headings and notes to stand below the text."""
        yield "Footnotes", self._footnotes
        yield "Endnotes", self._endnotes

    def _added(self, kind: list[str]) -> str:
        kind.append("")
        self._open.append((kind, len(kind)))
        return self._mark(kind, len(kind))

    def _mark(self, kind: list[str], number: int) -> str:
        return f"[{roman(number) if kind is self._endnotes else number}]"
