"""What is left of a model's text, whatever it sends and in whatever bits."""

import re
from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.answering.check import Checked, Checker
from api.answering.sources import Source

RENT = "The tenant pays the rent on the third working day of each month. It is 1,250 euros – heating included."
ROOF = "Das Dach wird „im Mai“ gereinigt.\nTenants must not climb it."
SOURCES = [
    Source(1, "lease.pdf", ("Rent",), RENT),
    Source(2, "dach.md", (), ROOF),
    Source(3, "家賃.txt", (), "家賃は毎月三日に支払います。"),
    Source(4, "terms.txt", (), "The deposit is non-refundable and can't be waived."),
]


def checked(text: str, step: int = 7) -> Checked:
    """The outcome, with the text fed in bits; what was given out meanwhile is the outcome's text."""
    checker = Checker(SOURCES)
    given_out = "".join(checker.feed(text[start : start + step]) for start in range(0, len(text), step))
    rest, outcome = checker.finish()
    assert given_out + rest == (outcome.text if outcome.cited else "")
    return outcome


@pytest.mark.parametrize(
    ("text", "shown", "cited", "invalid"),
    [
        ("Rent is due. [1]", "Rent is due. [1]", (1,), ()),
        ("Rent is due [1, 2].", "Rent is due [1][2].", (1, 2), ()),
        ("Rent is due [1][2].", "Rent is due [1][2].", (1, 2), ()),
        ("Rent is due [1] [2].", "Rent is due [1] [2].", (1, 2), ()),
        ("Rent is due [1-3].", "Rent is due [1][2][3].", (1, 2, 3), ()),
        ("Rent is due [3–6].", "Rent is due [3][4].", (3, 4), (5, 6)),
        ("Rent is due [1 and 3].", "Rent is due [1][3].", (1, 3), ()),
        ("Rent is due [^1].", "Rent is due [1].", (1,), ()),
        ("Rent is due [[1]].", "Rent is due [1].", (1,), ()),
        ("Rent is due [Source 1; source 2].", "Rent is due [1][2].", (1, 2), ()),
        ("Die Miete ist fällig [Quelle 1].", "Die Miete ist fällig [1].", (1,), ()),
        ("Rent is due【1】.", "Rent is due[1].", (1,), ()),
        ("Rent is due【1†lease.pdf】.", "Rent is due[1].", (1,), ()),
        ("Rent is due ［１，２］.", "Rent is due [1][2].", (1, 2), ()),
        ("Rent is due [١].", "Rent is due [1].", (1,), ()),
        ("Rent is due [9].", "Rent is due.", (), (9,)),
        ("Rent is due [1, 9] now [0].", "Rent is due [1] now.", (1,), (9, 0)),
        ("Rent is due [9] now [1].", "Rent is due now [1].", (1,), (9,)),
        ("Rent is due [123456789012345].", "Rent is due.", (), (999_999_999,)),
        ("Rent is due [1-4000000000].", "Rent is due [1].", (1,), (999_999_999,)),
        ("Rent is due [[9]1].", "Rent is due [ 1 ].", (), (9,)),
        ("Rent [[9]] is due 【8】 [1].", "Rent is due [1].", (1,), (9, 8)),
        ("Use `a[1]` and [2].", "Use `a[ 1 ]` and [2].", (2,), ()),
        ("See [2]:\n```python\nprint(a[1])\n```", "See [2]:\nprint(a[ 1 ])", (2,), ()),
        ("[1]: the lease", "[1] : the lease", (1,), ()),
        ("Rent [1](see page 2) is due.", "Rent [1] (see page 2) is due.", (1,), ()),
        ("[-1] [1.5] [a] [] stay [1].", "[-1] [1.5] [a] [] stay [1].", (1,), ()),
    ],
)
def test_markers(text: str, shown: str, cited: tuple[int, ...], invalid: tuple[int, ...]) -> None:
    outcome = checked(text)
    assert (outcome.text, outcome.cited, outcome.invalid_citations) == (shown, cited, invalid)


