"""Fixtures live in files by topic; this one only lists them."""

pytest_plugins = [
    "tests.fixtures.settings",
    "tests.fixtures.sandbox",
    "tests.fixtures.services",
    "tests.fixtures.database",
    "tests.fixtures.drop",
    "tests.fixtures.running",
    "tests.fixtures.cli",
    "tests.fixtures.api",
    "tests.fixtures.model_server",
    "tests.fixtures.written",
    "tests.fixtures.backups",
]
