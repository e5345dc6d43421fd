"""File systems that keep changes to themselves are told from the table of mounts."""

from pathlib import Path

import pytest

from workers.mounts import silent_file_system

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /srv/share rw,relatime shared:9 - nfs4 server:/export rw,vers=4.2
31 22 0:41 / /srv/with\\040space rw,relatime - cifs //server/share rw
32 22 0:42 / /srv/host rw - fuse.sshfs host: rw
33 22 0:43 / /srv/local rw - xfs /dev/vdb rw
34 33 0:44 / /srv/local/deep/nas rw master:3 - 9p nas rw
35 30 0:45 / /srv/share/local rw - ext4 /dev/vdc rw
36 22 0:46 / /srv/docker rw - overlay overlay rw
37 22 0:47 / /srv/twice rw - nfs4 server:/export rw
38 22 0:48 / /srv/twice rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("/srv/share", "nfs4"),
        ("/srv/share/papers", "nfs4"),
        ("/srv/shared", None),
        ("/srv/with space/a", "cifs"),
        ("/srv/host", "fuse.sshfs"),
        ("/srv/local", "9p"),
        ("/srv/local/other", None),
        ("/srv/share/local/x", None),
        ("/srv/docker/x", None),
        ("/srv/twice/x", None),
    ],
)
def test_the_mount_that_a_directory_lies_on(tmp_path: Path, directory: str, kind: str | None) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert silent_file_system(directory, table) == kind


def test_without_a_table_nothing_is_said(tmp_path: Path) -> None:
    assert silent_file_system("/srv", tmp_path / "none") is None
