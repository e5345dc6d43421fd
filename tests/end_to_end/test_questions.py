"""Through HTTP: documents uploaded, questions asked, every quote looked up again. Real model, real corpus."""

import json
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.documents import text_pdf
from tests.fixtures.running import Running, wait_until

CORPUS = Path(__file__).parents[2].parent / "shared" / "data" / "corpus"
SAMPLES = Path(__file__).parents[2] / "samples"
SAMPLE_QUESTIONS = Path(__file__).parents[2] / "ops" / "evaluate" / "sample_questions.jsonl"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def upload(api: httpx.Client, folder: str, files: dict[str, bytes], final: int, seconds: float = 300) -> dict[str, Any]:
    """Upload files and wait until so many are in a final state; gives the folder's counts."""
    for path, content in files.items():
        answer = api.post("/v1/documents", data={"folder": folder, "path": path}, files={"file": (path, content)})
        assert answer.status_code == 202, answer.text

    def counts() -> dict[str, Any]:
        found: dict[str, Any] = api.get(f"/v1/folders/{folder}").json()
        return found

    def states() -> dict[str, int]:
        found = counts()
        return dict(found.get("states", found))

    wait_until(lambda: states()["indexed"] + states()["failed"] == final, seconds, lambda: str(counts()))
    return counts()


def assert_quotes_are_slices(api: httpx.Client, hits: list[dict[str, Any]]) -> None:
    """Each hit's quote is, letter for letter, what the text endpoint gives at its offsets."""
    for hit in hits:
        locator = hit["locator"]
        answer = api.get(
            f"/v1/documents/{hit['document']['id']}/text", params={"start": locator["start"], "end": locator["end"]}
        )
        assert answer.json()["text"] == hit["quote"]


