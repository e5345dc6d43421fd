import pytest

from api.retrieval.gate import UNKNOWN_WEIGHT, Evidence, Gate, Threshold, decide, identifiers
from api.retrieval.known_words import Known

CALIBRATED = Threshold(0.6, calibrated=True)
DEFAULT = Threshold(0.6, calibrated=False)


def evidence(*found: tuple[str, float]) -> list[Evidence]:
    """Candidates of one document each."""
    return [Evidence(number, quote, distance) for number, (quote, distance) in enumerate(found, 1)]


def test_nothing_found_is_refused() -> None:
    assert decide("rent", [], CALIBRATED) == Gate(False, 0.6, None, "no_hits")
    assert decide("rent", [], CALIBRATED, Known(0, ("rent",)), 10).opens_at is None


@pytest.mark.parametrize(("distance", "opened"), [(0.59, True), (0.6, True), (0.61, False)])
def test_the_nearest_candidate_decides(distance: float, opened: bool) -> None:
    gate = decide("rent", evidence(("far", 0.9), ("near", distance)), CALIBRATED)
    assert (gate.opened, gate.best_cosine_distance, gate.rule) == (opened, distance, "cosine_calibrated")


def test_a_threshold_that_was_never_calibrated_is_said_to_be_a_default() -> None:
    assert decide("rent", evidence(("near", 0.1)), DEFAULT).rule == "cosine_default"


@pytest.mark.parametrize("quote", ["Error ERR-4012: reset", "(err-4012)", "see ERR-4012."])
def test_a_rare_identifier_opens_the_gate(quote: str) -> None:
    gate = decide("what is ERR-4012?", evidence(("other", 0.8), (quote, 0.9)), CALIBRATED)
    assert (gate.opened, gate.rule, gate.identifiers) == (True, "identifier", ("ERR-4012",))
    assert gate.admits(quote, 0.9)
    assert not gate.admits("other", 0.8)


@pytest.mark.parametrize("quote", ["ERR-40123", "XERR-4012", "ERR-4012-B", "PRE-ERR-4012", "ERR 4012"])
def test_a_part_of_another_identifier_does_not_open_it(quote: str) -> None:
    assert not decide("what is ERR-4012?", evidence((quote, 0.9)), CALIBRATED).opened


@pytest.mark.parametrize(
    ("asked", "quote"),
    [
        ("err2107", "the clock shows ERR-2107"),
        ("ERR-2107", "the clock shows err2107"),
        ("KR7604B", "pump KR-7604-B"),
        ("v1.2.3", "since V1.2.3"),
    ],
)
def test_signs_between_letters_and_digits_may_be_left_out(asked: str, quote: str) -> None:
    assert decide(f"what is {asked}", evidence((quote, 0.9)), CALIBRATED).identifiers == (asked,)


@pytest.mark.parametrize(("asked", "quote"), [("v1.2.3", "v123"), ("4711-0815", "47110815"), ("err2107", "err 2107")])
def test_signs_between_digits_and_spaces_are_meant(asked: str, quote: str) -> None:
    assert decide(f"what is {asked}", evidence((quote, 0.9)), CALIBRATED).identifiers == ()


def test_an_identifier_that_many_documents_hold_does_not_open_it() -> None:
    everywhere = evidence(*[(f"note {number} on COVID-19", 0.9) for number in range(4)])
    assert not decide("who has COVID-19 insurance", everywhere, CALIBRATED).opened


def test_one_document_may_hold_it_often() -> None:
    same = [Evidence(1, f"KR-7604-B, part {number}", 0.9) for number in range(20)]
    assert decide("KR-7604-B", same, CALIBRATED).rule == "identifier"


def test_it_opens_at_the_nearest_distance_or_at_any_for_an_identifier() -> None:
    assert decide("rent", [], CALIBRATED).opens_at is None
    assert decide("rent", evidence(("near", 0.4), ("far", 0.9)), CALIBRATED).opens_at == 0.4
    assert decide("KR-7604-B", evidence(("the KR-7604-B", 0.9)), CALIBRATED).opens_at == 0.0


def test_words_that_no_passage_has_push_the_nearest_away() -> None:
    near, unknown = evidence(("near", 0.4)), Known(0.25, ("TensorRT",))
    alone = decide("rent", near, CALIBRATED)
    gate = decide("rent", near, CALIBRATED, unknown, 1_000_000)
    assert (alone.signal, alone.opened, alone.distance) == ("cosine", True, 0.4)
    assert (gate.signal, gate.opened, gate.unknown_words) == ("known_words", False, ("TensorRT",))
    assert gate.best_cosine_distance == 0.4
    assert gate.distance == gate.opens_at == pytest.approx(0.4 + 0.75 * UNKNOWN_WEIGHT, abs=1e-4)
    assert decide("rent", near, CALIBRATED, Known(1, ()), 1_000_000).distance == 0.4


def test_a_small_collection_is_no_measure_of_what_words_there_are() -> None:
    near, unknown = evidence(("near", 0.4)), Known(0.0, ("rent",))
    penalties = [decide("rent", near, CALIBRATED, unknown, chunks).penalty for chunks in (0, 4, 100, 10_000)]
    assert penalties[0] == 0
    assert penalties == sorted(penalties)
    assert penalties[2] == pytest.approx(UNKNOWN_WEIGHT / 2)
    assert penalties[3] < UNKNOWN_WEIGHT


def test_it_opens_at_its_own_distance_and_not_below() -> None:
    found, unknown = evidence(("near", 0.4)), Known(0.6, ("x",))
    opens_at = decide("rent", found, CALIBRATED, unknown, 50).opens_at
    assert opens_at is not None
    for threshold, opened in ((opens_at, True), (opens_at - 1e-9, False)):
        gate = decide("rent", found, Threshold(threshold, calibrated=True), unknown, 50)
        assert gate.opened is opened
        assert gate.admits("near", 0.4) is opened


def test_a_passage_is_admitted_at_the_same_distance_that_opens_the_gate() -> None:
    gate = decide("rent", evidence(("near", 0.3), ("far", 0.55)), CALIBRATED, Known(0.5, ("x",)), 100)
    assert gate.opened
    assert gate.admits("near", 0.3)
    assert not gate.admits("far", 0.55)


def test_a_closed_gate_admits_nothing() -> None:
    assert not Gate(False, 0.6, 0.7, "cosine_calibrated").admits("anything", 0.1)


@pytest.mark.parametrize(
    "name", ["ERR-4012", "KR-7604-B", "KR7604NI", "v1.2.3", "4711-0815", "20240117", "A_17x", "RFC-9457", "DIN-276"]
)
def test_identifiers_are_found(name: str) -> None:
    assert identifiers(f"Where is {name}?") == [name]


@pytest.mark.parametrize(
    "text",
    ["in 2024", "on 2024-01-31", "31.12.2024", "2023-2024", "the 10th", "the 1990s", "250ml", "100km", "1.5GB", "Q3",
     "state-of-the-art", "well_known", "page 12", "-4021"],
)  # fmt: skip
def test_years_dates_ordinals_and_quantities_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == []
