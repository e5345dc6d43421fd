"""`pincite up` and `pincite demo` as processes of their own, with private services and real workers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from ops.cli.border import ExitCode
from tests.fixtures.services import reachable_folder

# As the console script: the working directory is not among the places that Python imports from.
PINCITE = [sys.executable, "-P", "-c", "from ops.cli import main; main()"]
FOREIGN = ("api", "workers", "db", "pincite", "ops", "celery", "kombu", "redis", "psycopg", "uvicorn", "queue", "json")


def environment(data: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PINCITE_")}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        kept.pop(name, None)
    return kept | {
        "PINCITE_DATA": str(data),
        "PINCITE_SETTLE_SECONDS": "0.3",
        "PINCITE_SWEEP_SECONDS": "1",
        "PINCITE_EXTRACT_WORKERS": "1",
        "PINCITE_OCR_WORKERS": "1",
    }


def pincite(data: Path, *arguments: str, seconds: float = 120, **more: str) -> subprocess.CompletedProcess[str]:
    variables = environment(data) | more
    return subprocess.run(
        [*PINCITE, *arguments], env=variables, capture_output=True, text=True, timeout=seconds, check=False
    )


def foreign_project(directory: Path, imported: Path) -> Path:
    """A directory with packages named like ours and like some that we use; what imports one leaves a trace."""
    for name in FOREIGN:
        (directory / name).mkdir(parents=True)
        trace = f"open({str(imported)!r}, 'a').write({name!r} + '\\n')\nraise ImportError('a foreign package')\n"
        (directory / name / "__init__.py").write_text(trace)
    (directory / ".env").write_text("PINCITE_OCR_LANGUAGES=eng\nPINCITE_EMBED_WORKERS=2\n")
    return directory


@contextmanager
def up(data: Path, *arguments: str, directory: Path | None = None):
    """A running installation, and the lines that it printed when it was ready."""
    log = data.parent / "up.log"
    with log.open("w+") as errors:
        process = subprocess.Popen(
            [*PINCITE, "up", "--port", "0", *arguments],
            env=environment(data),
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            lines = []
            while not lines or "stop" not in lines[-1]:
                line = process.stdout.readline()
                assert line, f"it ended: {log.read_text()}"
                lines.append(line.rstrip())
            yield process, lines, log
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)


@pytest.mark.timeout(240)
def test_from_drop_folder_to_answer_and_a_clean_stop():
    with reachable_folder() as folder:
        drop = folder / "hut"
        drop.mkdir()
        (drop / "keys.txt").write_text("The spare key of the upper hut lies under the third stone left of the cairn.\n")
        data = folder / "data"
        imported = folder / "imported"
        project = foreign_project(folder / "project", imported)
        with up(data, "--drop", str(drop), directory=project) as (process, lines, log):
            assert lines[0].startswith("Pincite runs at http://127.0.0.1:")
            assert any(f"drop folder     hut: {drop}" in line for line in lines)

            assert process.stdout.readline() == "Ready to search.\n"
            examined = pincite(data, "doctor")
            assert examined.returncode == ExitCode.DONE, examined.stdout

            second = pincite(data, "up", "--port", "0")
            assert second.returncode == ExitCode.UNAVAILABLE
            assert f"(process {process.pid})" in second.stderr

            wait_for(lambda: counts(data).get("hut", {}).get("indexed") == 1)
            (folder / "note.txt").write_text("Tea is served at half past four in the lower hut.\n")
            (folder / "empty.txt").write_text("")
            ingest = pincite(data, "ingest", str(folder / "note.txt"), str(folder / "empty.txt"), "--wait")
            assert ingest.returncode == ExitCode.FAILED
            assert "empty_file" in ingest.stdout
            assert "\x1b" not in ingest.stdout + ingest.stderr
            assert counts(data)["inbox"]["indexed"] == 1

            answer = json.loads(pincite(data, "ask", "Where is the spare key of the upper hut?", "--json").stdout)
            assert answer["refused"] is False
            assert "third stone" in answer["citations"][0]["quote"]
            text = pincite(data, "search", "When is tea served?", "--folder", "inbox")
            assert text.returncode == 0
            assert "inbox: note.txt" in text.stdout
            assert "> Tea is served at half past four in the lower hut." in text.stdout

            doctor = json.loads(pincite(data, "doctor", "--json").stdout)
            assert [finding for finding in doctor["findings"] if finding["level"] == "fail"] == []

            expect_settings_of_the_project(data)
            assert not imported.exists(), imported.read_text()

            token = pincite(data, "token", "create", "laptop").stdout.strip()
            with_token = pincite(data, "search", "When is tea served?", PINCITE_TOKEN=token)
            assert with_token.stderr == ""
            without = pincite(data, "search", "When is tea served?")
            assert without.stderr.startswith("The running API wants a token (PINCITE_TOKEN);")
            assert len(without.stderr.splitlines()) == 1
            assert without.stdout == with_token.stdout

            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert "Stopping" in log.read_text()
            assert log.read_text().rstrip().endswith("Stopped.")
        stopped = pincite(data, "status")
        assert stopped.returncode == ExitCode.NOT_RUNNING


@pytest.mark.timeout(120)
def test_an_address_for_others_needs_a_token_and_one_can_be_made_while_nothing_runs():
    with reachable_folder() as folder:
        data = folder / "data"
        refused = pincite(data, "up", "--host", "0.0.0.0", "--port", "0")
        assert refused.returncode == ExitCode.USAGE
        assert "pincite token create" in refused.stderr
        assert not list((data / "logs").glob("extract*"))
        assert pincite(data, "token", "create", "laptop").returncode == 0
        with up(data, "--host", "0.0.0.0") as (process, lines, _):
            assert "http://127.0.0.1:" in lines[0]
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.disk_usage("/tmp").free < 2 << 30, reason="the demo needs room")
def test_the_demo_ends_by_itself_and_leaves_nothing():
    with reachable_folder() as folder:
        scratch = folder / "scratch"
        scratch.mkdir()
        scratch.chmod(0o711)
        result = subprocess.run(
            [*PINCITE, "demo"],
            env=environment(folder / "data") | {"TMPDIR": str(scratch)},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert "handbook/station-handbook.pdf, page 4" in result.stdout
        assert "No answer." in result.stdout
        assert "read_error" in result.stdout
        assert "is now indexed" in result.stdout
        assert not list(scratch.glob("pincite-demo-*"))
        assert not (folder / "data").exists()


def expect_settings_of_the_project(data: Path) -> None:
    recorded = json.loads((data / "children.json").read_text())["children"]
    children = {name: psutil.Process(pid) for name, (pid, _) in recorded.items()}
    assert len(children) == 6
    for child in children.values():
        assert child.cwd() == str(data / "tmp" / "empty")
        assert child.environ()["PINCITE_OCR_LANGUAGES"] == "eng"
    command = children["embed"].cmdline()
    assert command[command.index("-c") + 1] == "2"


def counts(data: Path) -> dict[str, dict[str, int]]:
    status = json.loads(pincite(data, "status", "--json").stdout)
    return {folder["name"]: folder["states"] for folder in status["folders"]}


def wait_for(condition, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.5)
