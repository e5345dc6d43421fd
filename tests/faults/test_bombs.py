"""Small files that unpack to large ones."""

import zlib
from pathlib import Path

import pytest

from pincite.failures import DocumentFailure, FailureCode
from pincite.settings import Settings
from tests.documents import bomb_png
from workers.reading import extract_in_sandbox


def content_bomb(megabytes: int) -> bytes:
    """A PDF of a few kilobytes whose one page has a content stream of so many MiB of white space."""
    stream = zlib.compress(zlib.compress(b" " * megabytes * 2**20, 9), 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << >> >>",
        b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    data, offsets = b"%PDF-1.7\n", []
    for number, item in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + table + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(data)


@pytest.mark.parametrize(
    ("name", "data", "code", "names"),
    [
        ("bomb.pdf", content_bomb(400), FailureCode.OUT_OF_MEMORY, "256 MiB (PINCITE_EXTRACT_MEMORY_MB)"),
        (
            "bomb.png",
            bomb_png(),
            FailureCode.TOO_LARGE,
            "900,000,000 pixels; the limit is 90,000,000 (PINCITE_MAX_PIXELS)",
        ),
    ],
)
def test_a_bomb_fails_by_name_and_the_next_document_is_read(
    tmp_path: Path, name: str, data: bytes, code: FailureCode, names: str
) -> None:
    assert len(data) < 200_000
    settings = Settings.model_validate({"data": tmp_path, "extract_seconds": 30, "extract_memory_mb": 256})
    bomb, note = tmp_path / "bomb", tmp_path / "note"
    bomb.write_bytes(data)
    note.write_text("A note that is read all the same.")
    with pytest.raises(DocumentFailure) as raised:
        extract_in_sandbox(bomb, name, settings)
    assert raised.value.code is code
    assert names in raised.value.detail
    assert extract_in_sandbox(note, "note.txt", settings).text.startswith("A note")
