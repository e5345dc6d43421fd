"""Headers: the line `[Title > Section > Sub]` that tells the model where a chunk stands.

A header is embedded, never quoted. It may take a third of the window; a longer one loses its middle first.
"""

from pathlib import PurePosixPath

from pincite.embedding import TokenCounter

_ELLIPSIS = "…"
_LONGEST_PART = 200  # characters
_LONGEST_ROW = 400
_SHORTER_PARTS = (120, 60, 30, 15, 8)


class Headers:
    """The headers of one document, each worked out once."""

    def __init__(self, title: str | None, name: str, tokens: TokenCounter) -> None:
        self._title = shorten(title or "") or shorten(PurePosixPath(name).stem)
        self._tokens = tokens
        self._limit = tokens.window // 3
        self._known: dict[tuple[tuple[str, ...], str], str] = {}

    def of(self, section: tuple[str, ...], table_head: str = "") -> str:
        """The header of a section; empty where not even a stub of one would leave room for text.

        With `table_head`, a table's header row follows on a line of its own, shortened to leave room for rows.
        """
        key = (section, table_head)
        if key not in self._known:
            header = self._bounded(self._parts(section))
            self._known[key] = self._with_row(header, table_head) if table_head else header
        return self._known[key]

    def _with_row(self, header: str, row: str) -> str:
        for size in (_LONGEST_ROW, *_SHORTER_PARTS):
            both = "\n".join(filter(None, (header, shorten(row, size))))
            if self._tokens.count(both) <= self._limit * 3 // 2:
                return both
        return header

    def _parts(self, section: tuple[str, ...]) -> list[str]:
        parts = [self._title, *section]
        if section and section[0].casefold() == self._title.casefold():
            parts = parts[1:]
        return [part for part in parts if part]

    def _bounded(self, parts: list[str]) -> str:
        candidates = [parts]
        if len(parts) > 2:
            candidates.append([parts[0], _ELLIPSIS, parts[-1]])
        candidates += [[shorten(part, size) for part in candidates[-1]] for size in _SHORTER_PARTS]
        for candidate in candidates:
            header = f"[{' > '.join(candidate)}]"
            if candidate and self._tokens.count(header) <= self._limit:
                return header
        return ""


def shorten(part: str, size: int = _LONGEST_PART) -> str:
    """One line of at most `size` characters; what is too much goes from the middle."""
    # Some more than needed: a hostile title is not worth the reading.
    line = " ".join(part[: 8 * _LONGEST_PART].split())
    if len(line) <= size:
        return line
    head = (size - 1) * 2 // 3
    return line[:head] + _ELLIPSIS + line[len(line) - (size - 1 - head) :]
