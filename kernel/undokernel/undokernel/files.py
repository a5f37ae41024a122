"""The files of a folder as they were at several moments, and how they are put back.

There are two ways. Exact is for clients that drive the kernel in a folder of their own: they get
the whole folder back, with names, contents, links, hard links between its files, empty folders,
permission bits and times of modification. Owners and extended attributes are not kept. What cannot
be kept is a reason to keep nothing. The other way is %undo's, for a folder in which people and
programs work, too: changes.py.

A file counts as unchanged while its inode, size and times are the same, including that of the last
change of its status (ctime), which programs cannot set. So it is copied once for all states that
have it, and the copy goes with the last of them. Where a change through a memory map changes no
time (tmpfs, overlayfs over it), exact also compares contents. Copies have no names: they end with
this process.
"""

from __future__ import annotations

import math
import mmap
import os
import resource
import secrets
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from . import linux

MOST = 10_000  # files, folders and links
DEEPEST = 100  # levels of folders
ROOM = 1 << 30  # bytes of all copies that share no blocks with the files
SMALL = 1 << 16  # bytes of a file whose copy is in memory, and needs no descriptor
SPARE = 256  # descriptors left to the rest of this process
PATIENCE = 5.0  # seconds to copy what is new; a client waits for it
PIECE = 1 << 20  # bytes copied at once
NOT_DATA = {"__pycache__", "node_modules", "site-packages"}
TOO_MANY = "the working folder holds more than {} files"
COARSE = 5  # CLOCK_REALTIME_COARSE, by which file systems tell times
KINDS = {stat.S_IFIFO: "the named pipe", stat.S_IFSOCK: "the socket"}

Stamp = tuple[int, ...]  # device, inode, links, size, times of modification and of status change
Listing = list[tuple[str, os.stat_result]]


class Unkept(Exception):
    """Why files are not kept or not put back, as a clause. full: there is no room for copies."""

    def __init__(self, why: str, full: bool = False) -> None:
        super().__init__(why)
        self.full = full


@dataclass(eq=False)
class Entry:
    """A file, a folder or a link as it was at some time. The names of one file share it."""

    mode: int
    modified: int
    target: str = ""  # of a link
    stamp: Stamp = ()  # of a file
    held: int = 0  # bytes of a file that are not in holes
    content: bytes | BinaryIO | None = None
    tried: bool = False  # to copy it

    @property
    def size(self) -> int:
        return self.stamp[3]


@dataclass
class State:
    """What is in a folder at some time, by path."""

    files: dict[str, Entry] = field(default_factory=dict)
    others: dict[str, Entry] = field(default_factory=dict)  # folders and links; "." is the folder
    why: str = ""  # that is not known
    full: bool = False  # it is for lack of room


