"""Random faults on real processes, for a few seeds; `python -m tests.faults.chaos --seeds 1-20` runs more."""

import random

import pytest

from tests.faults.chaos import NUMBER_OF_FAULTS, run
from tests.faults.chaos_documents import API, DOCUMENTS, DROP, INGEST, Plan
from tests.faults.chaos_faults import FAULTS, drawn
from tests.faults.chaos_recovery import KILLS, measure
from tests.fixtures.services import reachable_folder

pytestmark = pytest.mark.usefixtures("no_external_services")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(1, 6))
def test_nothing_is_lost_stuck_or_done_twice(seed: int) -> None:
    with reachable_folder() as folder:
        report = run(seed, folder)
    assert report.violations == []
    assert report.faults.total() >= 50
    assert set(report.faults) == {fault.name for fault in FAULTS}
    assert report.documents >= DOCUMENTS


@pytest.mark.timeout(1200)
def test_a_document_moves_again_within_thirty_seconds() -> None:
    """With the default settings, and not those of the runs above."""
    kills = {name: KILLS[name] for name in ("its whole worker",)}
    with reachable_folder() as folder:
        assert max(measure(folder, kills).values()) < 30


def test_a_seed_draws_the_same_again() -> None:
    assert [fault.name for fault in drawn(random.Random("faults 7"), NUMBER_OF_FAULTS)] == [
        fault.name for fault in drawn(random.Random("faults 7"), NUMBER_OF_FAULTS)
    ]
    first, second = Plan(7), Plan(7)
    paths = {name: [(a.what, a.path) for a in first.actions[name]] for name in (DROP, API, INGEST)}
    assert paths == {name: [(a.what, a.path) for a in second.actions[name]] for name in (DROP, API, INGEST)}
