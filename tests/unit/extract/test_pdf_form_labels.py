"""Entries of PDF forms stand with their labels, wherever the form has these."""

from pathlib import Path

import pytest

from tests.form_pdf import FormPdf
from workers.extract import extract
from workers.extract.options import ReaderOptions

VALUES = ("Anna", "Keller", "Goetheweg 5", "Bonn")


def form(labels: list[tuple[float, float, str]], fields: list[tuple[float, float]]) -> FormPdf:
    """Fields 140 points wide and 16 high, from their lower left corners."""
    made = FormPdf(labels)
    for (left, foot), value in zip(fields, VALUES, strict=False):
        made.widget((left, foot, left + 140, foot + 16), "Tx", f"/V({value})")
    return made


@pytest.mark.parametrize(
    ("labels", "fields", "text"),
    [
        pytest.param(
            [(50, 700, "Name:"), (50, 680, "Family name:"), (50, 660, "Street:"), (50, 640, "City:")],
            [(200, 696), (200, 676), (200, 656), (200, 636)],
            "Name: Anna Family name: Keller Street: Goetheweg 5 City: Bonn",
            id="far to the left",
        ),
        pytest.param(
            [(50, 700, "Name:"), (300, 700, "Family name:"), (50, 680, "Street:"), (300, 680, "City:")],
            [(120, 696), (400, 696), (120, 676), (400, 676)],
            "Name: Anna Family name: Keller Street: Goetheweg 5 City: Bonn",
            id="in two columns",
        ),
        pytest.param(
            [(50, 700, "Name"), (300, 700, "Family name"), (50, 650, "Street"), (300, 650, "City")],
            [(50, 678), (300, 678), (50, 628), (300, 628)],
            "Name Anna Family name Keller Street Goetheweg 5 City Bonn",
            id="above",
        ),
        pytest.param(
            [(50, 670, "(name)"), (300, 670, "(family name)"), (50, 620, "(street)"), (300, 620, "(city)")],
            [(50, 684), (300, 684), (50, 634), (300, 634)],
            "Anna (name) Keller (family name) Goetheweg 5 (street) Bonn (city)",
            id="below",
        ),
    ],
)
def test_each_entry_stands_with_its_label(
    tmp_path: Path,
    options: ReaderOptions,
    labels: list[tuple[float, float, str]],
    fields: list[tuple[float, float]],
    text: str,
) -> None:
    path = tmp_path / "form.pdf"
    path.write_bytes(form(labels, fields).written())
    [page] = extract(path, path.name, options).pages
    assert " ".join(page.text.split()) == text
