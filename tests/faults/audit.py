"""Whether everything adds up: rows against rows, rows against the store, the API against SQL, processes, files, keys.

Each check gives sentences, one for each thing that is wrong; an empty list means that all is well.
"""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import psycopg
import redis

from pincite.documents import State
from pincite.doorbell import EMBED_QUEUE, EXTRACT_QUEUE, OCR_QUEUE, SWEEP_QUEUE
from pincite.originals import Originals
from workers.sweep import KEEP_UNUSED_SECONDS

# Each query gives the rows that must not be: a document's path and what is wrong with it.
RULES: dict[str, str] = {
    "not finished": "SELECT path, state::text FROM documents WHERE state IN ('queued', 'running', 'retrying')",
    "an attempt that still runs": """
        SELECT d.path, a.stage || ' ' || a.worker FROM attempts a JOIN documents d ON d.id = a.document_id
        WHERE a.outcome = 'running'""",
    "a chunk twice": """
        SELECT d.path, c.version || ': ' || c.start_offset || '-' || c.end_offset
        FROM chunks c JOIN documents d ON d.id = c.document_id
        GROUP BY d.path, c.document_id, c.version, c.start_offset, c.end_offset HAVING count(*) > 1
        UNION ALL
        SELECT d.path, c.version || ' #' || c.ordinal FROM chunks c JOIN documents d ON d.id = c.document_id
        GROUP BY d.path, c.document_id, c.version, c.ordinal HAVING count(*) > 1""",
    "chunks with a gap in their order": """
        SELECT d.path, c.version::text FROM chunks c JOIN documents d ON d.id = c.document_id
        GROUP BY d.path, c.document_id, c.version HAVING min(c.ordinal) <> 0 OR max(c.ordinal) <> count(*) - 1""",
    "a chunk that is no slice of the text": """
        SELECT d.path, c.version || ': ' || c.start_offset || '-' || c.end_offset
        FROM chunks c JOIN documents d ON d.id = c.document_id
        LEFT JOIN texts t ON t.document_id = c.document_id AND t.version = c.version
        WHERE t.text IS NULL OR substr(t.text, c.start_offset + 1, c.end_offset - c.start_offset) <> c.content""",
    "a text, page or chunk of a version that is past": """
        SELECT d.path, r.kind || ' of version ' || r.version || ', the document is ' || d.state || ' at ' || d.version
        FROM (SELECT 'text' AS kind, document_id, version FROM texts
              UNION ALL SELECT 'page', document_id, version FROM pages
              UNION ALL SELECT 'chunk', document_id, version FROM chunks) r JOIN documents d ON d.id = r.document_id
        WHERE d.state = 'removed'
           OR r.version NOT IN (d.version, coalesce(d.searchable_version, d.version))
           OR (d.state = 'indexed' AND r.version <> d.searchable_version)""",
    "a vector that is missing, double or of another stamp": """
        SELECT d.path, 'chunk ' || c.ordinal || ' has ' || count(e.stamp_id) || ' vectors'
        FROM documents d JOIN chunks c ON c.document_id = d.id AND c.version = d.searchable_version
        LEFT JOIN embeddings e ON e.chunk_id = c.id GROUP BY d.path, d.stamp_id, c.id, c.ordinal
        HAVING count(e.stamp_id) <> 1 OR min(e.stamp_id) <> d.stamp_id
            OR min(e.stamp_id) <> (SELECT id FROM stamps WHERE active)""",
    "a counter of chunks that is wrong": """
        SELECT d.path, d.chunks || ' counted, ' || count(c.id) || ' there' FROM documents d
        LEFT JOIN chunks c ON c.document_id = d.id AND c.version = d.searchable_version
        GROUP BY d.id HAVING d.chunks <> count(c.id)""",
    "indexed without a chunk or text": """
        SELECT d.path, 'version ' || d.version FROM documents d
        LEFT JOIN texts t ON t.document_id = d.id AND t.version = d.version
        WHERE d.state = 'indexed' AND (d.chunks = 0 OR t.text IS NULL)""",
    "a page that is unread or not in its place": """
        SELECT d.path, 'page ' || p.number FROM pages p
        JOIN documents d ON d.id = p.document_id AND d.searchable_version = p.version
        WHERE p.awaits_ocr OR p.text IS NOT NULL OR p.start_offset IS NULL""",
    "a number of pages that is wrong": """
        SELECT d.path, t.pages || ' counted, ' || count(p.number) || ' there' FROM documents d
        JOIN texts t ON t.document_id = d.id AND t.version = d.searchable_version
        LEFT JOIN pages p ON p.document_id = d.id AND p.version = t.version
        GROUP BY d.id, t.pages HAVING coalesce(t.pages, 0) <> count(p.number)""",
    "an attachment of a message that is removed": """
        SELECT d.path, m.path FROM documents d JOIN documents m ON m.id = d.parent_id
        WHERE m.state = 'removed' AND d.state <> 'removed'""",
}
_QUEUES = (EXTRACT_QUEUE, OCR_QUEUE, EMBED_QUEUE, SWEEP_QUEUE)
_KEYS = (*_QUEUES, "unacked", "unacked_index", "unacked_mutex", "_kombu.binding")


