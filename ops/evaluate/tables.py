"""A report in the terminal. It reads the JSON of a report, so that both say the same."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ops.cli.output import many, print_table, tell
from ops.evaluate.comparison import Comparison
from ops.evaluate.measures import DEPTHS
from ops.evaluate.report_json import sign

Json = Mapping[str, Any]

TESTS_READ = "+ better, − worse, exact sign test; ▲ ▼ where p < 0.05"
MEASURES = (*(f"R@{depth}" for depth in DEPTHS), "MRR")


def print_report(report: Json) -> None:
    """Everything, one table after the other."""
    if (corpus := report["corpus"]) is not None:
        _print_corpus(corpus)
        _print_chunking(corpus)
        _print_modes(corpus)
        _print_tests(f"Is the second better than the first? {TESTS_READ}", corpus["tests"])
        print_gate(corpus["gate"])
    for name, collection in report["collections"].items():
        _print_collection(name, collection)
    vectors = report["vectors"]
    _title(f"Vectors ({vectors['vectors']} of {report['stamp']['model']})")
    tell(
        f"Norms from {vectors['least_norm']:.7f} to {vectors['greatest_norm']:.7f}; over {vectors['pairs']} pairs "
        f"L2²/2 and 1 - cos differ by {vectors['greatest_difference']:.1e} at most."
    )
    tell(f"Intervals are 95 %: Wilson's for shares, bootstrap for means. It took {report['seconds']:.0f} s.")


def print_comparison(comparison: Comparison) -> None:
    """What the paired tests say, and the verdict."""
    _title(f"Against {comparison.baseline}, {many(comparison.common, 'question')} in common")
    if comparison.left_out:
        tell(f"{comparison.left_out} are in one of the two runs only, and left out.")
    for line in comparison.changed:
        tell(f"Not the same in both runs: {line}")
    rows = [(one.of, one.measure, *counts(sign(one.test))) for one in comparison.tests]
    print_table(("what", "measure", "better", "worse", "same", "p", ""), rows, numbers=("better", "worse", "same", "p"))
    tell(verdict(comparison))


def verdict(comparison: Comparison) -> str:
    """The comparison in one sentence."""
    if worse := comparison.worse:
        return f"It got WORSE: {', '.join(f'{one.of} {one.measure}' for one in worse)}."
    better = [one for one in comparison.tests if one.test.verdict == "better"]
    if better:
        named = ", ".join(f"{one.of} {one.measure}" for one in better)
        return f"It got better: {named}. Nothing got worse by these tests."
    return "No difference is shown: with so many questions, none of these tests tells the two runs apart."


def counts(test: Json) -> tuple[str, ...]:
    """A paired test as the cells of a table."""
    return (str(test["better"]), str(test["worse"]), str(test["same"]), f"{test['p']:.3f}", test["verdict"])


def shown_estimate(value: Json | None) -> str:
    """`0.41 (0.30–0.53)`; a dash where there is nothing to count."""
    return "–" if value is None else f"{value['value']:.3f} ({value['low']:.2f}–{value['high']:.2f})"


def shown_count(value: Json | None) -> str:
    """`26/64 (30–53 %)`; a dash where there is nothing to count."""
    if value is None:
        return "–"
    return f"{value['count']}/{value['of']} ({value['low'] * 100:.0f}–{value['high'] * 100:.0f} %)"


def compact_tests(tests: Iterable[Json]) -> tuple[list[str], list[list[str]]]:
    """Paired tests as a table: one row for each pair and group of questions, one cell for each measure."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for test in tests:
        key = (test["first"], test["second"], test.get("group", ""))
        sign = {"better": " ▲", "worse": " ▼"}.get(test["verdict"], "")
        found.setdefault(key, {})[test["measure"]] = f"+{test['better']} −{test['worse']} p {test['p']:.3f}{sign}"
    measures = list(dict.fromkeys(measure for row in found.values() for measure in row))
    headings = ["first", "second", "questions", *measures]
    return headings, [[*key, *(row.get(measure, "") for measure in measures)] for key, row in found.items()]


def print_gate(gate: Json) -> None:
    """The sweep over the threshold."""
    _title("The gate: the largest distance that answers")
    print_cuts(gate["cuts"], {gate["threshold"]: "in force"})


