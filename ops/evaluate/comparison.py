"""Two runs against each other, question by question: has it got worse?"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.cli.options import UsageProblem
from ops.evaluate.measures import DEPTHS, found_within, reciprocal
from ops.evaluate.report_json import FORMAT, sign
from ops.evaluate.significance import SignTest, sign_test

Json = Mapping[str, Any]
Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Compared:
    """One paired test. `of`: what was measured, such as `dense`, `gate` or a collection with its mode."""

    of: str
    measure: str
    test: SignTest


@dataclass(frozen=True, slots=True)
class Comparison:
    """All tests of this run against a baseline. `left_out`: questions and queries that only one of the two has."""

    baseline: str
    common: int
    left_out: int
    tests: tuple[Compared, ...]
    changed: tuple[str, ...]

    @property
    def worse(self) -> list[Compared]:
        """The tests that show that it got worse."""
        return [one for one in self.tests if one.test.verdict == "worse"]


def load_report(path: Path) -> Json:
    """A report that an earlier run wrote with --json.

    Raises:
        UsageProblem: the file cannot be read, or is no such report, or is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageProblem(
            f"{path} is no JSON: {error}. Give the file that `pincite evaluate --json` wrote."
        ) from error
    form = found.get("format") if isinstance(found, dict) else None
    if form != FORMAT:
        raise UsageProblem(
            f"{path} is no report of the form {FORMAT}, but {form!r}. Evaluate the baseline anew with --json."
        )
    compare(found, found, str(path))  # what is damaged is said before an hour of work, not behind it
    return found  # type: ignore[no-any-return]


def compare(baseline: Json, current: Json, name: str) -> Comparison:
    """This run against a baseline, over the questions that both have.

    Raises:
        UsageProblem: they have none in common, or the baseline is damaged.
    """
    try:
        found = _compared(baseline, current, name)
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise UsageProblem(f"{name} is damaged: {error!r}. Evaluate the baseline anew with --json.") from error
    if not found.common:
        raise UsageProblem(
            f"{name} has no question or query in common with this run, so nothing can be compared. Evaluate the "
            "baseline with the same questions."
        )
    return found


def _compared(baseline: Json, current: Json, name: str) -> Comparison:
    before, after = _scores(baseline), _scores(current)
    common_names, left_out = _common(_texts(baseline), _texts(current))
    tests = []
    for (of, measure), scores in after.items():
        others = before.get((of, measure), {})
        keys = [key for key in scores if key in others and key in common_names]
        if keys:
            test = sign_test([others[key] for key in keys], [scores[key] for key in keys])
            tests.append(Compared(of, measure, test))
    return Comparison(name, len(common_names), left_out, tuple(tests), tuple(_changed(baseline, current)))


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as the report carries it."""
    return {
        "baseline": comparison.baseline,
        "common": comparison.common,
        "left_out": comparison.left_out,
        "changed": list(comparison.changed),
        "worse": len(comparison.worse),
        "tests": [{"of": one.of, "measure": one.measure} | sign(one.test) for one in comparison.tests],
    }


def _texts(report: Json) -> dict[str, str]:
    """What was asked and looked for, by the key that scores have."""
    found: dict[str, str] = {}
    if (corpus := report["corpus"]) is not None:
        for key, one in corpus["questions"]["answerable"].items():
            found[f"answerable {key}"] = f"{one['text']}\0{one['needle']}"
        for key, one in corpus["questions"]["unanswerable"].items():
            found[f"unanswerable {key}"] = one["text"]
    for name, collection in report["collections"].items():
        for run in collection["modes"].values():
            for scores in run["scores"].values():
                found.update(dict.fromkeys((f"{name} {key}" for key in scores), ""))
    return found


def _common(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[set[str], int]:
    common = {key for key, text in after.items() if before.get(key) == text}
    return common, len(before.keys() | after.keys()) - len(common)


def _scores(report: Json) -> dict[tuple[str, str], Scores]:
    """(what, measure) -> key -> score, higher is better."""
    found: dict[tuple[str, str], Scores] = {}
    if (corpus := report["corpus"]) is not None:
        for mode, run in corpus["modes"].items():
            ranks = {f"answerable {key}": rank for key, rank in run["ranks"].items()}
            for depth in DEPTHS:
                found[mode, f"R@{depth}"] = {key: float(found_within(rank, depth)) for key, rank in ranks.items()}
            found[mode, "MRR"] = {key: reciprocal(rank) for key, rank in ranks.items()}
        gate = corpus["gate"]
        found["gate", "answered rightly"] = _flags("answerable", gate["answerable"], "correct", wanted=True)
        found["gate", "refused rightly"] = _flags("unanswerable", gate["unanswerable"], "answered", wanted=False)
    for name, collection in report["collections"].items():
        for mode, run in collection["modes"].items():
            for measure, scores in run["scores"].items():
                found[f"{name}, {mode}", measure] = {f"{name} {key}": float(score) for key, score in scores.items()}
    return found


def _flags(group: str, asked: Json, flag: str, *, wanted: bool) -> Scores:
    return {f"{group} {key}": float(bool(one[flag]) is wanted) for key, one in asked.items()}


def _changed(before: Json, after: Json) -> Iterable[str]:
    """What else differs between the two, in words."""
    if before["stamp"] != after["stamp"]:
        yield f"the stamp: {before['stamp']['model']} before, {after['stamp']['model']} now, or its parts"
    known = before.get("settings", {})
    for name, value in after.get("settings", {}).items():
        if name in known and known[name] != value:
            yield f"{name.replace('_', ' ')}: {known[name]} before, {value} now"
    if before["corpus"] is None or after["corpus"] is None:
        return
    for words, name in (("documents", "documents"), ("characters of text", "characters")):
        if before["corpus"][name] != after["corpus"][name]:
            yield f"{words}: {before['corpus'][name]} before, {after['corpus'][name]} now"
    chunks = before["corpus"]["chunks"]["strategy"], after["corpus"]["chunks"]["strategy"]
    if chunks[0] != chunks[1]:
        yield f"the chunks: {chunks[0]} before, {chunks[1]} now"
    thresholds = before["corpus"]["gate"]["threshold"], after["corpus"]["gate"]["threshold"]
    if thresholds[0] != thresholds[1]:
        yield f"the gate's threshold: {thresholds[0]} before, {thresholds[1]} now"
