"""Two runs against each other; the gate at every cut; ways to search that ask for the same."""

import copy
import json
from dataclasses import replace

import pytest

from api.retrieval.gate import Evidence, Threshold, decide
from api.retrieval.hits import DenseReport, Hit, HitDocument, Legs, LexicalReport, RerankReport, Scores, SearchAnswer
from ops.cli.options import UsageProblem
from ops.evaluate.comparison import as_json, compare, load_report
from ops.evaluate.gate_sweep import Judged, Sweep, quotes_at
from ops.evaluate.measures import groups, paired, recall
from ops.evaluate.questions import Asked
from ops.evaluate.report_json import FORMAT
from ops.evaluate.retrieval import MODES, same_mode
from ops.evaluate.tables import verdict


def a_report(ranks: dict[str, int | None], *, refused: int = 3, ndcg: float = 0.5):
    """The parts of a report that comparisons read."""
    return {
        "format": FORMAT,
        "stamp": {"model": "m"},
        "settings": {"fusion": "evidence", "gate_signal": "known_words"},
        "corpus": {
            "documents": 2,
            "characters": 100,
            "chunks": {"strategy": "default"},
            "questions": {
                "answerable": {key: {"text": f"{key}?", "needle": f"needle {key}"} for key in ranks},
                "unanswerable": {f"u{number}": {"text": f"u{number}?"} for number in range(8)},
            },
            "modes": {"dense": {"ranks": ranks}},
            "gate": {
                "threshold": 0.6,
                "answerable": {key: {"correct": rank == 1} for key, rank in ranks.items()},
                "unanswerable": {f"u{number}": {"answered": number >= refused} for number in range(8)},
            },
        },
        "collections": {"set": {"modes": {"dense": {"scores": {"nDCG@10": {f"{n}": ndcg for n in range(7)}}}}}},
    }


GOOD = {f"q{number}": 1 for number in range(8)}
BAD = dict.fromkeys(GOOD, 30)


def test_the_same_run_shows_no_difference():
    found = compare(a_report(GOOD), a_report(GOOD), "before.json")
    assert (found.common, found.left_out, found.worse, found.changed) == (8 + 8 + 7, 0, [], ())
    assert {one.test.p for one in found.tests} == {1.0}
    assert verdict(found).startswith("No difference is shown")


def test_a_worse_run_is_seen_at_every_rank_and_by_the_gate():
    found = compare(a_report(GOOD, refused=8), a_report(BAD, refused=0), "before.json")
    assert {(one.of, one.measure) for one in found.worse} == {
        *(("dense", measure) for measure in ("R@1", "R@4", "R@8", "R@20", "MRR")),
        ("gate", "answered rightly"),
        ("gate", "refused rightly"),
    }
    assert verdict(found).startswith("It got WORSE: dense R@1")
    assert as_json(found)["worse"] == 7


def test_a_better_run_is_said_to_be_better():
    found = compare(a_report(BAD), a_report(GOOD, ndcg=0.6), "before.json")
    assert not found.worse
    assert verdict(found).startswith("It got better: dense R@1")
    assert ("set, dense", "nDCG@10") in {(one.of, one.measure) for one in found.tests if one.test.verdict == "better"}


def test_too_few_differences_are_a_null_result():
    five = {key: None if number < 5 else 1 for number, key in enumerate(GOOD)}
    found = compare(a_report(GOOD), a_report(five), "before.json")
    assert not found.worse
    assert next(one for one in found.tests if one.measure == "R@1").test.worse == 5


def test_only_questions_that_both_have_are_compared():
    later = a_report(GOOD | {"new": 1})
    later["corpus"]["questions"]["answerable"]["q0"]["text"] = "asked otherwise?"
    found = compare(a_report(GOOD), later, "before.json")
    assert found.left_out == 2  # q0 and new
    assert next(one for one in found.tests if one.measure == "R@1").test.same == 7


def test_runs_over_other_questions_are_refused():
    before, after = a_report(GOOD), a_report({f"p{number}": 1 for number in range(3)})
    before["collections"] = {}
    after["corpus"]["questions"]["unanswerable"] = {}
    with pytest.raises(UsageProblem, match="no question or query in common"):
        compare(before, after, "before.json")


def test_what_else_differs_is_said():
    later = copy.deepcopy(a_report(GOOD))
    later["corpus"]["gate"]["threshold"] = 0.5
    later["corpus"]["documents"] = 3
    later["settings"]["fusion"] = "plain"
    found = compare(a_report(GOOD), later, "before.json")
    assert found.changed == (
        "fusion: evidence before, plain now",
        "documents: 2 before, 3 now",
        "the gate's threshold: 0.6 before, 0.5 now",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no JSON"),
        ("9" * 5000, "is no JSON"),
        ("[]", "is no report"),
        ('{"format": "other/2"}', "is no report of the form"),
    ],
)
def test_a_file_that_is_no_report_is_refused(tmp_path, content, words):
    path = tmp_path / "before.json"
    path.write_text(content)
    with pytest.raises(UsageProblem, match=words):
        load_report(path)


def without_stamp(report):
    del report["stamp"]


def with_rank_zero(report):
    report["corpus"]["modes"]["dense"]["ranks"]["q0"] = 0


def with_words_as_scores(report):
    report["collections"]["set"]["modes"]["dense"]["scores"]["nDCG@10"]["0"] = "much"


def without_gate(report):
    report["corpus"]["gate"] = None


