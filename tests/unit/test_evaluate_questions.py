"""Question files: both forms are read, and whatever is wrong is said with its line."""

import json
from pathlib import Path

import pytest

from ops.cli.options import UsageProblem
from ops.evaluate.judged_sets import read_collection
from ops.evaluate.needles import check_needles
from ops.evaluate.questions import holds, kinds, load_questions
from ops.evaluate.reading import ReadDocument
from pincite.documents import Block, BlockKind, CanonicalText, Extracted

PLAIN = {"id": "q1", "needle": "the ferry sails at seven", "document": "a.md", "question": "When does it sail?"}
PHRASED = {"id": "q2", "needle": "the key is red", "doc": "a.md", "formal_phrasing": "Which?", "short_phrasing": "key?"}


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def problem(path: Path, other: Path | None = None) -> str:
    with pytest.raises(UsageProblem) as error:
        load_questions(path, other)
    return str(error.value)


def test_both_forms_are_read(tmp_path):
    found = load_questions(write(tmp_path / "q.jsonl", PLAIN, "", PHRASED))
    assert [(one.key, one.phrasing, one.text) for one in found.asked] == [
        ("q1", "question", "When does it sail?"),
        ("q2/formal", "formal", "Which?"),
        ("q2/short", "short", "key?"),
    ]
    assert [question.document for question in found.answerable] == ["a.md", "a.md"]
    assert found.answerable[1].place == f"{tmp_path / 'q.jsonl'}:3"


def test_questions_to_be_refused_stand_in_either_file(tmp_path):
    refused = {"id": "r1", "question": "Who?", "document": None}
    near = {"id": "r2", "kind": "near", "question": "What?", "absent_terms": ["x"]}
    found = load_questions(write(tmp_path / "q.jsonl", PLAIN, refused), write(tmp_path / "u.jsonl", near))
    assert [(one.id, one.kind) for one in found.unanswerable] == [("r1", "unspecified"), ("r2", "near")]
    assert kinds(found.unanswerable) == ["near", "unspecified"]


def test_every_wrong_line_is_named(tmp_path):
    path = write(
        tmp_path / "q.jsonl",
        PLAIN,
        "{not json",
        "[1]",
        {"id": "x", "question": "no needle?"},
        {"id": "y", "needle": " ", "question": "?"},
        {"id": "z", "needle": "n"},
        {"needle": "n", "question": "?"},
        {"id": 7, "needle": "n", "question": "?"},
        {"id": "long", "needle": "n", "question": "?" * 10_001},
        {"id": "nul", "needle": "n\0", "question": "?"},
        f'{{"id": {"9" * 5000}}}',
        {"id": "all", "needle": "n", "all_phrasing": "?"},
        {"id": "both", "needle": "n", "question": "?", "question_phrasing": "!"},
    )
    said = problem(path)
    for line, words in {
        2: "no JSON",
        3: "no JSON object",
        4: "'needle'",
        5: "'needle'",
        6: "'question'",
        7: "'id'",
    }.items():
        assert f"{path}:{line}: " in said
        assert words in next(one for one in said.splitlines() if one.startswith(f"{path}:{line}:"))
    assert f"{path}:8: 'id' must be a text" in said
    assert f"{path}:9: 'question': The question has 10,001 characters" in said
    assert f"{path}:10: 'needle' has a character that no document can hold" in said
    assert f"{path}:11: this is no JSON: Exceeds the limit" in said
    assert f"{path}:12: 'all_phrasing' needs another name" in said
    assert f"{path}:13: 'question_phrasing' needs another name" in said
    assert f"{path}:1:" not in said


def test_ids_are_there_once_in_both_files(tmp_path):
    first = write(tmp_path / "q.jsonl", PLAIN, PLAIN)
    assert f"{first}:2: the id 'q1' is taken by {first}:1" in problem(first)
    single = write(tmp_path / "s.jsonl", PLAIN)
    other = write(tmp_path / "u.jsonl", {"id": "q1", "question": "?"})
    assert f"{other}:1: the id 'q1' is taken by {single}:1" in problem(single, other)


def test_a_phrasing_must_not_have_the_name_of_another_question(tmp_path):
    other = {"id": "a", "needle": "n", "b_phrasing": "?"}
    path = write(tmp_path / "q.jsonl", other, PLAIN | {"id": "a/b"})
    assert f"{path}:2: the id 'a/b' is taken by {path}:1" in problem(path)


