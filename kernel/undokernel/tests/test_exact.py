"""A folder that a client has for the kernel alone: it is put back exactly."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import random
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from undokernel import files, linux

ROUNDS = int(os.environ.get("UNDOKERNEL_ROUNDS", "40"))  # of the random test


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder, and one outside of it."""
    (tmp_path / "outside" / "sub").mkdir(parents=True)
    (tmp_path / "outside" / "theirs").write_text("theirs")
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


def store(folder: Path, room: int = files.ROOM) -> files.Files:
    return files.Files(str(folder), exact=True, room=room)


def kept(of: files.Files) -> files.State:
    state = of.keep()
    assert not state.why
    return state


def everything(folder: Path) -> dict[str, object]:
    """All about what is in a folder, found by other means than those of the store."""
    found: dict[str, object] = {}
    inodes: dict[int, str] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        name, info = str(path.relative_to(folder)), path.lstat()
        about: object = ""
        if stat.S_ISLNK(info.st_mode):
            about = os.readlink(path)
        elif stat.S_ISREG(info.st_mode):
            about = inodes.setdefault(info.st_ino, name), path.read_bytes()
        found[name] = oct(info.st_mode), info.st_mtime_ns, about
    return found


def stamps(folder: Path) -> dict[str, object]:
    """The inode and the time of the last change of all but folders."""
    return {
        str(path): (path.lstat().st_ino, path.lstat().st_ctime_ns)
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


class Changer:
    """Changes a folder at random, or does nothing where the change is impossible."""

    def __init__(self, folder: Path, random: random.Random) -> None:
        self.folder, self.random = folder, random

    def name(self) -> Path:
        names = self.random.choices(["a", "b", "-c", "d\udcff\n"], k=self.random.randint(1, 3))
        return self.folder.joinpath(*names)

    def text(self) -> bytes:
        size = self.random.choice([0, 3, 20, files.SMALL + 9])
        return self.random.randbytes(size)

    def change(self) -> None:
        does = [getattr(self, name) for name in vars(Changer) if name.startswith("do_")]
        with contextlib.suppress(OSError):
            self.random.choice([*does, self.do_create, self.do_create])(self.name())

    def do_create(self, at: Path) -> None:
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(self.text())

    def do_overwrite(self, at: Path) -> None:
        with at.open("r+b") as file:
            file.write(self.text())

    def do_append(self, at: Path) -> None:
        with at.open("ab") as file:
            file.write(self.text())

    def do_truncate(self, at: Path) -> None:
        os.truncate(at, self.random.choice([0, 5, 3 << 20]))

    def do_rename(self, at: Path) -> None:
        at.rename(self.name())

    def do_delete(self, at: Path) -> None:
        if at.is_dir() and not at.is_symlink():
            shutil.rmtree(at)
        else:
            at.unlink()

    def do_chmod(self, at: Path) -> None:
        if not at.is_symlink():
            at.chmod(self.random.choice([0, 0o500, 0o744, 0o755, 0o777, 0o2555, 0o1700]))

    def do_times(self, at: Path) -> None:
        when = self.random.randint(-(1 << 31), 1 << 33) * 10**9 + self.random.randint(0, 10**9 - 1)
        os.utime(at, ns=(0, when), follow_symlinks=False)

    def do_link(self, at: Path) -> None:
        at.symlink_to(os.fsdecode(b"to \xff" + self.random.randbytes(3).hex().encode()))

    def do_data(self, at: Path) -> None:
        at.symlink_to(self.folder.parent / "outside")

    def do_hard(self, at: Path) -> None:
        os.link(at, self.name(), follow_symlinks=False)

    def do_hard_outside(self, at: Path) -> None:
        os.link(self.folder.parent / "outside" / "theirs", at)

    def do_folder(self, at: Path) -> None:
        at.mkdir(parents=True)

    def do_swap(self, at: Path) -> None:
        """A folder in the place of a file, or a file in that of a folder."""
        if at.is_dir():
            shutil.rmtree(at)
            at.write_bytes(self.text())
        else:
            at.unlink()
            at.mkdir()

    def do_behind(self, at: Path) -> None:
        """Other content of the same size, and the same time."""
        info, content = at.lstat(), at.read_bytes()
        at.write_bytes(bytes(byte ^ 1 for byte in content))
        os.utime(at, ns=(info.st_atime_ns, info.st_mtime_ns))

    def do_root(self, _: Path) -> None:
        self.folder.chmod(self.random.choice([0o700, 0o755, 0o777]))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_changes(place: Path, seed: int) -> None:
    chance = random.Random(seed)
    changer, of = Changer(place, chance), store(place)
    moments: list[tuple[files.State, dict[str, object]]] = []
    for _ in range(25):
        what = chance.randrange(10)
        if what < 2:
            state = of.keep()
            if state.why:
                assert "Permission denied" in state.why
            else:
                moments.append((state, everything(place)))
        elif what < 5 and moments:
            state, was = chance.choice(moments)
            outside = everything(place.parent / "outside")
            assert of.put_back(state) == ""
            assert everything(place) == was
            assert everything(place.parent / "outside") == outside
            touched = stamps(place)
            assert of.put_back(state) == ""
            again = kept(of)
            assert stamps(place) == touched, "its own files were touched"
            assert all(again.files[path] is entry for path, entry in state.files.items())
        elif what == 5 and moments:
            moments.remove(chance.choice(moments))
        else:
            for _ in range(chance.randint(1, 6)):
                changer.change()
    moments.clear()
    state = again = files.State()
    gc.collect()
    assert not of._known and not of._copied, "copies are left after all states are gone"


def write_mapped(path: Path, byte: int) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as page:
        assert page[:]  # tmpfs sets the times when the first access is a write
        page[0] = byte


@pytest.fixture
def overlay(tmp_path: Path) -> Iterator[Path]:
    """An overlayfs over tmpfs, as in containers."""
    base, merged = tmp_path / "base", tmp_path / "merged"
    base.mkdir(), merged.mkdir()
    parts = ",".join(f"{name}dir={base}/{name}" for name in ("lower", "upper", "work"))
    made = subprocess.run(
        f"mount -t tmpfs tmpfs {base} && mkdir {base}/lower {base}/upper {base}/work &&"
        f" mount -t overlay overlay {merged} -o {parts}",
        shell=True, capture_output=True,
    )  # fmt: skip
    try:
        if made.returncode:
            pytest.skip("nothing can be mounted here")
        yield merged
    finally:
        for path in (merged, base):
            subprocess.run(["umount", "-l", path], capture_output=True)


@pytest.fixture
def memory() -> Iterator[Path]:
    folder = Path("/dev/shm", f"undokernel-{os.getpid()}")
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("where", ["tmp_path", "memory", "overlay"])
@pytest.mark.parametrize("size", [3, 3 << 20])
def test_changes_through_memory_maps(request: pytest.FixtureRequest, where: str, size: int) -> None:
    folder = request.getfixturevalue(where) / "files"
    folder.mkdir()
    (folder / "a").write_bytes(b"1" * size)
    os.link(folder / "a", folder / "b")
    of = store(folder)
    first, one = kept(of), everything(folder)
    write_mapped(folder / "a", 2)
    second, two = kept(of), everything(folder)
    write_mapped(folder / "a", 3)
    for _ in range(2):
        assert of.put_back(first) == ""
        assert everything(folder) == one
        assert of.put_back(second) == ""
        assert everything(folder) == two
        write_mapped(folder / "b", 4)


def test_what_is_mapped_stays_mapped(place: Path) -> None:
    """A file is not cut when it is restored: private pages of its mappings would be lost."""
    path = place / "a"
    path.write_bytes(b"1" * 100_000)
    of = store(place)
    state = kept(of)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as page:
        page[5] = 9
        path.open("r+b").write(b"2")
        assert of.put_back(state) == ""
        assert (page[0], page[5]) == (ord("1"), 9)


def test_holes(place: Path) -> None:
    path = place / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
        os.pwrite(file.fileno(), b"x" * 5000, 1 << 39)
    of = store(place)
    state = kept(of)
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), b"y" * 100_000, 1 << 30)
    for _ in range(2):
        assert of.put_back(state) == ""
        assert path.stat().st_size == 1 << 40
        assert path.stat().st_blocks * 512 < 50_000
        with path.open("rb") as file:
            assert os.pread(file.fileno(), 2, (1 << 39) + 4999) == b"x\0"
            assert os.pread(file.fileno(), 2, 1 << 30) == b"\0\0"
        path.unlink()


