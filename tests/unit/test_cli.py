"""The command line without services: help, usage errors, pure JSON, exit codes."""

import json
import os
import socket
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ops.cli import app
from ops.cli.border import CommandFailed, ExitCode, describe
from ops.cli.failed import by_code, detail
from ops.cli.options import UsageProblem
from ops.cli.output import console, duration, many, print_table, shown, size, wrapped
from ops.cli.remote import authorization, refuse
from ops.cli.sources import find_sources
from ops.cli.starting import with_port
from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings

READING = [
    ["status"],
    ["failed"],
    ["retry", "--all"],
    ["show", "1"],
    ["search", "anything"],
    ["ask", "anything?"],
    ["remove", "1", "--yes"],
]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("PINCITE_") or name in {"DATABASE_URL", "CELERY_BROKER_URL"}:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(tmp_path):
    def call(*arguments: str, **environment: str):
        env = {"PINCITE_DATA": str(tmp_path / "data"), "COLUMNS": "200", **environment}
        return CliRunner().invoke(app, list(arguments), env=env)

    return call


@pytest.mark.parametrize("name", [*get_command(app).commands, "token create", "token list", "token delete"])
def test_every_command_has_help(run, name):
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_version(run):
    assert run("--version").stdout.startswith("pincite 0.")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from ops.cli import app; from typer.main import get_command; get_command(app); "
        "print([m for m in ('torch', 'celery', 'psycopg', 'fastapi', 'rich.console', 'numpy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_without_services_the_exit_code_says_so(run, arguments, tmp_path):
    result = run(*arguments)
    assert result.exit_code == ExitCode.NOT_RUNNING
    assert result.stdout == ""
    assert "pincite up --data" in result.stderr
    assert str(tmp_path / "data") in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [["status"], ["failed"], ["retry", "--all", "--dry-run"], ["show", "1"], ["search", "x"], ["ask", "x"]],
    ids=" ".join,
)
def test_an_error_leaves_standard_output_empty_for_json(run, arguments):
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_RUNNING, "")


def test_ingest_without_services(run, tmp_path):
    (tmp_path / "a.txt").write_text("text")
    assert run("ingest", str(tmp_path / "a.txt")).exit_code == ExitCode.NOT_RUNNING


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["retry"], "--all"),
        (["retry", "--all", "--code", "corrupt"], "--all means every"),
        (["retry", "--code", "no_such_code"], "unsupported_type"),
        (["retry", "--all", "--dry-run", "--wait"], "nothing to --wait for"),
        (["failed", "--code", "no_such_code"], "The codes are"),
        (["remove"], "--folder NAME"),
        (["remove", "1", "--folder", "x"], "either"),
        (["token", "create", ""], "1 to 100"),
        (["up", "--drop", "no-such-directory"], "does not exist"),
        (["search", "x", "--mode", "psychic"], "hybrid"),
        (["show", "not-a-number"], "integer"),
        (["no-such-command"], "No such command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == ExitCode.USAGE
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PINCITE_PORT", "banana", "PINCITE_PORT"),
        ("PINCITE_LEASE_SECONDS", "10", "PINCITE_HARD_LIMIT_SECONDS (330) must be below PINCITE_LEASE_SECONDS (10)"),
    ],
)
def test_wrong_settings_are_named(run, variable, value, words):
    result = run("status", **{variable: value})
    assert result.exit_code == ExitCode.USAGE
    assert words in result.stderr
    assert "validation error" not in result.stderr


def test_two_drop_folders_of_one_name(run, tmp_path):
    for parent in ("a", "b"):
        (tmp_path / parent / "papers").mkdir(parents=True)
    result = run("up", "--drop", str(tmp_path / "a" / "papers"), "--drop", str(tmp_path / "b" / "papers"))
    assert result.exit_code == ExitCode.USAGE
    assert "would both be the folder 'papers'" in result.stderr


def test_a_drop_folder_must_not_hold_the_data_directory(run, tmp_path):
    result = run("up", "--drop", str(tmp_path))
    assert result.exit_code == ExitCode.USAGE
    assert "Pincite's own data" in result.stderr
    assert not (tmp_path / "data").exists()


