"""`pincite calibrate` on an index of the test's own: what is stored, for which stamp, and how it is undone."""

import json

import psycopg
import pytest
from typer.testing import CliRunner

from api.retrieval.gate import SIGNALS
from api.retrieval.search import Searcher, SearchRequest
from db.stamps import active_stamp, set_gate_threshold
from ops.cli import app
from ops.cli.border import ExitCode
from ops.evaluate.exact import PassageVectors
from ops.evaluate.index import Entry, Index, fill
from pincite.documents import Chunk, Extracted
from pincite.embedding import EmbeddingModel
from pincite.settings import Settings
from tests.fixtures.cli import answer
from tests.fixtures.indexed import MODEL
from tests.fixtures.indexed import Indexed as Document
from tests.fixtures.indexed import index as index_document
from workers.extract import assemble

FACTS = [
    ("The ferry to the island sails at seven in the morning.", "When does the ferry sail to the island?"),
    ("The bakery on the square closes on Mondays.", "On which day is the bakery on the square closed?"),
    ("The iron bridge carries loads of up to four tonnes.", "How many tonnes does the iron bridge carry?"),
    ("The village school has thirty-one pupils this year.", "How many pupils does the village school have?"),
    ("The well in the courtyard is nineteen metres deep.", "How deep is the well in the courtyard?"),
    ("The old mill was turned into a library in 1974.", "When was the old mill turned into a library?"),
    ("Apples from the orchard are pressed in October.", "In which month are the apples pressed?"),
    ("The doctor visits every second Thursday.", "On which days does the doctor visit?"),
    ("The church bell weighs nine hundred kilograms.", "How heavy is the church bell?"),
    ("The fire brigade practises on the first Friday.", "When does the fire brigade practise?"),
]
FAR = [
    "How many electrons does a helium atom have?",
    "Who composed the opera about the barber of Seville?",
    "Which striker scored most goals in the league?",
    "How does the knight move on a chessboard?",
    "What is the capital of Mongolia?",
    "Which enzyme unwinds the double helix?",
    "How long does rice for a risotto simmer?",
    "What is the boiling point of ethanol?",
    "Who painted the ceiling of the Sistine Chapel?",
    "Which key signature has three sharps?",
]


@pytest.fixture(scope="module")
def model():
    return EmbeddingModel.load(Settings())


@pytest.fixture
def searcher(database, model):
    """An index over the facts, under the real model's stamp."""
    settings = Settings()
    entries = []
    for number, (sentence, _) in enumerate(FACTS):
        extracted = Extracted("test/1", sentence, media_type="text/plain")
        chunk = Chunk(0, 0, len(sentence), sentence, tokens=model.tokens.count(sentence))
        entries.append(Entry(f"{number}.txt", extracted, assemble(extracted), [chunk], "test/1"))
    index = Index(database, Searcher(database, model, settings), settings)
    fill(index, entries, PassageVectors(model))
    return index.searcher


