"""One document in each format from the sentences of one language, and where in it each sentence must be found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from html import escape
from typing import Any

from tests import documents, office_documents, workbooks
from tests.glyph_pdf import clusters, glyph_pdf, predefined_pdf, visual
from tests.languages import CHINESE, JAPANESE, KOREAN, SOFT_HYPHEN, Language

_CODE_PAGES = {"shift_jis": 932, "gb18030": 936, "euc_kr": 949}
_PREDEFINED = {
    CHINESE: ("UniGB-UTF16-H", "GB1"),
    JAPANESE: ("UniJIS-UTF16-H", "Japan1"),
    KOREAN: ("UniKS-UTF16-H", "Korea1"),
}


@dataclass(frozen=True)
class Written:
    """A document and the canonical text it must have. `places`: each sentence and the fields of its locator."""

    name: str
    data: bytes
    text: str
    places: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def in_all_formats(language: Language) -> Iterator[tuple[str, Callable[[Language], Written]]]:
    """The formats that a language is written in, with what writes it."""
    yield from _EVERYWHERE.items()
    if language in _PREDEFINED:
        yield "pdf-predefined", _predefined_pdf
    if language.right_to_left:
        yield "pdf-marks-apart", _pdf_marks_apart
    if language.charset:
        yield from _LEGACY.items()


def shown(text: str) -> str:
    """What is kept of a text that a program lays out: soft hyphens are advice to that program and no part of it."""
    return text.replace(SOFT_HYPHEN, "")


def _running(name: str, data: bytes, sentences: Sequence[str], before: str = "", kind: str = "char") -> Written:
    text = "\n\n".join([*([before] if before else []), *sentences])
    return Written(name, data, text, [(sentence, {"kind": kind}) for sentence in sentences])


def _laid_out(name: str, data: bytes, language: Language) -> Written:
    return _running(name, data, [shown(sentence) for sentence in language.sentences], language.title)


def _plain(encoding: str) -> Callable[[Language], Written]:
    def write(language: Language) -> Written:
        data = "\r\n\r\n".join(language.sentences).encode(encoding)
        return _running("a.txt", data, language.sentences)

    return write


def _plain_legacy(language: Language) -> Written:
    sentences = language.legacy
    return _running("a.txt", "\r\n\r\n".join(sentences).encode(language.charset), sentences)


def _paragraphs(language: Language, sentences: Sequence[str]) -> str:
    return f"<h1>{escape(language.title)}</h1>" + "".join(f"<p>{escape(each)}</p>\n" for each in sentences)


def _html(language: Language) -> Written:
    head = f"<!DOCTYPE html><meta charset=utf-8><title>{escape(language.title)}</title>"
    return _laid_out("a.html", (head + _paragraphs(language, language.sentences)).encode(), language)


def _html_references(language: Language) -> Written:
    body = _paragraphs(language, language.sentences).encode("ascii", "xmlcharrefreplace")
    return _laid_out("a.html", b"<!DOCTYPE html>" + body, language)


def _html_legacy(language: Language) -> Written:
    sentences = language.legacy
    page = f"<meta charset={language.charset}>{_paragraphs(language, sentences)}"
    return _running("a.html", page.encode(language.charset), [shown(each) for each in sentences], language.title)


def _markdown(language: Language) -> Written:
    parts = [f"# {language.title}", *language.sentences]
    return _running("a.md", "\n\n".join(parts).encode(), language.sentences, parts[0])


def _docx(language: Language) -> Written:
    data = office_documents.word_docx(language.sentences, heading=language.title)
    return _laid_out("a.docx", data, language)


def _odt(language: Language) -> Written:
    heading = f'<text:h text:outline-level="1">{escape(language.title)}</text:h>'
    body = heading + "".join(f"<text:p>{escape(sentence)}</text:p>" for sentence in language.sentences)
    return _laid_out("a.odt", office_documents.bare_odt(body), language)


def _epub(language: Language) -> Written:
    data = documents.book_epub({language.title: _paragraphs(language, language.sentences)}, language.title)
    return _laid_out("a.epub", data, language)


def _rtf_unicode(language: Language) -> Written:
    lines = [f"\\pard\\outlinelevel0 {_escaped(language.title)}\\par", "\\pard\\outlinelevel9"]
    lines += [f"{_escaped(sentence)}\\par" for sentence in language.sentences]
    return _laid_out("a.rtf", office_documents.rtf("\n".join(lines)), language)


def _escaped(text: str) -> str:
    """`\\u` with a signed number for each unit of UTF-16, and a question mark for readers that know no Unicode."""
    units = text.encode("utf-16-le")
    numbers = (int.from_bytes(units[at : at + 2], "little") for at in range(0, len(units), 2))
    return "".join(chr(n) if 32 <= n < 127 else f"\\u{n - 0x10000 if n > 0x7FFF else n}?" for n in numbers)


def _rtf_code_page(language: Language) -> Written:
    """The text in bytes of a code page, as word processors of the time wrote it: `\\'` and two digits each."""
    codec = f"cp{_CODE_PAGES.get(language.charset, 0)}" if language.charset in _CODE_PAGES else language.charset
    sentences = [each for each in language.legacy if each.encode(codec, "ignore").decode(codec) == each]
    body = "".join(f"{_hexadecimal(sentence.encode(codec))}\\par\n" for sentence in sentences)
    data = f"{{\\rtf1\\ansi\\ansicpg{codec.removeprefix('cp')}\\pard {body}}}".encode("ascii")
    return _running("a.rtf", data, [shown(sentence) for sentence in sentences])


def _hexadecimal(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in "\\{}" else f"\\'{byte:02x}" for byte in data)


def _mail(language: Language) -> Written:
    message = EmailMessage()
    message["Subject"] = language.title
    message["From"] = f"{language.title} <a@example.org>"
    message.set_content("\n\n".join(language.sentences), cte="base64")
    head = f"Subject: {language.title}\nFrom: {language.title} <a@example.org>"
    return _running("a.eml", message.as_bytes(), language.sentences, head)


def _mail_legacy(language: Language) -> Written:
    message = EmailMessage()
    message["Subject"] = "Lease"
    message.set_content("\n\n".join(language.legacy), charset=language.charset, cte="quoted-printable")
    return _running("a.eml", message.as_bytes(), language.legacy, "Subject: Lease")


def _pdf(language: Language) -> Written:
    sentences = [shown(sentence) for sentence in language.sentences]
    draw = visual if language.right_to_left else clusters
    return _paged(
        glyph_pdf([[draw(each) for each in page] for page in _halves(sentences)], language.right_to_left), sentences
    )


def _pdf_marks_apart(language: Language) -> Written:
    sentences = [shown(sentence) for sentence in language.sentences]
    drawn = [[visual(each, marks_apart=True) for each in page] for page in _halves(sentences)]
    return _paged(glyph_pdf(drawn, language.right_to_left), sentences)


def _predefined_pdf(language: Language) -> Written:
    return _paged(predefined_pdf(_halves(language.sentences), *_PREDEFINED[language]), language.sentences)


def _halves(sentences: Sequence[str]) -> list[Sequence[str]]:
    return [sentences[:2], sentences[2:]]


def _paged(data: bytes, sentences: Sequence[str]) -> Written:
    pages = _halves(sentences)
    places = [
        (each, {"kind": "page", "page": number, "last_page": number})
        for number, page in enumerate(pages, 1)
        for each in page
    ]
    return Written("a.pdf", data, "\n\n".join("\n".join(page) for page in pages), places)


def _pptx(language: Language) -> Written:
    halves = [[shown(each) for each in half] for half in _halves(language.sentences)]
    data = office_documents.slides_pptx([(language.title, half) for half in _halves(language.sentences)])
    places = [(each, {"kind": "slide", "slide": number}) for number, half in enumerate(halves, 1) for each in half]
    return Written("a.pptx", data, "\n\n".join(_slide(language.title, half) for half in halves), places)


def _slide(title: str, half: Sequence[str]) -> str:
    """The placeholder of a slide's content is a list."""
    return f"{title}\n\n" + "\n".join(f"- {each}" for each in half)


