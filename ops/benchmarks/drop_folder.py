"""What a large drop folder costs its watcher: `python -m ops.benchmarks.drop_folder [--files 50000]`.

Makes a tree of small files on a private installation without workers, lets a watcher's scans run over it in a process
of their own, and prints seconds and the largest resident memory: for the first scan, which takes everything in, for one
that finds nothing changed, for one after a rename of the whole tree, and for one after every tenth file was edited.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table

from db.folders import list_folders, watch_folder, watched_folders
from db.migrate import migrate
from ops.services.installation import private_services, private_settings
from pincite.settings import Settings
from workers.context import WorkerContext
from workers.reconcile import Reconciler

_PER_DIRECTORY = 100


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pincite-drop-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o711)
        root = Path(directory) / "tree"
        _make(root / "shelf", arguments.files)
        settings = private_settings(Path(directory) / "data", settle_seconds=0, reread_hours=0)
        with private_services(settings) as running:
            migrate(running.database)
            rows = _measure(running, root)
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    table = Table("scan", "documents", "seconds", "scans", "largest RSS (MiB)")
    for row in rows:
        table.add_row(
            str(row["scan"]), str(row["documents"]), f"{row['seconds']:.2f}", str(row["scans"]), f"{row['rss']:.0f}"
        )
    Console().print(table)


def _make(root: Path, files: int) -> None:
    for number in range(files):
        directory = root / f"{number // _PER_DIRECTORY:04}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"note {number:06}.txt").write_text(f"Note {number} is about jar {number * 7}.")


def _measure(settings: Settings, root: Path) -> list[dict[str, str | float]]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    watcher = multiprocessing.get_context("spawn").Process(target=_watch, args=(settings, str(root), theirs))
    watcher.start()
    rows = []
    for name in ("before the first", "first", "nothing changed", "tree renamed", "a tenth edited", "nothing changed"):
        if name == "tree renamed":
            (root / "shelf").rename(root / "cupboard")
        if name == "a tenth edited":
            for file in root.glob("cupboard/*/*[0].txt"):
                file.write_text(f"{file.name} was edited.")
        ours.send(name)
        rows.append({"scan": name, **ours.recv()})
    ours.send(None)
    watcher.join()
    return rows


def _watch(settings: Settings, root: str, orders: Connection) -> None:
    context = WorkerContext(settings)
    context.database.run(lambda connection: watch_folder(connection, "tree", root))
    reconciler = Reconciler(context)
    while (name := orders.recv()) is not None:
        began, scans = time.monotonic(), 0
        (folder,) = context.database.run(watched_folders)
        while name != "before the first":
            scans += 1
            if not reconciler.reconcile(folder):
                break
        seconds = time.monotonic() - began
        (details,) = context.database.run(list_folders)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        orders.send({"documents": details.documents, "seconds": seconds, "scans": scans, "rss": peak})
    context.database.close()


if __name__ == "__main__":
    main()
