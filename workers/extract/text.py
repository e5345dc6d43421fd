"""Plain text, logs and source code: the file's own text, with `\\n` as the only line end."""

from pathlib import Path

from pincite.documents import Extracted
from workers.extract.cleaning import clean_text
from workers.extract.decoding import decode
from workers.extract.limits import check_characters
from workers.extract.options import ReaderOptions

NAME, VERSION = "text", 3


def extract_text(path: Path, options: ReaderOptions) -> Extracted:
    """Read a text file of any common encoding.

    Raises:
        DocumentFailure: UNSUPPORTED_TYPE for binary data, TOO_LARGE.
    """
    decoded = decode(path.read_bytes())
    text = clean_text(decoded.text)
    check_characters(len(text), options)
    return Extracted(f"{NAME}/{VERSION}", text=text, warnings=decoded.warnings)
