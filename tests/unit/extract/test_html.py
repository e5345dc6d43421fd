from pathlib import Path

import pytest

from pincite.documents import Extracted
from pincite.failures import DocumentFailure, FailureCode
from workers.extract.html import extract_html
from workers.extract.options import ReaderOptions


def read(tmp_path: Path, options: ReaderOptions, html: str | bytes) -> Extracted:
    path = tmp_path / "page.html"
    path.write_bytes(html.encode() if isinstance(html, str) else html)
    return extract_html(path, options)


def shown(extracted: Extracted) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, extracted.text[block.start : block.end]) for block in extracted.blocks]


def test_a_page_as_a_reader_sees_it(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(
        tmp_path,
        options,
        """<html><head><title> The
        lease </title><style>p {}</style></head><body>
        <h1>Rent &amp; <em>costs</em></h1>
        <p>Due   on the <b>third</b>
        day.<br>Of each&nbsp;month.</p>loose text
        <ul><li>heating<ul><li>oil</li></ul></li><li>water</li></ul>
        <ol><li>first</li><li>second</li></ol>
        <pre>def f():
    return 1
</pre>
        <table><caption>Costs</caption><tr><th>What</th><th>How much</th></tr><tr><td>oil | gas</td><td>5</td></tr>
        <tr><td></td></tr></table>
        <script>alert(1)</script><noscript>no</noscript><template><p>t</p></template>
        <div hidden>h</div><p style="color: red; display:none">n</p>
        <h3>End</h3></body></html>""",
    )
    assert extracted.title == "The lease"
    assert shown(extracted) == [
        ("heading", 1, "Rent & costs"),
        ("paragraph", 0, "Due on the third day.\nOf each month."),
        ("paragraph", 0, "loose text"),
        ("list", 0, "- heating\n  - oil\n- water"),
        ("list", 0, "1. first\n2. second"),
        ("code", 0, "def f():\n    return 1"),
        ("paragraph", 0, "Costs"),
        ("table", 0, "| What | How much |\n| oil \\| gas | 5 |"),
        ("heading", 3, "End"),
    ]
    assert extracted.text == "\n\n".join(text for _, _, text in shown(extracted))


def test_tables_and_lists_that_arrange_a_page_are_taken_apart(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(
        tmp_path,
        options,
        "<table><tr><td><h2>Left</h2></td><td><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
        "<ul><li><h3>Card</h3>text</li></ul>",
    )
    assert shown(extracted) == [
        ("heading", 2, "Left"),
        ("table", 0, "| 1 | 2 |"),
        ("heading", 3, "Card"),
        ("paragraph", 0, "text"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        '<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251"),
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет</p>'.encode("cp1251"),
        "<p>Привет</p>".encode("utf-16"),
        "<p>Привет</p>".encode(),
        b"<p>&#1055;&#1088;&#1080;&#1074;&#1077;&#1090;</p>",
    ],
)
def test_encodings(tmp_path: Path, options: ReaderOptions, data: bytes) -> None:
    assert read(tmp_path, options, data).text == "Привет"


def test_inline_elements_do_not_break_words(tmp_path: Path, options: ReaderOptions) -> None:
    extracted = read(tmp_path, options, "<p>H<sub>2</sub>O is <a href=x>wa</a>ter</p><div>a<div>b</div>c</div>")
    assert extracted.text == "H2O is water\n\na\n\nb\n\nc"


def test_deep_nesting_needs_no_deep_stack(tmp_path: Path, options: ReaderOptions) -> None:
    assert read(tmp_path, options, "<div>" * 5_000 + "deep").text == "deep"
    listed = "<ul><li>" * 1_000 + "deep"
    assert read(tmp_path, options, listed).text.endswith("deep")


@pytest.mark.parametrize("name", ["undefined", "rot13", "idna", "hex", "no-such-name"])
def test_a_page_that_declares_no_encoding_of_text_is_guessed(tmp_path: Path, options: ReaderOptions, name: str) -> None:
    page = f'<meta charset="{name}"><p>caf'.encode() + b"\xe9</p>"
    assert read(tmp_path, options, page).text == "café"


@pytest.mark.parametrize("opening", ["<div>", "<b><table><tr><td>", "<ul><li>"])
def test_elements_that_nest_without_end_are_refused_at_once(
    tmp_path: Path, options: ReaderOptions, opening: str
) -> None:
    with pytest.raises(DocumentFailure) as raised:
        read(tmp_path, options, opening * 20_000 + "deep down")
    assert raised.value.code is FailureCode.CORRUPT


def test_thousands_of_elements_without_end_tags_are_no_depth(tmp_path: Path, options: ReaderOptions) -> None:
    assert read(tmp_path, options, "<ul>" + "<li>item<br>" * 20_000).text.count("item") == 20_000
