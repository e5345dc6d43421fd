"""Several workers read the pages of one scan."""

import threading
from collections.abc import Iterator

import pytest
from celery.exceptions import Ignore
from fastapi.testclient import TestClient

from db.connect import Database
from db.documents import get_document, remove_document
from db.pages import Reading, StoredPage, count_unread, find_reading, load_pages, release_pages, save_page, take_page
from db.pipeline import Claim, ClaimRequest, claim_document
from db.sweep import expire_leases
from pincite.documents import PageText, Stage, TextSource
from pincite.doorbell import OCR_QUEUE
from pincite.settings import Settings
from tests import documents
from tests.fixtures.api import upload
from workers.context import WorkerContext
from workers.ocr_pages import help_read_pages, read_pages
from workers.pipeline import extract_document
from workers.step import Step, run_step

SENTENCES = [f"Page {number} tells of the lighthouse keeper." for number in ("one", "two", "three", "four", "five")]
EXTRACT = Step(Stage.EXTRACT, extract_document)
OCR = Step(Stage.EXTRACT, read_pages, awaits_ocr=True)


@pytest.fixture
def context(api_settings: Settings) -> Iterator[WorkerContext]:
    made = WorkerContext(api_settings.model_copy(update={"ocr_workers": 2, "ocr_languages": "eng"}))
    yield made
    made.database.close()


@pytest.fixture
def scan(client: TestClient, context: WorkerContext) -> tuple[int, int]:
    """Id and version of a scan of five pages that await OCR."""
    content = documents.image_tiff([[sentence] for sentence in SENTENCES])
    document = upload(client, content, "scan.tiff").json()
    with pytest.raises(Ignore):
        run_step(EXTRACT, context, document["id"], document["version"])
    return document["id"], document["version"]


def hold(context: WorkerContext, scan: tuple[int, int]) -> Claim:
    """The lease of the scan's OCR."""
    request = ClaimRequest(*scan, Stage.EXTRACT, True, "holder", 60)
    claim = context.database.run(lambda connection: claim_document(connection, request))
    assert claim is not None
    return claim


def text_of(client: TestClient, document_id: int) -> str:
    return str(client.get(f"/v1/documents/{document_id}/text").json()["text"])


def take(database: Database, claim: Claim | Reading, seconds: float = 60) -> PageText | None:
    return database.run(lambda connection: take_page(connection, claim, seconds))


def test_a_helper_and_the_holder_read_each_page_once(
    client: TestClient, context: WorkerContext, scan: tuple[int, int]
) -> None:
    helped: list[int] = []
    other = WorkerContext(context.settings)

    def help_out() -> None:
        while not helped or (not helped[-1] and len(helped) < 1000):
            helped.append(help_read_pages(other, *scan))

    helper = threading.Thread(target=help_out)
    helper.start()
    run_step(OCR, context, *scan)
    helper.join()
    other.database.close()
    assert text_of(client, scan[0]) == "\n\n".join(SENTENCES)
    assert 0 < max(helped) < len(SENTENCES)


def test_the_holder_rings_for_helpers_and_they_do_nothing_where_nothing_is_left(
    context: WorkerContext, scan: tuple[int, int]
) -> None:
    before = context.doorbell.waiting(OCR_QUEUE)
    run_step(OCR, context, *scan)
    assert context.doorbell.waiting(OCR_QUEUE) == before + 1  # two workers: one helper
    assert help_read_pages(context, *scan) == 0


def test_a_page_is_taken_by_one_worker_until_its_time_is_over(context: WorkerContext, scan: tuple[int, int]) -> None:
    claim = hold(context, scan)
    first, second = take(context.database, claim, seconds=0), take(context.database, claim)
    assert first is not None
    assert second is not None
    assert (first.number, second.number) == (1, 1)  # the first claim was over at once
    third = take(context.database, claim)
    assert third is not None
    assert third.number == 2
    context.database.run(lambda connection: release_pages(connection, claim, 2))
    again = take(context.database, claim)
    assert again is not None
    assert again.number == 2
    assert context.database.run(lambda connection: count_unread(connection, claim)) == len(SENTENCES)


def test_what_two_workers_read_is_kept_once(context: WorkerContext, scan: tuple[int, int]) -> None:
    claim = hold(context, scan)
    for text in ("the first to come", "too late"):
        page = StoredPage(PageText(1, text, TextSource.OCR), ())
        context.database.run(lambda connection, page=page: save_page(connection, claim, page))  # type: ignore[misc]
    pages = context.database.run(lambda connection: load_pages(connection, claim))
    assert pages[0].page.text == "the first to come"


def test_after_a_lost_holder_its_page_is_read_at_once(
    client: TestClient, context: WorkerContext, scan: tuple[int, int]
) -> None:
    lost = hold(context, scan)
    page = take(context.database, lost, seconds=3600)
    assert page is not None
    context.database.run(lambda connection: expire_leases(connection, 3, -1, "lost"))
    run_step(OCR, context, *scan)
    assert text_of(client, scan[0]) == "\n\n".join(SENTENCES)


def test_after_a_lost_helper_its_page_is_read_when_its_time_is_over(
    client: TestClient, context: WorkerContext, scan: tuple[int, int]
) -> None:
    # The helper takes a page while somebody holds the lease, and is never heard of again.
    claim = hold(context, scan)
    assert take(context.database, claim, seconds=4) is not None
    with context.database.transaction() as connection:
        connection.execute("UPDATE documents SET state = 'queued', attempts = 0, lease = NULL WHERE id = %s", scan[:1])
    run_step(OCR, context, *scan)
    assert text_of(client, scan[0]) == "\n\n".join(SENTENCES)


@pytest.mark.parametrize("end", ["removed", "nobody holds the lease"])
def test_pages_that_are_not_wanted_are_left_alone(context: WorkerContext, scan: tuple[int, int], end: str) -> None:
    if end == "removed":
        claim = hold(context, scan)
        reading = context.database.run(lambda connection: find_reading(connection, *scan))
        assert reading is not None
        context.database.run(lambda connection: remove_document(connection, scan[0]))
        assert take(context.database, claim) is None
    assert help_read_pages(context, *scan) == 0


def test_a_full_slice_goes_back_to_the_queue_with_what_was_read(
    client: TestClient, context: WorkerContext, scan: tuple[int, int], api_settings: Settings
) -> None:
    hasty = WorkerContext(context.settings.model_copy(update={"ocr_slice_seconds": 0.01}))
    rounds = 0
    while True:
        rounds += 1
        try:
            run_step(OCR, hasty, *scan)
        except Ignore:
            continue
        break
    hasty.database.close()
    assert 1 < rounds <= len(SENTENCES) + 1
    assert text_of(client, scan[0]) == "\n\n".join(SENTENCES)
    details = context.database.run(lambda connection: get_document(connection, scan[0]))
    assert details is not None
    assert details.ocr_pages == len(SENTENCES)
