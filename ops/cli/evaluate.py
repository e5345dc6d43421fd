"""`pincite evaluate`: how well documents are cut, found and refused, measured on questions with known answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.border import CommandFailed, ExitCode
from ops.cli.options import UsageProblem, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

Corpus = Annotated[
    Path | None,
    typer.Argument(metavar="CORPUS", show_default=False, help="The directory of documents. Nothing is added to it."),
]
QuestionsOption = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", show_default=False, help="Questions with their needles, JSON lines."),
]
UnanswerableOption = Annotated[
    Path | None,
    typer.Option("--unanswerable", metavar="FILE", show_default=False, help="Questions that must be refused."),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="PATTERN", show_default=False, help="Only these files, as '*.md'; may be given several times."
    ),
]
ChunksOption = Annotated[
    str, typer.Option("--chunks", metavar="NAME", help="The chunks to search: default, reference, or A to F.")
]
StrategiesOption = Annotated[
    str,
    typer.Option("--strategies", metavar="NAMES", help="The ways to cut to compare, as A,C,default; all, or none."),
]
CollectionOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--collection",
        metavar="DIR",
        show_default=False,
        help="A test collection: docs.jsonl, queries.jsonl, qrels.tsv; may be given several times.",
    ),
]
ReportOption = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", show_default=False, help="Write the report as JSON; - prints it instead."),
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", show_default=False, help="Write the report as one HTML page.")
]
AgainstOption = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        show_default=False,
        help="Compare with the JSON of an earlier run; exits with 5 if a test shows that it got worse.",
    ),
]

_STANDARD_OUTPUT = "-"
_NEEDED = {"ir_measures": "ir-measures", "scipy": "scipy"}


def evaluate(
    corpus: Corpus = None,
    questions: QuestionsOption = None,
    unanswerable: UnanswerableOption = None,
    only: OnlyOption = None,
    chunks: ChunksOption = "default",
    strategies: StrategiesOption = "all",
    collection: CollectionOption = None,
    json: ReportOption = None,
    html: HtmlOption = None,
    against: AgainstOption = None,
) -> None:
    """Measure chunks, search and refusals on questions with known answers, apart from any running installation."""
    refuse_without_extra()
    from ops.cli.output import print_json, say
    from ops.evaluate.comparison import as_json, compare, load_report
    from ops.evaluate.report_html import page
    from ops.evaluate.report_json import report
    from ops.evaluate.run import Wanted, evaluate
    from ops.evaluate.tables import print_comparison, print_report, verdict

    target = None if json in {None, _STANDARD_OUTPUT} else Path(str(json))
    for path in (target, html):
        _check_target(path)
    baseline = None if against is None else load_report(against)
    wanted = Wanted(
        corpus,
        tuple(only or ()),
        questions,
        unanswerable,
        _strategy(chunks),
        _compared(strategies),
        tuple(collection or ()),
    )
    made = report(evaluate(wanted, load_settings(None), say))
    try:
        comparison = None if baseline is None else compare(baseline, made, str(against))
    except UsageProblem:
        _write(target, html, made, page)  # the work is done, and as good without a comparison
        raise
    if comparison is not None:
        made["against"] = as_json(comparison)
    _write(target, html, made, page)
    if json == _STANDARD_OUTPUT:
        print_json(made)
    else:
        print_report(made)
    if comparison is not None:
        if json == _STANDARD_OUTPUT:
            say(verdict(comparison))
        else:
            print_comparison(comparison)
        if comparison.worse:
            raise typer.Exit(ExitCode.WORSE)


def refuse_without_extra() -> None:
    """See that what only evaluation needs is installed.

    Raises:
        CommandFailed: it is not; the message says how to install it.
    """
    from importlib.util import find_spec

    if missing := [package for module, package in _NEEDED.items() if find_spec(module) is None]:
        raise CommandFailed(
            f"`pincite evaluate` needs {' and '.join(missing)}, which a plain installation leaves out. Run "
            "`pip install 'pincite[evaluate]'` (in a checkout: `pip install -c constraints.txt -e '.[evaluate]'`)."
        )


def _strategy(name: str) -> str:
    from ops.evaluate.strategies import ALIASES, STRATEGIES

    by_name = {known.casefold(): known for known in STRATEGIES} | ALIASES
    if (found := by_name.get(name.strip().casefold())) is None:
        known = ", ".join([*STRATEGIES, *ALIASES])
        raise UsageProblem(f"There are no chunks {name!r}. There are: {known}.")
    return found


def _compared(names: str) -> tuple[str, ...]:
    from ops.evaluate.strategies import STRATEGIES

    match names.strip().casefold():
        case "all":
            return tuple(STRATEGIES)
        case "none":
            return ()
    return tuple(dict.fromkeys(_strategy(name) for name in names.split(",")))


def _check_target(path: Path | None) -> None:
    """See that a file can be written, before an hour of work is spent on it."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise UsageProblem(f"{path} cannot be written: name a file in a directory that is there.")


def _write(
    json: Path | None, html: Path | None, report: dict[str, Any], page: "Callable[[dict[str, Any]], str]"
) -> None:
    from json import dumps

    from ops.cli.output import say

    contents: list[tuple[Path | None, Callable[[], str]]] = [
        (json, lambda: dumps(report, ensure_ascii=False, indent=1) + "\n"),
        (html, lambda: page(report)),
    ]
    for path, content in contents:
        if path is None:
            continue
        try:
            path.write_text(content(), encoding="utf-8")
        except OSError as error:
            raise CommandFailed(f"{path} cannot be written: {error.strerror}.") from error
        say(f"Written: {path}")