def print_cuts(cuts: Sequence[Json], marks: Mapping[float, str]) -> None:
    """What each threshold does; some have a word beside them."""
    kinds = list(cuts[0]["false_answers_by_kind"])
    several = kinds if len(kinds) > 1 else []
    names = ("correct", "wrong", "refused", "false_answers")
    rows = [
        (
            f"{cut['threshold']:g}",
            *(shown_count(cut[name]) for name in names),
            *(shown_count(cut["false_answers_by_kind"][kind]) for kind in several),
            marks.get(cut["threshold"], ""),
        )
        for cut in cuts
    ]
    headings = ("cut", "correct", "without the needle", "wrongly refused", "false answers", *several, "")
    print_table(headings, rows, numbers=("cut",))


def _print_corpus(corpus: Json) -> None:
    questions = corpus["questions"]
    tell(
        f"{many(corpus['documents'], 'document')}, {corpus['characters']} characters; "
        f"{many(len(questions['answerable']), 'question')} with an answer, {len(questions['unanswerable'])} without."
    )
    for one in corpus["failed"]:
        tell(f"Not read: {one['path']}: {one['reason']}")
    if corpus["left_out"]:
        tell(f"Left out: {', '.join(corpus['left_out'])}")


def _print_chunking(corpus: Json) -> None:
    if not corpus["chunking"]:
        return
    _title("Chunks, searched exactly by meaning")
    rows = []
    for name, one in corpus["chunking"].items():
        facts = (one["chunks"], len(one["destroyed"]), one["truncated"], one["tokens"], f"{one['header_share']:.1%}")
        rows.append((name, *facts, *_figures(one["figures"]["all"])))
    facts_headings = ("chunks", "destroyed", "truncated", "tokens", "header")
    print_table(("", *facts_headings, *MEASURES), rows, numbers=facts_headings)
    tell()
    tell("The same chunks by plain BM25, neither stems nor stop words:")
    rows = [(name, *_figures(one["plain_bm25"]["figures"]["all"])) for name, one in corpus["chunking"].items()]
    print_table(("", *MEASURES), rows)
    for name, one in corpus["chunking"].items():
        tell(f"{name}: {one['meaning']}{_destroyed(one['destroyed'])}")


def _destroyed(ids: list[str]) -> str:
    return f"; destroyed: {', '.join(ids)}" if ids else ""


def _print_modes(corpus: Json) -> None:
    chunks = corpus["chunks"]
    _title(f"Search over chunks {chunks['strategy']} ({chunks['indexed']} of them)")
    rows = []
    for name, one in corpus["modes"].items():
        same = f"as {one['same_as']}" if one["same_as"] else "reranked" if one["reranked"] else ""
        for group, figures in one["figures"].items():
            rows.append((name, group, *_figures(figures), f"{one['took_ms']:.0f}", same))
    print_table(("mode", "questions", *MEASURES, "ms", ""), rows, numbers=("ms",))


def _print_tests(title: str, tests: Iterable[Json]) -> None:
    headings, rows = compact_tests(tests)
    if rows:
        _title(title)
        print_table(headings, rows)


def _print_collection(name: str, collection: Json) -> None:
    _title(f"{name}: {collection_facts(collection)}")
    runs = collection["modes"]
    measures = list(next(iter(runs.values()))["figures"])
    rows = [
        (
            mode,
            *(shown_estimate(run["figures"][measure]) for measure in measures),
            f"as {run['same_as']}" if run["same_as"] else "",
        )
        for mode, run in runs.items()
    ]
    print_table(("mode", *measures, ""), rows)
    _print_tests(f"{name}: is the second better than the first? {TESTS_READ}", collection["tests"])


def collection_facts(collection: Json) -> str:
    """How large a collection is, and what was left out of it."""
    documents = (
        f"{collection['documents']} documents, of which {collection['truncated']} are longer than the model sees; "
        f"{collection['blank']} without text were left out"
    )
    return f"{documents}; {collection['queries']} queries, {collection['unjudged']} without a judgement left out"


def _figures(figures: Json) -> list[str]:
    return [shown_estimate(figures[measure]) for measure in MEASURES]


def _title(text: str) -> None:
    tell()
    tell(f"== {text}")
