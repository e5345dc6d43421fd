"""Quality and speed of extraction against other readers: `python -m ops.benchmarks.extraction [FOLDER]`.

All readers run in this process, in turn, several times; speeds are medians and are given as a ratio to pypdf. FOLDER
holds PDFs and, where the truth is known, `ground_truth/NAME.txt`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ops.benchmarks import generated
from ops.benchmarks.readers import READERS, Reader
from ops.benchmarks.scores import character_error_rate, order_score, row_score, similarity, word_recall
from pincite.documents import PageText, TextSource
from pincite.settings import Settings

BASELINE = "pypdf"


@dataclass(frozen=True, slots=True)
class Row:
    """What one reader made of one document. Scores are shares; None where there is no truth to compare with."""

    document: str
    reader: str
    ratio: float | None
    recall: float | None
    order: float | None
    rows: float | None
    pages_per_second: float
    times_pypdf: float


@dataclass(frozen=True, slots=True)
class OcrRow:
    """Character error rate and pages per second of one way to read scanned pages."""

    way: str
    character_error_rate: float
    pages_per_second: float


def main() -> None:
    """Print the tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="PDFs with ground_truth/NAME.txt beside them")
    parser.add_argument("--runs", type=int, default=3, help="how often each reader reads each document")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        made = [
            generated.columns(Path(directory), 2, title=False),
            generated.columns(Path(directory), 3, title=True),
            generated.table(Path(directory), 3),
        ]
        rows = [row for one in made for row in compare_made(one, arguments.runs)]
        for path, truth in with_truth(arguments.folder) if arguments.folder else []:
            rows += compare(path, truth, arguments.runs)
        ocr = compare_ocr(generated.scan(Path(directory), 4), arguments.runs)
    if arguments.json:
        json.dump({"text": [asdict(row) for row in rows], "ocr": [asdict(row) for row in ocr]}, sys.stdout, indent=1)
    else:
        show(rows, ocr)


def with_truth(folder: Path) -> list[tuple[Path, str]]:
    """The PDFs of a folder that open without OCR and have a ground truth."""
    truths = {path.stem: path for path in (folder / "ground_truth").glob("*.txt")}
    found = [(path, truths[path.stem]) for path in sorted(folder.glob("*.pdf")) if path.stem in truths]
    return [(path, truth.read_text(encoding="utf-8")) for path, truth in found if _has_text(path)]


def compare(path: Path, truth: str, runs: int) -> list[Row]:
    """Every reader on one document with a known text."""
    measured = {name: timed(reader, path, runs) for name, reader in READERS.items()}
    return [
        Row(
            path.name,
            name,
            similarity(pages, truth),
            word_recall("\n".join(pages), truth),
            None,
            None,
            len(pages) / seconds,
            measured[BASELINE][1] / seconds,
        )
        for name, (pages, seconds) in measured.items()
    ]


def compare_made(made: generated.Made, runs: int) -> list[Row]:
    """Every reader on one generated document, whose order and rows are known."""
    measured = {name: timed(reader, made.path, runs) for name, reader in READERS.items()}
    return [
        Row(
            made.name,
            name,
            None,
            word_recall("\n".join(pages), " ".join(made.sentences)),
            order_score("\n".join(pages), made.sentences),
            row_score("\n".join(pages), made.rows) if made.rows else None,
            len(pages) / seconds,
            measured[BASELINE][1] / seconds,
        )
        for name, (pages, seconds) in measured.items()
    ]


def compare_ocr(made: generated.Made, runs: int) -> list[OcrRow]:
    """Pincite's reading of scanned pages against Tesseract called for one page after the other."""
    truth = " ".join(made.sentences)
    ways = {"pincite": _read_by_pincite, "tesseract, page by page": _read_by_tesseract}
    rows = []
    for way, read in ways.items():
        pages, seconds = timed(read, made.path, runs)
        rows.append(OcrRow(way, character_error_rate(" ".join(pages), truth), len(pages) / seconds))
    return rows


def timed(read: Reader, path: Path, runs: int) -> tuple[list[str], float]:
    """What a reader gives, and the median of its seconds over the runs."""
    seconds = []
    pages: list[str] = []
    for _ in range(runs):
        began = time.perf_counter()
        pages = read(path)
        seconds.append(time.perf_counter() - began)
    return pages, statistics.median(seconds)


def show(rows: list[Row], ocr: list[OcrRow]) -> None:
    """Tables for a person; the best score of each document stands out."""
    console = Console(width=110)
    table = Table("document", "reader", "ratio", "recall", "order", "rows", "pages/s", f"x {BASELINE}")
    for row in rows:
        shares = [_share(value) for value in (row.ratio, row.recall, row.order, row.rows)]
        table.add_row(row.document, row.reader, *shares, f"{row.pages_per_second:.1f}", f"{row.times_pypdf:.1f}")
    console.print(table)
    scans = Table("OCR", "character error rate", "pages/s")
    for way in ocr:
        scans.add_row(way.way, f"{way.character_error_rate:.4f}", f"{way.pages_per_second:.2f}")
    console.print(scans)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _has_text(path: Path) -> bool:
    try:
        return any(page.strip() for page in READERS["pypdfium2"](path))
    except Exception:  # a reader's word for a file that it cannot open; such files are not compared
        return False


def _read_by_pincite(path: Path) -> list[str]:
    from workers.extract.media_type import PDF
    from workers.reading import read_page_safely

    settings = Settings()
    page = PageText(1, "", TextSource.NONE, awaits_ocr=True)
    count = len(READERS["pypdfium2"](path))
    waiting = [PageText(number, page.text, page.source, awaits_ocr=True) for number in range(1, count + 1)]
    return [read_page_safely(path, PDF, one, settings)[0].text for one in waiting]


def _read_by_tesseract(path: Path) -> list[str]:
    import pypdfium2
    import pytesseract

    from workers.tesseract_probe import find_tesseract

    settings = Settings()
    tesseract = find_tesseract(settings.ocr_languages, settings.tessdata)
    pytesseract.pytesseract.tesseract_cmd = tesseract.program
    config = f"--tessdata-dir {tesseract.data}" if tesseract.data else ""
    with pypdfium2.PdfDocument(path) as document:
        pictures = [page.render(scale=settings.ocr_dpi / 72).to_pil() for page in document]
    return [pytesseract.image_to_string(one, lang=settings.ocr_languages, config=config) for one in pictures]


if __name__ == "__main__":
    main()
