"""Reasons to refuse a checkpoint: what a frozen copy would lack, or share with the running
process."""

from __future__ import annotations

import bisect
import contextlib
import fcntl
import os
import re
import socket
import stat
import struct
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TypedDict

from . import linux, pools

QUIET_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
GPU_DEVICES = ("/dev/nvidia", "/dev/dri/", "/dev/kfd", "/dev/accel")
DELETED = " (deleted)"
# Libraries that are on every stack: the C library and the interpreter.
COMMON = re.compile(
    r"/(libc|libm|libpthread|ld-linux|libpython[\d.]+|libstdc\+\+|libgcc_s)[-.]|^\[|/python3[.\d]*$"
)
# POSIX locks, as databases use them, belong to one process. A copy would share the others: to take
# or release one here would take or release it there.
LOCKED = re.compile(r"^lock:.* (POSIX|FLOCK|OFDLCK) ", re.MULTILINE)


class Finding(TypedDict):
    """A reason: a documented kind, and a text for people that is the same in every run."""

    kind: str
    detail: str


class File(TypedDict):
    """An open regular file as it was at the checkpoint."""

    fd: int
    path: str
    position: int
    writable: bool
    size: int
    changed: int
    status: int  # time of its last status change (ctime)
    node: int
    kept: bool  # whether the copy has its content: see pools.Contents


Mapping = tuple[int, int, str]  # start, end and path of a mapping


class Maps:
    """The memory mappings of this process, read once: libraries have thousands, which takes
    milliseconds."""

    def __init__(self) -> None:
        self._text = Path("/proc/self/maps").read_text()

    def find(self, permissions: str) -> list[Mapping]:
        """The mappings whose permissions match a pattern, by address."""
        line = re.compile(
            rf"^([0-9a-f]+)-([0-9a-f]+) {permissions} \S+ \S+ \S+ *(.*)$", re.MULTILINE
        )
        return [
            (int(start, 16), int(end, 16), path) for start, end, path in line.findall(self._text)
        ]

    def shared(self) -> list[Mapping]:
        """The writable shared mappings."""
        return self.find(r".w.s")


