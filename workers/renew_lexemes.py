"""Lexemes anew from the stored passages, after the text analysis has changed. Nothing is read or embedded again."""

import logging
from typing import Any

from psycopg import Connection

from db.connect import Database
from db.contents import save_lexemes
from db.lexical import fold_all_lexical_changes, indexed_passages
from db.stamps import set_lexemes
from pincite.lexemes import LEXEMES
from workers.embed import lexemes_of

logger = logging.getLogger(__name__)

BATCH = 500


def renew_lexemes(database: Database, stamp_id: int) -> int:
    """Compute the lexemes of every chunk of a stamp anew, then say so in the stamp; gives how many chunks.

    In transactions of `BATCH` chunks. Ended in between, the stamp still names the old analysis, and nothing is searched
    until a next call has gone through all of them.
    """
    renewed, last = 0, 0
    while True:

        def batch(connection: Connection[Any], after: int = last) -> list[int]:
            passages = indexed_passages(connection, stamp_id, after, BATCH)
            entries = [(one.chunk_id, *lexemes_of(one.header, one.content, one.language)) for one in passages]
            save_lexemes(connection, entries, stamp_id)
            if not passages:
                set_lexemes(connection, stamp_id, LEXEMES)
            return [one.chunk_id for one in passages]

        done = database.run(batch)
        # No sweep need be running, and what a batch notes is as large as the vocabulary.
        fold_all_lexical_changes(database)
        if not done:
            return renewed
        renewed, last = renewed + len(done), done[-1]
        logger.info("lexemes of %d chunks are made anew", renewed)
