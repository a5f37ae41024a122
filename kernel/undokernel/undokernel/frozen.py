"""Frozen copies: processes that wait where they were forked until they are resumed or dropped.

A copy is readied before it is resumed: it forks another copy in its place and waits for "go".
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

# seconds to make or resume a copy, as at-fork hooks of libraries may hang; clients wait longer
PATIENCE = 10.0
OOM = Path("/proc/self/oom_score_adj")
WARM = 32 << 20  # bytes unshared in the readied copy
LARGE = 4 << 20  # bytes of a mapping that counts as data or as a thread's stack
PIECE = 1 << 20  # bytes unshared at once; takes less than a millisecond


@dataclass
class Frozen:
    """A copy, and the socket that resumes it, or ends it when closed."""

    pid: int
    line: socket.socket


class Freezer:
    """A context in which a copy can be made. All signals are blocked: the user's handlers would run
    in the copy and change it, and here when the helper ends."""

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
        """Makes a frozen copy of this process, a child of the front, and returns it. In a process
        that is resumed from the copy, it returns None; that process has a new channel at descriptor
        main. Raises OSError if the copy cannot be made."""
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
        """Forks a helper that forks the copy, sends the copy's id on line and ends, so that the
        copy is re-parented to the front. Returns False in the copy."""
        self._helper = os.fork()
        if self._helper:
            return True
        try:
            if copy := os.fork():
                # The id may be reused before it is needed; a pidfd cannot be.
                send_fds(line, b"%d" % copy, linux.handle(copy))
                os._exit(0)
            return False
        except BaseException:
            os._exit(1)

    def _wait(self, line: socket.socket) -> None:
        """Waits to be resumed. Returns in the resumed process."""
        _adopted(self._front)
        score = _score(500)  # the OOM killer should take this copy before the worker
        # This keeps the descriptor number in use, but lets the channel close when the worker ends.
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
                    readied = True  # there is no memory for a replacement
                if readied:
                    line.close()
                    _warm(channel)
                    if not channel.recv(64):  # "go"
                        os._exit(0)
                    while signal.sigtimedwait(signal.valid_signals(), 0):
                        pass  # drops signals to the group, which are pending in every copy
                    os.dup2(channel.fileno(), self._main, inheritable=False)
                    if score is not None:
                        _score(score, add=False)
                    return
            _adopted(self._front)


def _adopted(front: int) -> None:
    """Waits until this process is re-parented to the front, and makes it end with the front."""
    deadline = time.monotonic() + PATIENCE
    while os.getppid() != front:
        if time.monotonic() > deadline:
            os._exit(1)
        time.sleep(0.0002)
    linux.die_with_parent()
    if os.getppid() != front:  # the front just ended
        os._exit(1)


def _warm(channel: socket.socket) -> None:
    """Unshares pages that this process shares with the copy, until "go" arrives. Otherwise the
    first cell has a page fault for each page that it writes: thousands, which take longer than the
    cell."""
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
