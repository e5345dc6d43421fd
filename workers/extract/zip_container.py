"""ZIP containers (Office Open XML, OpenDocument): members are read one by one, within a bound.

Nothing is unpacked to disk. What a container unpacks to in all may not pass PINCITE_MAX_FILE_MB, nor may one part that
is read whole pass PINCITE_MAX_PART_MB: an XML tree takes several times the memory of its text. XML of the wild shrinks
to a tenth, seldom to a hundredth; only what is made to burst passes PINCITE_MAX_RATIO.
"""

import errno
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from pincite.failures import DocumentFailure, FailureCode
from workers.extract.limits import check_parts
from workers.extract.options import ReaderOptions

_SMALL_PART = 8 * 2**20

# Of these no more than the declared size is ever unpacked; bzip2 and LZMA unpack first and cut afterwards.
BOUNDED_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# What `zipfile` and its decompressors raise on damaged bytes; NotImplementedError is a RuntimeError.
DAMAGE = (
    zipfile.BadZipFile,
    RuntimeError,
    ValueError,
    OverflowError,
    EOFError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


class ZipContainer:
    """The members of an open container by name. Names are matched without regard to case, as OPC asks."""

    def __init__(self, archive: zipfile.ZipFile, options: ReaderOptions) -> None:
        self._archive, self._options = archive, options
        self._allowance = options.max_file_mb * 2**20
        self._setting = f"{options.max_file_mb:,} MiB (PINCITE_MAX_FILE_MB)"
        members = archive.infolist()
        check_parts(len(members), options)
        self._members = {member.filename.lower(): member for member in members}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._members

    @property
    def names(self) -> list[str]:
        """The names of all members, in the order of the container."""
        return [member.filename for member in self._members.values()]

    def read(self, name: str) -> bytes:
        """The bytes of one member.

        Raises:
            DocumentFailure: CORRUPT where it is missing or damaged, ENCRYPTED, TOO_LARGE.
        """
        with self._opened(name, self._options.max_part_mb << 20) as file:
            return file.read()

    def stream(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """One member, open for reading bit by bit: no bound on one part counts, only the whole container's.

        Raises:
            DocumentFailure: as `read` does, on opening and for what is met within the context.
        """
        return self._opened(name, None)

    @contextmanager
    def _opened(self, name: str, largest: int | None) -> Iterator[IO[bytes]]:
        member = self._members.get(name.lower())
        if member is None:
            raise DocumentFailure(FailureCode.CORRUPT, f"Its part {name[:200]!r} is missing")
        if member.flag_bits & 1:
            raise DocumentFailure(FailureCode.ENCRYPTED, "Its ZIP container is protected")
        if member.compress_type not in BOUNDED_METHODS:
            raise DocumentFailure(
                FailureCode.CORRUPT, f"Its part {name[:200]!r} is packed in a way such files never use"
            )
        self._charge(member, largest)
        try:
            # More than the declared size is never read, and a size that lies fails the checksum.
            with self._archive.open(member) as file:
                yield file
        except DAMAGE as error:
            raise DocumentFailure(FailureCode.CORRUPT, f"Its part {name[:200]!r} cannot be read: {error}") from error
        except OSError as error:
            # The directory points before the file's beginning; all other errors are the disk's.
            if error.errno != errno.EINVAL:
                raise
            raise DocumentFailure(FailureCode.CORRUPT, f"Its part {name[:200]!r} does not lie in the file") from error

    def _charge(self, member: zipfile.ZipInfo, largest: int | None) -> None:
        size = member.file_size
        self._allowance -= size
        if self._allowance < 0:
            raise DocumentFailure(FailureCode.TOO_LARGE, f"It unpacks to more than the limit of {self._setting}")
        seen = f"Its part {member.filename[:200]!r} unpacks to"
        if largest is not None and size > largest:
            limit = f"the limit is {largest >> 20:,} MiB (PINCITE_MAX_PART_MB)"
            raise DocumentFailure(FailureCode.TOO_LARGE, f"{seen} {size / 2**20:,.0f} MiB; {limit}")
        packed, highest = max(member.compress_size, 1), self._options.max_ratio
        if size > _SMALL_PART and size > highest * packed:
            limit = f"the limit is {highest:,} times (PINCITE_MAX_RATIO)"
            raise DocumentFailure(FailureCode.TOO_LARGE, f"{seen} {size // packed:,} times its size; {limit}")


@contextmanager
def open_container(path: Path, options: ReaderOptions) -> Iterator[ZipContainer]:
    """The ZIP container at `path`, open for as long as the context lasts.

    Raises:
        DocumentFailure: CORRUPT where its directory cannot be read, TOO_LARGE where it lists too many parts.
    """
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE as error:
        detail = f"The ZIP container of the file cannot be read: {error}"
        raise DocumentFailure(FailureCode.CORRUPT, detail) from error
    with archive:
        yield ZipContainer(archive, options)
