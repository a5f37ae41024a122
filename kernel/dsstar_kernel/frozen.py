"""Frozen copies: processes that wait at the point where they were made until they are dropped or resumed.

A copy that is to be resumed is readied first: it leaves another one in its place and waits for the word to go on.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from . import linux
from .channel import receive_fds, send_fds
from .hazards import Maps

# seconds for a copy to be made or resumed: at-fork hooks of libraries may hang; clients wait twice
# as long
PATIENCE = 10.0
OOM = Path("/proc/self/oom_score_adj")
WARM = 32 << 20  # bytes unshared in the copy most likely to be resumed next
LARGE = 4 << 20  # bytes of a mapping that counts as data or as a thread's stack
PIECE = 1 << 20  # bytes: less than a millisecond


@dataclass
class Frozen:
    """A copy, and the channel that resumes it, or ends it when closed."""

    pid: int
    line: socket.socket


class Freezer:
    """A block in which a copy can be made. No signal arrives in it: handlers of the user would run in the copy and
    change it, and here for the helper's end."""

    def __init__(self, front: int, main: int) -> None:
        self._front, self._main = front, main
        self._helper = 0

    def __enter__(self) -> Freezer:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        return self

    def __exit__(self, *_: object) -> None:
        if self._helper:
            if linux.wait(self._helper, PATIENCE) is None:
                linux.kill(self._helper)
                linux.wait(self._helper)
            if signal.SIGCHLD not in self._mask:
                signal.sigtimedwait({signal.SIGCHLD}, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def freeze(self) -> Frozen | None:
        """Makes a frozen copy of this process, a child of the front, and returns it. Returns None in a process that was
        resumed from it: that one has a new channel at descriptor main. Raises OSError if there can be no copy."""
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.settimeout(None)  # the user may have changed the default
        if not self._fork(theirs):
            # Only a resumed copy may continue from here.
            try:
                mine.close()
                self._wait(theirs)
                return None
            except BaseException:
                os._exit(1)
        theirs.close()
        ends, copy = time.monotonic() + PATIENCE, 0
        fds: list[int] = []
        try:
            mine.settimeout(PATIENCE)
            data, fds = receive_fds(mine, 32)
            copy = int(data or 0)
            mine.settimeout(max(0.001, ends - time.monotonic()))
            if not copy or not mine.recv(32):
                raise OSError("the copy ended at once")
        except OSError as error:
            mine.close()
            linux.kill(self._helper)
            if copy:
                linux.kill_by(fds, copy)
            raise OSError(f"a frozen copy could not be made: {error}") from None
        finally:
            for process in fds:
                os.close(process)
        return Frozen(copy, mine)

    def _fork(self, line: socket.socket) -> bool:
        """Forks a helper that forks the copy, tells its number on the line and ends: so the front becomes the parent of
        the copy. Returns False in the copy."""
        self._helper = os.fork()
        if self._helper:
            return True
        try:
            if copy := os.fork():
                # The id may be reused before it is needed; a process descriptor cannot be.
                send_fds(line, b"%d" % copy, linux.handle(copy))
                os._exit(0)
            return False
        except BaseException:
            os._exit(1)

    def _wait(self, line: socket.socket) -> None:
        """Waits to be resumed. Returns in the resumed process."""
        _adopted(self._front)
        score = _score(500)  # the OOM killer should take this copy before the worker
        # The descriptor number stays taken, and the worker's end closes when the worker ends.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, self._main, inheritable=False)
        os.close(null)
        while True:
            line.send(b"frozen")
            fds: list[int] = []
            while not fds:
                data, fds = receive_fds(line, 64)
                if not data:
                    os._exit(0)
                if not fds:
                    line.send(b"here")
            with socket.socket(fileno=fds[0]) as channel:
                channel.settimeout(None)
                try:
                    readied = self._fork(line)
                except OSError:
                    readied = True  # without a replacement, for which there is no memory
                if readied:
                    line.close()
                    _warm(channel)
                    if not channel.recv(64):  # "go"
                        os._exit(0)
                    while signal.sigtimedwait(signal.valid_signals(), 0):
                        pass  # sent to the group and pending in every copy
                    os.dup2(channel.fileno(), self._main, inheritable=False)
                    if score is not None:
                        _score(score, add=False)
                    return
            _adopted(self._front)


def _adopted(front: int) -> None:
    """Waits until this process is re-parented to the front, and binds its life to it."""
    deadline = time.monotonic() + PATIENCE
    while os.getppid() != front:
        if time.monotonic() > deadline:
            os._exit(1)
        time.sleep(0.0002)
    linux.die_with_parent()
    if os.getppid() != front:  # the front just ended
        os._exit(1)


def _warm(channel: socket.socket) -> None:
    """Until the word comes, gives this process pages of its own for those that it shares with the copy. Else the first
    cell has a fault for each page that it writes, some thousand, which take longer than the cell."""
    left, word = WARM, select.poll()  # select() is limited to descriptors below 1024
    word.register(channel, select.POLLIN | select.POLLHUP)
    for start, end, _ in Maps().find("rw.p"):
        if end - start > LARGE:
            continue
        for at in range(start, end, PIECE):
            size = min(PIECE, end - at)
            left -= size
            if left < 0 or word.poll(0) or not linux.populate(at, size):
                return


def _score(value: int, add: bool = True) -> int | None:
    """Sets the OOM score adjustment of this process and returns the old one."""
    with contextlib.suppress(OSError, ValueError):
        old = int(OOM.read_text())
        OOM.write_text(str(min(1000, old + value) if add else value))
        return old
    return None
