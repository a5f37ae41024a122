"""State that fork() does not copy, restored in a resumed copy: pools of threads and processes,
random generators, file offsets, timers, semaphores.

UNDOKERNEL_WITHOUT names fixes to leave out, so that tests can show that each is needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import random
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import linux

if TYPE_CHECKING:
    from .hazards import File, Maps

WITHOUT = frozenset(os.environ.get("UNDOKERNEL_WITHOUT", "").split(","))
LOKY = ("joblib.externals.loky", "loky")
TRACKERS = (
    *(f"{name}.backend.resource_tracker" for name in LOKY),
    "multiprocessing.resource_tracker",
)
# Libraries that restart their threads in a forked process, and names of threads not needed there.
FORK_WELL = ("/numexpr/", "openblas", "/libarrow", "pypocketfft")
NOT_MISSED = ("jemalloc_bg_thd", "polars-ooc-clea")
SEMAPHORE = "/dev/shm/sem."
OMP_PAUSE_SOFT = 1
CONTENTS = 64 << 20  # bytes of files open for writing, kept with one copy
UNLOCK = struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0)
# A restored database must not find the journal of undone changes.
JOURNALS = ("-journal", "-wal", "-shm")
# objects whose destructors would wait for threads or processes that a copy lacks
_graveyard: list[Any] = []


def enabled(fix: str) -> bool:
    return fix not in WITHOUT


def prepare() -> None:
    """Called before user code. Wheels bundle a GNU OpenMP that cannot end its threads (before GCC
    9). The system's replaces it in all libraries that are loaded later."""
    if enabled("openmp"):
        with contextlib.suppress(OSError):
            ctypes.CDLL("libgomp.so.1", mode=os.RTLD_GLOBAL | os.RTLD_NOW)


@contextlib.contextmanager
def quiet(maps: Maps) -> Iterator[None]:
    """Ends threads before a fork: those of GNU OpenMP, which start again when needed, and those of
    duckdb, which are started again afterwards, here and in a resumed process."""
    if enabled("openmp"):
        for path in {
            path for _, _, path in maps.find("..x.") if "libgomp" in os.path.basename(path)
        }:
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(path).omp_pause_resource_all(OMP_PAUSE_SOFT)
    with _quiet_duckdb():
        yield


@contextlib.contextmanager
def _quiet_duckdb() -> Iterator[None]:
    stopped: list[tuple[Any, int]] = []
    for connection in _duckdb_connections():
        with contextlib.suppress(Exception):  # the user may have closed it
            cursor = connection.cursor()
            (threads,) = cursor.execute("SELECT current_setting('threads')").fetchone()
            cursor.execute("SET threads = 1")
            stopped.append((cursor, threads))
    try:
        yield
    finally:
        for cursor, threads in reversed(stopped):
            with contextlib.suppress(Exception):
                cursor.execute(f"SET threads = {threads}")
                cursor.close()


def _duckdb_connections() -> Iterator[Any]:
    """The default connection and the user's variables. Others keep their threads, which are
    reported as findings."""
    duckdb: Any = sys.modules.get("duckdb")
    if duckdb is None or not enabled("duckdb"):
        return
    yield duckdb.default_connection()
    for value in list(vars(sys.modules["__main__"]).values()):
        if isinstance(value, duckdb.DuckDBPyConnection):
            yield value


def missed(tid: int) -> bool:
    """Whether a copy might need this thread, judged by its name."""
    try:
        return Path(f"/proc/self/task/{tid}/comm").read_text().strip() not in NOT_MISSED
    except OSError:
        return False  # it has ended


def forks_well(library: str) -> bool:
    """Whether a library restarts its threads in a copy by itself."""
    return any(known in library for known in FORK_WELL)


def owns(thread: threading.Thread) -> bool:
    """Whether this module restores what the thread does."""
    if not enabled("pools"):
        return False
    target = (
        getattr(getattr(thread, "_target", None), "__module__", None) or type(thread).__module__
    )
    return target == "tqdm._monitor" or target.startswith(LOKY)


def _executors() -> Iterator[tuple[Any, Any]]:
    """joblib's pool of processes, with its module."""
    for name in LOKY:
        module = sys.modules.get(f"{name}.reusable_executor")
        if module is not None and getattr(module, "_executor", None) is not None:
            yield module, module._executor


def _trackers() -> Iterator[Any]:
    """The resource trackers of shared memory and semaphores."""
    for name in TRACKERS:
        tracker = getattr(sys.modules.get(name), "_resource_tracker", None)
        if tracker is not None and getattr(tracker, "_fd", None) is not None:
            yield tracker


def processes() -> set[int]:
    """The processes that a copy restarts when needed."""
    found: set[int] = set()
    if enabled("pools"):
        for _, executor in _executors():
            found.update(executor._processes or ())
        found.update(tracker._pid for tracker in _trackers() if tracker._pid)
    return found


def descriptors() -> set[int]:
    """The pipes to those processes."""
    found: set[int] = set()

    def add(owner: Any, *path: str) -> None:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            for name in path:
                owner = getattr(owner, name)
            number = owner if isinstance(owner, int) else owner.fileno()
            if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
                found.add(number)

    if enabled("pools"):
        for _, executor in _executors():
            for queue in ("_call_queue", "_result_queue", "_executor_manager_thread_wakeup"):
                for end in ("_reader", "_writer"):
                    add(executor, queue, end)
            for process in list((executor._processes or {}).values()):
                add(process, "_popen", "sentinel")
        for tracker in _trackers():
            add(tracker, "_fd")
    return found


