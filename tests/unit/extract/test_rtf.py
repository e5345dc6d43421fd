"""RTF as word processors write it."""

from pathlib import Path

from pincite.documents import Extracted
from tests.office_documents import rtf
from workers.extract.options import ReaderOptions
from workers.extract.rtf import extract_rtf


def read(tmp_path: Path, options: ReaderOptions, data: bytes) -> Extracted:
    path = tmp_path / "letter.rtf"
    path.write_bytes(data)
    return extract_rtf(path, options)


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, extracted.text[block.start : block.end]) for block in extracted.blocks]


def test_structure(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2\outlinelevel1 Own;}}{\header Running head\par}"
        r"\pard\s1 Rent\par\pard\s2 Due\par\pard\outlinelevel2 Direct\par\pard Text {\b bold}\line next\par"
        r"\pard{\listtext 1.\tab}one\par{\listtext\'b7\tab}dot\par"
        r"\trowd\trhdr\cellx1\cellx2\pard\intbl What\cell How | much\cell\row"
        r"\trowd\cellx1\cellx2\intbl oil\par tank\cell 5\cell\row\pard "
        r"Note{\super\chftn}{\footnote\pard\plain{\super\chftn} Cold.} end\par"
    )
    extracted = read(tmp_path, options, rtf(body, "The lease"))
    assert shown(extracted) == [
        ("heading", 1, "Rent"),
        ("heading", 2, "Due"),
        ("heading", 3, "Direct"),
        ("paragraph", 0, "Text bold\nnext"),
        ("list", 0, "1. one\n- dot"),
        ("table", 0, "| What | How \\| much |\n| oil tank | 5 |"),
        ("paragraph", 0, "Note[1] end"),
        ("heading", 1, "Footnotes"),
        ("paragraph", 0, "[1] Cold."),
    ]
    assert extracted.title == "The lease"
    assert extracted.blocks[5].title == "| What | How \\| much |"
    assert not extracted.warnings


def test_characters(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 Mincho;}}"
        r"\f0 caf\'e9 \u8364?\u-10179?\u-8704? {\uc0\u1513}{\uc2\u233\'c3\'a9}\par"
        r"{\f1\'cf\'f0\'e8\'e2\'e5\'f2}\par{\f2\'83\'65\'83X\'83g}\par a\{b\}\\c\~d\_e\par"
    )
    lines = ["café €😀 שé", "Привет", "テスト", "a{b}\\c d-e"]
    assert read(tmp_path, options, rtf(body)).text == "\n\n".join(lines)


def test_what_is_not_shown_stays_out(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        r"See {\field{\*\fldinst HYPERLINK x}{\fldrslt the page}}{\v secret}{\deleted old}{\*\unknown no}"
        r"{\pict\bin4 }{\\}\par {\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt\pard Boxed\par}}}after\par"
    )
    assert read(tmp_path, options, rtf(body)).text == "See the page\n\nafter\n\nBoxed"


def test_of_two_texts_the_one_in_unicode_counts(tmp_path: Path, options: ReaderOptions) -> None:
    twice = r"{\upr{ANSI}{\*\ud{\u1513?}}}"
    assert read(tmp_path, options, rtf(rf"a {twice}{{\header b {twice}}}\par")).text == "a ש"


def test_a_cut_file_is_read_with_a_warning(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, options, rtf(r"One\par Two {\footnote Three")[:-1])
    assert extracted.text.startswith("One\n\nTwo [1]")
    assert [warning.code for warning in extracted.warnings] == ["cut_short"]


def test_endnotes_stand_apart_from_footnotes(tmp_path: Path, options: ReaderOptions) -> None:
    body = (
        r"\pard One{\super\chftn{\footnote\ftnalt\pard\plain{\super\chftn} End.}} two{\footnote\pard{\chftn} Foot.}"
        r" three{\v{\footnote\ftnalt Unseen.}}{\footnote \ftnalt\ftnalt Last.}\par \ftnalt End"
    )
    assert shown(read(tmp_path, options, rtf(body))) == [
        ("paragraph", 0, "One[i] two[1] three[iii]"),
        ("paragraph", 0, "End"),
        ("heading", 1, "Footnotes"),
        ("paragraph", 0, "[1] Foot."),
        ("heading", 1, "Endnotes"),
        ("paragraph", 0, "[i] End."),
        ("paragraph", 0, "[iii] Last."),
    ]
