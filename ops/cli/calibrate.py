"""`pincite calibrate`: at which distance to refuse, found out with questions about the documents at hand."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.border import CommandFailed
from ops.cli.options import DataOption, FoldersOption, JsonOption, UsageProblem, load_settings

if TYPE_CHECKING:
    from db.connect import Database
    from db.stamps import StoredStamp
    from ops.cli.connection import Connected
    from ops.evaluate.gate_sweep import Cut, Sweep
    from ops.evaluate.questions import QuestionSet

FEWEST = 10  # questions of each kind: below, the interval of a share is wider than half of all there is

QuestionsOption = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", show_default=False, help="Questions that the documents answer."),
]
UnanswerableOption = Annotated[
    Path | None,
    typer.Option("--unanswerable", metavar="FILE", show_default=False, help="Questions that must be refused."),
]
FalseAnswersOption = Annotated[
    float,
    typer.Option("--false-answers", min=0, max=1, metavar="SHARE", help="The most false answers to put up with."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be stored, and store nothing.")]
ForceOption = Annotated[bool, typer.Option("--force", help=f"Calibrate on fewer than {FEWEST} questions of a kind.")]
ResetOption = Annotated[bool, typer.Option("--reset", help="Forget the stored threshold; the default holds again.")]


def calibrate(
    questions: QuestionsOption = None,
    unanswerable: UnanswerableOption = None,
    data: DataOption = None,
    folder: FoldersOption = None,
    false_answers: FalseAnswersOption = 0.1,
    dry_run: DryRunOption = False,
    force: ForceOption = False,
    reset: ResetOption = False,
    json: JsonOption = False,
) -> None:
    """Choose the distance beyond which a question is refused, and store it with the index's stamp."""
    from ops.cli.connection import connected_or_started

    asked = None if reset else _load(questions, unanswerable, force=force)
    settings = load_settings(data)
    if settings.database_url is None and not settings.data.is_dir():
        raise CommandFailed(f"There is no installation in {settings.data}; name the one to calibrate with --data.")
    with connected_or_started(settings) as here:
        stamp = _active(here.database)
        if asked is None:
            _reset(here, stamp, json=json)
            return
        stamp = _on_signal(here, stamp)
        swept = _sweep(here, asked, tuple(folder) if folder else None)
        proposed = swept.proposed(false_answers)
        if proposed is None:
            raise CommandFailed(_no_cut(swept, false_answers))
        if not dry_run:
            _store(here, stamp, proposed)
    if json:
        _print_json(swept, stamp, proposed, stored=not dry_run)
    else:
        _print(swept, stamp, proposed, stored=not dry_run)


def _load(questions: Path | None, unanswerable: Path | None, *, force: bool) -> "QuestionSet":
    from ops.evaluate.questions import load_questions

    if questions is None:
        raise UsageProblem(
            "Name the questions with --questions FILE, and those that must be refused with --unanswerable."
        )
    found = load_questions(questions, unanswerable)
    of_kind = {"that the documents answer": len(found.answerable), "that must be refused": len(found.unanswerable)}
    if not all(of_kind.values()) or (min(of_kind.values()) < FEWEST and not force):
        counted = " and ".join(f"{count} {words}" for words, count in of_kind.items())
        raise UsageProblem(
            f"There are {counted}. With fewer than {FEWEST} of either, a threshold says more about the questions than "
            f"about the documents: write more of them{', or call it with --force' if all(of_kind.values()) else ''}."
        )
    return found


def _active(database: "Database") -> "StoredStamp":
    from db.stamps import active_stamp

    stamp = database.run(active_stamp)
    if stamp is None:
        raise CommandFailed("Nothing has been indexed yet, so there is nothing to calibrate. Add documents first.")
    return stamp


def _on_signal(here: "Connected", stamp: "StoredStamp") -> "StoredStamp":
    """The stamp without a threshold that was calibrated on another signal, for that one was not in force."""
    from dataclasses import replace

    from api.retrieval.gate import SIGNALS

    in_force = stamp.gate_signal == SIGNALS[here.settings.gate_signal]
    return stamp if in_force else replace(stamp, gate_threshold=None)


