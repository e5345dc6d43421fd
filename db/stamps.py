"""Stamps: what vectors and lexemes were made with, and which of them answers."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from psycopg import Connection

from db.named import execute, fetch_one, fetch_value
from pincite.documents import Stamp


@dataclass(frozen=True, slots=True)
class StoredStamp:
    """A stamp with its id. `gate_threshold` is None until it is calibrated, on the signal that `gate_signal` names."""

    id: int
    model: str
    dimensions: int
    fingerprint: str
    lexemes: str
    gate_threshold: float | None
    gate_signal: str | None

    @property
    def stamp(self) -> Stamp:
        """The stamp without the database's facts."""
        return Stamp(self.model, self.dimensions, self.fingerprint, self.lexemes)


class StampMismatchError(Exception):
    """The index was made with another model or text analysis than the one that is configured."""


def active_stamp(connection: Connection[Any]) -> StoredStamp | None:
    """The stamp whose vectors answer; None before the first."""
    return fetch_one(connection, "active_stamp", {}, StoredStamp)


def activate_stamp(connection: Connection[Any], stamp: Stamp) -> StoredStamp:
    """The stored form of `stamp`, recorded with its vector index if it is the database's first.

    Raises:
        StampMismatchError: another stamp is active.
    """
    execute(connection, "lock_stamps", {})
    if active_stamp(connection) is None:
        execute(connection, "ensure_stamp", asdict(stamp))
        stored = active_stamp(connection)
        assert stored is not None
        execute(connection, "create_vector_index", {"stamp_id": stored.id, "dimensions": stored.dimensions})
    stored = active_stamp(connection)
    assert stored is not None
    check_stamp(stored, stamp)
    return stored


def set_gate_threshold(connection: Connection[Any], stamp_id: int, threshold: float | None, signal: str) -> bool:
    """Keep the gate's threshold with the stamp and the signal it was calibrated on; None: forget it.

    False: another stamp answers.
    """
    parameters = {"stamp_id": stamp_id, "threshold": threshold, "signal": signal}
    return fetch_value(connection, "set_gate_threshold", parameters) is not None


def check_stamp(stored: StoredStamp, configured: Stamp) -> None:
    """See that the index was made with what is configured.

    Raises:
        StampMismatchError: it was not; the message says what to do.
    """
    if stored.stamp != configured:
        raise StampMismatchError(
            f"The index was made with {stored.model} ({stored.fingerprint}, {stored.lexemes}), but "
            f"{configured.model} ({configured.fingerprint}, {configured.lexemes}) is configured. "
            f"{way_out(stored, configured)}"
        )


def way_out(stored: StoredStamp, configured: Stamp) -> str:
    """What to do where the index was made with something else than what is configured."""
    if replace(stored.stamp, lexemes=configured.lexemes) == configured:
        return (
            "This version of Pincite analyses words differently. Run `pincite reindex --stale lexemes`: it makes the "
            "lexemes anew from the stored passages and embeds nothing; searches and indexing go on when it is done."
        )
    return "Set PINCITE_MODEL back, or use a new data directory (or database) and add the documents again."


def set_lexemes(connection: Connection[Any], stamp_id: int, lexemes: str) -> None:
    """Write down that this text analysis made all lexemes of a stamp, and forget a threshold of the one before."""
    execute(connection, "set_lexemes", {"stamp_id": stamp_id, "lexemes": lexemes})
