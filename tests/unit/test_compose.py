"""docker-compose.yml names what there is, and keeps passwords out of process lists."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from ops.cli import app
from pincite.doorbell import QUEUES
from pincite.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def after(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def test_every_queue_has_a_worker_and_every_worker_a_queue() -> None:
    served = [after(service["command"], "-Q") for service in OURS.values() if "-Q" in service["command"]]
    assert sorted(served) == sorted(set(QUEUES.values()))


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_command_starts_what_there_is(name: str) -> None:
    command = OURS[name]["command"]
    match command[0]:
        case "celery":
            module = after(command, "-A")
        case "python":
            module = after(command, "-m")
        case "pincite":
            assert "pincite" in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
            assert command[1] in get_command(app).commands
            return
        case other:
            pytest.fail(f"{other} is no program of ours")
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("name", sorted(OURS))
def test_settings_have_their_names(name: str) -> None:
    known = {f"PINCITE_{field.upper()}" for field in Settings.model_fields}
    assert {variable for variable in OURS[name]["environment"] if variable.startswith("PINCITE_")} <= known


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_no_password_stands_among_the_arguments(name: str) -> None:
    service = SERVICES[name]
    arguments = [str(service.get("command", "")), str(service.get("healthcheck", {}).get("test", ""))]
    # `$$NAME` is left to the shell in the container; `${NAME}` is filled in and seen by every process list there.
    assert not any(re.search(r"(?<!\$)\$\{?\w*PASSWORD", text) for text in arguments)


def test_valkey_reads_its_password_from_standard_input() -> None:
    script = SERVICES["valkey"]["command"][-1]
    assert script.startswith("exec docker-entrypoint.sh valkey-server - <<")
    assert 'requirepass "$$VALKEY_PASSWORD"' in script
    assert "VALKEY_PASSWORD" in SERVICES["valkey"]["environment"]


def test_the_token_is_made_before_the_api_starts() -> None:
    heading = TEXT[: TEXT.index("\nx-pincite")]
    commands = re.findall(r"^#   (docker compose .*)$", heading, re.MULTILINE)
    assert commands == [
        "docker compose run --rm migrate",
        "docker compose run --rm migrate pincite token create me",
        "docker compose up -d",
    ]


def test_the_drop_folder_of_the_heading_may_be_registered() -> None:
    assert '"path": "/drop"' in TEXT
    assert OURS["api"]["environment"]["PINCITE_DROP_ROOTS"] == "/drop"
    assert any(volume.startswith("./drop:/drop") for volume in OURS["dropfolder"]["volumes"])
