"""How many of the truly nearest chunks the dense leg finds, and how fast: `python -m ops.benchmarks.dense_recall`.

A private Postgres is filled with passages, as the workers do it. The same queries are then asked under every filter
that the API offers and with several limits, and compared with the exact distances of all vectors: while the index is
fresh, after documents have become new versions, with thousands of equal vectors, and after half and nine tenths of
the documents were removed while their vectors are still in the index.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from api.retrieval.dense import search_dense
from db.connect import Database
from db.documents import remove_document
from db.folders import ensure_folder
from db.migrate import migrate
from db.search import Leg
from db.stamps import StoredStamp, activate_stamp
from ops.benchmarks.dense_passages import CHUNKS_PER_DOCUMENT, DIMENSIONS, FAR, Filling, Passages, generated, of_corpora
from ops.cli.demo import temporary_data
from ops.services.installation import private_services, private_settings
from pincite.documents import Stamp

TARGET = 0.98
LIMITS = (1, 10, 50, 100)
_SLACK = 1e-6  # of a distance computed by Postgres and one computed here
_COPIES = 250  # documents of equal vectors


@dataclass(frozen=True, slots=True)
class Row:
    """One filter with one limit: mean recall of the first 10 and of all, and milliseconds of the leg."""

    state: str
    folders: str
    chunks: int
    limit: int
    recall_10: float
    recall: float
    p50: float
    p95: float


def main() -> None:
    """Print the table, and exit with 1 where recall@10 falls short of the target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--corpus", type=Path, help="docs.jsonl and queries.jsonl instead of generated vectors")
    parser.add_argument("--far", type=Path, nargs="*", default=[], help="corpora about something else")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with temporary_data(keep=False) as data, private_services(private_settings(data)) as settings:
        migrate(settings.database)
        if arguments.corpus:
            passages = of_corpora(arguments.corpus, arguments.far, arguments.queries, settings)
        else:
            passages = generated(arguments.chunks, arguments.queries)
        database = Database(settings.database, max_size=2)
        try:
            rows = list(measure(database, passages))
        finally:
            database.close()
    if arguments.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=1)
    else:
        _show(rows)
    if min(row.recall_10 for row in rows) < TARGET:
        sys.exit(1)


def measure(database: Database, passages: Passages) -> Iterator[Row]:
    """All states, one after the other, in one database."""
    stamp = database.run(
        lambda connection: activate_stamp(connection, Stamp("benchmark", DIMENSIONS, "benchmark", "benchmark"))
    )
    began = time.perf_counter()
    here = _Index(database, stamp, passages)
    count = len(passages.vectors)
    _tell(f"{count} chunks indexed, {(time.perf_counter() - began) * 1000 / count:.1f} ms each")
    yield from here.rows("fresh")
    with _vacuum_held_back(database):
        here.change(0.1)
        yield from here.rows("a tenth superseded")
        here.copy()
        yield from here.rows(f"{_COPIES * CHUNKS_PER_DOCUMENT} equal vectors")
        here.remove(0.5)
        yield from here.rows("half removed")
        here.remove(0.8)
        yield from here.rows("nine tenths removed")