def test_nothing_outside_is_touched(place: Path) -> None:
    outside = place.parent / "outside"
    (place / "data").symlink_to(outside)
    os.link(outside / "theirs", place / "hard")
    (place / "sub").mkdir()
    of = store(place)
    state, was = kept(of), everything(place)
    (place / "hard").write_text("changed by a cell")
    (place / "sub").rmdir()
    (place / "sub").symlink_to(outside / "sub")
    there = everything(outside)
    assert of.put_back(state) == ""
    assert everything(place) == was
    assert everything(outside) == there  # also the file with a name there
    for replace in (lambda: place.symlink_to(outside), lambda: os.mkfifo(place), place.mkdir):
        place.rename(place.parent / "moved")
        replace()
        assert "has been replaced" in of.put_back(state)
        assert "has been replaced" in of.keep().why
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
        (place.parent / "moved").rename(place)
    assert everything(outside) == there


def many(folder: Path) -> None:
    for i in range(files.MOST):
        (folder / str(i)).symlink_to("x")


REFUSED: list[tuple[str, Callable[[Path], object]]] = [
    ("holds the named pipe 'sub/x'", lambda sub: os.mkfifo(sub / "x")),
    ("holds the socket 'sub/x'", lambda sub: socket.socket(socket.AF_UNIX).bind(str(sub / "x"))),
    ("holds more than 10000 files", many),
    ("nested more than 100 deep", lambda sub: sub.joinpath(*"x" * 101).mkdir(parents=True)),
    ("would hold 3 MB, and there is room for 0 MB",
     lambda sub: (sub / "b").write_bytes(b"b" * 4_000_000)),
]  # fmt: skip


