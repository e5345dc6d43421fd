"""Plain text: what a model sends, without links, pictures, HTML and what no eye sees."""

import html
import re
import unicodedata
from dataclasses import dataclass

REMOVED = "(link removed)"

# Control, format, surrogate and private characters; line feed and tab are text.
_UNSEEN = {"Cc", "Cf", "Cs", "Co"}
_JOINERS = {"\u200c", "\u200d"}  # they shape words in Persian and Indic scripts, and emoji
# Of other categories and as unseen: joiners and fillers that stand for nothing, the blank of Braille.
_BLANKS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
# Between Latin letters, digits and brackets joiners and variation selectors shape nothing.
_SHAPERS = "[\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
_LETTERS_AND_SHAPERS = re.compile(
    rf"[\u200c\u200d]+(?=[\x00-\u02ff]|$)|(?<=[\x00-\u02ff]){_SHAPERS}|^{_SHAPERS}", re.MULTILINE
)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

_LINK = re.compile(r"!?\[([^\[\]]*)\]\(((?:[^()\n]|\([^()\n]*\))*)\)|!?\[([^\[\]]*)\]\[([^\[\]\d][^\[\]]*)\]")
_DESTINATION = re.compile(r"\s*(?:<[^<>]*>|\S*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*")
_EMBEDDED = re.compile(r"<(script|style|iframe|object|svg|math)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_NAME = r"[a-z][a-z0-9-]*(?::[a-z][a-z0-9-]*)?"
_TAG = re.compile(rf"<!--.*?-->|<[!?][a-z][^<>]*>|</?({_NAME})(?:[\s/][^<>]*)?>", re.IGNORECASE | re.DOTALL)
_WITHIN_WORDS = frozenset({"a", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "u"})

_ADDRESS = r"[^\s<>\"“”„«»\[\]【】(){}`]"
# Also with the letters, colons and slashes that only look like those of an address.
_URL = re.compile(
    rf"<?(?:[a-zａ-ｚ][a-z0-9ａ-ｚ+.\-]{{0,30}}[:：﹕꞉]\s?[/\\／＼⁄∕⧸]{{2}}{_ADDRESS}*"
    rf"|(?<![\w/:\\])(?://|\\\\)(?=[\w.-]+\.\w){_ADDRESS}+"
    rf"|(?<![a-z0-9@.])(?:www|ｗｗｗ)[.．。｡]{_ADDRESS}+"
    rf"|(?<![a-z0-9])(?:javascript|vbscript|blob|magnet|xmpp|intent|view-source):{_ADDRESS}+"
    rf"|(?<![a-z0-9])data:(?:[\w.+-]+/[\w.+-]+|[;,]){_ADDRESS}*)>?",
    re.IGNORECASE,
)
# A host with a path, such as `evil.example/a?b`; a host alone is a name, and so are `report.pdf` and `z.B.`.
# In letters of any script, or a number such as `192.0.2.1/a`; `10.0.0.0/8` is a range of them.
_HOST_WITH_PATH = re.compile(
    rf"(?<![\w@./-])(?:(?:[\w-]{{1,63}}\.){{0,7}}[\d-]*[^\W\d][\w-]{{0,62}}\.[^\W\d_]{{2,24}}(?::\d+)?[/?]{_ADDRESS}+"
    rf"|(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d+)?[/?](?!\d{{1,2}}\b){_ADDRESS}+)"
)
_TRAILING = ".,;:!?…。、！？'*_~"

_HTTP = re.compile("http", re.IGNORECASE)
_SCRIPT_SCHEME = re.compile(r"(javascript|vbscript)[^\S\n]*:", re.IGNORECASE)
# `[label]: address` defines a link in Markdown, at the beginning of a line, a quotation or a list item. The label may
# have begun in the line before.
_DEFINITION = re.compile(r"\]:")
_BEHIND_WORDS = re.compile(r"[^\W\d_]{2}[^\n]*(?<!\\)\[[^\[\]\\\n]*$")
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
    text = _LINE_ENDS.sub("\n", text)
    kept = "".join(
        character
        for character in text
        if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in _UNSEEN
    )
    return _LETTERS_AND_SHAPERS.sub("", _BLANKS.sub("", kept))


def harmless(text: str) -> str:
    """The text with a space put into whatever would still read as the beginning of a link or a tag."""
    text = _HTTP.sub("HTTP", text).replace("://", ": //").replace("](", "] (")
    text = re.sub(r"<(?=[A-Za-z/!?])", "< ", text)
    text = _DEFINITION.sub(_undefined, text)
    return _SCRIPT_SCHEME.sub(r"\1 :", text)


def _undefined(match: re.Match[str]) -> str:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return match[0] if _BEHIND_WORDS.search(line) else "] :"


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