def test_a_drop_folder_that_is_none_is_told_apart(run, tmp_path):
    (tmp_path / "note.txt").write_text("x")
    file = run("up", "--drop", str(tmp_path / "note.txt"))
    assert file.exit_code == ExitCode.USAGE
    assert "this is a file, not a directory" in file.stderr
    home = run("up", "--drop", str(tmp_path))
    assert "Name a directory of documents, such as ~/papers." in home.stderr
    assert "2024.pdf" not in home.stderr


def test_a_busy_port_is_named_before_anything_starts(run, tmp_path):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        result = run("up", "--port", str(port))
    assert result.exit_code == ExitCode.USAGE
    assert f"Port {port} on 127.0.0.1 cannot be used" in result.stderr
    assert "--port" in result.stderr
    assert not (tmp_path / "data").exists()


def test_port_zero_becomes_a_free_port():
    settings = with_port(Settings(port=0))
    assert settings.port > 0
    assert "port" in settings.model_fields_set  # so that it is passed on to the API's process


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(UsageProblem, match=r"192\.0\.2\.1"):
        with_port(Settings(host="192.0.2.1", port=0))


def test_doctor_without_services_fails_but_checks_the_rest(run):
    result = run("doctor", "--json")
    assert result.exit_code == ExitCode.FAILED
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert findings["services"]["level"] == "fail"
    assert "pincite up" in findings["services"]["next_step"]
    assert findings["limits"]["level"] == "ok"
    assert findings["model"]["level"] == "ok"
    assert {"disk", "tesseract"} <= set(findings)


def test_doctor_names_a_model_that_is_not_there(run):
    result = run("doctor", PINCITE_MODEL="/no/such/model")
    assert result.exit_code == ExitCode.FAILED
    assert "FAIL  model: '/no/such/model'" in result.stdout


def test_sources_are_walked_in_order_and_litter_is_counted(tmp_path):
    root = tmp_path / "papers"
    for path in ("b/two.txt", "a/one.txt", ".hidden", "~$lock.docx", "weird~$name.md", "b/.git/config", "x.part"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "link.txt").symlink_to(root / "a" / "one.txt")
    (root / "loop").symlink_to(root)
    found = find_sources([root], None)
    assert [(source.folder, source.path) for source in found.sources] == [
        ("papers", "a/one.txt"),
        ("papers", "b/two.txt"),
        ("papers", "weird~$name.md"),
    ]
    assert found.ignored == 6


def test_single_files_go_to_the_inbox(tmp_path):
    (tmp_path / "note.txt").write_text("x")
    assert [(s.folder, s.path) for s in find_sources([tmp_path / "note.txt"], None).sources] == [("inbox", "note.txt")]
    assert find_sources([tmp_path / "note.txt"], "notes").sources[0].folder == "notes"


def test_two_files_for_one_place_are_refused(tmp_path):
    for parent in ("a", "b"):
        (tmp_path / parent).mkdir()
        (tmp_path / parent / "same.txt").write_text(parent)
    with pytest.raises(UsageProblem, match=r"would both become 'same\.txt'"):
        find_sources([tmp_path / "a" / "same.txt", tmp_path / "b" / "same.txt"], None)
    with pytest.raises(UsageProblem, match="different --folder names"):
        find_sources([tmp_path / "a", tmp_path / "b"], "one")
    assert len(find_sources([tmp_path / "a", tmp_path / "b"], None).sources) == 2


def test_a_path_that_does_not_exist(tmp_path):
    with pytest.raises(UsageProblem, match="no file or directory"):
        find_sources([tmp_path / "missing"], None)


def test_what_is_shown_cannot_act_on_a_terminal():
    assert shown("a\x1b[2Jb\r\n\u202ec") == "a�[2Jb���c"
    assert shown("Übergabe – 第三") == "Übergabe – 第三"


