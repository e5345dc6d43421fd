import math

import pytest

from api.retrieval.known_words import MOST_LEXEMES, AskedWord, asked_words, known_share


def texts(query: str, *languages: str) -> list[str]:
    return [word.text for word in asked_words(query, languages)]


def test_words_are_those_that_are_looked_for() -> None:
    assert texts("Does TensorRT fuse the kernels, automatically?") == ["TensorRT", "fuse", "kernels", "automatically"]
    assert texts("C++ and C#; (ONNX)") == ["C++", "C#", "ONNX"]


def test_a_word_is_asked_once_in_whatever_form() -> None:
    assert texts("kernel Kernel kernels") == ["kernel"]


@pytest.mark.parametrize("question", ["Wer hat den Schlüssel?", "Wem gibt er den Schlüssel?"])
def test_question_words_are_no_words_to_know(question: str) -> None:
    assert texts(question, "de", "en") == ["Schlüssel"]


def test_a_question_of_stop_words_keeps_them() -> None:
    assert texts("who are you") == ["who", "are", "you"]


def test_a_word_has_the_stems_of_all_languages_and_the_forms_of_an_identifier() -> None:
    word, identifier = asked_words("Katzen ERR-4012", {"de", "en"})
    assert set(word.lexemes) == {"katz", "katzen"}
    assert set(identifier.lexemes) == {"err-4012", "err4012"}  # `err` and `4012` stand in others too


def test_a_long_question_is_looked_at_as_far_as_it_is_searched_for() -> None:
    words = asked_words(" ".join(f"word{number:04}x" for number in range(2000)), {"en"})
    assert 0 < len(words) <= MOST_LEXEMES


def test_text_without_spaces_is_one_word() -> None:
    words = asked_words("機械学習の論文", {"ja"})
    assert len(words) == 1
    assert known_share(words, {words[0].lexemes[0]: 1}, 10).share == 1


def test_the_unknown_weigh_by_idf() -> None:
    words = [AskedWord("common", ("common",)), AskedWord("absent", ("absent",))]
    known = known_share(words, {"common": 50}, 100)
    common, absent = math.log(1 + 50.5 / 50.5), math.log(1 + 100.5 / 0.5)
    assert known.share == pytest.approx(common / (common + absent))
    assert known.unknown == ("absent",)


def test_a_word_is_known_by_any_of_its_lexemes() -> None:
    words = [AskedWord("ERR-4012", ("err-4012", "err4012", "err", "4012"))]
    assert known_share(words, {"err": 3}, 10).unknown == ()
    assert known_share(words, {}, 10).share == 0


def test_nothing_asked_is_all_known() -> None:
    assert known_share([], {}, 10).share == 1
    assert known_share([AskedWord("a", ("a",))], {}, 0).share == 0


def test_counts_that_outran_the_number_of_passages_do_no_harm() -> None:
    assert known_share([AskedWord("a", ("a",))], {"a": 12}, 10).share == 1
