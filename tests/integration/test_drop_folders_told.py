"""What status, doctor and the API tell of drop folders, and which directories cannot be ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from api.models.folders import folder_of
from ops.cli.document_checks import check_drop_folders
from ops.cli.dropfolders import checked_drops, register
from ops.cli.options import UsageProblem
from pincite.settings import Settings
from tests.fixtures.drop import Drop


def levels(drop: Drop) -> list[tuple[str, str]]:
    findings = check_drop_folders(drop.context.settings, drop.context.database)
    return [(finding.level, finding.message) for finding in findings]


def test_a_note_and_polling_reach_doctor_and_the_api(drop: Drop) -> None:
    drop.write("a.txt", "A text.")
    drop.write("b.txt~", "A backup copy.")
    drop.scan(polling_reason="nfs4 does not report what other machines change", network=False)
    shown = folder_of(drop.folder, []).model_dump(mode="json")
    assert shown["polling_reason"] == "nfs4 does not report what other machines change"
    assert (shown["ignored"], shown["ignored_paths"]) == (1, [{"path": "b.txt~", "reason": "backup copy"}])
    assert levels(drop) == [("ok", f"{drop.root}, scanned every 30 s because {shown['polling_reason']}")]
    drop.scan()
    assert drop.folder.polling_reason is None
    assert levels(drop) == [("ok", f"{drop.root}, 1 file")]
    drop.root.rename(drop.root.with_name("away"))
    drop.root.mkdir()
    drop.scan()
    [(level, message)] = levels(drop)
    assert level == "warn"
    assert message == drop.note
    drop.root.rmdir()
    assert levels(drop) == [("fail", f"{drop.root} is not there")]


def test_status_says_it_all(drop: Drop, run: Callable[..., Result]) -> None:
    drop.write("a.txt", "A text.")
    drop.write("b.txt~", "A backup copy.")
    (drop.root / "c.txt").symlink_to("a.txt")
    drop.scan(polling_reason="PINCITE_POLL_DROP_FOLDERS is set")
    told = run("status").stdout
    assert "Drop folder drop: changes are seen by regular scans only, because PINCITE_POLL_DROP_FOLDERS is set." in told
    assert "Passed over in drop: 2 (backup copy 1, symbolic link 1;" in told


def test_drop_folders_cannot_lie_in_one_another(drop: Drop, tmp_path: Path) -> None:
    settings = drop.context.settings
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    with pytest.raises(UsageProblem, match="would be indexed twice"):
        checked_drops([tmp_path / "outer", tmp_path / "outer" / "inner"], settings)
    (drop.root / "inner").mkdir()
    with pytest.raises(UsageProblem, match="which is the drop folder 'drop'"):
        register(drop.context.database, checked_drops([drop.root / "inner"], settings))
    register(drop.context.database, checked_drops([tmp_path / "outer"], settings))


def test_a_link_to_a_directory_is_that_directory(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (folder,) = checked_drops([tmp_path / "link"], Settings(data=tmp_path / "data"))
    assert (folder.name, folder.directory) == ("real", tmp_path / "real")
