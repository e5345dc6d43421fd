"""Which file system a directory lies on, and whether it reports changes that others make."""

import os
import re
from pathlib import Path

# File systems whose files other machines, or a program behind them, change without the kernel being told.
_SILENT = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "prl_fs", "vmhgfs", "drvfs"),
    *("afs", "ceph", "lustre", "glusterfs", "gpfs", "ocfs2", "gfs2", "beegfs", "fuse"),
}
_ESCAPED = re.compile(rb"\\([0-7]{3})")
_TABLE = Path("/proc/self/mountinfo")


def silent_file_system(directory: str, table: Path = _TABLE) -> str | None:
    """The type of the file system on which, or on one mounted below which, changes of others go unreported.

    None where all report them, or where there is no table of mounts to look into.
    """
    try:
        lines = table.read_bytes().splitlines()
    except OSError:
        return None
    here = os.fsencode(os.path.realpath(directory)).rstrip(b"/") + b"/"
    above, kind, below = b"", "", None
    for line in lines:
        fields, _, source = line.partition(b" - ")
        place = _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), fields.split(b" ")[4]).rstrip(b"/") + b"/"
        name = source.split(b" ")[0].decode("ascii", "replace")
        if here.startswith(place) and len(place) >= len(above):
            above, kind = place, name  # of two mounts at one place the later one covers the other
        elif place.startswith(here) and _is_silent(name):
            below = name
    return kind if _is_silent(kind) else below


def _is_silent(kind: str) -> bool:
    return kind in _SILENT or (kind.startswith("fuse.") and kind not in {"fuse.portal", "fuse.lxcfs"})