@pytest.fixture(scope="module")
def corpus(running: Running) -> httpx.Client:
    """The API over a folder `corpus` with the thirteen chapters."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not here")
    api = running.ready()
    files = {path.name: path.read_bytes() for path in sorted(CORPUS.glob("[0-9]*.md"))}
    upload(api, "corpus", files, 13)
    return api


def test_the_corpus_is_indexed_whole(corpus: httpx.Client) -> None:
    documents = corpus.get("/v1/documents", params={"folder": "corpus"}).json()["documents"]
    assert [document["state"] for document in documents] == ["indexed"] * 13
    assert all(document["searchable"] and document["chunks"] > 0 for document in documents)


def test_course_questions_find_their_needle(corpus: httpx.Client) -> None:
    found = 0
    for question in rows(CORPUS / "questions.jsonl"):
        query = {"query": question["course_phrasing"], "folders": ["corpus"], "limit": 8}
        answer = corpus.post("/v1/search", json=query).json()
        assert len(answer["hits"]) == 8
        assert_quotes_are_slices(corpus, answer["hits"])
        found += any(
            hit["document"]["name"] == question["doc"] and question["needle"] in hit["quote"] for hit in answer["hits"]
        )
    assert found >= 29


def found_at(corpus: httpx.Client, ranks: tuple[int, ...]) -> dict[int, float]:
    """The share of all questions, in both phrasings, whose needle is among the first so many hits."""
    questions = rows(CORPUS / "questions.jsonl")
    first: list[int] = []
    for question in questions:
        for phrasing in ("course_phrasing", "ticket_phrasing"):
            query = {"query": question[phrasing], "folders": ["corpus"], "limit": max(ranks)}
            hits = corpus.post("/v1/search", json=query).json()["hits"]
            holds = [question["needle"] in hit["quote"] and hit["document"]["name"] == question["doc"] for hit in hits]
            first.append(holds.index(True) + 1 if True in holds else max(ranks) + 1)
    return {rank: sum(place <= rank for place in first) / len(first) for rank in ranks}


def test_the_default_search_finds_what_docs_retrieval_md_says(corpus: httpx.Client) -> None:
    found = found_at(corpus, (1, 4, 8, 20))
    least = {1: 0.50, 4: 0.70, 8: 0.75, 20: 0.85}
    assert all(found[rank] >= share for rank, share in least.items()), found


def test_the_gate_parts_what_can_be_answered_from_what_cannot(corpus: httpx.Client) -> None:
    def opens_at(question: str) -> float:
        gate = corpus.post("/v1/search", json={"query": question, "folders": ["corpus"]}).json()["gate"]
        return 0.0 if gate["identifiers"] else float(gate["distance"])

    unanswerable = rows(CORPUS / "unanswerable.jsonl")
    refused = {row["question"]: opens_at(row["question"]) for row in unanswerable}
    answered = [
        opens_at(row[phrasing])
        for row in rows(CORPUS / "questions.jsonl")
        for phrasing in ("course_phrasing", "ticket_phrasing")
    ]
    # One false answer in ten: a threshold just below the fourth of thirty.
    threshold = sorted(refused.values())[len(refused) // 10] - 1e-9
    assert sum(distance <= threshold for distance in answered) >= 54
    assert all(refused[row["question"]] > threshold for row in unanswerable if row["kind"] == "far")
    # Who has not calibrated must not be far off.
    default = corpus.post("/v1/search", json={"query": "gradient", "folders": ["corpus"]}).json()["gate"]["threshold"]
    assert sum(distance <= default for distance in answered) >= 50
    assert sum(distance <= default for distance in refused.values()) <= 4


def test_far_questions_are_refused(corpus: httpx.Client) -> None:
    far = [row for row in rows(CORPUS / "unanswerable.jsonl") if row["kind"] == "far"]
    assert len(far) == 9
    for row in far:
        answer = corpus.post("/v1/ask", json={"question": row["question"], "folders": ["corpus"]}).json()
        assert answer["refused"], row["question"]
        assert answer["answer"] is None
        assert answer["citations"] == []
        assert answer["reason"]


@pytest.fixture(scope="module")
def samples(running: Running) -> httpx.Client:
    """The API over a folder `samples`."""
    api = running.ready()
    files = {p.relative_to(SAMPLES).as_posix(): p.read_bytes() for p in sorted(SAMPLES.rglob("*")) if p.is_file()}
    upload(api, "samples", files, 18)
    return api


def test_the_samples_fail_where_they_must(samples: httpx.Client) -> None:
    documents = samples.get("/v1/documents", params={"folder": "samples", "state": "failed"}).json()["documents"]
    assert {document["path"]: document["failure"]["code"] for document in documents} == {
        "archive/telemetry-export.pdf": "corrupt",
        "archive/visitor-register-2019.pdf": "encrypted",
        "minutes/minutes-draft.txt": "empty_file",
    }


@pytest.mark.parametrize("question", rows(SAMPLE_QUESTIONS), ids=lambda row: row["id"])
def test_the_samples_answer_or_refuse(samples: httpx.Client, question: dict[str, Any]) -> None:
    body = {"question": question["question"], "folders": ["samples"]}
    answer = samples.post("/v1/ask", json=body).json()
    if question["document"] is None:
        assert answer["refused"]
        assert answer["citations"] == []
        return
    assert not answer["refused"]
    assert_quotes_are_slices(samples, answer["citations"])
    # Where lines were broken by a page or by OCR is not what is asked here.
    quotes = [" ".join(citation["quote"].split()) for citation in answer["citations"]]
    cited = [citation["document"]["path"] for citation in answer["citations"]]
    assert question["document"] in cited
    assert any(question["needle"] in quote for quote in quotes)


def test_a_pdf_is_cited_by_page_and_its_file_opens(running: Running) -> None:
    api = running.ready()
    pages = ["The first page tells of boats.", "The second page says that the ferry sails at seven.", "The end."]
    upload(api, "ferry", {"timetable.pdf": text_pdf(pages)}, 1)
    answer = api.post("/v1/ask", json={"question": "When does the ferry sail?", "folders": ["ferry"]}).json()
    assert not answer["refused"]
    locator = answer["citations"][0]["locator"]
    assert (locator["kind"], locator["page"], locator["fragment"]) == ("page", 2, "#page=2")
    file = api.get(locator["url"].split("#")[0])
    assert file.status_code == 200
    assert file.content.startswith(b"%PDF")


def test_a_removed_document_is_gone_from_answers_at_once(running: Running) -> None:
    api = running.ready()
    upload(api, "gone", {"a.txt": b"The umbrella stand was sold to the theatre."}, 1)
    body = {"query": "Who bought the umbrella stand?", "folders": ["gone"]}
    (hit,) = api.post("/v1/search", json=body).json()["hits"]
    assert api.delete(f"/v1/documents/{hit['document']['id']}").is_success
    assert api.post("/v1/search", json=body).json()["hits"] == []


def test_health_does_not_wait_for_searches(running: Running) -> None:
    api = running.ready()
    began = time.monotonic()
    assert api.get("/healthz").status_code == 200
    assert time.monotonic() - began < 5
