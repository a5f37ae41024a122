"""Linux's interfaces to processes: /proc, prctl, pidfds."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
MADV_POPULATE_WRITE = 23
FICLONE = 0x40049409
FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE = 1, 2
# Kinds of file systems in which each change of a file sets its ctime at once, by this machine's
# clock: ext4, XFS, Btrfs, F2FS, tmpfs, overlay. Others cache times (NFS) or invent them (9P, FUSE).
TIMELY = {0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x01021994, 0x794C7630}
# those of them in which a change through a memory map may change no time: tmpfs, overlay
MEMORY = {0x01021994, 0x794C7630}
PAGE = os.sysconf("SC_PAGESIZE")
LISTS_CHILDREN = os.path.exists("/proc/thread-self/children")  # CONFIG_PROC_CHILDREN
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Makes Linux kill this process when its parent ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process a subreaper: orphaned descendants are re-parented to it."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def populate(address: int, size: int) -> bool:
    """Gives this process its own copies of these pages, as if it had written to them. Returns
    whether that worked: it needs Linux 5.14."""
    return bool(
        _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), MADV_POPULATE_WRITE) == 0
    )


def memory(address: int, size: int) -> bytes:
    """Returns memory of this process, at most 64 KB; fewer bytes than size, or none, if there is no
    memory. It goes through a pipe: that does not need /proc/self/mem, which a sandbox may hide, and
    a wrong address is an error, not a crash."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        done = _libc.write(writing, ctypes.c_void_p(address), ctypes.c_size_t(size))
        return os.read(reading, size) if done > 0 else b""
    finally:
        os.close(reading)
        os.close(writing)


def reopen(fd: int, path: str) -> int:
    """Opens the regular file behind fd for reading, even if it has no name any more. If /proc is
    hidden, it opens path, which may be another file."""
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(f"/proc/self/fd/{fd}", flags)
    except OSError:
        return os.open(path, flags)


def file_system(fd: int) -> int:
    """The number of the kind of file system that a file is on."""
    info = (ctypes.c_long * 32)()  # struct statfs and more
    if _libc.fstatfs(fd, info):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return info[0]


def clone(target: int, source: int) -> bool:
    """Makes a file share the blocks of another, which is not shorter, where that is possible."""
    try:
        fcntl.ioctl(target, FICLONE, source)
        return True
    except OSError:
        return False


def punch(fd: int, at: int, size: int) -> bool:
    """Makes a part of a file a hole, where the file system can."""
    mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
    return bool(_libc.fallocate(fd, mode, ctypes.c_long(at), ctypes.c_long(size)) == 0)


def flush_c() -> None:
    """Flushes the C library's output streams."""
    _libc.fflush(None)


