"""Long documents and many small ones at the same time: the small ones do not wait for the long ones."""

from collections.abc import Iterator

import pytest

from db.documents import DocumentDetails, remove_document
from ops.benchmarks.mixed import SCAN_EVERY, scanned_pdf, small, text_pdf
from pincite.documents import State
from tests.fixtures.running import Running, wait_until

FOLDER = "fairness"
LONG = ("scan.pdf", "book.pdf")
SMALL = 2 * SCAN_EVERY
FAR = 500_000  # of small documents; their sentences have numbers that no other test has


@pytest.fixture(scope="module")
def documents(running: Running) -> Iterator[dict[str, DocumentDetails]]:
    """A long scan and a long book came first, then the small ones; all as they are when the last small one is done."""
    files = {"scan.pdf": scanned_pdf(30, FAR), "book.pdf": text_pdf(500, FAR + 10_000)}
    files |= dict(small(FAR + number) for number in range(SMALL))
    running.ingest(FOLDER, files)

    def small_ones_done() -> bool:
        return all(
            found.state not in {State.QUEUED, State.RUNNING, State.RETRYING}
            for path, found in running.documents(FOLDER).items()
            if path not in LONG
        )

    wait_until(small_ones_done, 240, lambda: str({p: d.state for p, d in running.documents(FOLDER).items()}))
    found = running.documents(FOLDER)
    yield found
    for document in found.values():
        running.database.run(lambda connection, each=document.id: remove_document(connection, each))  # type: ignore[misc]


def test_the_small_ones_are_indexed(documents: dict[str, DocumentDetails]) -> None:
    assert {found.state for path, found in documents.items() if path not in LONG} == {State.INDEXED}
    assert sum(path.endswith(".png") for path in documents) == SMALL // SCAN_EVERY


@pytest.mark.parametrize("long", LONG)
def test_the_long_ones_came_first_and_still_work(documents: dict[str, DocumentDetails], long: str) -> None:
    assert documents[long].state in {State.QUEUED, State.RUNNING}
    assert documents[long].started_at is not None