def _sheet(name: str, data: bytes, sentences: Sequence[str], sheet: str = "") -> Written:
    places = [(each, {"kind": "range", "sheet": sheet, "cells": f"A{n}:B{n}"}) for n, each in enumerate(sentences, 1)]
    return Written(name, data, "\n".join(f"| {each} | {n} |" for n, each in enumerate(sentences, 1)), places)


def _rows(sentences: Sequence[str]) -> list[list[object]]:
    return [[each, number] for number, each in enumerate(sentences, 1)]


def _xlsx(language: Language) -> Written:
    data = workbooks.xlsx({language.title: workbooks.sheet_data(_rows(language.sentences))})
    return _sheet("a.xlsx", data, language.sentences, language.title)


def _ods(language: Language) -> Written:
    rows = "".join(workbooks.ods_row(each, str(number)) for number, each in enumerate(language.sentences, 1))
    return _sheet("a.ods", workbooks.ods({language.title: rows}), language.sentences, language.title)


def _delimited(name: str, delimiter: str, encoding: str = "utf-8") -> Callable[[Language], Written]:
    def write(language: Language) -> Written:
        sentences = language.sentences if encoding else language.legacy
        quote = '"' if delimiter == "," else ""
        lines = [f"{quote}{each}{quote}{delimiter}{number}\r\n" for each, number in _rows(sentences)]
        return _sheet(name, "".join(lines).encode(encoding or language.charset), sentences)

    return write


