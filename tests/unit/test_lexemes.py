"""Golden tables of the text analysis, and its bounds on hostile text."""

import base64
import random
import string
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snowballstemmer import stemmer

from pincite.lexemes import STEMMERS, index_lexemes, query_lexemes, to_tsvector_literal

GOLDEN = [
    ("ERR-4012", ["err-4012", "err4012", "err", "4012"]),
    ("E4021", ["e4021", "4021"]),
    ("DS-7604NI", ["ds-7604ni", "ds7604ni", "ds", "7604ni", "7604", "ni"]),
    ("v1.2.3", ["v1.2.3", "v123", "1.2.3", "v1"]),
    ("foo.png", ["foo.png", "foopng", "foo", "png"]),
    ("/etc/hosts.conf", ["etc/hosts.conf", "etchostsconf", "hosts.conf", "hostsconf", "etc", "host", "conf"]),
    ("10.0.0.7", ["10.0.0.7", "10"]),
    ("2024-01-31", ["2024-01-31", "20240131", "2024", "01", "31"]),
    ("1,000", ["1,000", "1000", "000"]),
    ("C++ and C#", ["c++", "and", "c#"]),
    ("pre-training", ["pretrain", "pre", "train"]),
    ("snake_case", ["snake_case", "snakecas", "snake", "case"]),
    ("resnet50", ["resnet50", "resnet", "50"]),
    ("U.S.A.", ["u.s.a", "usa"]),
    ("the model's weights", ["the", "model", "weight"]),
    ("don’t", ["don", "t"]),
    ("café Cafés cafe\u0301", ["cafe", "cafe", "cafe"]),
    ("ﬁne ＡＢＣ soft\u00adware", ["fine", "abc", "softwar"]),
    ("日本語のテスト", ["日本", "本語", "日", "本", "語", "の", "テス", "スト"]),
    ("がか", ["がか"]),
    ("go 部署 deployment", ["go", "部署", "部", "署", "deploy"]),
    ("모델을", ["모델", "델을"]),
    ("ไทย", ["ไท", "ทย"]),
    ("हिन्दी हिंदी", ["हिंदी", "हिंदी"]),
    ("מָשִׁיחַ", ["משיח"]),
    ("й ё", ["й", "е"]),
    ("!!! -- ' _", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "lexemes"), GOLDEN, ids=[text[:16] for text, _ in GOLDEN])
def test_index_lexemes(text: str, lexemes: list[str]) -> None:
    assert index_lexemes(text, "en") == lexemes


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("4021", "seen as E-4021 twice"),
        ("E4021", "seen as E-4021 twice"),
        ("E-4021", "seen as E4021 twice"),
        ("DS-7604", "order a DS-7604NI today"),
        ("err4012", "ERR-4012"),
        ("1.2.3", "release 1.2.3 is out"),
        ("foo", "see foo.png"),
        ("hosts.conf", "edit /etc/hosts.conf"),
        ("10.0.0.7", "http://10.0.0.7/admin"),
        ("pretraining", "pre-training helps"),
        ("pre-training", "pretraining helps"),
        ("cafe", "das Café"),
        ("CAFÉ", "a cafe"),
        ("テスト", "日本語のテスト"),
        ("测试", "软件测试报告"),
        ("税", "所得税法"),
        ("部署", "go 部署 deployment"),
        ("resetting passwords", "how to reset a password"),
        ("20240131", "on 2024-01-31"),
        ("10000", "about 10,000 rows"),
    ],
)
def test_a_query_finds_the_passage(query: str, passage: str) -> None:
    assert set(query_lexemes(query, {"en"})) & set(index_lexemes(passage, "en"))


def test_a_minus_is_never_a_negation() -> None:
    assert query_lexemes("error -4021") == ["error", "4021"]
    assert query_lexemes("-foo") == ["foo"]
    assert query_lexemes('"reset" | & ! ( ) <-> :*') == ["reset"]


def test_c_is_not_c_plus_plus() -> None:
    assert not set(query_lexemes("C++")) & set(index_lexemes("the C language and C#", "en"))


@pytest.mark.parametrize("query", ["the who", "to be or not to be", "What is it?"])
def test_a_query_of_stop_words_still_searches(query: str) -> None:
    assert set(query_lexemes(query)) & set(index_lexemes(query, "en"))


def test_stop_words_are_dropped_from_a_question() -> None:
    assert query_lexemes("How do I reset the admin password on a model 7?") == [
        "reset",
        "admin",
        "password",
        "model",
        "7",
    ]


def test_a_query_is_stemmed_in_every_language_and_stopped_in_its_own() -> None:
    assert query_lexemes("Häuser", {"de", "en"}) == ["haus", "hauser"]
    assert query_lexemes("what was the war", {"de", "en"}) == ["war"]
    assert query_lexemes("Was war der Preis", {"de", "en"}) == ["preis", "prei"]
    assert query_lexemes("der Preis", ()) == ["der", "prei"]
    assert query_lexemes("car rental", {"en", "fr"}) == ["car", "rental"]
    assert query_lexemes("was sollte das kosten", {"en", "de"}) == ["kost", "kosten"]