class Survey:
    """Compares this process with its state when the Survey was made, before any user code ran."""

    def __init__(self, ours: Collection[int]) -> None:
        self.ours = set(ours)
        self.base = {fd: _link(fd) for fd in _descriptors()}
        self.files: list[File] = []
        self.flags: dict[int, int] = {}  # by descriptor; processes share them, like positions
        # of libraries' threads, remembered because a resumed process has no such threads at first
        self.pipes: set[str] = set()
        self.maps = Maps()

    def findings(self) -> list[Finding]:
        """All findings except those about threads. Sets self.files to the open files."""
        found: list[Finding] = []
        self.files, self.flags = [], {}
        self.maps = Maps()
        pool = pools.descriptors()
        looked = False
        for fd in _descriptors():
            link = _link(fd)
            if fd in self.ours or fd in pool or not link:
                continue
            self.flags[fd] = fcntl.fcntl(fd, fcntl.F_GETFL)
            if self.base.get(fd) == link:
                continue
            if link.startswith("pipe:"):
                if not looked and link not in self.pipes:
                    looked, self.pipes = True, self.pipes | self._library_pipes()
                if link in self.pipes:
                    continue
            finding = _descriptor(fd, link) or self._file(fd, link)
            if finding:
                found.append(finding)
        for _, _, path in self.maps.shared():
            if not path.startswith(pools.SEMAPHORE):
                found.append(
                    Finding(kind="mapping", detail=f"{path or 'memory'} is shared for writing")
                )
        found += _processes()
        return [f for i, f in enumerate(found) if f not in found[:i]]

    def _file(self, fd: int, link: str) -> Finding | None:
        """Records a regular file, or returns what prevents a copy of the descriptor."""
        try:
            info, status = Path(f"/proc/self/fdinfo/{fd}").read_text(), os.fstat(fd)
        except OSError:
            return None
        if stat.S_ISDIR(status.st_mode):
            return Finding(kind="descriptor", detail=f"a list of what is in {link} is open")
        if stat.S_ISFIFO(status.st_mode):
            return Finding(kind="pipe", detail=f"the pipe {link} is open")
        if not stat.S_ISREG(status.st_mode):
            quiet = link.startswith(("/dev/pts/", *QUIET_DEVICES))
            return None if quiet else Finding(kind="device", detail=link)
        # its content changes, and may be about another process
        if link.startswith(("/proc/", "/sys/")):
            return Finding(
                kind="descriptor", detail=re.sub(r"^/proc/\d+", "/proc/PID", link) + " is open"
            )
        if LOCKED.search(info):
            return Finding(kind="file", detail=f"{link} is locked")
        fields = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
        writable = int(fields["flags"], 8) & os.O_ACCMODE != os.O_RDONLY
        self.files.append(
            File(fd=fd, path=link, position=int(fields["pos"]), writable=writable,
                 size=status.st_size, changed=status.st_mtime_ns, status=status.st_ctime_ns,
                 node=status.st_ino, kept=False)
        )  # fmt: skip
        return None

    def at_work(self) -> list[Finding]:
        """Libraries whose threads work in the background: in a copy the work would never finish."""
        tids = self._native()
        deadline = time.monotonic() + 0.5
        while tids and time.monotonic() < deadline:
            before = {tid: _work(tid) for tid in tids}
            time.sleep(0.003)
            # On a busy machine a thread may spend all that time waiting for a processor or a disk.
            tids = [
                tid for tid in tids if _work(tid) != before[tid] or linux.state(tid) in ("R", "D")
            ]
        owners = [_owner(thread.library) for thread in self._located(tids[:1])]
        return [
            Finding(kind="library", detail=f"{owner} works in the background") for owner in owners
        ]

    def threads(self) -> list[Finding]:
        """The threads that a copy would lack, except those that are restarted in it."""
        found: list[Finding] = []
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not pools.owns(thread):
                found.append(Finding(kind="thread", detail=f"thread {thread.name}"))
        for native in self._located(self._native()):
            if not native.forks_well:
                owner = _owner(native.library)
                found.append(
                    Finding(
                        kind="library", detail=f"{owner} keeps threads that a copy would not have"
                    )
                )
        return [f for i, f in enumerate(found) if f not in found[:i]]

    def _native(self) -> list[int]:
        """The threads unknown to Python, except those that a copy does not need."""
        known = {os.getpid(), *(thread.native_id for thread in threading.enumerate())}
        return [
            tid
            for tid in map(int, os.listdir("/proc/self/task"))
            if tid not in known and pools.missed(tid)
        ]

    def _located(self, tids: list[int]) -> list[Native]:
        code = (
            [m for m in self.maps.find(r"..x.") if m[2] and not COMMON.search(m[2])] if tids else []
        )
        data = self.maps.find(r"rw.p") if tids else []
        found = []
        deadline = time.monotonic() + 0.2
        for tid in tids:
            native = Native(tid, code, data)
            # A fork wakes some threads, such as pyarrow's. They soon wait again: at_work has found
            # them idle.
            while native.runs and time.monotonic() < deadline:
                time.sleep(0.003)
                native = Native(tid, code, data)
            if native.library or os.path.exists(f"/proc/self/task/{tid}"):  # otherwise it has ended
                found.append(native)
        return found

    def _library_pipes(self) -> set[str]:
        """The pipes on which threads of fork-safe libraries wait, such as pyarrow's for signals."""
        waiting = (native for native in self._located(self._native()) if native.forks_well)
        return {link for native in waiting if (link := _link(native.argument)).startswith("pipe:")}


def changed(pid: int, files: list[File], folders: Sequence[str]) -> list[Finding]:
    """The files that the frozen copy pid has open and that have changed since it was made. What is
    in folders is restored in place; there only the identity of files counts."""
    found = []
    inside = tuple(folder.rstrip("/") + "/" for folder in folders)
    with contextlib.suppress(OSError):
        if os.readlink(f"/proc/{pid}/cwd").endswith(DELETED):
            found.append(
                Finding(
                    kind="file", detail="the folder that cells worked in has been removed since"
                )
            )
    kept = {file["node"] for file in files if file["kept"]}  # through whichever descriptor
    for file in files:
        at = f"/proc/{pid}/fd/{file['fd']}"
        try:
            now, link = os.stat(at), os.readlink(at)
            if now.st_ino != file["node"]:
                continue  # libraries such as matplotlib close files after a fork
            deleted = file["path"].endswith(DELETED)  # only this process had it open
            put_back = not deleted and file["path"].startswith(inside)
            if file["node"] in kept:
                same = deleted or link == file["path"] and os.path.samefile(link, at)
            elif put_back:  # a changed file that has names elsewhere is replaced
                same = now.st_nlink == 1 or now.st_ctime_ns == file["status"]
            else:
                same = (now.st_size, now.st_mtime_ns) == (file["size"], file["changed"])
            if same and file["node"] not in kept and (put_back or file["writable"]):
                same = link == file["path"] and (deleted or os.path.samefile(link, at))
        except FileNotFoundError:
            continue
        except OSError:
            same = False
        if not same:
            found.append(
                Finding(kind="file", detail=f"{file['path']} was open and has been changed since")
            )
    return found