def _sweep(here: "Connected", asked: "QuestionSet", folders: tuple[str, ...] | None) -> "Sweep":
    from api.retrieval.questions import QueryError, UnknownFolderError
    from api.retrieval.search import Searcher
    from ops.cli.documents import no_such_folder
    from ops.cli.output import many, say
    from ops.evaluate.gate_sweep import sweep
    from pincite.embedding import EmbeddingModel

    searcher = Searcher(here.database, EmbeddingModel.load(here.settings), here.settings)
    say(f"Asking {many(len(asked.asked) + len(asked.unanswerable), 'question')} ...")
    try:
        return sweep(searcher, asked, folders)
    except UnknownFolderError as error:
        raise no_such_folder(error.names) from error
    except QueryError as error:
        raise UsageProblem(str(error)) from error


def _store(here: "Connected", stamp: "StoredStamp", threshold: float | None) -> None:
    from api.retrieval.gate import SIGNALS
    from db.stamps import set_gate_threshold

    signal = SIGNALS[here.settings.gate_signal]
    if not here.database.run(lambda connection: set_gate_threshold(connection, stamp.id, threshold, signal)):
        raise CommandFailed("Another index answers since the questions were asked. Calibrate again.")


def _reset(here: "Connected", stamp: "StoredStamp", *, json: bool) -> None:
    from ops.cli.output import print_json, tell

    _store(here, stamp, None)
    if json:
        print_json({"stamp": _named(stamp), "threshold": None, "stored": True, "before": stamp.gate_threshold})
    elif stamp.gate_threshold is None:
        tell("No threshold was stored; the default (PINCITE_GATE_THRESHOLD) holds as before.")
    else:
        tell(f"The threshold {stamp.gate_threshold:g} is forgotten; the default (PINCITE_GATE_THRESHOLD) holds again.")


def _no_cut(swept: "Sweep", wanted: float) -> str:
    named = (
        ", ".join(one.key for one in swept.unanswerable if one.opens_at == 0) or "questions nearer than any right one"
    )
    return (
        f"No threshold keeps false answers to {wanted:.0%}: {named} would be answered at every one. Look whether the "
        "documents answer them after all, or allow more with --false-answers."
    )


def _named(stamp: "StoredStamp") -> dict[str, Any]:
    return {
        "model": stamp.model,
        "dimensions": stamp.dimensions,
        "fingerprint": stamp.fingerprint,
        "lexemes": stamp.lexemes,
    }


def _print_json(swept: "Sweep", stamp: "StoredStamp", proposed: float, *, stored: bool) -> None:
    from ops.cli.output import print_json
    from ops.evaluate.report_json import cut

    print_json(
        {
            "stamp": _named(stamp),
            "threshold": proposed,
            "stored": stored,
            "before": stamp.gate_threshold,
            "in_force_before": swept.threshold,
            "at_threshold": cut(swept.at(proposed)),
            "cuts": [cut(one) for one in swept.cuts(proposed)],
        }
    )


def _print(swept: "Sweep", stamp: "StoredStamp", proposed: float, *, stored: bool) -> None:
    from ops.cli.output import tell
    from ops.evaluate.report_json import cut
    from ops.evaluate.tables import print_cuts

    print_cuts([cut(one) for one in swept.cuts(proposed)], {swept.threshold: "in force", proposed: "proposed"})
    tell()
    tell(_in_words(swept.at(proposed), proposed))
    if not stored:
        tell("Nothing was stored; without --dry-run it would be.")
        return
    before = "the default" if stamp.gate_threshold is None else f"the calibrated {stamp.gate_threshold:g}"
    tell(
        f"Stored: {proposed:g}, with the stamp {stamp.model} ({stamp.fingerprint[:12]}, {stamp.lexemes}), in place of "
        f"{before} ({swept.threshold:g}). It holds from the next question on, in all folders. An index of another "
        "stamp begins with the default. To undo: `pincite calibrate --reset`."
    )


def _in_words(at: "Cut", proposed: float) -> str:
    from ops.evaluate.report_json import estimate
    from ops.evaluate.tables import shown_count

    right, wrong, refused, false = (
        shown_count(estimate(one)) for one in (at.correct, at.wrong, at.refused, at.false_answers)
    )
    assert at.false_answers is not None
    width = (at.false_answers.high - at.false_answers.low) * 100
    return (
        f"At {proposed:g}: {right} are answered rightly, {wrong} without their needle, {refused} wrongly refused; "
        f"{false} of those that must be refused are answered. With {at.false_answers.of} of them, the interval of "
        f"false answers is {width:.0f} percentage points wide: more questions make it narrower."
    )
