"""Plain text: what a model sends, without links, pictures, HTML and what no eye sees."""

import html
import re
import unicodedata
from dataclasses import dataclass

REMOVED = "(link removed)"

# Control, format, surrogate and private characters; line feed and tab are text.
_UNSEEN = {"Cc", "Cf", "Cs", "Co"}
_JOINERS = {"\u200c", "\u200d"}  # they shape words in Persian and Indic scripts, and emoji
_LETTERS_AND_JOINERS = re.compile(
    r"[\u200c\u200d]+(?=[\x00-\u02ff]|$)|(?<=[\x00-\u02ff])[\u200c\u200d]+|^[\u200c\u200d]+"
)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\(((?:[^()\n]|\([^()\n]*\))*)\)|!?\[([^\[\]]*)\]\[([^\[\]\d][^\[\]]*)\]")
_DESTINATION = re.compile(r"\s*(?:<[^<>]*>|\S*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*")
_EMBEDDED = re.compile(r"<(script|style|iframe|object|svg|math)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_NAME = r"[a-z][a-z0-9-]*(?::[a-z][a-z0-9-]*)?"
_TAG = re.compile(rf"<!--.*?-->|<[!?][a-z][^<>]*>|</?({_NAME})(?:[\s/][^<>]*)?>", re.IGNORECASE | re.DOTALL)
_WITHIN_WORDS = frozenset({"a", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "u"})

_ADDRESS = r"[^\s<>\"“”„«»\[\]【】(){}]"
_URL = re.compile(
    rf"<?(?:[a-z][a-z0-9+.\-]{{0,30}}:[/\\]{{2}}{_ADDRESS}*"
    rf"|(?<![a-z0-9@.])www\.{_ADDRESS}+"
    rf"|(?<![a-z0-9])(?:javascript|vbscript|blob|magnet|xmpp|intent|view-source):{_ADDRESS}+"
    rf"|(?<![a-z0-9])data:(?:[\w.+-]+/[\w.+-]+|[;,]){_ADDRESS}*)>?",
    re.IGNORECASE,
)
# A host with a path, such as `evil.example/a?b`; a host alone is a name, and so are `report.pdf` and `z.B.`.
_HOST_WITH_PATH = re.compile(rf"(?<![\w@./-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}[a-z]{{2,24}}(?::\d+)?[/?]{_ADDRESS}+")
_TRAILING = ".,;:!?…。、！？'"

_HTTP = re.compile("http", re.IGNORECASE)
_SCRIPT_SCHEME = re.compile(r"(javascript|vbscript)[^\S\n]*:", re.IGNORECASE)
_DEFINITION = re.compile(r"(?m)^(\s*\[[^\]\n]*\]):")
_SPACES = re.compile(r"[^\S\n]{2,}")
_HEADING = re.compile(r"^#{1,6}[^\S\n]+")
_BOLD = re.compile(r"\*\*(?=\S)([^\n]+?)(?<=\S)\*\*")


@dataclass(frozen=True, slots=True)
class Plain:
    """The text, and how many links, pictures and tags were taken out of it."""

    text: str
    removed: int


def plain(text: str) -> Plain:
    """One piece of a model's text as plain text. The words of a link stay, its address does not.

    The result holds no `http` in small letters, no `://`, no `](`, and no `<` before a letter, so that nothing in it
    becomes a link or a tag in a program that reads Markdown or HTML where it should not.
    """
    text = visible(_unescaped(visible(text)))
    text, links = _without_links(text)
    text, embedded = _EMBEDDED.subn(" ", text)
    text, tags = _TAG.subn(lambda tag: "" if (tag[1] or "").lower() in _WITHIN_WORDS else " ", text)
    text, urls = _without_urls(text)
    text = _BOLD.sub(r"\1", _HEADING.sub("", _SPACES.sub(" ", text.strip())))
    return Plain(harmless(text), links + embedded + tags + urls)


def visible(text: str) -> str:
    """The text without characters that no eye sees; they hide words, or turn what is read around."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(
        character
        for character in text
        if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in _UNSEEN
    )
    return _LETTERS_AND_JOINERS.sub("", kept)


def harmless(text: str) -> str:
    """The text with a space put into whatever would still read as the beginning of a link or a tag."""
    text = _HTTP.sub("HTTP", text).replace("://", ": //").replace("](", "] (")
    text = re.sub(r"<(?=[A-Za-z/!?])", "< ", text)
    text = _DEFINITION.sub(r"\1 :", text)
    return _SCRIPT_SCHEME.sub(r"\1 :", text)


def _unescaped(text: str) -> str:
    while "&" in text:
        shorter = html.unescape(text)
        if shorter == text:
            break
        text = shorter
    return text


def _without_links(text: str) -> tuple[str, int]:
    removed = 0

    def words(match: re.Match[str]) -> str:
        nonlocal removed
        shown, destination = (match[1], match[2]) if match[1] is not None else (match[3], "")
        if match[1] is not None and not _DESTINATION.fullmatch(destination):
            return f"{match[0][: match.end(1) - match.start() + 1]} ({destination})"  # a remark in parentheses
        removed += 1
        return f"[{shown}]" if shown.strip(" ^").isdecimal() else shown

    for _ in range(4):  # a picture within a link, and a little more; what is deeper is broken up by `harmless`
        before = removed
        text = _LINK.sub(words, text)
        if removed == before:
            break
    return text, removed


def _without_urls(text: str) -> tuple[str, int]:
    removed = 0

    def gone(match: re.Match[str]) -> str:
        nonlocal removed
        removed += 1
        address = match[0].rstrip(">")
        before = match.string[match.start() - 1 : match.start()]
        return f"{' ' if before.isalnum() else ''}{REMOVED}{address[len(address.rstrip(_TRAILING)) :]}"

    for pattern in (_URL, _HOST_WITH_PATH):
        text = pattern.sub(gone, text)
    text = re.sub(r"mailto:[^\S\n]*", "", text, flags=re.IGNORECASE)
    return text, removed
