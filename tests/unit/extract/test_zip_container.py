"""Containers whose directory points to where nothing is."""

import struct
from pathlib import Path

import pytest

from pincite.failures import DocumentFailure, FailureCode
from tests.contract.test_locators import WRITTEN
from workers.extract import extract, media_type
from workers.extract.options import ReaderOptions


@pytest.mark.parametrize(
    "kind",
    [media_type.DOCX, media_type.PPTX, media_type.XLSX, media_type.ODT, media_type.ODS, media_type.EPUB],
)
def test_a_directory_that_points_before_the_file_is_damage_and_no_fault_of_the_disk(
    tmp_path: Path, options: ReaderOptions, kind: str
) -> None:
    content = bytearray(WRITTEN[kind].make())
    (offset,) = struct.unpack_from("<I", content, len(content) - 6)
    struct.pack_into("<I", content, len(content) - 6, offset + 1_000_000)
    path = tmp_path / "original"
    path.write_bytes(content)
    with pytest.raises(DocumentFailure) as raised:
        extract(path, WRITTEN[kind].name, options)
    assert raised.value.code is FailureCode.CORRUPT
