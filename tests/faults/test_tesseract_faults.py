"""Tesseract that hangs, crashes, lacks a language or is not there."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pincite.documents import PageText, TextSource
from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox import stop_sandbox
from pincite.settings import Settings
from tests.documents import PARAGRAPH, image_png, scanned_pdf
from workers import tesseract_probe
from workers.extract import extract, media_type
from workers.reading import read_page_safely, reader_options

PROGRAM = """#!{python}
import os, signal, subprocess, sys, time
with open(__file__ + ".calls", "a") as calls:
    calls.write("probe\\n" if "--version" in sys.argv or "--list-langs" in sys.argv else "read\\n")
if "--version" in sys.argv:
    print("tesseract 5.3.0")
elif "--list-langs" in sys.argv:
    {listing}
    print("List of available languages in here (2):\\ndeu\\nxyz")
else:
    {behaviour}
"""
HANGS = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    nap = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
    with open({note!r}, "w") as note:
        note.write(f"{{os.getpid()}} {{nap.pid}}")
    time.sleep(300)
"""
CRASHES = """
    os.abort()
"""
COMPLAINS = """
    sys.exit("Error: the scroll is unreadable")
"""
READS = r"""
    heads = "level page_num block_num par_num line_num word_num left top width height conf text".split()
    rows = [heads, "1 1 0 0 0 0 0 0 900 400 -1".split() + [""]]
    rows += ["5 1 1 1 1 1 10 10 100 20 95 Hello".split()]
    with open(sys.argv[2] + ".tsv", "w") as table:
        table.write("\n".join("\t".join(row) for row in rows))
"""


@pytest.fixture(autouse=True)
def fresh_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sandbox server that sees this test's environment."""
    stop_sandbox()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    stop_sandbox()
    assert list((tmp_path / f"pincite-jobs-{os.getuid()}").glob("*")) == []


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str, listing: str = "pass") -> Path:
    """A Tesseract that comes first, reads `deu` and `xyz`, and notes how often it was asked in the file returned."""
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable, behaviour=behaviour.strip(), listing=listing))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return Path(f"{program}.calls")


def page_of(tmp_path: Path, text: str = "") -> tuple[Path, PageText]:
    path = tmp_path / "scan"
    path.write_bytes(image_png(["Some text on a picture"]))
    return path, PageText(1, text, TextSource.TEXT if text else TextSource.NONE, awaits_ocr=True)


def settings(tmp_path: Path, **values: object) -> Settings:
    return Settings.model_validate({"data": tmp_path / "data", **values})


def test_a_hanging_tesseract_costs_one_page_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "pids"
    install(tmp_path, monkeypatch, HANGS.format(note=str(note)))
    path, page = page_of(tmp_path)
    hasty = settings(tmp_path, ocr_page_seconds=2, ocr_languages="deu")
    read, [warning] = read_page_safely(path, media_type.PNG, page, hasty)
    assert (read.text, read.source, read.awaits_ocr) == ("", TextSource.NONE, False)
    assert (warning.code, warning.page) == ("page_failed", 1)
    assert "PINCITE_OCR_PAGE_SECONDS" in warning.message
    assert [psutil.pid_exists(int(pid)) for pid in note.read_text().split()] == [False, False]


@pytest.mark.parametrize(("behaviour", "said"), [(CRASHES, "failed"), (COMPLAINS, "the scroll is unreadable")])
def test_a_failing_tesseract_keeps_the_layer_that_the_page_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str, said: str
) -> None:
    install(tmp_path, monkeypatch, behaviour)
    path, page = page_of(tmp_path, "Page 3")
    read, [warning] = read_page_safely(path, media_type.PNG, page, settings(tmp_path, ocr_languages="deu"))
    assert (read.text, read.source, read.awaits_ocr) == ("Page 3", TextSource.TEXT, False)
    assert warning.code == "page_failed"
    assert said in warning.message


def test_a_missing_language_is_named(tmp_path: Path) -> None:
    path, page = page_of(tmp_path)
    with pytest.raises(DocumentFailure) as raised:
        read_page_safely(path, media_type.PNG, page, settings(tmp_path, ocr_languages="eng+qqq"))
    assert raised.value.code is FailureCode.OCR_UNAVAILABLE
    assert "no data for: qqq" in raised.value.detail


