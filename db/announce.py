"""Ring the doorbell for rows that are committed, and write down that it was rung.

If the broker is away nothing is lost: the rows stay queued, and the sweep rings for them.
"""

import logging
from collections.abc import Sequence

from db.connect import Database
from db.documents import Due, mark_rung
from pincite.doorbell import BrokerUnavailableError, Doorbell

logger = logging.getLogger(__name__)


def announce(database: Database, doorbell: Doorbell, due: Sequence[Due]) -> int:
    """Ring for these documents, whose rows must be committed; gives for how many the broker took the message."""
    rung: list[int] = []
    try:
        for document in due:
            doorbell.ring(document.id, document.version, document.stage, ocr=document.awaits_ocr)
            rung.append(document.id)
    except BrokerUnavailableError as error:
        logger.warning("The broker is away (%s); %d documents wait for the sweep.", error, len(due) - len(rung))
    if rung:
        database.run(lambda connection: mark_rung(connection, rung))
    return len(rung)