def test_files_that_cannot_be_read_are_said(tmp_path):
    assert "is empty" in problem(write(tmp_path / "empty.jsonl", "", " "))
    assert "cannot be read" in problem(tmp_path / "missing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    assert "is not UTF-8" in problem(tmp_path / "latin.jsonl")


def test_a_line_separator_inside_a_string_is_no_end_of_line(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(PLAIN | {"question": "a\u2028b"}, ensure_ascii=False), encoding="utf-8")
    assert load_questions(path).asked[0].text == "a\u2028b"


def document(path: str, text: str, *headings: tuple[int, int]) -> ReadDocument:
    blocks = tuple(Block(BlockKind.HEADING, start, end, 1) for start, end in headings)
    return ReadDocument(path, Extracted("test/1", text), CanonicalText(text, blocks=blocks))


HEADED = "# The red key\n\nHere the  ferry\n\tsails at seven. Twice, twice."


def needle_problem(tmp_path, needle: str, name: str = "a.md", documents=None) -> str | None:
    questions = load_questions(write(tmp_path / "n.jsonl", PLAIN | {"needle": needle, "document": name}))
    try:
        check_needles(questions.answerable, documents or [document("sub/a.md", HEADED, (0, 13))])
    except UsageProblem as error:
        return str(error)
    return None


def test_a_needle_is_found_wherever_its_lines_are_broken(tmp_path):
    assert needle_problem(tmp_path, "the ferry sails  at seven.") is None
    assert holds("on the\n ferry", "the ferry")


@pytest.mark.parametrize(
    ("needle", "name", "words"),
    [
        ("the ferry sails at eight", "a.md", "is in no document"),
        ("wice", "a.md", "is there 2 times: in sub/a.md"),
        ("The red key", "a.md", "is in a heading of sub/a.md"),
        ("key Here", "a.md", "is in a heading of sub/a.md"),
        ("sails at seven", "b.md", "is in sub/a.md, not in b.md"),
        ("sails at seven", "ub/a.md", "not in ub/a.md"),
    ],
)
def test_needles_that_say_nothing_are_named_with_their_line(tmp_path, needle, name, words):
    said = needle_problem(tmp_path, needle, name)
    assert said is not None
    assert said.startswith(f"{tmp_path / 'n.jsonl'}:1: the needle of 'q1' ")
    assert words in said


def test_a_needle_in_two_documents_is_refused(tmp_path):
    said = needle_problem(tmp_path, "sails", documents=[document("a.md", "it sails"), document("b.md", "she sails")])
    assert "is there 2 times: in a.md, b.md" in said


DOCS = [{"id": "d1", "title": "Boats", "text": "A boat."}, {"id": "d2", "title": "", "text": ""}]
QUERIES = [{"id": "1", "text": "boat?"}, {"id": "2", "text": "car?"}]


def collection(folder: Path, judgements: str) -> Path:
    write(folder / "docs.jsonl", *DOCS)
    write(folder / "queries.jsonl", *QUERIES)
    (folder / "qrels.tsv").write_text(judgements)
    return folder


def test_a_collection_is_read(tmp_path):
    found = read_collection(collection(tmp_path, "query_id\tdoc_id\tscore\n1\td1\t2\n2\td1\t-1\n"))
    assert found.documents == {"d1": "Boats\nA boat.", "d2": ""}
    assert found.relevance == {"1": {"d1": 2}, "2": {"d1": -1}}


@pytest.mark.parametrize(
    ("judgements", "words"),
    [
        ("1\td1\n", ":1: this is not query"),
        ("1\td1\t--5\n", ":1: this is not query"),
        (f"1\td1\t{'9' * 5000}\n", ":1: this is not query"),
        ("q\td\ts\n9\td1\t1\n", ":2: queries.jsonl has no query '9'"),
        ("1\td9\t1\n", ":1: docs.jsonl has no document 'd9'"),
        ("1\td1\t0\n", "judges no document relevant"),
    ],
)
def test_wrong_judgements_are_named(tmp_path, judgements, words):
    with pytest.raises(UsageProblem) as error:
        read_collection(collection(tmp_path, judgements))
    assert words in str(error.value)