class Files:
    """The states of a folder. Raises OSError if there is no such folder, or a link."""

    def __init__(self, folder: str, exact: bool = False, room: int = ROOM) -> None:
        self.folder, self.exact, self.room = folder, exact, room
        self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self._known: weakref.WeakValueDictionary[Stamp, Entry] = weakref.WeakValueDictionary()
        self._copied: weakref.WeakSet[Entry] = weakref.WeakSet()  # that share no blocks
        self._written = 0  # the latest time that writing a file has given it
        self._hides = exact and self._hides_changes()

    # ---- what is there

    def look(self) -> State:
        """The present state."""
        state = State()
        try:
            self._check()
            state.others["."] = self._entry(".", os.fstat(self._root))
            for path, info in self._walk("", 0):
                if len(state.files) + len(state.others) > MOST:
                    raise Unkept(TOO_MANY.format(MOST))
                entry = self._entry(path, info)
                (state.files if entry.stamp else state.others)[path] = entry
        except (OSError, Unkept) as error:
            return _unknown(error)
        return state

    def _check(self) -> None:
        """Raises an error if the folder is not at its path any more, or its times are not true."""
        if not self.exact:
            return
        if not os.path.samestat(os.fstat(self._root), os.lstat(self.folder)):
            raise Unkept("the working folder has been replaced")
        if linux.file_system(self._root) not in linux.TIMELY:
            raise Unkept("the working folder is on a file system that may hide changes of files")

    def _walk(self, below: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
        """What counts below a folder, folders before what is in them."""
        if depth > DEEPEST:
            raise Unkept(f"the working folder has folders nested more than {DEEPEST} deep")
        for name, info in self._list(below, MOST):
            path = os.path.join(below, name)
            if self.exact or self._counts(path, name, info):
                yield path, info
                if stat.S_ISDIR(info.st_mode):
                    yield from self._walk(path, depth + 1)

    def _list(self, below: str, most: float = math.inf) -> Listing:
        fd = os.open(below or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._root)
        try:
            names = sorted(os.listdir(fd))  # so that errors are the same each time
            if len(names) > most:
                raise Unkept(TOO_MANY.format(most))
            return [(name, os.stat(name, dir_fd=fd, follow_symlinks=False)) for name in names]
        finally:
            os.close(fd)

    def _counts(self, path: str, name: str, info: os.stat_result) -> bool:
        """Whether %undo cares for it."""
        if name.startswith(".") or name in NOT_DATA:
            return False
        if stat.S_ISDIR(info.st_mode):
            return not os.path.exists(os.path.join(self.folder, path, "pyvenv.cfg"))
        return stat.S_ISREG(info.st_mode) and not name.endswith(".ipynb")

    def _entry(self, path: str, info: os.stat_result) -> Entry:
        kind, mode, modified = stat.S_IFMT(info.st_mode), info.st_mode, info.st_mtime_ns
        if kind == stat.S_IFLNK:
            return Entry(mode, modified, os.readlink(path, dir_fd=self._root))
        if kind == stat.S_IFDIR:
            return Entry(mode, modified)
        if kind != stat.S_IFREG:
            raise Unkept(f"the working folder holds {KINDS.get(kind, 'the device')} {path!r}")
        stamp = stamp_of(info)
        known = self._known.get(stamp)
        if known is None or self._differs(path, known):
            held = min(info.st_size, info.st_blocks * 512)
            known = self._known[stamp] = Entry(mode, modified, stamp=stamp, held=held)
        return known

    # ---- copies

    def keep(self) -> State:
        """The present state, with copies of the files. Nothing must be writing to them."""
        state = self.look()
        fresh = {entry: path for path, entry in state.files.items() if not entry.tried}
        if fresh:
            try:
                settle(max(entry.stamp[-1] for entry in fresh))
                self._copy_all(fresh)
            except (OSError, Unkept) as error:
                return _unknown(error)
        return state

    def _copy_all(self, fresh: dict[Entry, str]) -> None:
        free = self.room - sum(entry.held for entry in self._copied)
        rest, ends = sum(entry.held for entry in fresh), time.monotonic() + PATIENCE
        for entry, path in fresh.items():
            entry.tried = True
            try:
                free -= self._copy(path, entry, free, rest if self.exact else entry.held)
            except (OSError, Unkept):
                if self.exact:
                    raise
            rest -= entry.held
            if self.exact and time.monotonic() > ends:
                raise Unkept("it takes too long to copy the files of the working folder")

    def _copy(self, path: str, entry: Entry, free: int, needed: int) -> int:
        """Copies a file. Returns the room that this takes."""
        with self.open(path) as source:
            copy = None if entry.size <= SMALL else self._unnamed()
            if shared := copy is not None and linux.clone(copy.fileno(), source.fileno()):
                entry.content = copy
            elif needed > free:
                raise Unkept(
                    f"copies of the files in the working folder would hold {needed >> 20} MB,"
                    f" and there is room for {max(0, free) >> 20} MB", full=True
                )  # fmt: skip
            elif copy is None:
                entry.content = source.read(SMALL + 1)
            else:
                _transfer(source.fileno(), copy.fileno(), entry.size)
                entry.content = copy
            if stamp_of(os.fstat(source.fileno())) != entry.stamp:
                entry.content = None
                raise Unkept(f"{path!r} has been changed while it was copied")
        if shared:
            return 0
        self._copied.add(entry)
        return entry.held

    def _unnamed(self) -> BinaryIO:
        """A file without a name, on the same file system if possible, to share blocks."""
        try:
            fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600, dir_fd=self._root)
            file: BinaryIO = open(fd, "w+b", buffering=0)  # noqa: SIM115
        except OSError:
            file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        if file.fileno() > resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE:
            raise Unkept("the working folder holds too many large files", full=True)
        return file

    def open(self, path: str, flags: int = os.O_RDONLY, mode: int = 0) -> BinaryIO:
        """Opens a file in the folder without waiting, should it be a pipe, nor following a link."""
        flags |= os.O_NONBLOCK | os.O_NOFOLLOW
        return open(
            os.open(path, flags, mode, dir_fd=self._root),
            "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "wb", buffering=0,
        )  # fmt: skip

    def _differs(self, path: str, entry: Entry) -> bool:
        """Whether a file has changed although its stamp has not."""
        if not self._hides or entry.content is None:
            return False
        with self.open(path) as file:
            if isinstance(entry.content, bytes):
                return file.read(SMALL + 1) != entry.content
            now, then = file.fileno(), entry.content.fileno()
            data = list(_data(now, entry.size))
            return data != list(_data(then, entry.size)) or any(
                os.pread(now, PIECE, at) != os.pread(then, PIECE, at)
                for start, end in data
                for at in range(start, end, PIECE)
            )

    def _hides_changes(self) -> bool:
        """Whether a change through a memory map leaves all times of a file as they were."""
        if linux.file_system(self._root) not in linux.MEMORY:
            return False
        name = f".undokernel-{secrets.token_hex(8)}"
        with self.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600) as file:
            os.unlink(name, dir_fd=self._root)
            file.truncate(1)
            before = stamp_of(os.fstat(file.fileno()))
            settle(before[-1])
            with mmap.mmap(file.fileno(), 1) as page:
                page[0] += 1  # it is read first: then the write needs no fault
            return stamp_of(os.fstat(file.fileno())) == before

    # ---- putting back

    def put_back(self, state: State) -> str:
        """Makes the folder exactly what it was. What is unchanged is not touched. Returns why that
        was not possible; then the folder is between two states. Nothing must be writing to it."""
        mask = os.umask(0)
        try:
            if state.why:
                raise Unkept(state.why)
            self._check()
            there: dict[str, os.stat_result] = {}
            self._clear(state, "", there)
            self._fill(state, there)
            self._finish(state)
        except (OSError, Unkept, RecursionError) as error:
            return _unknown(error).why
        finally:
            os.umask(mask)
        return ""

    def _clear(self, state: State, below: str, there: dict[str, os.stat_result]) -> None:
        """Removes what is not in the state. Sets there to what is, perhaps with other contents."""
        folder = below or "."
        mode = os.stat(folder, dir_fd=self._root).st_mode
        if mode & 0o700 != 0o700:
            os.chmod(folder, mode & 0o7777 | 0o700, dir_fd=self._root)
        try:
            listing = self._list(below)
        except PermissionError:  # modes stay in some sandboxes
            if below in state.others:
                raise
            listing = []  # it can be removed if it is empty
        for name, info in listing:
            path = os.path.join(below, name)
            is_folder = stat.S_ISDIR(info.st_mode)
            if is_folder:
                self._clear(state, path, there)
            if self._fits(path, info, state):
                there[path] = info
            elif is_folder:
                os.rmdir(path, dir_fd=self._root)
            else:
                os.unlink(path, dir_fd=self._root)

    def _fits(self, path: str, info: os.stat_result, state: State) -> bool:
        """Whether it is what was at path, apart from contents, modes and times."""
        entry = state.files.get(path) or state.others.get(path)
        if entry is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(info.st_mode):
            return False
        if entry.stamp:
            return entry.stamp[:2] == (info.st_dev, info.st_ino)
        return entry.target == (entry.target and os.readlink(path, dir_fd=self._root))

    def _fill(self, state: State, there: dict[str, os.stat_result]) -> None:
        """Creates what is missing, and writes what has changed."""
        for path in sorted(state.others):  # folders before what is in them
            entry = state.others[path]
            if path in there or path == ".":
                continue
            if entry.target:
                os.symlink(entry.target, path, dir_fd=self._root)
            else:
                os.mkdir(path, entry.mode & 0o777 | 0o700, dir_fd=self._root)
        names: dict[Entry, list[str]] = {}
        for path, entry in state.files.items():
            names.setdefault(entry, []).append(path)
        for entry, paths in names.items():
            changed = any(
                path not in there or stamp_of(there[path]) != entry.stamp for path in paths
            )
            if changed or self._differs(paths[0], entry):
                self._restore(entry, paths, [path for path in paths if path in there])

    def _restore(self, entry: Entry, paths: list[str], have: list[str]) -> None:
        """Makes a file what it was, under all of its names. It is written in place, so that whoever
        has it open or mapped finds the old content. But a file that has a name outside, too, is not
        only ours, and gets replaced."""
        info = os.stat(have[0], dir_fd=self._root) if have else None
        if info and info.st_nlink == len(have):
            if info.st_mode & 0o600 != 0o600:
                os.chmod(have[0], 0o600, dir_fd=self._root)
            file = self.open(have[0], os.O_WRONLY)
        else:
            for path in have:
                os.unlink(path, dir_fd=self._root)
            have = paths[:1]
            file = self.open(have[0], os.O_CREAT | os.O_EXCL | os.O_WRONLY, entry.mode & 0o777)
        with file:
            for path in paths:
                if path not in have:
                    os.link(have[0], path, src_dir_fd=self._root, dst_dir_fd=self._root)
            self.write(entry, file.fileno())

    def write(self, entry: Entry, fd: int) -> None:
        """Gives an open file the content, the mode and the time of modification of an entry."""
        os.ftruncate(fd, entry.size)
        if isinstance(entry.content, bytes):
            os.pwrite(fd, entry.content, 0)
        else:
            assert entry.content
            if not linux.clone(fd, entry.content.fileno()):
                _transfer(entry.content.fileno(), fd, entry.size)
        info = os.fstat(fd)
        if info.st_mode != entry.mode:
            os.fchmod(fd, entry.mode & 0o7777)
        os.utime(fd, ns=(info.st_atime_ns, entry.modified))
        if self._known.get(entry.stamp) is entry:
            del self._known[entry.stamp]
        entry.stamp = stamp_of(os.fstat(fd))
        self._known[entry.stamp] = entry
        self._written = max(self._written, entry.stamp[-1])

    def _finish(self, state: State) -> None:
        """Sets modes and times of folders and links, which come last, as the rest changes them."""
        for path, entry in state.others.items():
            info = os.stat(path, dir_fd=self._root, follow_symlinks=False)
            if info.st_mtime_ns != entry.modified:
                times = info.st_atime_ns, entry.modified
                os.utime(path, ns=times, dir_fd=self._root, follow_symlinks=False)
            if info.st_mode != entry.mode:
                os.chmod(path, entry.mode & 0o7777, dir_fd=self._root)
        self.settle()

    def settle(self) -> None:
        """Waits until a change of a file that has been written would show."""
        settle(self._written)