def lingers(worker: int, copy: int) -> bool:
    """Whether a worker, once killed, could still be felt by the resumed copy until it has ended: by
    its threads, processes, locks, or sockets other than its channel."""
    try:
        tasks = os.listdir(f"/proc/{worker}/task")
        if linux.children(worker) or any(linux.state(int(tid)) != "S" for tid in tasks):
            return True
        links = {fd: _link(fd, worker) for fd in _descriptors(worker)}
        files = (fd for fd, link in links.items() if link.startswith("/") and link != os.devnull)
        if any(LOCKED.search(Path(f"/proc/{worker}/fdinfo/{fd}").read_text()) for fd in files):
            return True
        own = set(links.values()) - {_link(fd, copy) for fd in _descriptors(copy)}
        return sum(not link.startswith("/") for link in own) > 1
    except OSError:
        return True


def _descriptors(pid: int | str = "self") -> list[int]:
    return [int(name) for name in os.listdir(f"/proc/{pid}/fd")]


def _link(fd: int, pid: int | str = "self") -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return ""  # the descriptor of the listing itself


def _descriptor(fd: int, link: str) -> Finding | None:
    """What prevents a copy of a descriptor that is not a regular file."""
    if link.startswith("socket:"):
        return Finding(kind="socket", detail=_peer(fd))
    if link.startswith("pipe:"):
        return Finding(kind="pipe", detail="a pipe is open")
    if link.startswith(("anon_inode:", "/memfd:")):
        return Finding(
            kind="descriptor", detail=re.sub(r"anon_inode:|[\[\]/]|\(deleted\)", "", link).strip()
        )
    if link.startswith(GPU_DEVICES):
        return Finding(kind="gpu", detail=link)
    if link.startswith("/dev/") and not link.startswith(("/dev/shm/", "/dev/pts/", *QUIET_DEVICES)):
        return Finding(kind="device", detail=link)
    return None


def _peer(fd: int) -> str:
    """The peer of a socket."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as sock:
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            with contextlib.suppress(OSError):
                return "a socket to {}:{}".format(*sock.getpeername()[:2])
            return "a network socket"
    return "a socket"


def _processes() -> list[Finding]:
    found = []
    known = pools.processes()
    for pid in linux.children(os.getpid()):
        if pid in known:
            continue
        if linux.state(pid) == "Z":  # a copy could not wait for it
            found.append(
                Finding(kind="process", detail="a process has ended and nobody has waited for it")
            )
        else:
            found.append(Finding(kind="process", detail=linux.command(pid)))
    return found


def _owner(library: str) -> str:
    """The Python package that a library belongs to, or the library's name."""
    if not library:
        return "something"
    inside = re.search(
        r"/(?:site|dist)-packages/([A-Za-z0-9_]+?)(?:_runtime\w*)?(?:\.libs)?/", library
    )
    return inside[1].strip("_") if inside else os.path.basename(library).split(".so")[0]


def _work(tid: int) -> str:
    """How long and how often a thread has run, as Linux prints it."""
    with contextlib.suppress(OSError):  # it has ended
        return Path(f"/proc/self/task/{tid}/schedstat").read_text()
    return ""


class Native:
    """A thread that Python did not start. runs: it runs, or waits outside of a system call, such as
    for a page that is being read. Otherwise argument is the first argument of the system call that
    it waits in, and library the innermost library with a return address on its stack, "" if none is
    found."""

    def __init__(self, tid: int, code: list[Mapping], data: list[Mapping]) -> None:
        self.runs, self.argument, self.library = False, -1, ""
        with contextlib.suppress(OSError):  # Linux may deny it: then the thread counts as unknown
            words = Path(f"/proc/self/task/{tid}/syscall").read_text().split()
            self.runs = len(words) <= 3  # "running", or "-1", stack and code
            if not self.runs:
                self.argument = int(words[1], 16)
                pointer = int(words[-2], 16)
                _, end, _ = _around(pointer, data)
                self.library = self._innermost(pointer, end, code)
        self.forks_well = pools.forks_well(self.library)

    def _innermost(self, stack: int, end: int, code: list[Mapping]) -> str:
        data = linux.memory(stack, max(0, min(end - stack, 1 << 15)))
        words = struct.iter_unpack("<Q", data[: len(data) & ~7])
        return next((path for (word,) in words if (path := _around(word, code)[2])), "")


def _around(address: int, maps: list[Mapping]) -> Mapping:
    """The mapping that contains an address."""
    at = bisect.bisect_right(maps, (address, 1 << 64, "")) - 1
    return maps[at] if at >= 0 and address < maps[at][1] else (0, 0, "")
