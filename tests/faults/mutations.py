"""Damaged documents, made from good ones: bytes flipped, cut, doubled, swapped; parts of a container damaged inside.

Everything follows from a seed, so that a finding can be made again.
"""

import io
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pincite.failures import DocumentFailure, FailureCode
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions

_INTERESTING = [
    b"\x00",
    b"\xff",
    b"\xfe\xff",
    b"<",
    b">",
    b"&",
    b"{",
    b"}",
    b"\\",
    b"\n" * 50,
    b"9" * 30,
    b"-1",
    b"\xed\xa0\x80",
]


def damaged(content: bytes, seed: int) -> bytes:
    """One damaged form of a document. Of a container, every second one is damaged inside a part."""
    rng = random.Random(seed)
    if zipfile.is_zipfile(io.BytesIO(content)) and rng.random() < 0.5:
        return _inside(content, rng)
    return _bytes(content, rng)


def read_many(content: bytes, name: str, seeds: tuple[int, int], options: ReaderOptions) -> tuple[str, ...]:
    """Read damaged forms of a document, for the seeds from the first up to the second.

    Gives what was found that may not be: an exception that is no DocumentFailure, or one that is `internal`.
    """
    findings = []
    path = Path("damaged")
    for seed in range(*seeds):
        path.write_bytes(damaged(content, seed))
        try:
            assemble(extract(path, name, options))
        except DocumentFailure as failure:
            if failure.code is FailureCode.INTERNAL:
                findings.append(f"seed {seed}: {failure.message}")
        except MemoryError:
            continue  # the limit held; a job of its own ends as out_of_memory
        except Exception as error:  # this is what is looked for
            findings.append(f"seed {seed}: {type(error).__name__}: {error}"[:300])
    return tuple(findings)


def _bytes(content: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(damaged) + 1)
        end = min(len(damaged), at + rng.choice([1, 4, 64, 1024]))
        match rng.randrange(6):
            case 0 if at < len(damaged):
                damaged[at] ^= 1 << rng.randrange(8)
            case 1:
                del damaged[at:end]
            case 2:
                damaged[at:at] = damaged[at:end] * rng.choice([1, 2, 30])
            case 3:
                damaged[at:at] = rng.choice(_INTERESTING)
            case 4:
                del damaged[at:]
            case _:
                damaged[at:end] = rng.randbytes(end - at)
    return bytes(damaged)


def _inside(content: bytes, rng: random.Random) -> bytes:
    """The same container with one of its parts damaged, so that what unpacks it finds nothing wrong."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as good, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bad:
        victim = rng.choice(good.namelist())
        for part in _parts(good):
            data = good.read(part)
            bad.writestr(part, _bytes(data, rng) if part == victim else data)
    return buffer.getvalue()


def _parts(container: zipfile.ZipFile) -> Iterator[str]:
    seen: set[str] = set()
    for name in container.namelist():
        if name not in seen:
            seen.add(name)
            yield name