def stamp_of(info: os.stat_result) -> Stamp:
    return (
        info.st_dev, info.st_ino, info.st_nlink, info.st_size, info.st_mtime_ns, info.st_ctime_ns
    )  # fmt: skip


def settle(latest: int) -> None:
    """Waits until a change of a file gives it a later time than latest: file systems use a coarse
    clock, whose tick takes up to 10 ms."""
    if latest % 1_000_000_000 == 0:
        latest += 999_999_999  # a file system that counts seconds, or nothing has been written
    while (now := time.clock_gettime_ns(COARSE)) <= latest:
        if latest > now + 2_000_000_000:
            raise Unkept("the clock has been set back: files were changed in the future")
        time.sleep(0.001)


def _unknown(error: Exception) -> State:
    if isinstance(error, Unkept):
        return State(why=str(error), full=error.full)
    if isinstance(error, OSError):
        at = f" at {error.filename!r}" if isinstance(error.filename, str) else ""
        return State(why=f"{error.strerror}{at} in the working folder")
    return State(why=f"the working folder has too many folders in one another: {error}")


def _data(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes."""
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:  # only a hole is left
            return
        at = min(os.lseek(fd, start, os.SEEK_HOLE), size)
        yield start, at


def _transfer(source: int, target: int, size: int) -> None:
    """Makes a file the same as another one, in place and without cutting it first, as it may be
    mapped. Holes stay holes."""
    os.ftruncate(target, size)
    at = 0
    for start, end in [*_data(source, size), (size, size)]:
        if start > at and not linux.punch(target, at, start - at):
            start = at  # the file system has no holes
        for at in range(start, end, PIECE):
            part = memoryview(os.pread(source, min(PIECE, end - at), at))
            while part:
                done = os.pwrite(target, part, at)
                part, at = part[done:], at + done
        at = end