def broken_pipe() -> int:
    """The end to write to of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def test_an_answer_that_nobody_reads_on_ends_quietly(tmp_path):
    code = "from ops.cli import main; import sys; sys.argv = ['pincite', 'doctor']; main()"
    pipe = broken_pipe()
    environment = os.environ | {"PINCITE_DATA": str(tmp_path / "data")}
    result = subprocess.run(
        [sys.executable, "-c", code], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False, env=environment
    )
    os.close(pipe)
    assert (result.returncode, result.stderr) == (ExitCode.NOBODY_READS, "")


def test_a_closed_terminal_does_not_stop_the_work():
    code = "from ops.cli.output import say, tell; say('one'); say('two'); tell('the end')"
    pipe = broken_pipe()
    result = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=pipe, text=True, check=False)
    os.close(pipe)
    assert (result.returncode, result.stdout) == (0, "the end\n")


def test_both_streams_in_one_file_keep_their_order(tmp_path):
    code = (
        "from ops.cli.output import print_json, print_table, say, tell; "
        "tell('1'); say('2'); print_table(['3'], []); say('4'); print_json(5); say('6')"
    )
    with (tmp_path / "both").open("w") as both:
        subprocess.run([sys.executable, "-c", code], stdout=both, stderr=subprocess.STDOUT, check=True)
    assert (tmp_path / "both").read_text().split() == list("123456")


def test_without_a_terminal_no_variable_brings_control_characters(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert not console(stderr=True).is_terminal
    print_table(["name"], [("one",)])
    assert capsys.readouterr().out == "name\none\n"


def test_a_mistake_of_the_api_is_told_with_its_incident_number():
    with pytest.raises(CommandFailed, match=r"incident number\. It is 5ca1ab1e;"):
        refuse({"code": "internal", "detail": "Report it with the incident number.", "incident": "5ca1ab1e"}, {})


def test_a_token_that_can_be_none_is_named(monkeypatch):
    monkeypatch.setenv("PINCITE_TOKEN", " secret-1_2 ")
    assert authorization() == {"Authorization": "Bearer secret-1_2"}
    monkeypatch.setenv("PINCITE_TOKEN", "two\nlines")
    with pytest.raises(UsageProblem, match="PINCITE_TOKEN is no token"):
        authorization()


def test_without_a_terminal_a_quote_is_not_folded():
    sentence = "word " * 60 + "end"
    code = f"from ops.cli.output import tell, wrapped; tell(wrapped('one  two\\n\\n{sentence}', '   > '))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n") == ["   > one  two", "   >", f"   > {sentence}", ""]


def test_a_quote_is_wrapped_on_a_terminal_but_whole(monkeypatch):
    text = "one two three\n\n" + "word " * 60 + "end"
    main, terminal = os.openpty()
    with os.fdopen(terminal, "w") as screen:
        monkeypatch.setattr(sys, "stdout", screen)
        lines = wrapped(text, "> ").splitlines()
        monkeypatch.undo()
    os.close(main)
    assert len(lines) > 4
    assert all(line.startswith(">") for line in lines)
    assert " ".join(" ".join(line.removeprefix(">").split()) for line in lines).split() == text.split()


def test_words_for_numbers():
    assert [size(0), size(1023), size(1536), size(5 << 30)] == ["0 bytes", "1023 bytes", "1.5 KiB", "5.0 GiB"]
    assert [duration(None), duration(4.24), duration(61), duration(7261)] == ["", "4.2 s", "1 min 1 s", "2 h 1 min"]
    assert [many(1, "file"), many(2, "file")] == ["1 file", "2 files"]


def test_expected_errors_have_an_exit_code_and_others_do_not():
    problem = describe(DocumentFailure(FailureCode.MODEL_UNAVAILABLE, "it is not there"))
    assert problem is not None
    assert problem.exit_code == ExitCode.FAILED
    assert "it is not there" in problem.text
    assert describe(ZeroDivisionError()) is None


class _Failed:
    def __init__(self, code: FailureCode, detail: str) -> None:
        self.failure_code = code.value
        self.failure_message = DocumentFailure(code, detail).message


def test_failures_are_grouped_by_code_and_shown_without_repeating_it():
    documents = [
        _Failed(FailureCode.CORRUPT, "bad xref"),
        _Failed(FailureCode.EMPTY_FILE, ""),
        _Failed(FailureCode.CORRUPT, "cut short"),
    ]
    groups = by_code(documents)
    assert [(code, len(group)) for code, group in groups] == [("corrupt", 2), ("empty_file", 1)]
    assert detail(documents[0]) == "bad xref."
    assert detail(documents[1]) == "The file has no bytes."
