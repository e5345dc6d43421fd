"""The documentation names every command, every option and every setting."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import AliasChoices
from pydantic_core import PydanticUndefined
from typer.main import get_command

from ops.cli import app
from pincite.failures import FailureCode
from pincite.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")


def all_commands() -> dict[str, set[str]]:
    """Every command by its full name, with its long options."""
    found: dict[str, set[str]] = {}

    def walk(command, name: str) -> None:
        for child_name, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {child_name}")
        if not getattr(command, "commands", None):
            options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
            found[name] = options - {"--help"}

    walk(get_command(app), "pincite")
    return found


def section(name: str) -> str:
    """The text below a command's heading, up to the next heading."""
    match = re.search(rf"^#+ {re.escape(name)}\n(.*?)(?=^#|\Z)", COMMANDS, re.MULTILINE | re.DOTALL)
    assert match is not None, f"docs/commands.md has no section {name!r}"
    return match[1]


def test_there_are_the_commands_of_the_design():
    names = {name.split()[1] for name in all_commands()}
    design = "up ingest status failed retry show search ask remove doctor demo migrate token"
    assert set(design.split()) <= names


@pytest.mark.parametrize("name", sorted(all_commands()))
def test_every_command_and_option_is_documented(name):
    text = section(name)
    documented = set(re.findall(r"--[a-z-]+", text))
    assert all_commands()[name] <= documented
    table = set(re.findall(r"^\| `(--[a-z-]+)`", text, re.MULTILINE))
    assert table == all_commands()[name]


def test_what_stays_on_the_machine_is_said_and_nothing_else_is_claimed():
    operations = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert "pgserver-VERSION" in operations
    command = get_command(app).commands["demo"]
    assert "nothing behind" not in (command.help or "") + section("pincite demo")


def test_options_of_the_root_are_documented():
    options = {option for parameter in get_command(app).params for option in parameter.opts if option.startswith("--")}
    assert options <= set(re.findall(r"--[a-z-]+", COMMANDS))


def test_every_failure_code_is_documented():
    listed = set(re.findall(r"`([a-z_]+)`", section("pincite failed")))
    assert {str(code) for code in FailureCode} <= listed


def example() -> dict[str, tuple[str, str]]:
    """Variable -> (its value, the comment above it)."""
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    found = {}
    for comment, line in pairwise(lines):
        if match := re.fullmatch(r"#([A-Z_]+)=(.*)", line):
            found[match[1]] = (match[2], comment)
    return found


def settings_variables() -> dict[str, str]:
    """Variable -> its default as text; empty where there is none or it depends on the machine."""
    variables = {}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        variable = str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"PINCITE_{name.upper()}"
        variables[variable] = "" if field.default in {None, PydanticUndefined} else str(field.default)
    return variables


def test_env_example_has_every_setting_with_its_default():
    assert {name: value for name, (value, _) in example().items()} == settings_variables()


def test_env_example_has_a_sentence_for_every_setting():
    for name, (_, comment) in example().items():
        assert re.fullmatch(r"# [A-Z].{15,}\.", comment), f"{name} has no sentence above it"


def test_env_example_loads_as_it_is(tmp_path, monkeypatch):
    for name in example():
        monkeypatch.delenv(name, raising=False)
    filled = "\n".join(f"{name}={value}" for name, (value, _) in example().items() if value)
    (tmp_path / ".env").write_text(filled, "utf-8")
    assert Settings(_env_file=tmp_path / ".env") == Settings(_env_file=None)


def test_every_test_that_the_documentation_names_is_there():
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", (ROOT / "docs" / "reliability.md").read_text("utf-8")))
    assert len(named) > 40
    assert {name for name in named if f"def {name}(" not in sources} == set()
