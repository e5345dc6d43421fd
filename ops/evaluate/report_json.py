"""An evaluation as JSON: every figure with its interval, and every single question, for comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from ops.evaluate.gate_sweep import Cut, Judged, Sweep
from ops.evaluate.judged_sets import CollectionResult
from ops.evaluate.measures import DEPTHS, Paired, Ranks, groups, paired, recall
from ops.evaluate.questions import QuestionSet
from ops.evaluate.retrieval import COMPARED
from ops.evaluate.run import CorpusResult, Evaluation
from ops.evaluate.significance import Estimate, SignTest
from ops.evaluate.strategies import DEFAULT

FORMAT = "pincite-evaluation/1"

Json = dict[str, Any]


def report(evaluation: Evaluation) -> Json:
    """The whole report. Its form is described in docs/evaluation.md; `format` changes when the form does."""
    return {
        "format": FORMAT,
        "pincite": version("pincite"),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(evaluation.seconds, 1),
        "stamp": asdict(evaluation.stamp),
        "settings": dict(evaluation.settings),
        "corpus": None if evaluation.corpus is None else _corpus(evaluation.corpus),
        "collections": {one.name: _collection(one) for one in evaluation.collections},
        "vectors": asdict(evaluation.vectors),
    }


def estimate(value: Estimate | None) -> Json | None:
    """A figure with its interval."""
    return None if value is None else asdict(value)


def sign(test: SignTest) -> Json:
    """A paired test with its verdict."""
    return asdict(test) | {"verdict": test.verdict}


def cut(value: Cut) -> Json:
    """What one threshold does."""
    return {
        "threshold": value.threshold,
        "correct": estimate(value.correct),
        "wrong": estimate(value.wrong),
        "refused": estimate(value.refused),
        "false_answers": estimate(value.false_answers),
        "false_answers_by_kind": {kind: estimate(one) for kind, one in value.false_by_kind.items()},
    }


def _corpus(result: CorpusResult) -> Json:
    members = groups(result.questions.asked)
    return {
        "documents": len(result.corpus.documents),
        "characters": sum(len(document.text.text) for document in result.corpus.documents),
        "failed": [{"path": path, "reason": reason} for path, reason in result.corpus.failed],
        "left_out": list(result.corpus.left_out),
        "chunks": {"strategy": result.chunks, "indexed": result.indexed},
        "questions": _questions(result.questions),
        "chunking": {
            name: {
                "meaning": one.strategy.meaning,
                "chunks": one.chunks,
                "destroyed": list(one.destroyed),
                "tokens": one.tokens,
                "longest_tokens": one.longest_tokens,
                "header_share": one.header_share,
                "truncated": one.truncated,
                "figures": _figures(one.ranks, members),
                "ranks": dict(one.ranks),
                "plain_bm25": {"figures": _figures(one.word_ranks, members), "ranks": dict(one.word_ranks)},
            }
            for name, one in result.chunkings.items()
        },
        "modes": {
            name: {
                "same_as": run.same_as,
                "reranked": run.reranked,
                "took_ms": run.took_ms,
                "figures": _figures(run.ranks, members),
                "ranks": dict(run.ranks),
            }
            for name, run in result.modes.items()
        },
        "tests": _mode_tests(result, members) + _chunking_tests(result, members),
        "gate": _gate(result.sweep),
    }


def _questions(questions: QuestionSet) -> Json:
    return {
        "answerable": {
            one.key: {"phrasing": one.phrasing, "text": one.text, "needle": one.needle} for one in questions.asked
        },
        "unanswerable": {one.id: {"kind": one.kind, "text": one.question} for one in questions.unanswerable},
    }


def _figures(ranks: Ranks, members: Mapping[str, Sequence[str]]) -> Json:
    found = {}
    for group, keys in members.items():
        one = recall([ranks[key] for key in keys])
        found[group] = {f"R@{depth}": estimate(one.at[depth]) for depth in DEPTHS} | {"MRR": estimate(one.mrr)}
    return found


def _mode_tests(result: CorpusResult, members: Mapping[str, Sequence[str]]) -> list[Json]:
    tests = []
    for first, second in COMPARED:
        # A way that was not run of its own would only be compared with itself, or twice.
        if result.modes[first].same_as is None and result.modes[second].same_as is None:
            ranks = result.modes[first].ranks, result.modes[second].ranks
            tests += _tests(("modes", first, second), *ranks, members)
    return tests


def _chunking_tests(result: CorpusResult, members: Mapping[str, Sequence[str]]) -> list[Json]:
    if DEFAULT not in result.chunkings:
        return []
    ranks = result.chunkings[DEFAULT].ranks
    others = [(name, one) for name, one in result.chunkings.items() if name != DEFAULT]
    return [test for name, one in others for test in _tests(("chunking", name, DEFAULT), one.ranks, ranks, members)]


def _tests(
    names: tuple[str, str, str], before: Ranks, after: Ranks, members: Mapping[str, Sequence[str]]
) -> list[Json]:
    of, first, second = names
    found = []
    for group, keys in members.items():
        tests: Paired = paired([before[key] for key in keys], [after[key] for key in keys])
        measured = {f"R@{depth}": test for depth, test in tests.at.items()} | {"MRR": tests.mrr}
        found += [
            {"of": of, "first": first, "second": second, "group": group, "measure": measure} | sign(test)
            for measure, test in measured.items()
        ]
    return found


def _gate(sweep: Sweep) -> Json:
    def asked(one: Judged) -> Json:
        return {
            "kind": one.kind,
            "opens_at": one.opens_at,
            "distance": one.found.gate.distance,
            "answered": one.answered(sweep.threshold),
        }

    return {
        "threshold": sweep.threshold,
        "in_force": cut(sweep.at(sweep.threshold)),
        "cuts": [cut(one) for one in sweep.cuts()],
        "answerable": {one.key: asked(one) | {"correct": one.correct(sweep.threshold)} for one in sweep.answerable},
        "unanswerable": {one.key: asked(one) for one in sweep.unanswerable},
    }


def _collection(result: CollectionResult) -> Json:
    return {
        "documents": result.documents,
        "truncated": result.truncated,
        "blank": result.blank,
        "queries": result.queries,
        "unjudged": result.unjudged,
        "modes": {
            name: {
                "same_as": run.same_as,
                "figures": {measure: estimate(one) for measure, one in run.means.items()},
                "scores": {measure: dict(scores) for measure, scores in run.scores.items()},
            }
            for name, run in result.runs.items()
        },
        "tests": [
            {"first": first, "second": second, "measure": measure} | sign(test)
            for (first, second, measure), test in result.tests.items()
        ],
    }
