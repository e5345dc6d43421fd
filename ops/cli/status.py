"""`pincite status`: folders with their counts, and what is being worked on."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ops.cli.options import DataOption, FolderOption, JsonOption, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db.folders import FolderDetails
    from db.pace import StageWork, Throughput
    from db.sweep import QueueAge

RECENT_SECONDS = 60.0
PACE_SECONDS = 300.0


def status(data: DataOption = None, folder: FolderOption = None, json: JsonOption = False) -> None:
    """Show folders with their documents by state, how long the unfinished ones wait, and how fast they go through."""
    from api.models.folders import folder_of
    from db.folders import count_failures, list_folders
    from db.health import recent_work
    from db.pace import stage_work, throughput
    from db.sweep import queue_ages
    from ops.cli.connection import connected
    from ops.cli.documents import no_such_folder
    from ops.cli.output import print_json

    with connected(load_settings(data)) as here, here.database.transaction() as connection:
        folders = list_folders(connection, folder)
        failures = count_failures(connection, folder)
        ages = queue_ages(connection)
        recent = recent_work(connection, RECENT_SECONDS)
        pace, stages = throughput(connection, PACE_SECONDS), stage_work(connection, PACE_SECONDS)
    if folder is not None and not folders:
        raise no_such_folder([folder])
    if json:
        listed = [folder_of(item, failures).model_dump(mode="json") for item in folders]
        counts = {"unfinished": [asdict(age) for age in ages], "last_minute": asdict(recent)}
        print_json({"folders": listed, **counts, **_pace_json(pace, stages)})
        return
    print_folders(folders)
    codes: dict[str, dict[str, int]] = {}
    for failure in failures:
        codes.setdefault(failure.folder, {})[failure.code] = failure.documents
    _print_notes(folders, codes)
    _print_unfinished(ages, asdict(recent))
    _print_pace(pace, stages)


def print_folders(folders: "Sequence[FolderDetails]") -> None:
    """A table of folders."""
    from ops.cli.output import print_table, say, size

    if not folders:
        say("There are no folders yet. Add files with `pincite ingest PATH`, or start with `pincite up --drop DIR`.")
        return
    counts = ["documents", "indexed", "failed", "queued", "running", "retrying", "chunks"]
    rows = [
        (item.name, *(getattr(item, name) for name in counts), size(item.bytes), item.path or "") for item in folders
    ]
    print_table(["folder", *counts, "size", "drop folder"], rows, numbers=[*counts, "size"])


def _print_notes(folders: "Sequence[FolderDetails]", codes: dict[str, dict[str, int]]) -> None:
    from ops.cli.output import tell

    if codes:
        tell()
    for name, found in codes.items():
        tell(
            f"Failed in {name}: {', '.join(f'{code} {count}' for code, count in found.items())} (see `pincite failed`)"
        )
    for item in folders:
        if item.watch_note:
            tell(f"Drop folder {item.name}: {item.watch_note}")
        if item.polling_reason:
            tell(f"Drop folder {item.name}: changes are seen by regular scans only, because {item.polling_reason}.")
        if item.ignored:
            reasons = Counter(reason for _, reason in item.ignored_paths)
            kinds = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
            first = "" if item.ignored == len(item.ignored_paths) else f"the first {len(item.ignored_paths)}: "
            tell(f"Passed over in {item.name}: {item.ignored} ({first}{kinds}; `pincite status --json` lists them)")


def _print_unfinished(ages: "Sequence[QueueAge]", recent: dict[str, int]) -> None:
    from ops.cli.output import duration, print_table, tell

    if not ages and not any(recent.values()):
        return
    tell()
    if ages:
        rows = [
            (age.stage, age.state, age.documents, duration(age.oldest_seconds), duration(age.silent_seconds))
            for age in ages
        ]
        headings = ["stage", "state", "documents", "oldest", "longest silence"]
        print_table(headings, rows, numbers=headings[2:])
    indexed, failed, chunks = recent["indexed"], recent["failed"], recent["chunks"]
    tell(f"In the last minute: {indexed} indexed ({chunks} chunks), {failed} failed.")


def _pace_json(pace: "Throughput", stages: "Sequence[StageWork]") -> dict[str, Any]:
    from db.pace import seconds_left

    counted = {"documents": pace.documents, "pages": pace.pages, "chunks": pace.chunks}
    per_minute = {f"{name}_per_minute": round(pace.per_minute(count), 2) for name, count in counted.items()}
    left = seconds_left(stages, pace.seconds)
    return {
        "throughput": {"seconds": pace.seconds, **counted, **per_minute},
        "time_left": {"seconds": None if left is None else round(left, 1), "stages": [asdict(one) for one in stages]},
    }


def _print_pace(pace: "Throughput", stages: "Sequence[StageWork]") -> None:
    from db.pace import seconds_left
    from ops.cli.output import duration, tell

    unfinished = max(stage.documents for stage in stages)
    if pace.documents and pace.seconds is not None:
        numbers = (pace.documents, pace.pages, pace.chunks)
        documents, pages, chunks = (f"{pace.per_minute(number):.1f}" for number in numbers)
        measured = f"Pace over the last {duration(pace.seconds)}"
        tell(f"{measured}: {documents} documents, {pages} pages, {chunks} chunks a minute.")
    if unfinished:
        left = seconds_left(stages, pace.seconds)
        unknown = f"unknown; not every stage has passed a document on within the last {duration(PACE_SECONDS)}"
        tell(f"Time left at this pace: {unknown if left is None else f'about {duration(left)}'}.")