def test_language_data_of_a_directory_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = tesseract_probe.find_tesseract("eng")
    shipped = Path(bundled.data or "") / "eng.traineddata"
    if not shipped.is_file():
        pytest.skip(f"{bundled.program} does not say where its data is")
    own = tmp_path / "own data"
    own.mkdir()
    path, page = page_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("kitchen", "pantry"):  # one that comes later is found
        (own / f"{name}.traineddata").symlink_to(shipped)
        read, warnings = read_page_safely(
            path, media_type.PNG, page, settings(tmp_path, ocr_languages=name, tessdata=Path("own data"))
        )
        assert (read.text, warnings) == ("Some text on a picture", ())
    with pytest.raises(DocumentFailure) as raised:
        tesseract_probe.find_tesseract("eng", own)
    assert f"no data for: eng in {own} (it has: kitchen, pantry)" in raised.value.detail
    with pytest.raises(DocumentFailure, match="PINCITE_TESSDATA") as raised:
        tesseract_probe.find_tesseract("eng", tmp_path / "nowhere")
    assert raised.value.code is FailureCode.OCR_UNAVAILABLE


def test_no_program_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract_probe, "_candidates", lambda: iter(()))
    with pytest.raises(DocumentFailure) as raised:
        tesseract_probe.find_tesseract("eng")
    assert raised.value.code is FailureCode.OCR_UNAVAILABLE


def test_a_program_that_lacks_a_language_gives_way_to_one_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, COMPLAINS)
    system = tesseract_probe.find_tesseract("deu+xyz")
    assert (system.program, system.languages) == (str(tmp_path / "bin" / "tesseract"), {"deu", "xyz"})
    other = tesseract_probe.find_tesseract("deu+eng")
    assert other.program != system.program
    assert not other.lacks("deu+eng")


def test_a_program_is_asked_once_for_all_pages_until_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = install(tmp_path, monkeypatch, READS)
    path, page = page_of(tmp_path)
    for _ in range(3):
        read, _ = read_page_safely(path, media_type.PNG, page, settings(tmp_path, ocr_languages="deu"))
        assert read.text == "Hello"
    assert calls.read_text().count("probe") == 2
    assert "read" in calls.read_text()
    monkeypatch.setattr(tesseract_probe, "_PROBE_SECONDS", 0)  # a machine so busy that no answer would come in time
    assert tesseract_probe.find_tesseract("deu+xyz").languages == {"deu", "xyz"}


def test_after_a_page_that_failed_it_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = install(tmp_path, monkeypatch, COMPLAINS)
    path, page = page_of(tmp_path)
    for count in (2, 4):
        read_page_safely(path, media_type.PNG, page, settings(tmp_path, ocr_languages="xyz"))
        assert calls.read_text().count("probe") == count


def test_a_program_that_changes_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = install(tmp_path, monkeypatch, COMPLAINS)
    tesseract_probe.find_tesseract("xyz")
    calls.with_suffix("").touch()
    tesseract_probe.find_tesseract("xyz")
    assert calls.read_text().count("probe") == 4


def test_a_slow_answer_is_no_missing_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, COMPLAINS, listing="time.sleep(2)")
    monkeypatch.setattr(tesseract_probe, "_PROBE_SECONDS", 1)
    with pytest.raises(DocumentFailure) as raised:
        tesseract_probe.find_tesseract("xyz")
    assert raised.value.code is FailureCode.OCR_FAILED
    assert not raised.value.kind.permanent
    assert "did not answer within 1 seconds" in raised.value.detail
    monkeypatch.setattr(tesseract_probe, "_PROBE_SECONDS", 10)
    assert "xyz" in tesseract_probe.find_tesseract("xyz").languages


def test_a_page_that_cannot_be_drawn_is_a_page_without_text(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned_pdf([[PARAGRAPH[:50]]]))
    [page] = extract(path, "scan.pdf", reader_options(settings(tmp_path))).pages
    path.write_bytes(b"%PDF-1.7 and nothing more")
    read, [warning] = read_page_safely(path, media_type.PDF, page, settings(tmp_path))
    assert read.text == ""
    assert warning.code == "page_failed"
    assert "cannot be drawn" in warning.message
