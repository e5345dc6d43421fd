"""`pincite evaluate` end to end: real readers, model, Postgres and search, on a corpus that the test writes."""

import json
import re
from email.message import EmailMessage
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ops.cli import app
from ops.cli.border import ExitCode
from ops.evaluate.needles import check_needles
from ops.evaluate.questions import load_questions
from ops.evaluate.reading import read_corpus
from pincite.settings import Settings

ROOT = Path(__file__).parents[2]

FACTS = [
    ("ferry", "The ferry to the island sails at seven in the morning.", "When does the ferry sail?"),
    ("bakery", "The bakery on the square closes on Mondays.", "On which day is the bakery closed?"),
    ("bridge", "The iron bridge carries loads of up to four tonnes.", "How much weight does the bridge carry?"),
    ("school", "The village school has thirty-one pupils this year.", "How many pupils go to the school?"),
    ("well", "The well in the courtyard is nineteen metres deep.", "How deep is the well?"),
    ("mill", "The old mill was turned into a library in 1974.", "When did the mill become a library?"),
    ("orchard", "Apples from the orchard are pressed in the first week of October.", "When are the apples pressed?"),
    ("doctor", "The doctor visits every second Thursday in the town hall.", "When does the doctor come?"),
]
REFUSED = [
    {"id": "near-1", "kind": "near", "question": "Who is the mayor of the village?"},
    {"id": "far-1", "kind": "far", "question": "How many electrons does a helium atom have?"},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A corpus, questions, and a small collection."""
    root = tmp_path_factory.mktemp("evaluate")
    corpus = root / "village"
    corpus.mkdir()
    for name, sentence, _ in FACTS[:4]:
        (corpus / f"{name}.md").write_text(f"# The village\n\n## About the {name}\n\n{sentence}\n")
    text = "\n\n".join(sentence for _, sentence, _ in FACTS[4:])
    (corpus / "rest.txt").write_text(text)
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    write(corpus / "old.jsonl", [{"text": sentence} for _, sentence, _ in FACTS])
    rows = [
        {"id": name, "needle": sentence, "plain_phrasing": question, "loud_phrasing": question.upper()}
        for name, sentence, question in FACTS
    ]
    write(root / "q.jsonl", rows)
    write(root / "u.jsonl", REFUSED)
    collection = root / "tiny"
    collection.mkdir()
    docs = [{"id": name, "title": name, "text": sentence} for name, sentence, _ in FACTS]
    write(
        collection / "docs.jsonl",
        [*docs, {"id": "blank", "title": "", "text": ""}, {"id": "long", "text": "word " * 900}],
    )
    write(collection / "queries.jsonl", [{"id": name, "text": question} for name, _, question in FACTS])
    judged = "".join(f"{name}\t{name}\t1\n" for name, _, _ in FACTS[:7])
    (collection / "qrels.tsv").write_text(f"query_id\tdoc_id\tscore\n{judged}doctor\tdoctor\t0\n")
    return root


def call(place, *arguments):
    files = ["--questions", str(place / "q.jsonl"), "--unanswerable", str(place / "u.jsonl")]
    return CliRunner().invoke(app, ["evaluate", str(place / "village"), *files, *map(str, arguments)])


@pytest.fixture(scope="module")
def first(place):
    """The first run, with everything."""
    result = call(
        place, "--collection", place / "tiny", "--json", place / "first.json", "--html", place / "first.html",
        "--strategies", "A,E,default",
    )  # fmt: skip
    assert result.exit_code == ExitCode.DONE, result.output
    return result


@pytest.fixture(scope="module")
def report(place, first):
    return json.loads((place / "first.json").read_text("utf-8"))


def test_what_is_there_is_found(report):
    corpus = report["corpus"]
    assert corpus["documents"] == 5
    assert [one["path"] for one in corpus["failed"]] == ["broken.pdf"]
    assert corpus["left_out"] == ["old.jsonl"]
    assert len(corpus["questions"]["answerable"]) == 16
    for name in ("dense", "hybrid", "default"):
        assert corpus["modes"][name]["figures"]["all"]["R@8"]["value"] == 1
    assert set(corpus["modes"]["dense"]["figures"]) == {"all", "plain", "loud"}
    assert list(corpus["chunking"]) == ["A", "E", "default"]
    assert corpus["chunking"]["E"]["destroyed"] == []
    assert report["vectors"]["greatest_difference"] < 1e-6


def test_the_gate_is_swept(report):
    gate = report["corpus"]["gate"]
    assert gate["threshold"] in [cut["threshold"] for cut in gate["cuts"]]
    correct = [cut["correct"]["count"] for cut in gate["cuts"]]
    assert correct[0] < correct[-1]
    assert set(gate["in_force"]["false_answers_by_kind"]) == {"near", "far"}
    far = gate["unanswerable"]["far-1"]
    assert not far["answered"]
    assert far["distance"] == far["opens_at"] > gate["threshold"]


def test_a_collection_is_measured(report):
    tiny = report["collections"]["tiny"]
    assert (tiny["documents"], tiny["truncated"], tiny["blank"]) == (9, 1, 1)
    assert (tiny["queries"], tiny["unjudged"]) == (7, 1)
    dense = tiny["modes"]["dense"]
    assert dense["figures"]["R@100"]["value"] == 1
    assert dense["figures"]["nDCG@10"]["value"] > 0.8
    assert set(dense["scores"]["nDCG@10"]) == {name for name, _, _ in FACTS[:7]}


def test_tables_and_page_say_the_same(place, first, report):
    dense = report["corpus"]["modes"]["dense"]["figures"]["all"]["MRR"]
    shown = f"{dense['value']:.3f} ({dense['low']:.2f}–{dense['high']:.2f})"
    html = (place / "first.html").read_text("utf-8")
    assert shown in first.stdout
    assert shown in html
    assert not re.search(r"https?://|<script|src=|@import|url\(", html)


def test_the_same_run_again_is_no_difference(place, first):
    result = call(place, "--strategies", "none", "--against", place / "first.json", "--json", "-")
    assert result.exit_code == ExitCode.DONE, result.output
    against = json.loads(result.stdout)["against"]
    assert against["worse"] == 0
    assert against["left_out"] == 7  # the queries of the collection, which this run had not
    assert {test["p"] for test in against["tests"]} == {1.0}
    assert "No difference is shown" in result.stderr


def test_a_worse_run_ends_with_its_own_exit_code(place, first):
    # Chunks that are searched under what they do not say: nearly every answer was found before.
    swapped = [
        {"id": name, "needle": FACTS[(number + 3) % 8][1], "question": question}
        for number, (name, _, question) in enumerate(FACTS)
    ]
    write(place / "swapped.jsonl", swapped)
    baseline = json.loads((place / "first.json").read_text("utf-8"))
    corpus = baseline["corpus"]
    corpus["questions"]["answerable"] = {
        one["id"]: {"phrasing": "question", "text": one["question"], "needle": one["needle"]} for one in swapped
    }
    for mode in corpus["modes"].values():
        mode["ranks"] = {one["id"]: 1 for one in swapped}
    (place / "perfect.json").write_text(json.dumps(baseline))
    result = CliRunner().invoke(
        app,
        ["evaluate", str(place / "village"), "--questions", str(place / "swapped.jsonl"), "--strategies", "none",
         "--against", str(place / "perfect.json")],
    )  # fmt: skip
    assert result.exit_code == ExitCode.WORSE, result.output
    assert "It got WORSE: dense R@1" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to evaluate"),
        (["village"], "Without --questions"),
        (["nowhere", "--questions", "q.jsonl"], "is no directory"),
        (["village", "--questions", "none.jsonl"], "cannot be read"),
        (["village", "--questions", "q.jsonl", "--chunks", "Z"], "There are no chunks 'Z'"),
        (["village", "--questions", "q.jsonl", "--html", "nowhere/x.html"], "cannot be written"),
        (["village", "--questions", "q.jsonl", "--against", "q.jsonl"], "is no JSON"),
        (["village", "--questions", "bad.jsonl"], "bad.jsonl:2: the needle of 'b' is in no document"),
        (["village", "--questions", "u.jsonl"], "'needle'"),
        (["--collection", "village"], "docs.jsonl cannot be read"),
    ],
)
def test_wrong_calls_end_at_once_and_say_why(place, monkeypatch, arguments, words):
    monkeypatch.chdir(place)
    write(
        place / "bad.jsonl",
        [
            {"id": "a", "needle": FACTS[0][1], "question": "?"},
            {"id": "b", "needle": "there is no such sentence", "question": "?"},
        ],
    )
    result = CliRunner().invoke(app, ["evaluate", *arguments])
    assert result.exit_code == ExitCode.USAGE, result.output
    assert words in result.stderr
    assert "Loading the model" not in result.stderr


def test_without_the_extra_it_says_what_to_install(place, monkeypatch):
    from ops.cli import evaluate

    monkeypatch.setitem(evaluate._NEEDED, "a_module_that_is_not_there", "a-package")
    result = call(place)
    assert result.exit_code == ExitCode.FAILED
    assert "needs a-package" in result.stderr
    assert "pip install 'pincite[evaluate]'" in result.stderr


def test_the_samples_and_their_questions_fit_each_other():
    """Needles once and in running text, read by the real readers and OCR; what must be refused is not in them."""
    samples = ROOT / "samples"
    questions = load_questions(
        ROOT / "ops" / "evaluate" / "sample_questions.jsonl", ROOT / "ops" / "evaluate" / "sample_unanswerable.jsonl"
    )
    corpus = read_corpus(samples, [], [], Settings())
    assert (len(corpus.documents), len(corpus.failed)) == (15, 3)
    check_needles(questions.answerable, corpus.documents)
    assert len(questions.answerable) >= 16
    assert {question.kind for question in questions.unanswerable} == {"near", "far"}
    everything = " ".join(document.text.text for document in corpus.documents).casefold()
    rows = (ROOT / "ops" / "evaluate" / "sample_unanswerable.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 12
    for row in map(json.loads, rows):
        assert row["absent_terms"]
        assert [term for term in row["absent_terms"] if term in everything] == [], row["id"]


def test_attachments_are_documents_of_their_own(tmp_path):
    message = EmailMessage()
    message["Subject"] = "Two lists"
    message.set_content("Both lists are attached.")
    for number in (1, 2):
        pears = f"List {number} has {number} pears."
        message.add_attachment(pears.encode(), "text", "plain", filename="list.txt")
    (tmp_path / "lists.eml").write_bytes(message.as_bytes())
    corpus = read_corpus(tmp_path, [], [], Settings())
    assert [document.path for document in corpus.documents] == [
        "lists.eml",
        "lists.eml/list.txt",
        "lists.eml/list.txt (2)",
    ]
    assert "List 2 has 2 pears." in corpus.documents[2].text.text