@pytest.mark.parametrize(
    ("text", "shown", "removed"),
    [
        ("See [the lease](https://evil.example/x?q=1) [1].", "See the lease [1].", 1),
        ("See [the lease][ref] [1].\n\n[ref]: https://evil.example", "See the lease [1].\n\n[ref] : (link removed)", 2),
        ("See [1](https://evil.example/x).", "See [1].", 1),
        ("See ![beacon](https://evil.example/p.png) [1].", "See beacon [1].", 1),
        ("[![a](http://evil.example/a)](http://evil.example/b) [1]", "a [1]", 2),
        ("See https://evil.example/a.b?c=[1], it says [1].", "See (link removed)[1], it says [1].", 1),
        ("See HTTP://EVIL.EXAMPLE [1].", "See (link removed) [1].", 1),
        ("See h\u200bttps://evil.example/ [1].", "See (link removed) [1].", 1),
        ("See &#104;ttps&#58;//evil.example [1].", "See (link removed) [1].", 1),
        ("See &amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt; [1].", "See bold [1].", 2),
        ("See <http://evil.example> [1].", "See (link removed) [1].", 1),
        ("見よhttp://evil.example/ [1]", "見よ (link removed) [1]", 1),
        ("See www.evil.example, [1].", "See (link removed), [1].", 1),
        ("See evil.example/steal?what=rent [1].", "See (link removed) [1].", 1),
        ("Run javascript:alert(1) [1].", "Run (link removed)(1) [1].", 1),
        ("JavaScript: The Good Parts [1].", "JavaScript : The Good Parts [1].", 0),
        ("<b>Rent</b>, due<br>now, is <em>high</em> [1].", "Rent, due now, is high [1].", 5),
        ("Show data:text/html;base64,PHNjcmlwdD4= [1].", "Show (link removed) [1].", 1),
        ("The following data: 5 kg [1].", "The following data: 5 kg [1].", 0),
        ("Write to mailto:info@house.example [1].", "Write to info@house.example [1].", 0),
        ("Rent <a href='//evil.example'>here</a> [1].", "Rent here [1].", 2),
        ("See ｈｔｔｐｓ：／／evil.example/x [1].", "See (link removed) [1].", 1),
        ("See https:⁄⁄evil.example/x [1].", "See (link removed) [1].", 1),
        ("See ｗｗｗ．evil．example and www。evil。example [1].", "See (link removed) and (link removed) [1].", 2),
        ("See //evil.example/x or \\\\evil.example\\x [1].", "See (link removed) or (link removed) [1].", 2),
        ("See EVIL.Example/x, пример.рф/путь, 192.0.2.1:80/a [1].", f"See {', '.join(['(link removed)'] * 3)} [1].", 3),
        ("Of 10.0.0.0/8, and/or 3.Mai/4.Juni // so [1].", "Of 10.0.0.0/8, and/or 3.Mai/4.Juni // so [1].", 0),
        ("Use `http://evil.example` [1] or `b` [2].", "Use `(link removed)` [1] or `b` [2].", 1),
        ("h\u3164ttp\ufe0f:\u2028//evil.example/ [1].", "(link removed) [1].", 1),
        ("It is so [9\ufe0f][9\u034f][9\u2800] [1].", "It is so [1].", 0),
        (
            "> [here]: /x\n- [or]: /y\n[an\\]d]: /z\n[so\non]: /z [1]",
            "> [here] : /x\n- [or] : /y\n[an\\]d] : /z\n[so\non] : /z [1]",
            0,
        ),
        ("It says [1]: rent [2]: roof.", "It says [1]: rent [2]: roof.", 0),
        ("a\u2028b\x85c [1]", "a\nb\nc [1]", 0),
        ("Rent <script>alert(1)</script> [1].", "Rent [1].", 1),
        ("Rent <img\nsrc=x onerror=alert(1)> [1].", "Rent < img\nsrc=x onerror=alert(1)> [1].", 0),
        ("If a<b and 3 < 5 and x <3 [1].", "If a< b and 3 < 5 and x <3 [1].", 0),
        ("The http protocol [1].", "The HTTP protocol [1].", 0),
        ("\u202eRent\u202c is\x1b[31m due\ud800 [1].", "Rent is[31m due [1].", 0),
        ("## **Rent** is due [1].", "Rent is due [1].", 0),
        ("می‌خواهم 👨‍👩‍👧 [1].", "می‌خواهم 👨‍👩‍👧 [1].", 0),
    ],
)
def test_links_and_tags(text: str, shown: str, removed: int) -> None:
    outcome = checked(text)
    assert (outcome.text, outcome.removed_links) == (shown, removed)


