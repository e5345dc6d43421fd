"""Titles that authors gave, told from the names that programs put where a title belongs."""

import re

from workers.extract.block_text import one_line

_WRITER = re.compile(r"^Microsoft (?:Office )?(?:Word|PowerPoint|Excel) - ", re.I)
_NO_TITLE = re.compile(
    r"^(?:untitled.*|(?:document|dokument|presentation|präsentation|slide|folie)\s*\d*|powerpoint[- ]pr[eäé]sentation.*"
    r"|présentation powerpoint|title|titel|titre|.*\.(?:docx?|pptx?|xlsx?|od[tps]|rtf|pdf))$",
    re.I,
)


def sane_title(value: str | None) -> str | None:
    """`value` on one line, or None where it is empty, overlong, mostly signs, or a program's own."""
    title = _WRITER.sub("", one_line(value or ""))
    sane = 3 <= len(title) <= 300 and not _NO_TITLE.match(title) and sum(map(str.isalpha, title)) * 2 >= len(title)
    return title if sane else None
