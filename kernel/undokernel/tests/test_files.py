"""Files of the working folder."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from conftest import Start

from undokernel import changes, files, linux


def test_undo_takes_back_what_cells_wrote(start: Start, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n")
    (tmp_path / "large.bin").write_bytes(b"0" * 300_000)
    (tmp_path / "note.ipynb").write_text("{}")
    os.chmod(tmp_path / "data.csv", 0o640)
    before = tree(tmp_path)
    notebook = start("undo-files")
    notebook.ok("import os, pathlib, shutil")
    notebook.ok(
        "pathlib.Path('data.csv').write_text('b\\n2\\n'); os.remove('large.bin')\n"
        "os.makedirs('new/deep'); pathlib.Path('new/deep/file').write_text('x')"
    )
    changed = tree(tmp_path)
    notebook.ok("%checkpoint changed")
    notebook.ok("shutil.rmtree('new'); pathlib.Path('note.ipynb').write_text('changed')")
    assert notebook.ok("%undo 2") == "Undid cells [2] and [3]; the next cell is [2].\n"
    note = {"note.ipynb": b"changed"}
    assert tree(tmp_path) == before | note
    assert os.stat(tmp_path / "data.csv").st_mode & 0o777 == 0o640
    notebook.ok("%restore changed")
    assert tree(tmp_path) == changed | note


def test_own_edits_stay(start: Start, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("a = 1")
    notebook = start("undo-files")
    notebook.ok("x = 1")
    notebook.run("", silent=True)  # then the kernel has looked at what the cell wrote
    (tmp_path / "module.py").write_text("a = 2")
    notebook.ok("open('out.txt', 'w').write('cell')")
    notebook.ok("x = 2")
    assert notebook.ok("%undo 3") == "Undid cells [1] to [3]; the next cell is [1].\n"
    assert tree(tmp_path) == {"module.py": b"a = 2"}
    notebook.ok("open('out.txt', 'w').write('cell')")
    notebook.run("", silent=True)
    (tmp_path / "out.txt").write_text("mine")
    assert notebook.ok("%undo") == (
        "Undid cell [1]; the next cell is [1]. Files that were not restored:"
        " out.txt, which something else has changed since.\n"
    )
    assert tree(tmp_path) == {"module.py": b"a = 2", "out.txt": b"mine"}


def test_files_of_a_cell_that_crashed(start: Start, tmp_path: Path) -> None:
    notebook = start("undo-files")
    notebook.ok("import os")
    notebook.fails("open('out.txt', 'w').write('cell'); os._exit(1)")
    notebook.ok("%undo")
    assert tree(tmp_path) == {}


def test_a_database_that_is_open(start: Start, tmp_path: Path) -> None:
    notebook = start("undo-files")
    notebook.ok(
        "import sqlite3\ndb = sqlite3.connect('d.sqlite')\ndb.execute('create table t (x)')"
    )
    notebook.ok("db.execute('insert into t values (1)'); db.commit()")
    notebook.ok("db.execute('insert into t values (2)'); db.commit()")
    assert notebook.ok("%undo") == "Undid cell [3]; the next cell is [3].\n"
    assert notebook.ok("db.execute('select * from t').fetchall()") == "[(1,)]"
    notebook.ok("db.execute('insert into t values (3)'); db.commit(); db.close()")
    assert sqlite3.connect(tmp_path / "d.sqlite").execute("select * from t").fetchall() == [
        (1,), (3,),
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> changes.Changes:
    return changes.Changes(str(tmp_path))


def test_what_is_too_large(
    folder: changes.Changes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder.files, "room", 100)
    monkeypatch.setattr(linux, "clone", lambda *_: False)
    (tmp_path / "small").write_bytes(b"1" * 60)
    before = folder.begin()
    (tmp_path / "large").write_bytes(b"1" * 60)
    folder.end()
    between = folder.begin()
    for name in ("small", "large"):
        (tmp_path / name).write_bytes(b"2")
    folder.end()
    now = folder.files.look()
    assert folder.restore(between, now) == (
        " Files that were not restored: large, which was too large to keep."
    )
    assert tree(tmp_path) == {"small": b"1" * 60, "large": b"2"}
    folder.restore(before, folder.files.look())
    assert tree(tmp_path) == {"small": b"1" * 60}


def test_too_many(folder: changes.Changes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST", 2)
    for name in "abc":
        (tmp_path / name).touch()
    before = folder.begin()
    (tmp_path / "a").write_text("x")
    folder.end()
    assert folder.restore(before, folder.files.look()) == (
        " The files were not restored: the working folder holds more than 2 files."
    )
    assert (tmp_path / "a").read_text() == "x"


def test_a_link_is_not_followed(folder: changes.Changes, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "file").write_text("1")
    (tmp_path / "link").symlink_to(outside)
    assert folder.begin().files == {}


def tree(path: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()
    }