@pytest.mark.parametrize("damage", [without_stamp, with_rank_zero, with_words_as_scores, without_gate])
def test_a_damaged_report_is_refused_before_any_work(tmp_path, damage):
    path = tmp_path / "before.json"
    report = copy.deepcopy(a_report(GOOD))
    path.write_text(json.dumps(report))
    assert load_report(path) == report
    damage(report)
    path.write_text(json.dumps(report))
    with pytest.raises(UsageProblem, match="is damaged"):
        load_report(path)


def found(*passages: tuple[str, float], query: str = "a question") -> SearchAnswer:
    """What a search gave: passages with their distances, best first."""
    evidence = [Evidence(number, quote, distance) for number, (quote, distance) in enumerate(passages)]
    hits = tuple(
        Hit(rank, HitDocument(rank, "a", "f", "a"), rank, quote, (), {}, None, Scores(0.0, rank, None, distance, None))
        for rank, (quote, distance) in enumerate(passages, 1)
    )
    gate = decide(query, evidence, Threshold(0.5, calibrated=False))
    legs = Legs(DenseReport(True, len(hits)), LexicalReport(False, (), 0))
    return SearchAnswer(query, hits, gate.opened, gate, legs, RerankReport(False, None), None, 0, {})


def right(distance: float) -> Judged:
    return Judged(f"right {distance}", "question", "needle", found(("the needle", distance)))


def wrong(distance: float, kind: str = "near") -> Judged:
    return Judged(f"wrong {distance}", kind, None, found(("something else", distance)))


SWEEP = Sweep(tuple(map(right, (0.2, 0.3, 0.4, 0.55))), tuple(map(wrong, (0.35, 0.5, 0.6, 0.7))), 0.5)


@pytest.mark.parametrize(("share", "cut"), [(0.0, 0.325), (0.25, 0.45), (0.49, 0.45), (0.5, 0.575), (1.0, 0.7)])
def test_the_widest_cut_lies_half_way_before_the_first_answer_too_many(share, cut):
    proposed = SWEEP.proposed(share)
    assert proposed == pytest.approx(cut, abs=1e-4)
    assert SWEEP.at(proposed).false_answers.value <= share


def test_there_may_be_no_cut():
    assert Sweep((right(0.3),), (wrong(0.1),), 0.5).proposed(0.0) is None
    named = Judged("id", "near", None, found(("reset KR-7604-B", 0.9), query="What is KR-7604-B?"))
    assert named.opens_at == 0
    assert Sweep((right(0.3),), (named,), 0.5).proposed(0.0) is None


def test_a_cut_counts_what_it_does():
    at = SWEEP.at(0.5)
    assert [(one.count, one.of) for one in (at.correct, at.wrong, at.refused, at.false_answers)] == [
        (3, 4),
        (0, 4),
        (1, 4),
        (2, 4),
    ]
    assert 0.5 in [cut.threshold for cut in SWEEP.cuts()]
    assert 0.123 in [cut.threshold for cut in SWEEP.cuts(0.123)]


def test_an_answer_without_its_needle_is_not_correct():
    hidden = found(*((f"passage {number}", 0.3) for number in range(4)), ("the needle", 0.4))
    judged = Judged("q", "question", "the needle", hidden)
    assert judged.answered(0.45)
    assert not judged.correct(0.45)  # four quotes stand before it
    assert quotes_at(hidden, 0.45) == [f"passage {number}" for number in range(4)]
    pushed = found(("far", 0.5), ("the needle", 0.4))
    assert Judged("q", "question", "the needle", pushed).correct(0.4)


def test_nothing_found_is_never_answered():
    empty = Judged("q", "near", None, found())
    assert not empty.answered(2.0)
    assert Sweep((right(0.3),), (empty,), 0.5).proposed(0.0) == pytest.approx(0.3, abs=1e-3)


def test_without_questions_of_a_kind_there_is_no_share():
    assert Sweep((right(0.3),), (), 0.5).at(0.5).false_answers is None


def test_recall_and_reciprocal_rank():
    measured = recall([1, 2, 5, None])
    assert [measured.at[depth].count for depth in (1, 4, 8, 20)] == [1, 2, 3, 3]
    assert measured.mrr.value == pytest.approx((1 + 1 / 2 + 1 / 5) / 4)
    tests = paired([1, 2, 5, None], [1, 1, 9, None])
    assert (tests.at[1].better, tests.at[8].worse, tests.mrr.better, tests.mrr.worse) == (1, 1, 1, 1)


def test_phrasings_are_groups_of_their_own():
    asked = [Asked("a/x", "x", "?", "n"), Asked("a/y", "y", "?", "n")]
    assert groups(asked) == {"all": ["a/x", "a/y"], "x": ["a/x"], "y": ["a/y"]}
    assert groups(asked[:1]) == {"all": ["a/x"]}


class Meant:
    """Resolves requests as a searcher that reranks by default, or does not."""

    def __init__(self, *, rerank: bool) -> None:
        self._rerank = rerank

    def as_meant(self, request):
        return request if request.rerank is not None else replace(request, rerank=self._rerank)


@pytest.mark.parametrize(("rerank", "same"), [(False, "hybrid"), (True, "reranked")])
def test_a_way_to_search_is_run_once(rerank, same):
    searcher = Meant(rerank=rerank)
    assert {name: same_mode(searcher, name) for name in MODES} == dict.fromkeys(MODES) | {"default": same}