def children(pid: int) -> list[int]:
    """The children of pid, zombies included."""
    if not LISTS_CHILDREN:
        return [
            child
            for child in map(int, filter(str.isdigit, os.listdir("/proc")))
            if _stat(child)[1] == str(pid)
        ]
    found: list[int] = []
    with contextlib.suppress(OSError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found += map(int, Path(f"/proc/{pid}/task/{tid}/children").read_text().split())
    return found


def descendants(pid: int, without: Collection[int] = ()) -> Iterator[int]:
    """The descendants of pid, except those in without and their descendants."""
    return (child for child, _ in _family(pid, without))


def _family(pid: int, without: Collection[int]) -> Iterator[tuple[int, int]]:
    """The descendants of pid, each with its parent."""
    for child in children(pid):
        if child not in without:
            yield child, pid
            yield from _family(child, without)


def _stat(pid: int) -> list[str]:
    """State and parent of a process; empty strings if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
    except OSError:
        return ["", ""]


def state(pid: int) -> str:
    """One letter: R, S, Z ...; empty if there is no such process."""
    return _stat(pid)[0]


def is_child(pid: int) -> bool:
    """Whether pid is an unreaped child of this process, so that its id cannot have been reused."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def command(pid: int) -> str:
    """The command of pid, for people."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").strip()
        return (words or Path(f"/proc/{pid}/comm").read_text().strip())[:80]
    except OSError:
        return "?"


def kill(pid: int) -> None:
    """Kills pid if it exists."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def retire(pid: int) -> None:
    """Kills pid and lets it free its memory when nothing else wants the processor."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, 19)
    kill(pid)


def kill_child(pid: int, parent: int) -> None:
    """Kills pid if it is a child of parent, or of this process, which inherits the children of a
    parent that has ended. Otherwise the id belongs to another process by now."""
    process = handle(pid)
    if _stat(pid)[1] in (str(parent), str(os.getpid())):
        kill_by(process, pid)
    for fd in process:
        os.close(fd)


def handle(pid: int) -> list[int]:
    """A list with a pidfd of pid; empty before Linux 5.3, or if pid has ended."""
    try:
        return [os.pidfd_open(pid)]
    except (OSError, AttributeError):
        return []


def kill_by(process: Sequence[int], pid: int) -> None:
    """Kills a process by its pidfd, or by its id if there is none."""
    if not process:
        kill(pid)
    for fd in process:
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(fd, signal.SIGKILL)


def wait(pid: int, seconds: float = 5) -> int | None:
    """Waits for a child and returns its wait status; None if pid is not a child or time is up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if done:
            return status
        time.sleep(0.0005)
    return None


def kill_all(pid: int, without: Collection[int] = ()) -> list[int]:
    """Kills the descendants of pid, except those in without and theirs. Returns those that were
    alive."""
    alive = [(p, parent) for p, parent in _family(pid, without) if not gone(p)]
    for p, parent in alive:  # parents first, as a shell would report the end of its children
        kill_child(p, parent)
    return [p for p, _ in alive]


def gone(pid: int) -> bool:
    """Whether a process has ended; reaps it if it is a child."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return state(pid) in ("Z", "X", "")


def wait_all(pids: Collection[int], seconds: float = 5) -> None:
    """Waits for the end of processes."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and (pids := [p for p in pids if not gone(p)]):
        time.sleep(0.0002)


def end_all(pid: int, without: Collection[int] = (), seconds: float = 5) -> None:
    """Kills all descendants of pid, except those in without and theirs, even those started
    meanwhile."""
    deadline = time.monotonic() + seconds
    unseen = 0
    # Linux may list no children while one is ending (proc(5), children)
    while unseen < 2 and time.monotonic() < deadline:
        killed = kill_all(pid, without)
        wait_all(killed, 0.05)  # then look again: one may just have been re-parented
        unseen = 0 if killed else unseen + 1


def work(pid: int) -> str:
    """How long and how often the main thread of a process has run, as Linux prints it."""
    try:
        return Path(f"/proc/{pid}/schedstat").read_text()
    except OSError:
        return ""


def rss(pid: int) -> int:
    """Resident bytes, shared pages included; cheap."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):  # the process has ended
        return 0


def pss(pid: int) -> int:
    """Proportional set size in bytes; takes milliseconds per gigabyte."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return rss(pid)


def anonymous(pid: int) -> tuple[int, int]:
    """The process's proportional share of its memory that is not files', and all of it, in bytes;
    takes milliseconds per gigabyte."""
    fields = {"Pss_Anon": 0, "Anonymous": 0}  # before Linux 5.4 there is no Pss_Anon
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in fields:
                fields[name] = int(rest.split()[0]) << 10
    return fields["Pss_Anon"], fields["Anonymous"]


def available() -> int:
    """Bytes of memory available in the machine and the control group."""
    free = 1 << 62
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with contextlib.suppress(OSError, IndexError):
        group = Path(
            "/sys/fs/cgroup"
            + Path("/proc/self/cgroup").read_text().split("::", 1)[1].split("\n")[0]
        )
        for folder in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError):
                limit = int((folder / "memory.max").read_text())  # "max" raises ValueError
                used = int((folder / "memory.current").read_text())
                idle = next(
                    int(words[1])
                    for words in map(str.split, (folder / "memory.stat").read_text().splitlines())
                    if words[0] == "inactive_file"
                )
                free = min(free, max(0, limit - used + idle))
    return free


def ending(status: int | None) -> str:
    """How a process ended, for people."""
    if status is None:
        return "it ended"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"killed by signal {number} ({signal.Signals(number).name})"
        except ValueError:  # most real-time signals have no name
            return f"killed by signal {number}"
    return f"exit status {os.WEXITSTATUS(status)}"