@pytest.fixture
def files(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    right = [{"id": f"r{n}", "needle": needle, "question": asked} for n, (needle, asked) in enumerate(FACTS)]
    wrong = [{"id": f"w{n}", "kind": "far", "question": asked} for n, asked in enumerate(FAR)]
    return [
        "--questions", write("q.jsonl", right),
        "--unanswerable", write("u.jsonl", wrong),
        "--folder", "evaluation",
    ]  # fmt: skip


def gate_of(searcher):
    return searcher.search(SearchRequest(FACTS[0][1])).gate


def stored(database):
    return database.run(active_stamp).gate_threshold


def test_the_threshold_is_shown_then_stored_and_forgotten(searcher, files, run, database):
    assert gate_of(searcher).rule == "cosine_default"
    tried = answer(run("calibrate", *files, "--dry-run", "--json"))
    assert (tried["stored"], tried["before"], stored(database)) == (False, None, None)
    at = tried["at_threshold"]
    assert at["false_answers"]["count"] <= 1
    assert at["correct"]["count"] >= 9
    assert at["false_answers"]["high"] - at["false_answers"]["low"] > 0.2

    result = run("calibrate", *files)
    assert result.exit_code == ExitCode.DONE, result.output
    assert stored(database) == tried["threshold"]
    assert f"Stored: {tried['threshold']:g}, with the stamp all-MiniLM-L6-v2" in result.stdout
    assert "pincite calibrate --reset" in result.stdout
    assert "percentage points wide" in result.stdout
    gate = gate_of(searcher)
    assert (gate.rule, gate.threshold) == ("cosine_calibrated", tried["threshold"])

    again = answer(run("calibrate", "--reset", "--json"))
    assert (again["threshold"], again["before"]) == (None, tried["threshold"])
    assert gate_of(searcher).rule == "cosine_default"


def test_a_threshold_of_another_stamp_is_never_used(searcher, database, database_url):
    before = database.run(active_stamp)
    assert database.run(lambda connection: set_gate_threshold(connection, before.id, 0.123, SIGNALS["known_words"]))
    assert gate_of(searcher).threshold == 0.123
    with psycopg.connect(database_url) as connection:  # as a change of the model will do it
        connection.execute("UPDATE stamps SET active = false")
    index_document(database, Document([FACTS[0][0]], path="again.txt", folder="other"))
    after = database.run(active_stamp)
    assert (after.model, after.gate_threshold) == ("null", None)
    gate = gate_of(Searcher(database, MODEL, Settings(gate_threshold=0.456)))
    assert (gate.threshold, gate.rule) == (0.456, "cosine_default")
    assert not database.run(lambda connection: set_gate_threshold(connection, before.id, 0.2, SIGNALS["known_words"]))


@pytest.mark.usefixtures("searcher")
def test_a_threshold_of_another_signal_was_not_in_force(files, run, database):
    stamp = database.run(active_stamp)
    assert database.run(lambda connection: set_gate_threshold(connection, stamp.id, 0.123, SIGNALS["cosine"]))
    told = answer(run("calibrate", *files, "--json", PINCITE_GATE_SIGNAL="known_words", PINCITE_GATE_THRESHOLD="0.5"))
    assert (told["before"], told["in_force_before"]) == (None, 0.5)
    again = answer(run("calibrate", *files, "--json", PINCITE_GATE_SIGNAL="known_words"))
    assert (again["before"], again["in_force_before"]) == (told["threshold"], told["threshold"])
    result = run("calibrate", *files, PINCITE_GATE_SIGNAL="cosine", PINCITE_GATE_THRESHOLD="0.5")
    assert "in place of the default (0.5)" in result.stdout


@pytest.mark.usefixtures("searcher")
def test_too_few_questions_are_refused(files, run, database, tmp_path):
    few = tmp_path / "few.jsonl"
    few.write_text("".join((tmp_path / "u.jsonl").read_text("utf-8").splitlines(keepends=True)[:9]))
    arguments = ["--questions", files[1], "--unanswerable", str(few)]
    result = run("calibrate", *arguments)
    assert result.exit_code == ExitCode.USAGE
    assert "There are 10 that the documents answer and 9 that must be refused" in result.stderr
    assert "--force" in result.stderr
    assert run("calibrate", "--questions", files[1]).exit_code == ExitCode.USAGE
    assert run("calibrate").exit_code == ExitCode.USAGE
    assert stored(database) is None
    assert answer(run("calibrate", *arguments, "--force", "--json"))["stored"]


def test_what_cannot_be_calibrated_is_said(files, run):
    result = run("calibrate", *files)
    assert result.exit_code == ExitCode.FAILED
    assert "Nothing has been indexed yet" in result.stderr


@pytest.mark.usefixtures("no_external_services")
def test_a_mistyped_directory_is_not_made_an_installation(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["calibrate", *files, "--data", str(tmp_path / "typo")])
    assert result.exit_code == ExitCode.FAILED
    assert "There is no installation" in result.stderr
    assert not (tmp_path / "typo").exists()


@pytest.mark.usefixtures("searcher")
def test_an_unknown_folder_is_named(files, run):
    result = run("calibrate", *files[:4], "--folder", "nowhere")
    assert result.exit_code == ExitCode.FAILED
    assert "There is no folder 'nowhere'" in result.stderr
