"""Pictures whose notes about themselves are damaged, and whose pixels are whole."""

import io
import struct
from pathlib import Path

import pytest
from PIL import Image

from pincite.picture_file import read_frame
from workers.extract.image import extract_image
from workers.extract.options import ReaderOptions


def saved(kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture = Image.new("L", (40, 20), 255)
    picture.putpixel((0, 0), 0)
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "exif",
    [
        b"Exif\x00\x00garbage",
        b"Exif\x00\x00II*\x00\xff\xff\xff\xff",
        b"Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00" + struct.pack("<HHI4s", 0x0112, 2, 4, b"ab\x00\x00") + bytes(4),
        b"Exif\x00\x00II*\x00\x08\x00\x00\x00\x40\x00",
    ],
)
def test_a_damaged_orientation_costs_nothing(tmp_path: Path, options: ReaderOptions, exif: bytes) -> None:
    path = tmp_path / "picture"
    path.write_bytes(saved("JPEG", exif=exif))
    [page] = extract_image(path, options).pages
    assert (page.width or 0) > (page.height or 0) > 0
    assert read_frame(path, 1).size == (40, 20)


@pytest.mark.parametrize("dpi", [(0, 0), (1e-6, 1e9)])
def test_an_impossible_resolution_is_that_of_a_screen(
    tmp_path: Path, options: ReaderOptions, dpi: tuple[float, float]
) -> None:
    path = tmp_path / "picture"
    path.write_bytes(saved("TIFF", dpi=dpi))
    [page] = extract_image(path, options).pages
    assert (page.width, page.height) == (30, 15)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_turned_upright(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "picture"
    path.write_bytes(saved("PNG", exif=exif))
    upright = read_frame(path, 1)
    corner = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (1, 0), 7: (1, 1), 8: (0, 1)}[orientation]
    across, down = corner[0] * (upright.width - 1), corner[1] * (upright.height - 1)
    assert upright.getpixel((across, down)) == 0
