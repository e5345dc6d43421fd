import pytest

from api.retrieval.questions import QueryError, SearchRequest, check_request, clean_query


def test_what_no_document_can_hold_is_taken_out() -> None:
    assert clean_query(" a\0b\ud835 c\udc00 \n") == "ab c"


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\0", "\ud800 "])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(QueryError) as refused:
        clean_query(text)
    assert refused.value.code == "empty_query"


def test_a_question_has_at_most_ten_thousand_characters() -> None:
    assert len(clean_query("a" * 10_000)) == 10_000
    with pytest.raises(QueryError) as refused:
        clean_query("a" * 10_001)
    assert refused.value.code == "query_too_long"


@pytest.mark.parametrize("signs", ["!!!", "-foo", "the who", '""', "to be or not to be", "🙂"])
def test_signs_and_stop_words_are_questions_too(signs: str) -> None:
    assert clean_query(signs) == signs


@pytest.mark.parametrize(
    "request_", [SearchRequest("a", limit=0), SearchRequest("a", limit=101), SearchRequest("a", ())]
)
def test_senseless_limits_and_folders_are_refused(request_: SearchRequest) -> None:
    with pytest.raises(QueryError):
        check_request(request_)
