"""Nothing that Pincite started stays behind, whoever is killed, and what dies comes back."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from ops.services.child import BROKEN_AFTER, Child
from ops.services.errors import AlreadyRunningError
from ops.services.installation import open_installation, running
from ops.services.leftovers import steady_children
from ops.services.supervisor import Supervisor
from pincite.settings import Settings
from tests.fixtures.services import reachable_folder

# Each child writes its pid, and has a child of its own in another session that a signal to the group cannot reach.
CHILD = """
import os, pathlib, signal, subprocess, sys, time
if sys.argv[2] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen(["sleep", "300"], start_new_session=True)
path = pathlib.Path(sys.argv[1])
path.with_suffix(".new").write_text(f"{os.getpid()} {grandchild.pid}")
path.with_suffix(".new").rename(path)
print("lives", os.nice(0), flush=True)
time.sleep(300)
"""
# Whoever runs the tests may have ignored SIGHUP, as nohup does, and a child would inherit that.
SUPERVISOR = """
import json, signal, sys
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from ops.services.child import Child
from ops.services.installation import open_installation
from ops.services.supervisor import Supervisor
from pincite.settings import Settings
data, with_services, children = Path(sys.argv[1]), sys.argv[2] == "services", json.loads(sys.argv[3])
children = [Child(name, argv, grace=grace) for name, argv, grace in children]
say = lambda text: print(text, flush=True)
ready = lambda: print("ready", flush=True)
if with_services:
    with open_installation(Settings(data=data)) as installation:
        Supervisor(data, children, installation.services, say=say).run(ready)
else:
    Supervisor(data, children, say=say).run(ready)
