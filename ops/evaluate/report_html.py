"""A report as one HTML page that loads nothing from elsewhere: tables, and plots drawn as SVG in it."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ops.evaluate.plots import Spread, curves, spreads, strips
from ops.evaluate.tables import (
    MEASURES,
    TESTS_READ,
    collection_facts,
    compact_tests,
    counts,
    shown_count,
    shown_estimate,
)

Json = Mapping[str, Any]


def page(report: Json) -> str:
    """The whole page. Everything that comes from documents or questions is escaped."""
    corpus = report["corpus"]
    body = [f"<h1>Evaluation</h1><p>{_facts(report)}</p>"]
    if "against" in report:
        body += _against(report["against"])
    if corpus is not None:
        body += [*_chunking(corpus), *_modes(corpus), *_gate(corpus["gate"]), *_missed(corpus)]
    for name, collection in report["collections"].items():
        body += _collection(name, collection)
    body += _vectors(report["vectors"])
    style = files("ops.evaluate").joinpath("report.css").read_text(encoding="utf-8")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    safe = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}{safe}<title>Pincite: evaluation</title>'
        f"<style>{style}</style></head>\n<body><main>\n{chr(10).join(body)}\n</main></body></html>\n"
    )


def _facts(report: Json) -> str:
    facts = [f"Pincite {report['pincite']}", f"model {report['stamp']['model']}", report["created_at"]]
    if (corpus := report["corpus"]) is not None:
        questions = corpus["questions"]
        facts.append(f"{corpus['documents']} documents, {corpus['characters']} characters")
        facts.append(
            f"{len(questions['answerable'])} questions with an answer, {len(questions['unanswerable'])} without"
        )
        if corpus["failed"]:
            facts.append(f"{len(corpus['failed'])} files could not be read")
    facts.append("intervals are 95 %: Wilson's for shares, bootstrap for means")
    return escape("; ".join(facts)) + "."


def _against(against: Json) -> list[str]:
    said = "It got worse." if against["worse"] else "No test shows that it got worse."
    rows = [(one["of"], one["measure"], *counts(one)) for one in against["tests"]]
    shared = f"{against['common']} questions and queries in common, {against['left_out']} left out."
    return [
        f"<h2>Against {escape(against['baseline'])}</h2>",
        f"<p>{said} {shared} {escape('; '.join(against['changed']))}</p>",
        _table(("what", "measure", "better", "worse", "same", "p", ""), rows),
    ]


def _chunking(corpus: Json) -> list[str]:
    found = corpus["chunking"]
    if not found:
        return []
    series = {name: _spreads(one["figures"]["all"]) for name, one in found.items()}
    headings = ("", "meaning", "chunks", "destroyed", "truncated", "tokens", "header", *MEASURES)
    rows = [
        (
            *(name, one["meaning"], one["chunks"], len(one["destroyed"]), one["truncated"], one["tokens"]),
            *(f"{one['header_share']:.1%}", *_figures(one["figures"]["all"])),
        )
        for name, one in found.items()
    ]
    words = [(name, *_figures(one["plain_bm25"]["figures"]["all"])) for name, one in found.items()]
    return [
        "<h2>Chunks</h2>",
        "<p>Each way to cut, searched exactly by meaning. Destroyed: answers that no chunk holds whole.</p>",
        spreads("Recall by way to cut", "R@k: found among the first k hits", "share of questions; MRR: mean", series),
        _table(headings, rows),
        f"<h3>Are the chunks of today better?</h3><p>{TESTS_READ}.</p>",
        _table(*compact_tests(test for test in corpus["tests"] if test["of"] == "chunking")),
        "<h3>The same chunks by plain BM25</h3><p>Neither stems nor stop words: the yardstick of search by words.</p>",
        _table(("", *MEASURES), words),
    ]


def _modes(corpus: Json) -> list[str]:
    found = corpus["modes"]
    own = {name: one for name, one in found.items() if one["same_as"] is None}
    series = {name: _spreads(one["figures"]["all"]) for name, one in own.items()}
    rows = [
        (name, group, *_figures(figures), f"{one['took_ms']:.0f}", _same(one))
        for name, one in found.items()
        for group, figures in one["figures"].items()
    ]
    chunks = corpus["chunks"]
    return [
        f"<h2>Search</h2><p>Over chunks {escape(chunks['strategy'])}, {chunks['indexed']} of them.</p>",
        spreads(
            "Recall by way to search", "R@k: found among the first k hits", "share of questions; MRR: mean", series
        ),
        _table(("mode", "questions", *MEASURES, "ms", ""), rows),
        "<h3>Is the second better than the first?</h3>",
        f"<p>{TESTS_READ}.</p>",
        _table(*compact_tests(test for test in corpus["tests"] if test["of"] == "modes")),
    ]


def _same(one: Json) -> str:
    if one["same_as"]:
        return f"as {one['same_as']}"
    return "reranked" if one["reranked"] else ""


def _gate(gate: Json) -> list[str]:
    names = {
        "correct": "correct",
        "wrong": "without the needle",
        "refused": "wrongly refused",
        "false_answers": "false answers",
    }
    lines = {
        word: [(cut["threshold"], cut[name]["value"]) for cut in gate["cuts"] if cut[name] is not None]
        for name, word in names.items()
    }
    kinds = list(gate["in_force"]["false_answers_by_kind"])
    rows = [
        (
            f"{cut['threshold']:g}",
            *(shown_count(cut[name]) for name in names),
            *(shown_count(cut["false_answers_by_kind"][kind]) for kind in kinds),
        )
        for cut in gate["cuts"]
    ]
    distances: dict[str, list[float]] = {}
    for group, word in (("answerable", "answer"), ("unanswerable", "refuse")):
        for one in gate[group].values():
            if one["distance"] is not None:
                distances.setdefault(f"{word}: {one['kind']}", []).append(one["distance"])
    across = "distance that the gate compares, unknown words included"
    return [
        "<h2>Refusing</h2>",
        "<p>What is answered at each threshold, and the distance of each question.</p>",
        curves(
            "The gate at every threshold",
            "threshold",
            {name: points for name, points in lines.items() if points},
            gate["threshold"],
        ),
        strips("Distances", across, distances, gate["threshold"]),
        _table(("cut", *names.values(), *kinds), rows),
    ]


def _missed(corpus: Json) -> list[str]:
    ranks = corpus["modes"]["default"]["ranks"]
    deepest = max(int(measure.removeprefix("R@")) for measure in MEASURES if measure.startswith("R@"))
    asked = corpus["questions"]["answerable"]
    rows = [
        (key, asked[key]["text"], asked[key]["needle"], rank or "not found")
        for key, rank in ranks.items()
        if rank is None or rank > deepest
    ]
    if not rows:
        return []
    return [f"<h2>Not among the first {deepest}</h2>", _table(("question", "asked", "needle", "rank"), rows)]


def _collection(name: str, collection: Json) -> list[str]:
    runs = collection["modes"]
    measures = list(next(iter(runs.values()))["figures"])
    series = {
        mode: {measure: _spread(run["figures"][measure]) for measure in measures}
        for mode, run in runs.items()
        if run["same_as"] is None
    }
    rows = [
        (
            mode,
            *(shown_estimate(run["figures"][measure]) for measure in measures),
            f"as {run['same_as']}" if run["same_as"] else "",
        )
        for mode, run in runs.items()
    ]
    return [
        f"<h2>{escape(name)}</h2><p>{escape(collection_facts(collection))}.</p>",
        spreads(f"{name} by way to search", "measure", "mean over queries", series),
        _table(("mode", *measures, ""), rows),
        _table(*compact_tests(collection["tests"])),
    ]


def _vectors(vectors: Json) -> list[str]:
    norms = f"norms from {vectors['least_norm']:.7f} to {vectors['greatest_norm']:.7f}"
    differ = f"L2²/2 and 1 − cos differ by {vectors['greatest_difference']:.1e} at most"
    return [f"<h2>Vectors</h2><p>{vectors['vectors']} vectors, {norms}; over {vectors['pairs']} pairs {differ}.</p>"]


def _spreads(figures: Json) -> dict[str, Spread]:
    return {measure: _spread(figures[measure]) for measure in MEASURES}


def _spread(value: Json) -> Spread:
    return Spread(value["value"], value["low"], value["high"])


def _figures(figures: Json) -> list[str]:
    return [shown_estimate(figures[measure]) for measure in MEASURES]


def _table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
