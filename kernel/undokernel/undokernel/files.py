"""The files of the working folder: what cells changed there is undone with them.

Only what a cell changed while it ran is taken back, so that nobody's own edits are lost. Hidden
files, notebooks, links, and folders of installed packages are left alone. A change through a memory
map that is closed again is not noticed on tmpfs, where it changes no time.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

FICLONE = 0x40049409
MOST = 5000  # files
ROOM = 256 << 20  # bytes of all copies that share no blocks with the files
SMALL = 1 << 16  # bytes of a file whose copy is in memory, and needs no descriptor
TICK = 0.02  # seconds; file systems use a clock that may be 10 ms late
NOT_DATA = {"__pycache__", "node_modules", "site-packages"}

Stamp = tuple[int, int, int, int]


@dataclass(eq=False)
class Version:
    """A file as it was at some time, and its content, if that is kept."""

    mode: int
    modified: int
    size: int
    content: BinaryIO | None = None
    tried: bool = False  # to copy it


@dataclass
class State:
    """The files of the folder at some time."""

    files: dict[str, Version] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    why: str = ""  # they are not known


class Files:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._seen: dict[str, tuple[Stamp, Version]] = {}
        self._left: dict[str, Version | None] = {}  # by cells that changed them; None: removed
        self._before: State | None = None  # while a cell runs
        self._copied: weakref.WeakSet[Version] = weakref.WeakSet()  # that share no blocks

    # ---- around a cell

    def begin(self) -> State:
        """Returns the state before a cell."""
        self._before = self.keep()
        return self._before

    def end(self) -> None:
        """Notes what the cell has changed."""
        before, self._before = self._before, None
        if before and not before.why:
            now = self.look()
            for path in () if now.why else {*before.files, *now.files}:
                if before.files.get(path) is not now.files.get(path):
                    self._left[path] = now.files.get(path)

    def look(self) -> State:
        """The present state. A file whose inode, size and times are as before is unchanged."""
        state = State()
        seen: dict[str, tuple[Stamp, Version]] = {}
        try:
            for path, entry in self._walk(state, ""):
                if len(seen) >= MOST:
                    return State(why=f"the working folder holds more than {MOST} files")
                info = entry.stat(follow_symlinks=False)
                stamp = info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
                known = self._seen.get(path)
                if known is None or known[0] != stamp:
                    known = stamp, Version(info.st_mode & 0o7777, info.st_mtime_ns, info.st_size)
                seen[path] = known
        except OSError as error:
            return State(why=f"the working folder cannot be read: {error.strerror}")
        self._seen = seen
        state.files = {path: version for path, (_, version) in seen.items()}
        return state

    def _walk(self, state: State, below: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        with os.scandir(os.path.join(self.folder, below)) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name in NOT_DATA:
                    continue
                path = os.path.join(below, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                        state.folders.add(path)
                        yield from self._walk(state, path)
                elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".ipynb"):
                    yield path, entry

    # ---- copies

    def keep(self) -> State:
        """Returns the present state with copies of the files. A change in the same tick of the
        clock would not show, so files that have just been written are looked at again."""
        state = self.look()
        fresh = [path for path, version in state.files.items() if not version.tried]
        if fresh and not state.why:
            latest = max(self._seen[path][0][3] for path in fresh)
            if 0 <= (age := time.time() - latest / 1e9) < TICK:
                time.sleep(TICK - age)
                state = self.look()
            for path, version in state.files.items():
                if not version.tried:
                    version.tried, version.content = True, self._copy(path, version)
        return state

    def _copy(self, path: str, version: Version) -> BinaryIO | None:
        with contextlib.suppress(OSError), open(os.path.join(self.folder, path), "rb") as source:
            copy = io.BytesIO() if version.size <= SMALL else _unnamed(self.folder)
            if not _clone(source, copy):
                if sum(other.size for other in self._copied) + version.size > ROOM:
                    return None
                shutil.copyfileobj(source, copy, 1 << 20)
                copy.flush()
                self._copied.add(version)
            info = os.fstat(source.fileno())
            if (info.st_size, info.st_mtime_ns) == (version.size, version.modified):
                return copy
        return None

    # ---- restore

    def restore(self, state: State | None, now: State) -> str:
        """Restores what cells have changed between a state and now. Returns what was not done, for
        people."""
        if why := (state or State(why="they were not kept")).why or now.why:
            return f" The files were not restored: {why}."
        assert state
        left = []
        for path in sorted({*state.files, *now.files}):
            wanted, there = state.files.get(path), now.files.get(path)
            if wanted is there or path not in self._left:
                continue
            if self._left[path] is not there:
                left.append(f"{path}, which something else has changed since")
            elif wanted and not wanted.content:
                left.append(f"{path}, which was too large to keep")
            elif not self._put(path, wanted):
                left.append(path)
        for path in sorted(now.folders - state.folders, reverse=True):
            with contextlib.suppress(OSError):  # it is not empty
                os.rmdir(os.path.join(self.folder, path))
        return f" Files that were not restored: {'; '.join(left)}." if left else ""

    def _put(self, path: str, version: Version | None) -> bool:
        """Writes a file in place, as the session may have it open, or removes it."""
        whole = os.path.join(self.folder, path)
        try:
            if version is None:
                os.remove(whole)
                self._left[path] = None
                return True
            assert version.content
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(os.open(whole, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                version.content.seek(0)
                if not _clone(version.content, file):
                    shutil.copyfileobj(version.content, file, 1 << 20)
                file.truncate(version.size)
            os.chmod(whole, version.mode)
            os.utime(whole, ns=(version.modified, version.modified))
            info = os.stat(whole)
            stamp = info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
            self._seen[path] = stamp, version
            self._left[path] = version
            return True
        except OSError:
            return False


def _unnamed(folder: str) -> BinaryIO:
    """A file without a name, on the same file system if possible, so that blocks can be shared."""
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600), "w+b")
    except OSError:
        return tempfile.TemporaryFile()


def _clone(source: BinaryIO, target: BinaryIO) -> bool:
    """Makes a file share the blocks of another, where the file system can."""
    try:
        fcntl.ioctl(target.fileno(), FICLONE, source.fileno())
        return True
    except OSError:
        return False