@pytest.mark.parametrize(("why", "spoil"), REFUSED, ids=[why for why, _ in REFUSED])
def test_refused(
    place: Path, why: str, spoil: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linux, "clone", lambda *_: False)
    sub = place / "sub"
    sub.mkdir()
    (sub / "a").write_text("a")
    of = store(place, 1_000_000)
    state, was = kept(of), everything(place)
    spoil(sub)
    refused = of.keep()
    assert why in refused.why
    assert refused.full == ("room" in why)
    assert of.put_back(state) == ""
    assert everything(place) == was
    kept(of)


def test_room_is_for_all_states(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "clone", lambda *_: False)
    of, path = store(place, 250_000), place / "a"
    path.write_bytes(b"1" * 100_000)
    first, same = kept(of), kept(of)
    path.write_bytes(b"2" * 100_000)
    second = kept(of)
    path.write_bytes(b"3" * 100_000)
    assert of.keep().full
    first = second
    assert of.keep().full  # another state needs that copy
    same = second
    kept(of)
    assert first is same and of.put_back(second) == ""
    assert path.read_bytes() == b"2" * 100_000


def test_faults(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place / "a"
    path.write_bytes(b"1")
    of = store(place)
    real = files.settle
    monkeypatch.setattr(files, "settle", lambda latest: (real(latest), path.write_bytes(b"2")))
    assert "'a' has been changed" in of.keep().why
    monkeypatch.undo()
    monkeypatch.setattr(files, "PATIENCE", -1)
    assert "takes too long" in of.keep().why
    monkeypatch.undo()
    with pytest.raises(files.Unkept, match="clock"):
        files.settle(files.time.time_ns() + 60_000_000_000)
    (place / "large").write_bytes(b"1" * 100_000)
    monkeypatch.setattr(files, "SPARE", 1 << 30)
    monkeypatch.setattr(linux, "clone", lambda *_: False)
    assert "too many large files" in of.keep().why
    monkeypatch.setattr(linux, "file_system", lambda _: 0x6969)  # NFS
    assert "may hide changes" in of.keep().why