class _Index:
    """The filled database, and what stands in it: each answering chunk's vector and folder."""

    def __init__(self, database: Database, stamp: StoredStamp, passages: Passages) -> None:
        self._database = database
        self._stamp = stamp
        self._queries = passages.queries
        self._filling = Filling(database, stamp)
        self._filling.fill(passages)
        size = passages.per_document
        self._vectors = [passages.vectors[start : start + size] for start in range(0, len(passages.vectors), size)]
        self._folders = list(passages.folders)
        self._there = np.ones(len(self._folders), bool)
        self._random = np.random.default_rng(11)

    def change(self, share: float) -> None:
        """This share of the documents gets a new version, which says what another document of its folder said."""
        for document in self._chosen(share):
            like = self._random.choice(np.flatnonzero(np.array(self._folders) == self._folders[document]))
            noise = self._random.standard_normal(self._vectors[like].shape) * 0.02
            changed = self._vectors[like] + noise
            self._vectors[document] = np.asarray(changed / np.linalg.norm(changed, axis=1, keepdims=True), np.float32)
            self._filling.put(int(document), self._folders[document], self._vectors[document])

    def copy(self) -> None:
        """One passage, near the first query, stands in many documents."""
        near = self._queries[0] + 0.03 * self._random.standard_normal(DIMENSIONS)
        same = np.tile(np.asarray(near / np.linalg.norm(near), np.float32), (CHUNKS_PER_DOCUMENT, 1))
        for _ in range(_COPIES):
            self._folders.append("copies")
            self._vectors.append(same)
            self._filling.document_ids.append(0)
            self._filling.chunk_ids.append(np.empty(0, np.int64))
            self._filling.put(len(self._folders) - 1, "copies", same)
        self._there = np.ones(len(self._folders), bool)

    def remove(self, share: float) -> None:
        """This share of the documents that are left is removed."""
        for document in self._chosen(share):
            document_id = self._filling.document_ids[document]
            self._database.run(partial(remove_document, document_id=document_id))
            self._there[document] = False

    def rows(self, state: str) -> Iterator[Row]:
        """Every filter with every limit."""
        names = sorted({name for name, there in zip(self._folders, self._there, strict=True) if there})
        several = [name for name in names if name not in {"half", "rest", FAR}]
        for label, folders in [("all", None), *((name, [name]) for name in names), ("several", several)]:
            scope = [
                document
                for document in np.flatnonzero(self._there)
                if folders is None or self._folders[document] in folders
            ]
            nearest = _Nearest(
                np.concatenate([self._vectors[document] for document in scope]),
                np.concatenate([self._filling.chunk_ids[document] for document in scope]),
                self._queries,
            )
            ids = None if folders is None else [self._filling.folder_ids[name] for name in folders]
            for limit in LIMITS:
                row = self._row(nearest, Leg(self._stamp.id, self._stamp.dimensions, ids, limit))
                yield Row(state, label, len(nearest.ids), limit, *row)
            _tell(f"{state}, {label}: {row}")

    def _row(self, nearest: "_Nearest", leg: Leg) -> tuple[float, float, float, float]:
        first, every, took = [], [], []
        for number, query in enumerate(self._queries):
            for _ in range(2):  # the first time warms caches and is not counted
                began = time.perf_counter()
                found = self._database.run(partial(search_dense, vector=query, leg=leg))
                milliseconds = (time.perf_counter() - began) * 1000
            took.append(milliseconds)
            ids = [ranked.chunk_id for ranked in found]
            first.append(nearest.recall(number, ids, min(10, leg.limit)))
            every.append(nearest.recall(number, ids, leg.limit))
        p95 = statistics.quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
        return statistics.mean(first), statistics.mean(every), statistics.median(took), p95

    def _chosen(self, share: float) -> NDArray[np.intp]:
        left = np.flatnonzero(self._there)
        return self._random.choice(left, int(len(left) * share), replace=False)


class _Nearest:
    """The exact distances of the queries to the vectors of a scope."""

    def __init__(self, vectors: NDArray[np.float32], ids: NDArray[np.int64], queries: NDArray[np.float32]) -> None:
        self.ids = ids
        self._row = {int(chunk_id): row for row, chunk_id in enumerate(ids)}
        self._distances = 1 - queries @ vectors.T
        most = min(max(LIMITS), len(ids))
        self._sorted = np.sort(np.partition(self._distances, most - 1, axis=1)[:, :most], axis=1)

    def recall(self, query: int, found: Sequence[int], count: int) -> float:
        """Which share of the `count` nearest is among the first of `found`; equal distances count for one another."""
        count = min(count, len(self.ids))
        farthest = self._sorted[query, count - 1] + _SLACK
        near = {one for one in found[:count] if one in self._row and self._distances[query, self._row[one]] <= farthest}
        return len(near) / count


@contextmanager
def _vacuum_held_back(database: Database) -> Iterator[None]:
    """No dead row is vacuumed away: an open transaction might still see it."""
    with database.transaction() as connection:
        ensure_folder(connection, "held back")
        yield


def _show(rows: Sequence[Row]) -> None:
    table = Table("index", "folders", "chunks", "limit", "recall@10", "recall", "p50 ms", "p95 ms")
    for row in rows:
        counts = (f"{row.chunks:,}", str(row.limit), f"{row.recall_10:.4f}", f"{row.recall:.4f}")
        table.add_row(row.state, row.folders, *counts, f"{row.p50:.1f}", f"{row.p95:.1f}")
    Console(width=110).print(table)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