def _cues(mark: str) -> Callable[[Language], Written]:
    """Cues with pauses between, each on two lines where the sentence has a space to break it at."""

    def write(language: Language) -> Written:
        lines = [f"WEBVTT - {language.title}\n" if mark == "." else ""]
        places = []
        for number, sentence in enumerate(language.sentences):
            begin = number * 10
            times = f"00:00:{begin:02}{mark}250 --> 00:00:{begin + 2:02}{mark}500"
            lines.append(f"{number + 1}\n{times}\n{sentence}\n")
            places.append((sentence, {"kind": "time", "begin_seconds": begin + 0.25, "end_seconds": begin + 2.5}))
        name = "a.vtt" if mark == "." else "a.srt"
        return Written(name, "\n".join(lines).lstrip("\n").encode(), "\n\n".join(language.sentences), places)

    return write


_EVERYWHERE: dict[str, Callable[[Language], Written]] = {
    "pdf": _pdf,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odt,
    "ods": _ods,
    "csv": _delimited("a.csv", ","),
    "csv-utf16": _delimited("a.csv", "\t", "utf-16"),
    "tsv": _delimited("a.tsv", "\t"),
    "epub": _epub,
    "eml": _mail,
    "html": _html,
    "html-references": _html_references,
    "markdown": _markdown,
    "text-utf8": _plain("utf-8"),
    "text-utf8-mark": _plain("utf-8-sig"),
    "text-utf16": _plain("utf-16"),
    "text-utf16-be": _plain("utf-16-be"),
    "text-utf16-le": _plain("utf-16-le"),
    "vtt": _cues("."),
    "srt": _cues(","),
    "rtf-unicode": _rtf_unicode,
}
_LEGACY: dict[str, Callable[[Language], Written]] = {
    "text-legacy": _plain_legacy,
    "csv-legacy": _delimited("a.csv", ",", ""),
    "html-legacy": _html_legacy,
    "eml-legacy": _mail_legacy,
    "rtf-code-page": _rtf_code_page,
}
