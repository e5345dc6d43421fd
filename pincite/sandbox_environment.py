"""What the readers, and the programs that they start, see of a worker's environment: no address and no password."""

import os

_PASSED_ON = frozenset({"PATH", "TMPDIR", "LANG", "LANGUAGE", "TZ", "TESSDATA_PREFIX", "LD_LIBRARY_PATH"})


def reader_environment() -> dict[str, str]:
    """Those of this process's variables that a reader needs, and the ones that keep it to one thread."""
    passed = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith("LC_")}
    # Nor does Python import anything from the directory where they run.
    passed["PYTHONSAFEPATH"] = "1"
    # More threads than one per process make a full machine slower by factors.
    return passed | {"OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}