@pytest.mark.parametrize(
    ("text", "uncited"),
    [
        ("Rent is due. [1] It is high. [1]", []),
        ("Rent is due [1]. It is high.", ["It is high."]),
        ("It is high. Rent is due [1].", ["It is high."]),
        ("Rent is due, e.g. On Monday, cf. Art. 5 and Nr. 3 by Dr. Smith [1].", []),
        ("Am 3. Mai zahlt J. Smith z. B. Miete, d.h. 3.5 % [1].", []),
        ("It is due on 3. No. It is not [1].", ["It is due on 3.", "No."]),
        ("1. Rent is due [1].\n2. It is high.", ["2. It is high."]),
        ("Is it due? Yes! [1]", ["Is it due?"]),
        ("Rent is due.\n[1]", []),
        ("Rent is due.\n\nIt is high.\n[1][2]", ["Rent is due."]),
        ("It says: “The rent is due. It is high.” [1]", []),
        ('It says: "The rent is due. It is high." [1] So there.', ["So there."]),
        ("家賃は三日です。[3] 高いです。安いです[3]。", ["高いです。"]),
        ("Really? he asked [1].", []),
        ("Use `a[1]`. Rent is due [1].", ["Use `a[ 1 ]`."]),
        ("**Rent** is due [9]. High [1].", ["Rent is due."]),
        ('5" pipes leak. Rent is due [1].', ['5" pipes leak.']),
    ],
)
def test_sentences_without_a_citation_are_told(text: str, uncited: list[str]) -> None:
    for step in (1, 5, 1000):
        assert list(checked(text, step).uncited_sentences) == uncited


@pytest.mark.parametrize(
    ("text", "unsupported"),
    [
        ('It says "on the third working day" [1].', []),
        ("It says “on the third\nworking day” [1].", []),
        ('It says "The tenant pays," and so on [1].', []),
        ("It says „im Mai“ [2] and «Tenants must not climb it.» [2]", []),
        ('It says "1,250 euros - heating included" [1].', []),
        ("「毎月三日」とあります[3]。", []),
        ('It is called "lease.pdf" [1].', []),
        ('It says "on the fourth working day" [1].', ["on the fourth working day"]),
        ('It says "1,350 euros" [1].', ["1,350 euros"]),
        ('It says "250 euros" [1].', ["250 euros"]),
        ('It says "Tenants must climb it" [2].', ["Tenants must climb it"]),
        ('It says "Tenants … climb it" [2].', ["Tenants … climb it"]),
        ('It says "ten" [1].', ["ten"]),
        ('It says "refundable" [4] and "can" be had [4].', ["refundable", "can"]),
        ('It says "non-refundable" [4] and "can’t" be had [4].', []),
        ('It says "im Mai" [1].', ["im Mai"]),
        ('It says "im Mai". It is [1].', ["im Mai"]),
        ('It says "the rent [1] is gone" [1].', ["the rent is gone"]),
        ('It says "the rent is gone [1].', ["the rent is gone ."]),
        ("「毎月五日」とあります[3]。", ["毎月五日"]),
        ('It says "see https://evil.example/" [1].', ["see (link removed)"]),
    ],
)
def test_quotations_are_compared_with_what_they_cite(text: str, unsupported: list[str]) -> None:
    assert list(checked(text).unsupported_quotes) == unsupported


@pytest.mark.parametrize(
    "text",
    ["NO_ANSWER", "no_answer.", "**NO_ANSWER**", "<think>Hm [1].</think>\n\nNO_ANSWER", "NO_ANSWER: they say nothing"],
)
def test_a_model_may_say_that_the_sources_do_not_answer(text: str) -> None:
    outcome = checked(text)
    assert (outcome.declined, outcome.text, outcome.cited) == (True, "", ())


