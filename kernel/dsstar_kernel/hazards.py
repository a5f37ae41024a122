"""What a frozen copy would not have, or would share with the process that goes on: reasons to refuse a checkpoint."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import struct
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypedDict

from . import linux, pools

QUIET_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
GPU_DEVICES = ("/dev/nvidia", "/dev/dri/", "/dev/kfd", "/dev/accel")
DATABASES = {b"SQLite format 3": 0, b"DUCK": 8}  # what their files have, and where
# Not the C library nor the interpreter: they are on every stack.
COMMON = re.compile(r"/(libc|libm|libpthread|ld-linux|libpython|libstdc\+\+|libgcc_s)[-.]|^\[|/python3[.\d]*$")


class Finding(TypedDict):
    """One reason: a kind of the documented ones, and words for people that stay the same from run to run."""

    kind: str
    detail: str


class File(TypedDict):
    """A regular file that is open, as it was at the checkpoint."""

    fd: int
    path: str
    position: int
    writable: bool
    size: int
    changed: int
    node: int
    device: int


class Survey:
    """Looks at this process for what has come since it was made, before any user code ran."""

    def __init__(self, ours: Collection[int]) -> None:
        self.ours = {0, 1, 2, *ours}
        self.base = {fd: _link(fd) for fd in _descriptors()}
        self.files: list[File] = []

    def findings(self) -> list[Finding]:
        """All findings that can be had before a fork. The files that are open are in self.files."""
        found: list[Finding] = []
        self.files = []
        pool = pools.descriptors()
        for fd in _descriptors():
            link = _link(fd)
            if fd in self.ours or fd in pool or not link or self.base.get(fd) == link:
                continue
            finding = _descriptor(fd, link) or self._file(fd, link)
            if finding:
                found.append(finding)
        found += [Finding(kind="mapping", detail=f"{m.path or 'memory'} is written by several processes")
                  for m in mappings() if m.shared and not m.semaphore]  # fmt: skip
        found += _processes() + _locks()
        return [f for i, f in enumerate(found) if f not in found[:i]]

    def _file(self, fd: int, link: str) -> Finding | None:
        """Notes a regular file, or finds a database that is open for writing."""
        try:
            info, status = Path(f"/proc/self/fdinfo/{fd}").read_text(), os.fstat(fd)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode) or link.startswith(("/proc/", "/sys/")):
            return None
        fields = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
        writable = int(fields["flags"], 8) & os.O_ACCMODE != os.O_RDONLY
        if writable:
            with contextlib.suppress(OSError), open(f"/proc/self/fd/{fd}", "rb") as file:
                head = file.read(16)
                if any(head[at:].startswith(mark) for mark, at in DATABASES.items()):
                    return Finding(kind="database", detail=f"{link} is open for writing")
        self.files.append(
            File(fd=fd, path=link, position=int(fields["pos"]), writable=writable, size=status.st_size,
                 changed=status.st_mtime_ns, node=status.st_ino, device=status.st_dev)
        )  # fmt: skip
        return None

    def threads(self) -> list[Finding]:
        """The threads that a fork has left: those of pools that a copy starts again are no finding."""
        found: list[Finding] = []
        named = {thread.native_id: thread for thread in threading.enumerate()}
        for tid in map(int, os.listdir("/proc/self/task")):
            thread = named.get(tid)
            if tid == os.getpid() or thread is not None and pools.owns(thread):
                continue
            if thread is not None:
                found.append(Finding(kind="thread", detail=f"thread {thread.name}"))
                continue
            libraries = _libraries(tid)
            if linux.state(tid) == "" or pools.forks_well(libraries):
                continue
            owner = _owner(libraries[0]) if libraries else "a library"
            found.append(Finding(kind="library", detail=f"{owner} keeps threads that a copy would not have"))
        return [f for i, f in enumerate(found) if f not in found[:i]]


def changed(pid: int, files: list[File]) -> list[Finding]:
    """The files that the frozen copy pid has open and that have been changed since it was made."""
    found = []
    for file in files:
        at = f"/proc/{pid}/fd/{file['fd']}"
        try:
            now, link = os.stat(at), os.readlink(at)
            same = (now.st_size, now.st_mtime_ns) == (file["size"], file["changed"])
            if file["writable"] and same:
                same = link == file["path"]
                if same and not link.endswith(" (deleted)"):
                    there = os.stat(link)
                    same = (there.st_ino, there.st_dev) == (file["node"], file["device"])
        except OSError:
            same = False
        if not same:
            found.append(Finding(kind="file", detail=f"{file['path']} was open and has been changed since"))
    return found


class Mapping:
    """A line of /proc/self/maps."""

    def __init__(self, line: str) -> None:
        parts = line.split(None, 5)
        self.start, self.end = (int(x, 16) for x in parts[0].split("-"))
        self.path = parts[5].strip() if len(parts) > 5 else ""
        self.shared = parts[1][1] == "w" and parts[1][3] == "s"
        self.code = "x" in parts[1]
        self.semaphore = self.path.startswith("/dev/shm/sem.")


def mappings() -> list[Mapping]:
    return [Mapping(line) for line in Path("/proc/self/maps").read_text().splitlines()]


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]


def _link(fd: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""  # that of the listing itself


def _descriptor(fd: int, link: str) -> Finding | None:
    """What is wrong with a descriptor that is no regular file."""
    if link.startswith("socket:"):
        return Finding(kind="socket", detail=_peer(fd))
    if link.startswith("pipe:"):
        return Finding(kind="pipe", detail="a pipe is open")
    if link.startswith(("anon_inode:", "/memfd:")):
        return Finding(kind="descriptor", detail=re.sub(r"anon_inode:|[\[\]/]|\(deleted\)", "", link).strip())
    if link.startswith(GPU_DEVICES):
        return Finding(kind="gpu", detail=link)
    if link.startswith("/dev/") and not link.startswith(("/dev/shm/", "/dev/pts/", *QUIET_DEVICES)):
        return Finding(kind="device", detail=link)
    return None


def _peer(fd: int) -> str:
    """Where a socket is connected to."""
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
        if linux.state(pid) == "Z":  # its exit status would be lost to a copy
            found.append(Finding(kind="process", detail="a process has ended and nobody has waited for it"))
        else:
            found.append(Finding(kind="process", detail=linux.command(pid)))
    return found


def _locks() -> list[Finding]:
    """Locks that a copy would not hold: POSIX ones belong to a process."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            fields = line.split()
            if fields[1] == "POSIX" and fields[4] == str(os.getpid()):
                return [Finding(kind="file", detail="a file is locked by this process")]
    return []


def _owner(library: str) -> str:
    """The package that a library belongs to."""
    inside = re.search(r"/(?:site|dist)-packages/([A-Za-z0-9_]+?)(?:_runtime\w*)?(?:\.libs)?/", library)
    return inside[1] if inside else os.path.basename(library).split(".so")[0]


def _libraries(tid: int) -> list[str]:
    """The libraries that a native thread is in, innermost first: those with return addresses on its stack."""
    try:
        words = Path(f"/proc/self/task/{tid}/syscall").read_text().split()
        if len(words) < 3:
            return []  # it runs
        pointer = int(words[-2], 16)
        maps = mappings()
        stack = next(m for m in maps if m.start <= pointer < m.end)
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(pointer)
            data = memory.read(min(stack.end - pointer, 1 << 15) & ~7)
    except (OSError, StopIteration, ValueError):
        return []
    code = [m for m in maps if m.code and m.path and not COMMON.search(m.path)]
    found: dict[str, Any] = {}
    for (address,) in struct.iter_unpack("<Q", data[: len(data) & ~7]):
        for m in code:
            if m.start <= address < m.end:
                found.setdefault(m.path)
                break
    return list(found)
