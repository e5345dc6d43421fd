"""schema.sql and the migrations give the same database, and every named query fits it."""

import re
import secrets
import subprocess
from importlib import resources

import psycopg
import pytest
from psycopg import sql

import db.announce
import db.attachments
import db.backup
import db.connect
import db.contents
import db.copies
import db.documents
import db.folders
import db.health
import db.lexical
import db.made_up
import db.pace
import db.pages
import db.pipeline
import db.retry
import db.search
import db.stamps
import db.sweep
import db.tokens
from db.migrate import MigrationError, migrate, migrations
from db.named import named_queries, statement
from ops.services.programs import find_postgres
from pincite.settings import Settings
from tests.fixtures.services import with_database

LITERALS = {"dimensions": 384, "stamp_id": 1}


def dump(url: str) -> list[str]:
    """The database's definition, line by line, without what differs from run to run."""
    program = find_postgres().path("pg_dump")
    text = subprocess.run([program, "--schema-only", "--no-owner", url], check=True, capture_output=True, text=True)
    return [line for line in text.stdout.splitlines() if not line.startswith(("--", "\\")) and line.strip()]


def test_schema_file_equals_all_migrations(services: Settings, database_url: str) -> None:
    name = f"schema_{secrets.token_hex(6)}"
    with psycopg.connect(services.database, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        try:
            with psycopg.connect(with_database(services.database, name)) as fresh:
                fresh.execute(resources.files("db").joinpath("schema.sql").read_text().encode())
                fresh.execute(statement("create_migrations_table"))
            assert dump(with_database(services.database, name)) == dump(database_url)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_migrating_again_changes_nothing(database_url: str) -> None:
    assert migrate(database_url) == []


def test_a_newer_database_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(statement("record_migration"), {"name": "9999_from_the_future"})
    with pytest.raises(MigrationError, match="9999_from_the_future"):
        migrate(database_url)


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = [int(name.split("_")[0]) for name in migrations()]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", sorted(named_queries()))
def test_every_query_can_be_planned(name: str, module_database_url: str) -> None:
    """EXPLAIN (GENERIC_PLAN) parses and plans the text against the real schema, with its parameters open."""
    query = named_queries()[name]
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = re.sub(r"%\((\w+)\)s", number, query.text)
    for literal, value in LITERALS.items():
        text = text.replace("{" + literal + "}", str(value))
    with psycopg.connect(module_database_url) as connection:
        if text.startswith("COPY"):
            with connection.cursor().copy(text.encode()):
                return
        if text.startswith("VACUUM"):
            connection.autocommit = True
            connection.execute(text.encode())
            return
        if text.startswith(("CREATE INDEX", "CREATE TABLE", "DROP", "ALTER", "SET TRANSACTION")):
            with connection.transaction(force_rollback=True):
                connection.execute(re.sub("^CREATE INDEX", "CREATE INDEX IF NOT EXISTS", text).encode())
            return
        plan = connection.execute(b"EXPLAIN (GENERIC_PLAN, COSTS OFF) " + text.encode()).fetchall()
        assert plan


def test_every_query_has_a_function_of_its_name() -> None:
    rooms = [
        db.announce,
        db.attachments,
        db.backup,
        db.connect,
        db.contents,
        db.copies,
        db.documents,
        db.folders,
        db.health,
        db.lexical,
        db.made_up,
        db.pace,
        db.pages,
        db.pipeline,
        db.retry,
        db.search,
        db.stamps,
        db.sweep,
        db.tokens,
    ]
    functions = {name for room in rooms for name in dir(room)}
    inner = {
        "open_attempt": "claim_document",
        "place_page": "place_pages",
        "insert_page": "save_pages",
        "clear_chunks": "save_chunks",
        "insert_chunk": "save_chunks",
        "insert_embedding": "save_entries",
        "insert_lexical_entries": "save_lexemes",
        "stop_counting": "copy_lexical_entries",
        "go_on_counting": "copy_lexical_entries",
        "drop_lexical_index": "copy_lexical_entries",
        "create_lexical_index": "copy_lexical_entries",
        "count_all_lexemes": "copy_lexical_entries",
        "load_page_spans": "load_text",
        "tune_dense": "dense",
        "tune_planner": "dense_exact",
        "untune_dense": "dense",
        "tune_lexical": "lexical",
        "ensure_stamp": "activate_stamp",
        "create_vector_index": "activate_stamp",
        "lock_stamps": "activate_stamp",
        "limit_statements": "Database",
        "delete_texts": "forget_versions",
        "delete_pages": "forget_versions",
        "delete_lexical_entries": "forget_versions",
        "delete_chunks": "forget_versions",
        "abandon_attempts": "forget_versions",
        "move_attachments": "move_document",
        "clear_removed_below": "move_document",
        "find_twin": "copy_reading",
        "clear_text": "copy_reading",
        "copy_text": "copy_reading",
        "copy_pages": "copy_reading",
        "record_refusal": "receive_unreadable",
        "hold_originals": "held_originals",
        "release_originals": "held_originals",
        "export_snapshot": "frozen",
        "requeue_running": "forgive_interrupted",
        "close_interrupted": "forgive_interrupted",
        "forget_rings": "set_going",
        "release_all_pages": "set_going",
    }
    for name, query in named_queries().items():
        if query.file != "migrations.sql":
            assert inner.get(name, name) in functions, f"{query.file}: {name} has no function"
