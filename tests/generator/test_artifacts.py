"""Generated files are overwritten only while they are as generated."""

from pathlib import Path

from cron2queue.generator.artifacts import Artifact, Fate, compare, left_over, write
from cron2queue.plan.folder import Folder

OLD = Artifact(path="handlers/a.py", content=b"old\n")
NEW = Artifact(path="handlers/a.py", content=b"new\n")


def written(folder: Folder, artifact: Artifact, digests: dict[str, str]) -> list[tuple[Fate, str]]:
    changes = compare([artifact], folder, digests)
    write(changes, folder)
    return [(change.fate, change.path) for change in changes]


def test_a_file_as_generated_is_brought_up_to_date(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "d", create=True) as folder:
        assert written(folder, OLD, {}) == [(Fate.NEW, "handlers/a.py")]
        assert written(folder, OLD, {OLD.path: OLD.digest}) == [(Fate.SAME, "handlers/a.py")]
        assert written(folder, NEW, {OLD.path: OLD.digest}) == [(Fate.CHANGED, "handlers/a.py")]
    assert (tmp_path / "d/handlers/a.py").read_bytes() == b"new\n"


def test_an_edited_file_stays_and_its_new_version_lies_beside_it(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "d", create=True) as folder:
        written(folder, OLD, {})
        (tmp_path / "d/handlers/a.py").write_text("mine\n")
        assert written(folder, NEW, {OLD.path: OLD.digest}) == [(Fate.KEPT, "handlers/a.py.new")]
        # The new version was told of once: the next run has nothing to say.
        assert written(folder, NEW, {NEW.path: NEW.digest}) == [(Fate.SAME, "handlers/a.py")]
    assert (tmp_path / "d/handlers/a.py").read_text() == "mine\n"
    assert (tmp_path / "d/handlers/a.py.new").read_bytes() == b"new\n"


def test_a_file_that_nobody_generated_is_somebodys(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "d", create=True) as folder:
        folder.write("handlers/a.py", b"theirs\n", 0o644)
        assert written(folder, NEW, {}) == [(Fate.KEPT, "handlers/a.py.new")]
    assert (tmp_path / "d/handlers/a.py").read_bytes() == b"theirs\n"


def test_files_of_an_earlier_run_are_named_and_not_deleted() -> None:
    changes = compare([OLD], None, {})
    assert left_over(changes, {OLD.path: OLD.digest, "handlers/gone.py": "x"}) == ["handlers/gone.py"]
