"""Pictures in messages: logos belong to the text, photos and attached files are documents."""

import base64
import io
import struct
from pathlib import Path

import pytest
from PIL import Image

from pincite.documents import Extracted
from workers.extract.mail import extract_mail
from workers.extract.options import ReaderOptions

HTML = "Content-Type: text/html; charset=utf-8\n"


def read(tmp_path: Path, options: ReaderOptions, *parts: str) -> Extracted:
    body = "".join(f"--x\n{part}\n" for part in parts)
    path = tmp_path / "letter.eml"
    path.write_text(f"Subject: Mast\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n{body}--x--\n")
    return extract_mail(path, options)


def picture_part(width: int, height: int, heads: str) -> str:
    data = io.BytesIO()
    Image.new("L", (width, height), 255).save(data, "PNG")
    content = base64.encodebytes(data.getvalue()).decode()
    return f"Content-Type: image/png; name=p{width}.png\n{heads}Content-Transfer-Encoding: base64\n\n{content}"


def test_logos_in_the_text_are_no_documents(tmp_path: Path, options: ReaderOptions) -> None:
    body = f"{HTML}\n<p>Regards <img src='cid:logo%40a'> <img src=cid:screen@a> <img src='cid:svg@a'></p>"
    drawing = "Content-Type: image/svg+xml; name=p.svg\nContent-ID: <svg@a>\n\n<svg/>"
    found = read(
        tmp_path,
        options,
        body,
        picture_part(301, 100, "Content-ID: <logo@a>\nContent-Disposition: inline\n"),
        picture_part(1200, 800, "Content-ID: <screen@a>\nContent-Disposition: inline\n"),
        picture_part(303, 100, "Content-ID: <other@a>\n"),
        drawing,
    )
    assert [file.name for file in found.attachments] == ["p1200.png", "p303.png"]
    assert not found.warnings


INLINE = "Content-Disposition: inline\n"
UNKNOWN_DDS = struct.pack("<4s7I44x2I4s5I5I", b"DDS ", 124, 0x1007, 10, 10, 0, 0, 0, 32, 4, b"ZZZZ", *[0] * 10) + bytes(
    100
)
UNREADABLE = (
    f"Content-Type: image/vnd-ms.dds; name=p.dds\n{INLINE}Content-ID: <shown@a>\n"
    f"Content-Transfer-Encoding: base64\n\n{base64.encodebytes(UNKNOWN_DDS).decode()}"
)


@pytest.mark.parametrize(
    "part",
    [
        picture_part(200, 150, INLINE),  # no HTML shows it
        picture_part(304, 100, "Content-Disposition: attachment\nContent-ID: <shown@a>\n"),
        picture_part(401, 100, f"{INLINE}Content-ID: <shown@a>\n"),
        picture_part(401, 100, f"{INLINE}Content-ID: <shown@a>\n").replace("; name=p401.png", ""),
        f"Content-Type: image/svg+xml; name=p.svg\n{INLINE}\n<svg/>",
        # Pillow has a reader for this kind that gives up in a way of its own.
        UNREADABLE,
    ],
)
def test_photos_and_files_that_were_attached_are_documents(tmp_path: Path, options: ReaderOptions, part: str) -> None:
    found = read(tmp_path, options, f"{HTML}\n<p>See <img src='cid:shown@a'></p>", part)
    assert len(found.attachments) == 1