"""


pytestmark = pytest.mark.usefixtures("no_external_services")


def family(path: Path, kind: str = "gentle") -> list[str]:
    return [sys.executable, "-c", CHILD, str(path), kind]


def wait_until(what: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(0.02)


def pids_in(path: Path) -> list[int]:
    wait_until(path.exists)
    return [int(pid) for pid in path.read_text().split()]


def lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextmanager
def supervising(data: Path, children: list[object], services: str = "none") -> Iterator[subprocess.Popen[str]]:
    """A supervisor in a process of its own, ready."""
    if services == "none":
        data.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(data), services, json.dumps(children)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any(line == "ready\n" for line in lines), "the supervisor ended before it was ready"
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_killed_child_comes_back_and_its_family_does_not_stay(tmp_path: Path) -> None:
    said: list[str] = []
    with Supervisor(tmp_path, [Child("one", family(tmp_path / "pids"), nice=3)], say=said.append):
        child, grandchild = pids_in(tmp_path / "pids")
        assert lives(grandchild)
        assert psutil.Process(child).nice() == psutil.Process().nice() + 3
        (tmp_path / "pids").unlink()
        os.kill(child, signal.SIGKILL)
        second, second_grandchild = pids_in(tmp_path / "pids")
        assert second != child
        wait_until(lambda: not lives(grandchild))
    assert not lives(second)
    assert not lives(second_grandchild)
    assert said
    assert "one ended (signal SIGKILL); last line of its log: lives 3; next start in 0.5 s" in said[0]
    assert not (tmp_path / "children.json").exists()


def test_a_child_that_dies_at_once_is_tried_ever_more_slowly(tmp_path: Path) -> None:
    said: list[str] = []
    argv = [sys.executable, "-c", "import sys; sys.exit('the reason')"]
    with Supervisor(tmp_path, [Child("one", argv)], say=said.append):
        wait_until(lambda: len(said) >= 3)
    delays = [text.split("next start in ")[1].split(" s")[0] for text in said[:3]]
    assert delays == ["0.5", "1", "2"]
    assert "one ended (exit code 1); last line of its log: the reason" in said[0]


def test_a_child_that_never_lives_is_called_broken_once(tmp_path: Path) -> None:
    said: list[str] = []
    argv = [sys.executable, "-c", "import sys; sys.exit('the reason')"]
    supervisor = Supervisor(tmp_path, [Child("one", argv), Child("two", ["sleep", "300"])], say=said.append)
    with supervisor:
        wait_until(lambda: supervisor.is_broken("one"), 60)
        assert supervisor.failing() == ["one"]
        assert steady_children(tmp_path) == {"two"}
        wait_until(lambda: len([text for text in said if "next start" in text]) > BROKEN_AFTER, 60)
        assert not supervisor.is_broken("two")
    [told] = [text for text in said if text.startswith("Pincite does not run completely: one has ended 5 times")]
    assert str(tmp_path / "logs" / "one.log") in told
    assert "next start in 16 s" in said[-1]


def test_children_run_in_an_empty_directory(tmp_path: Path) -> None:
    with Supervisor(tmp_path, [Child("one", ["sleep", "300"])]) as supervisor:
        directory = Path(psutil.Process(supervisor.pids()["one"]).cwd())
        assert list(directory.iterdir()) == []
        assert directory == tmp_path / "tmp" / "empty"


def test_two_supervisors_do_not_share_a_directory(tmp_path: Path) -> None:
    with Supervisor(tmp_path, [Child("one", ["sleep", "300"])]) as first:
        with pytest.raises(AlreadyRunningError):
            Supervisor(tmp_path, [Child("one", ["sleep", "300"])]).start()
        assert list(first.pids()) == ["one"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_all(tmp_path: Path, number: signal.Signals) -> None:
    children: list[object] = [(name, family(tmp_path / name), 15.0) for name in ("one", "two")]
    with supervising(tmp_path / "data", children) as supervisor:
        pids = [*pids_in(tmp_path / "one"), *pids_in(tmp_path / "two")]
        supervisor.send_signal(number)
        assert supervisor.wait(10) == 0
        assert [pid for pid in pids if lives(pid)] == []


def test_a_stubborn_child_is_killed_after_its_grace(tmp_path: Path) -> None:
    with supervising(tmp_path / "data", [("one", family(tmp_path / "one", "stubborn"), 1.0)]) as supervisor:
        pids = pids_in(tmp_path / "one")
        began = time.monotonic()
        supervisor.terminate()
        assert supervisor.wait(10) == 0
        assert time.monotonic() - began >= 1
        assert [pid for pid in pids if lives(pid)] == []


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with supervising(tmp_path / "data", [("one", family(tmp_path / "one", "stubborn"), 600.0)]) as supervisor:
        pids = pids_in(tmp_path / "one")
        supervisor.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            supervisor.wait(1)
        supervisor.send_signal(signal.SIGINT)
        assert supervisor.wait(10) == 0
        assert [pid for pid in pids if lives(pid)] == []


def test_orphans_do_not_gather(tmp_path: Path) -> None:
    orphaning = "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)"
    inner = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {orphaning!r}]); time.sleep(300)"
    with supervising(tmp_path / "data", [("one", [sys.executable, "-c", inner], 5.0)]) as supervisor:
        parent = psutil.Process(supervisor.pid)
        wait_until(lambda: any(child.name() == "sleep" for child in parent.children()))
        wait_until(lambda: [child.name() for child in parent.children()] != [] and len(parent.children()) == 1)
        supervisor.terminate()
        assert supervisor.wait(10) == 0


def test_a_killed_supervisor_leaves_nobody(tmp_path: Path) -> None:
    with reachable_folder() as folder:
        data = folder / "data"
        with supervising(data, [("one", family(tmp_path / "one"), 5.0)], "services") as supervisor:
            child, grandchild = pids_in(tmp_path / "one")
            found = running(Settings(data=data))
            assert found is not None
            assert found.supervisor_pid == supervisor.pid
            below = psutil.Process(supervisor.pid).children(recursive=True)
            assert {"postgres", "valkey-server"} <= {process.name() for process in below}
            supervisor.kill()
            supervisor.wait()
            wait_until(lambda: not [process for process in below if process.pid != grandchild and lives(process.pid)])
            assert running(Settings(data=data)) is None
        (tmp_path / "one").unlink()
        # What moved to a session of its own is out of reach of the death signal; the next start ends it.
        assert lives(grandchild)
        with supervising(data, [("one", family(tmp_path / "one"), 5.0)], "services") as supervisor:
            assert not lives(grandchild)
            assert child not in pids_in(tmp_path / "one")
            supervisor.terminate()
            assert supervisor.wait(20) == 0


def test_killed_servers_come_back_at_the_same_addresses() -> None:
    said: list[str] = []
    with reachable_folder() as folder, open_installation(Settings(data=folder / "data")) as installation:
        settings = installation.settings
        postgres, valkey = installation.services
        redis.Redis.from_url(settings.broker).set("kept", "yes")
        time.sleep(1.5)  # the append-only file is written out every second
        with Supervisor(settings.data, [], installation.services, say=said.append):
            before = (postgres.pid, valkey.pid)
            for pid in before:
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: len([text for text in said if "runs again" in text]) == 2)
            psycopg.connect(settings.database).close()
            assert redis.Redis.from_url(settings.broker).get("kept") == b"yes"
            assert postgres.pid not in before
        assert not postgres.alive()
        assert not valkey.alive()