def test_no_answer_behind_an_answer_is_left_out_and_words_like_it_are_words() -> None:
    outcome = checked("Rent is due [1].\nNO_ANSWER\nNo answer came from the tenant [1].")
    assert (outcome.text, outcome.declined) == ("Rent is due [1].\nNo answer came from the tenant [1].", True)


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>The lease [1] says.\n</think>\n\nRent is due [1].", "Rent is due [1]."),
        (" <thinking>a</thinking>Rent is due [1].", "Rent is due [1]."),
        ("<think>İİİİ</THINK>Rent is due [1].", "Rent is due [1]."),
        ("<think>It never ends [1]. On and on.", ""),
        ("<b>Rent</b> is due [1].", "Rent is due [1]."),
        ("<5 % [1]", "<5 % [1]"),
        ("<", "<"),
    ],
)
def test_thoughts_are_no_part_of_the_answer(text: str, shown: str, step: int) -> None:
    assert checked(text, step).text == shown


def test_thoughts_whose_beginning_is_hidden_end_where_they_end() -> None:
    checker = Checker(SOURCES)
    given_out = checker.feed("I think of [9]. It says that rent [1].\nDone.</think> Rent is due [2]. And high.")
    rest, outcome = checker.finish()
    assert outcome.text == "Rent is due [2]. And high."
    assert (outcome.cited, outcome.invalid_citations, outcome.uncited_sentences) == ((2,), (), ("And high.",))
    assert (given_out + rest).endswith(outcome.text)


def test_nothing_is_given_out_before_something_was_cited() -> None:
    checker = Checker(SOURCES)
    assert checker.feed("I know this myself. Rent is due on the ninth [9]. And ") == ""
    assert checker.feed("it is high [1]. Now ") == "I know this myself. Rent is due on the ninth. And it is high [1]."
    assert checker.feed("come the") == ""
    assert checker.finish()[0] == " Now come the"


# What models and attackers write, in pieces that meet anywhere.
_BITS = st.sampled_from(
    [
        "http", "ht", "tp", "https://", "://", "evil.example/x", "www.", "javascript:", "data:",
        "[", "]", "(", ")", "](", "[1]", "[9]", "1", "9", "[1](", "【", "】", "［２］", "![", "†", "-", ",", ":", "#",
        "<", ">", "</", "<b>", "<think>", "<script>", "&lt;", "&amp;", "&#91;", "`", "```", '"', "„", "“", "!", "**",
        "a", "Z", ". ", ".", "。", "\n", "\n\n", " ", "e.g.", "3. Mai", "NO_ANSWER", "x" * 700,
        "\u200b", "\ue000", "\ue0001\ue001", "\ud800", "\ufe0f", "\u034f", "\u2028",
        "：／／", "ｗｗｗ．", "//", "]: ", "> ", "\\",
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.text(max_size=200), st.lists(_BITS, max_size=60).map("".join))


@given(_TEXTS, st.integers(1, 50))
def test_no_text_brings_a_link_or_a_marker_without_its_source(text: str, step: int) -> None:
    outcome = checked(text, step)
    assert "http" not in outcome.text
    assert "](" not in outcome.text
    assert "://" not in outcome.text
    assert not re.search(r"<[A-Za-z/!?]", outcome.text)
    assert not re.search(r"(?m)^[^\w\n]*\[?[^\[\]\n]*\]:", outcome.text)  # no definition of a link
    assert {int(number) for number in re.findall(r"\[(\d+)\]", outcome.text)} <= set(outcome.cited) <= {1, 2, 3, 4}
    outcome.text.encode()


@given(_TEXTS, st.lists(st.integers(1, 300), max_size=8))
def test_the_outcome_does_not_depend_on_the_bits(text: str, cuts: list[int]) -> None:
    checker = Checker(SOURCES)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, end in pairwise(places):
        checker.feed(text[start:end])
    assert asdict(checker.finish()[1]) == asdict(checked(text, 1))
