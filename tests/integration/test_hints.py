"""Events of drop folders: they come, they go on after the directory was replaced, and where they fail it is said."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fixtures.services import reachable_folder
from workers.hints import Hints

LIMITED = """
import sys, time
from workers.hints import Hints
hints = Hints()
hints.follow({sys.argv[1]})
until = time.monotonic() + 20
while hints.trouble(sys.argv[1]) is None and time.monotonic() < until:
    hints.wait(1)
print(hints.trouble(sys.argv[1]))
"""


@pytest.fixture
def hints() -> Iterator[Hints]:
    made = Hints()
    yield made
    made.stop()


def comes(hints: Hints, directory: Path, name: str, root: Path | None = None) -> bool:
    """Whether writing files gives a hint; several, because listening begins on a thread of its own."""
    for number in range(100):
        (directory / f"{name} {number}").write_text("x")
        if str(root or directory) in hints.wait(0.2):
            return True
    return False


def test_hints_name_the_directory_that_changed(hints: Hints, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    hints.follow({str(one), str(two)})
    assert comes(hints, one, "a")
    assert comes(hints, two, "b")
    hints.follow({str(one)})
    time.sleep(0.6)  # what was gathered before
    hints.wait(0)
    (two / "unheard").write_text("x")
    assert hints.wait(1.5) <= {str(one)}


def test_a_directory_that_was_replaced_is_listened_to_again(hints: Hints, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    hints.follow({str(root)})
    assert comes(hints, root, "before")
    shutil.rmtree(root)
    root.mkdir()
    time.sleep(8)  # it is looked for every five seconds
    hints.wait(0)
    assert comes(hints, root, "after")


@pytest.mark.parametrize(
    ("limit", "few", "sysctl"),
    [("max_inotify_watches", 2, "max_user_watches"), ("max_inotify_instances", 0, "max_user_instances")],
)
def test_an_exhausted_limit_is_said(tmp_path: Path, limit: str, few: int, sysctl: str) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    command = f'echo {few} > /proc/sys/user/{limit} && exec "$@"'
    unshare = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.call([*unshare, f"echo 0 > /proc/sys/user/{limit}"]):
        pytest.skip("no user namespace with limits of its own can be made here")
    child = subprocess.run(
        [*unshare, command, "sh", sys.executable, "-c", LIMITED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert f"sysctl fs.inotify.{sysctl}" in child.stdout, child.stderr
    assert child.stderr.count("no file-system events") == 1


def test_a_closed_directory_does_not_end_the_events_of_the_others(hints: Hints) -> None:
    with reachable_folder() as root:
        (root / "closed").mkdir(mode=0)
        (root / "open").mkdir()
        with plain_account([root, root / "open"]):
            hints.follow({str(root)})
            assert comes(hints, root / "open", "a", root)
        (root / "closed").chmod(0o700)


@contextmanager
def plain_account(owned: list[Path]) -> Iterator[None]:
    """As an account that the permissions of files bind, to which these directories belong; root is none."""
    if os.geteuid() != 0:
        yield
        return
    for path in owned:
        os.chown(path, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