def test_a_stop_word_that_stays_is_found_as_the_index_keeps_it() -> None:
    assert set(query_lexemes("sollte", {"de"})) & set(index_lexemes("Das sollte sein.", "de"))
    assert set(query_lexemes("sollte Preis", {"de", "en"})) & set(index_lexemes("Das sollte sein.", "de"))


def test_german_stems_and_stop_words() -> None:
    assert index_lexemes("Die Häuser in der Straße", "de") == ["die", "haus", "in", "der", "strass"]
    assert query_lexemes("Wo sind die Häuser?", {"de"}) == ["haus"]
    assert query_lexemes("für über", {"de"}) == ["fur", "uber"]


def test_a_language_without_stemmer_is_not_stemmed_and_none_is_english() -> None:
    assert index_lexemes("running", "zz") == ["running"]
    assert index_lexemes("running", None) == ["run"]


@pytest.mark.parametrize("language", sorted(STEMMERS))
def test_every_stemmer_exists(language: str) -> None:
    assert index_lexemes("information", language)


@pytest.mark.parametrize("size", [100, 10_000])
def test_encoded_data_is_skipped(size: int) -> None:
    data = random.Random(7).randbytes(size)
    wrapped = base64.encodebytes(data).decode()
    assert index_lexemes(f"left {base64.b64encode(data).decode()} {data.hex()} right", "en") == ["left", "right"]
    assert len(index_lexemes(wrapped, "en")) <= 40  # a last line under 65 characters may stay


def test_a_long_path_is_not_encoded_data() -> None:
    path = "docs/some-long-path/with-many-words/that-is-not-base64/at-all-really-not/index"
    assert {"docs", "index", "path"} & set(index_lexemes(path, "zz")) == {"docs", "index", "path"}


HOSTILE = {
    "hyphens": "a-" * 100_000,
    "slashes": "a/" * 100_000,
    "dots": "a.b" * 66_000,
    "digits": "1," * 100_000,
    "apostrophes": "a'" * 100_000,
    "marks": "\u0301" * 200_000,
    "vowel signs": "\u0941" * 200_000,
    "han": "漢字" * 100_000,
    "dashes": "-" * 200_000,
    "one word": "x" * 200_000,
    "expanding": "\ufdfa" * 20_000,
    "unique words": " ".join("".join(random.Random(n).choices(string.ascii_lowercase, k=7)) for n in range(25_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_bounded_time(name: str) -> None:
    began = time.monotonic()
    lexemes = index_lexemes(HOSTILE[name], "en")
    literal = to_tsvector_literal(lexemes)
    assert time.monotonic() - began < 10
    assert max(map(len, lexemes), default=0) <= 128
    assert name == "unique words" or len(literal) < 10_000


def test_literal_has_positions_and_weights() -> None:
    assert to_tsvector_literal(["b", "a", "b"], "C") == "'b':1C,3C 'a':2C"
    assert to_tsvector_literal(["a"], first=5) == "'a':5"
    assert to_tsvector_literal([]) == ""
    assert to_tsvector_literal(["it's", "back\\slash", "x y", "\0", "\ud835"]) == "'it''s':1 'back\\\\slash':2 'x y':3"


def test_literal_caps_positions() -> None:
    literal = to_tsvector_literal(["a"] * 300 + [str(n) for n in range(20_000)] + ["z"] * 10)
    assert literal.count(",") == 255
    assert "'z':16383" in literal
    assert "16384" not in literal.replace("'16384'", "")


def test_a_weight_must_be_one_of_four() -> None:
    with pytest.raises(ValueError, match="not 'E'"):
        to_tsvector_literal(["a"], "E")
    with pytest.raises(ValueError, match="not ''"):
        to_tsvector_literal(["a"], "")


@settings(max_examples=300, deadline=None)
@given(st.text(), st.sampled_from(["en", "de", "ru", "ja", None]))
def test_any_text_analyses_alike_for_index_and_query(text: str, language: str | None) -> None:
    indexed = index_lexemes(text, language)
    asked = query_lexemes(text, {language or "en"})
    assert set(asked) <= set(indexed)
    assert bool(asked) == bool(indexed)
    assert all(lexeme and not lexeme.isspace() for lexeme in indexed)
    to_tsvector_literal(indexed).encode()


def test_stemming_is_safe_between_threads() -> None:
    def words(seed: int) -> list[str]:
        chosen = random.Random(seed)
        return ["".join(chosen.choices(string.ascii_lowercase, k=6)) + "ations" for _ in range(2_000)]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda seed: index_lexemes(" ".join(words(seed)), "fr"), range(8)))
    algorithm = stemmer("french")
    assert together == [[algorithm.stemWord(word) for word in words(seed)] for seed in range(8)]
