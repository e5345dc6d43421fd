import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.extract.cleaning import clean_rendered, clean_text, pair_surrogates


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("a\x00b", "ab"),
        ("one\r\ntwo\rthree\x0cfour", "one\ntwo\nthree\nfour"),
        ("\ufeffstart", "start"),
        ("tab\tstays", "tab\tstays"),
        ("ﬁle stays", "ﬁle stays"),
        ("soft\u00adhyphen stays", "soft\u00adhyphen stays"),
        ("trailing stays  \n", "trailing stays  \n"),
    ],
)
def test_text_files_keep_what_their_author_meant(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("ﬁle oﬀ aﬃne ﬆ", "file off affine st"),
        ("exam\ufffeple", "example"),
        ("exam\x02ple", "example"),
        ("exam\u00ad\nple", "example"),
        ("exam\u00ad\r\nple", "example"),
        ("Schwarz\ufffeWeiß", "Schwarz-Weiß"),
        ("Lucene\ufffe25", "Lucene-25"),
        ("in\u00advisible", "invisible"),
        ("line  \t\nnext\u00a0\n", "line\nnext\n"),
        ("non\u2011breaking", "non\u2011breaking"),
        ("end\ufffe", "end"),
    ],
)
def test_rendered_text_is_repaired(raw: str, clean: str) -> None:
    assert clean_rendered(raw) == clean


def test_halves_of_a_pair_are_joined_and_lone_ones_dropped() -> None:
    assert pair_surrogates("x\ud835\udc00y") == "x\U0001d400y"
    assert pair_surrogates("x\udbffy") == "xy"
    assert pair_surrogates("\udc00\ud835") == ""


@given(st.text(st.characters(), max_size=200))
def test_clean_text_can_always_be_stored(text: str) -> None:
    for cleaned in (clean_text(text), clean_rendered(text)):
        cleaned.encode("utf-8")
        assert not set(cleaned) & {"\x00", "\r", "\x0c", "\ufffe", "\ufeff"}


@given(st.text(max_size=200))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)
