"""No text that a page shows is lost, doubled or moved, however its elements are nested."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from workers.extract.html import extract_html
from workers.extract.options import ReaderOptions

_HOLDERS = """
    div p span b a ul ol li menu dl dt dd table caption thead tbody tfoot tr td th colgroup h1 h3 pre blockquote
    figure figcaption details summary dialog form fieldset legend label button select optgroup option textarea
    section article header footer nav main address center font ruby rt svg text tspan math mi custom-part
"""
_HIDERS = "script style template noscript iframe noembed noframes datalist audio video canvas object"
HOLDERS = _HOLDERS.split()
HIDERS = [
    *_HIDERS.split(),
    *(f"{tag} hidden" for tag in ("div", "li", "td", "tr", "tbody", "caption", "ul")),
    'p style="display: none"',
    'span style="visibility:hidden"',
]
HIDDEN = ", ".join([*_HIDERS.split(), "[hidden]", "[style]"])
# A tree is a mark for a text, or an element with trees in it.
TEXTS = st.just("text")
TREES = st.recursive(
    TEXTS,
    lambda inner: st.tuples(st.sampled_from(HOLDERS) | st.sampled_from(HIDERS), st.lists(inner, max_size=4)),
    max_leaves=25,
)


def written(tree: object, count: list[int]) -> str:
    """The tree as HTML; its texts are `v1z`, `v2z`, ..."""
    if not isinstance(tree, tuple):
        count[0] += 1
        return f" v{count[0]}z "
    opening, inner = tree
    parts = "".join(written(one, count) for one in inner)
    return f"<{opening}>{parts}</{opening.split()[0]}>"


def marks(text: str) -> list[str]:
    return re.findall(r"v\d+z", text)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TREES, min_size=1, max_size=5))
def test_every_text_that_shows_is_there_once_and_in_order(
    tmp_path: Path, options: ReaderOptions, trees: list[object]
) -> None:
    count = [0]
    page = "".join(written(tree, count) for tree in trees)
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><title>t</title><body>{page}")
    extracted = extract_html(path, options)
    parsed = LexborHTMLParser(path.read_bytes())
    assert parsed.body is not None
    # The parser moves what stands in no proper place, such as text in a row beside the cells; its order counts.
    hidden = frozenset(marks(" ".join(node.text() for node in parsed.css(HIDDEN))))
    assert marks(extracted.text) == [mark for mark in marks(parsed.body.text()) if mark not in hidden]
    for block in extracted.blocks:
        assert extracted.text[block.start : block.end].strip()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul>loose text<li>item</li><div>divtext</div></ul>", "loose text\n- item\ndivtext"),
        ("<ul><dl><dt>term<dd>meaning</dl></ul>", "term\nmeaning"),
        ("<ul><li>before<ul><li>in</li></ul>after</li><li>next</li></ul>", "- before\n  - in\nafter\n- next"),
        ("<ol><li>one</li><div><li>two</li></div>rest</ol>", "1. one\n2. two\nrest"),
        ("<ul><li><p>one</p>two</li></ul>", "- one two"),
        ("<table><tr><td><p>a</p>b</td><td>c<div>d</div></td></tr></table>", "| a b | c d |"),
        ("<table><tr><td>a</td></tr><caption>below</caption></table>", "| a |\n\nbelow"),
        ("<table><tbody hidden><tr><td>no</td></tr></tbody><tr><td>yes</td></tr></table>", "| yes |"),
        ("<table><caption hidden>no</caption><tr><td>yes</td></tr></table>", "| yes |"),
        ("<table>loose<tr>row<td>cell</td></tr></table>", "looserow\n\n| cell |"),
        ("<select><option>first<option>second</select>", "first\n\nsecond"),
        ("<textarea>typed</textarea><button>press</button>", "typed\n\npress"),
        ("<details><summary>more</summary>inside</details>", "more\n\ninside"),
        ("<figure>art<figcaption>caption</figcaption></figure>", "art\n\ncaption"),
        ("<svg><title>no</title><desc>no</desc><text>label</text></svg>", "label"),
        ("<math><semantics><mi>x</mi><annotation>no</annotation></semantics></math>", "x"),
        ("<p>a</p>body</body>tail</html>end", "a\n\nbodytailend"),
    ],
)
def test_text_in_odd_places(tmp_path: Path, options: ReaderOptions, html: str, text: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(html)
    assert extract_html(path, options).text == text


def test_lists_without_end_do_not_make_a_text_of_indentation(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "page.html"
    path.write_text("<ul><li>x" * 3_000)
    assert len(extract_html(path, options).text) < 200_000


def test_the_title_is_that_of_the_page_and_not_of_a_picture(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "page.html"
    path.write_text("<body><svg><title>icon</title></svg><p>text")
    assert extract_html(path, options).title is None