def wrong_rows(connection: psycopg.Connection[Any]) -> list[str]:
    """What the rows say against each other."""
    found = []
    for rule, query in RULES.items():
        rows = connection.execute(query.encode()).fetchall()
        found += [f"{rule}: {path}: {what}" for path, what in rows[:10]]
        found += [f"{rule}: {len(rows) - 10} more"] if len(rows) > 10 else []
    return found


def wrong_originals(connection: psycopg.Connection[Any], url: str, never_stored: Iterable[str] = ()) -> list[str]:
    """Bytes that a document needs and that are missing, or that nobody needs and that are older than allowed."""
    store, now = Originals(url), time.time()
    kept = {one.name: one.modified for compartment in range(256) for one in store.kept(compartment)}
    rows = connection.execute(
        "SELECT sha256 FROM documents WHERE state <> 'removed' AND sha256 IS NOT NULL UNION SELECT sha256 FROM texts"
    ).fetchall()
    needed = {digest for (digest,) in rows} - set(never_stored)
    old = [name for name, modified in kept.items() if name not in needed and now - modified > KEEP_UNUSED_SECONDS + 60]
    halves = [half.name for half in store.abandoned() if now - half.modified > KEEP_UNUSED_SECONDS + 60]
    return [
        *(f"an original is missing: {digest[:12]}" for digest in sorted(needed - kept.keys())),
        *(f"an original that nobody needs: {name[:12]}" for name in sorted(old)),
        *(f"half of an original: {name}" for name in sorted(halves)),
    ]


def wrong_folders(connection: psycopg.Connection[Any], api: httpx.Client) -> list[str]:
    """Where the counts of the API differ from those of the rows."""
    rows = connection.execute(
        """SELECT f.name, d.state::text, count(*), coalesce(sum(d.chunks), 0) FROM folders f
           JOIN documents d ON d.folder_id = f.id GROUP BY f.name, d.state"""
    ).fetchall()
    found = []
    for folder in api.get("/v1/folders").raise_for_status().json()["folders"]:
        mine = [row for row in rows if row[0] == folder["name"]]
        counted = {state.value: 0 for state in State} | {state: number for _, state, number, _ in mine}
        counted["chunks"] = sum(int(chunks) for *_, chunks in mine)
        counted["documents"] = sum(number for _, state, number, _ in mine if state != State.REMOVED)
        said = {**folder, **folder.get("states", {})}
        differing = {name: (said.get(name), number) for name, number in counted.items() if said.get(name) != number}
        found += [f"{folder['name']}: {name}: the API says {a}, the rows {b}" for name, (a, b) in differing.items()]
    return found


def wrong_keys(client: "redis.Redis", most_unacked: int) -> list[str]:
    """Keys of the broker that nobody should have made, queues that do not empty, messages that pile up."""
    names = [key.decode() for key in client.scan_iter(count=1000)]
    found = [f"a key that should not be: {name}" for name in names if not name.startswith(_KEYS)][:10]
    found += [f"{queue}: {n} messages wait" for queue in _QUEUES[:-1] if (n := int(client.llen(queue))) > 0]
    unacked = int(client.hlen("unacked"))
    return found + ([f"{unacked} messages are not acknowledged"] if unacked > most_unacked else [])


def wrong_states(
    connection: psycopg.Connection[Any], folder: str, expected: Mapping[str, tuple[State, str | None, str]]
) -> list[str]:
    """Where a folder differs from what must be in it: (state, failure code, SHA-256) by path."""
    rows = connection.execute(
        """SELECT d.path, d.state::text, d.failure_code, d.sha256, d.failure_message FROM documents d
           JOIN folders f ON f.id = d.folder_id WHERE f.name = %s AND d.state <> 'removed'""",
        [folder],
    ).fetchall()
    there = {path: (State(state), code, digest) for path, state, code, digest, _ in rows}
    said = {row[0]: row[4] for row in rows}
    return [
        *(f"{folder}: lost: {path}" for path in sorted(expected.keys() - there.keys())),
        *(f"{folder}: nobody's: {path} ({there[path][0]})" for path in sorted(there.keys() - expected.keys())),
        *(
            f"{folder}: {path}: {there[path]} ({said[path]}), not {expected[path]}"
            for path in sorted(expected.keys() & there.keys())
            if there[path] != expected[path]
        ),
    ]


def left_processes(data: Path) -> list[str]:
    """Processes that still have to do with a data directory, by their arguments, environment or working directory."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            traces = [*process.cmdline(), *process.environ().values(), process.cwd()]
        except (psutil.Error, OSError):
            continue
        if any(str(data) in trace for trace in traces):
            found.append(f"a process is left: {process.pid} {' '.join(process.cmdline())[:100]}")
    return found


def left_files(temporary: Path, data: Path) -> list[str]:
    """What lies in the run's TMPDIR, or in the data directory's own place for temporary files."""
    places = [temporary, *([data / "tmp"] if (data / "tmp").exists() else [])]
    return [f"a temporary file is left: {path}" for place in places for path in sorted(place.iterdir())]