def _read(file: File) -> bytes | None:
    """The content of an open file; None if it cannot be read."""
    with contextlib.suppress(OSError):
        fd = file["fd"]
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR:
            return _read_all(fd)
        fd = linux.reopen(fd, file["path"])
        try:
            if os.fstat(fd).st_ino == file["node"]:
                return _read_all(fd)
        finally:
            os.close(fd)
    return None


def _read_all(fd: int) -> bytes:
    parts: list[bytes] = []
    at = 0
    while part := os.pread(fd, 1 << 24, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _write(file: File, content: bytes) -> None:
    """Restores the content and the modification time of an open file."""
    fd, at = file["fd"], 0
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    # both change what pwrite does
    fcntl.fcntl(fd, fcntl.F_SETFL, flags & ~(os.O_APPEND | os.O_DIRECT))
    while at < len(content):
        at += os.pwrite(fd, memoryview(content)[at:], at)
    os.ftruncate(fd, len(content))
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)
    with contextlib.suppress(OSError):  # the file may be another user's
        os.utime(fd, ns=(os.fstat(fd).st_atime_ns, file["changed"]))


class Contents:
    """The content of files open for writing: of deleted files or, if no folders
    are restored with it, of all. A file that is too large is not kept."""

    def __init__(self, files: list[File], client: bool, before: Contents | None) -> None:
        self._kept: dict[int, tuple[File, bytes]] = {}  # by inode
        self._absent: list[str] = []
        room = CONTENTS
        for file in files:
            deleted = file["path"].endswith(" (deleted)")
            if not enabled("contents") or not file["writable"] or client and not deleted:
                continue
            if file["node"] not in self._kept:
                content = _read(file) if file["size"] <= room else None
                if content is None or len(content) > room:
                    continue
                room -= len(content)
                old = before._kept.get(file["node"]) if before else None
                # copies with the same content share it
                self._kept[file["node"]] = file, old[1] if old and old[1] == content else content
                if content[:6] in (b"", b"SQLite") and not deleted:
                    journals = (file["path"] + name for name in JOURNALS)
                    self._absent += [path for path in journals if not os.path.lexists(path)]
            file["kept"] = True

    def put_back(self) -> None:
        for file, content in self._kept.values():
            if os.fstat(file["fd"]).st_ino == file["node"] and _read(file) != content:
                _write(file, content)
        for path in self._absent:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


class Kept:
    """State that fork() does not copy: saved before a copy is made, restored in the resumed
    process."""

    def __init__(
        self, files: list[File], flags: dict[int, int], maps: Maps, contents: Contents
    ) -> None:
        self._files, self._flags, self._contents = files, flags, contents
        self._random = random.getstate()  # the module reseeds itself in every forked process
        self._timers = {
            which: signal.getitimer(which)
            for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
        }
        self._pipes = descriptors()
        self._semaphores = {
            start: ctypes.string_at(start, end - start)
            for start, end, path in maps.shared()
            if path.startswith(SEMAPHORE)
        }

    def restore(self) -> None:
        if enabled("random"):
            random.setstate(self._random)
        if enabled("timers"):
            for which, timer in self._timers.items():
                if timer[0]:
                    signal.setitimer(which, *timer)
        if enabled("locks"):
            # There were none when the copy was made. Undone cells took them, for all processes that
            # share the open file.
            for file in self._files:
                with contextlib.suppress(OSError):
                    fcntl.flock(file["fd"], fcntl.LOCK_UN)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(file["fd"], fcntl.F_OFD_SETLK, UNLOCK)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(file["fd"], fcntl.F_SETLEASE, fcntl.F_UNLCK)
        self._contents.put_back()
        if enabled("flags"):
            for fd, flags in self._flags.items():
                with contextlib.suppress(OSError):
                    if fcntl.fcntl(fd, fcntl.F_GETFL) != flags:
                        fcntl.fcntl(fd, fcntl.F_SETFL, flags)
        if enabled("offsets"):
            # Undone cells moved them, as processes share the position of an open file.
            for file in self._files:
                with contextlib.suppress(OSError):
                    if os.fstat(file["fd"]).st_ino == file["node"]:
                        os.lseek(file["fd"], file["position"], os.SEEK_SET)
        if enabled("semaphores"):
            # Processes that held them have been killed.
            for address, content in self._semaphores.items():
                ctypes.memmove(address, content, len(content))
        if enabled("pools"):
            self._reset_pools()

    def _reset_pools(self) -> None:
        for module, executor in _executors():
            _graveyard.append(executor)
            module._executor = module._executor_kwargs = None
        for name in LOKY:
            wakeups = getattr(sys.modules.get(f"{name}.process_executor"), "_threads_wakeups", None)
            if wakeups is not None:
                wakeups.clear()
        for tracker in _trackers():
            tracker._fd = tracker._pid = None
        tqdm: Any = getattr(sys.modules.get("tqdm.std"), "tqdm", None)
        if getattr(tqdm, "monitor", None) is not None:
            _graveyard.append(tqdm.monitor)
            tqdm.monitor = None
        # Objects in the graveyard still own these descriptors.
        null = os.open(os.devnull, os.O_RDWR)
        for fd in self._pipes:
            os.dup2(null, fd, inheritable=False)
        os.close(null)
